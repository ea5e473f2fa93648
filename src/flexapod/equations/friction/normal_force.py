r"""Load of a guide: its normal force from the two components along the guide's axes u, v (Kim 2002 Eq. 30).

The axes are built in `robot.values.guide_axes`: v horizontal, u = a x v for a guide along a.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.spatial import Vec, dot


def guide_load(N: Vec, u: Vec, v: Vec, rule: str) -> Any:
    r"""Normal force that the friction coefficient multiplies.

    ``abs_sum``: :math:`|u\cdot N|+|v\cdot N|`; ``norm``: :math:`\sqrt{(u\cdot N)^2+(v\cdot N)^2}`; ``literal``:
    :math:`u\cdot N-v\cdot N` as printed, which depends on the signs of u and v and may drive the slider.

    Args:
        N: reaction of the guide on the slider [N]; a part along the guide does not count.
        u, v: unit axes across the guide, perpendicular.

    Checked by: tests/equations/test_friction.py.
    """
    along_u, along_v = dot(u, N), dot(v, N)
    if rule == "abs_sum":
        return ca.fabs(along_u) + ca.fabs(along_v)
    if rule == "norm":
        return ca.sqrt(along_u * along_u + along_v * along_v)
    return along_u - along_v
