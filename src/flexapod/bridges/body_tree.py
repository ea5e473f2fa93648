"""A robot as a tree of bodies with joints, and joints that close loops: the form of other programs.

Every node has its frame at its joint with z along the joint axis, as links of a `Robot` have. A free node floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from flexapod.analysis.requests.abilities import refuse
from flexapod.arrays import Array
from flexapod.description.friction import LAWS
from flexapod.errors import InputError
from flexapod.robot import point_forces
from flexapod.robot.geometry import Pose, pose
from flexapod.robot.model import Closing, Leg, Link, RigidBody
from flexapod.robot.robot import Robot

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
        stiffness: of a spring at the joint; free: coordinate at which it is free, home where it is None.
        force, speed: largest ones of an actuator; None: no limit.
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
    stiffness: float = 0.0
    free: float | None = None
    stroke: tuple[float, float] | None = None
    force: float | None = None
    speed: float | None = None

    @property
    def light(self) -> bool:
        """The body has neither mass nor inertia."""
        return self.inertial.mass == 0.0 and not np.any(self.inertial.tensor)


@dataclass(frozen=True, kw_only=True)
class ClosingLoop:
    """A joint that closes a loop: half frames on two nodes, z along the axis (universal: axis1 and axis2).

    Args:
        damping: viscous friction; loss: constant friction; per_axis: about each axis, not against a vector.
    """

    name: str
    type: str
    first: str
    on_first: Pose
    second: str
    on_second: Pose
    damping: float = 0.0
    loss: float = 0.0
    per_axis: bool = False


@dataclass(frozen=True, kw_only=True)
class Gear:
    """Coupled joints: the sum of factor times coordinate keeps its value `home`."""

    name: str
    terms: tuple[tuple[str, float], ...]
    home: float


@dataclass(frozen=True, kw_only=True)
class Strut:
    """A spring and a damper between points of two nodes: tension stiffness (distance - length) + damping rate."""

    name: str
    first: str
    at: Array
    second: str
    on: Array
    stiffness: float
    length: float
    damping: float


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A mechanism. Nodes come after their parents.

    Args:
        actuators: driven joints in the order of the file that the tree was read from.
        remarks: what the reader of a file, or of the exported one, must know.
        frames: of nodes that were read, the frame that the file gives the body, seen from the node; left out: the node's own.
        platform: node that the file calls so; empty: it names none.
    """

    name: str
    gravity: Array
    nodes: tuple[Node, ...]
    loops: tuple[ClosingLoop, ...]
    gears: tuple[Gear, ...] = ()
    struts: tuple[Strut, ...] = ()
    actuators: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    frames: Mapping[str, Pose] = field(default_factory=dict)
    platform: str = ""

    def node(self, name: str) -> Node:
        """A node by name."""
        return next(n for n in self.nodes if n.name == name)

    def at_home(self, name: str) -> Pose:
        """Place of a node in the world at the coordinates of home."""
        if name == WORLD:
            return pose()
        node = self.node(name)
        return self.at_home(node.parent) @ node.place @ displacement(node.kind, node.start)


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
    loops: list[ClosingLoop] = []
    names = [[f"{leg.name}.{link.body.name if link.body else link.coordinate}" for link in leg.links] for leg in robot.legs]
    for leg, own in zip(robot.legs, names, strict=True):
        nodes += _leg_nodes(leg, own)
        for cut in (leg.closing, *leg.cuts):
            first = own[cut.link] if cut.link >= 0 else WORLD
            if cut.type == "fixed" and cut.link >= 0 and cut.to is None and not any(n.name == "platform" for n in nodes):
                place = cut.on_link @ inverse(cut.on_platform)
                nodes.append(Node(name="platform", parent=first, place=place, kind="fixed", joint=f"{leg.name}.{cut.joint}",
                                  inertial=inertial_of(robot.platform)))  # fmt: skip
                continue
            second = "platform" if cut.to is None else WORLD if cut.to[1] < 0 else names[cut.to[0]][cut.to[1]]
            f = cut.friction
            loops.append(ClosingLoop(
                name=f"{leg.name}.{cut.joint}", type=cut.type, first=first, on_first=cut.on_link, second=second,
                on_second=cut.on_platform, damping=f.plain("rate") if f else 0.0, loss=f.plain("direction") if f else 0.0,
                per_axis=bool(f and f.direction == "per_axis"),
            ))  # fmt: skip
    if not any(n.name == "platform" for n in nodes):
        nodes.insert(0, Node(name="platform", parent=WORLD, place=robot.home, kind="free", inertial=inertial_of(robot.platform)))
    return seated(Tree(name=robot.name, gravity=np.asarray(robot.gravity), nodes=tuple(nodes), loops=tuple(loops),
                       gears=_gears(robot), struts=_struts(robot, names), remarks=_remarks(robot)))  # fmt: skip


def seated(tree: Tree) -> Tree:
    """The tree with legs that begin on bodies of other legs as its branches: their seats, six massless joints that a fixed one
    holds, are fixed nodes there."""
    nodes, loops = {n.name: n for n in tree.nodes}, []
    for loop in tree.loops:
        chain = _seat(nodes, loop) if loop.type == "fixed" else []
        if len(chain) != 6:
            loops.append(loop)
            continue
        for name in chain[1:]:
            del nodes[name]
        place = loop.on_second @ inverse(loop.on_first)
        nodes[loop.first] = Node(name=loop.first, parent=loop.second, place=place, kind="fixed", joint=loop.name)
    order: list[Node] = []
    while len(order) < len(nodes):  # parents first
        known = {WORLD, *(n.name for n in order)}
        order += [n for n in nodes.values() if n.parent in known and n.name not in known]
    return replace(tree, nodes=tuple(order), loops=tuple(loops))


def _seat(nodes: dict[str, Node], loop: ClosingLoop) -> list[str]:
    """Massless free joints from the first body of a loop up to the world, which carry nothing else."""
    chain: list[str] = []
    name = loop.first
    while name != WORLD:
        node = nodes[name]
        loaded = node.actuated or node.stiffness or node.damping or node.loss or node.rotor or node.inertial.mass
        if node.kind not in "RP" or loaded or (chain and sum(n.parent == name for n in nodes.values()) > 1):
            return []
        chain.append(name)
        name = node.parent
    return chain


def _leg_nodes(leg: Leg, names: list[str]) -> list[Node]:
    """Links of a leg by their names."""
    home, nodes = dict(zip(leg.moving, leg.home, strict=True)), []
    for k, link in enumerate(leg.links):
        f, start = link.friction, float(home.get(k, 0.0))
        nodes.append(Node(
            name=names[k], parent=names[link.parent] if link.parent >= 0 else WORLD, kind=link.kind,
            place=link.placement @ displacement(link.kind, link.zero), joint=f"{leg.name}.{link.coordinate}",
            inertial=inertial_of(link.body), actuated=link.actuated, start=start, rotor=link.inertia,
            damping=(f.plain("rate") if f else 0.0) + link.damping, loss=f.plain("direction") if f else 0.0,
            stiffness=link.stiffness,
            free=_free(f"{leg.name}.{link.coordinate}", link, start),
            stroke=tuple(link.limits.stroke) if link.limits and link.limits.stroke else None,  # type: ignore[arg-type]
            force=link.limits.force if link.limits and link.actuated else None,
            speed=link.limits.speed if link.limits and link.actuated else None,
        ))  # fmt: skip
    return nodes


def _remarks(robot: Robot) -> tuple[str, ...]:
    """Friction that hinges and slides do not have: of another law, by loads, or against a vector of angular velocity."""
    loaded: dict[str, None] = {}
    vectors: dict[str, None] = {}
    others: dict[str, None] = {}
    for leg in robot.legs:
        joints = [link.joint for link in leg.links if link.kind != "fixed"]
        parts: tuple[Link | Closing, ...] = (*leg.links, *leg.closings)
        for part in parts:
            f, name, axes = part.friction, f"{leg.name}.{part.joint}", joints.count(part.joint)
            if f is None:
                continue
            if f.given(by_load=True):
                loaded[name] = None
            others |= dict.fromkeys(f"{name}.friction.{law}" for law in f.given(by_load=False) if not LAWS[law].plain)
            dry = f.plain("direction")
            if f.direction == "vector" and ((axes == 3 and (f.plain("rate") or dry)) or (axes == 2 and dry)):
                vectors[name] = None
    found = [f"{name} has no counterpart and is left out" for name in others]
    if loaded:
        found.append(f"the friction of {', '.join(loaded)} by joint loads has no counterpart and is left out")
    if vectors:
        found.append(
            f"the friction of {', '.join(vectors)} acts against the vector of angular velocity; it is written for each axis alone"
        )
    return tuple(found)


def _free(name: str, link: Link, start: float) -> float | None:
    """Coordinate at which a joint spring is free, its preload included."""
    if link.stop or (link.preload and not link.stiffness):
        what = "bump stops" if link.stop else "a constant force"
        raise InputError(f"export: the joint {name} has {what}, which MJCF and URDF cannot describe; export an FMU instead")
    if not link.spring or (link.rest is None and not link.preload):
        return None
    return (start if link.rest is None else link.rest) - (link.preload / link.stiffness if link.preload else 0.0)


def _gears(robot: Robot) -> tuple[Gear, ...]:
    found = []
    for coupling in (c for leg in robot.legs for c in leg.couplings):
        terms = []
        for leg, index, factor in coupling.terms:
            own = robot.legs[leg]
            terms.append((f"{own.name}.{own.links[own.moving[index]].coordinate}", float(factor)))
        found.append(Gear(name=coupling.name, terms=tuple(terms), home=float(coupling.home)))
    return tuple(found)


def _struts(robot: Robot, names: list[list[str]]) -> tuple[Strut, ...]:
    found = []
    for force in robot.forces:
        if force.preload and not (force.stiffness and force.length * force.stiffness >= force.preload):
            raise InputError(
                f"export: the force {force.name} of {robot.name} has a constant tension that no spring gives (its free length "
                "would be below zero), which MJCF has no element for; export an FMU instead"
            )
        fixed = {point_forces.WORLD: WORLD, point_forces.PLATFORM: "platform"}
        on = [fixed[end.on] if end.on in fixed else names[end.on[0]][end.on[1]] for end in (force.first, force.second)]
        free = force.length - (force.preload / force.stiffness if force.preload else 0.0)
        found.append(Strut(
            name=force.name, first=on[0], at=np.asarray(force.first.at), second=on[1], on=np.asarray(force.second.at),
            stiffness=force.stiffness, length=free, damping=force.damping,
        ))  # fmt: skip
    return tuple(found)


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


def massless(nodes: Sequence[Node]) -> list[str]:
    """Names of bodies that move and have no mass, neither their own nor that of bodies fixed on them."""

    def weighs(node: Node) -> bool:
        return node.inertial.mass != 0.0 or any(weighs(n) for n in nodes if n.parent == node.name and n.kind == "fixed")

    return [node.name for node in nodes if node.kind != "fixed" and not weighs(node)]


def merged(tree: Tree) -> list[tuple[Node, tuple[tuple[Node, Pose], ...]]]:
    """Nodes with all joints that carry them: those of massless ancestors, each with its frame seen from the node at zero.

    Returns:
        Per node that has a mass, a branch or a loop: the node, placed in the parent that is left, and its joints in order.
    """
    children: dict[str, int] = {}
    for node in tree.nodes:
        children[node.parent] = children.get(node.parent, 0) + 1
    ends = {name for loop in tree.loops for name in (loop.first, loop.second)}
    ends |= {name for strut in tree.struts for name in (strut.first, strut.second)}
    light = {n.name for n in tree.nodes if n.kind in "RP" and n.light}
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
