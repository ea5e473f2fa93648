r"""Rotation of a flexible platform at a joint: a true rotation by the vector :math:`\theta = \Phi_r e`, platform axes.

.. math:: R = 1 + a\hat\theta + b\hat\theta^2,\quad
          \omega = J\dot\theta,\ J = 1 + b\hat\theta + c\hat\theta^2,\qquad
          a = \tfrac{\sin\theta}{\theta},\ b = \tfrac{1-\cos\theta}{\theta^2},\ c = \tfrac{\theta-\sin\theta}{\theta^3}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values

SERIES = 0.1
"""Angle [rad] below which series to theta^8 are used: their error is then below 1e-16."""


@dataclass(frozen=True, kw_only=True)
class ElasticRotation:
    """R (3, 3), w, alpha (3,) against the platform, and per_mode (3, N) = dw/de', platform axes."""

    R: SX
    w: SX
    alpha: SX
    per_mode: SX


def elastic_rotation(values: Values, e: Sequence[SX]) -> ElasticRotation:
    """The rotation at a leg's joint.

    Args:
        values: below ``legs.<name>.``.
        e: modes, their rates and accelerations (N,) each.

    Checked by: tests/elastodynamics/test_platform_on_any_leg.py.
    """
    N = e[0].numel()
    Phi = ca.vertcat(*[ca.horzcat(*[values.scalar(f"Phi_r.{k}.{a}") for k in range(N)]) for a in "xyz"])
    angle, rate = ca.SX.sym("angle", 3), ca.SX.sym("rate", 3)
    a, b, c = _coefficients(angle)
    hat = ca.skew(angle)
    square = ca.mtimes(hat, hat)
    J = ca.SX.eye(3) + b * hat + c * square
    w = ca.mtimes(J, rate)
    drift = ca.jtimes(w, angle, rate)
    at = [ca.mtimes(Phi, x) for x in e]
    R, J, w, drift = ca.substitute([ca.SX.eye(3) + a * hat + b * square, J, w, drift], [angle, rate], at[:2])
    return ElasticRotation(R=R, w=w, alpha=drift + ca.mtimes(J, at[2]), per_mode=ca.mtimes(J, Phi))


def _coefficients(angle: SX) -> tuple[SX, SX, SX]:
    s2 = ca.dot(angle, angle)
    small = s2 < SERIES**2
    s = ca.sqrt(ca.if_else(small, 1, s2))
    series = [sum((-1) ** k * s2**k / _factorial(2 * k + first) for k in range(5)) for first in (1, 2, 3)]
    exact = [ca.sin(s) / s, (1 - ca.cos(s)) / (s * s), (s - ca.sin(s)) / (s * s * s)]
    a, b, c = (ca.if_else(small, near, far) for near, far in zip(series, exact, strict=True))
    return a, b, c


def _factorial(n: int) -> int:
    return 1 if n < 2 else n * _factorial(n - 1)
