"""Force arrows: where each actuator pushes or pulls, and the reactions of the joints.

An actuator's arrow is beside its leg, on the side away from the robot's middle, and points where the force pushes the moving
part; a torque is an arc round its axis (right hand). Lengths are to one scale for all actuators of a robot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.frames import LinkFrame
from flexapod.views.scene.shapes import MOUTH, Drawing

if TYPE_CHECKING:
    from flexapod.views.scene.parts import DrawnLink

LONGEST = 0.2
"""Length of the longest arrow, of the robot's extent."""
LEAST = 0.02
"""Arrows shorter than this, of the longest, are not drawn."""
ROUNDING = 1e-9
"""Forces below this part of the largest torque per extent, and torques below this part of the largest force, are rounding."""
ASIDE = 0.045
"""Distance of an arrow from its leg, of the extent."""
SLANTED = 0.3
"""Sine of the angle between a leg and the direction of view above which the leg has a side."""
ARC = 0.06
"""Radius of a torque's arc, of the extent."""
PIECES, HEAD = 27, 3
"""Straight pieces of an arc that seem round together, and how many of them, the last ones, its arrow head takes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ForceArrows:
    """Arrows of forces, which are also the heads of arcs, and the lines of arcs.

    Args:
        points: (n, 2, 3) start and end; push: (n,) positive or not; leg, actuator: (n,) index of the leg and actuator of each.
        arcs: (m, 2, 3) straight pieces; arc_push: (m,).
    """

    points: Array
    push: NDArray[np.bool_]
    leg: NDArray[np.int64]
    actuator: NDArray[np.int64]
    arcs: Array
    arc_push: NDArray[np.bool_]


def actuator_arrows(
    robot: fp.Robot, shown: Drawing, force: Array, size: float, scale: float = 1.0, seen: Array | None = None
) -> ForceArrows:
    """Arrows and arcs of the actuator forces.

    Args:
        force: (actuators,) [N or N m].
        scale: factor on the lengths.
        seen: (3,) direction towards the camera: arrows are beside their legs as seen from there, not in front of them.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    units = np.array(robot.actuator_units)
    peak = {unit: _peak(force[units == unit]) for unit in set(robot.actuator_units)}
    largest = max((value / (size if unit == "rad" else 1.0) for unit, value in peak.items()), default=0.0)
    peak = {u: value if value > ROUNDING * largest * (size if u == "rad" else 1.0) else 0.0 for u, value in peak.items()}
    centre = shown.middle.mean(axis=0)
    arrows, push, legs, own_index, arcs, arc_push, k = [], [], [], [], [], [], 0
    for i, (leg, own) in enumerate(zip(robot.legs, shown.frames, strict=True)):
        for link, frame in zip(leg.links, own, strict=True):
            if not link.actuated:
                continue
            value, unit = float(force[k]), robot.actuator_units[k]
            k += 1
            if not np.isfinite(value) or peak[unit] == 0.0 or abs(value) < LEAST * peak[unit]:
                continue
            z, part = frame.rotation[:, 2], value / peak[unit]
            if link.kind == "R":
                line = _arc(frame.origin, z, frame.rotation[:, 0], part * scale, size)
                arcs += list(np.stack([line[: -HEAD - 1], line[1:-HEAD]], axis=1))
                arc_push += [value > 0] * (PIECES - HEAD)
                arrows.append([line[-HEAD - 1], line[-1]])
            else:
                start = pushed_place(link, frame)
                start = start + ASIDE * size * sideways_direction(z, start - centre, seen)
                arrows.append([start, start + LONGEST * size * scale * part * z])
            push.append(value > 0)
            legs.append(i)
            own_index.append(k - 1)
    return ForceArrows(
        points=np.array(arrows).reshape(-1, 2, 3), push=np.array(push, dtype=bool), leg=np.array(legs, dtype=np.int64),
        actuator=np.array(own_index, dtype=np.int64),
        arcs=np.array(arcs).reshape(-1, 2, 3), arc_push=np.array(arc_push, dtype=bool),
    )  # fmt: skip


def pushed_place(link: DrawnLink, frame: LinkFrame) -> Array:
    """Point at which a driven slide pushes: at the slider of a rail, at the mouth of a cylinder."""
    return np.asarray(frame.origin if link.parent < 0 else frame.foot + MOUTH * (frame.origin - frame.foot))


def sideways_direction(z: Array, outwards: Array, seen: Array | None) -> Array:
    """The unit vector across z, and across the view where that is known, that points most outwards."""
    if seen is not None:
        beside = np.cross(z, seen / np.linalg.norm(seen))
        if np.linalg.norm(beside) > SLANTED:
            return np.asarray(beside / np.linalg.norm(beside) * (1.0 if beside @ outwards >= 0.0 else -1.0))
    side = outwards - z * (z @ outwards)
    size = float(np.linalg.norm(side))
    if size < 1e-9:
        side = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        size = float(np.linalg.norm(side))
    return np.asarray(side / size)


def _arc(centre: Array, axis: Array, first: Array, part: float, size: float) -> Array:
    """Points (PIECES + 1, 3) of an arc round an axis, by at most three quarters of a circle; the last are the head."""
    angle = np.linspace(0.0, 1.5 * np.pi * min(max(part, -1.0), 1.0), PIECES + 1)
    second = np.cross(axis, first)
    return np.asarray(centre + ARC * size * (np.outer(np.cos(angle), first) + np.outer(np.sin(angle), second)))


def reaction_arrows(robot: fp.Robot, shown: Drawing, reaction: dict[str, Array], size: float, scale: float = 1.0) -> Array:
    """Arrows (n, 2, 3) of the joint forces, on the body that follows the joint."""
    places = joint_places(robot, shown)
    peak = max((float(np.linalg.norm(f)) for name, f in reaction.items() if name in places), default=0.0)
    if peak == 0.0:
        return np.zeros((0, 2, 3))
    factor = LONGEST * size * scale / peak
    rows = [
        [places[name], places[name] + factor * f]
        for name, f in reaction.items()
        if name in places and np.linalg.norm(f) > LEAST * peak
    ]
    return np.array(rows).reshape(-1, 2, 3)


def joint_places(robot: fp.Robot, shown: Drawing) -> dict[str, Array]:
    """Centre of every joint by the name that reactions have."""
    places: dict[str, Array] = {}
    for k, (leg, own) in enumerate(zip(robot.legs, shown.frames, strict=True)):
        for link, frame in zip(leg.links, own, strict=True):
            places[f"{leg.name}.{link.coordinate}"] = frame.origin
        places[f"{leg.name}.{leg.closing.joint}"] = shown.corners[k]
    return places


def _peak(values: Array) -> float:
    known = np.abs(values[np.isfinite(values)])
    return float(known.max()) if len(known) else 0.0


def scale_bar(robot: fp.Robot, force: Array, size: float, scale: float = 1.0) -> tuple[float, float]:
    """A round force [N] for a scale bar and the length [m] of its arrow; (0, 0) where no actuator pushes along a line.

    Checked by: tests/studio/test_studio_drag.py.
    """
    straight = force[np.array(robot.actuator_units) == "m"]
    peak = _peak(straight)
    if peak <= 0.0:
        return 0.0, 0.0
    power = 10.0 ** np.floor(np.log10(peak))
    value = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= peak * (1 + 1e-9))
    return float(value), float(LONGEST * size * scale * value / peak)
