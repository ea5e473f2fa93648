r"""Forward dynamics with friction that depends on joint reactions.

Friction depends on reactions, reactions on the acceleration, the acceleration on friction. Unknown are the loads y of the joints
with friction. With the friction of given loads, the inverse model :math:`\Gamma(\dot V)` of Newton-Euler is affine in the
acceleration, and that of the robot without friction tells how:

.. math:: \dot V(y) = \dot V_0 + N (N^T A N)^{-1} N^T J_a^T\,(\Gamma - \Gamma(\dot V_0, f(y))),\qquad y = Y(\dot V(y), f(y))

is exact for every y, and the second equation a fixed point, solved inside the kernel like that of inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.newton_euler.fixed_point import fixed_point
from flexapod.equations.newton_euler.friction_coupling import CONVERGED, LIMIT, against_friction, friction_loads, solve_friction
from flexapod.equations.newton_euler.friction_points import FrictionPoint, PointFriction
from flexapod.equations.newton_euler.inverse_dynamics import Setting, loads, set_up, setting_at
from flexapod.equations.newton_euler.leg import LegForces
from flexapod.equations.newton_euler.mechanism import Loads
from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.forward_dynamics import state_equation_at, state_inputs
from flexapod.equations.virtual_power.inverse_dynamics import guess_input
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, dot
from flexapod.spatial.linear import solve_symmetric


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
    response = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, state.jacobian.T)))  # acceleration per actuator force
    coordinates = None if plain(robot) else guess
    forward = Forward(
        robot=robot, values=values, frame=frame, force=force, wrench=wrench, guess=coordinates, start=start, response=response
    )
    V = forward.solve(b, b, lambda builder: builder).acceleration
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
class Sliding:
    """Acceleration (6,) of the platform, and the power that friction turns into heat [W]."""

    acceleration: Any
    heat: Any


@dataclass(frozen=True, kw_only=True)
class Forward:
    """A state under actuator forces.

    Args:
        values: of the program itself; frame: pose and twist of the platform.
        force: (actuators,) forces that act; wrench: (6,) load on the platform.
        guess: joint coordinates of general legs, else None.
        start: (6,) acceleration without friction; response: (6, actuators) what it changes by per force.
    """

    robot: Robot
    values: Values
    frame: FrameMotion
    force: Any
    wrench: Any
    guess: Any
    start: Any
    response: Any

    def solve(self, b: Any, loop: Any, inner: Callable[[Any], Any]) -> Sliding:
        """The acceleration with friction.

        Args:
            b: program or scope; loop: what iterates; inner: what equations in the body of a loop are written for.

        Checked by: tests/equations/test_forward_friction.py.
        """
        first = self._setting(b, self.start)
        counts = [len(point.places) for point in first.points]
        if not sum(counts):
            return Sliding(acceleration=self.start, heat=ca.SX(0))
        base = loads(first, gravity=True, platform=True, legs=True, drives=True, applied=True)

        def accelerated(y: Any) -> tuple[Any, list[PointFriction]]:
            parts = ca.vertsplit(y, [0, *np.cumsum(counts).tolist()])
            friction = [
                p.friction_at([part[k] for k in range(part.numel())]) for p, part in zip(first.points, parts, strict=True)
            ]
            forces = _balanced(first, base, friction)
            for point, found in zip(first.points, friction, strict=True):
                if point not in _as_loads(first):
                    forces[point.leg] = against_friction(point, forces[point.leg], found)
            actuators = ca.vertcat(*[x for leg in forces for x in leg.actuators])
            return self.start + ca.mtimes(self.response, self.force - actuators), friction

        def loads_of(builder: Any, y: Any) -> Any:
            V, friction = accelerated(y)
            there = self._setting(inner(builder), V)
            acting = loads(there, gravity=True, platform=True, legs=True, drives=True, applied=True)
            forces = _balanced(there, acting, friction)
            return ca.vertcat(*[load for p in there.points for load in p.loads(forces[p.leg])])

        y, converged = fixed_point(loop, loads_of, sum(counts), limit=LIMIT, tolerance=CONVERGED)
        b.fail_if(1 - converged, "the coupling of friction and acceleration does not converge")
        V, friction = accelerated(y)
        heat = -sum((_power(point, found) for point, found in zip(first.points, friction, strict=True)), ca.SX(0))
        return Sliding(acceleration=V, heat=heat)

    def _setting(self, b: Any, V: Any) -> Setting:
        """Legs and platform at an acceleration (6,) of the platform."""
        p, R = Vec(self.frame.p.expr, "W"), Rot(self.frame.R.expr, "W", "P")
        moving = FrameMotion(p=p, R=R, v=self.frame.v, w=self.frame.w, a=Vec(V[:3], "W"), alpha=Vec(V[3:], "W"))
        return setting_at(b, self.values, self.robot, moving, self.wrench, self.guess, "exact", friction=True)


def _as_loads(setting: Setting) -> list[FrictionPoint]:
    """Points whose friction reaches more than its own actuator."""
    return [p for p in setting.points if setting.open.redundant > 0 or not p.driven]


def _balanced(setting: Setting, base: Loads, friction: Sequence[PointFriction]) -> list[LegForces]:
    """Joint forces of every leg under loads and friction, that along driven coordinates left out."""
    points = _as_loads(setting)
    chosen = [found for point, found in zip(setting.points, friction, strict=True) if point in points]
    return setting.mechanism.forces(base + friction_loads(setting.mechanism, points, chosen))


def _power(point: FrictionPoint, found: PointFriction) -> Any:
    """Power of a joint's friction [W], negative: along the coordinates of its links, or at the closing joint."""
    if point.links:
        return sum(size * point.model.joints[i].rate for i, size in found.axial.items())
    closing = point.model.closing
    if point.source in ("revolute", "prismatic"):
        linear, angular = closing.axes[0]
        return (dot(linear, found.closing.force) + dot(angular, found.closing.moment)) * closing.rates[0]
    return dot(found.closing.moment, closing.angular)
