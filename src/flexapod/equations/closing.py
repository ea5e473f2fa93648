r"""The one closing algorithm: coordinates of a leg from the motion of the platform, whatever its joints.

The leg is cut at its platform joint. Each closing row r is a scalar that vanishes when the joint is closed (a component
of the gap e, or a product of two axes); with B its derivative with respect to the leg's coordinates,

.. math:: r(q, X) = 0,\qquad B_d\,\dot q_d = -\dot r|_{\dot q_d=0},\qquad B_d\,\ddot q_d = -\ddot r|_{\ddot q_d=0}

for the rows and dependents of the plan; the rows left over constrain the platform (Briot 2014 Eqs. 28-40).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from flexapod.arrays import SX
from flexapod.equations.chain import chain_motion, chain_poses
from flexapod.equations.closing_rows import ClosingRow, Gap, leg_block, leg_gaps, pick, platform_halves, rotated_row
from flexapod.equations.model.algebra import LinkValues
from flexapod.equations.model.positions import closed_positions, displacement
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import TURNING_POINT
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Iterates
from flexapod.robot.architecture import closes
from flexapod.robot.model import Leg
from flexapod.robot.plan import LegPlan
from flexapod.spatial import Rot, Vec
from flexapod.spatial.linear import solve
from flexapod.spatial.vector import zero

NEWTON_STEP = 1e-9
"""Largest last step [rad, or times the characteristic length] at which Newton stops; one more squares it, below rounding."""

LARGEST_STEP = 0.4
"""Newton steps are held below this [rad, or times the characteristic length]: the branch is followed, not jumped."""

DEAD_POINT = 1e-12
"""Gap that a leg may leave, times the characteristic length, and count as closed where Newton's method does not settle."""


@dataclass(frozen=True, kw_only=True)
class ClosedLeg:
    """A leg that fits the platform.

    Args:
        q, qd, qdd: coordinates of the moving links and derivatives.
        links: motion of every link frame.
        leftover: rows that the leg's coordinates cannot meet: (r, rd, rdd) columns; zero where the platform obeys.
        jacobian: (n, 6) derivative of the coordinates with respect to the twist that drives the leg.
        constraint: (leftover, 6) what the leg forbids that twist: constraint @ twist = 0 (with free coordinates at rest).
        determinant: of the block that was solved; zero where the leg is singular (type 1).
        free_jacobian: (n, free) derivative of the coordinates with respect to those that are not solved for.
        free_constraint: (leftover, free) derivative of the leftover rows by them.
    """

    q: list[SX]
    qd: list[SX]
    qdd: list[SX]
    links: list[FrameMotion]
    leftover: tuple[SX, SX, SX]
    jacobian: SX
    constraint: SX
    determinant: SX
    free_jacobian: SX
    free_constraint: SX


def close_leg(
    b: Iterates,
    values: Values,
    leg: Leg,
    plan: LegPlan,
    platform: FrameMotion,
    guess: Sequence[SX],
    *,
    free: Sequence[tuple[SX, SX]] = (),
    closed_form: bool = True,
) -> ClosedLeg:
    """Coordinates, rates and accelerations of a leg for a given motion of a rigid platform.

    As `close_at`, with `jacobian` and `constraint` per twist of the platform frame.
    """
    halves = platform_halves(values, leg, platform)
    closed = close_at(b, values, leg, plan, halves, guess, free=free, closed_form=closed_form)
    T = transfer(halves[0].p - platform.p) if halves else ca.SX.eye(6)
    return replace(closed, jacobian=ca.mtimes(closed.jacobian, T), constraint=ca.mtimes(closed.constraint, T))


def transfer(arm: Vec) -> SX:
    """(6, 6) twist at a point from the twist at the origin, `arm` from origin to point: v + w x arm, w."""
    eye, none = ca.SX.eye(3), ca.SX.zeros(3, 3)
    return ca.vertcat(ca.horzcat(eye, -ca.skew(arm.expr)), ca.horzcat(none, eye))


def close_at(
    b: Iterates,
    values: Values,
    leg: Leg,
    plan: LegPlan,
    halves: Sequence[FrameMotion],
    guess: Sequence[SX],
    *,
    free: Sequence[tuple[SX, SX]] = (),
    closed_form: bool = True,
) -> ClosedLeg:
    """Coordinates, rates and accelerations of a leg for a given motion of its joints' halves on the platform.

    Args:
        b: program (takes the Newton iteration and its checks).
        values: below ``legs.<name>.``.
        halves: frames that the leg must meet, on a rigid or flexible platform; `jacobian` is per twist of the first of them.
        guess: coordinates of the moving links to start from; those not solved for (elastic ones) keep their value.
        free: rates and accelerations of the coordinates that are not solved for, in order; at rest if left out.
        closed_form: positions in closed form where they have one (False: by Newton).

    Source: Briot 2014 Eqs. (28)-(40). Checked by: tests/equations/test_closing.py.
    """
    n = len(leg.moving)
    q = solve_position(b, values, leg, plan, halves, guess, closed_form=closed_form)
    poses = chain_poses(values, leg, q)
    qd, qdd = [ca.SX(0)] * n, [ca.SX(0)] * n
    fixed = plan.free(n)
    for (rate, acceleration), i in zip(free or [(ca.SX(0), ca.SX(0))] * len(fixed), fixed, strict=True):
        qd[i], qdd[i] = ca.SX(rate), ca.SX(acceleration)

    def at_rates() -> tuple[list[FrameMotion], list[Gap], list[ClosingRow]]:
        links = chain_motion(leg, poses, qd, qdd)
        gaps = leg_gaps(values, leg, links, halves)
        return links, gaps, [row for gap in gaps for row in gap.rows]

    links, gaps, rows = at_rates()
    B = leg_block(leg, poses, gaps)
    block = pick(B, plan.rows, plan.dependents)
    if plan.rows:
        _scatter(qd, plan.dependents, solve(block, -ca.vertcat(*[rows[i].rd for i in plan.rows])))
        links, gaps, rows = at_rates()
        _scatter(qdd, plan.dependents, solve(block, -ca.vertcat(*[rows[i].rdd for i in plan.rows])))
        links, gaps, rows = at_rates()
    determinant = ca.det(block) if plan.rows else ca.SX(1)
    # a leg changes its working mode only through a singular block: the sign at home shows a jump of Newton
    newton = bool(plan.rows) and not closes(leg, plan.rows)
    jumped = values.scalar("mode") * determinant < 0 if newton else ca.SX(0)
    if newton:
        b.fail_if(jumped, "leg {leg} would have to leave the branch that it has at home", leg=leg.name)
    jacobian, constraint = _eliminate(B, _half_rows(gaps), block, plan, n)
    left = tuple(ca.vertcat(*[getattr(rows[i], key) for i in plan.leftover]) for key in ("r", "rd", "rdd"))
    return ClosedLeg(
        q=[ca.if_else(jumped, ca.SX.nan(), x) for x in q] if newton else list(q),
        qd=qd,
        qdd=qdd,
        links=links,
        leftover=left,
        jacobian=jacobian,
        constraint=constraint,
        determinant=determinant,
        **_free_parts(B, block, plan, n),
    )


def _free_parts(B: SX, block: SX, plan: LegPlan, n: int) -> dict[str, SX]:
    """Derivatives with respect to the coordinates that are not solved for (Briot 2014 Eq. 33: elastic ones)."""
    free = plan.free(n)
    J = ca.SX.zeros(n, len(free))
    for k, i in enumerate(free):
        J[i, k] = 1
    G = pick(B, plan.leftover, free)
    if plan.rows and free:
        X = -solve(block, pick(B, plan.rows, free))
        for k, i in enumerate(plan.dependents):
            J[i, :] = X[k, :]
        G = G + ca.mtimes(pick(B, plan.leftover, plan.dependents), X)
    return {"free_jacobian": J, "free_constraint": G}


def _half_rows(gaps: Sequence[Gap]) -> SX:
    """P (m, 6): derivative of the rows by the twist of the first half on the platform, with which the others move."""
    first = next((gap.half for gap in gaps if gap.closing.to is None), None)
    blocks = []
    for gap in gaps:
        if gap.closing.to is not None:
            blocks.append(ca.SX.zeros(len(gap.rows), 6))
            continue
        arm = gap.end.p - gap.half.p
        lines = [ca.horzcat(-row.linear.expr.T, -rotated_row(row, arm).expr.T) for row in gap.rows]
        block = ca.vertcat(*lines)
        blocks.append(block if gap.half is first or first is None else ca.mtimes(block, transfer(gap.half.p - first.p)))
    return ca.vertcat(*blocks)


def _eliminate(B: SX, P: SX, block: SX, plan: LegPlan, n: int) -> tuple[SX, SX]:
    """Coordinates per platform twist, and the constraint rows that remain when dependents are eliminated."""
    J = ca.SX.zeros(n, 6)
    if not plan.rows:
        return J, pick(P, plan.leftover, range(6))
    X = solve(block, -pick(P, plan.rows, range(6)))
    for k, i in enumerate(plan.dependents):
        J[i, :] = X[k, :]
    left = pick(P, plan.leftover, range(6))
    if plan.leftover:
        left = left + ca.mtimes(pick(B, plan.leftover, plan.dependents), X)
    return J, left


def solve_position(
    b: Iterates,
    values: Values,
    leg: Leg,
    plan: LegPlan,
    halves: Sequence[FrameMotion],
    guess: Sequence[SX],
    *,
    closed_form: bool = True,
) -> list[SX]:
    """Coordinates that close the rows of the plan: in closed form, or by Newton with limited steps and back-tracking, inside the
    kernel. Angles are those nearest to the guess."""
    if closed_form and leg.architecture == "general" and closes(leg, plan.rows) and not getattr(b, "solved", False):
        return _reached(b, values, leg, plan.rows[-1], halves[0], guess)
    target = ca.vertcat(*[x for half in halves for x in (half.p.expr, ca.vec(half.R.expr))])
    start = ca.vertcat(ca.SX.zeros(0, 1), *[ca.SX(g) for g in guess])
    dependents = list(plan.dependents)
    length = Values(values.program, "", values._known).scalar("characteristic_length")
    unit = ca.vertcat(*[length if leg.links[leg.moving[i]].kind == "P" else 1 for i in dependents])
    if not dependents:
        return [start[i] for i in range(start.numel())]

    def newton(q: SX, where: SX) -> tuple[SX, SX]:
        """Residual of the chosen rows and the Newton step."""
        frames = [
            FrameMotion(
                R=Rot(ca.reshape(where[k + 3 : k + 12], 3, 3), "W", "H"), p=Vec(where[k : k + 3], "W"),
                v=zero("W"), w=zero("W"), a=zero("W"), alpha=zero("W"),
            )
            for k in range(0, 12 * len(halves), 12)
        ]  # fmt: skip
        poses = chain_poses(values, leg, [q[i] for i in range(q.numel())])
        still = [ca.SX(0)] * len(leg.moving)
        gaps = leg_gaps(values, leg, chain_motion(leg, poses, still, still), frames)
        rows, B = [row for gap in gaps for row in gap.rows], leg_block(leg, poses, gaps)
        r = ca.vertcat(*[rows[i].r for i in plan.rows])
        return r, solve(pick(B, plan.rows, plan.dependents), -r)

    def iteration(_: Program, q: SX, step: SX, best: SX, where: SX) -> tuple[list[SX], SX]:
        trial = _moved(q, dependents, step)
        r, newest = newton(trial, where)
        size = ca.dot(r, r)
        better = ca.logic_or(size < best, best < 0)
        largest = ca.mmax(ca.fabs(newest / unit))
        limited = newest * ca.fmin(1, LARGEST_STEP / ca.fmax(largest, 1e-300))
        accepted = [ca.if_else(better, new, old) for new, old in ((trial, q), (limited, step / 2), (size, best))]
        return accepted, ca.if_else(better, largest, 1e300)

    zero_step = ca.SX.zeros(len(dependents))
    (q, _, left), converged, _ = b.iterate(
        iteration, start=[start, zero_step, ca.SX(-1)], shared=[target], limit=60, tolerance=NEWTON_STEP
    )
    # Newton's method creeps towards a double root: the leg closes there, but its coordinates stay uncertain
    closed = ca.logic_and(1 - converged, left < (DEAD_POINT * DEAD_POINT) * (length * length))
    b.fail_if(closed, "leg {leg} is at the end of its reach, or folded (turning point)", leg=leg.name)
    b.fail_if(1 - converged, "leg {leg} cannot reach, or is too far from its start coordinates", leg=leg.name)
    _, last = newton(q, target)
    q = ca.if_else(converged, _moved(q, dependents, last), ca.SX.nan(q.numel(), 1))
    return [q[i] for i in range(q.numel())]


def _reached(b: Iterates, values: Values, leg: Leg, row: int, half: FrameMotion, guess: Sequence[SX]) -> list[SX]:
    """Coordinates of a leg that ends at its joint's half on the platform."""
    own = LinkValues(values.program, values.prefix, values._known)
    signs = [values.scalar("root"), values.scalar("fold")]
    found = closed_positions(b, own, leg, signs, S=half.p.expr, half=half.R.expr, row=row, band=TURNING_POINT)
    result = []
    for place, start, j in zip(found, guess, leg.moving, strict=True):
        link, zero_at = leg.links[j], values.scalar(f"{leg.links[j].coordinate}.zero")
        if link.kind == "P":
            result.append(displacement(place) - zero_at)
        else:
            c, s = place
            away = ca.atan2(s, c) - zero_at - start
            result.append(start + away - 2 * np.pi * ca.floor(away / (2 * np.pi) + 0.5))
    return result


def _moved(q: SX, dependents: Sequence[int], step: SX) -> SX:
    parts = [q[i] for i in range(q.numel())]
    for k, i in enumerate(dependents):
        parts[i] = parts[i] + step[k]
    return ca.vertcat(*parts)


def _scatter(target: list[SX], indices: Sequence[int], column: SX) -> None:
    for k, i in enumerate(indices):
        target[i] = column[k]
