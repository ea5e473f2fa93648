"""Small motions of any robot about its states: M, D, K, and the input matrices of actuators and platform loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.vibration import inertial_sizes, is_definite, null_space
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.validity import warn_unstable
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Load
    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearMatrices:
    """M, D, K (n, m, m), B (n, m, actuators) of the samples without a reason, their equilibrium, and the coordinates' names.

    P: (n, 6, m) displacement and rotation of the platform frame per coordinate, world axes; rotation: (n, 3, 3) of that frame.
    """

    M: Array
    D: Array
    K: Array
    B: Array
    P: Array
    rotation: Array
    names: list[str]
    good: NDArray[np.intp]
    variables: Mapping[str, Variable]

    def rows(self, chosen: NDArray[np.bool_]) -> LinearMatrices:
        """The model of some of its samples."""
        parts = {name: getattr(self, name)[chosen] for name in ("M", "D", "K", "B", "P", "rotation", "good")}
        return replace(self, **parts)


def linear_matrices(robot: Robot, state: StateOrMotion, prestress: bool, load: Load, reasons: Reasons) -> LinearMatrices:
    """Small motions about the states of any robot.

    Args:
        load: (wrench, point, axes) of the equilibrium.
        reasons: per sample, added to.
    """
    if not isinstance(prestress, bool | np.bool_):
        raise InputError(f"prestress: expected True or False, got {prestress!r}")
    wrench, point, axes = load
    request = Request(at=state, prestress=bool(prestress), wrench=wrench, point=point, axes=axes)
    found: LinearMatrices = answer(robot, "linear_model", request, reasons)
    return found


def actuator_stiffness(robot: Robot, actuators: str | ArrayLike) -> Array | None:
    """Stiffness (actuators,), or None for locked and free ones."""
    n = len(robot.actuators)
    if isinstance(actuators, str):
        if actuators not in ("locked", "free"):
            raise InputError(f"actuators: expected 'locked', 'free' or the stiffness of {n} actuators, got {actuators!r}")
        return None
    values = real_array("actuators", actuators, (n,))
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise InputError(f"actuators: stiffness must be finite and not negative, got {values.tolist()}")
    return values


def held_stiffness(model: LinearMatrices, stiffness: Array | None) -> tuple[Array, Array]:
    """Stiffness (n, k, k) of the motions that remain with the actuators locked or on springs (actuators,), and its basis Z
    (n, m, k)."""
    K, Bt = model.K, np.swapaxes(model.B, 1, 2)
    if stiffness is not None:
        return K + model.B @ (stiffness[:, None] * Bt), np.broadcast_to(np.eye(K.shape[1]), K.shape)
    Z = null_space(Bt, inertial_sizes(model.M))
    return np.swapaxes(Z, 1, 2) @ K @ Z, Z


def warn_equilibrium(
    robot: Robot, model: LinearMatrices, at: StateOrMotion, stiffness: Array | None, loaded: bool
) -> NDArray[np.bool_]:
    """Warn of equilibria that are unstable on held actuators or beyond the range of flexible bodies; which (n,) are stable.

    Args:
        at: states of the request; samples without an equilibrium count as not stable and have a reason of their own.
        stiffness: of the actuators; None: they are locked.
        loaded: a load acts besides the weight.

    Checked by: tests/analysis/test_unstable_equilibria.py.
    """
    stable, reasons = np.zeros(len(at), dtype=bool), np.full(len(at), "no equilibrium", dtype=object)
    stable[model.good], reasons[model.good] = is_definite(held_stiffness(model, stiffness)[0]), ""
    warn_unstable(robot, stable, reasons, loaded)
    return stable
