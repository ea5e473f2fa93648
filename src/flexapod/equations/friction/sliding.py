r"""Directions of sliding (Kim & Ryu 2002 Eqs. 30-31, Briot & Khalil 2014 Eq. 27), and the loads that friction depends on.

.. math:: s(v) = \operatorname{sign} v \;(0 \text{ for } |v| < 10^{-12}),\qquad s(v) = \tanh(v/v_0)

The laws themselves are `description.friction`. Guides: normal force from the components along u and v of
`robot.named_values.guide_axes` (v horizontal, u = a x v for a guide along a). Bearings: size of the reaction.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.spatial import Vec, dot

REST = 1e-12
"""Speed [m/s, rad/s] below which a joint is at rest: Coulomb friction is then undefined and taken as zero."""

NEVER = 1e-60
"""Square of a speed so small that it changes none which is not zero, and whose quotient by itself is no 0/0."""


def sign_of_rate(rate: SX, speed: Scalar | None = None) -> SX:
    """Sign of a rate: -1, 0, 1, or between with a `speed` [m/s, rad/s].

    Checked by: tests/equations/test_friction.py.
    """
    if speed is not None:
        return ca.tanh(rate / speed)
    return ca.if_else(ca.fabs(rate) < REST, 0, ca.sign(rate))


def unit_direction(w: Vec, speed: Scalar | None = None) -> Vec:
    """Unit vector along an angular velocity, zero at rest; with a `speed` its length is tanh(|w|/speed).

    Checked by: tests/equations/test_friction.py.
    """
    result: Vec
    if speed is not None:
        size = ca.sqrt(dot(w, w) + NEVER)
        result = w * (ca.tanh(size / speed) / size)
        return result
    size = ca.sqrt(dot(w, w))
    still = size < REST
    result = w * ca.if_else(still, 0, 1 / ca.if_else(still, 1, size))
    return result


def guide_load(along_u: SX, along_v: SX, rule: str) -> SX:
    r"""Normal force that the friction coefficient multiplies.

    ``abs_sum``: :math:`|N_u|+|N_v|`; ``norm``: :math:`\sqrt{N_u^2+N_v^2}`; ``literal``:
    :math:`N_u-N_v` as printed, which depends on the signs of u and v and may drive the slider.

    Args:
        along_u, along_v: reaction of the guide on the slider along two unit axes across the guide, perpendicular [N].

    Checked by: tests/equations/test_friction.py.
    """
    if rule == "abs_sum":
        return ca.fabs(along_u) + ca.fabs(along_v)
    if rule == "norm":
        return ca.sqrt(along_u * along_u + along_v * along_v)
    return along_u - along_v


def bearing_load(force: Vec) -> SX:
    r""":math:`|F|`, so that the friction moment is :math:`k\,|F|` against the motion.

    Args:
        force: reaction force of a revolute, universal or spherical joint [N].

    Checked by: tests/equations/test_friction.py.
    """
    return ca.sqrt(dot(force, force))
