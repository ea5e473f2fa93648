r"""Twist and acceleration of the platform from rates and accelerations of the actuators, at a pose that is known.

.. math:: \begin{bmatrix} J\\ G\end{bmatrix} V = \begin{bmatrix}\dot q_a\\ 0\end{bmatrix},\qquad
          \begin{bmatrix} J\\ G\end{bmatrix}\dot V =
          \begin{bmatrix}\ddot q_a\\ 0\end{bmatrix} - \begin{bmatrix}\dot J V\\ \dot G V\end{bmatrix}

The last column is what the legs do while the platform moves with V and does not accelerate: no matrix is differentiated.
Redundant actuators give more rows than unknowns: least squares, and residuals that must vanish.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.closing import close_leg
from flexapod.equations.jacobian import legs_at_pose, moving_frame
from flexapod.equations.leg_kinematics import home_guess, leg_kinematics
from flexapod.equations.platform_inputs import FrameMotion, frame_motion, guess_input, pose_inputs
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_gram_schmidt


def platform_from_actuators(robot: Robot) -> Program:
    """The program.

    Inputs the pose, `actuator_velocity`, `actuator_acceleration`, for general legs `guess` (joint coordinates). Outputs twist
    and acceleration of the platform; redundant robots also `rate_residual` and `acceleration_residual` per actuator.

    Checked by: tests/analysis/test_actuator_motion.py.
    """
    b = Program("platform_from_actuators")
    position, rotation = pose_inputs(b)
    n = len(robot.actuators)
    qd = b.input("actuator_velocity", (n,), unit="m/s or rad/s")
    qdd = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
    guess = guess_input(b, robot)
    length = b.parameter("characteristic_length", unit="m")
    values, scale = Values(b), ca.vertcat(*[length] * 3, 1, 1, 1)
    frame, twist = moving_frame(position, rotation)
    legs = legs_at_pose(b, robot, values, frame, twist, guess)
    kept = list(robot.plan.constraints)
    G = ca.vertcat(*[leg.constraint for leg in legs])[kept, :]
    A = ca.densify(ca.vertcat(*[leg.jacobian for leg in legs], G)) @ ca.diag(scale)
    none = ca.SX.zeros(len(kept))
    V = scale * solve_gram_schmidt(A, ca.vertcat(qd, none))
    moving = frame_motion(position, rotation, V[:3], V[3:])
    bias = _bias(b, robot, values, moving, [leg.q for leg in legs])
    right = ca.vertcat(qdd, none) - bias
    Vd = scale * solve_gram_schmidt(A, right)
    for name, column, unit in (("velocity", V[:3], "m/s"), ("angular_velocity", V[3:], "rad/s")):
        b.output(name, column, shape=(3,), unit=unit, dims=("axis",))
    for name, column, unit in (("acceleration", Vd[:3], "m/s^2"), ("angular_acceleration", Vd[3:], "rad/s^2")):
        b.output(name, column, shape=(3,), unit=unit, dims=("axis",))
    if A.shape[0] > 6:
        first, second = ca.mtimes(A, V / scale) - ca.vertcat(qd, none), ca.mtimes(A, Vd / scale) - right
        b.output("rate_residual", first[:n], shape=(n,), dims=("actuator",))
        b.output("acceleration_residual", second[:n], shape=(n,), dims=("actuator",))
    return b


def _bias(b: Program, robot: Robot, values: Values, moving: FrameMotion, found: list[SX]) -> SX:
    """Actuator accelerations, then those of the constraint rows, of a platform that moves without acceleration."""
    actuators, rows = [], []
    for i, leg in enumerate(robot.legs):
        own, form = values.of(f"legs.{leg.name}"), robot.closed_forms[i]
        if form is not None:
            coordinates = [c.qdd for c in leg_kinematics(b, own, leg, form.sign, moving).coordinates]
        else:
            start = [found[i][k] for k in range(found[i].numel())] or home_guess(own, leg)
            closed = close_leg(b, own, leg, robot.plan.legs[i], moving, start)
            coordinates = closed.qdd
            rows.append(closed.leftover[2])
        actuators += [coordinates[k] for k, index in enumerate(leg.moving) if leg.links[index].actuated]
    left: SX = ca.vertcat(*rows)
    return ca.vertcat(*actuators, left[list(robot.plan.constraints)] if rows else ca.SX.zeros(0, 1))
