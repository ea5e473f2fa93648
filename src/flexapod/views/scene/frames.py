"""Frames of every link of a robot in the world, from its joint coordinates; points of its platform.

.. math:: T_i = T_{parent} \\, P_i \\, R_z(q + zero) \\quad\\text{or}\\quad T_z(q + zero)

R is world-from-link, p the link frame's origin [m]. Where a leg's links are drawn is a matter of these frames alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.errors import drawn_larger

if TYPE_CHECKING:
    from flexapod.views.scene.parts import DrawnMesh


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkFrame:
    """A link's frame: `foot` is its joint's place on the parent, `origin` its own origin; they differ along a slide."""

    rotation: Array
    origin: Array
    foot: Array


def link_frames(robot: fp.Robot, joints: Array) -> list[list[LinkFrame]]:
    """Frames by leg and link.

    Args:
        joints: (coordinates,) in the order of `robot.coordinates`.

    Checked by: tests/studio/test_studio_drawing.py.
    """
    found, k = [], 0
    for leg in robot.legs:
        frames: list[LinkFrame] = []
        for link in leg.links:
            R, p = (frames[link.parent].rotation, frames[link.parent].origin) if link.parent >= 0 else (np.eye(3), np.zeros(3))
            foot, R = p + R @ link.placement.position, R @ link.placement.rotation
            origin = foot
            if link.kind != "fixed":
                q = float(joints[k]) + link.zero
                k += 1
                if link.kind == "R":
                    c, s = np.cos(q), np.sin(q)
                    R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
                else:
                    origin = foot + R[:, 2] * q
            frames.append(LinkFrame(rotation=R, origin=origin, foot=foot))
        found.append(frames)
    return found


def mesh_frame(mesh: DrawnMesh, frames: list[list[LinkFrame]], state: fp.State) -> tuple[Array, Array]:
    """Rotation (3, 3) and origin (3,) in the world of the body that has a mesh of `Robot.meshes`."""
    if mesh.leg < 0:
        return np.asarray(state.rotation), np.asarray(state.position)
    frame = frames[mesh.leg][mesh.link]
    return frame.rotation, frame.origin


def elastic_coordinates(robot: fp.Robot) -> NDArray[np.bool_]:
    """Mask of the joint coordinates that are deformations of beams."""
    return np.array([leg.links[i].elastic for leg in robot.legs for i in leg.moving], dtype=bool)


def leg_ends(robot: fp.Robot, frames: list[list[LinkFrame]]) -> Array:
    """End of each leg at its closing joint (legs, 3), from its own links."""
    ends = [
        own[leg.closing.link].origin + own[leg.closing.link].rotation @ leg.closing.on_link.position
        if leg.closing.link >= 0
        else leg.closing.on_link.position
        for leg, own in zip(robot.legs, frames, strict=True)
    ]
    return np.array(ends)


def drawn_pose(robot: fp.Robot, state: fp.State, elastic: Array, held: Array | None = None) -> tuple[fp.State, Array]:
    """Pose and joint coordinates (coordinates,) of a drawing with these elastic coordinates; NaN where it cannot be reached.

    The platform stays where it is; on legs that bend it is the actuators that stay, and the platform goes with the legs. States
    may be a batch; `held` are the actuator coordinates where they are known.
    """
    with drawn_larger():
        if robot.moved_by == "actuators":
            if held is None:
                held = fp.inverse_kinematics(robot, state, joints=False).actuator_position.values
            state = fp.State.from_actuators(robot, held, elastic=elastic)
            found = fp.inverse_kinematics(robot, state, on_error="mask")
        else:
            bent = elastic if robot.elastic_names else None
            found = fp.inverse_kinematics(robot, state, elastic=bent, on_error="mask")
    return state, np.asarray(found.joint_position.values)


def wxyz(R: Array) -> Array:
    """Quaternion(s) of rotation matrices (.., 3, 3), scalar first."""
    return np.asarray(fp.motions.rotation_quat_wxyz(np.asarray(R)))


def platform_points(robot: fp.Robot) -> tuple[Any, Any, Any]:
    """Points (k, 3) of the platform in its own axes, their shapes (k, 3, N) and triangles (m, 3).

    Shapes are None for a rigid platform, triangles where the source has none.
    """
    body = robot.flexible_platform
    if body is not None and body.nodes is not None:
        nodes = body.nodes
        if nodes.triangles is None:
            return np.array(nodes.r0), np.array(nodes.Phi_d), None
        used, triangles = np.unique(nodes.triangles, return_inverse=True)
        return np.array(nodes.r0[used]), np.array(nodes.Phi_d[used]), triangles.reshape(-1, 3)
    joints = np.array([leg.closing.on_platform.position for leg in robot.legs])
    if body is not None:
        return joints, np.array([robot.joint_shapes[leg.name] for leg in robot.legs]), None
    return joints, None, None
