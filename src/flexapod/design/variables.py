"""Design variables: `Variable`s over paths of the robot file, with `*` expanded.

A variable gives its paths a value, a factor on the file's value, or an offset to it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexapod.analysis.requests.design_values import Axis as Axis
from flexapod.calls import made
from flexapod.description.unit_parser import DIMENSIONLESS, UnitError, parse_quantity, parse_unit
from flexapod.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

How = Literal["value", "factor", "offset"]


@made
@dataclass(frozen=True)
class Variable:
    """A design variable.

    Args:
        low, high: limits (SI, or texts with a unit).
        choices: the only values allowed instead (catalogue motors, screw pitches).
        paths: of the robot file, `*` for every leg; left out: the name under which the variable is given.
        how: the variable is the ``"value"`` of the paths, a ``"factor"`` on the file's value, or an ``"offset"`` to it.
    """

    low: Any = None
    high: Any = None
    choices: Sequence[Any] | None = None
    paths: str | Sequence[str] | None = None
    how: How = "value"


def make_axes(robot: Robot, variables: Mapping[str, object]) -> tuple[Axis, ...]:
    """The variables of a request, checked against the robot.

    Args:
        variables: name or path -> `Variable`, a pair (low, high), a list of choices (three or more), or a mapping with the
            fields of `Variable` (from YAML).

    Checked by: tests/design/test_design_requests.py.
    """
    if not isinstance(variables, Mapping) or not variables:
        raise InputError("variables: give a mapping of parameter paths to limits, e.g. {'platform.mass': (20, 100)}")
    axes = tuple(_axis(robot, str(name), value) for name, value in variables.items())
    seen: dict[str, str] = {}
    for axis in axes:
        for path in axis.paths:
            if path in seen:
                raise InputError(f"variables: {seen[path]!r} and {axis.name!r} both change {path}; leave one out")
            seen[path] = axis.name
    return axes


def _axis(robot: Robot, name: str, given: object) -> Axis:
    variable = _variable(name, given)
    if variable.how not in ("value", "factor", "offset"):
        raise InputError(f"variables: {name}: how is 'value', 'factor' or 'offset', not {variable.how!r}")
    texts = [name] if variable.paths is None else [variable.paths] if isinstance(variable.paths, str) else list(variable.paths)
    paths = tuple(path for text in texts for path in matching(robot, text))
    nominal = tuple(robot.parameter(path) for path in paths)
    if variable.how == "value" and any(isinstance(v, tuple) for v in nominal):
        path = next(p for p, v in zip(paths, nominal, strict=True) if isinstance(v, tuple))
        raise InputError(
            f"variables: {path} is a vector; name a component ({path}.x), or use how='factor' or 'offset' to change it whole"
        )
    unit = "1" if variable.how == "factor" else unit_at(robot, paths[0])
    choices = None if variable.choices is None else tuple(number(f"variables: {name}", v, unit) for v in variable.choices)
    if choices is not None and len(choices) < 1:
        raise InputError(f"variables: {name}: the list of choices is empty")
    ends = choices or (variable.low, variable.high)
    low, high = (min(ends), max(ends)) if choices else _limits(name, variable, unit)
    return Axis(name=name, unit=unit, low=low, high=high, choices=choices, paths=paths, how=variable.how, nominal=nominal)


def _limits(name: str, variable: Variable, unit: str) -> tuple[float, float]:
    if variable.low is None or variable.high is None:
        raise InputError(f"variables: {name}: give low and high, or choices")
    low, high = (number(f"variables: {name}", value, unit) for value in (variable.low, variable.high))
    if low >= high:
        raise InputError(f"variables: {name}: the lower limit {low:g} is not below the upper limit {high:g}")
    return low, high


def _variable(name: str, given: object) -> Variable:
    if isinstance(given, Variable):
        return given
    if isinstance(given, Mapping):
        known = tuple(Variable.__dataclass_fields__)
        wrong = [str(k) for k in given if k not in known]
        if wrong:
            raise InputError(f"variables: {name}: there is no field {wrong[0]!r}; there are: {', '.join(known)}")
        return Variable(**given)
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) >= 2:
        return Variable(given[0], given[1]) if len(given) == 2 else Variable(choices=tuple(given))
    raise InputError(f"variables: {name}: expected (low, high), a list of choices or a Variable, got {given!r}")


def number(what: str, value: object, unit: str = "") -> float:
    """A finite number: SI, or a text with a unit, which must measure what `unit` does (radians apart); empty: any."""
    if isinstance(value, str):
        try:
            text, (value, dimension) = value, parse_quantity(value)
        except UnitError as error:
            raise InputError(f"{what}: {error}") from None
        if unit and dimension != DIMENSIONLESS and dimension[:3] != parse_unit("" if unit == "1" else unit)[1][:3]:
            wanted = "a plain number" if unit == "1" else unit
            raise InputError(f"{what}: {text!r} has the wrong unit: it must be {wanted}")
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not np.isfinite(value):
        raise InputError(f"{what}: expected a finite number or a text with a unit, got {value!r}")
    return float(value)


def matching(robot: Robot, text: str) -> list[str]:
    """The paths of a robot that a text with `*` represents; a path without `*` is checked by the robot itself."""
    if "*" not in text:
        robot.parameter(text)
        return [text]
    stem, component = text, ""
    names = [f"legs.{leg.name}{text[6:]}" for leg in robot.legs] if text.startswith("legs.*.") else []
    if names and "*" not in text[6:]:
        for path in names:
            robot.parameter(path)
        return names
    found = [path + component for path in robot.parameters if fnmatch.fnmatchcase(path, stem)]
    if not found:
        hint = did_you_mean(text, robot.parameters, after=" ")
        raise InputError(f"{text}: no parameter of {robot.name} fits; {hint}robot.parameters lists all")
    return found


def unit_at(robot: Robot, path: str) -> str:
    """The unit of a parameter, also of a component or of a leg's own value of the template."""
    for name in (path, path.rpartition(".")[0], _of_template(path), _of_template(path).rpartition(".")[0]):
        if name in robot.parameters:
            return robot.parameters[name].unit
    return ""


def _of_template(path: str) -> str:
    parts = path.split(".")
    return ".".join([parts[0], *parts[2:]]) if parts[0] == "legs" else path


def scalars(robot: Robot, text: str) -> list[str]:
    """Scalar paths that a text represents: `*` and the components of vectors written out."""
    found: list[str] = []
    for path in matching(robot, text):
        value = robot.parameter(path)
        if not isinstance(value, tuple):
            found.append(path)
        elif len(value) == 3 and not isinstance(value[0], tuple):
            found += [f"{path}.{axis}" for axis in "xyz"]
        else:
            raise InputError(f"{path}: is neither a number nor a vector with x, y, z; name one of its numbers")
    return found
