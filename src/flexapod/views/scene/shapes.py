"""Shapes drawn of a robot, from its file alone: rods, slides, joints and rails of the legs, platform, base.

A body is drawn by straight rods from its frame's origin to the joints that it carries. A slide that starts on the ground is a
rail with end stops and a carriage; one that starts on a body is a cylinder with a piston rod. Hinges are pins along their axes,
so that a universal joint is a cross; spherical joints are balls; a driven hinge is a motor. Everything is in the world [m].
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.beam_curve import beam_curve
from flexapod.views.scene.beam_section import BeamSurface, beam_surfaces
from flexapod.views.scene.colours import DARK, METAL, RED, STEEL, Shade, colour, rgb
from flexapod.views.scene.curved_links import ARC_PIECES, MEET, arc, spherical_centre
from flexapod.views.scene.frames import LinkFrame, elastic_coordinates, leg_ends, link_frames, platform_points

if TYPE_CHECKING:
    from flexapod.views.scene.parts import DrawnClosing, DrawnLeg, DrawnLink

ROD, BARREL, BALL, CARRIAGE, RAIL = 0.0065, 0.0125, 0.0125, 0.019, 0.006
PIN, MOTOR, STOP, TOOL = 0.006, 0.021, 0.014, 0.005
"""Radii, of the robot's extent."""
PAIR = 0.022
"""Half the distance of paired forearms, of the extent."""
MOUTH = 0.55
"""End of the barrel of a slide, as a part of its length."""
NEAR = 0.25
"""Distance of the platform's joints from the plane of a base plate, of its radius, below which the plate would hide the legs."""
ALUMINIUM = 2700.0
"""Density [kg/m^3] of a payload as drawn: its true shape is not in the file."""


@dataclass(kw_only=True, eq=False)
class Rods:
    """Straight rods: ends (n, 3), radii, colours, and the index of the leg that each belongs to.

    A rod of radius 0 is not drawn: it is the line of a beam, whose surface is drawn.

    Args:
        current: leg of the rods to come.
        centre: (3,) that the hinges of a spherical robot point to; its links are arcs about it.
        curves: rods that together are one line: beams and arcs.
    """

    start: list[Array] = field(default_factory=list)
    end: list[Array] = field(default_factory=list)
    radius: list[float] = field(default_factory=list)
    colour: list[Shade] = field(default_factory=list)
    leg: list[int] = field(default_factory=list)
    current: int = 0
    centre: Array | None = None
    curves: list[range] = field(default_factory=list)

    def add(self, start: Array, end: Array, radius: float, shade: Shade) -> None:
        """One rod; it is kept even where it has no length, so that the number of rods never changes."""
        self.start.append(start)
        self.end.append(end)
        self.radius.append(radius)
        self.colour.append(shade)
        self.leg.append(self.current)

    def across(self, middle: Array, axis: Array, half: float, radius: float, shade: Shade) -> None:
        """One rod to both sides of a point along an axis: a pin, a motor, a stop."""
        self.add(middle - half * axis, middle + half * axis, radius, shade)

    def bar(self, start: Array, end: Array, radius: float, shade: Shade) -> None:
        """A bar of a link: straight, or an arc about the centre of a spherical robot, in as many pieces always."""
        if self.centre is None:
            self.add(start, end, radius, shade)
            return
        self.curves.append(range(len(self.start), len(self.start) + ARC_PIECES))
        for a, b in itertools.pairwise(arc(start, end, self.centre)):
            self.add(a, b, radius, shade)

    def longest(self, first: int) -> int:
        """Index of the longest rod from `first` on, or of the middle piece of a curve that is longer."""
        lengths = np.linalg.norm(np.array(self.end) - np.array(self.start), axis=1)
        own = [curve for curve in self.curves if curve.start >= first and len(curve)]
        whole = max(own, key=lambda curve: float(lengths[curve.start : curve.stop].sum()), default=None)
        if whole is None or lengths[whole.start : whole.stop].sum() <= lengths[first:].max():
            return first + int(np.argmax(lengths[first:]))
        along = np.cumsum(lengths[whole.start : whole.stop])
        return whole.start + int(np.searchsorted(along, 0.5 * along[-1]))


@dataclass(frozen=True, kw_only=True, eq=False)
class Pen:
    """Means by which a leg is drawn: its rods and their shade, the hardware of its joints, the robot's size [m]."""

    rods: Rods
    shade: Shade
    hardware: Rods
    size: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """A robot at one moment: rods, hardware (pins, motors, glands), balls at joints, corners of the platform, frames of links.

    Args:
        middle: (legs, 3) the middle of each leg's longest rod, or of its beams.
        named: (legs,) index of that rod, which has the leg's name.
        beams: surfaces of flexible beams.
    """

    rods: Rods
    hardware: Rods
    balls: Array
    ball_radius: Array
    ball_colour: Array
    corners: Array
    middle: Array
    named: NDArray[np.int64]
    frames: list[list[LinkFrame]]
    beams: list[BeamSurface] = field(default_factory=list)


def extent(robot: fp.Robot) -> float:
    """Size of the robot as drawn at home [m]: the diagonal of the box around its joints; where all are at one place, its
    characteristic length."""
    frames = link_frames(robot, np.concatenate([leg.home for leg in robot.legs]))
    points = [f.origin for own in frames for f in own] + [f.foot for own in frames for f in own] + list(leg_ends(robot, frames))
    size = float(np.linalg.norm(np.ptp(np.array(points), axis=0)))
    return size if size > MEET * robot.characteristic_length else robot.characteristic_length


def drawing(
    robot: fp.Robot,
    joints: Array,
    corners: Array,
    size: float,
    red: set[str],
    shades: tuple[str, ...] | None = None,
    *,
    opened: bool = False,
) -> Drawing:
    """The robot at joint coordinates (coordinates,), platform corners (legs, 3) in the world.

    Args:
        size: extent of the robot.
        red: names of legs drawn in red.
        shades: colour of each leg; the shared leg colours if left out.
        opened: beams are cut open in the middle.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    frames, rods, hardware = link_frames(robot, joints), Rods(centre=spherical_centre(robot)), Rods()
    rest = link_frames(robot, np.where(elastic_coordinates(robot), 0.0, joints)) if robot.beams else frames
    ends = leg_ends(robot, frames)
    balls: list[tuple[Array, float, Shade]] = []
    middle: list[Array] = []
    named: list[int] = []
    shaped, afloat = {(mesh.leg, mesh.link) for mesh in robot.meshes}, all(floats(leg) for leg in robot.legs)
    for k, (leg, own) in enumerate(zip(robot.legs, frames, strict=True)):
        first = len(rods.start)
        rods.current = hardware.current = k
        shade = RED if leg.name in red else rgb(shades[k] if shades else colour(k))
        pen = Pen(rods=rods, shade=shade, hardware=hardware, size=size)
        for link, frame in zip(leg.links, own, strict=True):
            if not link.elastic and link.joint not in free_joints(leg):
                on_base = afloat and link.parent >= 0 and leg.links[link.parent].joint == leg.links[0].joint
                _link(pen, link, frame, own, on_base or (k, link.parent) in shaped)
        bent = len(rods.start)
        for element in robot.beams.get(leg.name, ()):
            for far in element.tips:
                for start, end in itertools.pairwise(beam_curve(own, rest[k], element, far)):
                    rods.add(start, end, 0.0 if element.rooted is None else 1.3 * ROD * size, shade)
        rods.curves.append(range(bent, len(rods.start)))
        tip = own[leg.closing.link].origin if leg.closing.link >= 0 and (k, leg.closing.link) not in shaped else ends[k]
        _last_rod(pen, leg, own, tip, ends[k])
        _closing(leg.closing, own, corners[k] if leg.closing.to is None else ends[k], size, hardware, balls)
        for cut in leg.cuts:
            R, foot = (own[cut.link].rotation, own[cut.link].origin) if cut.link >= 0 else (np.eye(3), np.zeros(3))
            end = foot + R @ cut.on_link.position
            rods.add(foot if cut.link >= 0 and (k, cut.link) not in shaped else end, end, ROD * size, shade)
            _closing(cut, own, end, size, hardware, balls)
        longest = rods.longest(first)
        middle.append(0.5 * (rods.start[longest] + rods.end[longest]))
        named.append(longest)
    if afloat:
        _floating_base(robot, frames, size, hardware)
    return Drawing(
        rods=rods,
        hardware=hardware,
        balls=np.array([b[0] for b in balls]),
        ball_radius=np.array([b[1] for b in balls]),
        ball_colour=np.array([b[2] for b in balls], dtype=np.uint8),
        corners=corners,
        middle=np.array(middle),
        named=np.array(named, dtype=np.int64),
        frames=frames,
        beams=beam_surfaces(robot, frames, rest, 2.6 * ROD * size, opened=opened) if robot.beams else [],
    )


def _floating_base(robot: fp.Robot, frames: list[list[LinkFrame]], size: float, hardware: Rods) -> None:
    """The outline of a base that moves: rods from foot to foot."""
    feet = _feet(robot, frames)
    order = order_around_middle(base_points(robot))
    hardware.current = -1
    for a, b in itertools.pairwise([*order, order[0]]):
        hardware.add(feet[a], feet[b], RAIL * size, METAL)


def _feet(robot: fp.Robot, frames: list[list[LinkFrame]]) -> Array:
    """Base points of the legs on a base that floats (legs, 3): the first of their joints that is not free."""
    first = [next((k for k, link in enumerate(leg.links) if link.joint != leg.links[0].joint), 0) for leg in robot.legs]
    return np.array([own[k].foot for k, own in zip(first, frames, strict=True)])


def _link(pen: Pen, link: DrawnLink, frame: LinkFrame, own: list[LinkFrame], shaped: bool) -> None:
    """One link and the joint that carries it; `shaped`: what carries the joint is drawn by a mesh, not by a rod."""
    rods, shade, hardware, size = pen.rods, pen.shade, pen.hardware, pen.size
    axis = frame.rotation[:, 2]
    if link.parent >= 0:
        rods.bar(frame.foot if shaped else own[link.parent].origin, frame.foot, ROD * size, shade)
    if link.kind == "P" and link.parent >= 0:
        mouth = frame.foot + MOUTH * (frame.origin - frame.foot)
        rods.add(frame.foot, mouth, BARREL * size, shade)
        rods.add(mouth, frame.origin, 0.8 * ROD * size, METAL)
        hardware.across(mouth, axis, 0.6 * BARREL * size, 1.15 * BARREL * size, STEEL)
    elif link.kind == "P":
        rods.across(frame.origin, axis, 1.6 * CARRIAGE * size, CARRIAGE * size, shade)
    elif link.kind == "R":
        part, thick, paint = (1.3 * MOTOR, MOTOR, DARK) if link.actuated else (2.6 * PIN, PIN, STEEL)
        hardware.across(frame.foot, axis, part * size, thick * size, paint)


def _last_rod(pen: Pen, leg: DrawnLeg, own: list[LinkFrame], tip: Array, end: Array) -> None:
    """The last rod to the platform; two of them, side by side, where universal joints at both ends make a parallelogram."""
    rods, shade, size = pen.rods, pen.shade, pen.size
    kinds = [link.kind for link in leg.links]
    if leg.closing.type != "universal" or kinds[-2:] != ["R", "R"] or float(np.linalg.norm(end - tip)) == 0.0:
        add = rods.bar if leg.closing.type == "revolute" else rods.add
        add(tip, end, ROD * size, shade)
        return
    aside = PAIR * size * own[-2].rotation[:, 2]
    for side in (-aside, aside):
        rods.add(tip + side, end + side, 0.75 * ROD * size, shade)
    for place in (tip, end):
        pen.hardware.add(place - 1.25 * aside, place + 1.25 * aside, 0.9 * PIN * size, STEEL)


def _closing(
    closing: DrawnClosing,
    own: list[LinkFrame],
    corner: Array,
    size: float,
    hardware: Rods,
    balls: list[tuple[Array, float, Shade]],
) -> None:
    """A joint that closes a loop: a ball, or pins along its axes."""
    kind, half = closing.type, 2.6 * PIN * size
    frame = own[closing.link].rotation if closing.link >= 0 else np.eye(3)
    axis = frame @ closing.on_link.rotation[:, 2]
    if kind == "universal":
        aside = frame @ closing.on_link.rotation[:, 0]
        hardware.across(corner, axis, half, PIN * size, STEEL)
        hardware.across(corner, aside, half, PIN * size, STEEL)
    elif kind in ("revolute", "cylindrical", "prismatic"):
        hardware.across(corner, axis, half, 1.15 * PIN * size, STEEL)
    if kind not in ("universal", "revolute", "cylindrical", "prismatic"):
        balls.append((corner, BALL * size, STEEL))


def platform_joints(robot: fp.Robot) -> Array:
    """Place of each leg's first closing joint on the platform (legs, 3), in its axes; the platform's origin where the joint is
    elsewhere."""
    return np.array([leg.closing.on_platform.position if leg.closing.to is None else np.zeros(3) for leg in robot.legs])


def platform_corners(robot: fp.Robot, state: fp.State, elastic: Array) -> Array:
    """The platform's joints in the world (legs, 3), with the deformation of a flexible one."""
    r = platform_joints(robot)
    if robot.joint_shapes and len(elastic):
        modes = elastic[: next(iter(robot.joint_shapes.values())).shape[1]]
        r = r + robot.joint_displacements(np.asarray(modes)[None])[0]
    return np.asarray(state.position + r @ state.rotation.T)


def platform_surface(robot: fp.Robot) -> tuple[Array, Array | None, NDArray[np.int64] | None]:
    """Points of the platform in its own axes (k, 3), their shapes (k, 3, N) or None, triangles (m, 3).

    Triangles are None for a platform with fewer than three corners, which is drawn by rods.
    """
    points, shapes, triangles = platform_points(robot)
    if triangles is None:
        distinct, first = np.unique(np.round(points, 9), axis=0, return_index=True)
        if len(distinct) < 3 or np.linalg.matrix_rank(distinct - distinct.mean(axis=0), tol=1e-9) < 2:
            return points, None, None
        order = first[order_around_middle(points[first])]
        points, shapes = points[order], None if shapes is None else shapes[order]
        triangles = np.array([(0, i, i + 1) for i in range(1, len(order) - 1)])
    return points, shapes, triangles


def has_shape(robot: fp.Robot) -> bool:
    """The platform is drawn by a mesh of its file."""
    return any(mesh.leg < 0 for mesh in robot.meshes)


def platform_rods(robot: fp.Robot, state: fp.State) -> tuple[Array, Array]:
    """Start and end (n, 3) of the rods on a platform: to its named points, and to its joints where it has no area."""
    own = list(robot.platform.points.values())
    if platform_surface(robot)[2] is None and not has_shape(robot):
        own += list(platform_joints(robot))
    ends = state.position + np.array(own).reshape(-1, 3) @ state.rotation.T
    return np.tile(state.position, (len(ends), 1)), ends


def payload_balls(robot: fp.Robot, state: fp.State) -> tuple[Array, Array]:
    """Centres (n, 3) in the world and radii (n,) [m] of the platform's payloads: balls of their mass, as heavy as aluminium.

    Checked by: tests/views/test_robot_scene.py.
    """
    own = list(robot.description.file.platform.payloads.values())
    centre = np.array([payload.com for payload in own], dtype=np.float64).reshape(-1, 3)
    radius = np.array([(3.0 * payload.mass / (4.0 * np.pi * ALUMINIUM)) ** (1.0 / 3.0) for payload in own])
    return state.position + centre @ state.rotation.T, radius


def order_around_middle(points: Array) -> NDArray[np.int64]:
    """Order of points (k, 3) around their middle, in the plane that fits them best."""
    middle = points.mean(axis=0)
    flat = (points - middle) @ np.linalg.svd(points - middle)[2][:2].T
    return np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))


def free_joints(leg: DrawnLeg) -> set[str]:
    """Joints with six coordinates, which have nothing to draw."""
    names = [link.joint for link in leg.links]
    return {name for name in names if names.count(name) == 6}


def floats(leg: DrawnLeg) -> bool:
    """A leg that starts with a free joint: it begins on a base that floats, or is a part of the platform."""
    return not leg.links[0].elastic and leg.links[0].joint in free_joints(leg)


def rails(robot: fp.Robot) -> list[tuple[Array, Array]]:
    """Ends of the rails on the ground: slides whose parent is the world, over their stroke."""
    found = []
    for leg in robot.legs:
        for link in leg.links:
            if link.kind == "P" and link.parent < 0 and not link.elastic and link.joint not in free_joints(leg):
                stroke = link.limits.stroke if link.limits and link.limits.stroke else (-0.5 * robot.size, 0.5 * robot.size)
                z = link.placement.rotation[:, 2]
                low, high = (link.placement.position + z * (q + link.zero) for q in stroke)
                found.append((low, high))
    return found


def ground_parts(robot: fp.Robot, size: float) -> tuple[Rods, Array | None]:
    """Parts at rest: rails with their end stops, and the outline (k, 3) of a base plate under feet that lie in a plane."""
    tracks, fixed = rails(robot), Rods()
    for low, high in tracks:
        axis = (high - low) / (np.linalg.norm(high - low) or 1.0)
        fixed.add(low, high, RAIL * size, METAL)
        for end in (low, high):
            fixed.across(end, axis, 0.4 * STOP * size, STOP * size, DARK)
    feet = base_points(robot)
    distinct = feet[np.sort(np.unique(np.round(feet, 9), axis=0, return_index=True)[1])]
    flat = len(distinct) >= 3 and np.linalg.matrix_rank(distinct - distinct.mean(axis=0), tol=1e-9) == 2
    if tracks or not flat or _hides(robot, distinct) or all(floats(leg) for leg in robot.legs):
        return fixed, None
    outline = distinct[order_around_middle(distinct)]
    middle = outline.mean(axis=0)
    return fixed, middle + 1.08 * (outline - middle)


def _hides(robot: fp.Robot, feet: Array) -> bool:
    """A plate through the feet would hide the legs: the platform's joints lie near its plane (planar robots, the Agile Eye)."""
    middle = feet.mean(axis=0)
    normal = np.linalg.svd(feet - middle)[2][2]
    joints = np.array([robot.home.position + robot.home.rotation @ leg.closing.on_platform.position for leg in robot.legs])
    return bool(np.abs((joints - middle) @ normal).max() < NEAR * np.linalg.norm(feet - middle, axis=1).max())


def base_points(robot: fp.Robot) -> Array:
    """Base points of legs on the ground, or at home on a base that floats (n, 3); halves of a platform have none."""
    standing = [leg.links[0].placement.position for leg in robot.legs if not floats(leg)]
    if standing:
        return np.array(standing)
    return _feet(robot, link_frames(robot, np.concatenate([leg.home for leg in robot.legs])))
