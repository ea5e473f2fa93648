r"""The direction of a motion: exact sign, or tanh with a stated speed.

.. math:: s(v) = \operatorname{sign} v \;(0 \text{ for } |v| < 10^{-12}),\qquad s(v) = \tanh(v/v_0)
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.spatial import Vec, dot

REST = 1e-12
"""Speed [m/s, rad/s] below which a joint is at rest: Coulomb friction is then undefined and taken as zero."""


def sign_of_rate(rate: Any, speed: Any = None) -> Any:
    """Sign of a rate: -1, 0, 1, or between with a `speed` [m/s, rad/s].

    Checked by: tests/equations/test_friction.py.
    """
    if speed is not None:
        return ca.tanh(rate / speed)
    return ca.if_else(ca.fabs(rate) < REST, 0, ca.sign(rate))


def unit_direction(w: Vec, speed: Any = None) -> Vec:
    """Unit vector along an angular velocity, zero at rest; with a `speed` its length is tanh(|w|/speed).

    Checked by: tests/equations/test_friction.py.
    """
    size = ca.sqrt(dot(w, w))
    still = size < REST
    safe = ca.if_else(still, 1, size)
    factor = 1 / safe if speed is None else ca.tanh(safe / speed) / safe
    result: Vec = w * ca.if_else(still, 0 if speed is None else 1 / speed, factor)
    return result
