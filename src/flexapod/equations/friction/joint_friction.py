r"""Friction of a joint as the sum of its laws, about one axis or along a relative angular velocity.

The laws are those of `description.friction`; a law by the load of the joint is proportional to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.equations.friction.coefficients import Coefficients
from flexapod.equations.friction.sliding import REST, sign_of_rate, unit_direction
from flexapod.robot.model import LAWS
from flexapod.spatial import Vec, dot

Rate = TypeVar("Rate", SX, Vec)


def axis_friction(c: Coefficients, rate: SX, load: Scalar) -> SX:
    r"""Friction force or moment on the next body, along the joint's axis.

    .. math:: f = -c\,v-(F_s+\tau_b/p+\mu N)\,s(v)

    Args:
        rate: of the coordinate.
        load: normal force of the guide or reaction force of the bearing [N].

    Source: Kim 2002 Eq. (30), Briot 2014 Eq. (27). Checked by: tests/equations/test_friction.py.
    """
    return _against(c, rate, sign_of_rate(rate, c.speed), lambda: ca.fabs(rate), load)


def vector_friction(c: Coefficients, w: Vec, load: Scalar) -> Vec:
    r"""Friction moment on the next body against its angular velocity relative to the one before.

    .. math:: f = -c\,\omega-(F_s+k|F|)\,\omega/|\omega|

    Args:
        w: relative angular velocity, world axes.
        load: reaction force of the joint [N].

    Source: Kim 2002 Eq. (31). Checked by: tests/equations/test_friction.py.
    """
    return _against(c, w, unit_direction(w, c.speed), lambda: ca.sqrt(ca.fmax(dot(w, w), REST**2)), load)


def _against(c: Coefficients, rate: Rate, direction: Rate, speed: Callable[[], SX], load: Scalar) -> Rate:
    """The sum of the laws; `speed` is made only for laws that have a shape."""
    total: dict[str, Scalar] = {"rate": 0, "direction": 0}
    for name in (name for name in c.numbers if name in LAWS):
        law, size = LAWS[name], c.numbers[name]
        if law.shape is not None:
            size = size * law.shape(speed(), *[c.numbers[key] for key in law.reads])
        total[law.along] = total[law.along] + (size * load if law.by_load else size)
    return rate * (-total["rate"]) + direction * (-total["direction"])
