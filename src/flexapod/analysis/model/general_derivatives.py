r"""Derivatives of actuator forces by the general model: any loops, force elements, springs, flexible legs, redundant actuators.

Forces, twist and acceleration of the platform are functions of the actuators' q, q', q'', elastic coordinates and their rates
held. With x the platform's pose,

.. math:: \tau_{\dot V} = \tau_{\ddot q}\,\dot V_{\ddot q}^+,\qquad
          \tau_V = (\tau_{\dot q} - \tau_{\dot V}\,\dot V_{\dot q})\,V_{\dot q}^+,\qquad
          \tau_x = (\tau_q - \tau_V V_q - \tau_{\dot V}\,\dot V_q)\,V_{\dot q}^+

q are actuators that are independent; of redundant ones the others follow by the loops, and forces are those that
`inverse_dynamics` chooses for the platform's acceleration. Derivatives by q, q', q'' are central differences of eighth order:
their error is `STEP`^8 / 630 of a ninth derivative (5e-10 of bent legs on redundant actuators, whose forces change over 2 % of
the robot's size) and rounding divided by `STEP`. Near a singular pose a small motion of the actuators is a large one of the
platform: q goes along the singular directions of the rates of all coordinates, each so far that these change by `MOTION`.
Motions that the robot cannot make have no derivative: the pseudo-inverse leaves them out. Where something deforms, x are the
components that the actuators determine (`prescribed`), as in `inverse_dynamics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from flexapod.analysis.model.closed_legs import ActuatorState, ClosedLegs, LegRequest, close, platform_jacobian
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.general_dynamics import solve_inverse
from flexapod.analysis.model.linear_solve import pseudo_inverse
from flexapod.analysis.model.prescribed import prescribed, prescribed_components
from flexapod.analysis.requests.arguments import scalar_parameter
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import raise_failed
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.robot.chosen_dependents import led_by_platform
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

Moved = Callable[[Sequence[Array], int], tuple[Array, ...]]

STEP = 5e-4
"""Shift of an actuator in radians or characteristic lengths; of rates and accelerations in these per second."""

MOTION = 2e-2
"""Largest change of the rates of platform and joints by a shift of the actuators, of themselves."""

PARAMETER_STEP = 1e-3
"""Shift of a parameter, of itself."""

SMALL = 1e-3
"""Part of a parameter's shift that is made first: it shows how actuators keep the platform in its place."""

WEIGHTS = {1: 4.0 / 5.0, 2: -1.0 / 5.0, 3: 4.0 / 105.0, 4: -1.0 / 280.0}
"""Weights of f(x + k h) - f(x - k h), divided by h, in the central difference of eighth order."""

AROUND = {sign * k: sign * weight for k, weight in WEIGHTS.items() for sign in (1, -1)}
ASIDE = {0: -49.0 / 20.0, 1: 6.0, 2: -15.0 / 2.0, 3: 20.0 / 3.0, 4: -15.0 / 4.0, 5: 6.0 / 5.0, 6: -1.0 / 6.0}
"""Weights of f(x + k h), divided by h, in differences of sixth order on one side."""

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def general_derivatives(robot: Robot, motion: StateOrMotion, wrench: Array, parameters: Sequence[str] = ()) -> dict[str, Array]:
    """`tau_D_position` and the others (n, actuators, 3), by components of the motion that the robot can make, and
    `tau_D_parameter` (n, actuators, parameters), if any are named.

    Args:
        motion: Motion of the platform, or State, which may carry elastic coordinates; left out they are in equilibrium.
        wrench: (n, 6) on the platform.
        parameters: dotted paths of numbers of the robot file.

    Checked by: tests/equations/test_derivatives.py.
    """
    start = _start(robot, motion, wrench)
    robot, given = start.robot, start.given
    unit = np.where(np.array(robot.actuator_units)[start.own] == "rad", 1.0, robot.characteristic_length)
    moved = partial(_moved, start)
    each = np.tile(STEP * np.diag(unit), (len(given[0]), 1, 1))
    tau_v, V_v, A_v, joints_v = _slopes(moved, given, 1, each)
    tau_a, _, A_a, _ = _slopes(moved, given, 2, each)
    tau_q, V_q, A_q, _ = _slopes(moved, given, 0, _gentle(robot, unit, np.concatenate([V_v, joints_v], axis=1)))
    S = _followed(robot, start.state)
    by_A, inverse = tau_a @ pseudo_inverse(S @ A_a) @ S, pseudo_inverse(S @ V_v) @ S
    by_V = (tau_v - by_A @ A_v) @ inverse
    by_x = (tau_q - by_V @ V_q - by_A @ A_q) @ inverse
    halves = [part for whole in (by_x, by_V, by_A) for part in (whole[:, :, :3], whole[:, :, 3:])]
    found = {f"tau_D_{name}": np.ascontiguousarray(half) for name, half in zip(NAMES, halves, strict=True)}
    if parameters:
        columns = [_by_parameter(start, path, (by_x, by_V, by_A), inverse) for path in parameters]
        found["tau_D_parameter"] = np.stack(columns, axis=2)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Start:
    """State at which to differentiate.

    Args:
        robot: with all deformations independent.
        own, places: independent actuators, and their positions among the independent coordinates.
        state: closed; wrench: (n, 6); given: q, q', q'' (n, own) of these actuators; second: (n, u) accelerations.
    """

    robot: Robot
    own: list[int]
    places: list[int]
    state: ClosedLegs
    wrench: Array
    given: tuple[Array, Array, Array]
    second: Array


def _start(robot: Robot, motion: StateOrMotion, wrench: Array) -> _Start:
    """The closed states of a motion, and their accelerations."""
    robot = led_by_platform(robot)
    reasons = np.full(len(wrench), "", dtype=object)
    request = closed_request(robot, Request(at=motion, wrench=wrench, friction=False), reasons)
    second = solve_inverse(robot, request, False, reasons).independent
    raise_failed("derivatives of inverse dynamics", robot, reasons, motion, "raise")
    own, places = chosen_drives(robot)
    q, v = (values[:, own] for values in request.state.actuators(robot))
    given = (q, v, second[:, places])
    return _Start(robot=robot, own=own, places=places, state=request.state, wrench=wrench, given=given, second=second)


def _gentle(robot: Robot, unit: Array, rates: Array) -> Array:
    r"""Shifts (n, actuators, directions) of the actuators, the same in all directions except near singular poses.

    Args:
        unit: (actuators,) size of the actuators' coordinates; rates: (n, 6 + joints, actuators) of platform and joints, per rate
            of the actuators.

    .. math:: W = U\,\Sigma\,B^T,\qquad d_j = \min(\text{STEP},\ \text{MOTION} / (\sigma_j\,\sigma_1))\,b_j

    with W the rates: d moves the robot by sigma d, and a pose where rates are sigma is about 1 / sigma away from a singular one.
    """
    size = np.where([u == "rad" for u in robot.coordinate_units], 1.0, robot.characteristic_length)
    size = np.concatenate([np.repeat([robot.characteristic_length, 1.0], 3), size])
    _, sigma, directions = np.linalg.svd(rates / size[:, None] * unit, full_matrices=False)
    step = np.minimum(STEP, MOTION / (sigma * sigma[:, :1]))
    return np.asarray(unit[:, None] * np.swapaxes(directions, 1, 2) * step[:, None, :])


def _moved(start: _Start, given: Sequence[Array], copies: int) -> tuple[Array, ...]:
    """Forces, twist and acceleration of the platform, and rates of the joints, for q, q', q''."""
    force, state, A = _solved(start, start.robot, given, copies)
    return force, np.concatenate([state.velocity, state.angular_velocity], axis=1), A, state.joint_velocity


def _solved(start: _Start, robot: Robot, given: Sequence[Array], copies: int) -> tuple[Array, ClosedLegs, Array]:
    """Forces for the acceleration that the platform has with q, q', q'' of the independent actuators, all else held."""
    count = len(start.wrench)
    held, reasons = start.state.rows(np.tile(np.arange(count), copies)), np.full(copies * count, "", dtype=object)
    e, ed = held.elastic(robot)
    (q, qd), second = (np.array(values) for values in held.actuators(robot)), np.tile(start.second, (copies, 1))
    q[:, start.own], qd[:, start.own], second[:, start.places] = given
    others = np.concatenate([held.modes_velocity, held.joint_velocity], axis=1)
    if robot.elastic_plan.carrier is None:
        others = np.concatenate([held.velocity, held.angular_velocity, others], axis=1)
    state = close(robot, held, ActuatorState(q=q, e=e, qd=qd, ed=ed, others=others), reasons)
    J, drift = platform_jacobian(robot, state, reasons)
    A = np.einsum("nku,nu->nk", J, second) + drift
    request = LegRequest(
        state=state, actuator_acceleration=None, acceleration=A, wrench=np.tile(start.wrench, (copies, 1)), source="given"
    )
    force = solve_inverse(robot, request, False, reasons).force
    raise_failed("derivatives of inverse dynamics", robot, reasons, State(position=state.position), "raise")
    return force, state, A


def _by_parameter(start: _Start, path: str, slopes: tuple[Array, Array, Array], inverse: Array) -> Array:
    r"""Derivative (n, actuators) by a parameter at the given motion of the platform.

    .. math:: \tau_p = \tau' - \tau_x\,x' - \tau_V\,V' - \tau_{\dot V}\,\dot V'

    with ' along p and any motion of the actuators: that which keeps the platform where it is, to first order.

    Args:
        inverse: (n, own, 6) rates of the independent actuators per twist of the platform.
    """
    robot, given = start.robot, start.given
    at = scalar_parameter(robot, path)
    h = PARAMETER_STEP * max(abs(at), 1e-3)
    middle = _solved(start, robot, given, 1)[1]

    def along(step: float, q_p: Array | float) -> tuple[Array, Array, Array, Array]:
        """Forces, pose, twist and acceleration with another value of the parameter."""
        other = led_by_platform(robot.with_parameters({path: at + step}))
        force, state, A = _solved(start, other, (given[0] + step * q_p, *given[1:]), 1)
        rotation = Rotation.from_matrix(state.rotation @ np.swapaxes(middle.rotation, 1, 2)).as_rotvec()
        x = np.concatenate([state.position - middle.position, rotation], axis=1)
        return force, x, np.concatenate([state.velocity, state.angular_velocity], axis=1), A

    q_p = -np.einsum("nqk,nk->nq", inverse, along(SMALL * h, 0.0)[1]) / (SMALL * h)
    total = np.zeros((len(start.wrench), len(robot.actuators)))
    for k, weight in (ASIDE if 0.0 <= at < 4.0 * h else AROUND).items():  # many parameters must not be negative
        force, *moved = along(k * h, q_p)
        whole = [np.einsum("nak,nk->na", slope, values) for slope, values in zip(slopes, moved, strict=True)]
        total += weight / h * (force - whole[0] - whole[1] - whole[2])
    return total


def _followed(robot: Robot, state: ClosedLegs) -> Array:
    """Components (n, r, 6) of the platform's motion that the actuators determine; the others follow from deformation."""
    if not robot.elastic_names:
        return np.tile(np.eye(6), (len(state.position), 1, 1))
    J, _ = platform_jacobian(robot, state, np.full(len(state.position), "", dtype=object))
    return prescribed(robot, J, prescribed_components(robot))


def _slopes(moved: Moved, given: Sequence[Array], which: int, shifts: Array) -> list[Array]:
    """Derivatives (n, rows, actuators) of forces, twist and acceleration by q (0), q' (1) or q'' (2).

    Args:
        shifts: (n, actuators, directions) along which differences are taken.
    """
    count, directions = len(shifts), shifts.shape[2]
    steps = [(j, sign * k, sign * WEIGHTS[k]) for j in range(directions) for k in WEIGHTS for sign in (1, -1)]
    stacked = [np.tile(values, (len(steps), 1)) for values in given]
    for i, (j, k, _) in enumerate(steps):
        stacked[which][i * count : (i + 1) * count] += k * shifts[:, :, j]
    result = []
    for values in moved(stacked, len(steps)):
        total = np.zeros((count, values.shape[1], directions))
        for i, (j, _, weight) in enumerate(steps):
            total[:, :, j] += weight * values[i * count : (i + 1) * count]
        result.append(total @ np.linalg.inv(shifts))
    return result
