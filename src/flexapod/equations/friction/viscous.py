"""Viscous friction: proportional to the rate, against it (Kim 2002 Eqs. 30-31, Briot 2014 Eq. 27)."""

from __future__ import annotations

from typing import Any


def viscous(coefficient: Any, rate: Any) -> Any:
    r"""Friction :math:`-c\,v` of a rate (scalar) or of a relative angular velocity (vector).

    Args:
        coefficient: [N s/m] or [N m s].
        rate: [m/s] or [rad/s], scalar or `Vec`.

    Checked by: tests/equations/test_friction.py.
    """
    return rate * (-coefficient)
