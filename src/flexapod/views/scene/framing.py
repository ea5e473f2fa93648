"""Size of a robot in a Plotly picture: the box of the scene is scaled until all that is drawn lies within the picture.

The box has its centre at the origin; e is the eye, in the box's units, and looks at the origin. A point p is seen at

.. math:: x = r \\cdot p / d, \\qquad y = u \\cdot p / d, \\qquad d = |e| - p \\cdot e / |e|

with r to the right and u upwards; the picture shows |y| up to tan(22.5 deg).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array

if TYPE_CHECKING:
    import plotly.graph_objects as go

HALF = float(np.tan(np.radians(22.5)))
"""Half the height of the picture at a distance of one."""
WIDE = 1.2
"""Width over height that every picture has at least."""
STEPS = 40


def framed(figure: go.Figure, fill: float) -> Any:
    """Scale the box of a three-dimensional figure with a perspective camera so that its points fill a part of the picture.

    Args:
        fill: part of the height, or of the width, that is filled: 0 to 1; axes and their names need the rest.

    Checked by: tests/views/test_robot_scene.py.
    """
    points = np.hstack([[trace.x, trace.y, trace.z] for trace in figure.data]).astype(float).T
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-3 * float((high - low).max()))
    shape = (points - 0.5 * (low + high)) / span.max()
    camera = figure.layout.scene.camera
    eye, up = (np.array([at.x, at.y, at.z], dtype=float) for at in (camera.eye, camera.up))
    small, large = 0.0, 4.0
    for _ in range(STEPS):
        middle = 0.5 * (small + large)
        small, large = (middle, large) if place_in_picture(middle * shape, eye, up) <= fill else (small, middle)
    figure.update_scenes(aspectmode="manual", aspectratio=dict(zip("xyz", map(float, small * span / span.max()), strict=True)))
    return figure


def place_in_picture(points: Array, eye: Array, up: Array) -> float:
    """Place of points (n, 3) relative to the border of the picture: 1 is there, infinite behind the eye."""
    distance = float(np.linalg.norm(eye))
    ahead = -eye / distance
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    depth = distance + points @ ahead
    if depth.min() <= 0.05 * distance:
        return np.inf
    across, above = np.abs(points @ right) / depth, np.abs(points @ np.cross(right, ahead)) / depth
    return float(max(above.max() / HALF, across.max() / (WIDE * HALF)))
