r"""Rods that are alike in loops of plain arithmetic, which compilers of C turn into vector instructions (`map_in_layers`).

The formulas of `rod`, for rods whose first body rotates about their universal joint's first axis alone or only slides: every
rod is a column of numbers. Columns of its ends: those of the near path (to the base), s from the platform's origin, those of the
nodes between the platform and S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import mul
from flexapod.equations.rods.rod import RodValues, rotates_across
from flexapod.equations.rods.tree import Frames, Motion, RodTree
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.layers import map_in_layers
from flexapod.robot.rods import Rod


def alike(tree: RodTree, rods: Sequence[tuple[Rod, RodValues]]) -> bool:
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


class Columns:
    """Named columns of symbols of one rod, and their values side by side for all rods."""

    def __init__(self) -> None:
        self.each: list[tuple[SX, SX]] = []
        self.shared: list[tuple[SX, SX]] = []
        self._known: dict[tuple[int, ...], SX] = {}

    def of_each(self, name: str, values: Sequence[SX]) -> SX:
        """A symbol that has a value (k,) for each rod; the one that has these values already."""
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

    def mapped(self, b: Builder, outputs: Sequence[SX], count: int) -> list[Any]:
        """Outputs (k, count) of expressions of the symbols."""
        return list(map_in_layers(b, [ca.densify(x) for x in outputs], count, each=self.each, shared=self.shared))


@dataclass(frozen=True, kw_only=True)
class RodsAt:
    """Rods at a configuration, a column each: S, d, e x d, k, delta, gain, and the columns of their ends.

    Args:
        near, far: per moving node of the paths, velocities (3, rods) of U and S per unit rate.
        rows, spins: (6 + near + far, rods) of their rows and spins: root, near, far.
        coupling: per near node, (6 + far, rods) masses with root and far columns.
    """

    S: Any
    d: Any
    across: Any
    k: Any
    delta: Any
    gain: Any
    near: list[Any]
    far: list[Any]
    rows: Any
    spins: Any
    coupling: list[Any]
    residuals: Any


class RodsInLoops:
    """All rods of a robot.

    Args:
        b: builder of the body that the loops are in.
    """

    def __init__(self, b: Builder, tree: RodTree, rods: Sequence[tuple[Rod, RodValues]], at: Frames) -> None:
        self.b, self.tree, self.rods, self.at = b, tree, rods, at
        self.count = len(rods)
        kinds = [node.kind for node in tree.plan.nodes]
        self.near, self.far = (
            [[k for k in tree.plan.path(node) if kinds[k] in ("R", "P")] for node in nodes]
            for nodes in ([rod.near for rod, _ in rods], [rod.far for rod, _ in rods])
        )
        self.now = self._geometry()
        self._found: list[Any] | None = None

    def _ends(self, c: Columns, paths: Sequence[Sequence[int]], point: SX, name: str) -> list[SX]:
        """Velocities (3,) of a point per unit rate of the nodes of its path."""
        found = []
        for i in range(len(paths[0])):
            z = c.of_each(f"z_{name}{i}", [self.at.R[path[i]][:, 2] for path in paths])
            if self.tree.plan.nodes[paths[0][i]].kind == "P":
                found.append(z)
            else:
                found.append(ca.cross(z, point - c.of_each(f"o_{name}{i}", [self.at.p[path[i]] for path in paths])))
        return found

    def _geometry(self) -> RodsAt:
        c, at = Columns(), self.at
        U, S = (
            c.of_each(name, [at.p[node] + ca.densify(mul(at.R[node], x)) for node, x in ends])
            for name, ends in (("U", [(r.near, v.near) for r, v in self.rods]), ("S", [(r.far, v.far) for r, v in self.rods]))
        )
        e = c.of_each("e", [ca.densify(mul(at.R[rod.near], v.e)) for rod, v in self.rods])
        square, length, m = (c.of_each(*x) for x in (
            ("square", [v.square for _, v in self.rods]), ("length", [ca.sqrt(v.square) for _, v in self.rods]),
            ("m", [v.m_SU for _, v in self.rods])))  # fmt: skip
        d, s = S - U, S - c.of_all("p", at.p[0])
        near, far = self._ends(c, self.near, U, "near"), self._ends(c, self.far, S, "far")
        k, across = ca.dot(d, e), ca.cross(e, d)
        delta = square - k * k

        def by_columns(f: SX) -> SX:
            """f . (v_S - v_U) per unit rate of root, near and far columns."""
            return ca.vertcat(f, ca.cross(s, f), *[-ca.dot(f, x) for x in near], *[ca.dot(f, x) for x in far])

        coupling = [ca.vertcat(m * x, ca.cross(s, m * x), *[ca.dot(m * x, y) for y in far]) for x in near]
        outputs = [S, d, across, k, delta, k / (length * delta), by_columns(d), by_columns(across), (ca.dot(d, d) - square) / 2]
        found = c.mapped(self.b, [*outputs, *near, *far, *coupling], self.count)
        own, n = found[len(outputs) :], len(near)
        return RodsAt(
            S=found[0], d=found[1], across=found[2], k=found[3], delta=found[4], gain=found[5], rows=found[6], spins=found[7],
            residuals=found[8], near=own[:n], far=own[n : n + len(far)], coupling=own[n + len(far) :],
        )  # fmt: skip

    def columns(self, i: int) -> list[int]:
        """Columns of w that the entries of `rows` and `spins` of rod i belong to."""
        return [*range(6), *(self.tree.plan.column(k) for k in (*self.near[i], *self.far[i]))]

    def rows(self) -> tuple[list[SX], list[SX]]:
        """Row (1, w) and residual of every rod."""
        size, found = 6 + len(self.tree.plan.moving), []
        for i in range(self.count):
            row = ca.SX(1, size)
            row[0, self.columns(i)] = self.now.rows[:, i].T
            found.append(row)
        return found, [self.now.residuals[0, i] for i in range(self.count)]

    def drifts(self, motion: Motion) -> list[SX]:
        """Second derivative of every row at zero accelerations."""
        return [self._moving(motion)[0][0, i] for i in range(self.count)]

    def _moving(self, motion: Motion) -> list[Any]:
        """Drifts (1,), and forces F_S (3,), its moment about the origin of the node of S (3,), near columns . F_U, per rod."""
        if self._found is not None:
            return self._found
        c, at, now, plan = Columns(), self.at, self.now, self.tree.plan
        S, d, across, k, delta, gain = (
            c.of_each(name, ca.horzsplit(x))
            for name, x in (("S", now.S), ("d", now.d), ("x", now.across), ("k", now.k), ("delta", now.delta), ("gain", now.gain))
        )
        near = [c.of_each(f"near{j}", ca.horzsplit(x)) for j, x in enumerate(now.near)]
        rates = [c.of_each(f"rate{j}", [motion.rates[plan.column(path[j])] for path in self.near]) for j in range(len(near))]
        drives = c.of_each("c_U", [motion.acceleration(at, rod.near, v.near) for rod, v in self.rods])
        e = c.of_each("e", [ca.densify(mul(at.R[rod.near], v.e)) for rod, v in self.rods])
        rotating = [motion.rotating[rod.far] for rod, _ in self.rods]
        w, alpha, v_o = (c.of_each(name, [x[j] for x in rotating if x is not None]) for j, name in enumerate(("w", "alpha", "v")))
        c_o, o = (c.of_each(name, [x[rod.far] for rod, _ in self.rods]) for name, x in (("c", motion.c), ("o", at.p)))
        length, axial, m = (c.of_each(*x) for x in (
            ("L", [ca.sqrt(v.square) for _, v in self.rods]), ("I", [v.axial for _, v in self.rods]),
            ("m", [v.m_SU for _, v in self.rods])))  # fmt: skip
        g, r = c.of_all("g", self.tree.gravity), S - o
        spun = ca.cross(w, r)
        dd = v_o + spun - sum((x * rate for x, rate in zip(near, rates, strict=True)), ca.SX.zeros(3))
        c_S = c_o + ca.cross(w, spun) + ca.cross(alpha, r)
        ddd = c_S - drives
        kd, tau = ca.dot(dd, e), ca.dot(across, dd)
        spin = gain * tau
        grown = gain * ca.dot(across, ddd) + kd * (tau / length + 2 * k * spin) / delta
        force = (axial * grown * gain) * across + (axial / (length * length * length) * spin) * ca.cross(dd, d)
        F_U, F_S = m * (c_S - g) - force, m * (drives - g) + force
        outputs = [ca.dot(d, ddd) + ca.dot(dd, dd), F_S, ca.cross(r, F_S), *[ca.dot(x, F_U) for x in near]]
        self._found = c.mapped(self.b, outputs, self.count)
        return self._found

    def forces(self, motion: Motion) -> tuple[list[tuple[SX, SX]], SX]:
        """Force and moment (3,) about the origin of every node, and (w,) what the near columns feel."""
        plan = self.tree.plan
        _, F, moment, *near = self._moving(motion)
        pulls, h = [(ca.SX.zeros(3), ca.SX.zeros(3)) for _ in plan.nodes], ca.SX.zeros(6 + len(plan.moving))
        for i, (rod, _) in enumerate(self.rods):
            pulls[rod.far] = pulls[rod.far][0] + F[:, i], pulls[rod.far][1] + moment[:, i]
            for j, k in enumerate(self.near[i]):
                h[plan.column(k)] += near[j][0, i]
        return pulls, h

    def coupling(self) -> SX:
        """(w, w) masses between both ends."""
        plan = self.tree.plan
        size = 6 + len(plan.moving)
        M = ca.SX(size, size)
        for i in range(self.count):
            others = [*range(6), *(plan.column(k) for k in self.far[i])]
            for j, k in enumerate(self.near[i]):
                for row, column in enumerate(others):
                    value, own = self.now.coupling[j][row, i], plan.column(k)
                    M[own, column] = M[own, column] + value
                    M[column, own] = M[column, own] + value
        return M

    def spin(self, N: SX, beta: SX) -> tuple[SX, SX]:
        """What spins add to N^T M N (v, v) and to N^T M beta (v,)."""
        c, n = Columns(), N.shape[1]
        slope: SX = ca.densify(ca.horzcat(N, beta))
        sigma, gain = c.of_each("sigma", ca.horzsplit(self.now.spins)), c.of_each("gain", ca.horzsplit(self.now.gain))
        axial = c.of_each("I", [v.axial for _, v in self.rods])
        root = ca.reshape(c.of_all("root", ca.vec(slope[:6, :])), 6, n + 1)
        own = [self.columns(i)[6:] for i in range(self.count)]
        rest = [c.of_each(f"N{j}", [slope[columns[j], :].T for columns in own]) for j in range(len(own[0]))]
        spun = ca.mtimes(sigma[:6].T, root).T + sum((sigma[6 + j] * x for j, x in enumerate(rest)), ca.SX.zeros(n + 1))
        weighted = axial * gain * gain * spun[:n]
        pairs = [(i, j) for i in range(n) for j in range(i + 1)]
        outputs = ca.vertcat(*[weighted[i] * spun[j] for i, j in pairs], weighted * spun[n])
        (found,) = c.mapped(self.b, [outputs], self.count)
        total: SX = ca.sum2(found)
        P = ca.SX(n, n)
        for k, (i, j) in enumerate(pairs):
            P[i, j] = P[j, i] = total[k]
        return P, total[len(pairs) :]
