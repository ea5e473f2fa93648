r"""Joint loads of closed-form legs together with the acceleration of the platform that they carry: Newton's method.

Letters: V acceleration (6,) of the platform, y_i loads of leg i, r arm from the platform origin to its joint S, R its axes as
columns, s acceleration of S in leg axes, F force of the leg on the platform in leg axes, M moment of its friction there, f the
forces that load its joints:

.. math:: s = R^T(\dot v + \dot\omega\times r),\quad F = F_0 + G\,s + g\,y,\quad M = M_0 + m\,y,\quad f = P + L\,y + K\,s,\quad
          y = Y(f),\qquad A\,V = c + \sum_i\begin{bmatrix} R F\\ r\times R F + M\end{bmatrix}

As in `coupled_loads` the loads of a leg are eliminated, :math:`\delta y = (1 - Y'L)^{-1}(Y - y + Y'K\,\delta s)`; what is left
of a leg is its force per acceleration, :math:`G + g\,(1 - Y'L)^{-1}Y'K`, most of whose entries are few operations in leg axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.coupled_loads import CLOSE, LIMIT, eliminate, split

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

NAMES = ("R", "r", "F", "G", "g", "M", "m", "P", "L", "K")
NONE = 1e-300
"""Number added to the squares of loads [N^2], so that unloaded joints do not divide by zero."""


@dataclass(frozen=True, kw_only=True)
class CarryingLeg:
    """A leg at a state, with the force of its drive.

    Args:
        R: (3, 3); r: (3,) world axes.
        F: (3,), G: (3, 3), g: (3, k) in leg axes; M: (3,), m: (3, k) in world axes.
        P: (f,), L: (f, k), K: (f, 3).
        loads: of the forces f: Y (k,), weights w (k,) and slopes w Y' (k, f), as in `LegLoading`; slope: pattern of the last.
    """

    R: SX
    r: SX
    F: SX
    G: SX
    g: SX
    M: SX
    m: SX
    P: SX
    L: SX
    K: SX
    loads: Callable[[SX], tuple[SX, SX, SX]]
    slope: ca.Sparsity | None = None

    @property
    def count(self) -> int:
        """Number of loads."""
        return int(self.g.shape[1])

    def carried(self, V: SX) -> SX:
        """s (3,) at an acceleration (6,), or per component of it."""
        return ca.mtimes(self.R.T, V[:3] + ca.cross(V[3:], self.r))

    def wrench(self, s: SX, y: SX) -> SX:
        """(6,) on the platform about its origin, at s (3,) and loads (k,)."""
        force = ca.mtimes(self.R, self.F + ca.mtimes(self.G, s) + ca.mtimes(self.g, y))
        return ca.vertcat(force, ca.cross(self.r, force) + self.M + ca.mtimes(self.m, y))

    def change(self, per: SX) -> SX:
        """(6, 6) wrench on the platform per acceleration, loads changing by `per` (k, 3) with s."""
        inner = ca.mtimes(self.G + ca.mtimes(self.g, per), self.R.T)
        force = ca.mtimes(self.R, inner)
        moment = ca.horzcat(*[ca.cross(self.r, force[:, k]) for k in range(3)])
        both = ca.vertcat(force, moment + ca.mtimes(self.m, ca.mtimes(per, self.R.T)))
        across = ca.vertcat(*[ca.cross(self.r, both[k, :].T).T for k in range(6)])
        return ca.horzcat(both, across)


@dataclass(frozen=True, kw_only=True)
class Coupled:
    """Loads of every leg, acceleration (6,) of the platform, and whether they converged (1 or 0)."""

    loads: list[SX]
    acceleration: SX
    converged: SX

    @property
    def memory(self) -> SX:
        """Start values of the next solution nearby: loads, then the acceleration."""
        return ca.vertcat(*self.loads, self.acceleration)


def accelerated(b: Builder, A: SX, c: SX, groups: Sequence[Packed], start: SX | None = None) -> Coupled:
    """Loads and acceleration at a state.

    Args:
        b: program or body of a loop.
        A: (6, 6) of the platform; c: (6,).
        groups: the legs in order, alike ones together: they are evaluated in loops.
        start: `Coupled.memory` of a state nearby; None: loads without the friction they cause.

    The result does not depend on the start beyond 1e-12 of the largest load.
    Checked by: tests/equations/test_leg_axes.py.
    """
    counts = [one.load_count for one in groups for _ in range(one.legs)]
    if start is None:
        y, V = _without_loads(b, A, c, groups)
    else:
        y, V = start[:-6], start[-6:]
    if not sum(counts):
        return Coupled(loads=split(ca.SX(0, 1), counts), acceleration=V, converged=ca.SX(1))
    shared = [ca.vec(one.entries) for one in groups] + [A.nz[:], c]

    def step(body: Builder, y: SX, V: SX, *values: SX) -> tuple[list[SX], SX]:
        own = [ca.reshape(v, *one.entries.shape) for v, one in zip(values, groups, strict=False)]
        return _step(body, (ca.SX(A.sparsity(), values[-2]), values[-1]), list(zip(groups, own, strict=True)), y, V)

    (y, V), converged, _ = b.iterate(step, start=[y, V], shared=shared, limit=LIMIT, tolerance=CLOSE**2)
    return Coupled(loads=split(y, counts), acceleration=V, converged=converged)


def _without_loads(b: Builder, A: SX, c: SX, groups: Sequence[Packed]) -> tuple[SX, SX]:
    """Loads of all legs, and the acceleration (6,), without the friction that the loads cause."""
    matrix, right = A, c
    for packed in groups:
        wrenches, blocks = packed.over(b, _free, packed.entries, [])
        matrix, right = matrix - ca.reshape(ca.sum2(blocks), 6, 6), right + ca.sum2(wrenches)
    V = eliminate(matrix, right)
    loads = []
    for packed in groups:
        if packed.load_count:
            _, forces = packed.over(b, _loading, packed.entries, [ca.SX.zeros(packed.load_count, packed.legs)], V)
            loads.append(ca.vec(packed.loads(forces)[0]))
    return ca.vertcat(*loads), V


def _free(leg: CarryingLeg) -> list[SX]:
    """Wrench (6,) of a leg on a platform without acceleration, and its change (36,) per V, without friction by loads."""
    wrench = leg.wrench(ca.SX.zeros(3), ca.SX.zeros(leg.count))
    return [wrench, ca.vec(ca.densify(leg.change(ca.SX(leg.count, 3))))]


def _step(b: Builder, platform: tuple[SX, SX], groups: Sequence[tuple[Packed, SX]], y: SX, V: SX) -> tuple[list[SX], SX]:
    """Next loads and acceleration, and the square of a bound of the largest change of the loads over the largest load.

    The sum of n squares is at least the largest of them and at most n times that: sums are cheaper than the largest values.
    """
    (A, c), at, change, size = platform, 0, ca.SX(0), ca.SX(0)
    matrix, right, found = A, c - ca.mtimes(A, V), []
    for packed, entries in groups:
        count, k = packed.legs, packed.load_count
        y_i, at = ca.reshape(y[at : at + count * k], k, count), at + count * k
        s, forces = packed.over(b, _loading, entries, [y_i], V)
        values, weights, slopes = packed.loads(forces)
        change, size = change + ca.sumsqr(values - y_i), size + ca.sumsqr(values)
        own, per, wrenches, blocks = packed.over(b, _eliminated, entries, [s, y_i, values - y_i, weights, slopes])
        matrix, right = matrix - ca.reshape(ca.sum2(blocks), 6, 6), right + ca.sum2(wrenches)
        found.append((packed, entries, own, per))
    dV = eliminate(matrix, right)
    following = [packed.over(b, _following, entries, [own, per], dV)[0] for packed, entries, own, per in found]
    return [ca.vertcat(*[ca.vec(part) for part in following]), V + dV], y.numel() * change / (size + NONE)


def _loading(leg: CarryingLeg, y: SX, V: SX) -> list[SX]:
    """s (3,) and the forces (f,) that load the joints of a leg."""
    s = leg.carried(V)
    return [s, leg.P + ca.mtimes(leg.L, y) + ca.mtimes(leg.K, s)]


def _eliminated(leg: CarryingLeg, s: SX, y: SX, left: SX, weight: SX, slope: SX) -> list[SX]:
    """Next loads (k,) at an unchanged s, their change per s (3 k,), and the leg's wrench (6,) with its change (36,) per V."""
    assert leg.slope is not None
    whole = ca.SX(leg.slope, slope)
    right = ca.horzcat(weight * left, ca.mtimes(whole, leg.K))
    solved = eliminate(ca.diag(weight) - ca.mtimes(whole, leg.L), right)
    own, per = y + solved[:, 0], solved[:, 1:]
    return [own, ca.vec(per), leg.wrench(s, own), ca.vec(ca.densify(leg.change(per)))]


def _following(leg: CarryingLeg, own: SX, per: SX, dV: SX) -> list[SX]:
    """Next loads (k,) of a leg."""
    return [own + ca.mtimes(ca.reshape(per, leg.count, 3), leg.carried(dV))]


class Packed:
    """Legs that are alike: the entries of their matrices that are no constants, one column per leg, each row once.

    Args:
        leg: one of them.
    """

    def __init__(self, leg: CarryingLeg) -> None:
        self._loads, self.load_count = leg.loads, leg.count
        self._matrices: dict[str, tuple[ca.Sparsity, list[float | int]]] = {}
        known: dict[int, int] = {}
        rows: list[SX] = []
        for name in NAMES:
            matrix = ca.sparsify(ca.SX(getattr(leg, name)))
            places: list[float | int] = []
            for k in range(matrix.nnz()):
                entry = matrix.nz[k]
                if entry.is_constant():
                    places.append(float(entry))
                    continue
                if entry.element_hash() not in known:
                    known[entry.element_hash()] = len(rows)
                    rows.append(entry)
                places.append(known[entry.element_hash()])
            self._matrices[name] = (matrix.sparsity(), places)
        self.entries = ca.vertcat(*rows)
        forces = ca.SX.sym("f", leg.P.numel())
        self._slope = ca.sparsify(leg.loads(forces)[2]).sparsity() if leg.count else ca.Sparsity(0, 0)

    @property
    def legs(self) -> int:
        """Number of legs."""
        return int(self.entries.shape[1])

    def leg(self, column: SX) -> CarryingLeg:
        """A leg of a column of entries."""
        found = {}
        for name, (pattern, places) in self._matrices.items():
            values = [column[x] if isinstance(x, int) else ca.SX(x) for x in places]
            found[name] = ca.SX(pattern, ca.vertcat(*values)) if values else ca.SX(*pattern.shape)
        return CarryingLeg(**found, loads=self._loads, slope=self._slope)

    def over(self, b: Builder, fn: Callable[..., list[SX]], entries: SX, each: Sequence[SX], *shared: SX) -> list[SX]:
        """Results of `fn` for every leg, from its columns of `each` and the values that all legs share, side by side."""

        def one(_: Builder, column: SX, *rest: SX) -> list[SX]:
            return fn(self.leg(column), *rest)

        if self.legs == 1:
            return one(b, entries, *each, *shared)
        return list(b.map(one, self.legs, each=[entries, *each], shared=shared, unroll=False))

    def loads(self, forces: SX) -> tuple[SX, SX, SX]:
        """Loads (k, legs), weights and the entries of the slopes under forces (f, legs)."""
        if self.load_count == 0:
            return ca.SX(0, self.legs), ca.SX(0, self.legs), ca.SX(0, self.legs)
        found = [self._loads(forces[:, i]) for i in range(self.legs)]
        slopes = [ca.project(slope, self._slope).nz[:] for _, _, slope in found]
        return ca.horzcat(*[one[0] for one in found]), ca.horzcat(*[one[1] for one in found]), ca.horzcat(*slopes)
