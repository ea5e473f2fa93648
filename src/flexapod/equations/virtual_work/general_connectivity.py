r"""Connectivity conditions of any leg: the rows of its closing joint, world axes.

A row acts on the twist of the last body relative to the platform, both at the joint centre: linear part a, angular part b.

.. math:: B\,\dot q = P\,V,\qquad B\,\ddot q = P\,\dot V + h

As many rows as the leg has dependent coordinates are solved for them (the robot's plan); the rest constrain the platform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.equations.virtual_work.leg_work import SMALLEST, LegWork, PlatformState
from flexapod.equations.virtual_work.recursion import BodyMotion, JointTip, acceleration_matrix, inward, outward, unit_twists
from flexapod.equations.virtual_work.relative_frames import LegChain, frame
from flexapod.kernels.tape.program import Program
from flexapod.robot.leg_positions import ROWS
from flexapod.robot.model import Leg
from flexapod.robot.plan import LegPlan
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.gram_schmidt import GramSchmidt
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class GapRow:
    """One condition: direction of the gap (`axes` rows: zero), or axes a of the platform and c of the leg (else None)."""

    linear: Vec
    angular: Vec
    kind: str
    a: Vec
    c: Vec | None


def closing_rows(leg: Leg, R_link: Rot, R_platform: Rot) -> list[GapRow]:
    """Rows of the closing joint from its two half frames, in the order of the plan."""
    result = []
    for kind, i, *rest in ROWS[leg.closing.type]:
        if kind == "axes":
            a, c = R_platform.column(int(i)), R_link.column(int(rest[0]))
            result.append(GapRow(linear=zero("W"), angular=cross(c, a), kind="axes", a=a, c=c))
        else:
            a = Vec([float(j == i) for j in range(3)], "W") if kind == "point" else R_platform.column(int(i))
            result.append(GapRow(linear=a, angular=zero("W"), kind=str(kind), a=a, c=None))
    return result


def velocity_terms(row: GapRow, link: BodyMotion, v_link: Vec, acceleration: Vec, platform: PlatformState, r: Vec) -> SX:
    r"""h of a row: platform's acceleration at rest twist rates, less the leg's at zero joint accelerations.

    Differentiated rows: :math:`a\cdot(\gamma_l - \gamma_p - 2\omega_p\times v_{rel}) = 0` for directions fixed to the platform,
    :math:`(\varepsilon_l-\varepsilon_p)\cdot(c\times a) + (\omega_l-\omega_p)\cdot\frac{d}{dt}(c\times a) = 0` for pairs of axes.
    """
    if row.c is not None:
        rotating = cross(cross(link.omega, row.c), row.a) + cross(row.c, cross(platform.w, row.a))
        return dot(platform.alpha - link.epsilon, row.angular) - dot(link.omega - platform.w, rotating)
    gap = platform.acceleration(r) - acceleration
    if row.kind == "along":
        gap = gap + cross(platform.w, v_link - platform.velocity(r)) * 2
    return dot(gap, row.linear)


def general_leg_work(
    b: Program, values: Values, leg: Leg, plan: LegPlan, chain: LegChain, platform: PlatformState, *, R_half: Rot
) -> LegWork:
    """Motion and virtual work of a leg with any joints.

    Args:
        values: below ``legs.<name>.``.
        R_half: rotation (from H) of the half frame on the platform, world.

    Coordinates that the platform leaves free are at rest. Source: Staicu 2009 Eqs. (11)-(21), Sinatra 2009 Eqs. (10)-(23), with
    the closing rows of Briot 2014 Eqs. (28)-(40). Checked by: tests/equations/test_virtual_work.py.
    """
    tip = unit_twists(chain)
    R_link = tip.R.T @ values.rotation(f"{leg.closing.joint}.on_link.R", frame(chain.last), "H")
    rows = closing_rows(leg, R_link, R_half)
    r = tip.p - platform.p
    B, P = _leg_matrix(leg, rows, tip), ca.vertcat(*[_platform_row(row, r) for row in rows])
    chosen, left, count = list(plan.rows), list(plan.leftover), len(leg.moving)
    twist = ca.vertcat(platform.v.expr, platform.w.expr)
    per_twist, height = _solve(B, P, plan)
    if chosen:
        b.fail_if(height < SMALLEST, "leg {leg} is singular: its joints cannot follow the platform", leg=leg.name)
    rates = _listed(ca.mtimes(per_twist, twist))
    still = outward(chain, -platform.gravity, rates, [ca.SX(0)] * count)
    link, acceleration = _in_world(chain, still, tip)
    v_link = sum((tip.R.T @ tip.twists[j][0] * rates[j] for j in tip.twists), zero("W"))
    h = ca.vertcat(*[velocity_terms(row, link, v_link, acceleration, platform, r) for row in rows])
    accelerations = _listed(_solve(B, h, plan)[0])
    works = inward(chain, outward(chain, -platform.gravity, rates, accelerations), accelerations)
    driven = [k for k, i in enumerate(leg.moving) if leg.links[i].actuated]
    passive = ca.vertcat(*[0 if k in driven else works[k] for k in range(count)]) if count else ca.SX.zeros(0, 1)
    return LegWork(
        rates=rates,
        works=works,
        actuators=driven,
        rows=per_twist[driven, :] if driven else ca.SX.zeros(0, 6),
        scales=[ca.SX(1)] * len(driven),
        own=[works[k] for k in driven],
        load=ca.mtimes(per_twist.T, passive) if count else ca.SX.zeros(6, 1),
        constraint=P[left, :] - ca.mtimes(B[left, :], per_twist) if left else ca.SX.zeros(0, 6),
        virtual_rates=lambda V: _listed(ca.mtimes(per_twist, V)),
    )


def _leg_matrix(leg: Leg, rows: Sequence[GapRow], tip: JointTip) -> SX:
    """B (m, n): the rows on the unit twists of the joints."""
    B = ca.SX.zeros(len(rows), len(leg.moving))
    for j, (v, w) in tip.twists.items():
        linear, angular = tip.R.T @ v, tip.R.T @ w
        for i, row in enumerate(rows):
            B[i, j] = dot(row.linear, linear) + dot(row.angular, angular)
    return ca.densify(B)


def _platform_row(row: GapRow, r: Vec) -> SX:
    """P (1, 6): a row on the twist of the platform, whose velocity at the joint centre is v + w x r."""
    return ca.horzcat(row.linear.expr.T, (cross(r, row.linear) + row.angular).expr.T)


def _solve(B: SX, right: SX, plan: LegPlan) -> tuple[SX, SX]:
    """All coordinates from right-hand sides of the rows: dependents solved for, others zero; and the smallest pivot."""
    result = ca.SX.zeros(B.shape[1], right.shape[1])
    if not plan.rows:
        return result, ca.SX(1)
    rows, dependents = list(plan.rows), list(plan.dependents)
    factor = GramSchmidt(ca.horzsplit(B[rows, dependents]))
    x = factor.solve(right[rows, :])
    for k, i in enumerate(dependents):
        result[i, :] = x[k, :]
    return result, factor.smallest_pivot


def _in_world(chain: LegChain, motions: Sequence[BodyMotion], tip: JointTip) -> tuple[BodyMotion, Vec]:
    """The last body's angular motion, and the acceleration of the joint centre, world axes."""
    last, R = motions[chain.last], tip.R.T
    omega, epsilon = R @ last.omega, R @ last.epsilon
    motion = BodyMotion(omega=omega, epsilon=epsilon, gamma=R @ last.gamma, matrix=acceleration_matrix(omega, epsilon))
    return motion, R @ last.acceleration(chain.tip)


def _listed(column: SX) -> list[SX]:
    return [column[i] for i in range(column.numel())]
