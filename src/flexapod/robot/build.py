"""From the description of a robot file to resolved legs and platform."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.description import schema
from flexapod.description.problems import RobotFileError
from flexapod.description.read import Description
from flexapod.errors import FlexapodError
from flexapod.robot.architecture import recognise
from flexapod.robot.assembly import home_coordinates, home_direction
from flexapod.robot.bodies import rigid_body
from flexapod.robot.chain import link_poses
from flexapod.robot.geometry import Array, Pose, frozen, pose, rotation_matrix
from flexapod.robot.model import Closing, Leg, RigidBody
from flexapod.robot.tree import RobotBuildError, TreeBuilder, add_joint, add_row, closing_joint

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def frame_pose(frame: schema.Frame | schema.Home) -> Pose:
    """A placed frame of the file."""
    return pose(frame.position, rotation_matrix(frame.rotation))


def build_platform(description: Description) -> RigidBody:
    """The platform about its frame origin; without mass where it is a leg's own link."""
    return rigid_body("platform", description.file.platform, np.eye(3))


def robot_size(description: Description) -> float:
    """A length that the robot's dimensions are measured by [m]: the largest distance that its file names."""
    lengths = [float(np.linalg.norm(description.file.home.position))]
    for leg in description.legs.values():
        lengths += [float(np.linalg.norm(leg.frame.position))]
        for joint in leg.joints.values():
            lengths += [float(np.linalg.norm(joint.at)), float(np.linalg.norm(joint.on))]
        lengths += [abs(row.d) + abs(row.b) + abs(row.r) for row in leg.table]
    return max(lengths) or 1.0


def build_legs(description: Description, home: Pose, like: Robot | None = None) -> tuple[Leg, ...]:
    """All legs, assembled at home; those that are the same as in `like` are taken from there."""
    size = robot_size(description)
    legs = []
    known = _unchanged(description, home, size, like)
    for name, spec in description.legs.items():
        if name in known:
            legs.append(known[name])
            continue
        with placed(description, ("legs", "each", name)):
            legs.append(build_leg(name, spec, home, size, description))
    return tuple(legs)


def _unchanged(description: Description, home: Pose, size: float, like: Robot | None) -> dict[str, Leg]:
    """Legs of another robot that would be built again as they are."""
    if like is None or size != like.size or not (home is like.home or home.equals(like.home)):
        return {}
    file, other = description.file, like.description.file
    if (file.plane, file.platform.body) != (other.plane, other.platform.body):
        return {}
    return {leg.name: leg for leg in like.legs if description.legs.get(leg.name) is like.description.legs[leg.name]}


@contextmanager
def placed(description: Description, path: tuple[str, ...]) -> Iterator[None]:
    """Errors inside say file and line of a part of the robot file, where these are known."""
    try:
        yield
    except FlexapodError as error:
        place = description.place(path)
        if place and not isinstance(error, RobotFileError):  # which has its place already
            error.args = (f"{place}: {error}",)
        raise


def build_leg(name: str, spec: schema.Leg, home: Pose, size: float, description: Description) -> Leg:
    """One leg: tree, closing joint, home coordinates. Passive revolute coordinates are zero at home."""
    draft, found = draft_leg(name, spec, home, description)
    return _assemble(draft, home, size, found)


def draft_leg(name: str, spec: schema.Leg, home: Pose, description: Description) -> tuple[Leg, dict[str, float]]:
    """A leg that is not assembled yet, and coordinates at home that were found on the way."""
    platform_frame, found = frame_pose(spec.platform_frame), dict[str, float]()
    base = frame_pose(spec.frame)
    joints = dict(spec.joints)
    end = next((j for j in joints.values() if _closes(j.to, spec, description)), None)
    for key, joint in spec.joints.items():
        if joint.direction == "home":
            on = platform_frame.point(np.array(end.on if end else (0.0, 0.0, 0.0)))
            direction, found = home_direction(name, spec, base, home, on)
            if float(np.linalg.norm(direction)) == 0.0:
                raise RobotBuildError(f"leg {name}: has no length at home (its universal joint sits in its platform joint)")
            joints[key] = joint.model_copy(update={"direction": [float(x) for x in direction]})
    tree = TreeBuilder(leg=name, base=base, planar=description.file.plane is not None)
    previous, closing = "base", None
    for row in spec.table:
        add_row(tree, row, previous)
        previous = row.body
    for key, joint in joints.items():
        if _closes(joint.to, spec, description):
            if closing is not None:
                raise RobotBuildError(f"leg {name}: joints {closing.joint} and {key} both close a loop; one per leg is supported")
            closing = closing_joint(tree, key, joint, platform_frame)
        else:
            add_joint(tree, key, joint, spec.bodies)
    links, closing = tuple(tree.links), closing or _own_link(name, tree, description)
    draft = Leg(
        name=name,
        links=links,
        closing=closing,
        branch=spec.branch,
        architecture=recognise(links, closing),
        home=frozen(np.zeros(sum(link.kind != "fixed" for link in links))),
    )
    return draft, found


def _closes(to: str, spec: schema.Leg, description: Description) -> bool:
    return to == "platform" or (to == description.file.platform.body and to.split(".")[-1] not in spec.bodies)


def _own_link(name: str, tree: TreeBuilder, description: Description) -> Closing:
    """The platform is this leg's own link: a fixed joint between the two."""
    body = (description.file.platform.body or "").partition(".")
    if body[0] != name or body[2] not in tree.placed:
        raise RobotBuildError(f"leg {name} does not reach the platform: add a joint with `to: platform`")
    link, axes = tree.placed[body[2]]
    return Closing(joint="platform", type="fixed", link=link, on_link=pose(rotation=axes), on_platform=pose())


def _assemble(draft: Leg, home: Pose, size: float, found: dict[str, float]) -> Leg:
    """The leg at home: coordinates there, the branch that it has, passive angles counted from there."""
    q = home_coordinates(draft, home, _start(draft, found, home), size)
    draft = _with_home_branch(draft, q)
    shifted, at_home = list(draft.links), q.copy()
    for i, index in enumerate(draft.moving):
        link = draft.links[index]
        if link.kind == "R" and not (link.actuated or link.from_table or link.elastic):
            shifted[index] = replace(link, zero=link.zero + float(q[i]))
            at_home[i] = 0.0
    return replace(draft, links=tuple(shifted), home=frozen(at_home))


def _with_home_branch(leg: Leg, q: Array) -> Leg:
    """The branch of the closed form in which the leg was assembled, whatever led there; none for a leg that is turned inside out.

    With d from U to S and u the direction in which the actuator moves U, the sign of d.u is the root's (reversed); a U-P-S
    leg whose displacement is negative has no closed form here.
    """
    if leg.architecture == "general":
        return leg
    poses, end = link_poses(leg, q), leg.closing.on_link.position
    if leg.architecture == "UPS":
        extended = float((poses[2][1] + poses[2][0] @ end - poses[0][1]) @ poses[2][0][:, 2]) > 0.0
        return leg if extended else replace(leg, architecture="general")
    e, U = poses[0][0][:, 2], poses[1][1]
    u = e if leg.architecture == "PUS" else np.cross(e, U - poses[0][1])
    along = float((poses[2][1] + poses[2][0] @ end - U) @ u)
    return replace(leg, branch=-1 if along > 0.0 else 1) if along != 0.0 else leg


def _start(leg: Leg, found: dict[str, float], home: Pose) -> Array:
    """Coordinates to start the assembly from: the file's `start`, what was found on the way, or zero."""
    values = []
    for index in leg.moving:
        link = leg.links[index]
        if link.start is not None:
            values.append(float(link.start))
        elif link.joint in found and link.actuated:
            values.append(found[link.joint])
        else:
            values.append(0.0)
    start = np.array(values)
    if leg.architecture == "UPS" and leg.links[2].start is None:
        S = home.point(leg.closing.on_platform.position)
        start[2] = float(np.linalg.norm(S - leg.links[0].placement.position)) - leg.links[2].zero
    return start
