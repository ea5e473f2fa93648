"""Start of a simulation with a flexible platform: static deflection unless given otherwise, and the checks before it."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.errors import FlexapodWarning, InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


GROWTH = 1e-6
"""Real part of an internal eigenvalue, of the largest one, that counts as growing."""


class StartWarning(FlexapodWarning):
    """A simulation starts where its robot is in no balance."""


def elastic_start(robot: Robot, state: State, wrench: Array | None, acceleration: Array | None) -> tuple[Array, Array]:
    """Elastic coordinates and rates (n, N) at states: their own, else the deflection that the frame's motion and load make.

    Args:
        wrench: (6,) load on the platform's frame at the start, or None.
        acceleration: (6,) of the frame at the start, or None for zero.

    Checked by: tests/simulation/test_flexible_simulation.py.
    """
    from flexapod.analysis.requests.results import raise_failed
    from flexapod.analysis.verbs.inverse_kinematics import platform_inputs

    count, N = len(state), len(robot.elastic_names)
    if state.elastic is not None:
        assert state.elastic_velocity is not None
        e, ed = state.elastic.reshape(count, -1), state.elastic_velocity.reshape(count, -1)
        if e.shape[1] != N:
            raise InputError(f"elastic: the start has {e.shape[1]} elastic coordinates, {robot.name} has {N}")
        if np.any(robot.gravity) and not np.all(np.any(e, axis=1)):
            text = (
                "the simulation starts undeformed (elastic = 0), which is not an equilibrium under gravity: the platform will "
                "vibrate. "
            )
            warnings.warn(StartWarning(text + "Leave out `elastic` to start from the static deflection"), stacklevel=5)
        return np.array(e), np.array(ed)
    inputs = platform_inputs(state)
    same = [np.zeros(6) if given is None else given for given in (acceleration, wrench)]
    parts = [inputs[name].reshape(count, -1) for name in ("position", "rotation", "velocity", "angular_velocity")]
    rows = np.concatenate([*parts, *[np.tile(given, (count, 1)) for given in same]], axis=1)
    found, reasons = _deflections(robot, rows.tobytes())
    raise_failed("the start of the simulation", robot, np.array(reasons), state, "raise")
    return found.copy(), np.zeros_like(found)


@lru_cache(maxsize=32)
def _deflections(robot: Robot, rows: bytes) -> tuple[Array, tuple[str, ...]]:
    """Deflections (n, N) of rows (n, 30): pose, twist, acceleration, load; and why some are not found. Kept for later
    simulations."""
    from flexapod.analysis.model.flexible_equilibrium import solve_static
    from flexapod.analysis.model.flexible_load import flexible_load

    table = np.frombuffer(rows).reshape(-1, 30)
    p, R, v, w, a, alpha, load = (np.ascontiguousarray(part) for part in np.split(table, [3, 12, 15, 18, 21, 24], axis=1))
    inputs = {
        "position": p, "rotation": R.reshape(-1, 3, 3), "velocity": v, "angular_velocity": w, "acceleration": a,
        "angular_acceleration": alpha,
    }  # fmt: skip
    reasons = np.full(len(table), "", dtype=object)
    found = solve_static(robot, inputs, flexible_load(robot, inputs, load, None, "world"), reasons)
    return found.elastic, tuple(str(reason) for reason in reasons)


def check_internal(robot: Robot, motion: Motion) -> None:
    """Refuse an inverse model whose internal dynamics grows at the start, middle or end of a motion.

    Source: Long 2014 Eqs. (44), (46). Checked by: tests/simulation/test_flexible_simulation.py.
    """
    from flexapod.analysis.verbs.internal_dynamics import UnstableInternalDynamicsError

    chosen = np.unique([0, len(motion) // 2, len(motion) - 1])
    poses = np.concatenate([motion.position[chosen], motion.rotation[chosen].reshape(-1, 9)], axis=1)
    found = _internal(robot, poses.tobytes())
    growth = found.real.max(axis=1)
    if np.nanmax(growth, initial=-np.inf) > GROWTH * np.nanmax(np.abs(found), initial=0.0):
        time = motion.time[chosen[int(np.nanargmax(growth))]]
        growth = np.nanmax(growth)
        raise UnstableInternalDynamicsError(
            f"simulate: the inverse model of {robot.name} cannot drive it: its internal dynamics is unstable at t = {time:g} s "
            f"(grows with {growth:.4g} 1/s). Damp the platform, or control it by a rigid model",
            growth=float(growth),
        )


@lru_cache(maxsize=32)
def _internal(robot: Robot, poses: bytes) -> NDArray[np.complex128]:
    """Internal eigenvalues (n, 2N) at poses (n, 12), NaN where there is no deflection; kept for simulations to come."""
    from flexapod.analysis.model.flexible_load import flexible_load
    from flexapod.analysis.verbs.internal_dynamics import internal_eigenvalues

    table = np.frombuffer(poses).reshape(-1, 12)
    none = np.zeros((len(table), 3))
    inputs = {"position": np.ascontiguousarray(table[:, :3]), "rotation": table[:, 3:].reshape(-1, 3, 3).copy(), "velocity": none}
    reasons = np.full(len(table), "", dtype=object)
    return internal_eigenvalues(robot, inputs, flexible_load(robot, inputs, None, None, "world"), reasons)
