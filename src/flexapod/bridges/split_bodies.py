r"""Closing joints as joints of the tree: the last body of a leg written as two halves that are held together.

A loop may be cut through a body as well as through a joint. Half of the body's mass and inertia stays on the leg, the other half
hangs behind the closing joint on the body that the joint leads to, and a fixed joint holds them together:

.. math:: m = \tfrac12 m + \tfrac12 m, \qquad I = \tfrac12 I + \tfrac12 I .

The mechanism is the same. A program that can only hold points and frames together (MuJoCo's `connect` and `weld`) then has no
constraint for the axes of a universal, prismatic or cylindrical joint to write, which it would do without their velocity terms.
A revolute joint with friction is one of the tree too, where its friction has a word. A massless body that a fixed joint holds to
another one, the far frame of a joint with a spring, takes a part of that body in the same way; one that is held to the base hangs
there instead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexapod.bridges.body_tree import WORLD, ClosingLoop, Inertial, Node, Tree, displacement, inverse
from flexapod.errors import InputError
from flexapod.robot.geometry import Pose, pose

CHAINS = {"revolute": "R", "universal": "RR", "prismatic": "P", "cylindrical": "PR"}
"""Joints of the tree behind the body that a closing joint leads to, from that body outwards; revolute ones with friction only."""
ACROSS = pose(rotation=[[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""The frame of the second axis of a universal joint in that of the first: z perpendicular."""
FLIPPED = pose(rotation=[[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
"""A frame whose z axis points the other way: a joint seen from its far side keeps its coordinate there."""
SAME = 1e-9
"""Distances [m] and cosines below this are zero: axes that meet, perpendicular or parallel."""


def halved(tree: Tree) -> Tree:
    """The tree with every universal, prismatic and cylindrical closing joint, and revolute ones with friction, inside it,
    between two halves of a body; no massless body ends in a fixed joint.

    Checked by: tests/bridges/test_mjcf.py.
    """
    for loop in tree.loops:
        if loop.type in CHAINS and (loop.type != "revolute" or loop.damping or loop.loss):
            tree = _halve(tree, loop)
    return _weighted(_grounded(tree))


def _grounded(tree: Tree) -> Tree:
    """The tree with massless ends that fixed joints hold to the world hung on the world itself, joint by joint in reverse; half
    of the body that carried them is the end there."""
    for loop in (one for k in tree.loops if k.type == "fixed" for one in (k, _swapped(k))):
        chain = _light_chain(tree, loop.first) if loop.second == WORLD else []
        carrier = chain[0].parent if chain else WORLD
        if carrier == WORLD or not _mass(tree, carrier):
            continue
        place, parent, found = loop.on_second @ inverse(loop.on_first) @ FLIPPED, WORLD, list[Node]()
        for node in reversed(chain):
            found.append(replace(node, parent=parent, place=place))
            place, parent = FLIPPED @ inverse(node.place) @ FLIPPED, node.name
        own, at = tree.node(carrier).inertial, chain[0].place @ FLIPPED
        half = Inertial(mass=own.mass / 2.0, com=own.com, tensor=own.tensor / 2.0)
        found[-1] = replace(found[-1], inertial=_seen(half, inverse(at)))
        gone = {node.name for node in chain}
        nodes = [replace(n, inertial=half) if n.name == carrier else n for n in tree.nodes if n.name not in gone]
        held = replace(loop, type="held", first=carrier, on_first=at, second=found[-1].name, on_second=pose())
        tree = replace(tree, nodes=(*nodes, *found), loops=tuple(held if k.name == loop.name else k for k in tree.loops))
    return tree


def _light_chain(tree: Tree, name: str) -> list[Node]:
    """Massless joints of the tree that end at a node and carry nothing else, from the base outwards."""
    chain: list[Node] = []
    while name != WORLD and tree.node(name).light and tree.node(name).kind in "RP":
        if sum(n.parent == name for n in tree.nodes) > (1 if chain else 0):
            return []
        chain.insert(0, tree.node(name))
        name = chain[0].parent
    return chain


def _weighted(tree: Tree) -> Tree:
    """The tree with massless moving bodies that fixed joints hold to others as equal parts of those."""
    held: dict[str, list[ClosingLoop]] = {}
    for loop in (one for k in tree.loops if k.type == "fixed" for one in (k, _swapped(k))):
        end, (heavy, on) = loop.first, _solid(tree, loop.second, loop.on_second)
        if end != WORLD and tree.node(end).kind in "RP" and tree.node(end).light and _mass(tree, heavy):
            held.setdefault(heavy, []).append(replace(loop, second=heavy, on_second=on))
    for heavy, loops in held.items():
        ends = {loop.first: loop for loop in loops}  # a body may be held twice
        own = tree.node(heavy).inertial
        part = Inertial(mass=own.mass / (len(ends) + 1), com=own.com, tensor=own.tensor / (len(ends) + 1))
        given = {name: _seen(part, k.on_first @ inverse(k.on_second)) for name, k in ends.items()} | {heavy: part}
        fixed = {loop.name for loop in ends.values()}
        tree = replace(tree, nodes=tuple(replace(n, inertial=given.get(n.name, n.inertial)) for n in tree.nodes),
                       loops=tuple(replace(k, type="held") if k.name in fixed else k for k in tree.loops))  # fmt: skip
    return tree


def _solid(tree: Tree, name: str, at: Pose) -> tuple[str, Pose]:
    """The body with mass that a massless one is fixed on, and a frame of it seen from there."""
    while name != WORLD and tree.node(name).light and tree.node(name).kind == "fixed":
        name, at = tree.node(name).parent, tree.node(name).place @ at
    return name, at


def _seen(part: Inertial, frame: Pose) -> Inertial:
    """Inertial data in another frame; `frame`: the frame they are in, seen from it."""
    R = frame.rotation
    return Inertial(mass=part.mass, com=frame.point(part.com), tensor=R @ part.tensor @ R.T)


def _halve(tree: Tree, loop: ClosingLoop) -> Tree:
    (first, at), (second, on) = _solid(tree, loop.first, loop.on_first), _solid(tree, loop.second, loop.on_second)
    if not _mass(tree, first):
        first, second, at, on = second, first, on, at
    if not _mass(tree, first):
        raise InputError(
            f"export: the {loop.type} joint {loop.name} closes a loop between {loop.first} and {loop.second}, which have no "
            "mass, and MJCF holds bodies with mass alone; give one of them a mass"
        )
    between = inverse(tree.at_home(second) @ on) @ tree.at_home(first) @ at  # the far frame at home
    own, far = tree.node(first), _chain(loop, second, on, between)
    half = Inertial(mass=own.inertial.mass / 2.0, com=own.inertial.com, tensor=own.inertial.tensor / 2.0)
    far[-1] = replace(far[-1], inertial=_seen(half, inverse(at)))
    held = ClosingLoop(name=loop.name, type="held", first=first, on_first=at, second=far[-1].name, on_second=pose())
    nodes = [replace(n, inertial=half) if n.name == first else n for n in tree.nodes]
    return replace(tree, nodes=(*nodes, *far), loops=tuple(held if k.name == loop.name else k for k in tree.loops))


def _chain(loop: ClosingLoop, parent: str, place: Pose, between: Pose) -> list[Node]:
    """Nodes from the body behind the joint to the far half, whose frame is the joint's on the body that is halved."""
    R = between.rotation
    if loop.type == "universal":  # R = Rz(a) ACROSS Rz(b)
        a = float(np.arctan2(R[0, 2], -R[1, 2]))
        rest = ACROSS.rotation.T @ displacement("R", a).rotation.T @ R
        parts = [("R", place, a), ("R", ACROSS, float(np.arctan2(rest[1, 0], rest[0, 0])))]
    else:
        angle, shift = float(np.arctan2(R[1, 0], R[0, 0])), float(between.position[2])
        parts = {
            "revolute": [("R", place, angle)],
            "prismatic": [("P", place @ displacement("R", angle), shift)],
            "cylindrical": [("P", place, shift), ("R", pose(), angle)],
        }[loop.type]
    found: list[Node] = []
    for k, (kind, where, start) in enumerate(parts):
        name = f"{loop.name}.far" if k == len(parts) - 1 else f"{loop.name}.between"
        found.append(Node(name=name, parent=parent, place=where, kind=kind, joint=f"{loop.name}.{k + 1}", start=start,
                          damping=loop.damping, loss=loop.loss))  # fmt: skip
        parent = name
    return found


def rejoined(tree: Tree) -> Tree:
    """The tree with halves made one body again: bodies that end in a fixed joint behind a joint on which friction acts at most.

    Such a body may have any mass: it is a part of the body that it is fixed to. The joint that it hangs on closes the loop.
    """
    for loop in tree.loops:
        for one, other in ((loop, loop), (_swapped(loop), loop)):
            far = _far_nodes(tree, one)
            if far:
                tree = _join(tree, one, other, far)
                break
    return tree


def _swapped(loop: ClosingLoop) -> ClosingLoop:
    return replace(loop, first=loop.second, on_first=loop.on_second, second=loop.first, on_second=loop.on_first)


def _far_nodes(tree: Tree, loop: ClosingLoop) -> list[Node]:
    """Nodes of the joint that carries the second body of a fixed joint, from its carrier outwards; empty if the body is no
    half."""
    if loop.type != "fixed" or WORLD in (loop.first, loop.second) or tree.node(loop.second).kind not in "RP":
        return []
    ends = [end for k in tree.loops for end in (k.first, k.second)] + [end for s in tree.struts for end in (s.first, s.second)]
    coupled = {joint for gear in tree.gears for joint, _ in gear.terms}
    found: list[Node] = []
    name = loop.second
    while name != WORLD:
        node = tree.node(name)
        acted = node.actuated or node.rotor or node.stiffness or node.stroke or node.joint in coupled
        acted = acted or bool(found and (node.damping, node.loss) != (found[0].damping, found[0].loss))
        branches = sum(n.parent == name for n in tree.nodes) - bool(found)
        if node.kind not in "RP" or acted or branches or ends.count(name) != (not found) or (found and node.inertial.mass):
            break
        found.insert(0, node)
        name = node.parent
    if not found or found[0].parent == WORLD:  # on the world it is a leg of its own
        return []
    resists = bool(found[0].damping or found[0].loss)
    kind = _type(found)
    fits = {"": False, "revolute": resists or _floats(tree, found[0]), "cylindrical": not resists}.get(kind, True)
    return found if fits else []


def _floats(tree: Tree, node: Node) -> bool:
    """Whether the node is carried by a floating body."""
    while node.parent != WORLD and node.kind != "free":
        node = tree.node(node.parent)
    return node.kind == "free"


def _type(chain: list[Node]) -> str:
    """The closing joint that a chain of nodes is, or nothing."""
    kinds = "".join(n.kind for n in chain)
    if kinds in ("P", "R"):
        return "prismatic" if kinds == "P" else "revolute"
    if kinds not in ("RR", "PR"):
        return ""
    place = chain[1].place
    meets, cosine = float(np.abs(place.position).max()) <= SAME, abs(float(place.rotation[2, 2]))
    if kinds == "RR":
        return "universal" if meets and cosine <= SAME else ""
    return "cylindrical" if meets and 1.0 - cosine <= SAME else ""


def _join(tree: Tree, loop: ClosingLoop, original: ClosingLoop, far: list[Node]) -> Tree:
    own, other = tree.node(loop.first), far[-1]
    seen = loop.on_first @ inverse(loop.on_second)  # the far half's frame in the body's own
    moved = _seen(other.inertial, seen)
    closed = ClosingLoop(
        name=loop.name, type=_type(far), first=loop.first, on_first=seen, second=far[0].parent, on_second=far[0].place,
        damping=other.damping, loss=other.loss, per_axis=len(far) > 1,
    )  # fmt: skip
    gone = {n.name for n in far}
    nodes = [replace(n, inertial=_sum(own.inertial, moved)) if n.name == own.name else n for n in tree.nodes]
    return replace(tree, nodes=tuple(n for n in nodes if n.name not in gone),
                   loops=tuple(closed if k.name == original.name else k for k in tree.loops))  # fmt: skip


def _sum(one: Inertial, two: Inertial) -> Inertial:
    """Two parts as one body: tensor about the common centre of mass."""
    mass = one.mass + two.mass
    if mass == 0.0:
        return one
    d = np.asarray(two.com) - np.asarray(one.com)
    lever = one.mass * two.mass / mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(mass=mass, com=np.asarray(one.com) + two.mass / mass * d, tensor=one.tensor + two.tensor + lever)


def _mass(tree: Tree, name: str) -> float:
    return 0.0 if name == WORLD else tree.node(name).inertial.mass
