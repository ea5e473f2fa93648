r"""Legs with flexible links as curves in the world: beams by cubic Hermite polynomials between the frames of their ends.

.. math:: p(s) = h_{00}p_0 + h_{10}L t_0 + h_{01}p_1 + h_{11}L t_1

p_0, p_1 ends of an element, t_0, t_1 its axis there, L its length: for small deflections the line of an Euler-Bernoulli element.
Frames: parent * placement * Rz(q) or Tz(q), elastic coordinates included. Checked by: tests/views/test_flexible_leg_figures.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.scene.beam_curve import beam_curve
from flexapod.views.scene.frames import elastic_coordinates, link_frames

if TYPE_CHECKING:
    import xarray as xr

PIECES = 12
"""Straight pieces that draw one element."""

STEP = 1e-5
"""Largest deflection of the trial state of a mode, of the characteristic length: differences are central."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LegCurve:
    """Points (k, 3) of a leg's line, and its nodes (m, 3): origins of bodies, ends of elements, the closing joint [m, world]."""

    points: Array
    nodes: Array


def home_joints(robot: fp.Robot) -> Array:
    """Joint coordinates (coordinates,) at home, links straight."""
    return np.concatenate([np.asarray(leg.home, dtype=np.float64) for leg in robot.legs])


def leg_curves(robot: fp.Robot, joints: ArrayLike) -> list[LegCurve]:
    """Lines of all legs at joint coordinates (coordinates,) of `flexapod.inverse_kinematics`, elastic ones included."""
    q = np.asarray(joints, dtype=np.float64)
    straight, found = np.where(elastic_coordinates(robot), 0.0, q), []
    for leg, frames, rest in zip(robot.legs, link_frames(robot, q), link_frames(robot, straight), strict=True):
        beams: dict[int, list[Any]] = {}
        for beam in robot.beams.get(leg.name, ()):
            beams.setdefault(beam.root, []).append(beam)
        first = leg.links[0]
        points = [first.placement.position] if first.parent < 0 else []
        nodes = list(points)
        for i, link in enumerate(leg.links):
            if link.body is not None:
                points.append(frames[i].origin)
                nodes.append(frames[i].origin)
            for beam in beams.get(i, ()):
                for k, tip in enumerate(beam.tips):
                    points += [frames[beam.root].origin] if k else []  # back to the root of a body with several tips
                    points += list(beam_curve(frames, rest, beam, tip, PIECES)[1:])
                    nodes.append(points[-1])
        if not (robot.description.file.platform.body or "").startswith(f"{leg.name}."):
            end = frames[leg.closing.link]
            points.append(end.origin + end.rotation @ leg.closing.on_link.position)
            nodes.append(points[-1])
        found.append(LegCurve(points=np.array(points), nodes=np.array(nodes)))
    return found


def state_joints(robot: fp.Robot, state: fp.State, exaggerated: float = 1.0) -> Array:
    """Joint coordinates at a state, its deflection times a factor at the same actuator coordinates."""
    legs = fp.inverse_kinematics(robot, state)
    if exaggerated == 1.0:
        return np.asarray(legs.joint_position.values)
    bent = fp.State.from_actuators(robot, legs.actuator_position.values, elastic=exaggerated * legs.elastic.values)
    return np.asarray(fp.inverse_kinematics(robot, bent).joint_position.values)


def mode_curves(robot: fp.Robot, modes: xr.Dataset, number: int, state: fp.State) -> tuple[list[LegCurve], list[Array]]:
    """Lines of the legs at rest, and the displacement (k, 3) of their points per unit of a mode (any size).

    The displacement is a central difference along the mode in independent coordinates, loops closed.
    """
    x = modes["shape"].sel(mode=number)
    names = [str(name) for name in modes.coordinate.values]
    q0 = fp.inverse_kinematics(robot, state).actuator_position.values
    e0 = modes.elastic.values
    dq = np.array([float(x[names.index(name)]) if name in names else 0.0 for name in robot.actuators])
    de = np.array([float(x[names.index(name)]) if name in names else 0.0 for name in robot.elastic_names])
    size = STEP * robot.characteristic_length / np.abs(np.concatenate([dq, de])).max()
    elastic = np.array([e0 - size * de, e0 + size * de]) if robot.elastic_names else None
    pair = fp.State.from_actuators(robot, np.array([q0 - size * dq, q0 + size * dq]), elastic=elastic)
    joints = fp.inverse_kinematics(robot, pair).joint_position.values
    before, after = (leg_curves(robot, row) for row in joints)
    rest = leg_curves(robot, joints.mean(axis=0))
    return rest, [(b.points - a.points) / (2.0 * size) for a, b in zip(before, after, strict=True)]
