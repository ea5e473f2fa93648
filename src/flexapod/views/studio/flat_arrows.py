"""Arrows and arcs of forces in the scene: flat, in one colour without light or shade, the same from every side.

viser draws line segments of a thickness in metres without light, each facing the camera. A shaft is a bundle of such lines, a
head is a cone of them from the tip to a ring; the lines of both are near enough to each other to seem filled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array

if TYPE_CHECKING:
    import viser

Shade = tuple[int, int, int]

SHAFT, RING = 4, 18
"""Lines of a shaft and of a head."""
SHAFT_RADIUS, RING_RADIUS, HEAD_LENGTH = 0.5, 2.2, 5.5
"""Radius of the bundle, of the ring, and length of the head, of a line's thickness: a shaft is two lines wide, a head five."""


def arrow_lines(points: Array, thick: float) -> Array:
    """Lines (n * (SHAFT + RING), 2, 3) of arrows from and to points (n, 2, 3) [m], each `thick` metres thick.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    way = points[:, 1] - points[:, 0]
    length = np.linalg.norm(way, axis=1)
    z = way / length[:, None]
    side = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x = np.cross(z, side)
    x /= np.linalg.norm(x, axis=1)[:, None]
    y = np.cross(z, x)
    head = np.minimum(HEAD_LENGTH * thick, length)
    wide = RING_RADIUS / HEAD_LENGTH * head
    neck = points[:, 1] - head[:, None] * z
    tip = points[:, 1] - 0.5 * thick * z  # lines have round ends
    shaft = np.minimum(SHAFT_RADIUS * thick, wide)[:, None, None] * _circle(SHAFT, x, y)
    ring = wide[:, None, None] * _circle(RING, x, y)
    lines = [
        np.stack([points[:, None, 0] + shaft, neck[:, None] + shaft], axis=2),
        np.stack([np.broadcast_to(tip[:, None], ring.shape), neck[:, None] + ring], axis=2),
    ]
    return np.concatenate(lines, axis=1).reshape(-1, 2, 3)


def _circle(count: int, x: Array, y: Array) -> Array:
    """Unit vectors (n, count, 3) round the axes that x, y (n, 3) are across."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.asarray(np.cos(angle)[:, None] * x[:, None] + np.sin(angle)[:, None] * y[:, None])


class FlatLines:
    """Lines in one colour under a name of the scene tree: made when there are any, hidden while there are none.

    Args:
        thick: thickness of a line [m].
    """

    def __init__(self, scene: viser.SceneApi, name: str, shade: Shade, thick: float) -> None:
        self.scene, self.name, self.shade, self.thick = scene, name, shade, thick
        self.node: Any = None

    def draw(self, lines: Array) -> None:
        """Show lines (m, 2, 3) in place of those before."""
        if self.node is None and len(lines):
            self.node = self.scene.add_line_segments(self.name, lines, self.shade, thickness=self.thick)
        elif self.node is not None:
            self.node.visible = len(lines) > 0
            if len(lines):
                self.node.points = lines.astype(np.float32)

    def arrows(self, points: Array) -> None:
        """Show arrows from and to points (n, 2, 3) in place of what was shown before."""
        self.draw(arrow_lines(points, self.thick))

    def remove(self) -> None:
        """Take the lines out of the scene."""
        if self.node is not None:
            self.node.remove()
