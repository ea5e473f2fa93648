r"""Recursive least squares of inertial parameters against measured forces: one sample as one kernel, for use online.

.. math:: e = y - \Gamma(\vartheta_0) - Y(\vartheta-\vartheta_0),\qquad k = \frac{P y_i}{r\lambda^{-1}\!+ y_i^T P y_i},\qquad
          \vartheta \leftarrow \vartheta + k\,e_i,\qquad P \leftarrow P - k\,(P y_i)^T

row by row, with P divided by the forgetting factor lambda before a sample. Letters: theta increments of the chosen
parameters over the
robot's own, theta_0 those before the sample, Gamma(theta_0) force of the robot that carries them, with friction that depends
on the load, r noise variance.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.newton_euler.friction_coupling import solve_friction
from flexapod.equations.newton_euler.inverse_dynamics import loads, setting_at
from flexapod.equations.newton_euler.mechanism import Loads
from flexapod.equations.newton_euler.wrench import Wrench
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs
from flexapod.equations.regressor import INERTIAL, is_closed_form, regressor_at
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import inertia_wrench
from flexapod.errors import InputError
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec


def recursive_update(robot: Robot, columns: tuple[int, ...], friction: bool = True) -> Program:
    """The program: `estimate` (k,), `covariance` (k, k) and `residual` (actuators,) after a sample.

    Args:
        columns: positions of the estimated parameters in `regressor.inertial_columns`, all of the platform (0 to 9): a payload.
        friction: as in the robot file.

    Inputs beside the motion: `force` (actuators,) measured, `previous_estimate`, `previous_covariance`, `noise` (variance of
    a force) and `forgetting` (1: nothing is forgotten).

    Checked by: tests/identification/test_online.py.
    """
    if any(c >= len(INERTIAL) for c in columns):
        raise InputError("recursive_update: columns beyond those of the platform (0 to 9)")
    b = Program("recursive_update")
    platform = platform_motion_inputs(b)
    n, k = len(robot.actuators), len(columns)
    measured = b.input("force", (n,), unit="N or N m", doc="measured actuator forces")
    theta = b.input("previous_estimate", (k,), doc="increments of the parameters")
    P = b.input("previous_covariance", (k, k), doc="their covariance")
    noise = b.input("noise", (), unit="N^2", doc="variance of a force")
    forgetting = b.input("forgetting", (), doc="0.9 to 1; 1 forgets nothing")
    kim = plain(robot)
    closed = all(is_closed_form(robot, i) for i in range(len(robot.legs)))
    guess = guess_input(b, robot, needed=not (kim and closed))
    setting = setting_at(b, Values(b), robot, platform, ca.SX.zeros(6), None if kim else guess, friction=friction)
    base = loads(setting, gravity=True, platform=True, legs=True, drives=True)
    base = Loads(platform=base.platform + _payload(b, platform, columns, theta), legs=base.legs)
    solution = solve_friction(b, setting.mechanism, base, setting.points, setting.open.redundant > 0)
    own = ca.vertcat(*[x for leg in solution.forces for x in leg.actuators])
    Y, _ = regressor_at(b, robot, platform, guess, columns)
    theta, P, residual = _rows(Y, measured - own, theta, P / forgetting, noise)
    b.output("estimate", theta, shape=(k,), dims=("parameter",))
    b.output("covariance", P, shape=(k, k), dims=("parameter", "other_parameter"))
    b.output("residual", residual, shape=(n,), unit="N or N m", dims=("actuator",))
    return b


def _payload(b: Program, platform: FrameMotion, columns: tuple[int, ...], theta: SX) -> Wrench:
    """Wrench that increments theta of the platform's inertial parameters need, linear in them."""
    values = Values(b)
    whole = inertia_wrench(values, "platform", platform, values.vector("gravity", "W")).column
    J = ca.jacobian(whole, ca.vertcat(*[values.scalar(f"platform.{INERTIAL[c]}") for c in columns]))
    wrench = ca.mtimes(J, theta)
    return Wrench(force=Vec(wrench[:3], "W"), moment=Vec(wrench[3:], "W"))


def _rows(Y: SX, residual: SX, theta: SX, P: SX, noise: SX) -> tuple[SX, SX, SX]:
    """The update by every row; `residual` is that of the estimate before the sample."""
    start = theta
    for i in range(Y.shape[0]):
        row = Y[i, :].T
        Py = ca.mtimes(P, row)
        gain = Py / (noise + ca.dot(row, Py))
        theta = theta + gain * (residual[i] - ca.dot(row, theta - start))
        P = P - ca.mtimes(gain, Py.T)
    return theta, (P + P.T) / 2, residual
