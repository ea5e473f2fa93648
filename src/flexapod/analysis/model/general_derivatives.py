r"""Derivatives of actuator forces by the general model: any loops, force elements, springs, flexible legs.

Forces, twist and acceleration of the platform are functions of the actuators' q, q', q'', elastic coordinates and their rates
held. With x the platform's pose,

.. math:: \tau_{\dot V} = \tau_{\ddot q}\,\dot V_{\ddot q}^+,\qquad
          \tau_V = (\tau_{\dot q} - \tau_{\dot V}\,\dot V_{\dot q})\,V_{\dot q}^+,\qquad
          \tau_x = (\tau_q - \tau_V V_q - \tau_{\dot V}\,\dot V_q)\,V_{\dot q}^+

Derivatives by q, q', q'' are central differences of sixth order: their error is `STEP`^6 / 140 of a seventh derivative, 1e-17,
and rounding divided by `STEP`, 1e-12. Motions that the robot cannot make have no derivative: the pseudo-inverse leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closed_legs import platform_jacobian, pseudo_inverse
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.general_dynamics import solve_inverse
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import raise_failed
from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import driven_columns

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import ClosedLegs
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
Moved = Callable[[Array, Array, Array, int], tuple[Array, Array, Array]]

STEP = 3e-3
"""Shift of an actuator in radians or characteristic lengths; of rates and accelerations in these per second."""

WEIGHTS = {1: 3.0 / 4.0, 2: -3.0 / 20.0, 3: 1.0 / 60.0}
"""Of f(x + k h) - f(x - k h), divided by h."""

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def general_derivatives(robot: Robot, motion: Any, wrench: Array) -> dict[str, Array]:
    """`tau_D_position` and the others (n, actuators, 3), by components of the motion that the robot can make.

    Args:
        motion: Motion of the platform, or State, which may carry elastic coordinates; left out they are in equilibrium.
        wrench: (n, 6) on the platform.

    Checked by: tests/equations/test_derivatives.py.
    """
    start, given = _start(robot, motion, wrench)
    held = _held(robot, start)
    unit = np.where(np.array(robot.actuator_units) == "rad", 1.0, robot.characteristic_length)

    def moved(q: Array, v: Array, a: Array, copies: int) -> tuple[Array, Array, Array]:
        reasons = np.full(len(q), "", dtype=object)
        at = ActuatorMotion(time=np.arange(float(len(q))), position=q, velocity=v, acceleration=a)
        elastic: dict[str, Any] = {name: np.tile(values, (copies, 1)) for name, values in held.items()}
        load = np.tile(wrench, (copies, 1))
        request = closed_request(robot, Request(at=at, wrench=load, friction=False, **elastic), reasons)
        solution = solve_inverse(robot, request, False, reasons)
        J, drift = platform_jacobian(robot, request.state, reasons)
        raise_failed("derivatives of inverse dynamics", robot, reasons, at, "raise")
        twist = np.concatenate([request.state.velocity, request.state.angular_velocity], axis=1)
        return solution.force, twist, np.einsum("nku,nu->nk", J, solution.independent) + drift

    (tau_q, V_q, A_q), (tau_v, V_v, A_v), (tau_a, _, A_a) = (_slopes(moved, given, which, STEP * unit) for which in range(3))
    by_A, inverse = tau_a @ pseudo_inverse(A_a), pseudo_inverse(V_v)
    by_V = (tau_v - by_A @ A_v) @ inverse
    by_x = (tau_q - by_V @ V_q - by_A @ A_q) @ inverse
    halves = [part for whole in (by_x, by_V, by_A) for part in (whole[:, :, :3], whole[:, :, 3:])]
    return {f"tau_D_{name}": np.ascontiguousarray(half) for name, half in zip(NAMES, halves, strict=True)}


def _start(robot: Robot, motion: Any, wrench: Array) -> tuple[Any, tuple[Array, Array, Array]]:
    """The closed states of a motion, and the actuators' q, q', q'' there (n, actuators)."""
    reasons = np.full(len(wrench), "", dtype=object)
    request = closed_request(robot, Request(at=motion, wrench=wrench, friction=False), reasons)
    solution = solve_inverse(robot, request, False, reasons)
    raise_failed("derivatives of inverse dynamics", robot, reasons, motion, "raise")
    return request.state, (*request.state.actuators(robot), solution.coordinates[:, driven_columns(robot)])


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
    for values in moved(stacked[0], stacked[1], stacked[2], len(shifts)):
        total = np.zeros((count, values.shape[1], actuators))
        for i, (j, _, weight) in enumerate(shifts):
            total[:, :, j] += weight / steps[j] * values[i * count : (i + 1) * count]
        result.append(total)
    return result


def general_parameter_derivatives(robot: Robot, motion: Any, wrench: Array, parameters: Sequence[str]) -> Array:
    """`tau_D_parameter` (n, actuators, parameters) at the given motion of the platform, by the same differences."""
    held, columns = _held(robot, _start(robot, motion, wrench)[0]), []
    for path in parameters:
        at = robot.parameter(path)
        if isinstance(at, tuple):
            raise InputError(f"parameters: '{path}' is a vector; name a component, e.g. '{path}.x'")
        h = STEP * max(abs(at), 1e-3)
        total = np.zeros((len(wrench), len(robot.actuators)))
        for k, weight in WEIGHTS.items():
            for sign in (1, -1):
                other = robot.with_parameters({path: at + sign * k * h})
                force = inverse_dynamics(other, motion, friction=False, wrench=wrench, **held).force.values
                total += sign * weight / h * force.reshape(total.shape)
        columns.append(total)
    return np.stack(columns, axis=2)
