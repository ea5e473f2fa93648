"""Numbers that refer to `parameters:` by name: `$radius`, `2 * $radius - 5 mm`. Nothing but sums and products is evaluated.

A value carries its dimension (kg, m, s, rad); None is that of a parameter written as a bare number, which fits everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

from flexapod.description.problems import nearest
from flexapod.description.unit_parser import DIMENSIONLESS, LARGEST, Dimension, UnitError, parse_quantity, shorten

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
EXPRESSION_PATTERN = r"^[^#]*\$[A-Za-z_][A-Za-z0-9_]*[^#]*$"
LONGEST = 200
_TOKEN = re.compile(
    r"\s*(?:(?P<name>\$[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:\s*[A-Za-zµμ°%](?:[A-Za-zµμ°%0-9/^. ²³⁴]|(?<=\^)-)*)?)"
    r"|(?P<operator>[+*-]))\s*"
)
_HINT = "Write sums and products of numbers and names, e.g. 2 * $radius - 5 mm."


class Shared(float):
    """A number that came from an expression: its text and its dimension, for messages and checks of units."""

    text: str
    dimension: Dimension | None

    def __new__(cls, value: float, text: str, dimension: Dimension | None) -> Shared:
        """The number of an expression."""
        self = super().__new__(cls, value)
        self.text = text
        self.dimension = dimension
        return self

    def __deepcopy__(self, memo: object) -> Shared:
        return self

    def __reduce__(self) -> tuple[type[Shared], tuple[float, str, Dimension | None]]:
        return (Shared, (float(self), self.text, self.dimension))


def is_expression(value: object) -> TypeGuard[str]:
    """Whether a value of the file refers to parameters."""
    return isinstance(value, str) and "$" in value


def names_in(text: str) -> list[str]:
    """The parameters that an expression refers to."""
    return re.findall(r"\$([A-Za-z_][A-Za-z0-9_]*)", text)


def evaluate(text: str, known: Mapping[str, Shared]) -> Shared:
    """The number of an expression.

    Args:
        known: values of the parameters.
    Raises:
        UnitError: no expression, an unknown name, or units that do not add up.

    Checked by: tests/description/test_shared_numbers.py.
    """
    tokens = _tokens(text)
    total, dimension, sign, at = 0.0, None, 1.0, 0
    while at < len(tokens) and tokens[at] in ("+", "-"):
        sign, at = (-sign if tokens[at] == "-" else sign), at + 1
    first = True
    while True:
        value, own, at = _product(text, tokens, at, known)
        dimension = own if first else _added(text, dimension, own)
        total, first = total + sign * value, False
        if at == len(tokens):
            break
        sign, at = (-1.0 if tokens[at] == "-" else 1.0), at + 1  # the product ended at + or -
    if not abs(total) <= LARGEST:
        raise UnitError(f"{shorten(text)} is too large", f"Numbers go up to {LARGEST:g}.")
    return Shared(total, text, dimension)


def _tokens(text: str) -> list[str]:
    if len(text) > LONGEST:
        raise UnitError(f"{shorten(text)} is too long", f"Expressions have up to {LONGEST} letters; name a part of it.")
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise UnitError(f"{shorten(text)} is not a sum of products", _HINT)
        found.append(match.group().strip())
        at = match.end()
    return found


def _product(text: str, tokens: list[str], at: int, known: Mapping[str, Shared]) -> tuple[float, Dimension | None, int]:
    """Value and dimension of the factors from `at`, and where they end."""
    value, dimensions, literal = 1.0, list[Dimension | None](), True
    while True:
        if at == len(tokens) or tokens[at] in ("+", "-", "*"):
            raise UnitError(f"{shorten(text)} is not a sum of products", _HINT)
        factor, dimension, bare = _factor(tokens[at], known)
        value, at = value * factor, at + 1
        literal = literal and bare
        if not bare:
            dimensions.append(dimension)
        if at == len(tokens) or tokens[at] in ("+", "-"):
            break
        if tokens[at] != "*":
            raise UnitError(f"{shorten(text)} is not a sum of products", _HINT)
        at += 1
    if literal or None in dimensions:
        return value, None, at
    kg, m, s, rad = (sum(d[i] for d in dimensions if d is not None) for i in range(4))
    return value, (kg, m, s, rad), at


def _factor(token: str, known: Mapping[str, Shared]) -> tuple[float, Dimension | None, bool]:
    """Value, dimension, and whether it is a bare number."""
    if token.startswith("$"):
        if token[1:] not in known:
            raise UnitError(f"there is no parameter {token[1:]}", nearest(token[1:], [*known]) or "Write it under `parameters:`.")
        shared = known[token[1:]]
        return float(shared), shared.dimension, False
    number, dimension = parse_quantity(token)
    return number, dimension, dimension == DIMENSIONLESS


def _added(text: str, first: Dimension | None, second: Dimension | None) -> Dimension | None:
    if first is not None and second is not None and first != second:
        raise UnitError(f"{shorten(text)} adds {unit_text(first)} and {unit_text(second)}", "Add numbers of one unit.")
    return first if first is not None else second


def unit_text(dimension: Dimension | None) -> str:
    """A dimension in SI units; empty where it is not known."""
    if dimension is None:
        return ""
    parts = zip(("kg", "m", "s", "rad"), dimension, strict=True)
    return " ".join(unit if power == 1 else f"{unit}^{power}" for unit, power in parts if power) or "1"
