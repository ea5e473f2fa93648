"""The joint types of the robot file: their elementary motions, and the keys that they need.

A joint is a sequence of elementary ones: R rotates about and P slides along axis 0, 1 or 2 of the joint's frame, whose z is
`axis` (spherical and free joints: the axes of the `from` body). A universal joint makes its two axes itself.
"""

from __future__ import annotations

from typing import Literal

MOTIONS: dict[str, tuple[tuple[Literal["R", "P"], int], ...]] = {
    "revolute": (("R", 2),),
    "prismatic": (("P", 2),),
    "cylindrical": (("P", 2), ("R", 2)),
    "screw": (("R", 2), ("P", 2)),
    "planar": (("P", 0), ("P", 1), ("R", 2)),
    "universal": (("R", 0), ("R", 1)),
    "spherical": (("R", 0), ("R", 1), ("R", 2)),
    "free": (("P", 0), ("P", 1), ("P", 2), ("R", 0), ("R", 1), ("R", 2)),
    "fixed": (),
}
"""Elementary joints of each type, from the `from` body outwards; of a screw, the slide follows the rotation."""

DOF = {name: len(motions) for name, motions in MOTIONS.items()}
"""Number of coordinates of each type; those of a screw are one degree of freedom."""

WORDS: dict[str, tuple[str, ...]] = {
    "universal": ("axis1", "axis2", "direction", "cross"),
    "screw": ("axis", "axis_on", "pitch"),
    "spherical": (),
    "free": (),
    "fixed": (),
}
"""Words for axes that a type takes; the others take `axis` and `axis_on`."""

DRIVEN = ("revolute", "prismatic", "screw")
"""Types that an actuator can drive: by their first coordinate."""

CUT = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "fixed")
"""Types whose closing equations are written as they are; others, and joints whose coordinates something acts on, close their
loop by a fixed joint behind them."""


def words_of(kind: str) -> tuple[str, ...]:
    """Words for axes that a type of joint takes."""
    return WORDS.get(kind, ("axis", "axis_on"))
