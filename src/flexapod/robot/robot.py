"""`Robot`: an immutable parallel robot, resolved from its file. Robots are data: there is one class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import check_mapping, check_text, checked, fields_alone
from flexapod.description.read import Description
from flexapod.description.schema import Sampling
from flexapod.errors import InputError, amount
from flexapod.flexible.body import check_body
from flexapod.robot import flexible_platform as flexible_platforms
from flexapod.robot import summary
from flexapod.robot.architecture import ClosedFormLeg, closed_form
from flexapod.robot.beams import ElasticElement, leg_beams, refuse_unmade
from flexapod.robot.body_meshes import BodyMesh, body_meshes
from flexapod.robot.build import build_legs, build_platform, frame_pose, has_inner_loops, placed, robot_size
from flexapod.robot.elastic_plan import ElasticPlan, elastic_plan, independent_names
from flexapod.robot.flexible_platform import FlexibleShape, make_flexible, rigid_part, structural_zeros
from flexapod.robot.geometry import Pose, frozen
from flexapod.robot.leg_positions import closes_alone, follows_platform
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.link_plan import LinkPlan, link_plan, plan_holds, refused
from flexapod.robot.locked_drives import refuse_locked
from flexapod.robot.mobility import Mobility, floats, mobility, winds
from flexapod.robot.model import Leg, RigidBody
from flexapod.robot.named_values import robot_values
from flexapod.robot.plan import ClosingPlan, closing_plan, fits, platform_plan
from flexapod.robot.point_forces import ForceElement, build_forces
from flexapod.robot.positive_mass import check_grouped
from flexapod.robot.structure import structure
from flexapod.robot.summary import Table

if TYPE_CHECKING:
    from flexapod.description.parameters import ParameterInfo
    from flexapod.flexible import FlexibleBody
    from flexapod.robot.varied_numbers import Varied


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Robot:
    """A parallel robot: platform, legs, gravity, home.

    Args:
        description: the validated robot file; platform: inertia about the platform frame origin, platform axes.
        legs: resolved legs in file order; forces: force elements between two points.
        home: platform frame at home, in the world; gravity: (3,) [m/s^2], world; size: of the drawing [m].
        zeros: names of kernel values that are structurally zero in the file (variants keep them).
        inherited: closing plan of the robot that this one is a variant of.
        origin: the robot that this one is a variant of, at first or second hand: it lends its choices where they still hold.
        flexible_platform: shape moments of a flexible platform, None for a rigid one.
        given_body: it was given by `with_flexible_body`, not by the file; variants keep it.
        varied: values that differ from sample to sample, while a verb evaluates many designs; None else.
    """

    description: Description
    platform: RigidBody
    legs: tuple[Leg, ...]
    home: Pose
    gravity: Array
    size: float
    zeros: frozenset[str] = field(default=frozenset())
    inherited: ClosingPlan | None = None
    origin: Robot | None = None
    flexible_platform: FlexibleBody | None = None
    forces: tuple[ForceElement, ...] = ()
    given_body: bool = False
    varied: Varied | None = None

    __getstate__ = fields_alone

    @property
    def name(self) -> str:
        """Short name."""
        return self.description.file.name

    @property
    def title(self) -> str:
        """One line of description."""
        return self.description.file.title

    @property
    def source(self) -> str:
        """Source of the numbers."""
        return self.description.file.source

    @property
    def planar(self) -> bool:
        """Whether the robot is planar."""
        return self.description.file.plane is not None

    @property
    def sampling(self) -> Sampling:
        """Box of random states around home."""
        return self.description.file.sampling or Sampling()

    @property
    def characteristic_length(self) -> float:
        """Length that makes mixed Jacobians dimensionless [m]."""
        joints = [leg.closing.on_platform.position for leg in self.legs if leg.closing.to is None]
        mean = float(np.mean([np.linalg.norm(p) for p in joints])) if joints else 0.0
        return self.description.file.characteristic_length or mean or self.size

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators: the leg's name, or `leg.joint` where a leg has several."""
        names = []
        for leg in self.legs:
            driven = [link.joint for link in leg.links if link.actuated]
            names += [leg.name] if len(driven) == 1 else [f"{leg.name}.{joint}" for joint in driven]
        return tuple(names)

    @cached_property
    def actuator_units(self) -> tuple[str, ...]:
        """Unit of each actuator coordinate: m or rad."""
        return tuple("m" if link.kind == "P" else "rad" for leg in self.legs for link in leg.links if link.actuated)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the joint coordinates, `leg.joint` or `leg.joint.1`; joints that close a loop have none."""
        return tuple(f"{leg.name}.{leg.links[i].coordinate}" for leg in self.legs for i in leg.moving)

    @cached_property
    def coordinate_units(self) -> tuple[str, ...]:
        """Unit of each joint coordinate: m or rad."""
        return tuple("m" if leg.links[i].kind == "P" else "rad" for leg in self.legs for i in leg.moving)

    @cached_property
    def driven(self) -> tuple[int, ...]:
        """Indices of the actuators among the joint coordinates."""
        return tuple(k for k, link in enumerate(leg.links[i] for leg in self.legs for i in leg.moving) if link.actuated)

    @cached_property
    def closed_forms(self) -> tuple[ClosedFormLeg | None, ...]:
        """Closed-form geometry per leg, None for general legs."""
        return tuple(closed_form(leg) if leg.architecture != "general" else None for leg in self.legs)

    @cached_property
    def parameters(self) -> Mapping[str, ParameterInfo]:
        """Every parameter by dotted path of the robot file, with value and unit."""
        from flexapod.description.parameters import list_parameters

        return MappingProxyType(list_parameters(self.description))

    @checked(path=check_text)
    def parameter(self, path: str) -> float | tuple[float, ...]:
        """The value at a dotted path."""
        from flexapod.description.parameters import get_parameter

        return get_parameter(self.description, path)

    @checked(changes=check_mapping)
    def with_parameters(self, changes: Mapping[str, ArrayLike]) -> Robot:
        """A new robot with other values; the given one is unchanged, and kernels are shared.

        A robot of limited mobility whose lengths change may no longer fit its home pose; it is then assembled at the
        nearest one, unless the change names `home` itself.

        Args:
            changes: dotted paths of the robot file to numbers (SI), lists, or strings with a unit.
        """
        from flexapod.robot.rehoming import variant

        return variant(self, changes)

    @checked(body=check_text, name=check_text)
    def with_payload(
        self, mass: ArrayLike, *, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None, body: str = "platform",
        name: str | None = None,
    ) -> Robot:  # fmt: skip
        """A new robot with something fixed to one of its bodies, as `payloads:` of the robot file.

        Args:
            mass: [kg]; this and the other numbers may be texts with a unit.
            com: (3,) its centre of mass in the body frame [m].
            inertia: (3,) principal moments or (3, 3) tensor about its centre, in body axes [kg m^2]; None: a point mass.
            body: ``"platform"`` or ``"leg.body"``; name: of the payload, `payload`, `payload2`, ... if left out.

        Checked by: tests/robot/test_payloads.py.
        """
        from flexapod.robot.payload import loaded_description

        description = loaded_description(self, mass, com, inertia, body, name)
        return build_robot(description, None, self.plan, None if self.home_from_file else self.home)

    @property
    def home_from_file(self) -> bool:
        """Whether the home pose is that of the file, not one found for a variant."""
        return frame_pose(self.description.file.home).equals(self.home)

    @checked(name=check_text, body=check_body)
    def with_flexible_body(self, name: str, body: FlexibleBody) -> Robot:
        """A new robot with a flexible body as its platform; interfaces are matched by position.

        Args:
            name: ``"platform"``; body: a `FlexibleBody` in axes of the platform frame, with an interface per leg.
        """
        if name != "platform":
            raise InputError(f"name: only the platform can be made flexible this way, not '{name}'")
        robot = replace(self, platform=rigid_part(body, self.platform.points, None), flexible_platform=body, given_body=True)
        object.__setattr__(robot, "zeros", structural_zeros(robot.values))
        return robot

    @cached_property
    def joint_shapes(self) -> Mapping[str, Array]:
        """Shapes (3, N) of a flexible platform at each leg's joint."""
        return {} if self.flexible_platform is None else flexible_platforms.joint_shapes(self.flexible_platform, self.legs)

    @cached_property
    def joint_rotations(self) -> Mapping[str, Array]:
        """Rotations (3, N) of a flexible platform at the joints of legs that do not end in a spherical joint."""
        return {} if self.flexible_platform is None else flexible_platforms.joint_rotations(self.flexible_platform, self.legs)

    @cached_property
    def joint_curving(self) -> Mapping[str, Array]:
        """Matrices (3, N, N) of the quadratic displacement of a stiffened platform at each leg's joint."""
        return {} if self.flexible_platform is None else flexible_platforms.joint_curving(self.flexible_platform, self.legs)

    def joint_displacements(self, modes: Array) -> Array:
        """Displacement (n, legs, 3) of the joints on a flexible platform, platform axes, for modes (n, N)."""
        names = [leg.name for leg in self.legs]
        return flexible_platforms.joint_displacements(names, self.joint_shapes, self.joint_curving, modes)

    @cached_property
    def flexible_shape(self) -> tuple[FlexibleShape, tuple[str, ...]]:
        """Moments that a flexible platform has, and the axes along which its joints move."""
        if self.flexible_platform is None:
            raise RobotBuildError(f"{self.name} has a rigid platform")
        return flexible_platforms.shape_of(self.flexible_platform, self.joint_shapes)

    @cached_property
    def beams(self) -> Mapping[str, tuple[ElasticElement, ...]]:
        """Beam elements of each leg that has any, by leg name."""
        found = {leg.name: leg_beams(leg, self.planar) for leg in self.legs if any(link.elastic for link in leg.links)}
        return MappingProxyType(found)

    @cached_property
    def elastic_names(self) -> tuple[str, ...]:
        """Names of the elastic coordinates: `platform.mode1`, ..., then of legs: `13.u`, or `A.rod.u` where legs share a name."""
        modes = tuple(f"platform.{n}" for n in self.flexible_platform.names) if self.flexible_platform is not None else ()
        short = [k.coordinate for leg in self.legs for k in leg.links if k.elastic]
        long = [f"{leg.name}.{k.coordinate}" for leg in self.legs for k in leg.links if k.elastic]
        return modes + tuple(s if short.count(s) == 1 else name for s, name in zip(short, long, strict=True))

    @cached_property
    def elastic_indices(self) -> tuple[int, ...]:
        """Indices of the legs' elastic coordinates among the joint coordinates."""
        return tuple(k for k, link in enumerate(leg.links[i] for leg in self.legs for i in leg.moving) if link.elastic)

    @cached_property
    def elastic_legs(self) -> bool:
        """Whether the robot needs equations in independent coordinates: a leg deforms, has springs or inner loops, or no closed
        form under a flexible platform; forces act between points; actuators move while the platform is at rest; or its one way to
        move changes its direction."""
        plain = len(self.actuators) == 6 and all(form is not None for form in self.closed_forms)
        general = self.flexible_platform is not None and not plain
        sprung = any(link.elastic or link.spring for leg in self.legs for link in leg.links)
        return general or has_inner_loops(self.legs) or bool(self.forces) or sprung or self.floats or not self.follows_platform

    @property
    def moved_by(self) -> str:
        """``"platform"``, or ``"actuators"`` where a leg deforms or has inner loops: whose motion determines a state."""
        return "actuators" if self.elastic_legs else "platform"

    @cached_property
    def platform_modes(self) -> tuple[str, ...]:
        """Names of the elastic coordinates of the platform."""
        return self.elastic_names[: len(self.elastic_names) - len(self.elastic_indices)]

    @cached_property
    def floats(self) -> bool:
        """Whether actuators can move while the platform is at rest."""
        return floats(self.legs, self.home, self.characteristic_length)

    @cached_property
    def follows_platform(self) -> bool:
        """Whether the platform's pose closes each leg by itself, by the same equations and coordinates everywhere."""
        ways, length = len(self.plan.platform_independent), self.characteristic_length
        return follows_platform(self.legs) and not winds(self.legs, self.home, length, ways)

    @cached_property
    def elastic_plan(self) -> ElasticPlan:
        """Plan of the coordinates that stay independent when the loops of a robot with flexible legs are closed."""
        return elastic_plan(self)

    @cached_property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent coordinates of a robot with flexible legs: actuators, elastic ones, others."""
        return independent_names(self)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The resolved numbers that kernels read, by name."""
        return MappingProxyType(robot_values(self))

    @cached_property
    def structure(self) -> str:
        """Hash of everything that is not a number: robots with equal structure share kernels."""
        return structure(self)

    @cached_property
    def plan(self) -> ClosingPlan:
        """Plan of the coordinates for which the closing of loops is solved."""
        length = self.characteristic_length
        if not closes_alone(self.legs):
            return platform_plan(self.legs, self.home, length)
        if self.inherited is not None and fits(self.inherited, self.legs, self.home, length):
            return self.inherited
        return closing_plan(self.legs, self.home, length)

    @cached_property
    def no_link_plan(self) -> str | None:
        """Reason why the link-axes model does not apply; None where it does."""
        return refused(self)

    @cached_property
    def link_plan(self) -> LinkPlan:
        """Choices of the link-axes model; asked for only where `no_link_plan` is None."""
        lent = self.origin.link_plan if self.origin is not None and self.origin.no_link_plan is None else None
        return lent if lent is not None and plan_holds(self, lent) else link_plan(self)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Cache of what verbs computed for this robot, by their own keys: kernels, conditions."""
        return {}

    @cached_property
    def bodies_by_name(self) -> Mapping[str, RigidBody]:
        """Every body: `platform`, `A.cylinder`, ..."""
        own = {f"{leg.name}.{k.body.name}": k.body for leg in self.legs for k in leg.links if k.body}
        return MappingProxyType({"platform": self.platform, **own})

    @cached_property
    def meshes(self) -> tuple[BodyMesh, ...]:
        """Shapes of bodies from files, for pictures; a file that cannot be read is reported by a warning."""
        return body_meshes(self)

    @cached_property
    def mobility(self) -> Mobility:
        """Mobility by rank at generic poses, compared with the count formula."""
        own = self.description.file.platform.body is None
        return mobility(self.legs, self.home, planar=self.planar, size=self.characteristic_length, has_platform=own)

    @property
    def bodies(self) -> Table:
        """Table of bodies."""
        return summary.bodies(self)

    @property
    def joints(self) -> Table:
        """Table of joints, base to platform."""
        return summary.joints(self)

    @property
    def loops(self) -> Table:
        """Table of legs and the loops that they close."""
        return summary.loops(self)

    def __str__(self) -> str:
        return summary.text(self)

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {amount(len(self.legs), 'leg')}, {amount(len(self.actuators), 'actuator')}>"


def build_robot(
    description: Description, zeros: frozenset[str] | None = None, plan: ClosingPlan | None = None, home: Pose | None = None,
    like: Robot | None = None,
) -> Robot:  # fmt: skip
    """A robot from a validated description.

    Args:
        zeros, plan: structural zeros and closing plan of the robot that this one is a variant of; home: instead of the file's.
        like: the robot that this one is a variant of; it lends the legs that are the same.
    """
    home = home or frame_pose(description.file.home)
    legs, platform = build_legs(description, home, like), build_platform(description)
    joints = {leg.name: leg.closing.on_platform.position for leg in legs}
    with placed(description, ("platform", "flexible")):
        flexible = make_flexible(description, joints, platform.points)
        if flexible is not None:
            platform = rigid_part(flexible, platform.points, description.file.platform.flexible)
    robot = Robot(
        description=description, platform=platform, legs=legs, home=home, gravity=frozen(description.file.gravity),
        size=robot_size(description), inherited=plan, flexible_platform=flexible, forces=build_forces(description, legs, home),
    )  # fmt: skip
    refuse_unmade(robot)
    if like is None and plan is None:
        refuse_locked(robot)
    object.__setattr__(robot, "zeros", structural_zeros(robot.values) if zeros is None else zeros)
    check_grouped(robot)
    return robot
