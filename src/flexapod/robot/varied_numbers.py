"""Numbers of a robot that vary per sample, in verbs over many designs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexapod.arrays import Array
    from flexapod.robot.robot import Robot

INERTIAL = (".mass", ".first_moment.", ".inertia.", ".rotor", ".friction.")
"""Parts of the names of numbers that say nothing about geometry."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Varied:
    """Values of designs, sample after sample.

    Args:
        count: number n of samples.
        moved: names of `robot.named_values` that differ between designs.
        column: the values (n,) of one of them.
        robots: some designs, built: what holds for all of them (coinciding joints, level planes) holds for every design.
    """

    count: int
    moved: frozenset[str]
    column: Callable[[str], Array]
    robots: tuple[Robot, ...]

    @property
    def geometry(self) -> bool:
        """Whether more than masses, inertias, friction and gravity varies."""
        return any(not name.startswith("gravity.") and not any(part in name for part in INERTIAL) for name in self.moved)


def with_columns(robot: Robot, varied: Varied) -> Robot:
    """The robot with values that vary per sample; results cached for its own values are not kept."""
    found = object.__new__(type(robot))
    found.__dict__.update({k: v for k, v in robot.__dict__.items() if k != "kept"}, varied=varied)
    return found


def value_of(robot: Robot, name: str) -> float | Array:
    """A number of the robot, or its values (n,) where it varies."""
    if robot.varied is not None and name in robot.varied.moved:
        return robot.varied.column(name)
    return robot.values[name]
