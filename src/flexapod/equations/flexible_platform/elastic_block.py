r"""The elastic block of the mass matrix, solved through the joints instead of the modes.

Normal modes whose joints move along one axis z (plates in bending) give

.. math:: A_{ee} = m + \varphi^T Z \varphi,\qquad A_{re} = b + Q\,\varphi

with m diagonal and constant, phi (legs, N) the shapes at the joints, Z = diag(A_x,zz), Q (6, legs), b (6, N) of the free body.
Woodbury's identity leaves systems of the size of the legs, so that the cost grows with N only linearly:

.. math:: A_{ee}^{-1} = m^{-1} - m^{-1}\varphi^T E\,\varphi\,m^{-1},\quad E = (Z^{-1} + P)^{-1},\quad P = \varphi m^{-1}\varphi^T

Other bodies are solved densely. A block of either kind has `apply` (A_ee^-1 y), `up`, `down` (A_re, A_re^T) and `forward`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.spatial.linear import solve_symmetric


@dataclass(frozen=True, kw_only=True)
class JointStructure:
    """phi (legs, N), Z (legs,), Q (6, legs), b (6, N), m (N,) of the identity above."""

    phi: Any
    Z: Any
    Q: Any
    b: Any
    m: Any


class DenseBlock:
    """A_ee by LDL^T, A_re as a matrix."""

    def __init__(self, M: Any) -> None:
        self.A_rr, self.A_re, self.A_ee = M[:6, :6], M[:6, 6:], M[6:, 6:]

    def apply(self, y: Any) -> Any:
        """A_ee^-1 y for y (N, k)."""
        return solve_symmetric(self.A_ee, y)

    def down(self, x: Any) -> Any:
        """A_re^T x for x (6, k)."""
        return ca.mtimes(self.A_re.T, x)

    def up(self, y: Any) -> Any:
        """A_re y for y (N, k)."""
        return ca.mtimes(self.A_re, y)

    def forward(self, right: Any) -> Any:
        """Solve the whole system for one right-hand side: one elimination, elastic rows first."""
        M = ca.vertcat(ca.horzcat(self.A_ee, self.A_re.T), ca.horzcat(self.A_re, self.A_rr))
        x = solve_symmetric(M, ca.vertcat(right[6:], right[:6]))
        n = self.A_ee.shape[0]
        return ca.vertcat(x[n:], x[:n])


class JointBlock:
    """A_ee and A_re through the joints.

    Checked by: tests/equations/test_flexible_platform.py::test_elastic_blocks_agree.
    """

    def __init__(self, A_rr: Any, structure: JointStructure) -> None:
        self.A_rr, self.s = A_rr, structure
        s = structure
        self.scaled = s.phi * ca.repmat((1 / s.m).T, s.phi.shape[0], 1)  # phi m^-1, of parameters alone
        self.P = ca.mtimes(self.scaled, s.phi.T)
        self.small = ca.diag(1 / s.Z) + self.P

    def apply(self, y: Any) -> Any:
        """A_ee^-1 y for y (N, k)."""
        inner = solve_symmetric(self.small, ca.mtimes(self.scaled, y))
        return y * ca.repmat(1 / self.s.m, 1, y.shape[1]) - ca.mtimes(self.scaled.T, inner)

    def down(self, x: Any) -> Any:
        """A_re^T x for x (6, k)."""
        return ca.mtimes(self.s.b.T, x) + ca.mtimes(self.s.phi.T, ca.mtimes(self.s.Q.T, x))

    def up(self, y: Any) -> Any:
        """A_re y for y (N, k)."""
        return ca.mtimes(self.s.b, y) + ca.mtimes(self.s.Q, ca.mtimes(self.s.phi, y))

    def forward(self, right: Any) -> Any:
        """Solve the whole system for one right-hand side (6 + N,)."""
        s = self.s
        b_scaled = s.b * ca.repmat((1 / s.m).T, 6, 1)
        F = ca.mtimes(self.scaled, s.b.T)  # phi m^-1 b^T
        V = F + ca.mtimes(self.P, s.Q.T)  # phi m^-1 A_er
        y = right[6:]
        t = ca.mtimes(self.scaled, y)
        solved = solve_symmetric(self.small, ca.horzcat(V, t))
        EV, Et = solved[:, :6], solved[:, 6]
        direct = ca.mtimes(s.b, b_scaled.T) + ca.mtimes(F.T, s.Q.T) + ca.mtimes(s.Q, V)
        schur = self.A_rr - direct + ca.mtimes(V.T, EV)
        # A_re A_ee^-1 y = b m^-1 y + Q t - V^T E t
        right_r = right[:6] - ca.mtimes(b_scaled, y) - ca.mtimes(s.Q, t) + ca.mtimes(V.T, Et)
        x = solve_symmetric(schur, right_r)
        # e'' = m^-1 (y - b^T x) - m^-1 phi^T (Q^T x + E (t - V x))
        z = ca.mtimes(s.Q.T, x) + Et - ca.mtimes(EV, x)
        e = (y - ca.mtimes(s.b.T, x)) / s.m - ca.mtimes(self.scaled.T, z)
        return ca.vertcat(x, e)
