r"""`internal_dynamics`: the dynamics of the elastic coordinates while the inverse model holds the platform frame.

About the static deflection, with the frame at rest and the forces Gamma free to follow:

.. math:: M_e\,\ddot e + D_e\,\dot e + K_e\,\delta e - B\,\delta\Gamma = 0

(6 + N equations for e'' and the forces; M_e, D_e, K_e are the elastic columns). Its eigenvalues decide whether the inverse model
can be simulated: a growing one makes elastic coordinates leave the motion however exact the frame's acceleration is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.flexible_equilibrium import MOVING, equilibrium, pose_of
from flexapod.analysis.model.flexible_load import MODAL_UNIT, FlexibleLoad, flexible_load
from flexapod.analysis.model.flexible_tangent import tangent_of
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array
from flexapod.errors import FlexapodError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import State, StateOrMotion
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


STABLE = 1e-9
"""Real part of an eigenvalue, of the largest modulus, below which it counts as not growing: rounding of the eigenvalues."""


class UnstableInternalDynamicsError(FlexapodError):
    """The inverse model cannot be integrated: its internal dynamics grows at `growth` [1/s]."""

    def __init__(self, text: str, growth: float) -> None:
        super().__init__(text)
        self.growth = growth


@checked
def internal_dynamics(
    robot: Robot,
    state: State | Motion,
    *,
    wrench: ArrayLike | None = None,
    point: str | None = None,
    axes: str = "world",
    on_error: OnError = "raise",
) -> xr.Dataset:
    """Eigenvalues of the internal (zero) dynamics of the inverse model about the static deflection.

    Args:
        state: poses; the frame is at rest there. Elastic coordinates of a `State` must be the deflection.
        wrench: external load, as for `static_deflection`.
    Returns:
        Dataset: `eigenvalue` (.., eigenvalue_number) complex [1/s], by ascending modulus, `growth` (..) the largest real part,
        `stable` (..), `elastic` (.., elastic_coordinate) the deflection.

    Source: Long 2014 Eqs. (44), (46). Checked by: tests/analysis/test_flexible_internal.py.
    """
    refuse(robot, "internal_dynamics", wrench=wrench, point=point, axes=axes)
    inputs = platform_inputs(state)
    still = {**inputs, **{name: np.zeros_like(inputs["velocity"]) for name in MOVING}}
    load = flexible_load(robot, inputs, wrench, point, axes)
    reasons = np.full(len(inputs["position"]), "", dtype=object)
    found, e = _eigenvalues(robot, still, load, reasons, state)
    raise_failed("internal dynamics", robot, reasons.astype(str), state, on_error)
    growth = found.real.max(axis=1)
    variables: dict[str, Variable] = {
        "eigenvalue": (("eigenvalue_number",), found, "1/s"),
        "growth": ((), growth, "1/s"),
        "stable": ((), growth <= STABLE * np.abs(found).max(axis=1), ""),
        "elastic": (("elastic_coordinate",), e, MODAL_UNIT),
    }
    return dataset(robot, variables, state, reasons.astype(str) if on_error == "mask" else None)


def internal_eigenvalues(robot: Robot, inputs: dict[str, Array], load: FlexibleLoad, reasons: Reasons) -> NDArray[np.complex128]:
    """Eigenvalues (n, 2N) [1/s] at poses, the frame at rest; NaN where there is no deflection."""
    still = {**inputs, **{name: np.zeros_like(inputs["velocity"]) for name in MOVING}}
    return _eigenvalues(robot, still, load, reasons)[0]


def _eigenvalues(
    robot: Robot, still: dict[str, Array], load: FlexibleLoad, reasons: Reasons, state: StateOrMotion | None = None
) -> tuple[NDArray[np.complex128], Array]:
    found = equilibrium(robot, still, load, state, reasons)
    count, N = found.elastic.shape
    result = np.full((count, 2 * N), np.nan, dtype=complex)
    good = np.flatnonzero(reasons == "")
    if len(good) == 0:
        return result, found.elastic
    e, force = found.elastic[good], found.force[good]
    pose = {name: np.ascontiguousarray(values[good]) for name, values in pose_of(still).items()}
    tangent = tangent_of(robot).batch({**pose, "elastic": e, "force": force, **load.rows(good).inputs()}).outputs
    rest = np.zeros((len(good), 3))
    whole = (
        kernel(robot, "flexible_mass_matrix")
        .batch({**pose, "velocity": rest, "angular_velocity": rest, "elastic": e, "elastic_velocity": np.zeros_like(e)})
        .outputs
    )
    body = robot.flexible_platform
    assert body is not None
    left = np.concatenate([whole["mass_matrix"][:, :, 6:], -whole["actuator_map"]], axis=2)
    D = np.zeros((len(good), 6 + N, N))
    D[:, 6:] = body.D_ee
    found_rates = solved(left, np.concatenate([tangent["stiffness"][:, :, 6:], D], axis=2))[:, :N]
    regular = np.isfinite(found_rates).all(axis=(1, 2))
    reasons[good[~regular]] = "the forces of the actuators do not hold the platform frame (singular)"
    good, found_rates = good[regular], found_rates[regular]
    A = np.zeros((len(good), 2 * N, 2 * N))
    A[:, :N, N:] = np.eye(N)
    A[:, N:] = -found_rates
    values = np.linalg.eigvals(A)
    order = np.lexsort((values.imag, np.abs(values).round(9)), axis=1)
    result[good] = np.take_along_axis(values, order, axis=1)
    return result, found.elastic
