r"""Derivatives of actuator forces by the general model: any loops, force elements, springs, flexible legs.

Forces, twist and acceleration of the platform are functions of the actuators' q, q', q'', elastic coordinates and their rates
held. With x the platform's pose,

.. math:: \tau_{\dot V} = \tau_{\ddot q}\,\dot V_{\ddot q}^+,\qquad
          \tau_V = (\tau_{\dot q} - \tau_{\dot V}\,\dot V_{\dot q})\,V_{\dot q}^+,\qquad
          \tau_x = (\tau_q - \tau_V V_q - \tau_{\dot V}\,\dot V_q)\,V_{\dot q}^+

Derivatives by q, q', q'' are central differences of eighth order: their error is `STEP`^8 / 630 of a ninth derivative (1e-10
where forces change over 2 % of the robot's size, as those that reach the platform through flexible legs) and rounding divided
by `STEP`. Motions that the robot cannot make have no derivative: the pseudo-inverse leaves them out. Where something deforms, x
are the components that the actuators choose (`prescribed`), as in `inverse_dynamics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from flexapod.analysis.model.closed_legs import ClosedLegs, platform_jacobian, pseudo_inverse
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.general_dynamics import solve_inverse
from flexapod.analysis.model.prescribed import prescribed, prescribed_components
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import raise_failed
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import driven_columns

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import ClosedLegs
    from flexapod.robot.robot import Robot

Moved = Callable[[Sequence[Array], int], tuple[Array, Array, Array]]

STEP = 2e-3
"""Shift of an actuator in radians or characteristic lengths; of rates and accelerations in these per second."""

WEIGHTS = {1: 4.0 / 5.0, 2: -1.0 / 5.0, 3: 4.0 / 105.0, 4: -1.0 / 280.0}
"""Of f(x + k h) - f(x - k h), divided by h."""

AROUND = {sign * k: sign * weight for k, weight in WEIGHTS.items() for sign in (1, -1)}
ASIDE = {0: -49.0 / 20.0, 1: 6.0, 2: -15.0 / 2.0, 3: 20.0 / 3.0, 4: -15.0 / 4.0, 5: 6.0 / 5.0, 6: -1.0 / 6.0}
"""Of f(x + k h), divided by h: on both sides, and on one side, of sixth order."""

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def general_derivatives(robot: Robot, motion: Any, wrench: Array, parameters: Sequence[str] = ()) -> dict[str, Array]:
    """`tau_D_position` and the others (n, actuators, 3), by components of the motion that the robot can make, and
    `tau_D_parameter` (n, actuators, parameters), if any are named.

    Args:
        motion: Motion of the platform, or State, which may carry elastic coordinates; left out they are in equilibrium.
        wrench: (n, 6) on the platform.
        parameters: dotted paths of numbers of the robot file.

    Checked by: tests/equations/test_derivatives.py.
    """
    start, given = _start(robot, motion, wrench)
    held = _held(robot, start)
    unit = np.where(np.array(robot.actuator_units) == "rad", 1.0, robot.characteristic_length)
    moved = partial(_moved, robot, held, wrench)
    (tau_q, V_q, A_q), (tau_v, V_v, A_v), (tau_a, _, A_a) = (_slopes(moved, given, which, STEP * unit) for which in range(3))
    S = _followed(robot, start)
    by_A, inverse = tau_a @ pseudo_inverse(S @ A_a) @ S, pseudo_inverse(S @ V_v) @ S
    by_V = (tau_v - by_A @ A_v) @ inverse
    by_x = (tau_q - by_V @ V_q - by_A @ A_q) @ inverse
    halves = [part for whole in (by_x, by_V, by_A) for part in (whole[:, :, :3], whole[:, :, 3:])]
    found = {f"tau_D_{name}": np.ascontiguousarray(half) for name, half in zip(NAMES, halves, strict=True)}
    if parameters:
        columns = [_by_parameter(robot, path, held, wrench, given, (by_x, by_V, by_A)) for path in parameters]
        found["tau_D_parameter"] = np.stack(columns, axis=2)
    return found


def _moved(robot: Robot, held: dict[str, Any], wrench: Array, given: Sequence[Array], copies: int) -> tuple[Array, Array, Array]:
    """Forces, twist and acceleration of the platform for actuators' q, q', q''."""
    force, state, A = _solved(robot, held, wrench, given, copies)
    return force, np.concatenate([state.velocity, state.angular_velocity], axis=1), A


def _solved(
    robot: Robot, held: dict[str, Any], wrench: Array, given: Sequence[Array], copies: int
) -> tuple[Array, ClosedLegs, Array]:
    q, v, a = given
    reasons = np.full(len(q), "", dtype=object)
    at = ActuatorMotion(time=np.arange(float(len(q))), position=q, velocity=v, acceleration=a)
    elastic: dict[str, Any] = {name: np.tile(values, (copies, 1)) for name, values in held.items()}
    load = np.tile(wrench, (copies, 1))
    request = closed_request(robot, Request(at=at, wrench=load, friction=False, **elastic), reasons)
    solution = solve_inverse(robot, request, False, reasons)
    J, drift = platform_jacobian(robot, request.state, reasons)
    raise_failed("derivatives of inverse dynamics", robot, reasons, at, "raise")
    return solution.force, request.state, np.einsum("nku,nu->nk", J, solution.independent) + drift


def _by_parameter(
    robot: Robot, path: str, held: dict[str, Any], wrench: Array, given: tuple[Array, Array, Array],
    slopes: tuple[Array, Array, Array],
) -> Array:  # fmt: skip
    r"""Derivative (n, actuators) by a parameter at the given motion of the platform.

    .. math:: \tau_p = \tau_p|_q - \tau_x\,x_p|_q - \tau_V\,V_p|_q - \tau_{\dot V}\,\dot V_p|_q
    """
    at = robot.parameter(path)
    if isinstance(at, tuple):
        raise InputError(f"parameters: '{path}' is a vector; name a component, e.g. '{path}.x'")
    h = STEP * max(abs(at), 1e-3)
    middle = _solved(robot, held, wrench, given, 1)[1].rotation
    total = np.zeros((len(wrench), len(robot.actuators)))
    for k, weight in (ASIDE if 0.0 <= at < 4.0 * h else AROUND).items():  # many parameters are not negative
        force, state, A = _solved(robot.with_parameters({path: at + k * h}), held, wrench, given, 1)
        turn = Rotation.from_matrix(state.rotation @ np.swapaxes(middle, 1, 2)).as_rotvec()
        x = np.concatenate([state.position, turn], axis=1)
        V = np.concatenate([state.velocity, state.angular_velocity], axis=1)
        whole = [np.einsum("nak,nk->na", slope, values) for slope, values in zip(slopes, (x, V, A), strict=True)]
        total += weight / h * (force - whole[0] - whole[1] - whole[2])
    return total


def _start(robot: Robot, motion: Any, wrench: Array) -> tuple[Any, tuple[Array, Array, Array]]:
    """The closed states of a motion, and the actuators' q, q', q'' there (n, actuators)."""
    reasons = np.full(len(wrench), "", dtype=object)
    request = closed_request(robot, Request(at=motion, wrench=wrench, friction=False), reasons)
    solution = solve_inverse(robot, request, False, reasons)
    raise_failed("derivatives of inverse dynamics", robot, reasons, motion, "raise")
    return request.state, (*request.state.actuators(robot), solution.coordinates[:, driven_columns(robot)])


def _followed(robot: Robot, state: ClosedLegs) -> Array:
    """Components (n, r, 6) of the platform's motion that the actuators choose; deformation decides the others."""
    if not robot.elastic_names:
        return np.tile(np.eye(6), (len(state.position), 1, 1))
    J, _ = platform_jacobian(robot, state, np.full(len(state.position), "", dtype=object))
    return prescribed(robot, J, prescribed_components(robot))


def _held(robot: Robot, state: ClosedLegs) -> dict[str, Any]:
    """Elastic coordinates and rates that stay what they are, by the names of a request."""
    return dict(zip(("elastic", "elastic_velocity"), state.elastic(robot), strict=True)) if robot.elastic_names else {}


def _slopes(moved: Moved, given: Sequence[Array], which: int, steps: Array) -> list[Array]:
    """Derivatives (n, rows, actuators) of forces, twist and acceleration by q (0), q' (1) or q'' (2)."""
    count, actuators = given[0].shape
    shifts = [(j, sign * k, sign * WEIGHTS[k]) for j in range(actuators) for k in WEIGHTS for sign in (1, -1)]
    stacked = [np.tile(values, (len(shifts), 1)) for values in given]
    for i, (j, k, _) in enumerate(shifts):
        stacked[which][i * count : (i + 1) * count, j] += k * steps[j]
    result = []
    for values in moved(stacked, len(shifts)):
        total = np.zeros((count, values.shape[1], actuators))
        for i, (j, _, weight) in enumerate(shifts):
            total[:, :, j] += weight / steps[j] * values[i * count : (i + 1) * count]
        result.append(total)
    return result
