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
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.coupled_loads import CLOSE, LIMIT, eliminate, split
from flexapod.kernels.tape.program import Program


@dataclass(frozen=True, kw_only=True)
class CarryingLeg:
    """A leg at a state, with the force of its drive.

    Args:
        R: (3, 3); r: (3,) world axes.
        F: (3,), G: (3, 3), g: (3, k) in leg axes; M: (3,), m: (3, k) in world axes.
        P: (f,), L: (f, k), K: (f, 3).
        loads: of the forces f: Y (k,), weights w (k,) and slopes w Y' (k, f), as in `LegLoading`.
    """

    R: Any
    r: Any
    F: Any
    G: Any
    g: Any
    M: Any
    m: Any
    P: Any
    L: Any
    K: Any
    loads: Callable[[Any], tuple[Any, Any, Any]]

    @property
    def count(self) -> int:
        """Number of loads."""
        return int(self.g.shape[1])

    def carried(self, V: SX) -> Any:
        """s (3,) at an acceleration (6,), or per component of it."""
        return ca.mtimes(self.R.T, V[:3] + ca.cross(V[3:], self.r))

    def wrench(self, s: SX, y: Any) -> Any:
        """(6,) on the platform about its origin, at s (3,) and loads (k,)."""
        force = ca.mtimes(self.R, self.F + ca.mtimes(self.G, s) + ca.mtimes(self.g, y))
        return ca.vertcat(force, ca.cross(self.r, force) + self.M + ca.mtimes(self.m, y))

    def change(self, per: SX) -> Any:
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

    loads: list[Any]
    acceleration: Any
    converged: Any

    @property
    def memory(self) -> Any:
        """Where the next solution nearby may start: loads, then the acceleration."""
        return ca.vertcat(*self.loads, self.acceleration)


def accelerated(b: Program, A: SX, c: SX, legs: Sequence[CarryingLeg], start: SX | None = None) -> Coupled:
    """Loads and acceleration at a state.

    Args:
        b: program or body of a loop.
        A: (6, 6) of the platform; c: (6,).
        start: `Coupled.memory` of a state nearby; None: loads without the friction they cause.

    The result does not depend on the start beyond 1e-12 of the largest load.
    Checked by: tests/equations/test_leg_axes.py.
    """
    counts = [leg.count for leg in legs]
    if start is None:
        V = _without_loads(A, c, legs)
        y = ca.vertcat(*[leg.loads(leg.P + ca.mtimes(leg.K, leg.carried(V)))[0] for leg in legs if leg.count])
    else:
        y, V = start[:-6], start[-6:]
    if not sum(counts):
        return Coupled(loads=split(ca.SX(0, 1), counts), acceleration=V, converged=ca.SX(1))
    given = [getattr(leg, name) for leg in legs for name in NAMES] + [A, c]
    entries, filled = _packed(given)

    def step(_: Program, y: SX, V: SX, values: SX) -> tuple[list[Any], Any]:
        *maps, A, c = filled(values)
        size = len(NAMES)
        inside = [replace(leg, **dict(zip(NAMES, maps[size * k : size * (k + 1)], strict=True))) for k, leg in enumerate(legs)]
        return _step(A, c, inside, split(y, counts), V)

    (y, V), converged, _ = b.iterate(step, start=[y, V], shared=[entries], limit=LIMIT, tolerance=CLOSE**2)
    return Coupled(loads=split(y, counts), acceleration=V, converged=converged)


NONE = 1e-300
"""Added to the squares of loads [N^2], so that none at all divide nothing."""

NAMES = ("R", "r", "F", "G", "g", "M", "m", "P", "L", "K")


def _without_loads(A: SX, c: SX, legs: Sequence[CarryingLeg]) -> Any:
    """Acceleration (6,) without friction by loads."""
    still = ca.SX.zeros(3)
    matrix, right = A, c
    for leg in legs:
        matrix = matrix - leg.change(ca.SX(leg.count, 3))
        right = right + leg.wrench(still, ca.SX(leg.count, 1))
    return eliminate(matrix, right)


def _step(A: SX, c: SX, legs: Sequence[CarryingLeg], y: Sequence[Any], V: SX) -> tuple[list[Any], Any]:
    """Next loads and acceleration, and the square of a bound of the largest change of the loads over the largest load.

    The sum of n squares is at least the largest of them and at most n times that: sums are cheaper than the largest values.
    """
    matrix, right = A, c - ca.mtimes(A, V)
    own, across, left, sizes = [], [], [], []
    for leg, y_i in zip(legs, y, strict=True):
        s = leg.carried(V)
        value, weight, slope = leg.loads(leg.P + ca.mtimes(leg.L, y_i) + ca.mtimes(leg.K, s))
        left.append(value - y_i)
        sizes.append(value)
        solved = eliminate(ca.diag(weight) - ca.mtimes(slope, leg.L), ca.horzcat(weight * left[-1], ca.mtimes(slope, leg.K)))
        own.append(y_i + solved[:, 0])
        across.append(solved[:, 1:])
        matrix = matrix - leg.change(across[-1])
        right = right + leg.wrench(s, own[-1])
    dV = eliminate(matrix, right)
    following = [o + ca.mtimes(a, leg.carried(dV)) for leg, o, a in zip(legs, own, across, strict=True)]
    change, size = (ca.sumsqr(ca.vertcat(*parts)) for parts in (left, sizes))
    return [ca.vertcat(*following), V + dV], sum(leg.count for leg in legs) * change / (size + NONE)


def _packed(matrices: Sequence[Any]) -> tuple[Any, Callable[[Any], list[Any]]]:
    """Entries of matrices that are no constants, each once, and the function that fills the same patterns with others."""
    matrices = [ca.sparsify(ca.SX(matrix)) for matrix in matrices]
    place: dict[int, int] = {}
    entries: list[Any] = []
    for matrix in matrices:
        for entry in matrix.nonzeros():
            known = ca.SX(entry)
            if not known.is_constant() and known.element_hash() not in place:
                place[known.element_hash()] = len(entries)
                entries.append(known)

    def filled(values: Any) -> list[Any]:
        result = []
        for matrix in matrices:
            new = [x if ca.SX(x).is_constant() else values[place[ca.SX(x).element_hash()]] for x in matrix.nonzeros()]
            result.append(ca.SX(matrix.sparsity(), ca.vertcat(*new)) if new else ca.SX(*matrix.shape))
        return result

    return ca.vertcat(*entries), filled
