r"""Derivatives of actuator forces where the general model alone has them: loops through several legs, force elements, springs.

Forces, twist and acceleration of the platform are functions of the actuators' q, q', q''. With P the twist per rate,

.. math:: \tau_{\dot V} = \tau_{\ddot q} P^+,\qquad
          \tau_V = (\tau_{\dot q} - \tau_{\dot V}\,\dot V_{\dot q})\,P^+,\qquad
          \tau_x = (\tau_q - \tau_V V_q - \tau_{\dot V}\,\dot V_q)\,P^+

Derivatives by q, q', q'' are central differences of sixth order: their error is `STEP`^6 / 140 of a seventh derivative, 1e-17,
and rounding divided by `STEP`, 1e-12. Motions that the robot cannot make have no derivative: P^+ leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.closed_legs import pseudo_inverse
from flexapod.analysis.forward_kinematics import forward_kinematics
from flexapod.analysis.inverse_dynamics import inverse_dynamics
from flexapod.analysis.inverse_kinematics import inverse_kinematics
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
Moved = Callable[[Array, Array, Array, Array], tuple[Array, Array, Array]]

STEP = 3e-3
"""Shift of an actuator in radians or characteristic lengths; of rates and accelerations in these per second."""

WEIGHTS = {1: 3.0 / 4.0, 2: -3.0 / 20.0, 3: 1.0 / 60.0}
"""Of f(x + k h) - f(x - k h), divided by h."""

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def loop_derivatives(robot: Robot, inputs: dict[str, Array], wrench: Array) -> dict[str, Array]:
    """`tau_D_position` and the others (n, actuators, 3), by components of the motion that the robot can make.

    Args:
        inputs: motion of the platform, by name, (n, 3) or (n, 3, 3).
        wrench: (n, 6) on the platform.

    Checked by: tests/equations/test_derivatives.py.
    """
    at = inverse_kinematics(robot, as_motion(inputs), joints=False)
    given = [at[f"actuator_{name}"].values for name in ("position", "velocity", "acceleration")]
    unit = np.where(np.array(robot.actuator_units) == "rad", 1.0, robot.characteristic_length)

    def moved(q: Array, v: Array, a: Array, load: Array) -> tuple[Array, Array, Array]:
        motion = ActuatorMotion(time=np.arange(float(len(q))), position=q, velocity=v, acceleration=a)
        force = inverse_dynamics(robot, motion, friction=False, wrench=load).force.values
        pose = forward_kinematics(robot, motion, continuation=False)
        parts = [pose[name].values for name in NAMES[2:]]
        return force, np.concatenate(parts[:2], axis=1), np.concatenate(parts[2:], axis=1)

    (tau_q, V_q, A_q), (tau_v, P, A_v), (tau_a, _, _) = (_slopes(moved, given, which, STEP * unit, wrench) for which in range(3))
    inverse = pseudo_inverse(P)
    by_A = tau_a @ inverse
    by_V = (tau_v - by_A @ A_v) @ inverse
    by_x = (tau_q - by_V @ V_q - by_A @ A_q) @ inverse
    halves = [part for whole in (by_x, by_V, by_A) for part in (whole[:, :, :3], whole[:, :, 3:])]
    return {f"tau_D_{name}": np.ascontiguousarray(half) for name, half in zip(NAMES, halves, strict=True)}


def _slopes(moved: Moved, given: Sequence[Array], which: int, steps: Array, wrench: Array) -> list[Array]:
    """Derivatives (n, rows, actuators) of forces, twist and acceleration by q (0), q' (1) or q'' (2)."""
    count, actuators = given[0].shape
    shifts = [(j, sign * k, sign * WEIGHTS[k]) for j in range(actuators) for k in WEIGHTS for sign in (1, -1)]
    stacked = [np.tile(values, (len(shifts), 1)) for values in given]
    for i, (j, k, _) in enumerate(shifts):
        stacked[which][i * count : (i + 1) * count, j] += k * steps[j]
    found = moved(stacked[0], stacked[1], stacked[2], np.tile(wrench, (len(shifts), 1)))
    result = []
    for values in found:
        total = np.zeros((count, values.shape[1], actuators))
        for i, (j, _, weight) in enumerate(shifts):
            total[:, :, j] += weight / steps[j] * values[i * count : (i + 1) * count]
        result.append(total)
    return result


def loop_parameter_derivatives(robot: Robot, inputs: dict[str, Array], wrench: Array, parameters: Sequence[str]) -> Array:
    """`tau_D_parameter` (n, actuators, parameters) at the given motion of the platform, by the same differences."""
    motion, columns = as_motion(inputs), []
    for path in parameters:
        at = robot.parameter(path)
        if isinstance(at, tuple):
            raise InputError(f"parameters: '{path}' is a vector; name a component, e.g. '{path}.x'")
        h = STEP * max(abs(at), 1e-3)
        total = np.zeros((len(wrench), len(robot.actuators)))
        for k, weight in WEIGHTS.items():
            for sign in (1, -1):
                other = robot.with_parameters({path: at + sign * k * h})
                total += sign * weight / h * inverse_dynamics(other, motion, friction=False, wrench=wrench).force.values
        columns.append(total)
    return np.stack(columns, axis=2)


def as_motion(inputs: dict[str, Any]) -> Motion:
    """The motion of the platform from its arrays."""
    return Motion(time=np.arange(float(len(inputs["position"]))), **{name: inputs[name] for name in NAMES})
