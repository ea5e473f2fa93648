r"""Load of a guide: its normal force from the two components along the guide's axes u, v (Kim 2002 Eq. 30).

The axes are built in `robot.values.guide_axes`: v horizontal, u = a x v for a guide along a.
"""

from __future__ import annotations

from typing import Any

import casadi as ca


def guide_load(along_u: Any, along_v: Any, rule: str) -> Any:
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
