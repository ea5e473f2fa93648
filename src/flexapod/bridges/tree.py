"""A robot as other programs describe mechanisms: a tree of bodies with joints, and joints that close loops.

Every node has its frame at its joint with z along the joint axis, as links of a `Robot` have. A free node floats.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.abilities import refuse
from flexapod.robot.geometry import Pose, pose
from flexapod.robot.model import RigidBody
from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
WORLD = "world"


@dataclass(frozen=True, kw_only=True)
class Inertial:
    """Mass [kg], centre of mass (3,) [m] and tensor about it (3, 3) [kg m^2], in the node's frame."""

    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    tensor: Array = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True, kw_only=True)
class Node:
    """A body and the joint that carries it.

    Args:
        parent: name of the parent node, or `WORLD`.
        place: this frame in the parent's at joint coordinate zero.
        kind: ``"R"``, ``"P"``, ``"fixed"`` or ``"free"``.
        joint: name of the joint.
        start: coordinate at home.
        rotor: inertia at the coordinate; damping: viscous friction; loss: constant friction.
    """

    name: str
    parent: str
    place: Pose
    kind: str
    joint: str = ""
    inertial: Inertial = field(default_factory=Inertial)
    actuated: bool = False
    start: float = 0.0
    rotor: float = 0.0
    damping: float = 0.0
    loss: float = 0.0
    stroke: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A joint that closes a loop: half frames on two nodes, z along the axis (universal: axis1 and axis2)."""

    name: str
    type: str
    first: str
    on_first: Pose
    second: str
    on_second: Pose


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A mechanism. Nodes come after their parents."""

    name: str
    gravity: Array
    nodes: tuple[Node, ...]
    loops: tuple[Loop, ...]

    def node(self, name: str) -> Node:
        """A node by name."""
        return next(n for n in self.nodes if n.name == name)


def inertial_of(body: RigidBody | None) -> Inertial:
    """Inertial data about the centre of mass."""
    if body is None or (body.mass == 0.0 and not np.any(body.inertia)):
        return Inertial()
    c = np.asarray(body.first_moment) / body.mass if body.mass else np.zeros(3)
    return Inertial(mass=body.mass, com=c, tensor=body.inertia - body.mass * (c @ c * np.eye(3) - np.outer(c, c)))


def robot_tree(robot: Robot) -> Tree:
    """The tree of a rigid robot: legs from the world, the platform free, or carried by a leg that is fixed to it.

    Checked by: tests/bridges/test_mjcf.py.
    """
    refuse(robot, "export_mjcf")
    nodes: list[Node] = []
    loops: list[Loop] = []
    carrier = next((leg for leg in robot.legs if leg.closing.type == "fixed" and leg.closing.link >= 0), None)
    for leg in robot.legs:
        home = dict(zip(leg.moving, leg.home, strict=True))
        names = [f"{leg.name}.{link.body.name if link.body else link.coordinate}" for link in leg.links]
        for k, link in enumerate(leg.links):
            f = link.friction
            nodes.append(Node(
                name=names[k], parent=names[link.parent] if link.parent >= 0 else WORLD, kind=link.kind,
                place=link.placement @ displacement(link.kind, link.zero), joint=f"{leg.name}.{link.coordinate}",
                inertial=inertial_of(link.body), actuated=link.actuated, start=float(home.get(k, 0.0)), rotor=link.inertia,
                damping=f.viscous if f else 0.0, loss=f.coulomb + f.preload if f else 0.0,
                stroke=tuple(link.limits.stroke) if link.limits and link.limits.stroke else None,  # type: ignore[arg-type]
            ))  # fmt: skip
        first = names[leg.closing.link] if leg.closing.link >= 0 else WORLD
        if leg is carrier:
            place = leg.closing.on_link @ inverse(leg.closing.on_platform)
            nodes.append(Node(name="platform", parent=first, place=place, kind="fixed", joint=f"{leg.name}.{leg.closing.joint}",
                              inertial=inertial_of(robot.platform)))  # fmt: skip
            continue
        loops.append(Loop(
            name=f"{leg.name}.{leg.closing.joint}", type=leg.closing.type, first=first, on_first=leg.closing.on_link,
            second="platform", on_second=leg.closing.on_platform,
        ))  # fmt: skip
    if carrier is None:
        nodes.insert(0, Node(name="platform", parent=WORLD, place=robot.home, kind="free", inertial=inertial_of(robot.platform)))
    return Tree(name=robot.name, gravity=np.asarray(robot.gravity), nodes=tuple(nodes), loops=tuple(loops))


def displacement(kind: str, value: float) -> Pose:
    """Rotation about, or translation along, z."""
    if kind == "R":
        c, s = np.cos(value), np.sin(value)
        return pose(rotation=[[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return pose([0.0, 0.0, value if kind == "P" else 0.0])


def inverse(place: Pose) -> Pose:
    """The parent seen from the child."""
    R = place.rotation.T
    return pose(-R @ place.position, R)


def quat_wxyz(R: Array) -> Array:
    """Unit quaternion of a rotation matrix."""
    from flexapod.motions.quaternions import rotation_quat_wxyz

    return np.asarray(rotation_quat_wxyz(np.asarray(R)[None])[0])


def merged(tree: Tree) -> list[tuple[Node, tuple[tuple[Node, Pose], ...]]]:
    """Nodes with all joints that carry them: those of massless ancestors, each with its frame seen from the node at zero.

    Returns:
        Per node that has a mass, a branch or a loop: the node, placed in the parent that is left, and its joints in order.
    """
    children: dict[str, int] = {}
    for node in tree.nodes:
        children[node.parent] = children.get(node.parent, 0) + 1
    ends = {loop.first for loop in tree.loops} | {loop.second for loop in tree.loops}
    light = {n.name for n in tree.nodes if n.kind in "RP" and n.inertial.mass == 0.0 and not np.any(n.inertial.tensor)
             and n.rotor == 0.0}  # fmt: skip
    kept = []
    for node in tree.nodes:
        if node.name in light and children.get(node.name, 0) == 1 and node.name not in ends:
            continue
        joints: list[tuple[Node, Pose]] = [(node, pose())] if node.kind in "RP" else []
        place, parent = node.place, node.parent
        while parent in light and children[parent] == 1 and parent not in ends:
            above = tree.node(parent)
            joints.insert(0, (above, inverse(place)))
            place, parent = above.place @ place, above.parent
        kept.append((replace(node, place=place, parent=parent), tuple(joints)))
    return kept
