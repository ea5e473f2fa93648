"""URDF with a file of closing joints beside it, out and in: `<name>.urdf` holds the tree, `<name>.loops.yaml` the loops.

What URDF has no word for is in the loop file: gravity, actuated joints, rotor inertias, springs, coordinates at home, couplings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, SubElement, indent, parse, tostring

import numpy as np
import yaml

from flexapod.bridges.halves import whole
from flexapod.bridges.loop_frames import loop_document
from flexapod.bridges.mjcf_in import ImportedModelError, floats
from flexapod.bridges.mjcf_out import numbers
from flexapod.bridges.tree import WORLD, Array, Gear, Inertial, Loop, Node, Strut, Tree, quat_wxyz, robot_tree
from flexapod.errors import InputError
from flexapod.robot.geometry import Pose, euler, frame_along, pose, unit
from flexapod.robot.robot import Robot

CLOSING = ("spherical", "revolute", "universal", "fixed", "prismatic", "cylindrical")


def export_urdf(robot: Robot, path: str | os.PathLike[str]) -> dict[str, Path]:
    """Write a rigid robot as URDF and a YAML of the joints that close its loops.

    Args:
        path: ends in .urdf; the loops are written beside it as ``<name>.loops.yaml``.

    Checked by: tests/bridges/test_urdf.py.
    """
    target = Path(path)
    if target.suffix != ".urdf" or target.is_dir() or not target.parent.is_dir():
        raise InputError(f"export_urdf: {target} must be a file that ends in .urdf, in a folder that exists")
    tree = robot_tree(robot)
    beside = target.with_suffix(".loops.yaml")
    target.write_text(urdf_text(tree), encoding="utf-8")
    beside.write_text(loops_text(tree), encoding="utf-8")
    return {"urdf": target, "loops": beside}


def rpy(R: Array) -> Array:
    """Roll, pitch, yaw [rad] of a rotation: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:  # roll and yaw turn about one axis: yaw is zero
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def urdf_text(tree: Tree) -> str:
    """The text of a URDF file."""
    root = Element("robot", {"name": tree.name})
    SubElement(root, "link", {"name": WORLD})
    for node in tree.nodes:
        link = SubElement(root, "link", {"name": node.name})
        if node.inertial.mass:
            inertial, t = SubElement(link, "inertial"), node.inertial.tensor
            SubElement(inertial, "origin", {"xyz": numbers(node.inertial.com), "rpy": "0 0 0"})
            SubElement(inertial, "mass", {"value": repr(float(node.inertial.mass))})
            entries = {"ixx": t[0, 0], "ixy": t[0, 1], "ixz": t[0, 2], "iyy": t[1, 1], "iyz": t[1, 2], "izz": t[2, 2]}
            SubElement(inertial, "inertia", {k: repr(float(v)) for k, v in entries.items()})
    for node in tree.nodes:
        turning = "revolute" if node.stroke else "continuous"
        kind = {"R": turning, "P": "prismatic", "fixed": "fixed", "free": "floating"}[node.kind]
        joint = SubElement(root, "joint", {"name": node.joint or f"{node.name}.free", "type": kind})
        SubElement(joint, "parent", {"link": node.parent})
        SubElement(joint, "child", {"link": node.name})
        SubElement(joint, "origin", {"xyz": numbers(node.place.position), "rpy": numbers(rpy(node.place.rotation))})
        if node.kind in "RP":
            SubElement(joint, "axis", {"xyz": "0 0 1"})
            if kind != "continuous":
                low, high = node.stroke or (-1e3, 1e3)
                SubElement(joint, "limit", {"lower": repr(low), "upper": repr(high), "effort": "1e9", "velocity": "1e9"})
            if node.damping or node.loss:
                SubElement(joint, "dynamics", {"damping": repr(float(node.damping)), "friction": repr(float(node.loss))})
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"


def loops_text(tree: Tree) -> str:
    """The text of the loop file."""

    def half(place: Pose) -> dict[str, Any]:
        return {"xyz": place.position.tolist(), "quat_wxyz": quat_wxyz(place.rotation).tolist()}

    loops = [
        {"name": k.name, "type": k.type, "link1": k.first, "at1": half(k.on_first), "link2": k.second, "at2": half(k.on_second)}
        for k in tree.loops
    ]
    document = {
        "gravity": tree.gravity.tolist(), "platform": "platform",
        "actuated": [n.joint for n in tree.nodes if n.actuated], "home": {n.joint: n.start for n in tree.nodes if n.kind in "RP"},
        "rotor": {n.joint: n.rotor for n in tree.nodes if n.rotor},
        "springs": {n.joint: [n.stiffness, n.start if n.free is None else n.free] for n in tree.nodes if n.stiffness},
        "loops": loops,
        "couplings": {g.name: dict(g.terms) for g in tree.gears},
        "struts": [{"name": s.name, "link1": s.first, "at1": s.at.tolist(), "link2": s.second, "at2": s.on.tolist(),
                    "stiffness": s.stiffness, "length": s.length, "damping": s.damping} for s in tree.struts],
    }  # fmt: skip
    return str(yaml.safe_dump(document, sort_keys=False, width=120))


def read_urdf(path: str | os.PathLike[str], loops: str | os.PathLike[str] | None = None) -> Tree:
    """The tree of a URDF file and its loop file.

    Checked by: tests/bridges/test_urdf.py.
    """
    file = Path(path)
    beside = Path(loops) if loops is not None else file.with_suffix(".loops.yaml")
    try:
        root, extra = parse(file).getroot(), yaml.safe_load(beside.read_text(encoding="utf-8"))
    except (OSError, ParseError, yaml.YAMLError) as error:
        raise ImportedModelError(f"{file}: cannot be read with its loops {beside.name}: {error}") from error
    if root.tag != "robot" or not isinstance(extra, dict):
        raise ImportedModelError(f"{file}: is no URDF with a loop file: its root is <{root.tag}>, {beside.name} is no mapping")
    extra = loop_document(extra, beside)
    missing = [key for key in ("gravity", "loops") if key not in extra]
    if missing:
        raise ImportedModelError(f"{beside}: {' and '.join(missing)} missing")
    inertials = {link.attrib["name"]: _inertial(link, file) for link in root.findall("link")}
    nodes, turned = _nodes(root, inertials, extra, file)
    found = [_loop(entry, beside, turned) for entry in extra["loops"]]
    names = [loop.name for loop in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ImportedModelError(f"{beside}: two loops have the name {twice!r}")
    gravity = np.array(extra["gravity"], dtype=float)
    return whole(Tree(name=root.get("name", file.stem), gravity=gravity, nodes=tuple(nodes), loops=tuple(found),
                      gears=_gears(extra, nodes, beside), struts=_struts(extra, turned, beside)))  # fmt: skip


def _gears(extra: dict[str, Any], nodes: list[Node], file: Path) -> tuple[Gear, ...]:
    starts, found = {n.joint: n.start for n in nodes}, []
    for name, terms in (extra.get("couplings") or {}).items():
        unknown = [joint for joint in terms if joint not in starts]
        if unknown:
            raise ImportedModelError(f"{file}: coupling {name!r} names the joint {unknown[0]!r}, which the URDF does not have")
        home = sum(float(factor) * starts[joint] for joint, factor in terms.items())
        found.append(Gear(name=name, terms=tuple((joint, float(factor)) for joint, factor in terms.items()), home=home))
    return tuple(found)


def _struts(extra: dict[str, Any], turned: dict[str, Pose], file: Path) -> tuple[Strut, ...]:
    keys, found = ("name", "link1", "at1", "link2", "at2", "stiffness", "length", "damping"), []
    for entry in extra.get("struts") or []:
        missing = [key for key in keys if key not in entry]
        if missing:
            raise ImportedModelError(f"{file}: a strut needs {', '.join(keys)}; {', '.join(missing)} missing")
        unknown = [link for link in (entry["link1"], entry["link2"]) if link not in turned]
        if unknown:
            raise ImportedModelError(f"{file}: strut {entry['name']!r} names {unknown[0]!r}, no link of the URDF")
        at, on = (turned[entry[f"link{k}"]].point(np.array(entry[f"at{k}"], dtype=float)) for k in (1, 2))
        numbers = {key: float(entry[key]) for key in ("stiffness", "length", "damping")}
        found.append(Strut(name=entry["name"], first=entry["link1"], at=at, second=entry["link2"], on=on, **numbers))
    return tuple(found)


def _inertial(link: Element, file: Path) -> Inertial:
    found = link.find("inertial")
    if found is None:
        if link.find("visual") is not None and link.get("name") != WORLD and link.find("collision") is not None:
            raise ImportedModelError(f"{file}: link {link.get('name')!r} has geometry but no `inertial`: write its mass")
        return Inertial()
    mass, inertia = found.find("mass"), found.find("inertia")
    if mass is None or inertia is None:
        raise ImportedModelError(f"{file}: the inertial of link {link.get('name')!r} needs `mass` and `inertia`")
    place = _origin(found)
    a = {k: float(v) for k, v in inertia.attrib.items()}
    t = np.array([[a["ixx"], a["ixy"], a["ixz"]], [a["ixy"], a["iyy"], a["iyz"]], [a["ixz"], a["iyz"], a["izz"]]])
    R = place.rotation
    return Inertial(mass=float(mass.attrib["value"]), com=np.asarray(place.position), tensor=R @ t @ R.T)


def _origin(element: Element) -> Pose:
    origin = element.find("origin")
    a = {} if origin is None else origin.attrib
    return pose(floats(a.get("xyz", "0 0 0")), euler("xyz", floats(a.get("rpy", "0 0 0"))))


def _nodes(
    root: Element, inertials: dict[str, Inertial], extra: dict[str, Any], file: Path
) -> tuple[list[Node], dict[str, Pose]]:
    """Nodes in order from the root, and each link's URDF frame seen from its node (whose z is the joint axis)."""
    joints = {j.find("child").attrib["link"]: j for j in root.findall("joint")}  # type: ignore[union-attr]
    roots = [name for name in inertials if name not in joints]
    if len(roots) != 1:
        raise ImportedModelError(f"{file}: a URDF has one root link, found {', '.join(roots) or 'none'}")
    nodes: list[Node] = []
    turned = {roots[0]: pose(), WORLD: pose()}
    waiting = list(joints.items())
    while waiting:
        ready = [(c, j) for c, j in waiting if j.find("parent").attrib["link"] in turned]  # type: ignore[union-attr]
        if not ready:
            raise ImportedModelError(f"{file}: the joints of {', '.join(c for c, _ in waiting)} form a ring")
        for child, joint in ready:
            nodes.append(_node(child, joint, roots[0], turned, inertials[child], extra, file))
        waiting = [(c, j) for c, j in waiting if c not in turned]
    return nodes, turned


def _node(child: str, joint: Element, root: str, turned: dict[str, Pose], inertial: Inertial, extra: dict[str, Any],
          file: Path) -> Node:  # fmt: skip
    parent = joint.find("parent").attrib["link"]  # type: ignore[union-attr]
    kinds = {"revolute": "R", "continuous": "R", "prismatic": "P", "fixed": "fixed", "floating": "free"}
    kind, name = kinds.get(joint.get("type", "")), joint.get("name", child)
    if kind is None:
        raise ImportedModelError(f"{file}: joint {name!r} has the type {joint.get('type')!r}, which is not read")
    axis, R = joint.find("axis"), np.eye(3)
    if kind in "RP":
        direction = unit(floats(axis.attrib["xyz"] if axis is not None else "1 0 0"))
        R = np.eye(3) if np.array_equal(direction, [0.0, 0.0, 1.0]) else frame_along(direction)
    place = turned[parent] @ _origin(joint) @ pose(rotation=R)
    turned[child] = pose(rotation=R.T)
    dynamics, limit = joint.find("dynamics"), joint.find("limit")
    friction = {} if dynamics is None else dynamics.attrib
    start = float(extra.get("home", {}).get(name, 0.0))
    stiffness, free = (float(x) for x in extra.get("springs", {}).get(name, (0.0, start)))
    spring = (stiffness, None if free == start else free)
    stroke = None
    if limit is not None and {"lower", "upper"} <= set(limit.attrib):
        stroke = (float(limit.attrib["lower"]), float(limit.attrib["upper"]))
    return Node(
        name=child, parent=WORLD if parent == root else parent, place=place, kind=kind, joint=name,
        inertial=Inertial(mass=inertial.mass, com=R.T @ inertial.com, tensor=R.T @ inertial.tensor @ R),
        actuated=name in extra.get("actuated", []), start=start,
        rotor=float(extra.get("rotor", {}).get(name, 0.0)), damping=float(friction.get("damping", 0.0)),
        loss=float(friction.get("friction", 0.0)), stroke=stroke, stiffness=spring[0], free=spring[1],
    )  # fmt: skip


def _loop(entry: Any, file: Path, turned: dict[str, Pose]) -> Loop:
    keys = ("name", "type", "link1", "at1", "link2", "at2")
    missing = [key for key in keys if not isinstance(entry, dict) or key not in entry]
    if missing:
        raise ImportedModelError(f"{file}: a loop needs {', '.join(keys)}; {', '.join(missing)} missing")
    if entry["type"] not in CLOSING:
        raise ImportedModelError(f"{file}: loop {entry['name']!r} has the type {entry['type']!r}; types: {', '.join(CLOSING)}")
    unknown = [link for link in (entry["link1"], entry["link2"]) if link not in turned]
    if unknown:
        raise ImportedModelError(f"{file}: loop {entry['name']!r} names the link {unknown[0]!r}, which the URDF does not have")
    halves = [turned[entry[f"link{k}"]] @ _half(entry[f"at{k}"]) for k in (1, 2)]
    return Loop(name=entry["name"], type=entry["type"], first=entry["link1"], on_first=halves[0], second=entry["link2"],
                on_second=halves[1])  # fmt: skip


def _half(entry: dict[str, Any]) -> Pose:
    w, *v = unit(entry.get("quat_wxyz", [1.0, 0.0, 0.0, 0.0]))
    s = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return pose(entry["xyz"], np.eye(3) + 2 * w * s + 2 * s @ s)
