"""From a request on a robot with flexible legs (motion or state, elastic coordinates, load) to closed states.

Actuator motions are followed exactly. A motion of the platform is followed in as many components as there are actuators
(`followed`): all six of a robot with mobility 6, translations first below that; deformation decides the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closed_legs import (
    REACHED,
    SAME,
    STEPS,
    STRIDE,
    ActuatorState,
    ClosedLegs,
    LegRequest,
    close,
    close_along,
    home,
    moved_on,
    platform_jacobian,
    pose_error,
    shifted,
)
from flexapod.analysis.model.dead_point import name_dead_points
from flexapod.analysis.model.elastic_coordinates import elastic_array, elastic_source
from flexapod.analysis.model.given_motion import GivenMotion, check_given, refuse_impossible
from flexapod.analysis.model.held_pose import HeldPose, held_pose
from flexapod.analysis.model.leg_motion import simulated_request
from flexapod.analysis.model.linear_solve import pseudo_inverse
from flexapod.analysis.model.load_sequence import load_sequence
from flexapod.analysis.model.point_load import wrench_and_mode_forces
from flexapod.analysis.model.prescribed import (
    Stride,
    actuator_rates,
    coordinate_sizes,
    impossible,
    met_components,
    prescribed,
    twist_scale,
)
from flexapod.analysis.model.quasi_static import NOT_FOUND, held_deflection, with_static_deflection
from flexapod.analysis.model.redundancy import Redundancy
from flexapod.analysis.model.walk_to_pose import walk_to_poses
from flexapod.analysis.requests.request import Load, Request
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.inverse_kinematics import COMPONENTS, FOLLOW, platform_inputs
from flexapod.arrays import Array
from flexapod.errors import InputError, amount
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.robot.chosen_dependents import led_by_platform
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


MOVES = 1e-6
"""Part of a component in what the platform can do, above which it follows that component: rounding is 1e-15."""


def leg_request(robot: Robot, asked: Request, reasons: Reasons, choice: Redundancy | None = None) -> LegRequest:
    """The states of a request: its motion, elastic coordinates, load and friction; `choice` among the forces of redundant
    actuators that hold a pose."""
    motion, elastic, elastic_velocity = asked.at, asked.elastic, asked.elastic_velocity
    if isinstance(motion, State) and elastic is None and motion.elastic is not None:
        elastic, elastic_velocity = motion.elastic, motion.elastic_velocity
    source = elastic_source(elastic, elastic_velocity)
    if source == "simulate":
        return simulated_request(robot, motion, asked.load, asked.friction, reasons)
    count, N = len(reasons), len(robot.elastic_names)
    e, ed = np.zeros((count, N)), np.zeros((count, N))
    if source == "given":
        e = elastic_array("elastic", elastic, count, N)
        ed = np.zeros_like(e) if elastic_velocity is None else elastic_array("elastic_velocity", elastic_velocity, count, N)
    elif source == "static" and isinstance(motion, State) and motion.elastic is not None:  # where the search starts
        e = elastic_array("elastic", motion.elastic, count, N)
    if isinstance(motion, ActuatorMotion):
        return _from_actuators(robot, asked, (e, ed), source, reasons)
    robot = led_by_platform(robot)
    return _from_platform(robot, asked, (e, ed), source, choice or Redundancy.plain(len(robot.actuators)), reasons)


def _from_actuators(robot: Robot, asked: Request, elastic: tuple[Array, Array], source: str, reasons: Reasons) -> LegRequest:
    """States at given coordinates and rates of the actuators."""
    motion, load, friction, (e, ed) = asked.at, asked.load, asked.friction, elastic
    n = len(robot.actuators)
    if motion.position.shape[1] != n:
        raise InputError(f"position: {robot.name} has {amount(n, 'actuator')}, the motion has {motion.position.shape[1]}")
    if robot.elastic_names and len(chosen_drives(robot)[0]) < n:
        raise InputError(
            f"motion: the {n} actuators of {robot.name} act against each other through its elasticity, and their coordinates do "
            "not determine its deflection; give the motion of its platform (Motion or State)"
        )
    state = close_along(robot, ActuatorState(q=motion.position, e=e, qd=motion.velocity, ed=ed), reasons)
    wrench = wrench_and_mode_forces(robot, state, load)
    if source == "static":
        state, wrench = held_deflection(robot, state, load, motion.acceleration, friction, reasons)
        if not friction and not np.any(motion.velocity) and not np.any(motion.acceleration):
            state, wrench = _in_steps(robot, motion, state, load, wrench, reasons)
    return LegRequest(state=state, actuator_acceleration=motion.acceleration, acceleration=None, wrench=wrench, source=source)


def _in_steps(
    robot: Robot, motion: ActuatorMotion, state: ClosedLegs, load: Load, wrench: Array, reasons: Reasons
) -> tuple[ClosedLegs, Array]:
    """Samples at rest whose equilibrium was not found at once, by loads that grow in steps from the unloaded robot.

    Checked by: tests/analysis/test_load_sequence.py.
    """
    late = np.flatnonzero(reasons == NOT_FOUND)
    if not len(late) or load[0] is None:
        return state, wrench
    arrays, wrench = {name: np.array(values) for name, values in state.inputs().items()}, np.array(wrench)
    loads = np.broadcast_to(np.asarray(load[0], dtype=float), (len(reasons), 6))
    for k in late:
        one, own = slice(k, k + 1), np.full(1, "", dtype=object)
        rest = np.zeros_like(motion.position[one])
        alone = ActuatorMotion(time=motion.time[one], position=motion.position[one], velocity=rest, acceleration=rest)
        found = load_sequence(robot, alone, (loads[k], load[1], load[2]), own)
        if own[0] == "":
            reasons[k], wrench[k] = "", found.wrench[0]
            for name, values in found.state.inputs().items():
                arrays[name][k] = values[0]
    return ClosedLegs(**arrays), wrench


def _from_platform(
    robot: Robot, asked: Request, elastic: tuple[Array, Array], source: str, choice: Redundancy, reasons: Reasons
) -> LegRequest:
    """States at a given pose and twist of the platform."""
    motion, load, friction, (e, ed) = asked.at, asked.load, asked.friction, elastic
    inputs = platform_inputs(motion)
    rows, others = met_components(robot)
    acceleration = np.concatenate([inputs["acceleration"], inputs["angular_acceleration"]], axis=1)
    twist = np.concatenate([inputs["velocity"], inputs["angular_velocity"]], axis=1)
    state, length, scale = home(robot, len(reasons)), robot.characteristic_length, twist_scale(robot)
    own, driven = chosen_drives(robot)
    columns = [robot.elastic_plan.independent[k] for k in others]
    alternating = source == "static" and (bool(others) or not robot.elastic_names)
    sizes, stride = coordinate_sizes(robot, [*driven, *others]), Stride.start(len(reasons))
    for k in range(STEPS):
        J, drift = platform_jacobian(robot, state, reasons)
        S = prescribed(robot, J, rows, others)
        error = np.einsum("nri,ni->nr", S, pose_error(robot, state, inputs["position"], inputs["rotation"]))
        done = np.abs(error).max(axis=1, initial=0.0) < REACHED
        inverse = pseudo_inverse((S @ J)[:, :, [*driven, *others]])
        step, stride = stride.limited(np.einsum("nij,nj->ni", inverse, error), sizes, error)
        q, dq = np.array(state.actuators(robot)[0]), np.zeros((len(reasons), len(robot.actuators)))
        dq[:, own] = step[:, : len(own)]
        if np.any(stride.reach > STRIDE):  # passive joints go along with a long step
            along = ActuatorState(q=q, e=state.elastic(robot)[0], qd=dq, ed=np.zeros_like(e))
            state = moved_on(close(robot, state, along, reasons), 1.0)
        q = q + dq
        state = shifted(robot, state, columns, step[:, len(own) :]) if columns else state
        now, rates = state.elastic(robot)
        at_e = (now, np.zeros_like(rates)) if alternating else (e, ed)
        qd, rest = actuator_rates(robot, J, (S, others), twist, at_e[1])
        state = close(robot, state, ActuatorState(q=q, e=at_e[0], qd=qd, ed=at_e[1], others=rest), reasons)
        if alternating:
            wrench = wrench_and_mode_forces(robot, state, load)
            before = state.elastic(robot)[0]
            qdd = np.zeros_like(q)
            qdd[:, own] = np.einsum("nij,njk,nk->ni", inverse, S, acceleration - drift)[:, : len(own)]
            state = with_static_deflection(robot, state, wrench, qdd, friction, reasons)
            done &= np.abs(state.elastic(robot)[0] - before).max(axis=1, initial=0.0) < 1e-12 * length
        if k and np.all(done | (reasons != "")):
            break
    state = walk_to_poses(robot, state, inputs["position"], inputs["rotation"], e, reasons)
    off = pose_error(robot, state, inputs["position"], inputs["rotation"]) / scale
    if robot.elastic_names:
        never = impossible(robot, platform_jacobian(robot, state, reasons)[0])
        refuse_impossible(robot, never, off, np.ones(len(reasons)), "reach this pose", reasons)
    _missed(robot, off, rows, np.abs(S).max(axis=1, initial=0.0) * scale > MOVES, source, reasons)
    if source == "static" and not alternating:
        pose = HeldPose(
            position=inputs["position"], rotation=inputs["rotation"], twist=twist, acceleration=acceleration, load=load,
            friction=friction, choice=choice,
        )  # fmt: skip
        state = held_pose(robot, state, pose, reasons)
    J, drift = platform_jacobian(robot, state, reasons)
    S = prescribed(robot, J, rows, others)
    now, rates = state.elastic(robot)
    rates = ed if source == "given" else np.zeros_like(rates)
    qd, rest = actuator_rates(robot, J, (S, others), twist, rates)
    state = close(robot, state, ActuatorState(q=state.actuators(robot)[0], e=now, qd=qd, ed=rates, others=rest), reasons)
    if not robot.elastic_names:
        places = [*driven, *others]
        second = np.einsum("nij,njk,nk->ni", pseudo_inverse((S @ J)[:, :, places]), S, acceleration - drift)
        rest = acceleration - drift - np.einsum("nij,nj->ni", J[:, :, places], second)
        rate = np.concatenate([state.velocity, state.angular_velocity], axis=1)
        _unfollowed(rate - twist, twist, scale, "velocity", reasons)
        if isinstance(motion, Motion):  # a state has no accelerations
            _unfollowed(rest, np.concatenate([acceleration, drift], axis=1), scale, "acceleration", reasons)
    else:
        given = GivenMotion(
            position=inputs["position"], rotation=inputs["rotation"], twist=twist,
            acceleration=acceleration - drift if isinstance(motion, Motion) else None, rows=rows,
        )  # fmt: skip
        check_given(robot, state, given, J, reasons)
    name_dead_points(robot, inputs["position"], inputs["rotation"], state.joint_position, reasons)
    wrench = wrench_and_mode_forces(robot, state, load)
    return LegRequest(state=state, actuator_acceleration=None, acceleration=acceleration, wrench=wrench, source=source)


def _unfollowed(error: Array, given: Array, scale: Array, what: str, reasons: Reasons) -> None:
    """Reasons of samples whose velocity or acceleration has components that the loops do not allow."""
    size = np.abs(error / scale)
    largest = np.abs(given / np.tile(scale, given.shape[1] // 6)).max(axis=1)
    for k in np.flatnonzero((size.max(axis=1) > FOLLOW * np.maximum(1.0, largest)) & (reasons == "")):
        reasons[k] = f"the robot cannot follow this {what}: it cannot follow {COMPONENTS[int(size[k].argmax())]}"


def _missed(robot: Robot, error: Array, rows: list[int], moves: NDArray[np.bool_], source: str, reasons: Reasons) -> None:
    """Reasons of samples whose pose is not met; a flexible robot follows some components only, and deflects in the others.

    Args:
        moves: (n, 6) components that the robot can change where it is.
    """
    checked = list(range(6)) if source == "given" or not robot.elastic_names else rows
    if not checked:
        return
    size = np.abs(error[:, checked])
    for k in np.flatnonzero((size.max(axis=1) > SAME) & (reasons == "")):
        worst = checked[int(size[k].argmax())]
        name = COMPONENTS[worst]
        if not robot.elastic_names and not moves[k, worst]:
            reasons[k] = f"the robot cannot reach this pose: it cannot follow {name}"
        elif moves[k, worst]:
            reasons[k] = (
                f"the platform cannot be brought to this pose: {name} misses by {size[k].max():.3g} (of the robot's size)"
            )
        else:
            reasons[k] = (
                f"pose and elastic coordinates contradict each other: {name} misses by {size[k].max():.3g}; "
                "make the state with State.from_actuators(robot, q, elastic=...)"
            )
