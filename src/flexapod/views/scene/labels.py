"""Placement of the names of legs: on their longest rods, apart from each other and not hidden by other legs."""

from __future__ import annotations

import numpy as np

from flexapod.arrays import Array
from flexapod.views.scene.shapes import Drawing

PARTS = (0.5, 0.38, 0.62, 0.26, 0.74, 0.14, 0.86)
"""Places of a name on its rod, of its length, the first that is free counts."""
APART = 0.06
"""Distance of two names as seen, of the robot's extent: some letters, and the perspective of what is far."""
COVERED = 0.018
"""Distance of a name from a rod of another leg in front of it as seen, of the robot's extent: a letter."""


def name_parts(shown: Drawing, eye: Array, size: float) -> Array:
    """Part of its rod (legs,) at which each leg has its name, so that none covers another one or seems to be of another leg.

    Args:
        eye: (3,) where the camera is [m].
        size: extent of the robot [m].

    Checked by: tests/views/test_robot_scene.py.
    """
    d = _unit(eye - shown.middle.mean(axis=0))
    flat = np.eye(3) - np.outer(d, d)
    taken: list[Array] = []
    parts = []
    for k in range(len(shown.named)):
        places = {part: name_place(shown, k, part) for part in PARTS}
        room = {
            part: min(
                min((float(np.linalg.norm(flat @ p - q)) for q in taken), default=np.inf) / APART,
                _in_front(shown, k, p, _unit(eye - p)) / COVERED,
            )
            for part, p in places.items()
        }
        part = next((part for part in PARTS if room[part] > size), max(PARTS, key=lambda part: room[part]))
        taken.append(flat @ places[part])
        parts.append(part)
    return np.array(parts)


def name_place(shown: Drawing, leg: int, part: float) -> Array:
    """The place (3,) of a leg's name at a part of its rod."""
    rod = shown.named[leg]
    return np.asarray(shown.rods.start[rod] + part * (shown.rods.end[rod] - shown.rods.start[rod]))


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _in_front(shown: Drawing, leg: int, place: Array, d: Array) -> float:
    """Distance [m] as seen along d of a place on a leg from the nearest rod of another leg that is nearer to the camera."""
    others = np.array(shown.rods.leg) != leg
    if not others.any():
        return np.inf
    start, along = (np.array(a)[others] for a in (shown.rods.start, np.subtract(shown.rods.end, shown.rods.start)))
    flat = along - np.outer(along @ d, d)
    square = (flat**2).sum(axis=1)
    part = np.clip(((place - start) * flat).sum(axis=1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    apart = start + part[:, None] * along - place
    depth = apart @ d
    away = np.linalg.norm(apart - np.outer(depth, d), axis=1) - np.array(shown.rods.radius)[others]
    return float(np.where(depth > 0.0, away, np.inf).min())
