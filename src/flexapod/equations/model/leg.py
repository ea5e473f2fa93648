r"""A leg in axes of its links: frames, closing rows, rates and accelerations, joint forces of its motion.

Letters: link j hangs on link i; R turns axes of j to axes of i, r is the origin of j seen from i. The closing rows act on the
twist of the leg's tip against the platform, in axes of the last link:

.. math:: B\,\dot q = C\,(v_S, \omega_P),\qquad h = B^T\lambda + \Gamma

B has a column per coordinate, lambda are the multipliers of the rows (force and moment of the platform on the leg), h the forces
that weight and motion demand at the joints, Gamma the actuators'.

Checked by: tests/equations/test_link_model.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.closing import solve_position
from flexapod.equations.closing_rows import platform_halves
from flexapod.equations.model.algebra import NONE, LinkValues, Z, cross, determinant, field, mul, solve_blocks, sparse
from flexapod.equations.model.inertias import LinkInertia, joint_forces, link_inertias
from flexapod.equations.model.positions import Position, closed_positions, displacement, last_axes
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import Equations, TakesChecks
from flexapod.robot.leg_positions import ROWS, ancestors
from flexapod.robot.link_plan import LegChoice
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec

NO_MASS = ca.SX(0)


@dataclass(frozen=True, kw_only=True)
class TipTarget:
    """Target of a leg's tip, world axes: arm from a point of the platform to S, its velocity and acceleration less gravity."""

    arm: SX
    S: SX
    v: SX
    a: SX


@dataclass(frozen=True, kw_only=True)
class TipRow:
    """A closing row on the tip's twist, axes of the last link; `axes`: the two axes whose product it is, platform's first."""

    linear: SX
    angular: SX
    axes: tuple[SX, SX] | None = None


@dataclass(frozen=True, kw_only=True)
class Links:
    """Motion of all links, each in its own axes: w, alpha, U = field(w, alpha), a (less gravity)."""

    w: list[SX]
    alpha: list[SX]
    U: list[SX]
    a: list[SX]


@dataclass(frozen=True, kw_only=True)
class LinkLeg:
    """A leg that follows the platform.

    Args:
        R, r: per link, parent axes from link axes and origin seen from the parent.
        chain: links from the base to the tip.
        rows, B: closing rows and their derivative by the coordinates (m, n).
        drift: per row, second derivative that is to be met at q'' = 0.
        qd, qdd: rates; accelerations that meet the chosen rows.
        links: motion with them.
        h: (n,) joint forces that the motion demands.
        inertias: of its links, regrouped.
        world: (3, 3) world axes from those of the last link where they are known otherwise than by R, else None.
        outward: vectors of the axes in which the tip's motion is given, in axes of the last link.
    """

    leg: Leg
    choice: LegChoice
    tip: TipTarget
    R: list[SX]
    r: list[SX]
    chain: list[int]
    rows: list[TipRow]
    B: SX
    drift: list[SX]
    qd: SX
    qdd: SX
    links: Links
    h: list[SX]
    inertias: list[LinkInertia]
    world: SX | None
    outward: Callable[[SX], SX]

    @property
    def driven(self) -> list[int]:
        """Columns of the actuators."""
        return [k for k, j in enumerate(self.leg.moving) if self.leg.links[j].actuated]

    @property
    def passive(self) -> list[int]:
        """Columns of the other joints."""
        return [k for k in range(len(self.leg.moving)) if k not in self.driven]

    def to_world(self, x: SX) -> SX:
        """A vector or matrix column of the last link's axes, in world axes."""
        if self.world is not None:
            return mul(self.world, x)
        for j in reversed(self.chain):
            x = mul(self.R[j], x)
        return x

    def platform_wrench(self, multipliers: SX) -> SX:
        """(6,) force and moment, about the point where arms begin, of multipliers (m, 1) as they act on the leg, world axes."""
        force = ca.densify(self.to_world(mul(ca.horzcat(*[row.linear for row in self.rows]), multipliers)))
        moment = self.to_world(mul(ca.horzcat(*[row.angular for row in self.rows]), multipliers))
        return ca.vertcat(force, ca.densify(ca.cross(self.tip.arm, force) + moment))


def frame_at(platform: FrameMotion, about: SX) -> FrameMotion:
    """Motion of the platform's axes at a point (3,) of it, given in them."""
    if not sparse(about).nnz():
        return platform
    arm, w = ca.densify(mul(platform.R.expr, about)), platform.w.expr
    a = platform.a.expr + mul(field(w, platform.alpha.expr), arm)
    return replace(
        platform,
        p=Vec(platform.p.expr + arm, "W"),
        v=Vec(platform.v.expr + ca.cross(w, arm), "W"),
        a=Vec(a, "W"),
    )


def tip_of(leg: Leg, platform: FrameMotion, gravity: SX, arm: SX) -> TipTarget:
    """The point of the platform at `arm` (3,) from its origin, world axes: the leg's joint."""
    arm, w = ca.densify(arm), platform.w.expr
    return TipTarget(
        arm=arm,
        S=platform.p.expr + arm,
        v=platform.v.expr + ca.cross(w, arm),
        a=platform.a.expr - gravity + mul(field(w, platform.alpha.expr), arm),
    )


def _closed_form(
    b: TakesChecks, values: LinkValues, leg: Leg, choice: LegChoice, platform: FrameMotion, tip: TipTarget
) -> list[Position]:
    """(cos, sin) or displacement of each moving link in closed form."""
    signs = choice.signs or [values.scalar("root"), values.scalar("fold")]
    half = mul(platform.R.expr, values.rot(f"{leg.closing.joint}.on_platform.R"))
    return closed_positions(b, values, leg, signs, S=tip.S, half=half, row=choice.rows[-1])


def _by_newton(
    b: Equations, values: LinkValues, robot: Robot, index: int, platform: FrameMotion, guess: SX | None
) -> list[Position]:
    """(cos, sin) or displacement of each moving link by Newton's method from `guess`, or `guess` itself if solved."""
    leg, plain = robot.legs[index], Values(b, values.prefix, values._known)
    at = sum(len(other.moving) for other in robot.legs[:index])
    assert guess is not None
    start = [guess[at + k] for k in range(len(leg.moving))]
    solved = getattr(b, "solved", False)
    q = start if solved else solve_position(b, plain, leg, robot.plan.legs[index], platform_halves(plain, leg, platform), start)
    result: list[Position] = []
    for x, j in zip(q, leg.moving, strict=True):
        moved = x + values.scalar(f"{leg.links[j].coordinate}.zero")
        result.append((ca.cos(moved), ca.sin(moved)) if leg.links[j].kind == "R" else moved)
    return result


def link_leg(
    b: Equations, values: LinkValues, robot: Robot, index: int, platform: FrameMotion, guess: SX | None, *,
    massless: bool = False, about: SX = NONE, carried: SX = NO_MASS,
) -> LinkLeg:  # fmt: skip
    """A leg for a given motion of the platform.

    Args:
        values: below ``legs.<name>.``, with the constants of the leg's inner frames.
        platform: its motion; for forward dynamics with zero acceleration.
        massless: without the leg's inertia and weight.
        about: (3,) point of the platform, in its axes, where arms begin; carried: mass at its end that is the platform's.
    """
    leg, choice = robot.legs[index], robot.link_plan.legs[index]
    gravity = Values(b, "", values._known).vector("gravity", "W").expr
    frame = frame_at(platform, about)
    arm = sparse(values.vec(f"{leg.closing.joint}.on_platform.p") - about)
    tip = tip_of(leg, frame, gravity, mul(platform.R.expr, arm))
    if choice.closed:
        where = _closed_form(b, values, leg, choice, platform, tip)
    else:
        where = _by_newton(b, values, robot, index, platform, guess)
    return leg_that_meets(b, values, leg, choice, frame, tip, where=where, massless=massless, carried=carried)


def leg_that_meets(
    b: TakesChecks, values: LinkValues, leg: Leg, choice: LegChoice, platform: FrameMotion, tip: TipTarget, *,
    where: Sequence[Position], massless: bool = False, axes: SX | None = None, carried: SX = NO_MASS,
) -> LinkLeg:  # fmt: skip
    """A leg whose end has a given motion.

    Args:
        where: (cos, sin) or displacement of each moving link.
        axes: (3, 3) world axes from those in which `tip.v` and `tip.a` are given; None: world axes.
        carried: mass at its end that is the platform's.
    """
    gravity = Values(values.program, "", values._known).vector("gravity", "W").expr
    R, r = _frames(values, leg, where)
    world = last_axes(values, leg, where, tip.S) if choice.closed else None
    chain = list(reversed(ancestors(leg, leg.closing.link)))
    t = values.vec(f"{leg.closing.joint}.on_link.p")
    sliding = leg.closing.type in ("cylindrical", "prismatic")
    if sliding:  # the tip slides on the platform: its target is the point of the platform where it is now
        tip = tip_of(leg, platform, gravity, _tip(R, r, chain, t) - platform.p.expr)
    outward = _into_last_link(R, chain, world, axes)
    w, alpha = outward(platform.w.expr), outward(platform.alpha.expr)
    rows = _rows(values, leg, platform, outward)
    linear, angular = _twists(leg, R, r, chain, t)
    B = sparse(ca.vertcat(*[mul(row.linear.T, linear) + mul(row.angular.T, angular) for row in rows]))
    chosen, n = list(choice.rows), len(leg.moving)
    if not choice.closed and n:
        jumped = values.scalar("link_mode") * determinant(B[chosen, :]) < 0
        b.fail_if(jumped, "leg {leg} would have to leave the branch that it has at home", leg=leg.name)
    v = outward(tip.v)
    rates = [mul(row.linear.T, v) + (mul(row.angular.T, w) if row.axes else 0) for row in rows]
    qd = ca.densify(solve_blocks(B[chosen, :], ca.vertcat(*[rates[k] for k in chosen]))) if n else ca.SX(0, 1)
    weight = _weight(values, leg, where, gravity)
    at_rest = _motion(leg, R, r, qd, None, weight)
    wanted = outward(tip.a)
    if sliding:  # Coriolis
        wanted = wanted + 2 * cross(w, mul(linear, qd) - v)
    last = leg.closing.link
    gap = wanted - (at_rest.a[last] + mul(at_rest.U[last], t))
    drift = _drift(rows, gap, (at_rest.w[last], at_rest.alpha[last]), (w, alpha))
    qdd = ca.densify(solve_blocks(B[chosen, :], ca.vertcat(*[drift[k] for k in chosen]))) if n else ca.SX(0, 1)
    links = _motion(leg, R, r, qd, qdd, weight)
    if leg.closing.type == "spherical":  # the tip has the platform's acceleration: shorter than the recursion
        links.a[last] = sparse(wanted - mul(links.U[last], t))
    inertias = link_inertias(values, leg, carried)
    h = [ca.SX(0)] * n if massless else joint_forces(values, leg, R, r, links, qdd, inertias=inertias)
    return LinkLeg(
        leg=leg, choice=choice, tip=tip, R=R, r=r, chain=chain, rows=rows, B=B, drift=drift, qd=qd, qdd=qdd, links=links, h=h,
        inertias=inertias, world=world, outward=outward,
    )  # fmt: skip


def _frames(values: LinkValues, leg: Leg, where: Sequence[Position]) -> tuple[list[SX], list[SX]]:
    """R and r of every link."""
    R, r, moves = [], [], iter(where)
    for link in leg.links:
        rotation, place = values.rot(f"{link.coordinate}.R"), values.vec(f"{link.coordinate}.p")
        if link.kind == "R":
            rotation = mul(rotation, _about_z(*next(moves)))
        elif link.kind == "P":
            place = place + rotation[:, 2] * displacement(next(moves))
        R.append(sparse(rotation))
        r.append(sparse(place))
    return R, r


def _weight(values: LinkValues, leg: Leg, where: Sequence[Position], gravity: SX) -> dict[int, SX]:
    """Gravity in axes of every link on the base: components that the joint does not rotate are computed per parameter set."""
    moves, result = iter(where), {}
    for j, link in enumerate(leg.links):
        moved = next(moves) if link.kind != "fixed" else ()
        if link.parent < 0:
            seen = mul(values.rot(f"{link.coordinate}.R").T, gravity)
            result[j] = mul(_about_z(*moved).T, seen) if link.kind == "R" else seen
    return result


def _about_z(c: SX, s: SX) -> SX:
    """(3, 3) axes before a rotation about z from those after it."""
    return sparse(ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)))


def _into_last_link(R: Sequence[SX], chain: Sequence[int], world: SX | None, axes: SX | None) -> Callable[[SX], SX]:
    """World axes to axes of the last link, by `world` where it is known; with `axes` from those axes, by one matrix."""

    def outward(x: SX) -> SX:
        if world is not None:
            return mul(world.T, x)
        for j in chain:
            x = mul(R[j].T, x)
        return x

    if axes is None:
        return outward
    whole = outward(axes)
    return lambda x: mul(whole, x)


def _rows(values: LinkValues, leg: Leg, platform: FrameMotion, outward: Callable[[SX], SX]) -> list[TipRow]:
    """All rows of the closing joint, in axes of the last link."""
    joint, eye = leg.closing.joint, ca.SX.eye(3)
    on_link = values.rot(f"{joint}.on_link.R") if leg.closing.type != "spherical" else eye
    result = []
    for kind, i, *rest in ROWS[leg.closing.type]:
        if kind == "axes":
            on_platform = mul(platform.R.expr, values.rot(f"{joint}.on_platform.R"))
            a, c = outward(on_platform[:, int(i)]), on_link[:, int(rest[0])]
            result.append(TipRow(linear=NONE, angular=cross(c, a), axes=(a, c)))
        else:
            result.append(TipRow(linear=sparse((eye if kind == "point" else on_link)[:, int(i)]), angular=NONE))
    return result


def _tip(R: Sequence[SX], r: Sequence[SX], chain: Sequence[int], t: SX) -> SX:
    """The tip in the world."""
    for j in reversed(chain):
        t = r[j] + mul(R[j], t)
    return ca.densify(t)


def _twists(leg: Leg, R: Sequence[SX], r: Sequence[SX], chain: Sequence[int], t: SX) -> tuple[SX, SX]:
    """Velocity of the tip and angular velocity of the last link, in its axes, per unit rate of each joint: (3, n) each."""
    beyond = {chain[-1]: t}
    for j in reversed(chain[1:]):
        beyond[leg.links[j].parent] = sparse(r[j] + mul(R[j], beyond[j]))
    linear, angular = ca.SX(3, len(leg.moving)), ca.SX(3, len(leg.moving))
    for place, j in enumerate(chain):
        if leg.links[j].kind == "fixed":
            continue
        v, w = (cross(Z, beyond[j]), Z) if leg.links[j].kind == "R" else (Z, NONE)
        for k in chain[place + 1 :]:
            v, w = mul(R[k].T, v), mul(R[k].T, w)
        linear[:, leg.moving.index(j)], angular[:, leg.moving.index(j)] = v, w
    return sparse(linear), sparse(angular)


def _motion(leg: Leg, R: Sequence[SX], r: Sequence[SX], qd: SX, qdd: SX | None, weight: Mapping[int, SX]) -> Links:
    """The recursion outwards; `qdd` None for zero accelerations; `weight`: gravity in axes of every link on the base."""
    found = Links(w=[], alpha=[], U=[], a=[])
    for j, link in enumerate(leg.links):
        i = link.parent
        w, alpha = (found.w[i], found.alpha[i]) if i >= 0 else (NONE, NONE)
        w, alpha = mul(R[j].T, w), mul(R[j].T, alpha)
        a = mul(R[j].T, found.a[i] + mul(found.U[i], r[j])) if i >= 0 else -weight[j]
        if link.kind != "fixed":
            k = leg.moving.index(j)
            spin = Z * qd[k]
            if link.kind == "R":
                alpha = alpha + cross(w, spin) + (Z * qdd[k] if qdd is not None else 0)
                w = w + spin
            else:
                a = a + 2 * cross(w, spin) + (Z * qdd[k] if qdd is not None else 0)
        found.w.append(sparse(w))
        found.alpha.append(sparse(alpha))
        found.U.append(field(w, alpha))
        found.a.append(sparse(a))
    return found


def _drift(rows: Sequence[TipRow], gap: SX, last: tuple[SX, SX], platform: tuple[SX, SX]) -> list[SX]:
    """Right-hand side, per row, for the second derivative of the coordinates.

    Args:
        gap: acceleration that the tip must have, less that with q'' = 0.
        last, platform: angular velocity and acceleration of the last link with q'' = 0, and of the platform.
    """
    (w, alpha), (w_P, alpha_P) = last, platform
    result = []
    for row in rows:
        if row.axes is None:
            result.append(mul(row.linear.T, gap))
            continue
        a, c = row.axes
        wc, wa = cross(w, c), cross(w_P, a)
        change = mul(row.angular.T, alpha - alpha_P) + mul(cross(w, wc).T, a) + mul(sparse(c).T, cross(w_P, wa))
        result.append(-(change + 2 * mul(wc.T, wa)))
    return result
