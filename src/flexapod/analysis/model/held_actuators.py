r"""Static equilibrium of a flexible platform with the actuators held: the load moves the platform and bends it.

Unknown are the motion x of the frame and the elastic coordinates, and the actuator forces:

.. math:: \begin{bmatrix} K_T & -B \\ B^T & 0 \end{bmatrix} \begin{pmatrix} \delta x \\ \delta\Gamma \end{pmatrix} =
          \begin{pmatrix} -\rho \\ q_{given} - q(x) \end{pmatrix}

rho residual, K_T its exact derivative, B^T motion of the actuators per x (platform axes). Newton from the undeformed pose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.flexible_load import flexible_load
from flexapod.analysis.model.flexible_tangent import tangent_of
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.model.point_load import load_rows
from flexapod.analysis.model.vibration import is_definite, null_space
from flexapod.analysis.requests.loads import is_loaded
from flexapod.analysis.requests.results import OnError, dataset, raise_failed, reasons_of
from flexapod.analysis.requests.state import State
from flexapod.analysis.requests.validity import warn_unstable
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Load
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.motions.motion import ActuatorMotion
    from flexapod.robot.robot import Robot


LIMIT = 30
"""Newton steps; within the linear range it takes four."""

CLOSED = 1e-12
"""Last step of the frame [rad, or of the characteristic length]; what follows it is below rounding."""

NOT_FOUND = "no static deflection found: the load buckles the platform, or the pose is singular"


def held_actuators(robot: Robot, motion: ActuatorMotion, load: Load, on_error: OnError) -> xr.Dataset:
    """Deflection and pose with the actuators held at the coordinates of the motion; see `static_deflection`.

    Checked by: tests/analysis/test_held_actuators.py.
    """
    from flexapod.analysis.verbs.forward_kinematics import forward_kinematics

    start = forward_kinematics(robot, motion.position, on_error=on_error)
    p, R = (np.array(start[name].values, dtype=float) for name in ("position", "rotation"))
    why = "the undeformed platform has no pose with these actuator coordinates"
    reasons = np.where(np.isfinite(p).all(axis=1), "", why).astype(object)
    e, force = np.zeros((len(p), len(robot.elastic_names))), np.zeros_like(motion.position)
    residual = np.full(len(p), np.nan)
    active = np.flatnonzero(reasons == "")
    for _ in range(LIMIT):
        if not len(active):
            break
        at = (p[active], R[active], e[active], force[active])
        step, residual[active] = _step(robot, at, motion.position[active], load, active, reasons)
        lost = ~np.isfinite(step).all(axis=1)
        reasons[active[lost & (reasons[active] == "")]] = NOT_FOUND
        step[lost] = 0.0
        p[active] += np.einsum("nij,nj->ni", R[active], step[:, :3])
        R[active] = R[active] @ _rotation(step[:, 3:6])
        N = e.shape[1]
        e[active] += step[:, 6 : 6 + N]
        force[active] += step[:, 6 + N :]
        size = np.abs(step[:, :6] / np.array([robot.characteristic_length] * 3 + [1.0] * 3)).max(axis=1)
        active = active[(reasons[active] == "") & ~(size < CLOSED)]
    reasons[active] = NOT_FOUND
    raise_failed("static deflection", robot, reasons.astype(str), motion, on_error)
    pose = {"position": p, "rotation": R}
    acting = flexible_load(robot, pose, *load).inputs()
    whole = {**pose, "elastic": e, "force": force, **acting}
    stable = held_stable(robot, tangent_of(robot).batch(whole).outputs, reasons, load[0])
    body = robot.flexible_platform
    assert body is not None
    variables = {
        "position": (("axis",), p, "m"), "rotation": (("axis", "platform_axis"), R, ""),
        "elastic": (("elastic_coordinate",), e, "sqrt(kg) m"), "force": (("actuator",), force, "N"),
        "residual": ((), residual, "N"), "stable": ((), stable, ""), "elastic_energy": ((), body.elastic_energies(e), "J"),
    }  # fmt: skip
    return dataset(robot, variables, motion, reasons.astype(str) if on_error == "mask" else None)


def _step(
    robot: Robot, at: tuple[Array, Array, Array, Array], wanted: Array, load: Load,
    active: NDArray[np.intp], reasons: Reasons,
) -> tuple[Array, Array]:  # fmt: skip
    """Newton's step (n, 6 + N + actuators) and the largest residual before it (n,)."""
    p, R, e, force = at
    pose = {"position": np.ascontiguousarray(p), "rotation": np.ascontiguousarray(R)}
    loads = flexible_load(robot, pose, *load_rows(load, active))
    tangent = tangent_of(robot)
    batch = tangent.batch({**pose, "elastic": np.ascontiguousarray(e), "force": np.ascontiguousarray(force), **loads.inputs()})
    why = reasons_of(tangent.signature, batch.status, pose)
    reasons[active] = np.where(reasons[active] == "", why, reasons[active])
    rho, K, B = (batch.outputs[name] for name in ("residual", "stiffness", "actuator_map"))
    found = inverse_kinematics(robot, State(position=p, rotation=R), joints=False, elastic=e, on_error="mask")
    off = wanted - found.actuator_position.values
    n = B.shape[2]
    system = np.concatenate(
        [np.concatenate([K, -B], axis=2), np.concatenate([np.swapaxes(B, 1, 2), np.zeros((len(B), n, n))], axis=2)], axis=1
    )
    return solved(system, np.concatenate([-rho, off], axis=1)), np.abs(rho).max(axis=1)


def _rotation(v: Array) -> Array:
    """Rotations (n, 3, 3) by the vectors v (n, 3)."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(v).as_matrix())


def held_stable(robot: Robot, tangent: Mapping[str, Array], reasons: Reasons, wrench: ArrayLike | None) -> NDArray[np.bool_]:
    """Whether each equilibrium (n,) of a flexible platform is stable with its actuators held; warns of those that are not.

    Args:
        tangent: outputs of the kernel `flexible_tangent` there.
    """
    good, stable = np.flatnonzero(reasons == ""), np.zeros(len(reasons), dtype=bool)
    body, length = robot.flexible_platform, robot.characteristic_length
    assert body is not None
    mass = np.concatenate([[body.mass] * 3, [body.mass * length**2] * 3, np.diag(body.M_ee)])
    C = np.swapaxes(tangent["actuator_map"][good], 1, 2)
    Z = null_space(C, np.tile(1.0 / np.sqrt(mass), (len(C), 1)))
    stable[good] = is_definite(np.swapaxes(Z, 1, 2) @ tangent["stiffness"][good] @ Z)
    warn_unstable(robot, stable, reasons, is_loaded(wrench))
    return stable
