"""Built-in criteria where loops run inside or between legs: by the verbs, on a robot built per design.

The reductions are those of the kernels; what they read comes from inverse kinematics, inverse dynamics and the Jacobians of all
loops. A design takes milliseconds to seconds instead of microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.poses.pose_jacobians import pose_jacobians
from flexapod.analysis.requests.properties import holds
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array
from flexapod.design.criteria import RULES, Criterion
from flexapod.design.pose_reductions import deflection_of, stiffness_of
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


def takes_verbs(robot: Robot) -> bool:
    """Whether verbs, not kernels, evaluate the criteria of this robot: its loops are closed together, and nothing deforms."""
    return holds(robot, "flexible legs") and not robot.elastic_names and robot.flexible_platform is None


def by_verbs(criterion: Criterion, at: State | Motion, options: Mapping[str, float]) -> Criterion:
    """A built-in criterion as a function of a robot.

    Args:
        at: poses or motion, the same for all designs.
        options: options with what the reduction must know of the robot.

    Checked by: tests/design/test_study_rows.py.
    """
    needed = [name for name in RULES[criterion.kind].kernels if name not in OUTPUTS]
    if needed:
        raise InputError(
            f"criteria: {criterion.name}: is not available where loops run inside or between legs; give it as a function of a "
            "robot: Criterion(name=..., unit=..., function=lambda robot: ...)"
        )

    def value(robot: Robot) -> float:
        if criterion.kind == "lowest_frequency":
            return _lowest(robot, at, float(options["stiffness"]))
        if criterion.kind in ("stiffness", "deflection"):
            C = _compliance(robot, at, float(options["stiffness"]))
            return float((stiffness_of(C) if criterion.kind == "stiffness" else deflection_of(C, options))[0])
        outputs: dict[str, Array] = {}
        for name in RULES[criterion.kind].kernels:
            outputs |= {key: array[None] for key, array in OUTPUTS[name](robot, at).items()}
        if criterion.kind == "mass":
            return float(outputs["total_mass"][0, 0])
        own = {"length": robot.characteristic_length, "constraints": range(len(robot.plan.constraints))}
        return float(RULES[criterion.kind].value(outputs, {**options, **own})[0])

    return replace(criterion, function=value)


def _forces(robot: Robot, at: State | Motion) -> dict[str, Array]:
    from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

    return {"force": np.atleast_2d(inverse_dynamics(robot, at).force.values)}


def _reactions(robot: Robot, at: State | Motion) -> dict[str, Array]:
    from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

    found = inverse_dynamics(robot, at, reactions=True).reaction_force
    return {"reaction_force": np.nan_to_num(found.values.reshape(-1, *found.shape[-2:]))}


def _rates(robot: Robot, at: State | Motion) -> dict[str, Array]:
    found = inverse_kinematics(robot, at, joints=False)
    return {name: np.atleast_2d(found[name].values) for name in ("actuator_position", "actuator_velocity")}


def _jacobian(robot: Robot, at: State | Motion) -> dict[str, Array]:
    found = pose_jacobians(robot, at.position.reshape(-1, 3), at.rotation.reshape(-1, 3, 3))
    if bad := next((str(text) for text in found.reasons if text), ""):
        raise FlexapodError(f"Jacobian of {robot.name}: {bad}")
    return {"jacobian": found.jacobian, "constraint_jacobian": found.constraint}


def _masses(robot: Robot, _: object) -> dict[str, Array]:
    heavy = [value for name, value in robot.values.items() if name == "platform.mass" or name.endswith(".body.mass")]
    return {"total_mass": np.array([sum(heavy)])}


def _lowest(robot: Robot, at: State | Motion, stiffness: float) -> float:
    """Lowest natural frequency [Hz] on springs in the actuators, without weight, as the kernels have it."""
    from flexapod.analysis.verbs.natural_frequencies import natural_frequencies

    found = natural_frequencies(robot, at, actuators=np.full(len(robot.actuators), stiffness), prestress=False)
    return float(found.frequency.values.min())


def _compliance(robot: Robot, at: State | Motion, stiffness: float) -> Array:
    """Compliance (1, m, 6, 6) at m poses, on springs in the actuators and with those of the file, without weight."""
    from flexapod.analysis.verbs.cartesian_stiffness import cartesian_stiffness

    found = cartesian_stiffness(robot, at, actuators=np.full(len(robot.actuators), stiffness), prestress=False)
    return np.asarray(found.compliance.values).reshape(1, -1, 6, 6)


OUTPUTS: dict[str, Callable[[Robot, Any], dict[str, Array]]] = {
    "forces": _forces, "rates": _rates, "jacobian": _jacobian, "reactions": _reactions, "masses": _masses, "mass": _masses,
}  # fmt: skip
"""Kernel of the built-in criteria -> what the verbs have in its place."""
