"""From a request on a robot with flexible legs (motion or state, elastic coordinates, load) to closed states.

Actuator motions are followed exactly. A motion of the platform is followed in as many components as there are actuators
(`followed`): all six of a robot with mobility 6, translations first below that; deformation decides the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.closed_legs import (
    REACHED,
    SAME,
    STEPS,
    ClosedLegs,
    close,
    close_along,
    home,
    platform_jacobian,
    pose_error,
    pseudo_inverse,
    shifted,
)
from flexapod.analysis.elastic_state import elastic_array
from flexapod.analysis.inverse_kinematics import COMPONENTS, FOLLOW, platform_inputs
from flexapod.analysis.leg_model import elastic_columns, leg_stiffness, leg_terms
from flexapod.analysis.linear_solve import solved
from flexapod.analysis.loads import platform_wrench
from flexapod.analysis.state import State
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.robot.elastic_plan import chosen_drives, driven_columns, preferred_pivots, undriven

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
LIMIT = 40
"""Newton steps of a static deflection; in the linear range it takes four."""
SETTLED = 1e-13
"""Last step of a static deflection, of the largest elastic coordinate or step so far."""
ROUNDING = 1e-9
"""Steps up to this may be rounding of stiff beams: they are taken as the end where they fall no more."""


FOLLOWED = 1e-12
"""Change of a load that turns with the platform, of itself, at which its equilibrium is found."""

NOTHING = 1e-5
"""Deflections, of the characteristic length, below which steps are judged against this size: rounding has no digits to settle."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LegRequest:
    """Closed states, what moves them, and how the elastic coordinates were found.

    Args:
        state: closed coordinates.
        actuator_acceleration: (n, actuators), or None where the platform's acceleration is given.
        acceleration: (n, 6) of the platform, or None.
        wrench: (n, 6) on the platform frame, world axes.
        source: ``"given"``, ``"static"``, ``"zero"``, ``"simulate"``.
    """

    state: ClosedLegs
    actuator_acceleration: Array | None
    acceleration: Array | None
    wrench: Array
    source: str


def leg_request(
    robot: Robot, motion: Any, elastic: Any, elastic_velocity: Any, load: tuple[Any, Any, str], friction: bool,
    words: NDArray[Any],
) -> LegRequest:  # fmt: skip
    """The states of a request; arguments as for `inverse_dynamics`, `load` = (wrench, point, axes)."""
    if isinstance(motion, State) and elastic is None and motion.elastic is not None:
        elastic, elastic_velocity = motion.elastic, motion.elastic_velocity
    source = ("static" if elastic is None else elastic) if elastic is None or isinstance(elastic, str) else "given"
    if source not in ("given", "static", "zero", "simulate"):
        raise InputError(f"elastic: expected an array or one of 'static', 'zero', 'simulate', got {elastic!r}")
    if source != "given" and elastic_velocity is not None:
        raise InputError(f"elastic_velocity: elastic={source!r} chooses the rates itself; give both as arrays")
    if source == "simulate":
        from flexapod.analysis.leg_motion import simulated_request

        return simulated_request(robot, motion, load, friction, words)
    count, N = len(words), len(robot.elastic_names)
    e, ed = np.zeros((count, N)), np.zeros((count, N))
    if source == "given":
        e = elastic_array("elastic", elastic, count, N)
        ed = np.zeros_like(e) if elastic_velocity is None else elastic_array("elastic_velocity", elastic_velocity, count, N)
    if isinstance(motion, ActuatorMotion):
        return _from_actuators(robot, motion, e, ed, load, source, friction, words)
    return _from_platform(robot, motion, e, ed, load, source, friction, words)


def _from_actuators(
    robot: Robot, motion: ActuatorMotion, e: Array, ed: Array, load: tuple[Any, Any, str], source: str, friction: bool,
    words: NDArray[Any],
) -> LegRequest:  # fmt: skip
    n = len(robot.actuators)
    if motion.position.shape[1] != n:
        raise InputError(f"position: {robot.name} has {n} actuators, the motion {motion.position.shape[1]}")
    state = close_along(robot, motion.position, e, motion.velocity, ed, words)
    wrench = platform_wrench(robot, state.inputs(), *load)
    if source == "static":
        state, wrench = held(robot, state, load, motion.acceleration, friction, words)
    return LegRequest(state=state, actuator_acceleration=motion.acceleration, acceleration=None, wrench=wrench, source=source)


def held(
    robot: Robot, state: ClosedLegs, load: tuple[Any, Any, str], acceleration: Array, friction: bool, words: NDArray[Any]
) -> tuple[ClosedLegs, Array]:
    """Quasi-static deflection with the actuators held under a load that may turn with the platform, and the wrench there."""
    wrench = platform_wrench(robot, state.inputs(), *load)
    for _ in range(LIMIT):
        state = settled(robot, state, wrench, acceleration, friction, words)
        before, wrench = wrench, platform_wrench(robot, state.inputs(), *load)
        change = np.abs(wrench - before).max(axis=1, initial=0.0)
        if np.all((change <= FOLLOWED * np.abs(wrench).max(axis=1, initial=0.0)) | (words != "")):
            return state, wrench
    words[words == ""] = "no static deflection found: the load turns with the platform and does not come to rest"
    return state, wrench


def settled(
    robot: Robot, state: ClosedLegs, wrench: Array, acceleration: Array, friction: bool, words: NDArray[Any]
) -> ClosedLegs:
    """Quasi-static deflection at given actuator coordinates, rates and accelerations: e' = e'' = 0.

    Source: Briot 2014 Eq. (43) without elastic rates. Checked by: tests/analysis/test_flexible_legs.py.
    """
    free = [k for k, column in enumerate(robot.elastic_plan.independent) if column not in driven_columns(robot)]
    own, driven = chosen_drives(robot)
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    moved = [where[robot.elastic_plan.independent[k]] for k in free if robot.elastic_plan.independent[k] in where]
    columns = [k for k in free if robot.elastic_plan.independent[k] in where]
    if not columns:  # nothing deforms; coordinates that nothing drives stay where they are
        return state
    largest, before = np.full(len(words), NOTHING * robot.characteristic_length), np.full(len(words), np.inf)
    for _ in range(LIMIT):
        terms = leg_terms(robot, state, wrench, friction, words)
        _, K, _ = leg_stiffness(robot, state, wrench, words)
        rho = (terms.c + np.einsum("nij,nj->ni", terms.M[:, :, driven], acceleration[:, own]))[:, columns]
        step = np.zeros_like(rho)
        good = (words == "") & np.all(np.isfinite(rho), axis=1)
        step[good] = -solved(K[np.ix_(good, columns, columns)], rho[good])
        e, ed = state.elastic(robot)
        e[:, moved] += step
        q, qd = state.actuators(robot)
        state = close(robot, state, q, e, qd, ed, words)
        size = np.abs(step).max(axis=1)
        largest = np.maximum(largest, np.maximum(size, np.abs(e).max(axis=1)))
        still = (size < ROUNDING * largest) & (size > before / 2.0)
        if np.all((size <= SETTLED * largest) | still | (words != "")):
            return state
        before = size
    late = ~(size <= ROUNDING * largest) & (words == "")
    words[late] = "no static deflection found: the load buckles a leg, or the pose is singular"
    return state


def followed(robot: Robot, others: Sequence[int] = ()) -> list[int]:
    """Components of the platform's motion (0-2 translation, 3-5 rotation) that the actuators can prescribe, at home.

    Args:
        others: positions of further independent coordinates that may be chosen.
    """
    words = np.full(1, "", dtype=object)
    J, _ = platform_jacobian(robot, home(robot, 1), words)
    _, driven = chosen_drives(robot)
    scale = np.array([1.0 / robot.characteristic_length] * 3 + [1.0] * 3)
    return preferred_pivots((scale[:, None] * J[0][:, [*driven, *others]]).T, [[0, 1, 2], [3, 4, 5]])


def reached(robot: Robot) -> tuple[list[int], list[int]]:
    """Components of a given pose that a state meets, and positions of the undriven independent coordinates that help to meet it:
    those of an under-actuated robot, none where the actuators alone meet as many."""
    driven, others = followed(robot), undriven(robot)
    rows = followed(robot, others) if others else driven
    return (rows, others) if len(rows) > len(driven) else (driven, [])


def _from_platform(
    robot: Robot, motion: Any, e: Array, ed: Array, load: tuple[Any, Any, str], source: str, friction: bool, words: NDArray[Any]
) -> LegRequest:
    """States at a given pose and twist of the platform."""
    inputs = platform_inputs(motion)
    rows, others = reached(robot)
    acceleration = np.concatenate([inputs["acceleration"], inputs["angular_acceleration"]], axis=1)
    twist = np.concatenate([inputs["velocity"], inputs["angular_velocity"]], axis=1)
    state, length = home(robot, len(words)), robot.characteristic_length
    own, driven = chosen_drives(robot)
    columns = [robot.elastic_plan.independent[k] for k in others]
    scale = np.array([length] * 3 + [1.0] * 3)
    wrench = np.zeros((len(words), 6))
    for k in range(STEPS):
        error = pose_error(robot, state, inputs["position"], inputs["rotation"])
        done = np.abs(error[:, rows] / scale[rows]).max(axis=1, initial=0.0) < REACHED
        if k and source != "static" and np.all(done | (words != "")):
            break
        J, drift = platform_jacobian(robot, state, words)
        inverse = pseudo_inverse(J[:, rows][:, :, [*driven, *others]])
        step = np.einsum("nij,nj->ni", inverse, error[:, rows])
        size = np.abs(step).max(axis=1, keepdims=True, initial=0.0)
        step = step * np.minimum(1.0, 0.2 * length / np.maximum(size, 1e-300))
        q = np.array(state.actuators(robot)[0])
        q[:, own] = q[:, own] + step[:, : len(own)]
        state = shifted(robot, state, columns, step[:, len(own) :]) if columns else state
        now, rates = state.elastic(robot)
        at_e = (e, ed) if source != "static" else (now, np.zeros_like(rates))
        qd, rest = _actuator_rates(robot, J, (rows, others), twist, at_e[1])
        state = close(robot, state, q, at_e[0], qd, at_e[1], words, rest)
        if source == "static":
            wrench = platform_wrench(robot, state.inputs(), *load)
            before = state.elastic(robot)[0]
            qdd = np.zeros_like(q)
            qdd[:, own] = np.einsum("nij,nj->ni", inverse, acceleration[:, rows] - drift[:, rows])[:, : len(own)]
            state = settled(robot, state, wrench, qdd, friction, words)
            if k and np.all(done & (np.abs(state.elastic(robot)[0] - before).max(axis=1, initial=0.0) < 1e-12 * length)):
                break
    _missed(robot, pose_error(robot, state, inputs["position"], inputs["rotation"]) / scale, rows, source, words)
    J, drift = platform_jacobian(robot, state, words)
    now, rates = state.elastic(robot)
    rates = ed if source == "given" else np.zeros_like(rates)
    qd, rest = _actuator_rates(robot, J, (rows, others), twist, rates)
    state = close(robot, state, state.actuators(robot)[0], now, qd, rates, words, rest)
    if not robot.elastic_names:
        places = [*driven, *others]
        second = np.einsum("nij,nj->ni", pseudo_inverse(J[:, rows][:, :, places]), (acceleration - drift)[:, rows])
        rest = acceleration - drift - np.einsum("nij,nj->ni", J[:, :, places], second)
        rate = np.concatenate([state.velocity, state.angular_velocity], axis=1)
        _unfollowed(rate - twist, twist, scale, "velocity", words)
        if isinstance(motion, Motion):  # of a state nothing is said about accelerations
            _unfollowed(rest, np.concatenate([acceleration, drift], axis=1), scale, "acceleration", words)
    wrench = platform_wrench(robot, state.inputs(), *load)
    return LegRequest(state=state, actuator_acceleration=None, acceleration=acceleration, wrench=wrench, source=source)


def _actuator_rates(
    robot: Robot, J: Array, chosen: tuple[list[int], list[int]], twist: Array, ed: Array
) -> tuple[Array, Array | None]:
    """Actuator rates that give the platform a twist at elastic rates ed, and rates (n, z) of the undriven coordinates, if any.

    Args:
        chosen: as `reached` gives them.
    """
    rows, others = chosen
    u = np.zeros((len(J), J.shape[2]))
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    for k, column in enumerate(robot.elastic_plan.independent):
        if column in where:
            u[:, k] = ed[:, where[column]]
    rest = twist[:, rows] - np.einsum("nij,nj->ni", J[:, rows], u)
    own, driven = chosen_drives(robot)
    rates = np.zeros((len(J), len(robot.actuators)))
    found = np.einsum("nij,nj->ni", pseudo_inverse(J[:, rows][:, :, [*driven, *others]]), rest)
    rates[:, own] = found[:, : len(own)]
    if not others:
        return rates, None
    whole = np.zeros((len(J), len(robot.elastic_plan.columns)))
    whole[:, [robot.elastic_plan.independent[k] for k in others]] = found[:, len(own) :]
    return rates, whole


def _unfollowed(error: Array, given: Array, scale: Array, what: str, words: NDArray[Any]) -> None:
    """Reasons of samples whose velocity or acceleration has components that the loops do not allow."""
    size = np.abs(error / scale)
    largest = np.abs(given / np.tile(scale, given.shape[1] // 6)).max(axis=1)
    for k in np.flatnonzero((size.max(axis=1) > FOLLOW * np.maximum(1.0, largest)) & (words == "")):
        words[k] = f"the robot cannot take this {what}: it cannot follow {COMPONENTS[int(size[k].argmax())]}"


def _missed(robot: Robot, error: Array, rows: list[int], source: str, words: NDArray[Any]) -> None:
    """Reasons of samples whose pose is not met; a robot that deforms follows some components only, and deflects in the others."""
    checked = list(range(6)) if source == "given" or not robot.elastic_names else rows
    if not checked:
        return
    size = np.abs(error[:, checked])
    for k in np.flatnonzero((size.max(axis=1) > SAME) & (words == "")):
        worst = checked[int(size[k].argmax())]
        name = COMPONENTS[worst]
        if not robot.elastic_names and worst not in rows:
            words[k] = f"the robot cannot take this pose: it cannot follow {name}"
        elif worst in rows:
            words[k] = f"the platform cannot be brought to this pose: {name} misses by {size[k].max():.3g} (of the robot's size)"
        else:
            words[k] = (
                f"pose and elastic coordinates contradict each other: {name} misses by {size[k].max():.3g}; "
                "make the state with State.from_actuators(robot, q, elastic=...)"
            )
