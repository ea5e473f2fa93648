r"""Friction of a joint as the sum of its laws, about one axis or along a relative angular velocity."""

from __future__ import annotations

from typing import Any

from flexapod.equations.friction.coefficients import Coefficients
from flexapod.equations.friction.coulomb import coulomb
from flexapod.equations.friction.direction import sense, unit_direction
from flexapod.equations.friction.preload import preload
from flexapod.equations.friction.viscous import viscous
from flexapod.spatial import Vec


def axis_friction(c: Coefficients, rate: Any, load: Any) -> Any:
    r"""Friction force or moment on the next body, along the joint's axis.

    .. math:: f = -c\,v-(F_s+\tau_b/p+\mu N)\,s(v)

    Args:
        rate: of the coordinate.
        load: normal force of the guide or reaction force of the bearing [N].

    Source: Kim 2002 Eq. (30), Briot 2014 Eq. (27). Checked by: tests/equations/test_friction.py.
    """
    s = sense(rate, c.speed)
    return viscous(c.viscous, rate) + coulomb(c.coulomb, s) + preload(c.preload, s) + coulomb(c.load * load, s)


def vector_friction(c: Coefficients, w: Vec, load: Any) -> Vec:
    r"""Friction moment on the next body against its angular velocity relative to the one before.

    .. math:: f = -c\,\omega-(F_s+k|F|)\,\omega/|\omega|

    Args:
        w: relative angular velocity, world axes.
        load: reaction force of the joint [N].

    Source: Kim 2002 Eq. (31). Checked by: tests/equations/test_friction.py.
    """
    direction = unit_direction(w, c.speed)
    result: Vec = viscous(c.viscous, w) + coulomb(c.coulomb + c.load * load, direction)
    return result
