r"""`singularities`: how far poses are from singular ones of every kind, on which side, and what motion is lost or gained.

Type 1: a leg cannot follow; actuator rates per twist grow without bound, and the platform loses the twist of the largest singular
value of J. Type 2: the actuators do not hold the platform; it gains the twist of the smallest singular value of [J; G].
Constraint: the constraints G alone lose rank, and the mechanism gains a degree of freedom. Twists are made dimensionless by L.

.. math:: d_2 = \sigma_{min}(\widehat{[J;G]\,S}),\quad d_c = \sigma_{min}(\widehat{G\,S}),\quad
          \text{side} = \mathrm{sign}\det\widehat{[J;G]\,S}\ \text{over the same at home}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.poses.pose_jacobians import PoseJacobians, main_parts, pose_jacobians
from flexapod.analysis.poses.row_condition import padded, row_normalised, type_2_distance
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.conditioning import SINGULAR, singular_legs
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import positive
from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot


@checked
def singularities(
    robot: Robot, state: State | Motion | ActuatorMotion, length: float | None = None, *, on_error: OnError = "raise"
) -> xr.Dataset:
    """Distances to singular poses of each type, sides, and twists that are nearly lost or gained.

    Args:
        state: pose or poses.
        length: characteristic length [m]; the robot's own if left out.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
    Returns:
        Dataset: `type_1` (.., leg), `type_2`, `constraint` (NaN at full mobility): 0 at a singular pose, at most 1; `side`: 1 on
        home's side of the type 2 singularities, -1 beyond, 0 at one (NaN with redundant actuators), by the sign of the
        determinant of all rows, which constraint singularities change too; `lost_twist`,
        `gained_twist`, `constraint_twist` (.., twist), of dimensionless size 1, world axes; `text`: the nearest singularity.

    Checked by: tests/analysis/test_singularities.py.
    """
    refuse(robot, "singularities", length=length, on_error=on_error)
    at = as_platform(robot, state)
    if not isinstance(at, State | Motion):
        raise InputError(f"state: expected a State or a Motion, got {type(state).__name__}")
    L = robot.characteristic_length if length is None else positive("length", length)
    found = pose_jacobians(robot, at.position.reshape(-1, 3), at.rotation.reshape(-1, 3, 3))
    reasons = found.reasons.astype(str)
    raise_failed("singularities", robot, reasons, at, on_error)
    n, scale = len(reasons), np.array([L] * 3 + [1.0] * 3)
    nothing = np.full((n, 6), np.nan)
    type_2, constraint, side = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    lost, gained, freed = nothing.copy(), nothing.copy(), nothing.copy()
    good = np.flatnonzero(reasons == "")
    if len(good):
        J, G, rows = found.jacobian[good], found.constraint[good], row_normalised(found.rows[good], L)
        _, s, vt = np.linalg.svd(rows)
        type_2[good], gained[good] = padded(s)[:, 5], _signed(vt[:, 5]) * scale
        lost[good] = _signed(np.linalg.svd(J * scale)[2][:, 0]) * scale
        if G.shape[1]:
            _, sc, vc = np.linalg.svd(row_normalised(G, L))
            constraint[good], freed[good] = sc[:, -1], _signed(vc[:, G.shape[1] - 1]) * scale
        side[good] = sides(robot, found.rows[good], L)
    texts = [_text(robot, found, i, (type_2[i], gained[i] / scale), (constraint[i], freed[i] / scale)) for i in range(n)]
    variables: dict[str, Variable] = {
        "type_1": (("leg",), np.where((reasons == "")[:, None], found.margin, np.nan), ""),
        "type_2": ((), type_2, ""),
        "constraint": ((), constraint, ""),
        "side": ((), side, ""),
        "lost_twist": (("twist",), lost, "m or rad"),
        "gained_twist": (("twist",), gained, "m or rad"),
        "constraint_twist": (("twist",), freed, "m or rad"),
        "text": ((), np.array(texts), ""),
    }
    result = dataset(robot, variables, at, reasons if on_error == "mask" else None)
    return result.assign_attrs(characteristic_length=L)


def determinants(rows: Array, length: float) -> Array:
    """Determinant (n,) of the row-normalised [J; G]; NaN unless it is square."""
    if rows.shape[1] != 6:
        return np.full(len(rows), np.nan)
    with np.errstate(invalid="ignore"):  # rows of poses that cannot be reached are NaN
        return np.asarray(np.linalg.det(row_normalised(rows, length)))


def sides(robot: Robot, rows: Array, length: float) -> Array:
    """1 on home's side of the type 2 singularities, -1 beyond, 0 at one."""
    home = pose_jacobians(robot, robot.home.position[None], robot.home.rotation[None])
    at_home = determinants(home.rows, length)[0]
    own = determinants(rows, length)
    near = type_2_distance(rows, length) < SINGULAR
    return np.where(near, 0.0, np.sign(own) * np.sign(at_home))


def _signed(direction: Array) -> Array:
    """Directions (n, 6) with their largest component positive."""
    first = np.take_along_axis(direction, np.abs(direction).argmax(axis=1)[:, None], axis=1)
    return direction * np.where(first < 0, -1.0, 1.0)


def _text(robot: Robot, found: PoseJacobians, i: int, actuated: tuple[float, Array], constrained: tuple[float, Array]) -> str:
    """The singularity that is nearest, as text.

    Args:
        actuated, constrained: distance of pose i to type 2 and constraint singularities, and the twist that is gained there.
    """
    (type_2, gained), (constraint, freed) = actuated, constrained
    if found.reasons[i]:
        return str(found.reasons[i])
    exact = singular_legs(robot, found.margin[i])
    if type_2 < SINGULAR:
        exact.append(f"type 2: the actuators do not hold {' and '.join(main_parts(np.abs(gained)))}")
    if constraint < SINGULAR:
        exact.append(f"constraint: the mechanism gains {' and '.join(main_parts(np.abs(freed)))}")
    if exact:
        return "; ".join(exact)
    leg = int(np.nanargmin(found.margin[i]))
    near = {
        f"type 1 of leg {robot.legs[leg].name}": float(found.margin[i, leg]),
        f"type 2 ({' and '.join(main_parts(np.abs(gained)))} nearly free)": type_2,
    }
    if np.isfinite(constraint):
        near[f"constraint ({' and '.join(main_parts(np.abs(freed)))} nearly free)"] = constraint
    kind = min(near, key=lambda key: near[key])
    return f"regular; nearest: {kind}, distance {near[kind]:.3g}"
