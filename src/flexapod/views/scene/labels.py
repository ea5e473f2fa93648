"""Where the names of legs stand: on their longest rods, apart from each other as they are seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.views.scene.shapes import Drawing

Array = NDArray[np.float64]

PARTS = (0.5, 0.38, 0.62, 0.26, 0.74)
"""Places of a name on its rod, of its length, the first that is free counts."""
APART = 0.06
"""Distance of two names as seen, of the robot's extent: some letters, and the perspective of what is far."""


def name_parts(shown: Drawing, seen: Array, size: float) -> Array:
    """Part of its rod (legs,) at which each leg has its name, so that none covers another one.

    Args:
        seen: (3,) direction towards the camera.
        size: extent of the robot [m].

    Checked by: tests/views/test_robot_scene.py.
    """
    d = seen / np.linalg.norm(seen)
    flat = np.eye(3) - np.outer(d, d)
    taken: list[Array] = []
    parts = []
    for k in range(len(shown.named)):
        places = {part: flat @ name_place(shown, k, part) for part in PARTS}
        gaps = {part: min((float(np.linalg.norm(p - q)) for q in taken), default=np.inf) for part, p in places.items()}
        part = next((part for part in PARTS if gaps[part] > APART * size), max(PARTS, key=lambda part: gaps[part]))
        taken.append(places[part])
        parts.append(part)
    return np.array(parts)


def name_place(shown: Drawing, leg: int, part: float) -> Array:
    """The place (3,) of a leg's name at a part of its rod."""
    rod = shown.named[leg]
    return np.asarray(shown.rods.start[rod] + part * (shown.rods.end[rod] - shown.rods.start[rod]))
