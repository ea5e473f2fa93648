"""Parts of a robot as drawings need them: legs, links, closing joints, beams and meshes.

Views import the public verbs only, so that the types of these parts are said by what a drawing needs of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flexapod.arrays import Array


class DrawnPlace(Protocol):
    """A frame in another one."""

    @property
    def rotation(self) -> Array:
        """Axes (3, 3), in columns."""

    @property
    def position(self) -> Array:
        """Origin (3,) [m]."""


class DrawnLink(Protocol):
    """A link and the joint that carries it."""

    @property
    def joint(self) -> str:
        """Name of the joint in the robot file."""

    @property
    def kind(self) -> str:
        """`R`, `P` or another kind of joint."""

    @property
    def parent(self) -> int:
        """Link that carries the joint; -1 for the base."""

    @property
    def actuated(self) -> bool:
        """An actuator drives the joint."""

    @property
    def elastic(self) -> bool:
        """The joint is a coordinate of a flexible body."""


class DrawnClosing(Protocol):
    """A joint that closes a loop."""

    @property
    def type(self) -> str:
        """Type of the joint, as in the robot file: `spherical`, `universal`, ..."""

    @property
    def link(self) -> int:
        """Link of the leg that has the joint's first half; -1 for the base."""

    @property
    def on_link(self) -> DrawnPlace:
        """The first half, in the link's frame; z along its axis."""


class DrawnLeg(Protocol):
    """A leg: its links, and the joint to the platform."""

    @property
    def links(self) -> Sequence[DrawnLink]:
        """From the base on."""

    @property
    def closing(self) -> DrawnClosing:
        """The joint to the platform."""


class Beam(Protocol):
    """An element of a flexible leg."""

    @property
    def root(self) -> int:
        """Link that the element begins on."""

    @property
    def tip(self) -> int:
        """Link whose frame is at its far end."""

    @property
    def axes(self) -> Array:
        """Axes (3, 3) of the element in the frame of its root, x along it."""

    @property
    def links(self) -> tuple[int, ...]:
        """Links whose joints are its coordinates."""

    @property
    def rooted(self) -> object:
        """Data of a body that is no beam; None for a beam."""

    @property
    def basis(self) -> Array | None:
        """Shapes of a reduced beam; None for others."""

    def inner_line(self, places: Array, modes: Array) -> Array:
        """Displacement (p, 3) that the modes of a reduced beam add at places from 0 (root) to 1 (tip)."""


class DrawnMesh(Protocol):
    """A mesh of a body."""

    @property
    def leg(self) -> int:
        """Leg of the body; -1 for the platform."""

    @property
    def link(self) -> int:
        """Link of the body."""
