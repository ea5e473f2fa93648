r"""Effect of the universal joint on a P-U-S leg: spin about its axis and rotation of its cross, exactly.

Letters: d leg vector, L its length, e axis1, t = d x e, r = d - e (e.d), theta angle of the cross, P = I_a/L^2.

.. math:: \dot\theta = q\,(t\cdot\dot d),\quad q = 1/|t|^2,\qquad T = \tfrac12\dot\theta^2 (J - P/q)

.. math:: G = \Gamma t + P\dot\theta^2 r,\qquad \Gamma = q\,[(Jq-P)(t\cdot\ddot d) - 2Jq(r\cdot\dot d)\dot\theta]

With a horizontal axis t and r lie in the plane of k = z x e and the vertical, and k is scaled to have a 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.minimal.planning import Axis
from flexapod.equations.minimal.slide import Slide
from flexapod.equations.minimal.vectors import Scalar, Triple, add, cross, dot, scale, subtract
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program

if TYPE_CHECKING:
    from flexapod.equations.minimal.sliding_leg import SlidingInertia

Check = Callable[..., None]
"""Refuses a squared length of t that is too small, with the square by which the length is scaled."""
ALONG_AXIS = 1e-12
"""Squared sine between leg and first universal axis below which they are parallel."""


@dataclass(frozen=True, kw_only=True)
class SlidingSpin:
    """Force G at S, less the same at U, and its inertia phi t t^T."""

    force: Triple
    phi: Scalar
    t: Triple


def sliding_spin(b: Program, values: Values, name: str, axis: Axis, inertia: SlidingInertia, motion: Slide) -> SlidingSpin:
    """The spin of one leg from its slide.

    Checked by: tests/equations/test_minimal.py.
    """
    x, y, z = (values.scalar(f"legs.{name}.axis1.{k}") for k in "xyz")
    L = values.scalar(f"legs.{name}.length")
    least = ALONG_AXIS * (L * L)

    def check(size: Scalar, scale: Scalar = 1) -> None:
        b.fail_if(ca.logic_not(size > least * scale), "leg {leg} lies along its first universal axis", leg=name)

    if axis == "inclined":
        return _inclined(check, (x, y, z), inertia, motion)
    return _horizontal(check, axis == "x", (x, y), inertia, motion)


def _horizontal(check: Check, upright: bool, e: tuple[Scalar, Scalar], inertia: SlidingInertia, motion: Slide) -> SlidingSpin:
    """Spin of a leg whose axis1 is horizontal, in the plane of w = k.d and z; q, Gamma and theta' are scaled with k."""
    J, P, second = inertia.J, inertia.P, motion.acceleration
    kx, ky = -e[1], e[0]
    s = ky if upright else kx
    k1, ss = (kx if upright else ky) / s, 1 / (s * s)

    def along_k(u: Triple) -> Scalar:
        return k1 * u[0] + u[1] if upright else u[0] + k1 * u[1]

    w, z, zs = along_k(motion.d), motion.d[2], ss * motion.d[2]
    w1, z1 = along_k(motion.relative), motion.relative[2]
    w2, z2 = along_k(second) - along_k(motion.rail) * motion.second, second[2] - motion.rail[2] * motion.second
    size = w * w + zs * z
    check(size, ss)
    q = 1 / size
    angular = q * (w1 * z - z1 * w)
    j = (J * ss) * q
    Gamma = q * ((j - P) * (w2 * z - z2 * w) - j * (2 * ((w * w1 + zs * z1) * angular)))
    centre = P * (angular * angular)
    G_w, G_z = Gamma * z + centre * w, centre * zs - Gamma * w
    if upright:
        return SlidingSpin(force=(k1 * G_w, G_w, G_z), phi=q * (j - P), t=(k1 * z, z, -w))
    return SlidingSpin(force=(G_w, k1 * G_w, G_z), phi=q * (j - P), t=(z, k1 * z, -w))


def _inclined(check: Check, e: Triple, inertia: SlidingInertia, motion: Slide) -> SlidingSpin:
    """Any axis."""
    J, P, d, rate = inertia.J, inertia.P, motion.d, motion.relative
    curved = subtract(motion.acceleration, scale(motion.second, motion.rail))
    t, r = cross(d, e), subtract(d, scale(dot(d, e), e))
    size = dot(t, t)
    check(size)
    q = 1 / size
    angular, j = q * dot(t, rate), J * q
    Gamma = q * ((j - P) * dot(t, curved) - j * (2 * (dot(r, rate) * angular)))
    return SlidingSpin(force=add(scale(Gamma, t), scale(P * (angular * angular), r)), phi=q * (j - P), t=t)
