"""Robots of rods in numbers: a tree of bodies, the rods between them, rows of their loops, coordinates at a start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import ancestors, closing_rows, link_poses
from flexapod.robot.mobility import generic_configuration
from flexapod.robot.model import Closing
from flexapod.rotation_arrays import skew

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Place = tuple[int, int]
"""Leg and link; `PLATFORM` or `WORLD`."""
PLATFORM, WORLD = (-1, 0), (-1, -1)
Cut = tuple[int, Closing, int | None, int | None]
"""Leg, closing joint, nodes of its half on the link and of its far half; None: the world."""


@dataclass(frozen=True, kw_only=True)
class RodNode:
    """A body of the tree and the joint that carries it.

    Args:
        place: leg and link of the body.
        parent: index of the node that carries it; None: the world.
        kind: of its joint; "free" for the platform.
        hinge: leg and joint of the file's closing joint that carries it; None: the joint of its own link.
        reversed: that joint is written from the body to what carries it.
    """

    place: Place
    parent: int | None
    kind: Literal["R", "P", "fixed", "free"]
    hinge: tuple[int, Closing] | None = None
    reversed: bool = False


@dataclass(frozen=True, kw_only=True)
class Rod:
    """A rod: leg, links of its universal joint (the second is the rod), nodes at its two ends, the ball.

    Args:
        ball: closing joint of the leg at the rod's far end; None: a ball of the tree, whose last link has its origin there.
        after: link that the ball of the tree carries, -1 for a closing joint.
    """

    leg: int
    cross: int
    link: int
    near: int
    far: int
    ball: Closing | None
    after: int


@dataclass(frozen=True, kw_only=True)
class RodPlan:
    """Tree, rods, and choices.

    Columns w are the platform's twist, then the coordinates of `moving` nodes. Rows are those of the rods, one each, then of the
    other cut joints.

    Args:
        nodes: the platform first, carriers before what they carry.
        rods: all rods.
        cuts: what is cut besides.
        kept, bound: rows that are independent, and the columns that they are solved for.
        independent: the other columns.
        states: columns of the coordinates u of ``robot.independent``; driven: of the actuators.
    """

    nodes: tuple[RodNode, ...]
    rods: tuple[Rod, ...]
    cuts: tuple[Cut, ...]
    kept: tuple[int, ...]
    bound: tuple[int, ...]
    independent: tuple[int, ...]
    states: tuple[int, ...]
    driven: tuple[int, ...]

    @property
    def moving(self) -> list[int]:
        """Nodes with a coordinate, in the order of their columns."""
        return moving_nodes(self.nodes)

    def column(self, node: int) -> int:
        """Column of a node's coordinate."""
        return 6 + self.moving.index(node)

    def path(self, node: int | None) -> list[int]:
        """Nodes from one down to the world or the platform."""
        return path_down(self.nodes, node)


def moving_nodes(nodes: tuple[RodNode, ...]) -> list[int]:
    """Nodes with a coordinate."""
    return [k for k, node in enumerate(nodes) if node.kind in ("R", "P")]


def path_down(nodes: tuple[RodNode, ...], node: int | None) -> list[int]:
    """Nodes from one down to the world or the platform."""
    found = []
    while node is not None:
        found.append(node)
        node = nodes[node].parent
    return found


def loop_rows(robot: Robot, nodes: tuple[RodNode, ...], rods: tuple[Rod, ...], cuts: tuple[Cut, ...]) -> Array:
    """Rows of the rods and cut joints by all columns at a generic configuration, dimensionless."""
    length = robot.characteristic_length
    q, platform = generic_configuration(robot.legs, robot.home, length, seed=7)
    poses = [link_poses(leg, x) for leg, x in zip(robot.legs, q, strict=True)]

    def frame(place: Place) -> tuple[Array, Array]:
        return (platform.rotation, platform.position) if place == PLATFORM else poses[place[0]][place[1]]

    def twist(node: int | None, point: Array) -> Array:
        """(6, w) velocity of a point and angular velocity of a node."""
        T = np.zeros((6, 6 + len(moving_nodes(nodes))))
        for k in path_down(nodes, node):
            if nodes[k].kind == "free":
                T[:, :6] = np.block([[np.eye(3) * length, -skew(point - platform.position)], [np.zeros((3, 3)), np.eye(3)]])
            elif nodes[k].kind != "fixed":
                z, o = joint_line(nodes[k], frame)
                at = 6 + moving_nodes(nodes).index(k)
                T[:, at] = np.r_[z * length, np.zeros(3)] if nodes[k].kind == "P" else np.r_[np.cross(z, point - o), z]
        return T

    rows = []
    for rod in rods:
        R, U = poses[rod.leg][rod.link]
        S = U + R @ tip(robot, rod)
        rows.append(((S - U) @ (twist(rod.far, S) - twist(rod.near, U))[:3])[None] / length**2)
    for i, closing, near, far in cuts:
        R_l, p_l = poses[i][closing.link]
        p_l, R_l = p_l + R_l @ closing.on_link.position, R_l @ closing.on_link.rotation
        R_t, p_t = (np.eye(3), np.zeros(3)) if far is None else frame(nodes[far].place)
        p_p, R_p = p_t + R_t @ closing.on_platform.position, R_t @ closing.on_platform.rotation
        _, own = closing_rows(closing, R_l, p_l, R_p, p_p)
        scaled = own @ np.diag([1.0 / length] * 3 + [1.0] * 3)
        rows.append(scaled @ (twist(near, p_l) - twist(far, p_l)))
    return np.concatenate(rows)


def tip(robot: Robot, rod: Rod) -> Array:
    """(3,) centre of a rod's ball in axes of the rod's link, from its universal joint."""
    leg = robot.legs[rod.leg]
    if rod.ball is not None:
        return rod.ball.on_link.position
    return leg.links[ancestors(leg, rod.after)[2]].placement.position


def joint_line(node: RodNode, frame: Callable[[Place], tuple[Array, Array]]) -> tuple[Array, Array]:
    """Axis and a point of a node's joint in the world, from the frames of all places."""
    R, p = frame(node.place)
    if node.hinge is None:
        return R[:, 2], p
    half = node.hinge[1].on_link if node.reversed else node.hinge[1].on_platform
    return R @ half.rotation[:, 2], p + R @ half.position


def start_coordinates(robot: Robot, plan: RodPlan, q: list[Array], platform: Pose) -> list[float]:
    """Coordinates of all `moving` nodes at closed coordinates of the legs."""
    poses, found = [link_poses(leg, x) for leg, x in zip(robot.legs, q, strict=True)], []
    for k in plan.moving:
        node = plan.nodes[k]
        i, link = node.place
        if node.hinge is None:
            found.append(float(q[i][robot.legs[i].moving.index(link)]))
            continue
        first, second = node.hinge[1].on_platform, node.hinge[1].on_link
        first, second = (first, second) if node.reversed else (second, first)
        carrier = None if node.parent is None else plan.nodes[node.parent].place
        R, p = (np.eye(3), np.zeros(3)) if carrier is None else (
            (platform.rotation, platform.position) if carrier == PLATFORM else poses[carrier[0]][carrier[1]]
        )  # fmt: skip
        R_c, p_c = poses[i][link]
        H = R @ first.rotation
        rotated = H.T @ R_c @ second.rotation
        gap = H.T @ (p_c + R_c @ second.position - p - R @ first.position)
        found.append(float(gap[2]) if node.kind == "P" else float(np.arctan2(rotated[1, 0], rotated[0, 0])))
    return found
