"""Load of a bearing: the size of its reaction force, which the coefficient k [m] turns into a moment (Kim 2002 Eq. 31)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.spatial import Vec, dot


def bearing_load(force: Vec) -> Any:
    r""":math:`|F|`, so that the friction moment is :math:`k\,|F|` against the motion.

    Args:
        force: reaction force of a revolute, universal or spherical joint [N].

    Checked by: tests/equations/test_friction.py.
    """
    return ca.sqrt(dot(force, force))
