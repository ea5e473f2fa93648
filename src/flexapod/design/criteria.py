"""Criteria: numbers by which designs are judged, each with its unit, its kernels, its value and, where it exists, its gradient.

The numbers are taken over the poses or samples of a motion: the worst of them counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.calls import made
from flexapod.design import pose_reductions as j
from flexapod.design import reductions as r
from flexapod.design.reachable import leg_distances, reachable, volume_unit
from flexapod.design.reductions import Options, Outputs, Slope, Value, peak
from flexapod.design.variables import number
from flexapod.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@made
@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A number per design.

    Args:
        name: of its column.
        unit: of the number.
        better: ``"low"`` or ``"high"``: what Pareto fronts prefer.
        function: of a robot, instead of a built-in criterion; evaluated on a robot built per design.
        kind: name of the built-in criterion; left out: `name`.
        options: ``stiffness`` of the actuators [N/m or N m/rad], ``load`` (6,) [N, N m] on the platform, ``box`` of poses
            (axis -> (low, high, count), axes as in `workspace`), ``max_condition`` of poses that count.
    """

    name: str
    unit: str = ""
    better: str = "low"
    function: Callable[[Robot], float] | None = None
    kind: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Rule by which a built-in criterion is computed: unit, preferred end, kernels, value, slope, options."""

    unit: str
    better: str
    kernels: tuple[str, ...]
    value: Value
    slope: Slope | None
    doc: str
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


FORCE = "N or N m"


def _rule(unit: str, better: str, kernels: str, functions: tuple[Value, Slope | None], doc: str, **more: Any) -> Rule:
    return Rule(unit=unit, better=better, kernels=tuple(kernels.split()), value=functions[0], slope=functions[1], doc=doc, **more)


def _mass(o: Outputs, _: Options) -> Array:
    return o["total_mass"]


def _mass_slope(_: Outputs, dot: Outputs, __: Options) -> Array:
    return dot["total_mass"]


RULES: dict[str, Rule] = {
    "peak_force": _rule(FORCE, "low", "forces", peak("force"), "largest actuator force"),
    "rms_force": _rule(FORCE, "low", "forces", (r.rms, r.rms_slope), "RMS over the motion, of the actuator that has most"),
    "peak_power": _rule("W", "low", "forces rates", (r.power, r.power_slope), "largest |force x rate|"),
    "peak_speed": _rule("m/s or rad/s", "low", "rates", peak("actuator_velocity"), "largest actuator rate"),
    "stroke": _rule("m or rad", "low", "rates", (r.stroke, r.stroke_slope), "largest travel of an actuator"),
    "longest": _rule("m or rad", "low", "rates", r.end("actuator_position", True), "largest actuator coordinate"),
    "shortest": _rule("m or rad", "high", "rates", r.end("actuator_position", False), "smallest actuator coordinate"),
    "joint_angle": _rule("rad", "low", "angles", peak("deflection"), "largest deflection of a passive joint from home"),
    "worst_condition": _rule("1", "low", "jacobian", (j.condition, j.condition_slope), "largest condition number"),
    "singularity_distance": _rule("1", "high", "jacobian", (j.distance, j.distance_slope), "to type 2, at most 1"),
    "stiffness": _rule(
        "N/m", "high", "jacobian", (j.stiffness, j.stiffness_slope), "smallest, of translation", needs=("stiffness",)
    ),
    "deflection": _rule("m", "low", "jacobian", (j.deflection, j.deflection_slope), "under a load", needs=("stiffness", "load")),
    "lowest_frequency": _rule(
        "Hz", "high", "mass", (j.frequency, j.frequency_slope), "on actuator springs", needs=("stiffness",)
    ),
    "peak_reaction": _rule("N", "low", "reactions", r.longest_vector("reaction_force"), "largest joint force"),
    "leg_distance": _rule("m", "high", "ends", (leg_distances, None), "smallest distance of two legs as straight lines"),
    "workspace_volume": _rule(
        "",
        "high",
        "volume",
        (reachable, None),
        "of the poses in a box that can be reached",
        needs=("box",),
        may=("max_condition",),
    ),
    "mass": _rule("kg", "low", "masses", (_mass, _mass_slope), "of all bodies"),
}
"""The built-in criteria by name; a rule without slope is piecewise constant or has edges, and is differentiated by
differences."""


def make_criteria(criteria: object) -> tuple[Criterion, ...]:
    """The criteria of a request: names of built-in criteria, `Criterion`s, or mappings with their fields (from YAML).

    Checked by: tests/design/test_design_requests.py.
    """
    given = [criteria] if isinstance(criteria, str | Criterion | Mapping) else criteria
    if not isinstance(given, Sequence) or not given:
        raise InputError("criteria: give one or more of: " + ", ".join(RULES))
    found = tuple(_criterion(c) for c in given)
    names = [c.name for c in found]
    double = [n for n in names if names.count(n) > 1]
    if double:
        raise InputError(f"criteria: {double[0]!r} is given twice; give one of them another name")
    return found


OPTIONS = ("stiffness", "load", "box", "max_condition")


def _criterion(given: object) -> Criterion:
    if isinstance(given, str):
        given = Criterion(name=given)
    elif isinstance(given, Mapping):
        fields = {k: v for k, v in given.items() if k in ("name", "kind", "better", "unit")}
        rest = {k: v for k, v in given.items() if k not in fields}
        wrong = [str(k) for k in rest if k not in OPTIONS]
        if wrong or "name" not in fields:
            what = f"there is no field {wrong[0]!r}" if wrong else "a mapping needs a name"
            raise InputError(f"criteria: {what}; fields are name, kind, better, unit, {', '.join(OPTIONS)}")
        given = Criterion(**fields, options=rest)
    if not isinstance(given, Criterion):
        raise InputError(f"criteria: expected a name, a Criterion or a mapping, got {type(given).__name__}")
    if given.better not in ("low", "high"):
        raise InputError(f"criteria: {given.name}: better is 'low' or 'high', not {given.better!r}")
    if not isinstance(given.name, str) or not given.name:
        raise InputError(f"criteria: name: expected a text, got {given.name!r}")
    if given.function is not None:
        if not callable(given.function):
            raise InputError(f"criteria: {given.name}: function: expected a function of a robot, got {given.function!r}")
        return given
    kind = given.kind or given.name
    if kind not in RULES:
        hint = did_you_mean(kind, RULES, "there are", after=" There are")
        raise InputError(f"criteria: there is no criterion {kind!r}; {hint}: {', '.join(RULES)}")
    rule = RULES[kind]
    missing = [name for name in rule.needs if name not in given.options]
    if missing:
        raise InputError(
            f"criteria: {given.name} needs {missing[0]!r}: Criterion(name={kind!r}, options={{{missing[0]!r}: ...}}), or "
            f"{{name: {kind}, {missing[0]}: ...}} in a request file"
        )
    extra = [name for name in given.options if name not in (*rule.needs, *rule.may)]
    if extra:
        raise InputError(f"criteria: {given.name} has no option {extra[0]!r}")
    options = dict(given.options)
    for name in ("stiffness", "max_condition"):
        if name in options:
            options[name] = number(f"criteria: {given.name}: {name}", options[name])
            if options[name] <= 0.0:
                raise InputError(f"criteria: {given.name}: {name}: expected a number above 0, got {options[name]:g}")
    if "load" in options and np.shape(options["load"]) != (6,):
        raise InputError(f"criteria: {given.name}: load: expected six numbers (force, moment), got {options['load']!r}")
    better = given.better if given.better != "low" else rule.better
    unit = volume_unit(given.name, options["box"]) if "box" in options else rule.unit
    return Criterion(name=given.name, unit=given.unit or unit, better=better, kind=kind, options=options)
