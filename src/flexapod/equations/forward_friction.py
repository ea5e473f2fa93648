r"""Forward dynamics with friction that depends on joint reactions.

Friction depends on reactions, reactions on the acceleration, the acceleration on friction. With the inverse model
:math:`\Gamma(\dot\nu)` of Newton-Euler with friction, the acceleration is found by

.. math:: \dot\nu \leftarrow \dot\nu + N (N^T A N)^{-1} N^T J_a^T\,(\Gamma - \Gamma(\dot\nu))

inside the kernel: the matrix is that of the robot without friction, so the error shrinks by the share of friction that
changes with the acceleration in every pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.newton_euler.friction_coupling import solve_friction
from flexapod.equations.newton_euler.friction_points import FrictionPoint, PointFriction
from flexapod.equations.newton_euler.inverse_dynamics import loads, set_up, setting_at
from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.forward_dynamics import state_equation_at, state_inputs
from flexapod.equations.virtual_power.inverse_dynamics import guess_input
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, dot
from flexapod.spatial.linear import solve_symmetric

CONVERGED = 1e-12
"""Largest difference between the given forces and those of the inverse model, of the largest force."""


def forward_friction(robot: Robot) -> Program:
    """The program: as `forward_dynamics`, with the friction of the robot file.

    Redundant actuators: forces between them that do not move the platform are left out of the comparison; friction must not
    depend on loads there.

    Source: Kim 2002 Eqs. (30)-(32) turned round. Checked by: tests/equations/test_forward_friction.py.
    """
    b = Program("forward_friction")
    frame, acceleration = state_inputs(b)
    guess = guess_input(b, robot)
    state = state_equation_at(b, robot, frame, acceleration, guess)
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    wrench = b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform at its frame origin, world")
    values, N = Values(b), state.basis
    M = ca.mtimes(N.T, ca.mtimes(state.A, N))
    right = wrench - state.c - ca.mtimes(state.A, state.beta) + ca.mtimes(state.jacobian.T, force)
    start = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, right))) + state.beta
    # acceleration per actuator force, once for all passes
    response = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, state.jacobian.T)))
    coordinates = None if plain(robot) else guess

    def step(scope: Any, V: Any) -> tuple[list[Any], Any]:
        missing = force - forces_with_friction(scope, values, robot, frame, V, wrench, coordinates).actuators
        scale = ca.fmax(ca.mmax(ca.fabs(force)), 1)
        left = missing if N.shape[1] >= len(robot.actuators) else ca.mtimes(N.T, ca.mtimes(state.jacobian.T, missing))
        return [V + ca.mtimes(response, missing)], ca.mmax(ca.fabs(left)) / scale

    (V,), converged, _ = b.iterate(step, start=[start], limit=100, tolerance=CONVERGED)
    b.fail_if(1 - converged, "the coupling of friction and acceleration does not converge")
    b.output("acceleration", V[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", V[3:], shape=(3,), unit="rad/s^2", dims=("axis",))
    return b


def friction_force(robot: Robot) -> Program:
    """The program: as `newton_euler`, `force` (actuators,) being the part that friction takes: forces with it less those without.

    Source: Kim 2002 Eqs. (30)-(32). Checked by: tests/generator/test_matlab_and_cpp.py.
    """
    setting = set_up(Program("friction_force"), robot, "exact", True, True)
    base = loads(setting, gravity=True, platform=True, legs=True, drives=True, applied=True)
    found = [solve_friction(setting.b, setting.mechanism, base, points, setting.open.redundant > 0).forces
             for points in (setting.points, [])]  # fmt: skip
    with_it, without = (ca.vertcat(*[x for leg in forces for x in leg.actuators]) for forces in found)
    setting.b.output("force", with_it - without, shape=(len(robot.actuators),), unit="N or N m", dims=("actuator",))
    return setting.b


@dataclass(frozen=True, kw_only=True)
class FrictionForces:
    """Actuator forces (actuators,) with friction, and the power that friction turns into heat [W]."""

    actuators: Any
    heat: Any


def forces_with_friction(
    b: Any, values: Values, robot: Robot, frame: FrameMotion, V: Any, wrench: Any, guess: Any
) -> FrictionForces:
    """Inverse dynamics with friction for a platform acceleration, inside a program or a loop's body.

    Args:
        frame: pose and twist of the platform.
        V: (6,) its acceleration, linear then angular.
        guess: joint coordinates of general legs, else None.

    Checked by: tests/equations/test_forward_friction.py.
    """
    moving = FrameMotion(
        p=Vec(frame.p.expr, "W"), R=Rot(frame.R.expr, "W", "P"), v=frame.v, w=frame.w, a=Vec(V[:3], "W"), alpha=Vec(V[3:], "W")
    )
    setting = setting_at(b, values, robot, moving, wrench, guess, "exact", friction=True)
    base = loads(setting, gravity=True, platform=True, legs=True, drives=True, applied=True)
    solution = solve_friction(b, setting.mechanism, base, setting.points, setting.open.redundant > 0)
    heat = ca.SX(0)
    for point, found in zip(setting.points, solution.friction, strict=True):
        heat = heat - _power(point, found)
    return FrictionForces(actuators=ca.vertcat(*[x for leg in solution.forces for x in leg.actuators]), heat=heat)


def _power(point: FrictionPoint, found: PointFriction) -> Any:
    """Power of a joint's friction [W], negative: along the coordinates of its links, or at the closing joint."""
    if point.links:
        return sum(size * point.model.joints[i].rate for i, size in found.axial.items())
    closing = point.model.closing
    if point.source in ("revolute", "prismatic"):
        linear, angular = closing.axes[0]
        return (dot(linear, found.closing.force) + dot(angular, found.closing.moment)) * closing.rates[0]
    return dot(found.closing.moment, closing.angular)
