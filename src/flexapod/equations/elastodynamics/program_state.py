"""State of a robot with flexible legs as inputs of a program, and the motion of all its frames.

Letters: z all coordinates (see `robot.elastic_plan`): platform twist unless a leg's link is the platform, modes of a flexible
platform, coordinates of the legs. World axes throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import LinkPose, chain_columns, chain_motion, chain_poses
from flexapod.equations.closing_rows import half_on_link, half_on_platform, placed_half
from flexapod.equations.elastodynamics.elastic_rotation import elastic_rotation
from flexapod.equations.flexible_platform.joint_shapes import joint_shapes
from flexapod.equations.flexible_platform.kinematics import joint_at
from flexapod.equations.platform_inputs import FrameMotion, pose_inputs, twist_inputs
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.beams import ElasticElement
from flexapod.robot.elastic_plan import ElasticPlan, cut_joints
from flexapod.robot.model import Closing, Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, cross
from flexapod.spatial.vector import zero

UNIT = [Vec([1.0 if i == j else 0.0 for j in range(3)], "W") for i in range(3)]


@dataclass(frozen=True, kw_only=True)
class ElasticState:
    """Inputs of a program: closed coordinates and rates.

    Args:
        q, qd: per leg, coordinates and rates of its moving links.
        p, R, v, w: pose and twist of the platform; None where a leg's link is the platform.
        e, ed: (N,) modes of a flexible platform and rates.
    """

    q: list[list[SX]]
    qd: list[list[SX]]
    p: SX | None
    R: SX | None
    v: SX | None
    w: SX | None
    e: SX
    ed: SX


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A joint at which a loop is cut: its half on a link of the leg (`end`), its half on the platform or on another link."""

    closing: Closing
    end: FrameMotion
    half: FrameMotion


@dataclass(frozen=True, kw_only=True)
class TreeMotion:
    """Motion of all frames: links of every leg, platform, and the two halves of every leg's first closing joint.

    rotations: per leg, (3, N) angular velocity of its half on a flexible platform per mode, world axes; None for balls.
    joints: all joint coordinates, a column.
    cuts: per leg, all joints at which loops are cut; none where a closing joint only says which link is the platform.
    """

    poses: list[list[LinkPose]]
    links: list[list[FrameMotion]]
    platform: FrameMotion
    halves: list[FrameMotion]
    ends: list[FrameMotion]
    shapes: list[SX]
    rotations: list[SX]
    cuts: list[list[Cut]]
    joints: SX


def read_state(b: Program, robot: Robot) -> ElasticState:
    """Declare the inputs of a state: `joint_position`, `joint_velocity` of all joints, elastic ones included, in the order of
    ``robot.coordinates``; the platform's pose and twist unless a link is the platform; `modes`, `modes_velocity`."""
    n, plan = len(robot.coordinates), robot.elastic_plan
    q = b.input("joint_position", (n,), unit="m or rad", doc="coordinates of all joints and beams, loops closed")
    qd = b.input("joint_velocity", (n,), unit="m/s or rad/s", doc="their rates")
    pose: dict[str, SX | None] = dict.fromkeys("pRvw")
    if plan.carrier is None:
        pose = dict(zip("pRvw", (*pose_inputs(b), *twist_inputs(b)), strict=True))
    N = platform_modes(robot)
    e, ed = (b.input(name, (N,)) if N else ca.SX.zeros(0) for name in ("modes", "modes_velocity"))
    return ElasticState(q=by_leg(robot, q), qd=by_leg(robot, qd), e=e, ed=ed, **pose)


def platform_modes(robot: Robot) -> int:
    """Number of modes of a flexible platform."""
    return 0 if robot.flexible_platform is None else len(robot.flexible_platform.names)


def by_leg(robot: Robot, column: SX) -> list[list[SX]]:
    """Entries of a column over all joint coordinates, leg by leg."""
    result, at = [], 0
    for leg in robot.legs:
        result.append([column[at + k] for k in range(len(leg.moving))])
        at += len(leg.moving)
    return result


@dataclass(frozen=True, kw_only=True)
class LegAt:
    """A leg at a state, as expressions.

    Args:
        b: the builder that loops are written with.
        values: numbers of the leg.
        leg: whose.
        beams: its elements.
        first: column of z of its first coordinate.
        q, qd: its coordinates and their rates.
    """

    b: Builder
    values: Values
    leg: Leg
    beams: Sequence[ElasticElement]
    first: int
    q: Sequence[SX]
    qd: Sequence[SX]

    def of_element(self, beam: ElasticElement) -> tuple[SX, SX]:
        """Coordinates (N,) and rates of one of its elements."""
        places = [self.leg.moving.index(i) for i in beam.links]
        return ca.vertcat(*[self.q[k] for k in places]), ca.vertcat(*[self.qd[k] for k in places])


@dataclass(frozen=True, kw_only=True)
class RobotAt:
    """A robot at a state, as expressions: builder, numbers of the robot, robot, state."""

    b: Builder
    values: Values
    robot: Robot
    state: ElasticState

    def leg(self, i: int) -> LegAt:
        """State of one of its legs."""
        leg = self.robot.legs[i]
        return LegAt(
            b=self.b, values=self.values.of(f"legs.{leg.name}"), leg=leg, beams=self.robot.beams.get(leg.name, ()),
            first=self.robot.elastic_plan.first[i], q=self.state.q[i], qd=self.state.qd[i],
        )  # fmt: skip


def robot_at(b: Program, robot: Robot) -> RobotAt:
    """A robot at a state that is declared as inputs of a program."""
    return RobotAt(b=b, values=Values(b), robot=robot, state=read_state(b, robot))


def tree_motion(values: Values, robot: Robot, state: ElasticState, zdd: SX | None = None) -> TreeMotion:
    """Motion of all frames at accelerations zdd of all coordinates z; zero if left out.

    Source: Briot 2014 Eqs. (10)-(22). Checked by: tests/equations/test_elastodynamics.py.
    """
    plan = robot.elastic_plan
    poses, links = [], []
    for i, leg in enumerate(robot.legs):
        own, first = values.of(f"legs.{leg.name}"), plan.first[i]
        qdd = [ca.SX(0) if zdd is None else zdd[first + k] for k in range(len(leg.moving))]
        poses.append(chain_poses(own, leg, state.q[i]))
        links.append(chain_motion(leg, poses[-1], state.qd[i], qdd))
    return joined(values, robot, state, poses, links, zdd)


def joined(
    values: Values,
    robot: Robot,
    state: ElasticState,
    poses: list[list[LinkPose]],
    links: list[Any],
    zdd: SX | None = None,
) -> TreeMotion:
    """The motion of all frames from that of the links: platform, and the halves of the joints at which loops are cut."""
    ends = [half_on_link(values.of(f"legs.{leg.name}"), leg, links[i]) for i, leg in enumerate(robot.legs)]
    platform = _platform(values, robot, state, ends, zdd)
    modes = [state.e, state.ed, _mode_accelerations(robot, zdd)]
    found = [_half(values.of(f"legs.{leg.name}"), robot, leg, platform, links, modes) for leg in robot.legs]
    halves, shapes, rotations = (list(each) for each in zip(*found, strict=True))
    joints = ca.vertcat(*[q for leg in state.q for q in leg])
    cuts = [_cuts(values, robot, i, links, platform, halves[i]) for i in range(len(robot.legs))]
    return TreeMotion(
        poses=poses, links=links, platform=platform, halves=halves, ends=ends, shapes=shapes, rotations=rotations, cuts=cuts,
        joints=joints,
    )  # fmt: skip


def _cuts(
    values: Values, robot: Robot, i: int, links: list[list[FrameMotion]], platform: FrameMotion, first: FrameMotion
) -> list[Cut]:
    """The cut joints of a leg; `first` is the half of its first one, which a flexible platform may have moved."""
    leg, result = robot.legs[i], []
    own = values.of(f"legs.{leg.name}")
    for closing in cut_joints(robot, i):
        half = first if closing is leg.closing else _rigid_half(own, leg, closing, platform, links)
        result.append(Cut(closing=closing, end=half_on_link(own, leg, links[i], closing), half=half))
    return result


def _rigid_half(values: Values, leg: Leg, closing: Closing, platform: FrameMotion, links: list[list[FrameMotion]]) -> FrameMotion:
    """The far half of a closing joint, on a rigid platform or on a link."""
    if closing.to is None:
        return half_on_platform(values, leg, platform, closing)
    name, (k, link) = f"{closing.joint}.on_platform", closing.to
    return placed_half(values.vector(f"{name}.p", "B"), values.rotation(f"{name}.R", "B", "H"), links[k], link)


def _platform(values: Values, robot: Robot, state: ElasticState, ends: list[FrameMotion], zdd: SX | None) -> FrameMotion:
    """The platform frame: by itself, or fixed to the link that is it."""
    carrier = robot.elastic_plan.carrier
    if carrier is None:
        a, alpha = (zero("W"), zero("W")) if zdd is None else (Vec(zdd[:3], "W"), Vec(zdd[3:6], "W"))
        p, R, v, w = state.p, state.R, state.v, state.w
        assert p is not None
        assert R is not None
        assert v is not None
        assert w is not None
        return FrameMotion(p=Vec(p, "W"), R=Rot(R, "W", "P"), v=Vec(v, "W"), w=Vec(w, "W"), a=a, alpha=alpha)
    leg, end = robot.legs[carrier], ends[carrier]
    own = values.of(f"legs.{leg.name}")
    R_PH = own.rotation(f"{leg.closing.joint}.on_platform.R", "P", "H")
    point = end.point(-(R_PH.T @ own.vector(f"{leg.closing.joint}.on_platform.p", "P")))
    return FrameMotion(R=end.R @ R_PH.T, p=point.p, v=point.v, w=end.w, a=point.a, alpha=end.alpha)


def _mode_accelerations(robot: Robot, zdd: SX | None) -> SX:
    """Accelerations of the platform's modes, of those of all coordinates."""
    N, start = platform_modes(robot), 0 if robot.elastic_plan.carrier is not None else 6
    return ca.SX.zeros(N) if zdd is None else zdd[start : start + N]


def _half(
    values: Values, robot: Robot, leg: Leg, platform: FrameMotion, links: list[list[FrameMotion]], modes: list[SX]
) -> tuple[FrameMotion, SX | None, SX | None]:
    """The far half of a leg's first closing joint, deformed where the platform is, and how modes move and rotate it.

    Args:
        modes: coordinates, rates and accelerations of the platform's modes.
    """
    rigid = _rigid_half(values, leg, leg.closing, platform, links)
    if not platform_modes(robot) or leg.closing.to is not None:
        return rigid, None, None
    r0 = values.vector(f"{leg.closing.joint}.on_platform.p", "P")
    shapes = joint_shapes(values, *robot.flexible_shape)
    point, Phi = joint_at(platform, r0, shapes, modes), shapes.columns(modes[0])
    half = FrameMotion(R=rigid.R, p=point.p, v=point.v, w=platform.w, a=point.a, alpha=platform.alpha)
    if leg.name not in robot.joint_rotations:
        return half, Phi, None
    rotated = elastic_rotation(values, modes)
    R_PH = values.rotation(f"{leg.closing.joint}.on_platform.R", "P", "H")
    w, alpha = platform.R @ Vec(rotated.w, "P"), platform.R @ Vec(rotated.alpha, "P")
    half = FrameMotion(
        R=platform.R @ Rot(rotated.R, "P", "P") @ R_PH, p=point.p, v=point.v, w=platform.w + w, a=point.a,
        alpha=platform.alpha + alpha + cross(platform.w, w),
    )  # fmt: skip
    return half, Phi, ca.mtimes(platform.R.expr, rotated.per_mode)


def platform_columns(robot: Robot, plan: ElasticPlan, motion: TreeMotion, point: Vec) -> dict[int, tuple[Vec, Vec]]:
    """Unit twists (linear at a point of the rigid platform, angular) of the coordinates that move it: column of z -> twist."""
    if plan.carrier is None:
        arm = point - motion.platform.p
        twist = {i: (UNIT[i], zero("W")) for i in range(3)}
        return twist | {3 + i: (cross(UNIT[i], arm), UNIT[i]) for i in range(3)}
    leg, first = robot.legs[plan.carrier], plan.first[plan.carrier]
    columns = chain_columns(leg, motion.poses[plan.carrier], leg.closing.link, point)
    return {first + k: twist for k, twist in columns.items()}
