r"""Rods that are alike in loops of plain arithmetic, which compilers of C turn into vector instructions (`map_in_layers`).

The formulas of `rod`, for rods whose first body rotates about their universal joint's first axis alone or only slides. Rods
between the same two bodies are a group, as those of a parallelogram; every group is a column of numbers, and what its rods add
to the same place is summed there. Columns of the ends: those of the near path (to the base), s from the platform's origin, those
of the nodes between the platform and S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.projection import projected_mass
from flexapod.equations.model.algebra import mul, sparse
from flexapod.equations.rods.rod import RodValues, rotates_across
from flexapod.equations.rods.tree_without_rods import Frames, NodeMotion, RodTree
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.layers import map_in_layers
from flexapod.robot.rods import Rod


def have_same_joints(tree: RodTree, rods: Sequence[tuple[Rod, RodValues]]) -> bool:
    """Rods that one loop can evaluate: the same joints on the way to both ends, on the base and on the platform."""
    nodes = tree.plan.nodes

    def ways(rod: Rod) -> tuple[tuple[str, ...], ...]:
        paths = (tree.plan.path(rod.near), tree.plan.path(rod.far))
        return tuple(tuple(nodes[k].kind for k in path if nodes[k].kind != "fixed") for path in paths)

    shapes = {ways(rod) for rod, _ in rods}
    if len(shapes) > 1 or any(rotates_across(tree, rod, values) for rod, values in rods):
        return False
    near, far = next(iter(shapes))
    return "free" not in near and far[-1] == "free"


def groups(rods: Sequence[Rod]) -> list[list[int]]:
    """Numbers of the rods between the same two bodies; of each rod alone where groups differ in size or are odd in number, which
    does not fill vectors of two."""
    found: dict[tuple[int, int], list[int]] = {}
    for i, rod in enumerate(rods):
        found.setdefault((rod.near, rod.far), []).append(i)
    sizes = {len(group) for group in found.values()}
    return list(found.values()) if len(sizes) == 1 and len(found) % 2 == 0 else [[i] for i in range(len(rods))]


class SymbolColumns:
    """Named columns of symbols of one group, and their values side by side for all groups."""

    def __init__(self) -> None:
        self.each: list[tuple[SX, SX]] = []
        self.shared: list[tuple[SX, SX]] = []
        self._known: dict[tuple[int, ...], SX] = {}

    def of_each(self, name: str, values: Sequence[SX]) -> SX:
        """A symbol that has a value (k,) for each group; the one that has these values already."""
        whole = ca.horzcat(*[ca.densify(ca.SX(x)) for x in values])
        key = tuple(whole[i].element_hash() for i in range(whole.numel()))
        if key not in self._known:
            self._known[key] = ca.SX.sym(name, whole.shape[0])
            self.each.append((self._known[key], whole))
        return self._known[key]

    def of_all(self, name: str, value: SX) -> SX:
        """A symbol that has one value (k,) for all."""
        symbol = ca.SX.sym(name, value.numel())
        self.shared.append((symbol, ca.densify(value)))
        return symbol

    def mapped(self, b: Builder, outputs: Sequence[SX], count: int) -> list[SX]:
        """Outputs (k, count) of expressions of the symbols."""
        return list(map_in_layers(b, [ca.densify(x) for x in outputs], count, each=self.each, shared=self.shared))


@dataclass(frozen=True, kw_only=True)
class RodsAt:
    """One rod of every group at a configuration, a column each: r from the origin of the node of S, d, e x d, k, delta, gain.

    Args:
        rows, spins: (6 + near + far, groups): root, near, far.
        residuals: (1, groups).
        near: per moving node of the near path, velocities (3, groups) of U per unit rate.
    """

    r: SX
    d: SX
    across: SX
    k: SX
    delta: SX
    gain: SX
    rows: SX
    spins: SX
    residuals: SX
    near: list[SX]


class RodsInLoops:
    """All rods of a robot.

    Args:
        b: builder of the body that the loops are in.
    """

    def __init__(self, b: Builder, tree: RodTree, rods: Sequence[tuple[Rod, RodValues]], at: Frames) -> None:
        self.b, self.tree, self.at = b, tree, at
        self.rods = [[rods[i] for i in group] for group in groups([rod for rod, _ in rods])]
        self.places = [(g, i) for g, group in enumerate(self.rods) for i in range(len(group))]
        self.places = sorted(self.places, key=lambda place: rods.index(self.rods[place[0]][place[1]]))
        self.count, self.size = len(self.rods), len(self.rods[0])
        kinds = [node.kind for node in tree.plan.nodes]
        self.near, self.far = (
            [[k for k in tree.plan.path(node) if kinds[k] in ("R", "P")] for node in nodes]
            for nodes in ([group[0][0].near for group in self.rods], [group[0][0].far for group in self.rods])
        )
        self.now, self.couplings = self._geometry()
        self._found: list[SX] | None = None

    def _ends(self, c: SymbolColumns, paths: Sequence[Sequence[int]], point: SX, name: str) -> list[SX]:
        """Velocities (3,) of a point per unit rate of the nodes of its path."""
        found = []
        for i in range(len(paths[0])):
            z = c.of_each(f"z_{name}{i}", [self.at.R[path[i]][:, 2] for path in paths])
            if self.tree.plan.nodes[paths[0][i]].kind == "P":
                found.append(z)
            else:
                found.append(ca.cross(z, point - c.of_each(f"o_{name}{i}", [self.at.p[path[i]] for path in paths])))
        return found

    def _geometry(self) -> tuple[list[RodsAt], list[SX]]:
        """All rods of the groups, and per near node (6 + far, groups) masses with root and far columns."""
        c, at, outputs, couplings = SymbolColumns(), self.at, [], [ca.SX(0)] * len(self.near[0])
        for i, rods in enumerate(zip(*self.rods, strict=True)):
            U, S = (
                c.of_each(f"{name}{i}", [at.p[node] + ca.densify(mul(at.R[node], x)) for node, x in ends])
                for name, ends in (("U", [(r.near, v.near) for r, v in rods]), ("S", [(r.far, v.far) for r, v in rods]))
            )
            e = c.of_each(f"e{i}", [ca.densify(mul(at.R[rod.near], v.e)) for rod, v in rods])
            square, length, m = (c.of_each(f"{name}{i}", x) for name, x in (
                ("square", [v.square for _, v in rods]), ("length", [ca.sqrt(v.square) for _, v in rods]),
                ("m", [v.m_SU for _, v in rods])))  # fmt: skip
            d, s, r = S - U, S - c.of_all("p", at.p[0]), S - c.of_each("o", [at.p[rod.far] for rod, _ in rods])
            near, far = self._ends(c, self.near, U, "near"), self._ends(c, self.far, S, "far")
            k, across = ca.dot(d, e), ca.cross(e, d)
            delta = square - k * k
            rows, spins = (
                ca.vertcat(f, ca.cross(s, f), *[-ca.dot(f, x) for x in near], *[ca.dot(f, x) for x in far]) for f in (d, across)
            )  # f . (v_S - v_U) per unit rate of root, near and far columns
            outputs += [r, d, across, k, delta, k / (length * delta), rows, spins, (ca.dot(d, d) - square) / 2, *near]
            for j, x in enumerate(near):
                couplings[j] += ca.vertcat(m * x, ca.cross(s, m * x), *[ca.dot(m * x, y) for y in far])
        found = c.mapped(self.b, [*outputs, *couplings], self.count)
        own, each = found[: len(outputs)], len(outputs) // self.size
        parts = [own[i * each : (i + 1) * each] for i in range(self.size)]
        names = ("r", "d", "across", "k", "delta", "gain", "rows", "spins", "residuals")
        now = [RodsAt(**dict(zip(names, part, strict=False)), near=part[len(names) :]) for part in parts]
        return now, found[len(outputs) :]

    def columns(self, g: int) -> list[int]:
        """Columns of w that the entries of `rows` and `spins` of group g belong to."""
        return [*range(6), *(self.tree.plan.column(k) for k in (*self.near[g], *self.far[g]))]

    def rows(self) -> tuple[list[SX], list[SX]]:
        """Row (1, w) and residual of every rod."""
        size, found = 6 + len(self.tree.plan.moving), []
        for g, i in self.places:
            row = ca.SX(1, size)
            row[0, self.columns(g)] = self.now[i].rows[:, g].T
            found.append(row)
        return found, [self.now[i].residuals[0, g] for g, i in self.places]

    def drifts(self, motion: NodeMotion) -> list[SX]:
        """Second derivative of every row at zero accelerations."""
        return [self._moving(motion)[i][0, g] for g, i in self.places]

    def _moving(self, motion: NodeMotion) -> list[SX]:
        """Drifts (1,) per rod of a group; forces F_S (3,), their moment about the origin of the node of S (3,) and near
        columns . F_U per group."""
        if self._found is not None:
            return self._found
        c, at, plan = SymbolColumns(), self.at, self.tree.plan
        paths = self.near
        rates = [c.of_each(f"rate{j}", [motion.rates[plan.column(path[j])] for path in paths]) for j in range(len(paths[0]))]
        rotating = [motion.rotating[group[0][0].far] for group in self.rods]
        w, alpha, v_o = (c.of_each(name, [x[j] for x in rotating if x is not None]) for j, name in enumerate(("w", "alpha", "v")))
        c_o, g = c.of_each("c", [motion.c[group[0][0].far] for group in self.rods]), c.of_all("g", self.tree.gravity)
        drifts, force, moment, felt = [], ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(len(rates))
        for i, (rods, now) in enumerate(zip(zip(*self.rods, strict=True), self.now, strict=True)):
            r, d, across, k, delta, gain = (
                c.of_each(f"{name}{i}", ca.horzsplit(getattr(now, name))) for name in ("r", "d", "across", "k", "delta", "gain")
            )
            near = [c.of_each(f"near{j}{i}", ca.horzsplit(x)) for j, x in enumerate(now.near)]
            drives = c.of_each(f"c_U{i}", [motion.acceleration(at, rod.near, v.near) for rod, v in rods])
            e = c.of_each(f"e{i}", [ca.densify(mul(at.R[rod.near], v.e)) for rod, v in rods])
            length, axial, m = (c.of_each(f"{name}{i}", x) for name, x in (
                ("L", [ca.sqrt(v.square) for _, v in rods]), ("I", [v.axial for _, v in rods]),
                ("m", [v.m_SU for _, v in rods])))  # fmt: skip
            spun = ca.cross(w, r)
            dd = v_o + spun - sum((x * rate for x, rate in zip(near, rates, strict=True)), ca.SX.zeros(3))
            c_S = c_o + ca.cross(w, spun) + ca.cross(alpha, r)
            ddd = c_S - drives
            kd, tau = ca.dot(dd, e), ca.dot(across, dd)
            spin = gain * tau
            grown = gain * ca.dot(across, ddd) + kd * (tau / length + 2 * k * spin) / delta
            F = (axial * grown * gain) * across + (axial / (length * length * length) * spin) * ca.cross(dd, d)
            F_U, F_S = m * (c_S - g) - F, m * (drives - g) + F
            drifts.append(ca.dot(d, ddd) + ca.dot(dd, dd))
            force, moment = force + F_S, moment + ca.cross(r, F_S)
            felt += ca.vertcat(*[ca.dot(x, F_U) for x in near])
        self._found = c.mapped(self.b, [*drifts, force, moment, felt], self.count)
        return self._found

    def forces(self, motion: NodeMotion) -> tuple[list[tuple[SX, SX]], SX]:
        """Force and moment (3,) about the origin of every node, and forces (w,) along the near columns."""
        plan = self.tree.plan
        F, moment, felt = self._moving(motion)[self.size :]
        pulls, h = [(ca.SX.zeros(3), ca.SX.zeros(3)) for _ in plan.nodes], ca.SX.zeros(6 + len(plan.moving))
        for g, group in enumerate(self.rods):
            far = group[0][0].far
            pulls[far] = pulls[far][0] + F[:, g], pulls[far][1] + moment[:, g]
            for j, k in enumerate(self.near[g]):
                h[plan.column(k)] += felt[j, g]
        return pulls, h

    def projected(self, M: SX, h: SX, N: SX, beta: SX) -> tuple[SX, SX]:
        r"""N^T M N (v, v) and :math:`N^T(h + M\beta)` (v,) with the contributions of rods to M.

        Of every near column, with :math:`\dot q = x\dot v` and y half its inertia times x and its masses with other columns, a
        group adds :math:`x^Ty + y^Tx`, every rod the square of its spin.
        """
        plan, c, n = self.tree.plan, SymbolColumns(), N.shape[1]
        slope: SX = ca.densify(ca.horzcat(N, beta))
        root = ca.reshape(c.of_all("root", ca.vec(slope[:6, :])), 6, n + 1)
        own = [[plan.column(k) for k in path] for path in self.near]
        x, far = (
            [c.of_each(f"{name}{j}", [slope[columns[j], :].T for columns in places]) for j in range(len(places[0]))]
            for name, places in (("x", own), ("far", [[plan.column(k) for k in path] for path in self.far]))
        )

        def along(row: SX) -> SX:
            """(v + 1,) a row by root and far columns along N and beta."""
            return ca.mtimes(row[:6].T, root).T + sum((row[6 + j] * f for j, f in enumerate(far)), ca.SX.zeros(n + 1))

        M, h, inertia, felt = self._own(M, h, own)
        pairs = [(i, j) for i in range(n) for j in range(i + 1)] + [(i, n) for i in range(n)]
        added = ca.SX.zeros(len(pairs))
        for j, own_x in enumerate(x):
            y = along(c.of_each(f"m{j}", ca.horzsplit(self.couplings[j]))) + c.of_each(f"M{j}", inertia[j]) * own_x
            added += ca.vertcat(*[2 * y[i] * own_x[i] if i == k else y[i] * own_x[k] + y[k] * own_x[i] for i, k in pairs])
            added[-n:] += c.of_each(f"h{j}", felt[j]) * own_x[:n]
        for i, (rods, now) in enumerate(zip(zip(*self.rods, strict=True), self.now, strict=True)):
            sigma, gain = c.of_each(f"sigma{i}", ca.horzsplit(now.spins)), c.of_each(f"gain{i}", ca.horzsplit(now.gain))
            spin = along(ca.vertcat(sigma[:6], sigma[6 + len(x) :]))
            spin += sum((sigma[6 + j] * each for j, each in enumerate(x)), ca.SX.zeros(n + 1))
            weighted = c.of_each(f"I{i}", [v.axial for _, v in rods]) * gain * gain * spin
            added += ca.vertcat(*[weighted[i] * spin[k] for i, k in pairs])
        (found,) = c.mapped(self.b, [added], self.count)
        total: SX = ca.sum2(found)
        P = projected_mass(M, N[list(plan.bound), :], plan.independent, plan.bound)
        for k, (i, j) in enumerate(pairs[:-n]):
            P[i, j] = P[j, i] = P[i, j] + total[k]
        return P, ca.densify(mul(N.T, h + ca.densify(mul(M, beta)))) + total[len(pairs) - n :]

    def _own(self, M: SX, h: SX, own: Sequence[Sequence[int]]) -> tuple[SX, SX, list[list[SX]], list[list[SX]]]:
        """M and h without the near columns' own inertia and force; half of it and the force per near node and group, where
        several groups have a node of the first one."""
        M, h, seen = ca.SX(M), ca.SX(h), set[int]()
        inertia: list[list[SX]] = [[] for _ in own[0]]
        felt: list[list[SX]] = [[] for _ in own[0]]
        for columns in own:
            for j, column in enumerate(columns):
                first = column not in seen
                inertia[j].append(M[column, column] / 2 if first else ca.SX(0))
                felt[j].append(h[column] if first else ca.SX(0))
                seen.add(column)
        for column in seen:
            M[column, column], h[column] = 0, 0
        return sparse(M), h, inertia, felt
