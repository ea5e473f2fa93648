r"""Elastic energy of a flexible platform: bending, and the stretching of a stiffened plate's middle plane.

.. math:: V = \tfrac12 e^T K e + \tfrac12\sum_r s_r^2,\qquad s_r = \tfrac12 e^T A_r\,e,\qquad
          \frac{\partial V}{\partial e} = K e + \sum_r s_r A_r e

The sum is there for plates with stiffening alone (von Karman); without it the force is K e.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.generalized_newton_euler import symmetric_matrix
from flexapod.equations.values import Values
from flexapod.robot.flexible_platform import FlexibleShape


def platform_stiffness(values: Values, shape: FlexibleShape) -> SX:
    """K (N, N) of bending."""
    return symmetric_matrix(values, "flex.K", shape.modes, shape.normal)


def platform_energy(values: Values, shape: FlexibleShape, e: SX) -> SX:
    """V [J]. Checked by: tests/equations/test_plate_stiffening.py."""
    bending = ca.dot(e, ca.mtimes(platform_stiffness(values, shape), e)) / 2
    stretches = [ca.dot(e, ca.mtimes(A, e)) / 2 for A in _matrices(values, shape)]
    return sum((s * s / 2 for s in stretches), bending)


def platform_force(values: Values, shape: FlexibleShape, e: SX) -> SX:
    """Derivative of V by e (N,). Checked by: tests/equations/test_plate_stiffening.py."""
    force = ca.mtimes(platform_stiffness(values, shape), e)
    for A in _matrices(values, shape):
        Ae = ca.mtimes(A, e)
        force = force + ca.dot(e, Ae) / 2 * Ae
    return force


def platform_tangent(values: Values, shape: FlexibleShape, e: SX) -> SX:
    """Second derivative of V by e (N, N)."""
    K = platform_stiffness(values, shape)
    for A in _matrices(values, shape):
        Ae = ca.mtimes(A, e)
        K = K + ca.dot(e, Ae) / 2 * A + ca.mtimes(Ae, Ae.T)
    return K


def _matrices(values: Values, shape: FlexibleShape) -> list[SX]:
    return [symmetric_matrix(values, f"flex.A.{r}", shape.modes) for r in range(shape.stretches)]
