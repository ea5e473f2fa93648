r"""`moving_frequencies`: small vibrations of flexible legs about a motion of the actuators, frozen at each sample.

Actuators follow their motion; x are the elastic coordinates about the quasi-static deflection that rates and accelerations make:

.. math:: M\ddot x + C\dot x + K x = 0,\qquad K = \frac{\partial\rho}{\partial x},\ C = \frac{\partial\rho}{\partial\dot x},\qquad
          \rho = (M\ddot u + c)_x

C has the gyroscopic terms, K the stiffening and softening by the motion. Derivatives are central differences: of fourth order for
K, of second order for C, which is exact as c is quadratic in rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.closed_legs import ActuatorState, ClosedLegs, close
from flexapod.analysis.model.leg_model import elastic_columns, leg_terms
from flexapod.analysis.model.leg_request import leg_request
from flexapod.analysis.model.vibration import sorted_eigenvalues
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.loads import refuse_out_of_plane
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.analysis.requests.validity import spin_variable
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import column_sizes, driven_columns

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


STEP = 1e-4
"""Step of differences [rad, or of the characteristic length]: its fourth power is below rounding, force per step far above it."""

GROWS = 1e-7
"""Real part of an eigenvalue, of the largest modulus, from which a motion counts as unstable: differences are good to 1e-9."""


@checked
def moving_frequencies(
    robot: Robot, motion: ActuatorMotion, *, wrench: ArrayLike | None = None, on_error: OnError = "raise"
) -> xr.Dataset:
    """Frequencies of a robot with flexible legs while it moves: a spinning beam stiffens.

    Args:
        motion: coordinates, rates and accelerations of the actuators; each sample is treated by itself, at constant rates.
        wrench: load (6,) or (n, 6) on the platform frame, world axes [N, N m].
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
    Returns:
        Dataset: `frequency` (.., mode) [Hz], ascending, of the damped gyroscopic motion; `damping` (ratio to critical), `stable`
        (..) and `eigenvalue` (.., eigenvalue_number) [1/s]; `elastic` (.., elastic_coordinate), the deflection about which.

    Checked by: tests/elastodynamics/test_rotating_beam.py.
    """
    if not robot.elastic_names:
        raise InputError(
            f"moving frequencies: {robot.name} has no flexible parts; natural_frequencies accepts it with the stiffness of its "
            "actuators"
        )
    if not isinstance(motion, ActuatorMotion):
        raise InputError(f"moving frequencies: expected an ActuatorMotion, got {type(motion).__name__}")
    driven = driven_columns(robot)
    if not {k for k in robot.elastic_plan.independent if k not in driven} <= set(elastic_columns(robot)):
        raise InputError(f"moving frequencies: {robot.name} has free joints besides its actuators and elastic coordinates")
    reasons = np.full(len(motion), "", dtype=object)
    request = leg_request(robot, Request(at=motion, elastic="static", wrench=wrench, friction=False), reasons)
    refuse_out_of_plane(robot, request.wrench)
    raise_failed("moving frequencies", robot, reasons.astype(str), motion, on_error)
    good = np.flatnonzero(reasons == "")
    M, C, K = _matrices(robot, request.state.rows(good), motion.acceleration[good], request.wrench[good])
    k = M.shape[1]
    A = np.zeros((len(good), 2 * k, 2 * k))
    A[:, :k, k:] = np.eye(k)
    A[:, k:, :k], A[:, k:, k:] = -np.linalg.solve(M, K), -np.linalg.solve(M, C)
    found = np.full((len(reasons), 2 * k), np.nan, dtype=complex)
    found[good] = sorted_eigenvalues(A)
    size = np.abs(found)
    pairs = found[:, 1::2]
    variables = {
        "frequency": (("mode",), np.sort(np.abs(found.imag), axis=1)[:, ::2] / (2.0 * np.pi), "Hz"),
        "damping": (("mode",), -pairs.real / np.where(np.abs(pairs) > 0.0, np.abs(pairs), 1.0), "1"),
        "stable": ((), found.real.max(axis=1) <= GROWS * size.max(axis=1), ""),
        "eigenvalue": (("eigenvalue_number",), found, "1/s"),
        "elastic": (("elastic_coordinate",), request.state.elastic(robot)[0], "m or rad"),
        **spin_variable(robot, request.state),
    }
    result = dataset(robot, variables, motion, reasons.astype(str) if on_error == "mask" else None)
    return result.assign_coords(mode=np.arange(1, k + 1))


def _matrices(robot: Robot, state: ClosedLegs, acceleration: Array, wrench: Array) -> tuple[Array, Array, Array]:
    """M, C, K (n, k, k) of the independent elastic coordinates."""
    plan, driven = robot.elastic_plan, driven_columns(robot)
    free = [k for k, column in enumerate(plan.independent) if column not in driven]
    held = [k for k, column in enumerate(plan.independent) if column in driven]
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    places = [where[plan.independent[k]] for k in free]
    steps = STEP * column_sizes(robot, plan.carrier, plan.first, len(plan.columns))[[plan.independent[k] for k in free]]
    q, qd = state.actuators(robot)
    e, ed = state.elastic(robot)
    reasons = np.full(len(q), "", dtype=object)

    def rho(shift: Array, rate: Array) -> tuple[Array, Array]:
        moved = ActuatorState(q=q, e=e + shift, qd=qd, ed=ed + rate)
        terms = leg_terms(robot, close(robot, state, moved, reasons), wrench, False, reasons)
        return (terms.c + np.einsum("nij,nj->ni", terms.M[:, :, held], acceleration))[:, free], terms.M

    none = np.zeros_like(e)
    M = rho(none, none)[1][:, free][:, :, free]
    K, C = np.zeros_like(M), np.zeros_like(M)
    for k, (place, h) in enumerate(zip(places, steps, strict=True)):
        unit = np.zeros_like(e)
        unit[:, place] = h
        near, far = (rho(s * unit, none)[0] - rho(-s * unit, none)[0] for s in (1.0, 2.0))
        K[:, :, k] = (8.0 * near - far) / (12.0 * h)
        C[:, :, k] = (rho(none, unit)[0] - rho(none, -unit)[0]) / (2.0 * h)
    return M, C, K
