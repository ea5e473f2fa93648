r"""States u of a robot with loops, solved by other components v of its motion; what a call remembers for the next one.

All columns w follow from v, :math:`\dot w = N\dot v` with N = (1, X) at independent and bound columns. States may be other
columns than v: :math:`\dot u = N_u\dot v`, :math:`V = N_u^{-1}`. Where each leg closes by the platform's motion alone, the loops
are solved leg by leg by its components, not all together by the drives.

The next call predicts its columns to second order from those of the last one, its rates u' and accelerations w'':

.. math:: w \leftarrow w + N V(\delta u - \tfrac12\tau^2\ddot u) + \tfrac12\tau^2\ddot w,\qquad
          \tau = \delta u\cdot\dot u/\dot u\cdot\dot u
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import mul, sparse
from flexapod.spatial.linear import inverse
from flexapod.spatial.rotation import normalised


@dataclass(frozen=True, kw_only=True)
class Slope:
    """X (bound, v), N (w, v), V (v, u) of a configuration."""

    X: SX
    N: SX
    V: SX


@dataclass(frozen=True, kw_only=True)
class LoopStates:
    """Columns: `independent` v, `bound` ones, `states` u."""

    independent: tuple[int, ...]
    bound: tuple[int, ...]
    states: tuple[int, ...]

    @property
    def direct(self) -> bool:
        """States are the independent columns themselves."""
        return self.independent == self.states

    def whole(self, free: SX, bound: SX) -> SX:
        """(w, k) from independent and bound rows."""
        found = ca.SX(len(self.bound) + len(self.independent), free.shape[1])
        found[list(self.independent), :], found[list(self.bound), :] = free, bound
        return found

    def bound_only(self, bound: SX) -> SX:
        """(w,) with v at rest."""
        return self.whole(ca.SX(len(self.independent), 1), bound)

    def slope(self, X: SX) -> Slope:
        """N and V from X."""
        n = len(self.independent)
        N = self.whole(sparse(ca.SX.eye(n)), X)
        return Slope(X=X, N=N, V=sparse(ca.SX.eye(n)) if self.direct else inverse(ca.densify(N[list(self.states), :])))

    def rates(self, at: Slope, ud: SX) -> SX:
        """(w,) from rates of the states."""
        return ca.densify(mul(at.N, mul(at.V, ud)))

    def held(self, at: Slope, bound: SX) -> SX:
        """(w,) changes of the bound columns, together with those of v that leave the states as they are."""
        found, states = self.bound_only(bound), list(self.states)
        if not self.direct:
            found = ca.densify(found - mul(at.N, ca.mtimes(at.V, ca.densify(found[states]))))
            found[states] = 0
        return ca.densify(found)

    @property
    def remembered(self) -> list[int]:
        """Sizes of what `written` has: X, V, w'', u'."""
        n, bound = len(self.independent), len(self.bound)
        return [bound * n, 0 if self.direct else n * n, bound + n, n]

    def written(self, at: Slope, second: SX, ud: SX) -> SX:
        """Memory for the next call."""
        own = [] if self.direct else [ca.vec(at.V)]
        return ca.vertcat(ca.vec(ca.densify(at.X)), *own, second, ud)

    def predicted(self, memory: SX, step: SX) -> SX:
        """(w,) step of all columns for a step (u,) of the states, from the memory of the last call."""
        ends = [sum(self.remembered[:k]) for k in range(5)]
        X, V, second, rates = (memory[a:b] for a, b in pairwise(ends))
        n = rates.numel()
        square = ca.dot(rates, rates)
        tau = ca.dot(step, rates) / ca.if_else(square > 0, square, 1)
        half = tau * tau / 2
        v = step - half * second[list(self.states)]
        v = v if self.direct else ca.mtimes(ca.reshape(V, n, n), v)
        return ca.densify(self.whole(v, ca.mtimes(ca.reshape(X, len(self.bound), n), v)) + half * second)


def moved_pose(pose: SX, twist: SX, second: bool = False) -> SX:
    """Position and rotation by columns (12,) after a step (6,): orthogonal whatever it was, to first or second order."""
    w, axes = twist[3:], []
    for k in (3, 6):
        rotated = ca.cross(w, pose[k : k + 3])
        axes.append(pose[k : k + 3] + rotated + (ca.cross(w, rotated) / 2 if second else 0))
    x = normalised(axes[0])
    y = normalised(axes[1] - ca.dot(x, axes[1]) * x)
    return ca.vertcat(pose[:3] + twist[:3], x, y, ca.cross(x, y))
