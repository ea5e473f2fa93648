r"""Bodies of a robot without its rods: frames, unit velocities, motion and inertia.

Letters: a node's frame has its origin in its joint and z along the joint's axis; R world from node axes; b origin seen from the
carrier, in its axes; w angular velocity, :math:`U = \hat\alpha + \hat\omega\hat\omega` and a (less gravity) at zero accelerations
of all coordinates, node axes; c the same acceleration of the origin with gravity, world axes. m, S, I are mass, first moment and
tensor about the origin, node axes; they depend on parameters alone, the masses of rods included.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.link_tree import LinkBody
from flexapod.equations.model.algebra import LinkValues, Z, cross, field, mul, sparse, symmetric
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.robot.link_plan import inner_constants
from flexapod.robot.robot import Robot
from flexapod.robot.rods import PLATFORM, RodNode, RodPlan

NOTHING = ca.SX.zeros(3)


@dataclass(frozen=True, kw_only=True)
class Seat:
    """Placement of the axes of a body's link relative to its node: x_node = B (x - b)."""

    B: SX
    b: SX

    def point(self, x: SX) -> SX:
        """A point of the link."""
        return sparse(mul(self.B, sparse(x) - self.b))

    def axes(self, R: SX) -> SX:
        """Axes that are given in the link's."""
        return sparse(mul(self.B, R))


@dataclass(frozen=True, kw_only=True)
class Frames:
    """Frames of all nodes: R, p in the world; step and place: carrier axes from node axes, origin there."""

    R: list[SX]
    p: list[SX]
    step: list[SX]
    place: list[SX]


@dataclass(frozen=True, kw_only=True)
class NodeMotion:
    """w, alpha, U, a in node axes, c in world axes of all nodes; rotating: w, alpha and the origin's velocity in world axes of
    those on the platform; rates (w,)."""

    w: list[SX]
    alpha: list[SX]
    U: list[SX]
    a: list[SX]
    c: list[SX]
    rotating: list[tuple[SX, SX, SX] | None]
    rates: SX

    def acceleration(self, at: Frames, node: int, x: SX) -> SX:
        """Acceleration (3,) of a point x (node axes), world axes. On the platform by cross products, which velocities have in
        common; shorter than by U there."""
        if (rotating := self.rotating[node]) is None:
            return self.c[node] + ca.densify(mul(at.R[node], mul(self.U[node], x)))
        (w, alpha, _), r = rotating, ca.densify(mul(at.R[node], x))
        return self.c[node] + ca.cross(w, ca.cross(w, r)) + ca.cross(alpha, r)

    def velocity(self, at: Frames, node: int, x: SX, J: SX) -> SX:
        """Velocity (3,) of a point x (node axes), J (3, w) its columns, world axes."""
        if (rotating := self.rotating[node]) is None:
            return ca.densify(mul(J, self.rates))
        return rotating[2] + ca.cross(rotating[0], ca.densify(mul(at.R[node], x)))


Pull = tuple[SX, SX]
"""Force (3,) and moment (3,) about the origin of a node, world axes."""


class RodTree:
    """The numbers of a robot of rods as a program reads them.

    Args:
        values: of the whole robot.
    """

    def __init__(self, values: LinkValues, robot: Robot, plan: RodPlan) -> None:
        self.robot, self.plan = robot, plan
        self.values = values
        self.legs = [values.below(f"legs.{leg.name}", dict(inner_constants(leg))) for leg in robot.legs]
        self.gravity = ca.densify(values.vec("gravity"))
        self.seats = [self._seat(node) for node in plan.nodes]

    def _seat(self, node: RodNode) -> Seat:
        if node.hinge is None:
            return Seat(B=sparse(ca.SX.eye(3)), b=ca.SX(3, 1))
        i, closing = node.hinge
        name = f"{closing.joint}.on_{'link' if node.reversed else 'platform'}"
        return Seat(B=self.legs[i].rot(f"{name}.R").T, b=self.legs[i].vec(f"{name}.p"))

    def joint(self, node: RodNode) -> tuple[SX, SX]:
        """Axes and place of a node's joint in its carrier, at coordinate zero."""
        if node.hinge is None:
            i, link = node.place
            name = self.robot.legs[i].links[link].coordinate
            R, p = self.legs[i].rot(f"{name}.R"), self.legs[i].vec(f"{name}.p")
        else:
            i, closing = node.hinge
            name = f"{closing.joint}.on_{'platform' if node.reversed else 'link'}"
            R, p = self.legs[i].rot(f"{name}.R"), self.legs[i].vec(f"{name}.p")
        if node.parent is None:
            return R, p
        seat = self.seats[node.parent]
        return seat.axes(R), seat.point(p)

    def frames(self, p: SX, R: SX, q: Sequence[SX]) -> Frames:
        """Frames at a pose of the platform and coordinates q of the moving nodes."""
        found = Frames(R=[R], p=[p], step=[R], place=[p])
        moves = iter(q)
        for node in self.plan.nodes[1:]:
            step, place = self.joint(node)
            if node.kind != "fixed":
                x = next(moves) + self._of_joint(node, "zero")
                if node.kind == "R":
                    c, s = ca.cos(x), ca.sin(x)
                    step = mul(step, sparse(ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))))
                else:
                    place = place + step[:, 2] * x
            R_c, p_c = (ca.SX.eye(3), NOTHING) if node.parent is None else (found.R[node.parent], found.p[node.parent])
            found.step.append(step)
            found.place.append(place)
            found.R.append(mul(R_c, step))
            found.p.append(p_c + ca.densify(mul(R_c, place)))
        return found

    def _of_joint(self, node: RodNode, name: str) -> SX:
        """A number of a node's joint in the file; hinges of rods have none."""
        if node.hinge is not None:
            return ca.SX(0)
        i, link = node.place
        return self.legs[i].scalar(f"{self.robot.legs[i].links[link].coordinate}.{name}")

    def columns(self, at: Frames, node: int | None, point: SX, held: Collection[int] = ()) -> tuple[SX, SX]:
        """Velocity (3, w) of a world point of a node and its angular velocity (3, w) per unit rate of every column but those of
        `held` nodes."""
        plan = self.plan
        J, W = (ca.SX(3, 6 + len(plan.moving)) for _ in range(2))
        for k in (k for k in plan.path(node) if k not in held):
            kind = plan.nodes[k].kind
            if kind == "free":
                J[:, :3], J[:, 3:6], W[:, 3:6] = sparse(ca.SX.eye(3)), sparse(-ca.skew(point - at.p[0])), sparse(ca.SX.eye(3))
            elif kind != "fixed":
                z = at.R[k][:, 2]
                if kind == "P":
                    J[:, plan.column(k)] = z
                else:
                    J[:, plan.column(k)], W[:, plan.column(k)] = cross(z, point - at.p[k]), z
        return J, W

    def motion(self, at: Frames, rates: SX) -> NodeMotion:
        """Motion of all nodes at rates (w,), all accelerations zero."""
        plan, still = self.plan, ca.SX(3, 1)
        R, w = at.R[0], rates[3:6]
        spin = mul(R.T, w)
        found = NodeMotion(
            w=[spin], alpha=[still], U=[field(spin, still)], a=[mul(R.T, -self.gravity)], c=[NOTHING],
            rotating=[(w, NOTHING, rates[:3])], rates=rates,
        )  # fmt: skip
        for k, node in enumerate(plan.nodes[1:], 1):
            i, step, place = node.parent, at.step[k], at.place[k]
            before = None if i is None else (found.w[i], found.alpha[i], found.U[i], found.a[i])
            w, alpha, U, a = before or (still, still, ca.SX(3, 3), -self.gravity)
            w, alpha, a = mul(step.T, w), mul(step.T, alpha), mul(step.T, a + mul(U, place))
            c, rotating = (NOTHING, None) if i is None else (found.acceleration(at, i, place), found.rotating[i])
            if rotating is not None and i is not None:
                W, A, v = rotating
                v, z = v + ca.cross(W, at.p[k] - at.p[i]), ca.densify(at.R[k][:, 2])
                if node.kind == "R":
                    along = z * rates[plan.column(k)]
                    A, W = A + ca.cross(W, along), W + along
                rotating = W, A, v + (z * rates[plan.column(k)] if node.kind == "P" else 0)
            if node.kind == "R":
                spun = Z * rates[plan.column(k)]
                w, alpha = w + spun, alpha + cross(w, spun)
            elif node.kind == "P":
                coriolis = 2 * cross(w, Z * rates[plan.column(k)])
                a, c = a + coriolis, c + ca.densify(mul(at.R[k], coriolis))
            found.w.append(sparse(w))
            found.alpha.append(sparse(alpha))
            found.U.append(field(w, alpha))
            found.a.append(sparse(a))
            found.c.append(c)
            found.rotating.append(rotating)
        return found

    def bodies(self, masses: Sequence[Sequence[tuple[SX, SX]]]) -> list[LinkBody]:
        """Every node's own body, with masses at points of it: per node (mass, point in node axes). Parameters alone."""
        return [self._body(node, own) for node, own in zip(self.plan.nodes, masses, strict=True)]

    def _body(self, node: RodNode, masses: Sequence[tuple[SX, SX]]) -> LinkBody:
        m, S, I = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3, 3)
        name, values = self._own(node)
        if name is not None:
            seat = self.seats[self.plan.nodes.index(node)]
            m, first, I = values.scalar(f"{name}.mass"), values.vec(f"{name}.first_moment"), tensor(values, f"{name}.inertia")
            mixed = mul(seat.b, (m * seat.b - 2 * first).T)  # Steiner, from the link's origin to the joint
            about = I + ca.trace(mixed) * ca.SX.eye(3) - (mixed + mixed.T) / 2
            S, I = ca.densify(mul(seat.B, first - m * seat.b)), symmetric(mul(mul(seat.B, about), seat.B.T))
        body = LinkBody(m=m, S=S, I=I)
        for mass, x in masses:
            body = body.with_mass(mass, x)
        return body

    def _own(self, node: RodNode) -> tuple[str | None, LinkValues]:
        if node.place == PLATFORM:
            return "platform", self.values
        i, link = node.place
        own = self.robot.legs[i].links[link]
        return (f"{own.coordinate}.body" if own.body is not None else None), self.legs[i]

    def mass_matrix(self, at: Frames, bodies: Sequence[LinkBody]) -> SX:
        """Mass matrix (w, w): a unit acceleration of a coordinate needs a wrench, which acts on every carrier on the way
        inwards."""
        plan, size = self.plan, 6 + len(self.plan.moving)
        M, whole = ca.SX(size, size), list(bodies)
        for k in reversed(range(1, len(plan.nodes))):
            if (i := plan.nodes[k].parent) is not None:
                whole[i] = whole[i] + whole[k].carried(at.step[k], at.place[k])
        for k in plan.moving:
            body, kind, column = whole[k], plan.nodes[k].kind, plan.column(k)
            f, n = (cross(Z, body.S), body.I[:, 2]) if kind == "R" else (Z * body.m, cross(body.S, Z))
            M[column, column] = self._of_joint(plan.nodes[k], "rotor")
            j: int | None = k
            while j is not None:
                node = plan.nodes[j]
                if node.kind == "free":
                    M[:6, column] = ca.densify(ca.vertcat(mul(at.R[0], f), mul(at.R[0], n)))
                    M[column, :6] = M[:6, column].T
                    break
                if node.kind != "fixed":
                    row = plan.column(j)
                    M[row, column] = M[column, row] = M[row, column] + (n[2] if node.kind == "R" else f[2])
                f = mul(at.step[j], f)
                n = mul(at.step[j], n) + cross(at.place[j], f)
                j = node.parent
        hat, R = ca.skew(ca.densify(mul(at.R[0], whole[0].S))), at.R[0]
        I = symmetric(mul(mul(R, whole[0].I), R.T))
        M[:6, :6] = ca.vertcat(ca.horzcat(whole[0].m * sparse(ca.SX.eye(3)), sparse(hat.T)), ca.horzcat(sparse(hat), I))
        return M

    def forces(self, at: Frames, motion: NodeMotion, bodies: Sequence[LinkBody], pulls: Sequence[Pull]) -> SX:
        """Forces (w,) that the motion needs, weight included; `pulls`: further forces and moments at every node."""
        plan, h = self.plan, ca.SX.zeros(6 + len(self.plan.moving))
        demanded = [body.demanded(U, a) for body, U, a in zip(bodies, motion.U, motion.a, strict=True)]
        f, n = ([each[k] for each in demanded] for k in range(2))
        outside = list(pulls)
        for k in reversed(range(1, len(plan.nodes))):
            node, (force, moment) = plan.nodes[k], outside[k]
            if node.kind != "fixed":
                pulled = ca.dot(at.R[k][:, 2], moment if node.kind == "R" else force)
                h[plan.column(k)] = ca.densify(n[k] if node.kind == "R" else f[k])[2] + pulled
            if (i := node.parent) is not None:
                arm, below = at.p[k] - at.p[i], outside[i]
                outside[i] = below[0] + force, below[1] + moment + ca.cross(arm, force)
                force = mul(at.step[k], f[k])
                f[i] = f[i] + force
                n[i] = n[i] + mul(at.step[k], n[k]) + cross(at.place[k], force)
        h[:3], h[3:6] = (ca.densify(mul(at.R[0], own[0])) + pulled for own, pulled in zip((f, n), outside[0], strict=True))
        return h
