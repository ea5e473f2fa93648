r"""`natural_frequencies`: small vibrations of a robot about an equilibrium, with actuators locked, free or on springs.

.. math:: M\ddot x + D\dot x + (K_T + B\,\mathrm{diag}(k)\,B^T)\,x = 0,\qquad\text{locked: } B^T x = 0

x = (displacement and rotation of the platform frame, world axes; elastic coordinates), B^T x the motion of the actuators. With
prestress K_T is the derivative of the equation at the equilibrium, gravity and joint forces included; without, the elastic K.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.linear_solve import MASSLESS
from flexapod.analysis.model.small_motions import LinearMatrices, actuator_stiffness, linear_matrices
from flexapod.analysis.model.vibration import Vibration, vibration
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

Value = TypeVar("Value", bound=np.generic)


POSITIVE = 1e-14
"""Smallest eigenvalue of a mass matrix with unit diagonal: below it is rounding, and something moves without mass."""


@checked
@over_designs
def natural_frequencies(
    robot: Robot,
    state: StateOrMotion,
    *,
    actuators: str | ArrayLike = "locked",
    prestress: bool = True,
    wrench: ArrayLike | None = None,
    point: str | None = None,
    axes: str = "world",
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Natural frequencies, damping and shapes of a robot at one pose or a grid of them.

    Args:
        state: poses; the robot is at rest there: of a motion the poses count, and a `State` that moves is refused (see
            `linearize`, `moving_frequencies`). Its own elastic coordinates must be the equilibrium, unless prestress is False.
        actuators: ``"locked"`` (coordinates held), ``"free"`` (forces held), or stiffness (actuators,) [N/m or N m/rad].
        prestress: True linearises about the equilibrium at this pose under gravity and `wrench` (static deflection, holding
            forces; both are returned) by the exact derivative of the equation. False uses M and K of the undeformed robot
            (or of the state's own `elastic`) only. Redundant actuators hold the pose by forces of least norm.
        wrench: external load of the equilibrium, as for `static_deflection`; a moment counts as semi-tangential.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset over `mode`, by ascending omega^2: `frequency` [Hz], `omega_squared` [1/s^2], `stable`, `damping` (ratio to
        critical), `shape` (.., coordinate, mode), mass-normalised, world axes; `eigenvalue` [1/s] of the damped motion. Where
        omega^2 is negative the equilibrium is unstable: `stable` is False and `frequency` is minus the growth rate over
        2 pi; a neutral mode (free motion) has exactly 0.
    Raises:
        SampleError: a pose cannot be reached, or has no equilibrium under gravity and load.

    Rigid robots have frequencies only with given actuator stiffness; the prestress of those with mobility 6 comes from
    sixth-order differences of the exact gravity force and Jacobian, of others from the derivative in independent coordinates.

    Source: Briot 2014, section 5. Checked by: tests/analysis/test_flexible_frequencies.py.
    """
    stiffness = actuator_stiffness(robot, actuators)
    refuse(robot, "natural_frequencies", actuators=actuators, prestress=prestress, wrench=wrench, point=point, axes=axes)
    reasons = np.full(len(state), "", dtype=object)
    model = linear_matrices(robot, state, prestress, (wrench, point, axes), reasons)
    raise_failed("natural frequencies", robot, reasons.astype(str), state, on_error)
    light = ~_moves(model.M)
    reasons[model.good[light]] = MASSLESS
    raise_failed("natural frequencies", robot, reasons.astype(str), state, on_error)
    model = model.rows(~light)
    found = _modes(model, actuators if isinstance(actuators, str) else "stiffness", stiffness)
    return _labelled(robot, state, model, found, reasons, on_error)


def _moves(M: Array) -> NDArray[np.bool_]:
    """Whether each mass matrix (n, m, m) is positive definite."""
    scale = np.sqrt(np.abs(np.einsum("nii->ni", M)))
    even = M / np.where(scale > 0.0, scale, 1.0)[:, :, None] / np.where(scale > 0.0, scale, 1.0)[:, None, :]
    return np.asarray(np.linalg.eigvalsh(even).min(axis=1, initial=1.0) > POSITIVE)


def _modes(model: LinearMatrices, actuators: str, stiffness: Array | None) -> Vibration:
    K = model.K
    Bt = np.swapaxes(model.B, 1, 2)
    if stiffness is not None:
        K = K + model.B @ (stiffness[:, None] * Bt)
    return vibration(model.M, K, model.D, Bt if actuators == "locked" else None)


def _labelled(
    robot: Robot, state: StateOrMotion, model: LinearMatrices, found: Vibration, reasons: Reasons, on_error: OnError
) -> xr.Dataset:
    def spread(values: NDArray[Value], empty: complex) -> NDArray[Value]:
        result = np.full((len(reasons), *values.shape[1:]), empty, dtype=values.dtype)
        result[model.good] = values
        return result

    omega2 = found.omega_squared
    variables: dict[str, Variable] = {
        "frequency": (("mode",), spread(found.frequency, np.nan), "Hz"),
        "omega_squared": (("mode",), spread(omega2, np.nan), "1/s^2"),
        "stable": (("mode",), spread(omega2 >= 0.0, False), ""),
        "damping": (("mode",), spread(found.damping, np.nan), "1"),
        "shape": (("coordinate", "mode"), spread(found.shapes, np.nan), ""),
        "eigenvalue": (("eigenvalue_number",), spread(found.eigenvalues, np.nan), "1/s"),
        "asymmetry": ((), spread(found.asymmetry, np.nan), "1"),
        **model.variables,
    }
    result = dataset(robot, variables, state, reasons.astype(str) if on_error == "mask" else None)
    return result.assign_coords(mode=np.arange(1, omega2.shape[1] + 1), coordinate=model.names)
