r"""Small deviations from a motion: the equation of any robot linearised where it moves, in independent coordinates.

.. math:: \ddot u = f(u, \dot u, \Gamma, w),\qquad \delta\ddot u = f_u\,\delta u + f_{\dot u}\,\delta\dot u
          + M^{-1}(A^T\delta\Gamma + J^T\delta w)

about the motion's own forces. Derivatives by coordinates and rates are sixth-order central differences of the general model with
all loops closed; friction counts with its viscous part, which is linear.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.closed_legs import ClosedLegs, evaluate, platform_jacobian
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.contributions import with_values
from flexapod.analysis.model.general_dynamics import solve_forward, solve_inverse
from flexapod.analysis.model.leg_dynamics import independent_rates_at
from flexapod.analysis.model.linear_solve import inverted
from flexapod.analysis.model.rigid_vibration import STEP, WEIGHTS
from flexapod.analysis.requests.loads import refuse_out_of_plane
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.requests.request import Request
from flexapod.arrays import Array
from flexapod.description.friction import LAWS
from flexapod.errors import InputError
from flexapod.robot.elastic_plan import column_sizes

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

DRY = tuple(f".friction.{name}" for name, law in LAWS.items() if law.along == "direction")
"""Endings of the coefficients of laws with the direction of the motion, which jumps at rest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingModel:
    """Linear model near one state of a motion, in independent coordinates u.

    Args:
        by_position, by_rate: (u, u) derivatives of the acceleration.
        inverse_mass: (u, u).
        actuators: (a, u) actuator rates per rate; platform: (6, u) twist per rate; turning: (6, u) twist per coordinate.
    """

    by_position: Array
    by_rate: Array
    inverse_mass: Array
    actuators: Array
    platform: Array
    rotating: Array


def moving_model(robot: Robot, motion: StateOrMotion, wrench: ArrayLike | None, reasons: Reasons) -> MovingModel:
    """The linear model about one sample.

    Checked by: tests/analysis/test_linearize.py.
    """
    plan, friction = robot.elastic_plan, has_friction(robot)
    at = len(plan.columns) - len(robot.coordinates)
    modes = len(robot.elastic_names) - len(robot.elastic_indices)
    if min(plan.independent) < at - modes:
        raise InputError(
            f"linearize: {robot.name} is under-actuated, and its independent coordinates are not all joint coordinates; a model "
            "about a motion needs that, so give a State at rest"
        )
    robot = _viscous(robot) if friction else robot
    request = closed_request(robot, Request(at=motion, wrench=wrench, friction=False), reasons)
    refuse_out_of_plane(robot, request.wrench)
    found = solve_inverse(robot, request, friction, reasons)
    count = len(plan.independent)
    steps = STEP * column_sizes(robot, plan.carrier, plan.first, len(plan.columns))[list(plan.independent)]
    moves, rates = _stencil(steps)
    states = _moved(robot, request.state, moves, rates, reasons)
    size = len(moves)
    forward = replace(request, state=states, wrench=np.repeat(request.wrench, size, axis=0))
    own = np.full(size, "", dtype=object)
    u = solve_forward(robot, forward, np.repeat(found.force, size, axis=0), friction, own).independent
    twist = np.concatenate([states.velocity, states.angular_velocity], axis=1)
    if any(own):
        reasons[0] = reasons[0] or str(next(w for w in own if w))
    by_position, by_rate = _difference(u, steps, count)
    J, _ = platform_jacobian(robot, request.state, reasons)
    return MovingModel(
        by_position=by_position, by_rate=by_rate, inverse_mass=inverted(found.terms.M)[0], actuators=found.terms.A[0],
        platform=J[0], rotating=_difference(twist, steps, count)[0],
    )  # fmt: skip


def _viscous(robot: Robot) -> Robot:
    """The robot with the viscous part of its friction alone."""
    return with_values(robot, {name: 0.0 for name in robot.values if name.endswith(DRY)})


def _stencil(steps: Array) -> tuple[Array, Array]:
    """Displacements and changes of rates (k, u): every coordinate, then every rate, at six places each."""
    places = np.array([sign * k for k in WEIGHTS for sign in (1.0, -1.0)])
    count = len(steps)
    one = np.concatenate([np.outer(places, row) for row in np.diag(steps)])
    none = np.zeros_like(one)
    assert one.shape == (6 * count, count)
    return np.concatenate([one, none]), np.concatenate([none, one])


def _difference(values: Array, steps: Array, count: int) -> tuple[Array, Array]:
    """Derivatives (m, u) by coordinates and by rates of values (12 u, m) on the stencil."""
    weights = np.array([sign * w for w in WEIGHTS.values() for sign in (1.0, -1.0)])
    slopes = np.einsum("cpm,p->mc", values.reshape(2 * count, 6, -1), weights)
    return slopes[:, :count] / steps, slopes[:, count:] / steps


def _moved(robot: Robot, state: ClosedLegs, moves: Array, rates: Array, reasons: Reasons) -> ClosedLegs:
    """The state with other independent coordinates and rates, loops closed again."""
    plan, size = robot.elastic_plan, len(moves)
    start = state.rows(np.zeros(size, dtype=np.int64))
    at = len(plan.columns) - len(robot.coordinates)
    modes = state.modes.shape[1]
    q, e = np.array(start.joint_position), np.array(start.modes)
    for k, column in enumerate(plan.independent):
        if column >= at:
            q[:, column - at] += moves[:, k]
        else:
            e[:, column - at + modes] += moves[:, k]
    wanted = independent_rates_at(robot, state) + rates
    own = np.full(size, "", dtype=object)
    given = {**start.inputs(), "joint_position": q, "modes": e, "independent_velocity": wanted}
    found = evaluate(robot, "elastic_closing", given, own)
    if any(own):
        reasons[0] = reasons[0] or f"at a state next to the motion: {next(w for w in own if w)}"
    changed = np.zeros_like(e)
    for k, column in enumerate(plan.independent):
        if at - modes <= column < at:
            changed[:, column - at + modes] = wanted[:, k]
    return ClosedLegs(
        joint_position=found["closed_position"], joint_velocity=found["closed_velocity"], position=found["platform_position"],
        rotation=found["platform_rotation"], velocity=found["platform_velocity"],
        angular_velocity=found["platform_angular_velocity"], modes=e, modes_velocity=changed,
    )  # fmt: skip
