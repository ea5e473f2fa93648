"""`inverse_kinematics`: actuators, joints and bodies from a motion of the platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.closing_signs import reversed_joints
from flexapod.analysis.model.continuous_angles import continue_angles
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.model.newton_starts import solve_from_starts as solve_from_starts
from flexapod.analysis.requests.abilities import kind_of, refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.results import OnError, dataset, raise_failed, reasons_of
from flexapod.analysis.requests.sample_blocks import Room, SampleReasons, in_blocks, room_for, without_bad
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.kernels.kernel import Batch
    from flexapod.robot.robot import Robot

FOLLOW = 1e-9
"""Largest constraint residual of a motion that counts as followed, relative to the motion's own size: inputs carry rounding
of their own, a real violation is larger by orders."""

COMPONENTS = tuple(f"translation along {axis}" for axis in "xyz") + tuple(f"rotation about {axis}" for axis in "xyz")


@checked
@over_designs
def inverse_kinematics(
    robot: Robot,
    motion: Motion | State | ActuatorMotion,
    *,
    joints: bool = True,
    bodies: bool = False,
    elastic: ArrayLike | None = None,
    elastic_velocity: ArrayLike | None = None,
    elastic_acceleration: ArrayLike | None = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Actuator coordinates, rates and accelerations of a platform motion.

    Args:
        robot: any robot.
        motion: a `Motion`, an `ActuatorMotion`, or `State`s (then at zero acceleration).
        joints: also the coordinates of all joints but the closing ones, with rates and accelerations.
        bodies: also pose, twist and acceleration of every body (frames of the robot file).
        elastic, elastic_velocity, elastic_acceleration: of flexible robots, arrays as for `inverse_dynamics`; the legs then
            follow the deformed joints. Accelerations are zero where left out.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset over `time` (Motion) or `sample`: `actuator_position`, `actuator_velocity`, `actuator_acceleration`
        (.., actuator), `joint_...` (.., joint), `body_...` (.., body, axis).
    Raises:
        SampleError: a leg cannot reach, is singular, or the robot cannot follow a component of the motion.
    """
    from flexapod.analysis.requests.fast_paths import answer
    from flexapod.analysis.requests.request import Request

    refuse(
        robot, "inverse_kinematics", motion=kind_of(motion, State), joints=joints, bodies=bodies, elastic=elastic,
        elastic_velocity=elastic_velocity, elastic_acceleration=elastic_acceleration,
    )  # fmt: skip
    if not isinstance(motion, Motion | State | ActuatorMotion):
        raise InputError(f"motion: expected a Motion or a State, got {type(motion).__name__}")
    request = Request(
        at=motion, joints=joints, bodies=bodies, elastic=elastic, elastic_velocity=elastic_velocity,
        elastic_acceleration=elastic_acceleration, on_error=on_error,
    )  # fmt: skip
    return answer(robot, "inverse_kinematics", request)  # type: ignore[no-any-return]


def legs_one_by_one(robot: Robot, request: Request) -> xr.Dataset:
    """Actuators, joints and bodies of rigid legs that follow from the platform; see `inverse_kinematics`."""
    from flexapod.analysis.model.elastic_coordinates import refuse_elastic
    from flexapod.analysis.verbs.platform_motion import as_platform

    refuse_elastic(robot, getattr(request.at, "elastic", None))
    at, on_error = as_platform(robot, request.at), request.on_error
    inputs = platform_inputs(at)
    details = [d for d, wanted in (("joints", request.joints), ("bodies", request.bodies)) if wanted] or ["actuators"]
    kernels = [kernel(robot, "inverse_kinematics", detail=detail) for detail in details]

    def block(part: dict[str, Array], rows: slice, room: Room) -> tuple[dict[str, Any], SampleReasons]:
        found: dict[str, Any] = {}
        for bound in kernels:
            batch, given = solve_from_starts(bound, part, rows, room_for(bound.signature, room))
            reasons = failures(robot, bound, batch, given, hasattr(at, "acceleration"), rows)
            found |= {name: values for name, values in batch.outputs.items() if not name.startswith("constraint")}
        return without_bad(found, reasons), reasons

    found, reasons = in_blocks(inputs, block)
    raise_failed("inverse kinematics", robot, reasons, at, on_error)
    outputs = {o.name: o for bound in kernels for o in bound.signature.outputs}
    variables = {name: (outputs[name].dims, values, outputs[name].unit) for name, values in found.items()}
    continue_angles(robot, variables, along=isinstance(at, Motion))
    return dataset(robot, variables, at, reasons if on_error == "mask" else None)


def joint_rates(
    robot: Robot, inputs: dict[str, Array], accelerations: bool = True
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.float64]]:
    """Actuator rates of platform inputs, the reason per sample why they cannot be followed, and joint coordinates.

    Args:
        accelerations: the motion's acceleration must be one that the robot can follow, too.
    """
    rates, reasons, joints = joint_rates_of_block(robot, inputs, accelerations)
    return rates, np.full(len(rates), "", dtype=object) if reasons is None else reasons, joints


def joint_rates_of_block(
    robot: Robot, inputs: dict[str, Array], accelerations: bool = True, rows: slice | None = None
) -> tuple[NDArray[np.float64], SampleReasons, NDArray[np.float64]]:
    """Joint rates of a block of a verb's samples `rows`, as `joint_rates`, with reasons only where there are any."""
    bound = kernel(robot, "inverse_kinematics", detail="joints" if any(f is None for f in robot.closed_forms) else "rates")
    own = {i.name: inputs[i.name] for i in bound.signature.inputs if i.name != "guess"}
    batch, given = solve_from_starts(bound, own, rows)
    reasons = failures(robot, bound, batch, given, accelerations, rows)
    home = np.concatenate([leg.home for leg in robot.legs])
    found, count = batch.outputs.get("joint_position"), len(batch.status)
    joints = np.broadcast_to(home, (count, len(home))) if found is None else np.where(np.isfinite(found), found, home)
    return batch.outputs["actuator_velocity"], reasons, joints


def platform_inputs(motion: Motion | State) -> dict[str, NDArray[np.float64]]:
    """Arrays (n, ...) of a motion or of states, by the names of the kernels."""
    if not isinstance(motion, Motion | State):
        raise InputError(f"motion: expected a Motion or a State, got {type(motion).__name__}")
    names = ("position", "rotation", "velocity", "angular_velocity")
    arrays = {name: getattr(motion, name) for name in names}
    for name in ("acceleration", "angular_acceleration"):
        own = getattr(motion, name, None)
        arrays[name] = np.broadcast_to(np.zeros(3), arrays["velocity"].shape) if own is None else own
    if isinstance(motion, State) and motion.single:
        return {name: value[None] for name, value in arrays.items()}
    return arrays


def failures(
    robot: Robot, bound: RobotKernel, batch: Batch, inputs: dict[str, Array], accelerations: bool, rows: slice | None
) -> SampleReasons:
    """Reasons of samples that a leg cannot reach, or that a robot of limited mobility cannot follow, with the components.

    Args:
        batch, inputs: of the kernel `inverse_kinematics`, which `bound` is.
        accelerations: those of the motion must be possible, too.
        rows: which samples of a verb these are.
    """
    reasons = reasons_of(bound.signature, batch.status, inputs).astype(object) if batch.status.any() else None
    for name, bad in _constraint_errors(robot, batch, inputs, accelerations).items():
        if not bad.any():
            continue
        reasons = np.full(len(bad), "", dtype=object) if reasons is None else reasons
        for i in np.flatnonzero(bad & (reasons == "")):
            place = int(i) + (0 if rows is None else rows.start)
            reasons[i] = f"the robot cannot {WHAT[name]}: {_components(robot, inputs, int(i), batch.outputs[name][i], place)}"
    if "constraint" not in batch.outputs:
        return reasons
    wrong = reversed_joints(robot, inputs, first=0 if rows is None else rows.start)
    return reasons if not np.any(wrong != "") else wrong if reasons is None else np.where(reasons == "", wrong, reasons)


WHAT = {
    "constraint": "reach this pose",
    "constraint_rate": "have this velocity",
    "constraint_acceleration": "have this acceleration",
}


def _constraint_errors(
    robot: Robot, batch: Batch, inputs: Mapping[str, Array], accelerations: bool
) -> dict[str, NDArray[np.bool_]]:
    """Samples whose pose, velocity or acceleration the legs of a robot of limited mobility do not allow."""
    if "constraint" not in batch.outputs:
        return {}
    length = robot.characteristic_length
    size = np.linalg.norm(inputs["velocity"], axis=1) / length + np.linalg.norm(inputs["angular_velocity"], axis=1)
    second = np.linalg.norm(inputs["acceleration"], axis=1) / length + np.linalg.norm(inputs["angular_acceleration"], axis=1)
    scales = (np.ones_like(size), 1.0 + size, 1.0 + second + size**2)
    found = {}
    for name, scale in zip(WHAT, scales, strict=True):
        if accelerations or name != "constraint_acceleration":
            found[name] = np.abs(batch.outputs[name]).max(axis=1) / max(1.0, length) > FOLLOW * scale
    return found


def unfollowed(robot: Robot, batch: Batch, inputs: Mapping[str, Array], accelerations: bool) -> NDArray[np.bool_]:
    """Samples of a batch of the kernel `inverse_kinematics` that the legs of a robot do not allow."""
    found = _constraint_errors(robot, batch, inputs, accelerations)
    return np.any(list(found.values()), axis=0) if found else np.zeros(len(batch.status), dtype=bool)


def _components(robot: Robot, inputs: dict[str, Array], sample: int, residual: NDArray[np.float64], place: int) -> str:
    """Components of the platform that the residual moves: the smallest correction, its main parts by name."""
    bound = kernel(robot, "jacobian")
    home = np.concatenate([leg.home for leg in robot.legs])[None]
    one = {name: inputs[name][sample : sample + 1] for name in ("position", "rotation")} | {"guess": home}
    found = bound.batch({i.name: one[i.name] for i in bound.signature.inputs}, rows=np.array([place]))
    G = found.outputs["constraint_jacobian"][0]
    if not np.all(np.isfinite(G)):
        return "out of its reach"
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    size = np.nan_to_num(residual)
    size = size / max(float(np.abs(size).max()), 1e-300)  # products of the largest numbers overflow
    forbidden = np.abs(np.linalg.pinv(G * scale, rcond=1e-8) @ size)
    parts = [COMPONENTS[k] for k in np.argsort(-forbidden) if forbidden[k] > 0.1 * forbidden.max()]
    return "it cannot follow " + " and ".join(parts)
