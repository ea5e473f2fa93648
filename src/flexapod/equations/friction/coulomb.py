"""Constant Coulomb friction: a force or torque of fixed size against the motion (Briot 2014 Eq. 27)."""

from __future__ import annotations

from typing import Any


def coulomb(size: Any, direction: Any) -> Any:
    r"""Friction :math:`-F_s\,s(v)`.

    Args:
        size: [N] or [N m].
        direction: sense of the rate (scalar) or unit direction (`Vec`).

    Checked by: tests/equations/test_friction.py.
    """
    return direction * (-size)
