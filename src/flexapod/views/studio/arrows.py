"""Force arrows: where each actuator pushes, and the reactions of the joints.

An actuator's arrow starts at the moving end of its joint and points where the force pushes the moving part; a torque's arrow lies
along its axis (right hand). Lengths are to one scale for all actuators of a robot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.views.studio.shapes import MOUTH, Drawing

Array = NDArray[np.float64]

LONGEST = 0.22
"""Length of the longest arrow, of the robot's extent."""
LEAST = 0.02
"""Arrows shorter than this, of the longest, are not drawn."""


def actuator_arrows(robot: fp.Robot, shown: Drawing, force: Array, size: float, scale: float = 1.0) -> tuple[Array, Array]:
    """Arrows (n, 2, 3) of the actuator forces, and the index of the leg of each.

    Args:
        force: (actuators,) [N or N m].
        scale: factor on the lengths.
    """
    peak = {unit: _peak(force[np.array(robot.actuator_units) == unit]) for unit in set(robot.actuator_units)}
    arrows, legs, k = [], [], 0
    for i, (leg, own) in enumerate(zip(robot.legs, shown.frames, strict=True)):
        for link, frame in zip(leg.links, own, strict=True):
            if not link.actuated:
                continue
            value, unit = float(force[k]), robot.actuator_units[k]
            k += 1
            if not np.isfinite(value) or peak[unit] == 0.0 or abs(value) < LEAST * peak[unit]:
                continue
            z = frame.rotation[:, 2]
            length = LONGEST * size * scale * value / peak[unit]
            start = frame.origin if link.parent < 0 or link.kind == "R" else frame.foot + MOUTH * (frame.origin - frame.foot)
            arrows.append([start, start + length * z])
            legs.append(i)
    return np.array(arrows).reshape(-1, 2, 3), np.array(legs, dtype=int)


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
