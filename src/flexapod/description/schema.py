"""The robot file as a pydantic schema: the one source of the JSON Schema, the reference page and the checks.

A file says what a robot is made of: bodies, joints between two bodies, legs as a template plus what differs per leg.
Vectors are in the frame that the field's description names; quantities are SI numbers or strings with a unit.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from flexapod.description.friction import Friction as Friction
from flexapod.description.schema_flexible import Flag, Model, Text
from flexapod.description.schema_flexible import Flexible as Flexible
from flexapod.description.schema_flexible import Rayleigh as Rayleigh
from flexapod.description.schema_flexible import Reduction as Reduction
from flexapod.description.schema_flexible import Section as Section
from flexapod.description.schema_vectors import Direction, HomeOrDirection, OneOrMore, Position
from flexapod.description.schema_vectors import PolarDirection as PolarDirection
from flexapod.description.schema_vectors import PolarPoint as PolarPoint
from flexapod.description.units import (
    Acceleration,
    AccelerationSize,
    Angle,
    AngleSize,
    AngularAcceleration,
    AngularVelocity,
    Coordinate,
    CoordinateName,
    DamperRate,
    Force,
    Fraction,
    InertiaValue,
    Length,
    LengthSize,
    Mass,
    MassOrInertia,
    Moment,
    Name,
    Number,
    Power,
    Rate,
    Reference,
    SharedNumber,
    SignedForce,
    SignedForceOrTorque,
    Size,
    SpringRate,
    Stiffness,
    Velocity,
    Viscous,
)


def _euler_angles(value: object) -> Any:
    return value if isinstance(value, list) else [value]


def _empty(value: object) -> Any:
    return {} if value is None else value


EulerAngles = Annotated[list[Angle], Field(min_length=1, max_length=3), BeforeValidator(_euler_angles)]


class Rotation(Model):
    """An orientation: child axes seen from the parent frame. Give exactly one of the forms.

    An Euler sequence is a key such as ``XYZ: [a, b, c]`` (intrinsic, upper case) or ``xyz: [a, b, c]``
    (extrinsic, lower case), one to three letters, as SciPy has it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, EulerAngles]

    matrix: Annotated[list[Direction], Field(min_length=3, max_length=3)] | None = Field(
        default=None, description="rows of the parent-from-child rotation matrix"
    )
    quat_wxyz: Annotated[list[Number], Field(min_length=4, max_length=4)] | None = Field(
        default=None, description="unit quaternion, scalar first"
    )
    axis: Direction | None = Field(default=None, description="rotation axis, with `angle`")
    angle: Angle | None = Field(default=None, description="rotation angle about `axis`")
    toward_x: Direction | None = Field(default=None, description="child x axis in the parent frame, with `toward_z`")
    toward_z: Direction | None = Field(
        default=None, description="child z axis in the parent frame (kept; x is made normal to it)"
    )


class Frame(Model):
    """A placed frame."""

    position: Position = Field(default=[0.0, 0.0, 0.0], description="origin in the parent frame")
    rotation: Rotation | None = Field(default=None, description="orientation in the parent frame")


class Tensor(Model):
    """Inertia tensor about the centre of mass."""

    diagonal: Annotated[list[InertiaValue], Field(min_length=3, max_length=3)] | None = Field(
        default=None, description="short for xx, yy, zz"
    )
    xx: InertiaValue = Field(default=0.0, description="moment of inertia about x")
    yy: InertiaValue = Field(default=0.0, description="moment of inertia about y")
    zz: InertiaValue = Field(default=0.0, description="moment of inertia about z")
    xy: InertiaValue = Field(default=0.0, description="entry of the tensor itself (minus the product of inertia)")
    xz: InertiaValue = Field(default=0.0, description="entry of the tensor, as xy")
    yz: InertiaValue = Field(default=0.0, description="entry of the tensor, as xy")


class Inertia(Tensor):
    """Inertia tensor about a named point, in named axes."""

    about: Name = Field(default="com", description="`com`, `origin` (of the body frame) or a named point of the body")
    axes: Name = Field(default="body", description="`body` or one of the body's `frames`")


class Payload(Model):
    """Load that is fixed to a body and moves with it: a tool, a workpiece, a counterweight. A flexible body of a leg holds it
    at the nearest place: a node of a beam, the point of a plate below it, a place where something is attached to a body of a
    file."""

    mass: Mass = Field(description="mass")
    com: Position = Field(default=[0.0, 0.0, 0.0], description="its centre of mass in the body frame")
    rotation: Rotation | None = Field(default=None, description="its own axes, seen from the body frame")
    inertia: Tensor = Field(default_factory=Tensor, description="about its centre of mass, in its own axes; none: a point mass")


class KhalilInertia(Model):
    """Base inertial parameters about the frame origin, as Khalil tabulates them."""

    XX: InertiaValue = Field(default=0.0, description="entry of the tensor about the frame origin")
    XY: InertiaValue = Field(default=0.0, description="entry of the tensor about the frame origin")
    XZ: InertiaValue = Field(default=0.0, description="entry of the tensor about the frame origin")
    YY: InertiaValue = Field(default=0.0, description="entry of the tensor about the frame origin")
    YZ: InertiaValue = Field(default=0.0, description="entry of the tensor about the frame origin")
    ZZ: InertiaValue = Field(default=0.0, description="entry of the tensor about the frame origin")
    MX: Moment = Field(default=0.0, description="first moment, M times the x coordinate of the centre of mass")
    MY: Moment = Field(default=0.0, description="first moment, y")
    MZ: Moment = Field(default=0.0, description="first moment, z")
    M: Mass = Field(default=0.0, description="mass")


class Mesh(Frame):
    """The shape of a body in pictures, from a file beside the robot file. It changes no number of the robot."""

    file: Text = Field(description="STL, OBJ or GLB file beside the robot file")
    unit: Size = Field(default=1.0, description="length of one unit of the file, as `1 mm`")
    mirrored: Literal["xy", "xz", "yz"] | None = Field(default=None, description="reflect the shape in a plane of its own axes")


class Body(Model):
    """A body. Its frame is the frame of the joint that carries it (the platform's: the pose of a motion)."""

    mass: Mass = Field(default=0.0, description="mass")
    com: Position = Field(default=[0.0, 0.0, 0.0], description="centre of mass in the body frame")
    inertia: Inertia = Field(default_factory=Inertia, description="inertia tensor")
    base_parameters: KhalilInertia | None = Field(
        default=None,
        description="instead of mass, com and inertia: first moments and tensor about the frame origin",
    )
    frames: dict[Name, Rotation] = Field(default_factory=dict, description="named axes, seen from the body frame")
    points: dict[Name, Position] = Field(default_factory=dict, description="named points in the body frame")
    payloads: dict[Name, Payload] = Field(
        default_factory=dict, description="payloads fixed to it, in addition to its own mass and inertia"
    )
    flexible: Flexible | None = Field(default=None, description="makes the body flexible")
    mesh: Mesh | None = Field(default=None, description="its shape in pictures; without one it is drawn by rods or as a plate")


class Platform(Body):
    """The moving platform."""

    body: Reference | None = Field(
        default=None,
        description="the platform is this leg's own link, as `leg.body`; it then has no mass of its own here",
    )


class Limits(Model):
    """Limits of an actuator or a passive joint."""

    stroke: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="smallest and largest coordinate; angles of passive joints count from home"
    )
    stop: Stiffness | None = Field(
        default=None, description="stiffness of bump stops at both ends of the stroke; left out: a limit that is only reported"
    )
    angle: AngleSize | None = Field(default=None, description="largest deflection of a universal or spherical joint from home")
    speed: Rate | None = Field(default=None, description="largest rate")
    force: Force | None = Field(default=None, description="largest force or torque")
    power: Power | None = Field(default=None, description="largest power")


JointType = Literal["revolute", "prismatic", "universal", "spherical", "cylindrical", "screw", "planar", "free", "fixed"]


class Joint(Model):
    """A joint from one body to the next. A joint to the platform, or to a body that another joint places, closes a loop.

    The frame of a body that a joint places sits at the joint centre (for a prismatic joint: at
    `at + axis * (coordinate + zero)`); at coordinate zero its axes are those of the `from` body, turned by `rotation`.
    """

    type: JointType = Field(description="kind of joint")
    from_: Reference = Field(
        alias="from", description="body on the base side; `base` is the leg's base frame, `leg.body` a body of another leg"
    )
    to: Reference = Field(
        description="body on the far side; `platform`, a body that another joint places, or `leg.body` of any leg closes a loop"
    )
    at: Position = Field(default=[0.0, 0.0, 0.0], description="joint centre in the `from` frame")
    on: Position = Field(default=[0.0, 0.0, 0.0], description="joint centre in the `to` frame (closing joints only)")
    axis: Direction | None = Field(
        default=None, description="axis in the `from` frame; of a planar joint the normal of its plane"
    )
    axis_on: Direction | None = Field(default=None, description="closing joints: the same axis in the `to` frame")
    axis1: Direction | None = Field(default=None, description="universal: axis fixed to the `from` body, in its frame")
    axis2: Direction | None = Field(default=None, description="universal: axis fixed to the `to` body, in its frame")
    pitch: Length | None = Field(default=None, description="screw: advance along the axis per revolution; negative: left-handed")
    direction: Annotated[Literal["home"] | list[Number], HomeOrDirection()] | None = Field(
        default=None,
        description="universal: z axis of the `to` frame at zero, in the `from` frame; y is axis2 = z x axis1. "
        "`home`: from the joint to the leg's platform joint at home; a beam then has its x axis there, along which it runs",
    )
    cross: Name | None = Field(default=None, description="universal: body of the cross (x = axis1, y = axis2)")
    rotation: Rotation | None = Field(default=None, description="axes of the `to` frame at zero, seen from the `from` frame")
    actuated: Flag = Field(default=False, description="driven by a motor (revolute, prismatic and screw joints)")
    zero: Coordinate = Field(default=0.0, description="actuated or prismatic: displacement at which the coordinate is zero")
    start: Annotated[list[Coordinate] | Coordinate, OneOrMore()] | None = Field(
        default=None, description="coordinates near which the leg is assembled at home (chooses the branch)"
    )
    limits: Limits | None = Field(default=None, description="limits of stroke, angle, force, speed and power")
    friction: Friction | None = Field(default=None, description="friction of the joint")
    inertia: MassOrInertia = Field(default=0.0, description="rotor inertia seen at the coordinate (Khalil's IA)")
    stiffness: Stiffness | None = Field(
        default=None, description="spring, unloaded at home or at `rest`; an actuator drives through it"
    )
    damping: Viscous | None = Field(default=None, description="damper at the joint, parallel to the spring")
    rest: Coordinate | None = Field(
        default=None, description="coordinate at which the spring is unloaded, of an angle counted from home; left out: home"
    )
    preload: SignedForceOrTorque = Field(
        default=0.0, description="constant force or torque in addition to the spring; positive acts towards smaller coordinates"
    )


class Row(Model):
    """A row of a Khalil-Kleinfinger table: body j behind its joint, seen from the antecedent frame."""

    body: Name = Field(description="name of the body; the joint is called q<name>")
    after: Name | None = Field(default=None, description="antecedent body; left out: the row before, `base` for the first")
    mu: Literal[0, 1] = Field(default=0, description="1: actuated")
    sigma: Literal[0, 1, 2] = Field(default=0, description="0 revolute, 1 prismatic, 2 fixed")
    gamma: Angle = Field(default=0.0, description="rotation about z to the common normal")
    b: Length = Field(default=0.0, description="displacement along z, with gamma")
    alpha: Angle = Field(default=0.0, description="rotation about x")
    d: Length = Field(default=0.0, description="displacement along x, with alpha")
    theta: Angle = Field(default=0.0, description="constant part; a revolute coordinate adds to it")
    r: Length = Field(default=0.0, description="constant part; a prismatic coordinate adds to it")
    start: Coordinate | None = Field(default=None, description="coordinate near which the leg is assembled at home")
    inertial: KhalilInertia = Field(default_factory=KhalilInertia, description="base inertial parameters")
    IA: MassOrInertia = Field(default=0.0, description="rotor inertia")
    limits: Limits | None = Field(default=None, description="limits of stroke, angle, force, speed and power")
    friction: Friction | None = Field(default=None, description="friction of the joint")
    stiffness: Stiffness | None = Field(default=None, description="spring at the joint; an actuator drives through it")
    damping: Viscous | None = Field(default=None, description="damper at the joint")
    points: dict[Name, Position] = Field(default_factory=dict, description="named points in the body frame")
    flexible: Flexible | None = Field(default=None, description="makes the body flexible")


class Leg(Model):
    """A leg: joints and bodies by name, and optionally a Khalil-Kleinfinger table before them."""

    frame: Frame = Field(default_factory=Frame, description="the leg's base frame in the world")
    platform_frame: Frame = Field(
        default_factory=Frame,
        description="frame on the platform in which this leg's `on` and `axis_on` are given",
    )
    branch: Literal[-1, 1] = Field(default=1, description="sign of the root in closed-form inverse kinematics (working mode)")
    table: list[Row] = Field(default_factory=list, description="Khalil-Kleinfinger table")
    joints: dict[Name, Joint] = Field(
        default_factory=dict, description="joints by name, each after the one that carries its `from` body"
    )
    bodies: dict[Name, Annotated[Body, BeforeValidator(_empty)]] = Field(default_factory=dict, description="bodies by name")
    copy_: Name | None = Field(
        default=None, alias="copy", description="in `each`: copy of the leg of that name; values given here replace its values"
    )
    mirrored: Literal["xy", "xz", "yz"] | None = Field(
        default=None, description="in `each`: the leg's mirror image in a plane of the world, and of the platform"
    )
    rotated: Angle | None = Field(
        default=None, description="in `each`: the leg rotated about z of the world, and about z of the platform"
    )


class Legs(Model):
    """The legs: their shared template, and per leg the differences (keys of the leg, or names of its joints and bodies)."""

    template: dict[str, Any] | None = Field(
        default=None, description="values shared by all legs; need not be complete"
    )
    each: dict[Name, Annotated[dict[str, Any], BeforeValidator(_empty)]] = Field(
        min_length=1,
        description="per leg: `frame`, `branch`, ..., or the name of a joint, body or table row with the fields that differ",
    )


class Home(Model):
    """The home pose of the platform."""

    position: Position = Field(default=[0.0, 0.0, 0.0], description="platform frame origin in the world")
    rotation: Rotation | None = Field(default=None, description="orientation of the platform in the world")


class Sampling(Model):
    """Box of random states around home for tests and benchmarks. Half-widths."""

    position: Position = Field(default=[0.0, 0.0, 0.0], description="per world axis")
    rotation: Annotated[list[Angle], Field(min_length=3, max_length=3)] = Field(
        default=[0.0, 0.0, 0.0], description="rotation vector, per world axis"
    )
    velocity: Velocity = Field(default=1.0, description="each component")
    angular_velocity: AngularVelocity = Field(default=1.0, description="each component")
    acceleration: AccelerationSize = Field(default=5.0, description="each component")
    angular_acceleration: AngularAcceleration = Field(default=5.0, description="each component")
    condition: Fraction = Field(default=1e4, description="largest condition number of the Jacobian that is sampled")


class PointForce(Model):
    """A force between two points, along the line between them: tension = stiffness (distance - length) + damping rate + preload.

    A gas spring has a negative preload; a constant force has a preload alone.
    """

    from_: Reference = Field(alias="from", description="body of the first point: `base` (the world), `platform` or `leg.body`")
    at: Position = Field(default=[0.0, 0.0, 0.0], description="first point in the frame of its body")
    to: Reference = Field(description="body of the second point")
    on: Position = Field(default=[0.0, 0.0, 0.0], description="second point in the frame of its body")
    stiffness: SpringRate = Field(default=0.0, description="of the spring")
    length: LengthSize = Field(default=0.0, description="free length of the spring")
    damping: DamperRate = Field(default=0.0, description="of the damper")
    preload: SignedForce = Field(default=0.0, description="constant tension; negative pushes the points apart")


class RobotFile(Model):
    """A parallel robot: a platform carried by legs."""

    flexapod: Literal[1] = Field(description="version of the file format")
    name: Name = Field(description="short name")
    title: Text = Field(default="", description="one line for tables")
    source: Text = Field(description="where the numbers come from")
    notes: list[Text] = Field(default_factory=list, description="readings, assumptions")
    parameters: dict[Name, SharedNumber] = Field(
        default_factory=dict, description="numbers by name, for others to refer to: `$radius`, `2 * $radius - 5 mm`"
    )
    gravity: Annotated[list[Acceleration], Field(min_length=3, max_length=3)] = Field(
        description="in the world frame; there is no default"
    )
    plane: Literal["xy", "xz", "yz"] | None = Field(default=None, description="plane of motion of a planar robot")
    characteristic_length: Size | None = Field(
        default=None, description="length that makes translations and rotations comparable, e.g. in condition numbers"
    )
    allow_unphysical: bool = Field(default=False, description="accept inertias that no body can have, with a warning")
    home: Home = Field(description="pose in which the robot is assembled")
    sampling: Sampling | None = Field(default=None, description="box of random states for tests")
    platform: Platform = Field(description="the moving platform")
    legs: Legs = Field(description="the legs: a template, and what differs")
    couplings: dict[Name, dict[CoordinateName, Number]] = Field(
        default_factory=dict,
        description="gears, belts, racks: `leg.joint` with factors, or `leg.joint.1` of a joint with several coordinates; the "
        "sum of factor times displacement from home is zero",
    )
    forces: dict[Name, PointForce] = Field(default_factory=dict, description="springs, dampers and forces between two points")
