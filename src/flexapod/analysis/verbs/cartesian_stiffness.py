r"""`cartesian_stiffness`: stiffness and compliance of the platform under a load.

.. math:: C = P\,Z\,(Z^T (K + B\,\mathrm{diag}(k)\,B^T)\,Z)^{-1} Z^T P^T,\qquad B^T Z = 0 \text{ where the actuators are locked}

K: stiffness about the equilibrium in the coordinates of the robot's linear model, P motion of the platform per coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.flexible_load import shapes_at
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.model.small_motions import LinearMatrices, actuator_stiffness, linear_matrices, warn_equilibrium
from flexapod.analysis.model.vibration import inertial_sizes, null_space, symmetric
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.loads import in_plane, is_loaded
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.results import TWIST, OnError, dataset, raise_failed
from flexapod.analysis.verbs.point_motion import named_point
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


YIELDS = 1e-12
"""Compliance, of the largest (metres and radians made comparable by the characteristic length), below which nothing yields."""


OUT_OF_PLANE = "{robot} is planar: its model has no stiffness or compliance out of its plane, these entries are NaN"
"""Reason why some entries of a planar robot are no numbers."""


@checked
@over_designs
def cartesian_stiffness(
    robot: Robot,
    state: StateOrMotion,
    *,
    actuators: str | ArrayLike = "locked",
    prestress: bool = True,
    wrench: ArrayLike | None = None,
    point: str | None = None,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Compliance and stiffness (6, 6) of the platform at its origin or at a named point of it, world axes.

    Args:
        state: poses at rest, with elastic coordinates as for `natural_frequencies`.
        actuators, prestress, wrench: as for `natural_frequencies`; rigid robots need actuator stiffness.
        point: of the platform where load and motion are taken; on a flexible platform the material there, which deforms.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset: `compliance` (.., twist, wrench) [m/N, rad/N, rad/(N m)]; `stiffness` (.., wrench, twist), its inverse, or its
        pseudo-inverse where the platform is rigid in some direction; `rank` (..), the number of compliant directions;
        `stable` (..): False where the equilibrium is unstable with the actuators as chosen, which also warns: some compliance is
        negative there; the deflection `elastic` and the holding `force` of the equilibrium, with their measures of validity. Of
        planar robots entries out of the plane are NaN: they are not in the model (attribute `not_in_model`).

    Checked by: tests/analysis/test_cartesian_stiffness.py.
    """
    stiffness = actuator_stiffness(robot, actuators)
    refuse(robot, "cartesian_stiffness", actuators=actuators, prestress=prestress, wrench=wrench, point=point)
    reasons = np.full(len(state), "", dtype=object)
    model = linear_matrices(robot, state, prestress, (wrench, None, "world"), reasons)
    raise_failed("cartesian stiffness", robot, reasons.astype(str), state, on_error)
    if point is not None:
        model = replace(model, P=_at_point(robot, model, point))
    C = compliance(model, actuators if isinstance(actuators, str) else "stiffness", stiffness)
    free = ~np.isfinite(C).all(axis=(1, 2))
    reasons[model.good[free]] = "the robot can move without any force; lock its actuators or give them stiffness"
    raise_failed("cartesian stiffness", robot, reasons.astype(str), state, on_error)
    C, model = C[~free], model.rows(np.asarray(~free))
    free_actuators = isinstance(actuators, str) and actuators == "free"
    stable = warn_equilibrium(robot, model, state, np.zeros(model.B.shape[2]) if free_actuators else stiffness, is_loaded(wrench))
    within = np.array(in_plane(robot))
    part = np.ix_(np.arange(len(C)), within, within)
    scale = np.array([1.0] * 3 + [robot.characteristic_length] * 3)[within]
    even = C[part] * scale[:, None] * scale
    rank = np.linalg.matrix_rank(even, tol=YIELDS * np.abs(even).max(axis=(1, 2), initial=0.0), hermitian=True)
    K = np.full_like(C, np.nan)
    K[part] = np.linalg.pinv(even, rcond=YIELDS, hermitian=True) * scale[:, None] * scale
    shown = np.full_like(C, np.nan)
    shown[part] = C[part]

    def spread(values: Array) -> Array:
        result = np.full((len(reasons), *values.shape[1:]), np.nan)
        result[model.good] = values
        return result

    variables = {
        "compliance": (("twist", "wrench"), spread(shown), "m/N, rad/N, rad/(N m)"),
        "stiffness": (("wrench", "twist"), spread(K), "N/m, N, N m"),
        "rank": ((), spread(rank.astype(float)), "1"),
        "stable": ((), stable, ""),
        **model.variables,
    }
    names = {"twist": TWIST, "wrench": ["fx", "fy", "fz", "mx", "my", "mz"]}
    result = dataset(robot, variables, state, reasons.astype(str) if on_error == "mask" else None, names)
    return result.assign_attrs(not_in_model=OUT_OF_PLANE.format(robot=robot.name)) if robot.planar else result


def compliance(model: LinearMatrices, actuators: str, stiffness: Array | None) -> Array:
    """Compliance (n, 6, 6) of the platform frame; NaN where the robot can move without any force."""
    K, Bt = model.K, np.swapaxes(model.B, 1, 2)
    if stiffness is not None:
        K = K + model.B @ (stiffness[:, None] * Bt)
    free = np.broadcast_to(np.eye(K.shape[1]), K.shape)
    Z = null_space(Bt, inertial_sizes(model.M)) if actuators == "locked" else free
    inner = symmetric(np.swapaxes(Z, 1, 2) @ K @ Z)
    P = model.P @ Z
    C = P @ solved(inner, np.swapaxes(P, 1, 2))
    return symmetric(C)


def _at_point(robot: Robot, model: LinearMatrices, point: str) -> Array:
    """(n, 6, m) motion of a point of the platform per coordinate: that of the frame, and of the material where it deforms."""
    body, place = named_point(robot, point)
    if body != "platform":
        raise InputError(f"point: {point!r} is a point of {body}; Cartesian stiffness is that of the platform")
    shapes, R, count = shapes_at(robot, place, f"point '{point}'"), model.rotation, len(robot.platform_modes)
    e = model.variables["elastic"][1][model.good][:, :count] if count else np.zeros((len(R), 0))
    P = _arms(np.einsum("nij,nj->ni", R, shapes.r0 + shapes.shift(e))) @ model.P
    modes = [model.names.index(name) for name in robot.platform_modes]
    P[:, :3, modes] += R @ shapes.columns(e)
    P[:, 3:, modes] += R @ shapes.Phi_r
    return P


def _arms(arm: Array) -> Array:
    """(n, 6, 6) twist at the end of an arm (n, 3) from that at its start."""
    T = np.tile(np.eye(6), (len(arm), 1, 1))
    for i, j, k, sign in ((0, 1, 2, 1.0), (0, 2, 1, -1.0), (1, 2, 0, 1.0), (1, 0, 2, -1.0), (2, 0, 1, 1.0), (2, 1, 0, -1.0)):
        T[:, i, 3 + j] = sign * arm[:, k]  # v + omega x r
    return T
