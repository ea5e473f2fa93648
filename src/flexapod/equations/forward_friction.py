r"""Forward dynamics with friction that depends on joint reactions.

Friction depends on reactions, reactions on the acceleration, the acceleration on friction. Unknown are the loads y of the joints
with friction. Joint forces are affine in loads and acceleration, and so is the acceleration in the loads: six closed-form legs
give the platform's equation leg by leg, each with the force of its drive; of general legs

.. math:: \dot V(y) = \dot V_0 + N (N^T A N)^{-1} N^T J_a^T\,(\Gamma - \Gamma(\dot V_0, f(y)))

with A, N, J_a of the robot without friction. The loads are found inside the kernel like those of inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.carrying_legs import accelerated
from flexapod.equations.newton_euler.constraint_plan import plain
from flexapod.equations.newton_euler.coupled_loads import LegLoading, coupled_loads
from flexapod.equations.newton_euler.driven_legs import MovingPlatform, in_loops, one_by_one
from flexapod.equations.newton_euler.friction_coupling import solve_friction
from flexapod.equations.newton_euler.friction_points import FrictionPoint
from flexapod.equations.newton_euler.inverse_dynamics import loads, set_up, setting_at
from flexapod.equations.newton_euler.loaded_leg import affine, by_leg, forces_at, friction_of, loads_of, with_friction
from flexapod.equations.newton_euler.wrench import body_wrench
from flexapod.equations.platform_inputs import FrameMotion, guess_input, wrench_input
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.forward_dynamics import StateEquation, state_equation_at, state_inputs
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Iterates, TakesChecks
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec
from flexapod.spatial.linear import solve_symmetric
from flexapod.spatial.vector import zero


def forward_friction(robot: Robot) -> Program:
    """The program: as `forward_dynamics`, with the friction of the robot file.

    Redundant actuators: forces between them that do not move the platform are left out of the comparison; friction must not
    depend on loads there.

    Source: Kim 2002 Eqs. (30)-(32), solved for the acceleration. Checked by: tests/equations/test_forward_friction.py.
    """
    b = Program("forward_friction")
    frame, acceleration = state_inputs(b)
    guess = None if plain(robot) else guess_input(b, robot)
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    wrench = wrench_input(b)
    forward = Forward(
        robot=robot, values=Values(b), frame=frame, force=force, wrench=wrench, guess=guess,
        equation=lambda: state_equation_at(b, robot, frame, acceleration, guess),
    )  # fmt: skip
    V = forward.solve(b, b).acceleration
    b.output("acceleration", V[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", V[3:], shape=(3,), unit="rad/s^2", dims=("axis",))
    return b


def friction_force(robot: Robot) -> Program:
    """The program: as `newton_euler`, `force` (actuators,) being the part that overcomes friction: forces with it less those
    without.

    Source: Kim 2002 Eqs. (30)-(32). Checked by: tests/generator/test_matlab_and_cpp.py.
    """
    b = Program("friction_force")
    setting = set_up(b, robot, "exact", True, True)
    base = loads(setting, gravity=True, platform=True, legs=True, drives=True, applied=True)
    found = [solve_friction(b, setting.mechanism, base, points, setting.open.redundant > 0).forces
             for points in (setting.points, [])]  # fmt: skip
    with_it, without = (ca.vertcat(*[x for leg in forces for x in leg.actuators]) for forces in found)
    b.output("force", with_it - without, shape=(len(robot.actuators),), unit="N or N m", dims=("actuator",))
    return b


DIVERGED = "the coupling of friction and acceleration does not converge"


@dataclass(frozen=True, kw_only=True)
class Sliding:
    """Acceleration (6,) of the platform, and the power that friction turns into heat [W].

    Of closed-form legs also where a state nearby may start, and the rates (legs,) of the drives.
    """

    acceleration: SX
    heat: SX
    memory: SX | None = None
    rates: SX | None = None


@dataclass(frozen=True, kw_only=True)
class Forward:
    """A state under actuator forces.

    Args:
        values: of the program itself; frame: pose and twist of the platform.
        force: (actuators,) forces that act; wrench: (6,) load on the platform.
        guess: joint coordinates of general legs, else None.
        equation: of motion without friction, for general legs.
        looped: closed-form legs in loops, see `accelerated`.
    """

    robot: Robot
    values: Values
    frame: FrameMotion
    force: SX
    wrench: SX
    guess: SX | None
    equation: Callable[[], StateEquation]
    looped: bool = False

    def solve(self, b: Iterates, loop: Builder, start: SX | None = None) -> Sliding:
        """The acceleration with friction.

        Args:
            b: program or scope; loop: what iterates.
            start: memory of a state nearby, of closed-form legs; None: none is known.

        Checked by: tests/equations/test_forward_friction.py.
        """
        if self.guess is None:
            return self._leg_by_leg(b, loop, start)
        V, f = ca.SX.sym("V", 6), self.frame
        moving = FrameMotion(p=f.p, R=f.R, v=f.v, w=f.w, a=Vec(V[:3], "W"), alpha=Vec(V[3:], "W"))
        legs, c, loading = self._together(b, moving, V)
        y, z, converged = coupled_loads(loop, None, c, loading)
        if y:
            b.fail_if(1 - converged, DIVERGED)
        found = [(point, one) for points, y_i in zip(legs, y, strict=True)
                 for point, one in zip(points, friction_of(points, y_i), strict=True)]  # fmt: skip
        heat = -sum((ca.dot(rate, force) for point, one in found for rate, force in point.work(one)), ca.SX(0))
        return Sliding(acceleration=z[:6], heat=heat)

    def _leg_by_leg(self, b: TakesChecks, loop: Builder, start: SX | None) -> Sliding:
        """Six closed-form legs: the force of a drive determines that of its leg on the platform."""
        V, f, gravity = ca.SX.sym("V", 6), self.frame, self.values.vector("gravity", "W")
        still = FrameMotion(p=f.p, R=f.R, v=f.v, w=f.w, a=zero("W"), alpha=zero("W"))
        moving = replace(still, a=Vec(V[:3], "W"), alpha=Vec(V[3:], "W"))
        c, A = affine(body_wrench(self.values.of("platform"), moving, gravity).column - self.wrench, V)
        platform = MovingPlatform(frame=still, gravity=gravity)
        if self.looped:
            legs = in_loops(loop, self.values, self.robot, platform, self.force)
        else:
            legs = one_by_one(b, self.values, self.robot, platform, self.force)
        found = accelerated(loop, A, -c, [leg.packed for leg in legs], start)
        if sum(leg.packed.load_count for leg in legs):
            b.fail_if(1 - found.converged, DIVERGED)
        loads, heat = iter(found.loads), ca.SX(0)
        for leg in legs:
            heat = heat + leg.power([next(loads) for _ in range(leg.packed.legs)])
        rates = ca.horzcat(*[leg.rates for leg in legs]).T
        return Sliding(acceleration=found.acceleration, heat=heat, memory=found.memory, rates=rates)

    def _together(self, b: Iterates, moving: FrameMotion, V: SX) -> tuple[list[list[FrictionPoint]], SX, list[LegLoading]]:
        """General legs: z holds the acceleration V and the unknowns x of all legs, both as functions of the loads.

        With A, J_a, N of the motion without friction, the drives' forces tau at V_0 and the platform's system S,
        V = V_0 + N (N^T A N)^{-1} N^T J_a^T (Gamma - tau(y)), x = S(V, y).
        """
        start, response = self._without_friction()
        setting = setting_at(b, self.values, self.robot, moving, self.wrench, self.guess)
        base = loads(setting, gravity=True, platform=True, legs=True, drives=True, applied=True)
        points = {own[0].leg: own for own in by_leg(setting.points)}
        inverse, missing, parts = setting.mechanism.system.inverse, base.platform.column, []
        for number, (leg, load) in enumerate(zip(setting.mechanism.legs, base.legs, strict=True)):
            own = points.get(number, [])
            y, x = ca.SX.sym("y", sum(len(p.places) for p in own)), ca.SX.sym("x", len(leg.columns()))
            braked = with_friction(leg, load, own, y)
            forces = leg.finish(braked, ca.vertsplit(x))
            wrench = leg.particular(braked).seen_from(leg.closing.centre - moving.p).column
            parts.append((own, y, x, ca.vertcat(*forces.actuators), forces_at(own, forces), affine(wrench, y)))
            missing = missing - parts[-1][-1][0]
        missing, per_V = affine(missing, V)
        x0 = ca.mtimes(inverse, missing + ca.mtimes(per_V, start))
        free = _Free(V=V, start=start, response=response, x0=x0, inverse=inverse, per_V=per_V)
        return list(points.values()), *_assembled(parts, self.force, free)

    def _without_friction(self) -> tuple[SX, SX]:
        """Acceleration (6,) without friction, and its change per actuator force (6, actuators)."""
        state = self.equation()
        N = state.basis
        M = ca.mtimes(N.T, ca.mtimes(state.A, N))
        right = self.wrench - state.c - ca.mtimes(state.A, state.beta) + ca.mtimes(state.jacobian.T, self.force)
        start = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, right))) + state.beta
        return start, ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, state.jacobian.T)))


@dataclass(frozen=True, kw_only=True)
class _Free:
    """The motion without friction, about which all legs are assembled.

    Args:
        V: (6,) symbol of the acceleration; start: its value; response: its change per actuator force (6, actuators).
        x0: unknowns of all legs at `start`; inverse: of the platform's system; per_V: change of its right side with V.
    """

    V: SX
    start: SX
    response: SX
    x0: SX
    inverse: SX
    per_V: SX


def _assembled(
    parts: Sequence[tuple[list[FrictionPoint], SX, SX, SX, SX, tuple[SX, SX]]], force: SX, free: _Free
) -> tuple[SX, list[LegLoading]]:
    """c and the maps of the legs for z = (V, x), from those of every leg at an acceleration V and unknowns x."""
    V, start, response, x0, inverse = free.V, free.start, free.response, free.x0, free.inverse
    at_drive, at_x, drives, changes = 0, 0, [], []
    for _, y, x, actuators, _, (_, B) in parts:
        own, per = affine(actuators, ca.vertcat(y, x, V))
        k, m = y.numel(), x.numel()
        there = x0[at_x : at_x + m]
        drives.append(own + ca.mtimes(per[:, k : k + m], there) + ca.mtimes(per[:, k + m :], start))
        per_x = ca.SX(actuators.numel(), x0.numel())
        per_x[:, at_x : at_x + m] = per[:, k : k + m]
        change: SX = ca.mtimes(inverse, B)
        changes.append((at_drive, at_x, per[:, :k], per_x, -change))
        at_drive, at_x = at_drive + actuators.numel(), at_x + m
    dV = ca.mtimes(response, force - ca.vertcat(*drives))
    per_x = ca.vertcat(*[one[3] for one in changes])
    along = ca.mtimes(inverse, free.per_V)
    c, legs = ca.vertcat(start + dV, x0 + ca.mtimes(along, dV)), []
    for (points, y, x, _, forces, _), (first, where, per_y, _, G) in zip(parts, changes, strict=True):
        if not points:
            continue
        drive = ca.mtimes(per_x, G)
        drive[first : first + per_y.shape[0], :] += per_y
        G_V = -ca.mtimes(response, drive)
        P, per = affine(forces, ca.vertcat(y, V, x))
        k, m = y.numel(), x.numel()
        K = ca.SX(P.numel(), c.numel())
        K[:, :6], K[:, 6 + where : 6 + where + m] = per[:, k : k + 6], per[:, k + 6 :]
        B = -ca.vertcat(G_V, G + ca.mtimes(along, G_V))
        legs.append(LegLoading(B=B, P=P, L=per[:, :k], K=K, loads=partial(loads_of, points)))
    return c, legs
