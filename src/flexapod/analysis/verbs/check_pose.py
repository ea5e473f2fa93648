"""`check_pose`, `check_motion`: strokes, joint angles, reach, singularities and drives, as margins and as text."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.poses.pose_jacobians import pose_jacobians
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import dataset
from flexapod.analysis.requests.state import State
from flexapod.analysis.requests.violations import Collector, Violation
from flexapod.analysis.space.drive_limits import Variables, drive_limits
from flexapod.analysis.space.limits import SLACK, RobotLimits, limits_of
from flexapod.analysis.space.pose_map import PoseFacts, PoseMap
from flexapod.analysis.space.reach import shortfall
from flexapod.analysis.verbs.conditioning import SINGULAR, singular_legs
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.calls import users_level
from flexapod.errors import FlexapodWarning, InputError
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.motions.odd_rates import odd_rates

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

MEASURED = 100
"""Samples out of reach at which the gap is measured; the largest is reported."""


@dataclass(frozen=True, kw_only=True)
class LimitCheck:
    """Margins of a pose or motion, and the limits that are violated. True if none is.

    Args:
        margins: Dataset: `stroke_margin` (.., actuator), `deflection` and `angle_margin` (.., swivel), `joint_margin`
            (.., limited_joint: passive joints with a stroke), `speed_margin` (motions), `force_margin`, `power_margin` (motions,
            where the file has such limits), `type_1`, `type_2`, `condition_number`;
            `valid` and `reason`.
        violations: the first and the worst sample of each limit that is not kept.
    """

    margins: xr.Dataset
    violations: tuple[Violation, ...]

    @property
    def ok(self) -> bool:
        """Whether no limit is violated."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "all limits are kept" if self.ok else "\n".join(v.text for v in self.violations)


@checked
def check_pose(robot: Robot, state: State) -> LimitCheck:
    """Strokes, joint angles, reachability and singularities of a pose, or of a batch of poses.

    Args:
        state: pose or poses; twists are not used.
    Returns:
        Margins and violations; nothing is raised for an invalid pose.

    Checked by: tests/analysis/test_limits.py.
    """
    if not isinstance(state, State):
        raise InputError(f"state: expected a State, got {type(state).__name__}; check_motion checks motions")
    return _check(robot, state)


@checked
def check_motion(
    robot: Robot, motion: Motion | ActuatorMotion, *, friction: bool = True, wrench: ArrayLike | None = None
) -> LimitCheck:
    """Strokes, joint angles, reachability, singularities, and speeds, forces and powers of the actuators along a motion.

    Args:
        motion: checked at its samples.
        friction: forces and powers include the friction in the file.
        wrench: load (6,) or (n, 6) [N, N m] on the platform at its frame origin, world axes.
    Returns:
        Margins and violations, each with the first time it happens and where it is worst; nothing is raised for a motion
        that is invalid. A `FlexapodWarning` names rates that are in another unit than what they are the rates of.

    Checked by: tests/analysis/test_limits.py, tests/motions/test_odd_rates.py.
    """
    moved = as_platform(robot, motion)
    if not isinstance(moved, Motion):
        raise InputError(f"motion: expected a Motion or an ActuatorMotion, got {type(motion).__name__}")
    odd = odd_rates(motion)
    if odd:
        warnings.warn(f"motion: {odd}", FlexapodWarning, stacklevel=users_level())
    return _check(robot, moved, friction, wrench)


def _check(robot: Robot, at: State | Motion, friction: bool = True, wrench: ArrayLike | None = None) -> LimitCheck:
    inputs, limits = platform_inputs(at), limits_of(robot)
    chart = PoseMap(limits)
    facts = chart.evaluate(inputs["position"], inputs["rotation"])
    collector = Collector(at=at, count=len(facts.code))
    lost = _unreachable(chart, facts, inputs, collector)
    for array in (facts.actuators, facts.deflection, facts.joints, facts.type_1, facts.type_2, facts.condition):
        if array is not None:
            array[lost] = np.nan
    variables = _strokes(limits, facts, collector) | _angles(limits, facts, collector)
    if isinstance(at, Motion):
        variables |= drive_limits(limits, at, friction, wrench, collector)
    _singular(chart, facts, collector)
    variables |= {
        "type_1": (("leg",), facts.type_1, ""),
        "type_2": ((), facts.type_2, ""),
        "condition_number": ((), facts.condition, ""),
    }
    reasons = np.array(chart.reasons.texts)[facts.code]
    named = {"swivel": limits.swivel_names, "limited_joint": limits.joint_names}
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    margins = dataset(robot, variables, at, reasons, names={k: v for k, v in named.items() if k in used})
    return LimitCheck(margins=margins, violations=tuple(collector.found))


def _unreachable(chart: PoseMap, facts: PoseFacts, inputs: dict[str, Array], collector: Collector) -> NDArray[np.bool_]:
    """Poses that cannot be reached at all: which leg falls short by how much, or which component is not allowed."""
    robot, known = chart.robot, chart.reasons
    lost = (facts.code > 0) & (facts.code <= known.refused)
    for code in np.unique(facts.code[lost]):
        bad = np.flatnonzero(facts.code == code)
        text = known.texts[code]
        if code == known.refused:
            first = pose_jacobians(robot, inputs["position"][bad[:1]], inputs["rotation"][bad[:1]])
            collector.add("pose", "platform", str(first.reasons[0]), bad, int(bad[0]))
            continue
        owner = next((k for k, leg in enumerate(robot.legs) if text.startswith((f"leg {leg.name} ", f"leg {leg.name}:"))), None)
        if owner is None or "reach" not in text:
            collector.add("reach", "platform" if owner is None else robot.legs[owner].name, text, bad, int(bad[0]))
            continue
        gaps = [shortfall(robot, owner, inputs["position"][i], inputs["rotation"][i]) for i in bad[:MEASURED]]
        worst = int(np.argmax(gaps))
        text = f"{text}; {gaps[worst]:.6g} m are missing"
        collector.add("reach", robot.legs[owner].name, text, bad, int(bad[worst]), value=gaps[worst], limit=0.0, unit="m")
    return np.asarray(lost)


def _strokes(limits: RobotLimits, facts: PoseFacts, collector: Collector) -> Variables:
    robot = limits.robot
    for k, (name, unit) in enumerate(zip(robot.actuators, robot.actuator_units, strict=True)):
        ends = float(limits.low[k]), float(limits.high[k])
        _stroke(collector, "actuator", name, facts.actuators[:, k], ends, unit)
    variables: Variables = {"stroke_margin": (("actuator",), limits.stroke_margin(facts.actuators), "m or rad")}
    if facts.joints is not None:
        for k, (name, unit) in enumerate(zip(limits.joint_names, limits.joint_units, strict=True)):
            ends = float(limits.joint_low[k]), float(limits.joint_high[k])
            _stroke(collector, "joint", name, facts.joints[:, limits.joints[k]], ends, unit)
        variables["joint_margin"] = (("limited_joint",), limits.joint_margin(facts.joints), "m or rad")
    return variables


def _stroke(collector: Collector, what: str, name: str, q: NDArray[np.float64], ends: tuple[float, float], unit: str) -> None:
    """Report where a coordinate (n,) of an actuator or joint leaves its stroke."""
    for side, limit, excess in (("below", ends[0], ends[0] - q), ("above", ends[1], q - ends[1])):
        phrase = f"{what} {name} is {side} its stroke"
        collector.beyond("stroke", name, phrase, value=q, limit=limit, excess=excess, unit=unit, slack=SLACK)


def _angles(limits: RobotLimits, facts: PoseFacts, collector: Collector) -> Variables:
    for k, name in enumerate(limits.swivel_names):
        deflection, limit = np.degrees(facts.deflection[:, k]), float(np.degrees(limits.angle[k]))
        collector.beyond(
            "angle",
            name,
            f"joint {name} is beyond its angle limit",
            value=deflection,
            limit=limit,
            excess=deflection - limit,
            unit="deg",
            slack=float(np.degrees(SLACK)),
        )
    if not limits.swivels:
        return {}
    margin = limits.angle_margin(facts.deflection)
    return {"deflection": (("swivel",), facts.deflection, "rad"), "angle_margin": (("swivel",), margin, "rad")}


def _singular(chart: PoseMap, facts: PoseFacts, collector: Collector) -> None:
    for k, leg in enumerate(chart.robot.legs):
        bad = np.flatnonzero(facts.type_1[:, k] < SINGULAR)
        if len(bad):
            reasons = singular_legs(chart.robot, np.where(np.arange(len(chart.robot.legs)) == k, 0.0, np.inf))[0]
            collector.add("singular", leg.name, reasons, bad, int(bad[facts.type_1[bad, k].argmin()]))
    bad = np.flatnonzero(facts.type_2 < SINGULAR)
    if len(bad):
        text = "type 2: the platform is not held by the actuators; conditioning() names the free motion"
        collector.add("singular", "platform", text, bad, int(bad[facts.type_2[bad].argmin()]))
