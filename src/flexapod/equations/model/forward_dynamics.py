r"""Forward dynamics by the link-axes model: acceleration of the platform from actuator forces.

A leg that ends in a spherical joint and fills its three rows has an inertia at its tip, :math:`\Lambda = B^{-T} M B^{-1}`; others
have one per twist of the platform, :math:`X^T M X` with :math:`B X = P`. A leg with a ball before a hinge is cut
there (ball_leg.py). Rows that a leg cannot meet bind the platform:

.. math:: \dot V = N\dot u + \beta,\qquad (N^T A N)\,\dot u = -N^T(c + A\beta)

A is the inertia of platform and legs, c what is missing to balance at zero acceleration, forces and load included.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.link_motion import LinkMotion
from flexapod.equations.elastodynamics.link_tree import LinkBody, leg_mass_matrix
from flexapod.equations.model.algebra import NONE, LinkValues, cross, mul, nearly_dependent, solve_blocks, sparse, symmetric
from flexapod.equations.model.ball_leg import BallLeg, LegInertia, ball_inertia, ball_leg
from flexapod.equations.model.inertias import LinkInertia, body_inertia
from flexapod.equations.model.inverse_dynamics import (
    carried_masses,
    joint_on_platform,
    leg_values,
    loaded_platform,
    platform_wrench,
    seen_from,
)
from flexapod.equations.model.leg import LinkLeg, link_leg
from flexapod.equations.platform_inputs import FrameMotion, guess_input, wrench_input
from flexapod.equations.virtual_power.forward_dynamics import state_inputs
from flexapod.equations.virtual_power.inverse_dynamics import SINGULAR
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Equations, TakesChecks
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric
from flexapod.spatial.vector import zero


def link_forward_dynamics(robot: Robot, massless_legs: bool = False, zeros: Collection[str] = ()) -> Program:
    """The program: inputs state, `force` (actuators,), `wrench` (6,); outputs `acceleration`, `angular_acceleration`.

    Checked by: tests/equations/test_link_model.py.
    """
    b = Program("link_forward_dynamics")
    state, _ = state_inputs(b)
    still = FrameMotion(R=state.R, p=state.p, v=state.v, w=state.w, a=zero("W"), alpha=zero("W"))
    guess, values = guess_input(b, robot), LinkValues(b, zeros=zeros)
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    wrench = wrench_input(b)
    legs = state_legs(b, values, robot, still, guess, massless_legs)
    V = link_acceleration(b, values, robot, still, legs, force=force, wrench=wrench, massless=massless_legs)
    b.output("acceleration", V[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", V[3:], shape=(3,), unit="rad/s^2", dims=("axis",))
    values.check()
    return b


def state_legs(
    b: Equations, values: LinkValues, robot: Robot, still: FrameMotion, guess: SX | None, massless: bool = False
) -> list[LinkLeg | BallLeg]:
    """The legs of a robot at a state, each with the constants of its inner frames; those with a ball are cut there.

    Args:
        still: the platform's motion with zero acceleration.
    """
    about, carried = _point(values, robot), _carried(values, robot, massless)
    legs: list[LinkLeg | BallLeg] = []
    for i, own in enumerate(leg_values(values, robot)):
        if robot.link_plan.legs[i].ball:
            legs.append(ball_leg(b, own, robot, i, still))
        else:
            legs.append(link_leg(b, own, robot, i, still, guess, massless=massless, about=about, carried=carried[i]))
    return legs


def _point(values: LinkValues, robot: Robot) -> SX:
    """(3,) of the platform, its axes, that the equations are written about: its origin where legs bind its twist there, and where
    the platform would lose a zero elsewhere."""
    plan, found, own = robot.link_plan, joint_on_platform(values, robot), body_inertia(values, "platform")
    there = own.seen(ca.SX.eye(3), -found)
    loses = any(sparse(x).nnz() < sparse(y).nnz() for x, y in ((own.S, there.S), (own.E, there.E)))
    return NONE if plan.bound or loses or any(choice.ball for choice in plan.legs) else found


def _carried(values: LinkValues, robot: Robot, massless: bool) -> list[SX]:
    """Per leg, the mass at its end that the platform has."""
    return [ca.SX(0)] * len(robot.legs) if massless else carried_masses(values, robot)


def link_acceleration(
    b: TakesChecks,
    values: LinkValues,
    robot: Robot,
    still: FrameMotion,
    legs: Sequence[LinkLeg | BallLeg],
    *,
    force: SX,
    wrench: SX,
    massless: bool = False,
) -> SX:
    """(6,) acceleration of the platform under actuator forces and a wrench (6,), inside any program or body of a loop.

    Args:
        still: the platform's motion with zero acceleration; legs: that follow it.
    """
    about = _point(values, robot)
    own = loaded_platform(values, robot, _carried(values, robot, massless))
    A, parts, at = platform_inertia(own.seen(ca.SX.eye(3), -about), still), [], 0
    c = seen_from(platform_wrench(own, still, values.vec("gravity")) - wrench, still, about)
    for leg, below in zip(legs, leg_values(values, robot), strict=True):
        if isinstance(leg, BallLeg):
            parts.append(ball_inertia(below, leg, force[at], massless))
        else:
            parts.append(_leg_inertia(below, leg, force, at, massless))
        at += len(leg.driven)
    A, c = sparse(A + sum(part.A for part in parts)), c + sum(part.c for part in parts)
    N, beta = _basis(b, robot, sparse(ca.vertcat(*[part.G for part in parts])), ca.vertcat(*[part.r for part in parts]))
    M = symmetric(mul(N.T, mul(A, N)))
    right = ca.densify(mul(N.T, -c - mul(A, beta)))
    V = ca.densify(mul(N, solve_symmetric(M, right)) + beta)
    return ca.vertcat(V[:3] - ca.densify(cross(V[3:], mul(still.R.expr, about))), V[3:])


def platform_inertia(own: LinkInertia, platform: FrameMotion) -> SX:
    """(6, 6) inertia of the platform, world axes, from that in its own."""
    R = platform.R.expr
    hat = ca.skew(ca.densify(mul(R, own.S)))
    I = _rotated(R, own.tensor)
    return ca.vertcat(ca.horzcat(own.m * ca.SX.eye(3), hat.T), ca.horzcat(hat, I))


def _rotated(R: SX, A: SX) -> SX:
    """R A R^T of a symmetric A; a multiple of 1 that makes one of its entries zero stays as it is."""
    A = ca.densify(A)
    part = A[2, 2] * ca.SX.eye(3)
    return symmetric(mul(mul(R, A - part), R.T)) + part


def _leg_inertia(values: LinkValues, leg: LinkLeg, force: SX, at: int, massless: bool) -> LegInertia:
    """Inertia and forces of a leg, at the platform's origin."""
    h = list(leg.h)
    for place, k in enumerate(leg.driven):
        h[k] = h[k] - force[at + place]
    n = len(h)
    M = joint_inertia(values, leg) if n and not massless else ca.SX(n, n)
    whole = ca.vertcat(*h) if n else ca.SX(0, 1)
    if leg.leg.closing.type == "spherical" and n == len(leg.rows):
        return _at_tip(leg, M, whole)
    return _per_twist(leg, M, whole)


def joint_inertia(values: LinkValues, leg: LinkLeg) -> SX:
    """Mass matrix (n, n) of a leg by its coordinates."""
    nothing = dict.fromkeys(("w", "alpha", "U", "a", "dv", "da"), NONE)
    links = [LinkMotion(R=R, r=ca.densify(r), **nothing) for R, r in zip(leg.R, leg.r, strict=True)]
    own = [LinkBody(m=k.m, S=ca.densify(k.S), I=ca.densify(k.tensor)) for k in leg.inertias]
    return sparse(leg_mass_matrix(values, leg.leg, links, [], own))


def _at_tip(leg: LinkLeg, M: SX, h: SX) -> LegInertia:
    """The leg as an inertia and a force at its spherical joint."""
    Y = solve_blocks(leg.B.T, ca.SX.eye(3))
    inertia = symmetric(mul(mul(Y, M), Y.T))
    for rotation in [leg.R[j] for j in reversed(leg.chain)] if leg.world is None else [leg.world]:
        inertia = _rotated(rotation, inertia)
    F, r = ca.densify(leg.to_world(mul(Y, h))), leg.tip.arm
    hat = ca.skew(r)
    low = ca.mtimes(hat, inertia)
    A = ca.vertcat(ca.horzcat(inertia, low.T), ca.horzcat(low, ca.mtimes(low, hat.T)))
    return LegInertia(A=A, c=ca.vertcat(F, ca.cross(r, F)), G=ca.SX(0, 6), r=ca.SX(0, 1))


def _per_twist(leg: LinkLeg, M: SX, h: SX) -> LegInertia:
    """The leg by its coordinates per twist of the platform, and the rows left over."""
    m, n = leg.B.shape
    P = sparse(ca.vertcat(*[leg.platform_wrench(sparse(ca.SX.eye(m)[:, i])).T for i in range(m)]))
    chosen = list(leg.choice.rows)
    left = [i for i in range(m) if i not in chosen]
    X = solve_blocks(leg.B[chosen, :], P[chosen, :]) if n else ca.SX(0, 6)
    missed = [mul(leg.B[i, :], leg.qdd) - leg.drift[i] for i in left]
    return LegInertia(
        A=mul(X.T, mul(M, X)),
        c=ca.densify(mul(X.T, h)),
        G=sparse(P[left, :] - mul(leg.B[left, :], X)) if left else ca.SX(0, 6),
        r=ca.vertcat(*missed) if left else ca.SX(0, 1),
    )


def _basis(b: TakesChecks, robot: Robot, G: SX, r: SX) -> tuple[SX, SX]:
    """N (6, mobility) and beta (6,) with V' = N u' + beta for all u' where G V' = r."""
    kept, bound = list(robot.link_plan.kept), list(robot.link_plan.bound)
    free = [k for k in range(6) if k not in bound]
    N, beta = ca.SX(6, len(free)), ca.SX(6, 1)
    for k, i in enumerate(free):
        N[i, k] = 1
    if bound:
        block = G[kept, bound]
        b.fail_if(nearly_dependent(block, SINGULAR, ca.SX(1)), "the legs' constraints on the platform are singular here")
        Y = solve_blocks(block, ca.horzcat(-G[kept, free], r[kept]))
        for k, i in enumerate(bound):
            N[i, :], beta[i] = Y[k, : len(free)], Y[k, len(free)]
    return sparse(N), sparse(beta)
