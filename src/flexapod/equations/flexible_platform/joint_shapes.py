r"""Displacement of a joint on a flexible platform, by its shapes: linear, or with the quadratic part that stiffens plates.

.. math:: u(e) = \Phi\,e + \tfrac12 e^T Q\,e,\qquad \Phi(e) = \Phi + Q\,e,\qquad
          \ddot u = \Phi(e)\,\ddot e + \dot e^T Q\,\dot e

Q (3, N, N) is minus the geometric stiffness of the platform per unit force at the joint: bending draws the joints of a plate
in. Forces on the joint follow by virtual work, so that energy is conserved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.robot.flexible_platform import FlexibleShape


@dataclass(frozen=True, kw_only=True)
class JointShapes:
    """Phi (3, N) and the matrices (N, N) of the axes that have a quadratic part, platform axes."""

    Phi: SX
    Q: dict[int, SX]

    def shift(self, e: SX) -> SX:
        """Displacement (3,)."""
        linear = ca.mtimes(self.Phi, e)
        return linear + self._by_axis(lambda Q: ca.dot(e, ca.mtimes(Q, e)) / 2) if self.Q else linear

    def columns(self, e: SX) -> SX:
        """Phi(e) (3, N): displacement per elastic coordinate at e."""
        if not self.Q:
            return self.Phi
        none = ca.SX.zeros(1, self.Phi.shape[1])
        return self.Phi + ca.vertcat(*[ca.mtimes(self.Q[a], e).T if a in self.Q else none for a in range(3)])

    def drift(self, ed: SX) -> SX:
        """Part of the second derivative (3,) due to the rates alone."""
        return self._by_axis(lambda Q: ca.dot(ed, ca.mtimes(Q, ed)))

    def weighted(self, force: SX) -> SX:
        """Sum of force_a Q_a (N, N): derivative of Phi(e)^T force."""
        N = self.Phi.shape[1]
        return sum((force[a] * Q for a, Q in self.Q.items()), ca.SX.zeros(N, N))

    def _by_axis(self, entry: Callable[[SX], SX]) -> SX:
        return ca.vertcat(*[entry(self.Q[a]) if a in self.Q else ca.SX(0) for a in range(3)])


def joint_shapes(values: Values, shape: FlexibleShape, letters: tuple[str, ...]) -> JointShapes:
    """Shapes of a leg's joint on the platform.

    Args:
        values: below ``legs.<name>.``.
        letters: axes along which the linear shapes move.

    Checked by: tests/equations/test_plate_stiffening.py.
    """
    N = shape.modes
    rows = [ca.horzcat(*[values.scalar(f"Phi.{k}.{a}") if a in letters else ca.SX(0) for k in range(N)]) for a in "xyz"]
    quadratic = {}
    for a in shape.quadratic:
        entries = [[values.scalar(f"Q.{a}.{min(i, k)}.{max(i, k)}") for k in range(N)] for i in range(N)]
        quadratic["xyz".index(a)] = ca.vertcat(*[ca.horzcat(*row) for row in entries])
    return JointShapes(Phi=ca.vertcat(*rows), Q=quadratic)
