"""Resolved legs and platform from the description of a robot file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.description import schema
from flexapod.description.check_leg import closes, closing_names
from flexapod.description.problems import RobotFileError
from flexapod.description.read import Description
from flexapod.errors import FlexapodError
from flexapod.robot.architecture import recognise
from flexapod.robot.bodies import rigid_body
from flexapod.robot.expanded_joints import SEAT_END, expanded, roots
from flexapod.robot.flexible_body_payloads import add_payloads, held_at
from flexapod.robot.flexible_platform import SAME_POINT
from flexapod.robot.geometry import Pose, frozen, pose, rotation_matrix
from flexapod.robot.gimbals import away_from_lock
from flexapod.robot.home_assembly import ALONG_X, assembled, home_coordinates, home_direction, is_beam
from flexapod.robot.leg_positions import OWN_LINK, closes_alone, link_frames, link_poses
from flexapod.robot.leg_tree import RobotBuildError, TreeBuilder, add_joint, add_row, closing_joint
from flexapod.robot.modal_link import Place, place_of, row_shift
from flexapod.robot.model import Closing, Coupling, Leg, RigidBody

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
    """All legs, assembled at home, where passive revolute coordinates are zero; those that `like` has the same are taken."""
    size = robot_size(description)
    known = _unchanged(description, home, size, like)
    if like is not None and len(known) == len(description.legs):
        return like.legs
    drafts = draft_legs(description, home)
    legs = tuple(leg for leg, _ in drafts)
    if not closes_alone(legs):
        starts = [start_coordinates(leg, found, home) for leg, found in drafts]
        with placed(description, ("legs",)):
            starts = assembled(legs, starts, home, size)
        return coupled(description, [_at_home(leg, q) for leg, q in zip(legs, starts, strict=True)])
    result = []
    for leg, found in drafts:
        with placed(description, ("legs", "each", leg.name)):
            if leg.name not in known:
                known[leg.name] = _at_home(leg, home_coordinates(leg, home, start_coordinates(leg, found, home), size))
        result.append(known[leg.name])
    return coupled(description, result)


def _unchanged(description: Description, home: Pose, size: float, like: Robot | None) -> dict[str, Leg]:
    """Legs of another robot that would be built again as they are."""
    if like is None or size != like.size or not (home is like.home or home.equals(like.home)):
        return {}
    file, other = description.file, like.description.file
    if (file.plane, file.platform.body, file.couplings) != (other.plane, other.platform.body, other.couplings):
        return {}
    return {leg.name: leg for leg in like.legs if description.legs.get(leg.name) is like.description.legs[leg.name]}


def coupled(description: Description, legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """The assembled legs with the couplings of the file, each at the leg of its first joint."""
    threads = [_threads(i, leg) for i, leg in enumerate(legs)]
    result = [replace(leg, couplings=own) if leg.couplings or own else leg for leg, own in zip(legs, threads, strict=True)]
    names = [leg.name for leg in legs]
    for name, factors in description.file.couplings.items():
        terms = []
        for joint, factor in factors.items():
            leg, _, coordinate = joint.partition(".")
            own = legs[names.index(leg)]
            index = next(k for k, i in enumerate(own.moving) if own.links[i].coordinate == coordinate)
            terms.append((names.index(leg), index, factor))
        home = sum(factor * float(legs[i].home[k]) for i, k, factor in terms)
        first = terms[0][0]
        coupling = Coupling(name=name, terms=tuple(terms), home=home)
        result[first] = replace(result[first], couplings=(*result[first].couplings, coupling))
    return tuple(result)


def _threads(i: int, leg: Leg) -> tuple[Coupling, ...]:
    """The screws of leg i: each slide follows its rotation."""
    result = []
    for k, index in enumerate(leg.moving):
        link = leg.links[index]
        if link.pitch:
            terms = ((i, k, 1.0), (i, k - 1, -link.pitch / (2.0 * np.pi)))
            home = sum(factor * float(leg.home[j]) for _, j, factor in terms)
            result.append(Coupling(name=f"{leg.name}.{link.joint}", terms=terms, home=home))
    return tuple(result)


@contextmanager
def placed(description: Description, path: tuple[str | int, ...]) -> Iterator[None]:
    """Context whose errors name file and line of a part of the robot file, where these are known."""
    try:
        yield
    except FlexapodError as error:
        place = description.place(path)
        if place and not isinstance(error, RobotFileError):  # whose text has its place already
            error.args = (f"{place}: {error}",)
        raise


def draft_legs(description: Description, home: Pose) -> list[tuple[Leg, dict[str, float]]]:
    """Legs that are not assembled yet, each with coordinates at home that were found on the way."""
    trees, founds, specs = dict[str, TreeBuilder](), dict[str, dict[str, float]](), dict[str, schema.Leg]()
    for name in _rooted(description):
        with placed(description, ("legs", "each", name)):
            base = frame_pose(description.legs[name].frame)
            first, geared = _first_closing(name, description), _geared(name, description)
            specs[name] = expanded(description.legs[name], first, partial(_about, base.inverse(), trees, founds), geared)
            trees[name], founds[name] = _tree(name, specs[name], home, description)
    trees = {name: trees[name] for name in description.legs}
    closings = dict[str, list[Closing]]()
    for name in description.legs:
        with placed(description, ("legs", "each", name)):
            closings[name] = _closings(name, specs[name], trees, description)
    for name in _rooted(description):
        with placed(description, ("legs", "each", name)):
            _lend(name, closings)
    return [(_draft(name, specs[name], trees[name], closings[name]), founds[name]) for name in description.legs]


def _lend(name: str, closings: dict[str, list[Closing]]) -> None:
    """A leg that ends nowhere takes the joint by which another leg begins on it, seen from its own side."""
    if closings[name]:
        return
    names = list(closings)
    for other, own in closings.items():
        for c in own:
            if c.joint.endswith(SEAT_END) and c.to is not None and names[c.to[0]] == name:
                seen = replace(c, link=c.to[1], on_link=c.on_platform, on_platform=c.on_link, to=(names.index(other), c.link))
                closings[name], closings[other] = [seen], [k for k in own if k is not c]
                return
    raise RobotBuildError(
        f"leg {name} ends nowhere: add a joint with `to: platform`, begin another leg on one of its bodies, or write the joint "
        f"by which another leg ends on it (`to: {name}.body`) in leg {name} itself, from its own body to the other leg's"
    )


def _first_closing(leg: str, description: Description) -> str | None:
    """The joint that becomes a leg's `closing`: to the platform, else the first; None where a link of the leg is the platform."""
    spec, body = description.legs[leg], description.file.platform.body
    if body is not None and body.partition(".")[0] == leg:
        return None
    cut = closing_names(spec)
    return next((name for name in cut if _to_platform(spec.joints[name].to, leg, description)), next(iter(cut), None))


def _geared(leg: str, description: Description) -> set[str]:
    """Joints of a leg that couplings name."""
    named = [joint.split(".") for factors in description.file.couplings.values() for joint in factors]
    return {joint for owner, joint, *_ in named if owner == leg}


def _rooted(description: Description) -> list[str]:
    """Legs in an order in which each comes behind those that it begins on."""
    left, order = dict(description.legs), list[str]()
    while left:
        free = [name for name, spec in left.items() if not roots(spec) & left.keys()]
        if not free:
            names = " and ".join(left)
            with placed(description, ("legs", "each", next(iter(left)))):
                raise RobotBuildError(f"the legs {names} begin on each other's bodies: one of them must begin on the base")
        order += free
        left = {name: spec for name, spec in left.items() if name not in free}
    return order


def _about(world: Pose, trees: dict[str, TreeBuilder], founds: dict[str, dict[str, float]], body: str) -> Pose:
    """About where a body of a leg is at home: at the coordinates from which the leg is assembled, in the frame that sees the
    world as given."""
    leg, _, name = body.partition(".")
    tree = trees[leg]
    link, seat = tree.seat(name, np.zeros(3))
    moving = [k for k in tree.links if k.kind != "fixed"]
    q = [float(founds[leg].get(k.joint, 0.0) if k.start is None else k.start) for k in moving]
    R, p = link_frames(tree.links, np.array(q))[link] if link >= 0 else (tree.base.rotation, tree.base.position)
    return world @ pose(p, R) @ seat


def _tree(name: str, spec: schema.Leg, home: Pose, description: Description) -> tuple[TreeBuilder, dict[str, float]]:
    """The links of a leg, and coordinates at home that were found on the way."""
    platform_frame, found = frame_pose(spec.platform_frame), dict[str, float]()
    base = frame_pose(spec.frame)
    flexible = [row.body for row in spec.table if row.flexible] + [key for key, body in spec.bodies.items() if body.flexible]
    legs, carrier = {**description.legs, name: spec}, _flexible_carrier(description)
    ends = {body: _attachments(legs, name, body, carrier) + held_at(spec, body) for body in flexible}
    tree = TreeBuilder(leg=name, base=base, planar=description.file.plane is not None, ends=ends, path=description.path)
    end = next((j for j in spec.joints.values() if _to_platform(j.to, name, description)), None)
    previous = "base"
    for row in spec.table:
        add_row(tree, row, previous)
        previous = row.body
    for key, joint in spec.joints.items():
        if closes(joint, tree.placed):
            continue
        if joint.direction == "home":
            on = platform_frame.point(np.array(end.on if end else (0.0, 0.0, 0.0)))
            direction, found = home_direction(name, spec, base, home, on)
            if float(np.linalg.norm(direction)) == 0.0:
                raise RobotBuildError(f"leg {name}: has no length at home (its universal joint sits in its platform joint)")
            rotated = {"rotation": ALONG_X} if is_beam(spec, joint.to) else {}
            joint = joint.model_copy(update={"direction": [float(x) for x in direction], **rotated})
        add_joint(tree, key, joint, spec.bodies)
    add_payloads(tree, spec)
    return tree, found


def _attachments(legs: Mapping[str, schema.Leg], leg: str, body: str, carrier: str | None) -> tuple[Place, ...]:
    """Places of a body, but its origin, where joints of any leg begin or end, each once, in the order of the file."""
    found, whole = list[Place](), f"{leg}.{body}"
    for name, spec in legs.items():
        names = {whole, *([body] if name == leg else [])}
        found += [place_of(joint.at) for joint in spec.joints.values() if joint.from_ in names]
        previous = "base"
        for row in spec.table if name == leg else ():
            found += [place_of(row_shift(row).position)] if (row.after or previous) == body else []
            previous = row.body
        first = next((key for key, joint in spec.joints.items() if joint.to == body), None) if name == leg else None
        for key, joint in spec.joints.items():  # the joint that places a body does so at its origin
            if carrier == whole and (joint.to == "platform" or (joint.to == whole and name != leg)):
                found.append(place_of(frame_pose(spec.platform_frame).point(np.array(joint.on))))
            elif joint.to in names and key != first:
                found.append(place_of(joint.on))
    return tuple(p for p in dict.fromkeys(found) if np.linalg.norm(p) > SAME_POINT)


def _flexible_carrier(description: Description) -> str | None:
    """The body of a leg that is the platform, as `leg.body`, where it is flexible."""
    body = description.file.platform.body
    leg, _, name = (body or "").partition(".")
    spec = description.legs.get(leg)
    if spec is None:
        return None
    rows = {row.body: row.flexible for row in spec.table}
    flexible = spec.bodies[name].flexible if name in spec.bodies else rows.get(name)
    return body if flexible is not None else None


def _closings(name: str, spec: schema.Leg, trees: dict[str, TreeBuilder], description: Description) -> list[Closing]:
    """The joints that close loops of a leg: that to the platform first, where it has one."""
    tree, seen = trees[name], {"base", *(row.body for row in spec.table)}
    to_platform, others = list[Closing](), list[Closing]()
    for key, joint in spec.joints.items():
        if closes(joint, seen):
            on_platform = _to_platform(joint.to, name, description)
            frame = pose() if key.endswith(SEAT_END) else frame_pose(spec.platform_frame)
            target = (0, -1, frame) if on_platform else _seat(joint, name, trees)
            if on_platform and (carrier := _flexible_carrier(description)):  # it ends on a flexible body, where that is held
                on = [float(x) for x in frame.point(np.array(joint.on))]
                other, link, seat = _seat(joint.model_copy(update={"to": carrier, "on": on}), name, trees)
                on_platform, target = False, (other, link, seat @ frame)
            found = closing_joint(tree, key, joint, target[2])
            (to_platform if on_platform else others).append(found if on_platform else replace(found, to=target[:2]))
        seen |= {joint.to} | ({joint.cross} if joint.cross else set())
    own = _own_link(name, tree, description)
    return ([own] if own else []) + to_platform + others


def _draft(name: str, spec: schema.Leg, tree: TreeBuilder, closings: list[Closing]) -> Leg:
    """A leg with its loops."""
    links = tuple(tree.links)
    return Leg(
        name=name,
        links=links,
        closing=closings[0],
        branch=spec.branch,
        architecture=recognise(links, closings[0]) if len(closings) == 1 and closings[0].to is None else "general",
        home=frozen(np.zeros(sum(link.kind != "fixed" for link in links))),
        cuts=tuple(closings[1:]),
    )


def _to_platform(to: str, leg: str, description: Description) -> bool:
    """A joint's far side is the platform, by that name or by the name of the body that is the platform."""
    body = description.file.platform.body
    return to == "platform" or (body is not None and body in (to, f"{leg}.{to}") and body.partition(".")[0] != leg)


def _seat(joint: schema.Joint, leg: str, trees: dict[str, TreeBuilder]) -> tuple[int, int, Pose]:
    """Leg, link and axes of the body that a joint leads to, in the frame of that link (of the world for a base)."""
    other, _, body = joint.to.partition(".") if "." in joint.to else (leg, "", joint.to)
    tree = trees[other]
    link, axes = tree.seat(body, np.array(joint.on))
    shifted = axes @ pose(-np.array(joint.on))
    return list(trees).index(other), link, tree.base @ shifted if link < 0 else shifted


def has_inner_loops(legs: Sequence[Leg]) -> bool:
    """Whether some loop closes inside a leg, between legs, or a second time on the platform, or joints are coupled."""
    return any(leg.cuts or leg.couplings or leg.closing.to is not None for leg in legs)


def _own_link(name: str, tree: TreeBuilder, description: Description) -> Closing | None:
    """Fixed joint between the last link of this leg and the platform, if the platform is the leg's own link."""
    body = (description.file.platform.body or "").partition(".")
    if body[0] != name or body[2] not in tree.placed:
        return None
    link, axes = tree.placed[body[2]]
    return Closing(joint=OWN_LINK, type="fixed", link=link, on_link=pose(rotation=axes), on_platform=pose())


def _at_home(draft: Leg, q: Array) -> Leg:
    """The leg assembled at coordinates q: the branch that it has there, passive angles counted from there."""
    draft, q = away_from_lock(_with_home_branch(draft, q), q)
    shifted, at_home = list(draft.links), q.copy()
    for i, index in enumerate(draft.moving):
        link = draft.links[index]
        if link.kind == "R" and not (link.actuated or link.from_table or link.elastic):
            shifted[index] = replace(link, zero=link.zero + float(q[i]))
            at_home[i] = 0.0
    return replace(draft, links=tuple(shifted), home=frozen(at_home))


def _with_home_branch(leg: Leg, q: Array) -> Leg:
    """The branch of the closed form in which the leg was assembled, whatever led there; none for a leg that is folded the other
    way.

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


def start_coordinates(leg: Leg, found: dict[str, float], home: Pose) -> Array:
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
