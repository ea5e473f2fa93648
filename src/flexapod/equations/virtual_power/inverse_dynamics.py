r"""Inverse dynamics by virtual power: actuator forces of a platform motion.

.. math:: (J_a N)^T\,\Gamma = N^T (h - w)

Square robots: solved. More actuators than DOF: the smallest forces, and a basis of forces that only strain the robot.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import guess_input, platform_motion_inputs, wrench_input
from flexapod.equations.virtual_power.platform_equation import platform_equation
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.robot import Robot
from flexapod.spatial.gram_schmidt import GramSchmidt
from flexapod.spatial.linear import solve_reflected, solve_symmetric

SINGULAR = 1e-20
"""Squared sine below which the actuators' rows count as dependent: forces would be beyond 1e10 times the load."""


def virtual_power(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: `force`, `power` (actuators,), and `strain` (actuators, redundancy) for redundant robots.

    Source: Long 2014 Eq. (46) without elastic part. Checked by: tests/equations/test_formulations_agree.py.
    """
    b = Program("virtual_power")
    platform = platform_motion_inputs(b)
    wrench = wrench_input(b)
    equation = platform_equation(b, robot, platform, guess_input(b, robot), massless_legs)
    A = ca.densify(ca.mtimes(equation.jacobian, equation.basis))
    y = ca.mtimes(equation.basis.T, equation.h - wrench)
    force = actuator_forces(b, A, y)
    n = len(robot.actuators)
    b.output("force", force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", force * equation.rates, shape=(n,), unit="W", dims=("actuator",))
    return b


def actuator_forces(b: TakesChecks, A: SX, y: SX) -> SX:
    """Solve A^T Gamma = y: exactly if square, with the smallest Gamma if there are more actuators than degrees of freedom."""
    actuators, mobility = A.shape
    if actuators < mobility:
        raise ValueError("fewer actuators than degrees of freedom: the motion cannot be enforced")
    text = "the pose is singular (type 2): the platform can move with all actuators locked"
    if actuators > mobility:
        b.fail_if(GramSchmidt(ca.horzsplit(A)).smallest_pivot < SINGULAR, text)
        return ca.mtimes(A, solve_symmetric(ca.mtimes(A.T, A), y))
    force, pivots = solve_reflected(A.T, y)
    lost = ca.SX(0)
    for pivot in pivots:
        lost = ca.logic_or(lost, pivot.square < SINGULAR * ca.sumsqr(A[pivot.column, :]) * pivot.unit)
    b.fail_if(lost, text)
    return force
