r"""Shared numbers of a robot file resolved: `parameters:`, expressions, points and directions in polar form.

.. math:: p = r\,e_r + o\,e_t + h\,z, \qquad e_r = (\cos\varphi, \sin\varphi, 0),\ e_t = (-\sin\varphi, \cos\varphi, 0)

Letters: r radius, phi angle, o offset along the tangent (half the spacing of paired joints), h height. The data that comes out
has numbers and vectors only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

from flexapod.description.expressions import NAME, Shared, evaluate, is_expression, names_in
from flexapod.description.problem_report import Report
from flexapod.description.problems import Path, nearest
from flexapod.description.schema_vectors import POLAR_DIRECTION, POLAR_POINT
from flexapod.description.unit_parser import DIMENSIONLESS, UnitError, parse_quantity
from flexapod.description.units import Quantity, Written, describe

TEXTS = ("name", "title", "source", "notes", "parameters")
"""Keys at the top whose texts are no numbers, or are resolved by themselves."""

MOST_PARAMETERS = 1000


@dataclass
class Resolved:
    """Data without shared numbers. `shared`: values of parameters and polar forms, by their paths in the written file."""

    data: dict[str, Any]
    parameters: dict[str, Shared] = field(default_factory=dict)
    shared: dict[Path, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def resolved(data: dict[str, object], report: Report) -> Resolved:
    """The data with numbers in place of expressions and vectors in place of polar forms; mistakes are reported.

    Checked by: tests/description/test_shared_numbers.py.
    """
    found = Resolved(data=data)
    given = data.get("parameters")
    if isinstance(given, dict):
        found.parameters = _parameters(given, found, report)
    elif not _any_shared(data):
        return found
    rest = {key: value if key in TEXTS else _resolve(value, (key,), found, report) for key, value in data.items()}
    found.data = rest
    if isinstance(given, dict):
        del rest["parameters"]
        for name, value in found.parameters.items():
            found.shared["parameters", name] = float(value)
            if name not in found.used:
                report.warn(("parameters", name), "is not used", f"Refer to it as ${name}, or remove it.")
    return found


def _any_shared(value: object) -> bool:
    if isinstance(value, dict):
        return _polar_words(value) is not None or any(_any_shared(item) for item in value.values())
    return any(map(_any_shared, value)) if isinstance(value, list) else is_expression(value)


def _parameters(given: Mapping[str, object], found: Resolved, report: Report) -> dict[str, Shared]:
    """Values of the parameters, each after those that it refers to."""
    known: dict[str, Shared] = {}
    if len(given) > MOST_PARAMETERS:
        report.error(("parameters",), f"has {len(given)} names, more than {MOST_PARAMETERS}", "Keep what values refer to.")
        return known
    waiting = {}
    for name, value in given.items():
        here: Path = ("parameters", name)
        if NAME.fullmatch(name) is None:
            hint = "Write letters, digits and _, a letter first."
            report.error(here, "is not a name that values can refer to", hint)
        elif is_expression(value):
            waiting[name] = value
            found.used.update(names_in(value))
        elif (number := _plain_number(value, here, report)) is not None:
            known[name] = number
    while waiting:
        ready = [name for name, text in waiting.items() if not set(names_in(text)) & set(waiting)]
        for name in ready:
            value = _evaluated(waiting[name], known, ("parameters", name), report)
            if value is not None:
                known[name] = value
            del waiting[name]
        if not ready:
            for name in waiting:
                others = ", ".join(dict.fromkeys(n for n in names_in(waiting[name]) if n in waiting))
                report.error(("parameters", name), f"refers to itself through {others}", "Write one of them as a number.")
            break
    return known


def _plain_number(value: object, here: Path, report: Report) -> Shared | None:
    if isinstance(value, str):
        try:
            number, dimension = parse_quantity(value)
        except UnitError as error:
            report.error(here, error.what, error.hint)
            return None
        return Shared(number, value, None if dimension == DIMENSIONLESS else dimension)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e30:
        report.error(here, f"must be a number, is {describe(value)}", "Write a number, or a number with its unit.")
        return None
    return Shared(float(value), getattr(value, "text", f"{float(value):g}"), None)


def _evaluated(text: str, known: dict[str, Shared], here: Path, report: Report) -> Shared | None:
    try:
        return evaluate(text, known)
    except UnitError as error:
        report.error(here, error.what, error.hint)
        return None


def _resolve(value: object, path: Path, found: Resolved, report: Report) -> Any:
    """A copy of a value with its shared numbers resolved; what cannot be is left as 0, and reported."""
    if is_expression(value):
        found.used.update(names_in(value))
        number = _evaluated(value, found.parameters, path, report)
        return 0.0 if number is None else number
    if isinstance(value, dict):
        words = _polar_words(value)
        if words is not None:
            return _polar(value, words, path, found, report)
        return {key: _resolve(item, (*path, key), found, report) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, (*path, i), found, report) for i, item in enumerate(value)]
    return value


def _polar_words(value: Mapping[str, object]) -> dict[str, Quantity] | None:
    """The words of a polar form that a mapping is, None if it is another mapping: no other part has these keys with a number."""
    for key, words in (("radius", POLAR_POINT), ("azimuth", POLAR_DIRECTION)):
        if isinstance(value.get(key), str | int | float | Written):
            return words
    return None


def _polar(value: Mapping[str, object], words: dict[str, Quantity], path: Path, found: Resolved, report: Report) -> list[float]:
    numbers = dict.fromkeys(words, 0.0)
    for key, item in value.items():
        here = (*path, key)
        if key not in words:
            report.error(here, "unknown key", nearest(key, [*words]))
            continue
        number = _resolve(item, here, found, report)
        try:
            numbers[key] = found.shared[here] = words[key].convert(number)
        except PydanticCustomError as error:
            context = error.context or {}
            report.error(here, str(context["what"]), str(context["hint"]))
    if words is POLAR_DIRECTION:
        phi, up = numbers["azimuth"], numbers["elevation"]
        return [_clean(math.cos(up) * math.cos(phi)), _clean(math.cos(up) * math.sin(phi)), _clean(math.sin(up))]
    r, phi, o = numbers["radius"], numbers["angle"], numbers["offset"]
    size = abs(r) + abs(o)
    x, y = r * math.cos(phi) - o * math.sin(phi), r * math.sin(phi) + o * math.cos(phi)
    return [_clean(x, size), _clean(y, size), numbers["height"]]


def _clean(value: float, size: float = 1.0) -> float:
    """The numbers without the rounding of cosines: entries below 1e-15 of the size are zero by design."""
    return 0.0 if abs(value) <= 1e-15 * size else value
