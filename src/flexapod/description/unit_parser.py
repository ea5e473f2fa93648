"""Quantities written with a unit, such as `15 mm` or `-2.5e-3 kg m^2`, to SI numbers. Nothing is evaluated.

A dimension is the tuple of exponents of (kg, m, s, rad). Units are separated by spaces, `*` or `/`; a `/` divides by the
next unit only, and nothing may be multiplied after it, so that `N/m s` cannot be read in two ways.
"""

from __future__ import annotations

import difflib
import math
import re
from fractions import Fraction

from flexapod.calls import check_text, checked
from flexapod.errors import InputError

Dimension = tuple[int, int, int, int]

DIMENSIONLESS: Dimension = (0, 0, 0, 0)
LARGEST = 1e30
"""Numbers beyond this are refused: they are mistakes, and their squares overflow."""

_PREFIXES = {"n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "": 0, "k": 3, "M": 6, "G": 9, "T": 12}
_PREFIXED: dict[str, tuple[Fraction, Dimension]] = {
    "m": (Fraction(1), (0, 1, 0, 0)),
    "g": (Fraction(1, 1000), (1, 0, 0, 0)),
    "s": (Fraction(1), (0, 0, 1, 0)),
    "N": (Fraction(1), (1, 1, -2, 0)),
    "Pa": (Fraction(1), (1, -1, -2, 0)),
    "J": (Fraction(1), (1, 2, -2, 0)),
    "W": (Fraction(1), (1, 2, -3, 0)),
}
_PI = Fraction(math.pi)
_PLAIN: dict[str, tuple[Fraction, Dimension]] = {
    "rad": (Fraction(1), (0, 0, 0, 1)),
    "mrad": (Fraction(1, 1000), (0, 0, 0, 1)),
    "deg": (_PI / 180, (0, 0, 0, 1)),
    "rev": (2 * _PI, (0, 0, 0, 1)),
    "rpm": (2 * _PI / 60, (0, 0, -1, 1)),
    "Hz": (Fraction(1), (0, 0, -1, 0)),
    "min": (Fraction(60), (0, 0, 1, 0)),
    "h": (Fraction(3600), (0, 0, 1, 0)),
    "in": (Fraction(254, 10000), (0, 1, 0, 0)),
    "inch": (Fraction(254, 10000), (0, 1, 0, 0)),
    "ft": (Fraction(3048, 10000), (0, 1, 0, 0)),
    "lb": (Fraction(45359237, 10**8), (1, 0, 0, 0)),
    "lbf": (Fraction(45359237, 10**8) * Fraction(980665, 10**5), (1, 1, -2, 0)),
    "t": (Fraction(1000), (1, 0, 0, 0)),
    "bar": (Fraction(10**5), (1, -1, -2, 0)),
    "psi": (
        Fraction(45359237, 10**8) * Fraction(980665, 10**5) / Fraction(254, 10000) ** 2,
        (1, -1, -2, 0),
    ),
    "%": (Fraction(1, 100), DIMENSIONLESS),
}
UNITS: dict[str, tuple[Fraction, Dimension]] = _PLAIN | {
    prefix + symbol: (factor * Fraction(10) ** power, dimension)
    for symbol, (factor, dimension) in _PREFIXED.items()
    for prefix, power in _PREFIXES.items()
}
"""Every unit that may be written: its size in SI and its dimension."""

_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![0-9.])\s*(.*)", re.DOTALL)
_UNIT = re.compile(r"([A-Za-z%]+)(?:\^([+-]?[0-9]{1,2}))?")
_SPELLINGS = str.maketrans({"µ": "u", "μ": "u", "·": "*", "⋅": "*", "°": " deg"})
_SUPERSCRIPTS = {"²": "^2", "³": "^3", "⁴": "^4"}


class UnitError(ValueError):
    """A quantity that cannot be read: `what` is wrong with it, and a `hint`."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"{what}. {hint}")
        self.what = what
        self.hint = hint


def shorten(value: object, length: int = 40) -> str:
    """The value as text for a message, cut to a readable length."""
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:
        return "a number of thousands of digits"
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3] + "..."


def _symbol(symbol: str) -> tuple[Fraction, Dimension]:
    if symbol in UNITS:
        return UNITS[symbol]
    near = difflib.get_close_matches(symbol, UNITS, n=3, cutoff=0.5)
    near += [u for u in UNITS if u.lower() == symbol.lower() and u not in near]
    hint = f"Did you mean {' or '.join(near)}?" if near else "Write e.g. mm, m, kg, N, deg or rad."
    raise UnitError(f"{shorten(symbol)} is not a unit", hint)


def parse_unit(text: str) -> tuple[Fraction, Dimension]:
    """The SI size and the dimension of a unit such as `kg m^2` or `N m s/rad`.

    Raises:
        UnitError: an unknown unit, or one that can be read in two ways.
    """
    rest = text.translate(_SPELLINGS).strip()
    for superscript, ascii_power in _SUPERSCRIPTS.items():
        rest = rest.replace(superscript, ascii_power)
    factor, exponents = Fraction(1), [0, 0, 0, 0]
    sign, divided, first = 1, False, True
    while rest:
        if not first or rest.startswith(("1/", "1 /")):
            if first:
                rest = rest[1:].lstrip()
            operator = rest[0] if rest[0] in "*/" else " "
            if operator != " ":
                rest = rest[1:].lstrip()
            sign = -1 if operator == "/" else 1
            if sign > 0 and divided:
                raise UnitError(
                    f"the unit {shorten(text)} can be read in two ways",
                    "Put what divides last, each with its own /: N/m/s.",
                )
            divided = divided or sign < 0
        match = _UNIT.match(rest)
        if match is None:
            raise UnitError(
                f"{shorten(text)} is not a unit",
                "Write units with spaces, * or / and ^ for powers, e.g. kg m^2.",
            )
        size, dimension = _symbol(match[1])
        power = sign * int(match[2] or 1)
        if abs(power) > 9:
            raise UnitError(f"the power in {shorten(text)} is too large", "Powers go up to 9.")
        factor *= size**power
        exponents = [e + power * d for e, d in zip(exponents, dimension, strict=True)]
        rest, first = rest[match.end() :].lstrip(), False
    kg, m, s, rad = exponents
    return factor, (kg, m, s, rad)


def parse_quantity(text: str) -> tuple[float, Dimension]:
    """The SI value and the dimension of a number with a unit; a bare number is dimensionless.

    Raises:
        UnitError: not a number with a unit, or too large.
    """
    match = _NUMBER.fullmatch(text) if len(text) <= 100 else None
    if match is None:
        raise UnitError(
            f"{shorten(text)} is not a number with a unit",
            "Write a number, or a number and a unit such as 15 mm.",
        )
    number = float(match[1])
    factor, dimension = parse_unit(match[2])
    if not abs(number) <= LARGEST:
        raise UnitError(f"{shorten(text)} is too large", f"Numbers go up to {LARGEST:g}.")
    # Exact rational arithmetic, so that 15 mm is the float 0.015; tiny numbers would need endless digits.
    value = float(Fraction(match[1]) * factor) if abs(number) > 1e-60 and len(match[1]) < 40 else number * float(factor)
    if not abs(value) <= LARGEST:
        raise UnitError(f"{shorten(text)} is too large", f"Numbers go up to {LARGEST:g} in SI units.")
    return value, dimension


@checked(text=check_text, unit=check_text)
def si_value(text: str, unit: str = "") -> float:
    """The SI number of a text with a unit, such as 0.015 of ``"15 mm"``; angles in rad, rpm in rad/s.

    Args:
        text: a number with or without a unit.
        unit: what the number must be measured in, e.g. ``"m"`` or ``"rad/s or Hz"``; ``"1"`` for no unit, empty for any.
    Returns:
        The number in SI units, angles in radians.

    Raises:
        InputError: not a number with a unit, or a unit of something else.
    Checked by: tests/views/test_cli_motion_units.py.
    """
    try:
        value, dimension = parse_quantity(text)
        if unit and dimension not in [parse_unit("" if u == "1" else u)[1] for u in unit.split(" or ")]:
            hint = (
                "Write a number without a unit." if unit == "1" else "Write a number with that unit, or another one of its kind."
            )
            raise UnitError(f"{shorten(text)} has the wrong unit: it must be {'a plain number' if unit == '1' else unit}", hint)
    except UnitError as error:
        raise InputError(f"{error.what}. {error.hint}") from None
    return value
