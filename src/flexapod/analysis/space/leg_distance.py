"""Distances of legs as straight lines between their universal and spherical centres."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


SHARED = 1e-9
"""Distance of two joint centres, over the characteristic length, that are one (double joints)."""


def segment_distance(a0: Array, a1: Array, b0: Array, b1: Array) -> Array:
    r"""Distance (n,) of segments a0-a1 and b0-b1, (n, 3) each.

    The nearest points minimise a quadratic function over the unit square: inside it, or on one of its four sides.

    .. math:: \min_{s,t\in[0,1]} |a_0 + s\,u - b_0 - t\,v|

    Checked by: tests/analysis/test_path_between.py.
    """
    u, v, w = a1 - a0, b1 - b0, a0 - b0
    uu, vv, uv = (np.einsum("ni,ni->n", x, y) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = np.einsum("ni,ni->n", u, w), np.einsum("ni,ni->n", v, w)
    safe_u, safe_v = np.where(uu > 0, uu, 1.0), np.where(vv > 0, vv, 1.0)
    det = uu * vv - uv**2
    inside = det > 1e-14 * uu * vv
    s = np.where(inside, (uv * vw - vv * uw) / np.where(inside, det, 1.0), 0.0)
    t = np.where(inside, (uu * vw - uv * uw) / np.where(inside, det, 1.0), 0.0)
    tries = [(np.clip(s, 0, 1), np.clip((vw + uv * np.clip(s, 0, 1)) / safe_v, 0, 1))]
    tries.append((np.clip((uv * np.clip(t, 0, 1) - uw) / safe_u, 0, 1), np.clip(t, 0, 1)))
    for side in (0.0, 1.0):
        tries.append((np.full_like(s, side), np.clip((vw + uv * side) / safe_v, 0, 1)))
        tries.append((np.clip((uv * side - uw) / safe_u, 0, 1), np.full_like(t, side)))
    distances = [np.linalg.norm(w + x[:, None] * u - y[:, None] * v, axis=1) for x, y in tries]
    return np.asarray(np.min(distances, axis=0))


def pairs_of(robot: Robot) -> list[tuple[int, int]]:
    """Legs that do not share a joint centre at their base or platform."""
    size = SHARED * robot.characteristic_length

    def point(leg: str, name: str) -> Array:
        return np.array([robot.values[f"legs.{leg}.{name}.{k}"] for k in "xyz"])

    result = []
    for (i, a), (j, b) in combinations(enumerate(leg.name for leg in robot.legs), 2):
        if all(np.linalg.norm(point(a, name) - point(b, name)) > size for name in ("U", "S")):
            result.append((i, j))
    return result
