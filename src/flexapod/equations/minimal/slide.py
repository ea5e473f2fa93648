"""Travel of the slider of a P-U-S leg: closed form, no angles.

Letters: U = U0 + t e on the rail, d0 = S - U0, d = S - U, |d| = L, g = e.d0, rho = d.e.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.equations.minimal.vectors import MovingVector, Scalar, Triple, dot, scale, subtract
from flexapod.equations.universal_leg import TURNING_POINT
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program


@dataclass(frozen=True, kw_only=True)
class Slide:
    """Motion along the rail: its direction e, d, rho = d.e and its reciprocal, acceleration of the slider, d', S''."""

    rail: Triple
    d: Triple
    rho: Scalar
    inverse: Scalar
    second: Scalar
    relative: Triple
    acceleration: Triple


def slide(b: Program, values: Values, name: str, branch: int, motion: MovingVector) -> Slide:
    r"""The slide from the motion of S - U0.

    .. math:: \rho = \mp\sqrt{L^2 - |d_0|^2 + g^2},\quad d = d_0 - (g-\rho) e,\qquad
              \dot t = d\cdot\dot S/\rho,\quad \ddot t = (d\cdot\ddot S + |\dot S - \dot t e|^2)/\rho

    Args:
        branch: root that the leg takes.

    Checked by: tests/equations/test_minimal.py.
    """
    d0, rate, second = motion.at, motion.rate, motion.second
    x, y, z = (values.scalar(f"legs.{name}.drive.{k}") for k in "xyz")
    e, L = (x, y, z), values.scalar(f"legs.{name}.length")
    g = dot(e, d0)
    square = (L * L) - dot(d0, d0) + g * g
    near = TURNING_POINT * (L * L)
    b.fail_if(ca.logic_not(square >= -near), "leg {leg} cannot reach: its platform joint is too far from the rail", leg=name)
    rho = -branch * ca.sqrt(square)
    b.fail_if(ca.logic_not(square > near), "leg {leg} is at right angles to its rail (turning point)", leg=name)
    d = subtract(d0, scale(g - rho, e))
    inverse = 1 / rho
    t_rate = dot(d, rate) * inverse
    relative = subtract(rate, scale(t_rate, e))
    t_second = (dot(d, second) + dot(relative, relative)) * inverse
    return Slide(rail=e, d=d, rho=rho, inverse=inverse, second=t_second, relative=relative, acceleration=second)
