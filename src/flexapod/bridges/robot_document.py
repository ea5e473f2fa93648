"""A tree with loops written as a robot file: the platform, one leg per loop or carrier, joints and bodies by name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.bridges.mjcf_in import ImportedModelError, read_mjcf
from flexapod.bridges.tree import WORLD, Inertial, Loop, Node, Tree

if TYPE_CHECKING:
    from flexapod.description.read import Description
    from flexapod.robot.geometry import Pose

TYPES = {"R": "revolute", "P": "prismatic", "fixed": "fixed"}


def import_robot(path: str | os.PathLike[str], *, platform: str | None = None, loops: str | os.PathLike[str] | None = None,
                 source: str = "") -> Description:  # fmt: skip
    """Read a mechanism of another program as a robot; `write_robot_file` keeps it, `load` of that file makes the robot.

    Args:
        path: MJCF (.xml) or URDF (.urdf).
        platform: name of the body that is the platform; left out: the one that floats.
        loops: YAML of the joints that close loops, beside a URDF; left out: ``<name>.loops.yaml``.
        source: what the robot file says about where the numbers come from; left out: the file's name.

    Meshes are not needed; every moving body needs an inertial. Loops are `connect` and `weld` between sites.

    Checked by: tests/bridges/test_mjcf.py, tests/bridges/test_urdf.py.
    """
    from flexapod.description.read import description_from_document

    file = Path(path)
    if file.suffix == ".urdf":
        from flexapod.bridges.urdf import read_urdf

        tree = read_urdf(file, loops)
    else:
        tree = read_mjcf(file)
    return description_from_document(robot_document(tree, platform, source or f"imported from {file.name}"))


def robot_document(tree: Tree, platform: str | None, source: str) -> dict[str, Any]:
    """The robot file of a tree as plain data."""
    name = platform or _floating(tree)
    if name not in {n.name for n in tree.nodes}:
        raise ImportedModelError(f"{tree.name}: there is no body {name!r}; bodies: {', '.join(n.name for n in tree.nodes)}")
    node = tree.node(name)
    legs: dict[str, Any] = {}
    used = {name}
    for loop in tree.loops:
        end, loop = _toward(tree, loop, name)
        chain = _chain(tree, end)
        legs[_leg_name(chain, legs)] = _leg(tree, chain, loop)
        used |= {n.name for n in chain}
    document: dict[str, Any] = {
        "flexapod": 1, "name": re.sub(r"[^A-Za-z0-9_-]", "-", tree.name), "source": source, "gravity": tree.gravity.tolist(),
    }  # fmt: skip
    if node.kind == "free":
        document |= {"home": _placed(node.place), "platform": _body(node.inertial)}
    else:
        chain = _chain(tree, name)
        leg = _leg_name(chain, legs)
        legs[leg] = _leg(tree, chain, None)
        used |= {n.name for n in chain}
        at = _home_place(tree, name)
        document |= {"home": _placed(at), "platform": {"body": f"{leg}.{_short(chain[-1].name)}"}}
    lost = [n.name for n in tree.nodes if n.name not in used]
    if lost:
        raise ImportedModelError(f"{tree.name}: {', '.join(lost)} belong to no loop of the platform; name another platform")
    return {**document, "legs": {"each": legs}}


def _floating(tree: Tree) -> str:
    free = [n.name for n in tree.nodes if n.kind == "free"]
    if len(free) != 1:
        found = "no body floats" if not free else f"several bodies float: {', '.join(free)}"
        raise ImportedModelError(f"{tree.name}: {found}; name the platform")
    return free[0]


def _toward(tree: Tree, loop: Loop, platform: str) -> tuple[str, Loop]:
    """The end that is not the platform, and the loop written from there to the platform."""
    if loop.second == platform:
        return loop.first, loop
    if loop.first == platform:
        turned = Loop(name=loop.name, type=loop.type, first=loop.second, on_first=loop.on_second, second=loop.first,
                      on_second=loop.on_first)  # fmt: skip
        return loop.second, turned
    raise ImportedModelError(f"{tree.name}: the loop {loop.name!r} does not end on the platform {platform!r}")


def _chain(tree: Tree, end: str) -> list[Node]:
    found: list[Node] = []
    while end != WORLD:
        found.insert(0, tree.node(end))
        end = found[0].parent
    if any(n.kind == "free" for n in found):
        raise ImportedModelError(f"{tree.name}: {found[-1].name!r} hangs on a floating body; a leg starts at the world")
    return found


def _short(name: str) -> str:
    short = re.sub(r"[^A-Za-z0-9_-]", "_", name.split(".", 1)[1] if "." in name else name)
    return f"{short}_body" if short in ("platform", "base") else short


def _leg_name(chain: list[Node], known: dict[str, Any]) -> str:
    """What the names of a chain have before their dot, else a number."""
    heads = {n.name.split(".", 1)[0] for n in chain if "." in n.name}
    name = heads.pop() if len(heads) == 1 else str(len(known) + 1)
    return name if name not in known else f"{name}-{len(known) + 1}"


def _leg(tree: Tree, chain: list[Node], loop: Loop | None) -> dict[str, Any]:
    joints: dict[str, Any] = {}
    bodies: dict[str, Any] = {}
    taken = {_short(node.name) for node in chain}
    before = "base"
    for node in chain:
        body = _short(node.name)
        joints[_fresh(_short(node.joint), {**joints, **dict.fromkeys(taken)})] = _joint(node, before, body)
        bodies[body] = _body(node.inertial)
        before = body
    if loop is not None:
        joints[_fresh(_short(loop.name), {**joints, **dict.fromkeys(taken)})] = _closing(tree, loop, before)
    return {"joints": joints, "bodies": bodies}


def _fresh(name: str, known: dict[str, Any]) -> str:
    return name if name and name not in known else f"{name or 'joint'}-{len(known) + 1}"


def _joint(node: Node, before: str, body: str) -> dict[str, Any]:
    R = node.place.rotation
    found: dict[str, Any] = {"type": TYPES[node.kind], "from": before, "to": body, "at": node.place.position.tolist()}
    found["rotation"] = {"matrix": R.tolist()}
    if node.kind in "RP":
        found |= {"axis": R[:, 2].tolist(), "start": node.start}
    for key, value in (("actuated", node.actuated), ("inertia", node.rotor)):
        if value:
            found[key] = value
    if node.stroke is not None and node.actuated:
        found["limits"] = {"stroke": list(node.stroke)}
    if node.damping or node.loss:
        found["friction"] = {"viscous": node.damping, "coulomb": node.loss}
    return found


def _closing(tree: Tree, loop: Loop, before: str) -> dict[str, Any]:
    found: dict[str, Any] = {"type": loop.type, "from": before, "to": "platform", "at": loop.on_first.position.tolist(),
                             "on": loop.on_second.position.tolist()}  # fmt: skip
    z1, z2 = loop.on_first.rotation[:, 2].tolist(), loop.on_second.rotation[:, 2].tolist()
    if loop.type == "revolute":
        found |= {"axis": z1, "axis_on": z2}
    elif loop.type == "universal":
        found |= {"axis1": z1, "axis2": z2}
    elif loop.type == "fixed":
        found["rotation"] = {"matrix": (loop.on_first.rotation @ loop.on_second.rotation.T).tolist()}
    return found


def _body(inertial: Inertial) -> dict[str, Any]:
    if inertial.mass == 0.0:
        return {}
    t = inertial.tensor
    entries = {"xx": t[0, 0], "yy": t[1, 1], "zz": t[2, 2], "xy": t[0, 1], "xz": t[0, 2], "yz": t[1, 2]}
    return {"mass": inertial.mass, "com": np.asarray(inertial.com).tolist(), "inertia": {k: float(v) for k, v in entries.items()}}


def _placed(place: Pose) -> dict[str, Any]:
    return {"position": place.position.tolist(), "rotation": {"matrix": place.rotation.tolist()}}


def _home_place(tree: Tree, name: str) -> Pose:
    """Where a node is at the start coordinates."""
    from flexapod.bridges.tree import displacement
    from flexapod.robot.geometry import pose

    at = pose()
    for node in _chain(tree, name):
        at = at @ node.place @ displacement(node.kind, node.start)
    return at
