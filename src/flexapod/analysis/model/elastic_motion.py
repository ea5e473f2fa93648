r"""Elastic coordinates along a motion: e'' of the inverse model integrated from the static start.

.. math:: \ddot e = f(t, e, \dot e) \qquad\text{(Long 2014 Eq. 44 with the forces of Eq. 46)}

The platform frame follows its motion exactly, so this is the internal dynamics of the inverse model: it must be stable.
Fixed-step RK4; stages need the motion between its samples, from its formula or from a quintic through samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.flexible_equilibrium import solve_static
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.verbs.internal_dynamics import UnstableInternalDynamicsError, internal_eigenvalues
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    from flexapod.analysis.model.flexible_load import FlexibleLoad
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


STEP = 0.4
"""Largest step times the largest internal eigenvalue: RK4 is then good to about 1e-9 of the deflection (measured by halving)."""

GROWTH = 1e-6
"""Real part of an internal eigenvalue, of the largest one, that counts as unstable."""

CHUNK = 16
"""Steps per kernel call."""


class ElasticMotionError(FlexapodError):
    """The elastic coordinates cannot be integrated along a motion."""


def simulate_elastic(robot: Robot, motion: StateOrMotion, load: FlexibleLoad) -> tuple[Array, Array]:
    """Elastic coordinates and rates (n, N) at the samples of a motion, from the static deflection at its first one.

    Raises:
        UnstableInternalDynamicsError: the internal dynamics grows at the start, middle or end of the motion.

    Checked by: tests/analysis/test_flexible_simulate.py.
    """
    if not isinstance(motion, Motion):
        raise InputError(f"elastic='simulate' integrates along a Motion, not a {type(motion).__name__}; use 'static' there")
    if np.any(np.abs(load.at_point) > 0):
        raise InputError("elastic='simulate' takes a wrench on the platform frame, not at a named point")
    inputs = platform_inputs(motion)
    largest = _check_stable(robot, motion, inputs, load)
    reasons = np.full(1, "", dtype=object)
    start = solve_static(robot, {name: values[:1] for name, values in inputs.items()}, load.rows(slice(0, 1)), reasons)
    if reasons[0]:
        raise ElasticMotionError(f"elastic='simulate' of {robot.name} has no equilibrium to start from: {reasons[0]}")
    N = len(robot.elastic_names)
    e, ed = np.empty((len(motion), N)), np.empty((len(motion), N))
    e[0], ed[0] = start.elastic[0], 0.0
    bound = kernel(robot, "flexible_elastic_motion", steps=CHUNK)
    time = motion.time
    counts = np.maximum(np.ceil(np.diff(time) * largest / STEP).astype(int), 1)
    steps = np.repeat(np.diff(time) / counts, counts)
    ends = np.cumsum(counts)
    whole = -(-len(steps) // CHUNK) * CHUNK
    steps = np.concatenate([steps, np.zeros(whole - len(steps))])  # a step of zero length changes nothing
    begin = time[0] + np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    path = _between(motion)
    state = np.concatenate([e[0], ed[0]])
    for first in range(0, whole, CHUNK):
        part = slice(first, first + CHUNK)
        stages = np.minimum((begin[part, None] + steps[part, None] * np.array([0.0, 0.5, 1.0])).ravel(), time[-1])
        given = path(stages)
        given["wrench"] = _interpolated(time, load.wrench, stages)
        inputs_ = {name: values.reshape(1, CHUNK * 3, -1) for name, values in given.items()}
        inputs_["rotation"] = given["rotation"].reshape(1, CHUNK * 3, 9)
        batch = bound.batch({**inputs_, "step": steps[None, part], "start": state[None]})
        if batch.status[0] != 0 or not np.all(np.isfinite(batch.outputs["states"])):
            known = batch.status[0] > 0
            text = bound.signature.status(int(batch.status[0])).text if known else "the elastic coordinates grow without bound"
            raise ElasticMotionError(f"elastic='simulate' of {robot.name} stops after t = {begin[first]:.6g} s: {text}")
        rows = batch.outputs["states"][0]
        state = rows[-1]
        for k in np.flatnonzero((ends > first) & (ends <= first + CHUNK)):
            e[k + 1], ed[k + 1] = rows[ends[k] - first - 1, :N], rows[ends[k] - first - 1, N:]
    return e, ed


def _check_stable(robot: Robot, motion: Motion, inputs: dict[str, Array], load: FlexibleLoad) -> float:
    """Largest internal eigenvalue [1/s] at start, middle and end."""
    chosen = np.unique([0, len(motion) // 2, len(motion) - 1])
    poses = {name: values[chosen] for name, values in inputs.items()}
    reasons = np.full(len(chosen), "", dtype=object)
    found = internal_eigenvalues(robot, poses, load.rows(chosen), reasons)
    good = np.flatnonzero(reasons == "")
    if len(good) == 0:
        raise ElasticMotionError(f"elastic='simulate' of {robot.name}: {reasons[0]}")
    size = np.abs(found[good]).max()
    worst = found[good].real.max(axis=1)
    if worst.max() > GROWTH * size:
        k = good[int(worst.argmax())]
        raise UnstableInternalDynamicsError(
            f"elastic='simulate' of {robot.name}: the internal dynamics of the inverse model is unstable at t = "
            f"{motion.time[chosen[k]]:g} s (grows with {worst.max():.4g} 1/s), so its elastic coordinates cannot be integrated; "
            "use elastic='static', or damp the platform",
            growth=float(worst.max()),
        )
    return float(size)


def _between(motion: Motion) -> Any:
    """The motion at any times in its span: its formula, or quintics between samples."""
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    if motion.formula is not None:
        formula = motion.formula

        def exact(time: Array) -> dict[str, Array]:
            unique, back = np.unique(time, return_inverse=True)
            found = formula(unique)
            return {name: getattr(found, name)[back] for name in names}

        return exact
    from flexapod.motions.hermite import interpolate_platform

    def quintic(time: Array) -> dict[str, Array]:
        unique, back = np.unique(time, return_inverse=True)
        found = interpolate_platform(motion, unique)
        return {name: getattr(found, name)[back] for name in names}

    return quintic


def _interpolated(time: Array, values: Array, at: Array) -> Array:
    """Linear in time, column by column."""
    return np.stack([np.interp(at, time, column) for column in values.T], axis=1)
