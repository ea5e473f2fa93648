"""Cameras of the studio: viewing directions, and the distance from which the whole robot is seen."""

from __future__ import annotations

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.arrows import ASIDE as ARROW_ASIDE
from flexapod.views.scene.arrows import LONGEST, pushed_place, sideways_direction
from flexapod.views.scene.frames import leg_ends, link_frames
from flexapod.views.scene.shapes import base_points, rails

FIELD = float(np.radians(45.0))
"""Field of view of the cameras."""
PARALLEL = float(np.radians(1.5))
"""Field of view that represents parallel projection: lengths differ by the robot's depth over its distance, under 2 %."""
FILLED = 0.78
"""Part of the view that the robot fills."""
ASIDE, ABOVE = 0.05, 0.13
"""Distance of the scale bar from the robot and height of the handle above the platform, of its extent."""
EDGE, FLAT = 0.15, 0.05
"""Sine of the angle to a platform's plane below which the platform seems a line, and its thickness, of its width, up to which it
has a plane."""
ASPECT = 1.3
"""Width over height of a view that is not known yet."""


def camera_place(points: Array, up: Array, direction: Array, field: float, aspect: float) -> tuple[Array, Array]:
    r"""Position of a camera that sees points (n, 3) whole from a direction, as near as it can, and the place that it looks at.

    A point with parts r to the right, a upwards and c towards the camera is seen from (R, A, D) where

    .. math:: |r - R| \le (D - c)\,t\,w, \qquad |a - A| \le (D - c)\,t, \qquad t = \tan(\text{field} / 2)

    with the aspect w; so :math:`2 D t w \ge \max(r + c t w) - \min(r - c t w)`, with R in the middle of both, and so upwards.

    Checked by: tests/studio/test_studio_view.py.
    """
    d = direction / np.linalg.norm(direction)
    right = np.cross(up, d) / np.linalg.norm(np.cross(up, d))
    above, t = np.cross(d, right), np.tan(0.5 * field) * FILLED
    c, place, distance = points @ d, np.zeros(3), 0.0
    for axis, slope in ((right, t * max(aspect, 0.2)), (above, t)):
        most, least = (points @ axis + c * slope).max(), (points @ axis - c * slope).min()
        place = place + 0.5 * (most + least) * axis
        distance = max(distance, float(most - least) / (2.0 * slope))
    middle = 0.5 * float(c.min() + c.max())
    return place + distance * d, place + middle * d


def planes_of(position: Array, points: Array) -> tuple[float, float]:
    """Near and far plane of a camera: around the robot and the ground about it."""
    low, high = points.min(axis=0), points.max(axis=0)
    away, size = float(np.linalg.norm(position - 0.5 * (low + high))), float(np.linalg.norm(high - low))
    return max(0.01 * size, away - 8.0 * size), away + 12.0 * size


def level(robot: fp.Robot, up: Array) -> Array:
    """A direction across `up`, to the right of the camera or nearly; within its plane for a planar robot."""
    axes = [np.eye(3)["xyz".index(a)] for a in (robot.description.file.plane or "xyz")]
    first = next(axis for axis in axes if abs(axis @ up) < 0.9)
    return np.asarray((first - up * (first @ up)) / np.linalg.norm(first - up * (first @ up)))


def oblique(robot: fp.Robot, up: Array, across: Array) -> Array:
    """The direction from which a robot is seen: from a little above, from the side that does not see its platform edge-on;
    planar robots in plan view, along their normal."""
    if not robot.planar:
        right, left = (0.95 * np.cross(across, up) + side * across + 0.42 * up for side in (0.45, -0.45))
        return np.asarray(right if tilt(robot, right) > EDGE else left)
    plane = robot.description.file.plane or "xy"
    normal = np.eye(3)["xyz".index(next(a for a in "xyz" if a not in plane))]
    if abs(normal @ up) > 0.5:  # lying: from above, a little tilted so that "up" is known
        return np.asarray(up + 1e-3 * np.cross(across, up))
    return np.asarray(normal if normal @ np.cross(across, up) >= 0 else -normal)


def tilt(robot: fp.Robot, direction: Array) -> float:
    """Sine of the angle between a direction and the plane of the platform's joints at home; 1 where they are in no plane."""
    joints = np.array([robot.home.rotation @ leg.closing.on_platform.position for leg in robot.legs])
    size, axes = np.linalg.svd(joints - joints.mean(axis=0))[1:]
    if len(size) < 3 or size[1] < FLAT * size[0] or size[2] > FLAT * size[1]:
        return 1.0
    return float(abs(axes[2] @ direction) / np.linalg.norm(direction))


def upward_direction(robot: fp.Robot) -> Array:
    """Against gravity; without gravity along z, or along y for a robot that moves in the plane xy."""
    pull = float(np.linalg.norm(robot.gravity))
    if pull > 0:
        return np.asarray(-robot.gravity / pull)
    return np.asarray(np.eye(3)[1 if robot.description.file.plane == "xy" else 2])


def seen_points(robot: fp.Robot, size: float) -> Array:
    """Points (n, 3) of the robot of an extent [m] as drawn at home, of the handle above it, its longest arrows and scale bar."""
    up = upward_direction(robot)
    start, right = scale_place(robot, size)
    plane = robot.description.file.plane or "xy"
    ways = np.eye(3)[["xyz".index(axis) for axis in plane]] if robot.planar else up[None]
    tall = robot.home.position + ABOVE * size * ways
    bar = [start, start + LONGEST * size * right] if "m" in robot.actuator_units else []  # torques are arcs without a scale
    return np.vstack([_own_points(robot), tall, *_arrow_ends(robot, size), *bar])


def _arrow_ends(robot: fp.Robot, size: float) -> list[Array]:
    """Ends of the longest arrows that push or pull beside each driven slide at home, on either side."""
    up, found = upward_direction(robot), []
    seen = oblique(robot, up, level(robot, up))
    frames = link_frames(robot, np.concatenate([leg.home for leg in robot.legs]))
    for leg, own in zip(robot.legs, frames, strict=True):
        for link, frame in zip(leg.links, own, strict=True):
            if link.actuated and link.kind != "R":
                place, z = pushed_place(link, frame), frame.rotation[:, 2]
                side = ARROW_ASIDE * size * sideways_direction(z, place - robot.home.position, seen)
                found += [place + s * side + t * LONGEST * size * z for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    return found


def _own_points(robot: fp.Robot) -> Array:
    frames = link_frames(robot, np.concatenate([leg.home for leg in robot.legs]))
    points = [p for own in frames for f in own for p in (f.origin, f.foot)] + list(leg_ends(robot, frames))
    points += [end for rail in rails(robot) for end in rail] + [robot.home.position]
    points += [robot.home.position + robot.home.rotation @ point for point in robot.platform.points.values()]
    return np.array([*points, *base_points(robot)])


def scale_place(robot: fp.Robot, size: float) -> tuple[Array, Array]:
    """Start of the scale bar of a robot of an extent [m], and its direction: before the robot, low, across the view.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    up, points = upward_direction(robot), _own_points(robot)
    d = oblique(robot, up, level(robot, up))
    right = np.cross(up, d) / np.linalg.norm(np.cross(up, d))
    towards = np.cross(right, up)
    across = 0.5 * ((points @ right).min() + (points @ right).max() - LONGEST * size)
    lower = ASIDE * size if robot.planar else 0.0
    start = right * across + towards * ((points @ towards).max() + ASIDE * size)
    return np.asarray(start + up * ((points @ up).min() - lower)), right
