"""Data of a resolved robot: bodies, links with one coordinate each, closing joints, legs.

A link frame has its z axis along its joint axis, as in Khalil's tables: child = parent * placement * Rz(q + zero) or
Tz(q + zero). Inertial data is about the link frame origin, in link axes: mass, first moment m*c, tensor. In this form
tables of regrouped base parameters and physical bodies are the same thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from flexapod.arrays import Array
from flexapod.description.friction import LAWS as LAWS
from flexapod.description.friction import Friction as Friction
from flexapod.description.friction import friction_unit as friction_unit
from flexapod.description.schema import Limits
from flexapod.description.schema_flexible import Flexible
from flexapod.robot.geometry import Pose, frozen

if TYPE_CHECKING:
    from flexapod.flexible.body_from_root import RootedBody

Kind = Literal["R", "P", "fixed"]
ClosingType = Literal["revolute", "prismatic", "universal", "spherical", "cylindrical", "fixed"]
Architecture = Literal["UPS", "PUS", "RUS", "general"]


@dataclass(frozen=True, kw_only=True)
class RigidBody:
    """Inertial data of a body about the origin of its frame, in that frame's axes.

    Args:
        name: as in the file; ``leg.body`` in tables.
        mass: [kg].
        first_moment: (3,) mass times centre of mass [kg m].
        inertia: (3, 3) tensor about the origin [kg m^2].
        points: named points in this frame [m].
        body_axes: (3, 3) axes of the body frame of the file, seen from this frame.
        flexible: the file's words, where the body is flexible.
        rooted: the body that they describe, of a plate or file of modes that is a link.
    """

    name: str
    mass: float
    first_moment: Array
    inertia: Array
    points: Mapping[str, Array]
    body_axes: Array
    flexible: Flexible | None = None
    rooted: RootedBody | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", MappingProxyType(dict(self.points)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "points": dict(self.points)}

    def __setstate__(self, state: dict[str, object]) -> None:
        points = state["points"]
        assert isinstance(points, dict)
        self.__dict__.update({**state, "points": MappingProxyType(points)})

    def seen_from(self, R: Array) -> RigidBody:
        """The same body, same origin, written in other axes: v_new = R v_old."""
        return RigidBody(
            name=self.name,
            mass=self.mass,
            first_moment=frozen(R @ self.first_moment),
            inertia=frozen(R @ self.inertia @ R.T),
            points={name: frozen(R @ p) for name, p in self.points.items()},
            body_axes=frozen(R @ self.body_axes),
            flexible=self.flexible,
            rooted=self.rooted,
        )


@dataclass(frozen=True, kw_only=True)
class Link:
    """A frame of a leg's tree behind one elementary joint.

    Args:
        joint: name of the joint in the file.
        coordinate: name of its coordinate: the joint's, or ``hip.1``, ``hip.2`` for joints with several.
        kind: revolute or prismatic about/along z, or fixed.
        parent: index of the parent link in the leg, -1 for the world.
        placement: this frame in the parent's at displacement zero.
        zero: displacement at coordinate zero [m or rad].
        body: what moves with this frame, if it has a name; None for the massless inner frame of a joint.
        actuated: driven by an actuator.
        inertia: rotor inertia at the coordinate [kg or kg m^2].
        elastic: the coordinate is a deformation: solved for to close a loop only where nothing else is left.
        spring: a spring, a damper, a constant force or bump stops act at the coordinate.
        stiffness, damping: theirs [N/m, N m/rad; N s/m, N m s/rad].
        rest: coordinate at which the spring is unloaded; None: home.
        preload: constant force towards smaller coordinates [N, N m].
        stop: stiffness of bump stops at the ends of the stroke [N/m, N m/rad].
        pitch: of a screw's slide, its advance per revolution of the link before it [m]; 0 elsewhere.
    """

    joint: str
    coordinate: str
    kind: Kind
    parent: int
    placement: Pose
    zero: float = 0.0
    body: RigidBody | None = None
    actuated: bool = False
    inertia: float = 0.0
    start: float | None = None
    limits: Limits | None = None
    friction: Friction | None = None
    from_table: bool = False
    elastic: bool = False
    spring: bool = False
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | None = None
    preload: float = 0.0
    stop: float = 0.0
    pitch: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Closing:
    """A joint at which a leg is cut: its two halves, on a link of the leg and on the platform or on a link of any leg.

    Half frames have z along the joint axis (universal: on the link z = axis1, on the other side z = axis2).

    Args:
        to: (leg, link) whose frame `on_platform` is placed in; None for the platform.
    """

    joint: str
    type: ClosingType
    link: int
    on_link: Pose
    on_platform: Pose
    limits: Limits | None = None
    friction: Friction | None = None
    to: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class Coupling:
    """A gear, belt or rack: the sum of factor times coordinate keeps its value at home.

    Args:
        terms: (leg, index among its moving coordinates, factor).
        home: the sum at home.
    """

    name: str
    terms: tuple[tuple[int, int, float], ...]
    home: float


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A leg as a tree of links and the joints that close its loops.

    Args:
        closing: the joint to the platform, or the first that closes a loop.
        cuts: joints that close further loops.
        couplings: relations whose first coordinate is the leg's.
        home: (n,) displacements-less-zero (coordinates) of its links at the home pose.
    """

    name: str
    links: tuple[Link, ...]
    closing: Closing
    branch: int
    architecture: Architecture
    home: Array
    cuts: tuple[Closing, ...] = ()
    couplings: tuple[Coupling, ...] = ()

    @property
    def closings(self) -> tuple[Closing, ...]:
        """All joints at which the leg is cut."""
        return (self.closing, *self.cuts)

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Indices of the links that have a coordinate."""
        return tuple(i for i, link in enumerate(self.links) if link.kind != "fixed")
