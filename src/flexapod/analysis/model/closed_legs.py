"""States of robots with flexible legs: all coordinates closed, from actuators or from the platform.

Independent coordinates u are those of ``robot.independent``: actuators, elastic coordinates. Arrays are (n, ...).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from flexapod.analysis.model.alternative_rows import with_other_rows
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.long_chains import LONG
from flexapod.analysis.model.long_places import has_looped_elements
from flexapod.analysis.requests.results import reasons_of
from flexapod.arrays import Array, Rows

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


STEPS = 60
"""Newton steps from home to a given pose; a pose of the workspace takes five."""

REACHED = 1e-12
"""Distance from a given pose [m, rad] from which Newton's method takes its last step, which leaves rounding alone."""

STRIDE = 0.2
"""Steps of actuators are held below this [rad, or times the characteristic length]: the branch is followed, not jumped."""

WALK = (10, 400)
"""Steps of a way from home: at least, where one step failed, and at most; only screws and gears go further than 80 rad."""

SAME = 1e-7
"""Distance from a given pose, of the characteristic length, beyond which given coordinates contradict it."""


AGAIN = 8
"""Failed samples of a call that are tried with other closing rows."""

HALF_REVOLUTION = 1e-6
"""Sine of a rotation next to half a revolution below which its axis comes from its quaternion."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClosedLegs:
    """Closed states as the kernels of flexible legs read them.

    Args:
        joint_position, joint_velocity: (n, joints) all joints, elastic ones included.
        position, rotation, velocity, angular_velocity: of the platform frame, world axes.
        modes, modes_velocity: (n, N) of a flexible platform.
    """

    joint_position: Array
    joint_velocity: Array
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    modes: Array
    modes_velocity: Array

    def inputs(self) -> dict[str, Array]:
        """Inputs of the kernels, by name."""
        return dict(self.__dict__)

    def rows(self, chosen: Rows) -> ClosedLegs:
        """Inputs of some of the states."""
        return ClosedLegs(**{name: np.ascontiguousarray(values[chosen]) for name, values in self.__dict__.items()})

    def with_rows(self, chosen: Rows, part: ClosedLegs) -> ClosedLegs:
        """The states with some of them replaced by those of `part`."""
        merged = {name: np.array(values) for name, values in self.__dict__.items()}
        for name, values in merged.items():
            values[chosen] = getattr(part, name)
        return ClosedLegs(**merged)

    def elastic(self, robot: Robot) -> tuple[Array, Array]:
        """Elastic coordinates and rates (n, N) in the order of ``robot.elastic_names``."""
        at = list(robot.elastic_indices)
        e = np.concatenate([self.modes, self.joint_position[:, at]], axis=1)
        return e, np.concatenate([self.modes_velocity, self.joint_velocity[:, at]], axis=1)

    def actuators(self, robot: Robot) -> tuple[Array, Array]:
        """Actuator coordinates and rates (n, actuators)."""
        at = list(robot.driven)
        return self.joint_position[:, at], self.joint_velocity[:, at]


@dataclass(frozen=True, kw_only=True, eq=False)
class ActuatorState:
    """Input of the closing of a state: actuators q, qd (n, actuators), elastic coordinates e, ed (n, N) as `robot.elastic_names`.

    Args:
        others: (n, z) rates of coordinates that are independent and neither driven nor elastic; left out: zero.
    """

    q: Array
    e: Array
    qd: Array
    ed: Array
    others: Array | None = None


def evaluate(robot: Robot, quantity: str, given: dict[str, Array], reasons: Reasons, **options: object) -> dict[str, Array]:
    """Outputs of a kernel; reasons of samples that fail are added to `reasons`."""
    if quantity in LONG and not options.get("leg") and has_looped_elements(robot):
        return LONG[quantity](robot, given, reasons, **options)
    bound = kernel(robot, quantity, **options)
    read = {i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs}
    batch = bound.batch(read)
    why = reasons_of(bound.signature, batch.status, read)
    for k in np.flatnonzero((why != "") & (reasons == ""))[:AGAIN]:
        if _by_other_rows(robot, quantity, read, int(k), batch.outputs, options):
            why[k] = ""
    reasons[reasons == ""] = why[reasons == ""]
    return batch.outputs


def _by_other_rows(
    robot: Robot, quantity: str, read: dict[str, Array], k: int, outputs: dict[str, Array], options: dict[str, object]
) -> bool:
    """Whether a failed sample has a result with other closing rows; it is written among the others."""
    other = with_other_rows(robot, read, k)
    if other is None:
        return False
    found = kernel(other, quantity, **options).batch({name: values[k : k + 1] for name, values in read.items()})
    if found.status[0] != 0 or any(found.outputs[name].shape[1:] != values.shape[1:] for name, values in outputs.items()):
        return False
    for name, values in outputs.items():
        values[k] = found.outputs[name][0]
    return True


def home(robot: Robot, count: int) -> ClosedLegs:
    """The robot at home, at rest, `count` times."""
    q = np.tile(np.concatenate([leg.home for leg in robot.legs]), (count, 1))
    none = np.zeros((count, 3))
    modes = np.zeros((count, len(robot.elastic_names) - len(robot.elastic_indices)))
    return ClosedLegs(
        joint_position=q, joint_velocity=np.zeros_like(q), position=np.tile(robot.home.position, (count, 1)),
        rotation=np.tile(robot.home.rotation, (count, 1, 1)), velocity=none, angular_velocity=none, modes=modes,
        modes_velocity=np.zeros_like(modes),
    )  # fmt: skip


def close(robot: Robot, start: ClosedLegs, given: ActuatorState, reasons: Reasons) -> ClosedLegs:
    """States at given actuator and elastic coordinates and rates, assembled from nearby ones.

    Args:
        reasons: per sample, added to.

    Where loops tie elastic coordinates together (``robot.independent``), those that are not independent are corrected.
    """
    q, e, qd, ed, others = given.q, given.e, given.qd, given.ed, given.others
    modes = e.shape[1] - len(robot.elastic_indices)
    position = np.array(start.joint_position)
    position[:, list(robot.driven)], position[:, list(robot.elastic_indices)] = q, e[:, modes:]
    rates = np.zeros((len(q), len(robot.elastic_plan.columns))) if others is None else np.array(others)
    at = rates.shape[1] - position.shape[1]
    rates[:, [at + k for k in robot.driven]], rates[:, [at + k for k in robot.elastic_indices]] = qd, ed[:, modes:]
    rates[:, at - modes : at] = ed[:, :modes]
    inputs = {
        **start.inputs(), "joint_position": position, "modes": e[:, :modes],
        "independent_velocity": rates[:, list(robot.elastic_plan.independent)],
    }  # fmt: skip
    found = evaluate(robot, "elastic_closing", inputs, reasons)
    return ClosedLegs(
        joint_position=found["closed_position"], joint_velocity=found["closed_velocity"],
        position=found["platform_position"], rotation=found["platform_rotation"], velocity=found["platform_velocity"],
        angular_velocity=found["platform_angular_velocity"], modes=e[:, :modes], modes_velocity=ed[:, :modes],
    )  # fmt: skip


def shifted(robot: Robot, state: ClosedLegs, columns: Sequence[int], step: Array) -> ClosedLegs:
    """A state with some coordinates z moved by a step (n, columns); loops are not closed again."""
    at = len(robot.elastic_plan.columns) - len(robot.coordinates)
    joints, twist = np.array(state.joint_position), np.zeros((len(step), 6))
    for k, column in enumerate(columns):
        if column >= at:
            joints[:, column - at] += step[:, k]
        else:
            twist[:, column] += step[:, k]
    relative = Rotation.from_rotvec(twist[:, 3:]).as_matrix()
    return replace(state, joint_position=joints, position=state.position + twist[:, :3], rotation=relative @ state.rotation)


def close_along(robot: Robot, given: ActuatorState, reasons: Reasons) -> ClosedLegs:
    """Close as `close` does, from home: samples that are far from it, or cannot be assembled from it, are reached in steps,
    so that loops stay in the assembly mode of home. Redundant actuators of rigid robots must fit the others."""
    found = _close_along(robot, given, reasons)
    if not robot.elastic_names:
        _name_contradictions(robot, found.actuators(robot)[0] - given.q, reasons)
    return found


def _name_contradictions(robot: Robot, residual: Array, reasons: Reasons) -> None:
    """Reasons of samples with actuator coordinates that the loops do not allow together."""
    size = np.where([unit == "rad" for unit in robot.actuator_units], 1.0, robot.characteristic_length)
    off = np.abs(residual) / size
    for k in np.flatnonzero((off.max(axis=1, initial=0.0) > SAME) & (reasons == "")):
        worst = int(off[k].argmax())
        reasons[k] = (
            f"the actuators contradict each other: the loops tie {robot.actuators[worst]} to the others, and it misses by "
            f"{abs(residual[k, worst]):.6g} {robot.actuator_units[worst]}"
        )


def _close_along(robot: Robot, given: ActuatorState, reasons: Reasons) -> ClosedLegs:
    q, e = given.q, given.e
    first = home(robot, len(q))
    trial = np.full(len(q), "", dtype=object)
    found = close(robot, first, given, trial)
    size = np.where([unit == "rad" for unit in robot.actuator_units], 1.0, robot.characteristic_length)
    way = np.abs((q - first.actuators(robot)[0]) / size).max(axis=1, initial=0.0)
    failed = np.flatnonzero((trial != "") | (way > STRIDE))
    if len(failed) == 0:
        return found
    part, own = first.rows(failed), np.full(len(failed), "", dtype=object)
    dq, de = q[failed] - part.actuators(robot)[0], e[failed] - part.elastic(robot)[0]
    steps = int(np.clip(np.ceil(np.max(way[failed]) / STRIDE), WALK[0] if np.any(trial != "") else 1, WALK[1]))
    for k in range(steps, 0, -1):
        to_q, to_e = q[failed] - (k - 1) / steps * dq, e[failed] - (k - 1) / steps * de
        to_qd, to_ed = (dq, de) if k > 1 else (given.qd[failed], given.ed[failed])
        part = close(robot, moved_on(part, 1.0 / steps), ActuatorState(q=to_q, e=to_e, qd=to_qd, ed=to_ed), own)
    reasons[failed] = np.where(reasons[failed] == "", own, reasons[failed])
    return found.with_rows(failed, part)


def moved_on(state: ClosedLegs, share: float) -> ClosedLegs:
    """A state extrapolated by a fraction of a second with its rates; loops are not closed again."""
    relative = Rotation.from_rotvec(np.nan_to_num(share * state.angular_velocity)).as_matrix()
    return replace(
        state, joint_position=state.joint_position + share * state.joint_velocity,
        position=state.position + share * state.velocity, rotation=relative @ state.rotation,
    )  # fmt: skip


def platform_jacobian(robot: Robot, state: ClosedLegs, reasons: Reasons) -> tuple[Array, Array]:
    """Platform twist per independent rate (n, 6, u) and its acceleration at u'' = 0 (n, 6)."""
    found = evaluate(robot, "elastic_point", {**state.inputs(), "point": np.zeros_like(state.position)}, reasons)
    return found["jacobian"], found["drift"]


def pose_error(robot: Robot, state: ClosedLegs, position: Array, rotation: Array) -> Array:
    """Twist (n, 6) that leads from the state's pose to a given one."""
    relative = rotation @ np.swapaxes(state.rotation, 1, 2)
    odd = (relative - np.swapaxes(relative, 1, 2)) / 2.0
    axis = np.stack([odd[:, 2, 1], odd[:, 0, 2], odd[:, 1, 0]], axis=1)
    sine, cosine = np.linalg.norm(axis, axis=1, keepdims=True), (np.trace(relative, axis1=1, axis2=2)[:, None] - 1.0) / 2.0
    angle = np.where(sine > 0.0, np.arctan2(sine, cosine) / np.where(sine > 0.0, sine, 1.0), 1.0)
    error = np.concatenate([position - state.position, angle * axis], axis=1)
    half = np.flatnonzero((sine[:, 0] < HALF_REVOLUTION) & (cosine[:, 0] < 0.0))  # there the sine has no direction
    if half.size:
        error[half, 3:] = Rotation.from_matrix(relative[half]).as_rotvec()
    return error


@dataclass(frozen=True, kw_only=True, eq=False)
class LegRequest:
    """Closed states, the motion or forces on them, and how the elastic coordinates were found.

    Args:
        state: closed coordinates.
        actuator_acceleration: (n, actuators), or None where the platform's acceleration is given.
        acceleration: (n, 6) of the platform, or None.
        wrench: (n, 6) on the platform frame, world axes; with forces on the platform's modes (n, 6 + N), see
            `wrench_and_mode_forces`.
        source: ``"given"``, ``"static"``, ``"zero"``, ``"simulate"``.
    """

    state: ClosedLegs
    actuator_acceleration: Array | None
    acceleration: Array | None
    wrench: Array
    source: str
