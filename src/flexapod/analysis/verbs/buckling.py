r"""`buckling`: the load factor at which the equilibrium of a flexible robot becomes unstable.

.. math:: K_T(\lambda)\,x = \mu\,K_T(0)\,x,\qquad \mu(\lambda_c) = 0

K_T: exact derivative of the equilibrium under gravity and lambda times the load, deflection included. The first guess is the
linear one, from K_T at a small factor; then the lowest mu is followed along the true equilibria to its root (secant, bisection).
Where the tangent is singular Newton's method does not settle: the root is bracketed by the sign of mu on both sides.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.small_motions import actuator_stiffness, linear_matrices
from flexapod.analysis.model.vibration import null_space
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import dataset, raise_failed
from flexapod.analysis.requests.state import State
from flexapod.analysis.requests.validity import ValidityWarning, parts
from flexapod.analysis.verbs.static_deflection import static_deflection
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


SMALL = 1e-3
"""Part of the linear factor at which the slope of K_T is taken."""

STEPS, SETTLED = 40, 1e-10
"""Secant steps, and the change of the factor, of itself, at which they end."""

BESIDE = (0.0, 1e-6, 1e-5, 1e-4, -1e-4, 3e-4, -3e-4, 1e-3, -1e-3, 3e-3, -3e-3)
"""Parts of the factor beside it at which the shape is taken where the equilibrium at the factor itself is not found."""

FAR = 1e-2
"""The last of them."""

BELOW = 1e-3
"""Part of the factor below it at which the deflection is shown: nearer to it Newton's method may not settle."""

FURTHER = (1e-4, 1e-3, 1e-2, 0.03, 0.1)
"""Parts of a factor beyond one without an equilibrium at which the next is looked for."""

FOLD = 1e-4
"""Largest mu beside the factor: it vanishes there, at a fold with the square root. More is a jump between equilibria."""

CLOSER = 12
"""Halvings towards a root between equilibria that are found, from both sides."""

STEEP = 10.0
"""Largest mu beside the factor per part of it that the bracket is wide: mu falls from 1 to 0 over the whole load."""

TWISTED = 0.05
"""Part of the energy of the shape that is twisting, above which elements other than exact ones are reported as coarse."""

ENOUGH = 4
"""Stiffened elements of a beam that follow bending and twisting together to 2 % (tests/elastodynamics/test_rotating_beam.py)."""

LARGEST = 1e9
"""Factors above this are no buckling: the load does not soften the robot."""


class NoBucklingError(FlexapodError):
    """The load does not buckle the robot in this direction."""


@checked
def buckling(
    robot: Robot,
    state: StateOrMotion,
    load: ArrayLike,
    *,
    actuators: str | ArrayLike = "locked",
    point: str | None = None,
    axes: str = "world",
) -> xr.Dataset:
    """Load factor at which the equilibrium of a flexible robot becomes unstable.

    Args:
        state: one pose, or one sample of an `ActuatorMotion`; the robot is at rest there. Elastic coordinates of a `State` must
            be the deflection without the load.
        load: wrench (6,) [N, N m] on the platform, as for `static_deflection`; gravity stays as it is.
        actuators: ``"locked"`` or stiffness (actuators,).
    Returns:
        Dataset: `factor` (times the load), `linear_factor` (about the unloaded robot), `critical_load` (wrench) [N, N m],
        `shape` (coordinate) of buckling, `stability`: the lowest mu where the shape is taken, at the factor or next
        to it (1 without the load); `elastic` just below the factor, with the measures of validity of that deflection, which warn.

    Raises:
        NoBucklingError: the load pulls, or the robot deflects more and more without becoming unstable.

    Checked by: tests/elastodynamics/test_rotating_beam.py.
    """
    stiffness = actuator_stiffness(robot, actuators)
    if stiffness is None and actuators != "locked":
        raise InputError("actuators: a robot on free actuators has no buckling load; choose 'locked' or give their stiffness")
    refuse(robot, "natural_frequencies", actuators=actuators, prestress=True, wrench=load, point=point, axes=axes)
    w = np.array(real_array("load", load, (6,)))
    if len(state) != 1:
        raise InputError(f"buckling: expected one state, got {len(state)}")
    if not np.any(w):
        raise InputError("load: is zero; give the wrench (6,) whose factor is asked for")

    def tangent(factor: float) -> tuple[Array, list[str], Array]:
        reasons = np.full(1, "", dtype=object)
        at = state if factor == 0.0 else _without_elastic(state)
        model = linear_matrices(robot, at, True, (factor * w, point, axes), reasons)
        raise_failed("buckling", robot, reasons.astype(str), state, "raise")
        K, Bt = model.K[0], model.B[0].T
        Z = null_space(Bt[None], np.ones((1, len(K))))[0] if stiffness is None else np.eye(len(K))
        K = Z.T @ (K if stiffness is None else K + model.B[0] @ (stiffness[:, None] * Bt)) @ Z
        return (K + K.T) / 2.0, model.names, Z

    K0, names, Z = tangent(0.0)
    whole = Z @ K0 @ Z.T
    size = np.sqrt(np.abs(np.diag(K0)))  # equal scales: forces and moments of tiny robots differ by many orders
    size = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(K0 / np.outer(size, size))
    if values[0] <= 0.0:
        raise NoBucklingError(f"buckling: {robot.name} is already unstable without the load; see natural_frequencies")
    root = vectors / np.sqrt(values) / size[:, None]

    def lowest(factor: float) -> tuple[float, Array]:
        mu, x = np.linalg.eigh(root.T @ tangent(factor)[0] @ root)
        return float(mu[0]), root @ x[:, 0]

    _say_linear(robot)
    linear = _linear_factor(robot, lambda f: root.T @ tangent(f)[0] @ root)
    factor = _root(robot, lambda f: lowest(f)[0], linear)
    mu, x = _nearest(lowest, factor)
    shape = Z @ x
    _say_twisted(robot, whole, shape, names)
    shape = shape / shape[np.abs(shape).argmax()]
    variables = {
        "factor": ((), np.array([factor]), "1"),
        "linear_factor": ((), np.array([linear]), "1"),
        "critical_load": (("wrench",), factor * w[None], "N, N m"),
        "stability": ((), np.array([mu]), "1"),
        "shape": (("coordinate",), shape[None], ""),
    }
    variables |= _deflection(robot, state, (1.0 - BELOW) * factor * w, point, axes)
    found = dataset(robot, variables, state, None, {"wrench": ["fx", "fy", "fz", "mx", "my", "mz"]})
    return found.assign_coords(coordinate=names)


def _without_elastic(state: StateOrMotion) -> Any:
    """A state whose deflection is found; its own is that without the load."""
    return State(position=state.position, rotation=state.rotation) if isinstance(state, State) else state


def _nearest(lowest: Callable[[float], tuple[float, Array]], factor: float) -> tuple[float, Array]:
    """mu and its shape at the factor, or as near to it as the equilibrium is found: the tangent is singular there."""
    for part in BESIDE:
        try:
            return lowest((1.0 - part) * factor)
        except FlexapodError:
            continue
    return lowest((1.0 - FAR) * factor)


def _linear_parts(robot: Robot) -> list[str]:
    """Beams and other flexible links whose bending does not see axial load."""
    return [part.name for part in parts(robot) if part.kind != "platform" and part.law == "linear"]


def _say_linear(robot: Robot) -> None:
    """Warn of links that axial load does not soften: buckling loads are too high."""
    names = _linear_parts(robot)
    if names:
        warnings.warn(
            f"{robot.name}: {names[0]} is linear (stiffening: false, or modes), so that axial load does not soften it, and "
            "several elements only between them: the buckling load is too high; use beams or plates with `stiffening: true`",
            ValidityWarning, stacklevel=4,
        )  # fmt: skip


def _say_twisted(robot: Robot, K: Array, shape: Array, names: list[str]) -> None:
    """Warn where linear beams, or few elements, buckle by twisting."""
    twisting = [k for k, name in enumerate(names) if name.endswith("thx")]
    beams = [part for part in parts(robot) if part.kind == "beam" and part.law != "exact"]
    bodies = [part.name.rpartition(".beam")[0] for part in beams]
    coarse = [p.name for p, body in zip(beams, bodies, strict=True) if p.law == "linear" or bodies.count(body) < ENOUGH]
    share = sum(K[k, k] * shape[k] ** 2 for k in twisting) / float(shape @ K @ shape)
    if coarse and share > TWISTED:
        warnings.warn(
            f"{robot.name}: {share:.0%} of the energy of the buckling shape is twisting, which few elements, or few modes, "
            "represent coarsely: along a cantilever two stiffened elements are off by 7 %, four by 2 %, four linear ones by 15 "
            f"%; use {ENOUGH} or more elements with `stiffening: true` for {coarse[0]}",
            ValidityWarning, stacklevel=4,
        )  # fmt: skip


def _deflection(robot: Robot, state: StateOrMotion, wrench: Array, point: str | None, axes: str) -> dict[str, Any]:
    """`elastic` of the loaded robot, for a result; nothing where no part deforms."""
    if not parts(robot):
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)  # the result warns once
        found = static_deflection(robot, state, wrench=wrench, point=point, axes=axes, on_error="mask").elastic
    return {"elastic": (("elastic_coordinate",), found.values.reshape(1, -1), found.attrs.get("units", ""))}


def _linear_factor(robot: Robot, scaled: Callable[[float], Array]) -> float:
    """Smallest positive factor of 1 + factor G = 0, G the slope of the scaled stiffness; the step shrinks to a part of it."""
    step = 1.0
    for _ in range(STEPS):
        try:
            G = (scaled(step) - np.eye(len(scaled(0.0)))) / step
        except FlexapodError:
            step /= 16.0
            continue
        worst = float(np.linalg.eigvalsh((G + G.T) / 2.0)[0])
        factor = -1.0 / worst if worst < 0.0 else np.inf
        if step <= SMALL * factor or worst >= 0.0:
            break
        step = SMALL * factor / 2.0
    if not factor < LARGEST:
        linear = _linear_parts(robot)
        then = f"{linear[0]} is linear and cannot: use beams or plates with `stiffening: true`" if linear else "reverse it"
        raise NoBucklingError(f"buckling: the load does not soften {robot.name}; {then}, or see static_deflection")
    return factor


def _root(robot: Robot, mu: Callable[[float], float], linear: float) -> float:
    """The factor at which mu vanishes: growing loads until it is passed, then secant and bisection in the bracket.

    Raises:
        NoBucklingError: mu stays above zero up to `LARGEST`, or up to where statics finds no equilibrium any more.
    """

    def at(factor: float) -> float:
        try:
            return float(mu(factor))
        except FlexapodError:
            return -np.inf  # beyond the last equilibrium

    low, at_low, high, guess = 0.0, 1.0, linear, 0.0
    while (at_high := at(high)) > 0.0:
        low, at_low, high = high, at_high, (1.5 if at_high > 0.5 else 1.1) * high
        if high > LARGEST:
            raise NoBucklingError(f"buckling: {robot.name} does not buckle up to {LARGEST:g} times the load")
    for _ in range(STEPS):
        if at_high == 0.0 or high - low <= SETTLED * high:
            break
        secant = low + (high - low) * at_low / (at_low - at_high) if np.isfinite(at_high) else low
        inside = low + 1e-3 * (high - low) < secant < high - 1e-3 * (high - low)
        before, guess = guess, secant if inside else 0.5 * (low + high)
        if abs(guess - before) <= SETTLED * guess:
            break
        if (value := at(guess)) > 0.0:
            low, at_low = guess, value
        else:
            high, at_high = guess, value
    if not np.isfinite(at_high) and (found := _across(mu, (low, at_low))) is not None:
        return found
    if min(at_low, -at_high) > FOLD:  # a jump to another equilibrium, or to none
        raise NoBucklingError(
            f"buckling: {robot.name} deflects instead of buckling: at {low:.4g} times the load it still has {at_low:.3g} of its "
            f"stiffness, and a larger load leads to no equilibrium or to another one. About the unloaded robot the factor is "
            f"{linear:.4g}; follow the deflection by static_deflection(..., sequence=True)"
        )
    return low if at_low <= -at_high else high


def _across(mu: Callable[[float], float], stable: tuple[float, float]) -> float | None:
    """The root beyond the last factor at which an equilibrium is found, where unstable ones are found a little further: next to a
    singular tangent Newton's method does not settle. None where mu does not fall to zero there: the robot jumps."""
    low, at_low = stable
    last, at_high = low, None
    for part in FURTHER:
        high = (1.0 + part) * last
        at_high = _known(mu, high)
        if at_high is not None and at_high < 0.0:
            break
        if at_high is not None:
            low, at_low = high, at_high
    if at_high is None or not (at_low < STEEP * part and -STEEP * part < at_high < 0.0):
        return None
    step = 0.5 * (high - low)
    for _ in range(CLOSER):
        middle, step = low + (high - low) * at_low / (at_low - at_high), 0.5 * step
        for trial in (middle - step, middle + step):
            value = _known(mu, trial) if low < trial < high else None
            if value is not None and value > 0.0:
                low, at_low = trial, value
            elif value is not None:
                high, at_high = trial, value
    return low + (high - low) * at_low / (at_low - at_high)


def _known(mu: Callable[[float], float], factor: float) -> float | None:
    """mu at a factor, or None where no equilibrium is found."""
    try:
        return mu(factor)
    except FlexapodError:
        return None
