"""A force on the platform that is dragged: an arrow from the platform's origin to a handle, to the scale of the force arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.arrows import LONGEST
from flexapod.views.studio.flat_arrows import FlatLines

if TYPE_CHECKING:
    import viser

SHADE, THICK = (0, 0, 0), 0.008
"""Colour of the arrow, and thickness of its lines, of the extent."""
PART = 0.55
"""Height of the handle above the platform while there is no force, as a part of the longest arrow."""


class ForceHandle:
    """Handle and arrow in the scene; shown on request.

    Args:
        size: extent of the robot [m].
        largest: force [N] that the longest arrow represents.
        up: (3,) unit vector against gravity.
        axes: along which the force may be dragged: the plane of a planar robot, else all.

    Checked by: tests/studio/test_studio_drag.py.
    """

    def __init__(self, scene: viser.SceneApi, name: str, size: float, largest: float, up: Array, axes: str = "xyz") -> None:
        self.scene, self.name, self.size, self.up = scene, name, size, up
        self.newtons = largest / (LONGEST * size)
        self.axes = np.array([float(a in axes) for a in "xyz"])
        self.handle = scene.add_transform_controls(
            f"{name}/handle", scale=0.07 * size, line_width=1.6, depth_test=False, opacity=0.9, disable_rotations=True,
            disable_sliders=True, visible=False, active_axes=("x" in axes, "y" in axes, "z" in axes),
        )  # fmt: skip
        self.arrow = FlatLines(scene, f"{name}/arrow", SHADE, THICK * size)
        self.shown = False

    def remove(self) -> None:
        """Take handle and arrow away."""
        self.handle.remove()
        self.arrow.remove()

    def force_at(self, place: ArrayLike, state: fp.State) -> tuple[float, float, float]:
        """The force (3,) [N] that a place of the handle means."""
        x, y, z = self.axes * self.newtons * (np.asarray(place, dtype=np.float64) - state.position)
        return float(x), float(y), float(z)

    def draw(self, state: fp.State, force: tuple[float, ...], *, move: bool) -> None:
        """Arrow and handle at the platform; the handle itself stays where a person holds it."""
        self.handle.visible = self.shown
        if move:
            along = np.array(force) / self.newtons if any(force) else PART * LONGEST * self.size * self.up
            self.handle.position = tuple(state.position + along)
        ends = [[state.position, state.position + np.array(force) / self.newtons]] if any(force) else []
        self.arrow.arrows(np.array(ends).reshape(-1, 2, 3))
