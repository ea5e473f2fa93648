"""Items that the studio draws besides a robot itself, and the colours of its renderer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

import flexapod as fp
from flexapod.views.scene.colours import RED, colour, rgb
from flexapod.views.scene.shapes import Drawing


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Options of what is drawn besides the robot.

    Args:
        deformation: factor on the elastic coordinates.
        forces, reactions, frames, labels: drawn or not.
        values: the force of every actuator as a number beside its arrow.
        opened: beams are cut open in the middle, so that their sections are seen.
        arrow_scale: factor on the length of arrows.
        largest: displacement [m] that the colours of a deformed platform end at; 0 draws it in one shade.
    """

    deformation: float = 1.0
    forces: bool = True
    reactions: bool = False
    frames: bool = False
    labels: bool = True
    values: bool = False
    opened: bool = False
    arrow_scale: float = 1.0
    largest: float = 0.0


def linear(shades: ArrayLike) -> NDArray[np.uint8]:
    """Colours of instances for the renderer, which takes them as linear light: sRGB decoded."""
    c = np.asarray(shades, dtype=np.float64) / 255.0
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)


def drawing_colours(robot: fp.Robot, now: Drawing, red: set[str], shades: tuple[str, ...] | None) -> NDArray[np.uint8]:
    """Colours of the rods of a drawing with other legs in red: rods in the colour of a leg at fault are replaced."""
    colours = np.array(now.rods.colour, dtype=np.uint8)
    for k, leg in enumerate(robot.legs):
        usual = np.array(rgb(shades[k] if shades else colour(k)), dtype=np.uint8)
        mine = np.all(colours == usual, axis=1)
        if leg.name in red:
            colours[mine] = RED
    return colours
