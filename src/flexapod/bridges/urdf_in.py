"""URDF and its loop file read as a tree; `mimic` joints are couplings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict
from xml.etree.ElementTree import Element, ParseError, parse

import numpy as np
import yaml

from flexapod.bridges.body_tree import WORLD, ClosingLoop, Gear, Inertial, Node, Strut, Tree
from flexapod.bridges.drive_springs import separate_drive_springs
from flexapod.bridges.imported import (
    ImportedModelError,
    label,
    no_doubles,
    no_strangers,
    number,
    unit_axis,
    value,
    values,
    vector,
    word,
)  # fmt: skip
from flexapod.bridges.loop_frames import loop_document
from flexapod.bridges.mjcf_tendons import HELD
from flexapod.bridges.split_bodies import rejoined
from flexapod.bridges.urdf import BOUNDLESS, UNLIMITED
from flexapod.description.schema import Rotation
from flexapod.robot.geometry import Pose, frame_along, pose, rotation_matrix
from flexapod.rotation_arrays import quaternion_rotation

CLOSING = ("spherical", "revolute", "universal", "fixed", "prismatic", "cylindrical")
KINDS = {"revolute": "R", "continuous": "R", "prismatic": "P", "fixed": "fixed", "floating": "free"}


def read_urdf(path: str | os.PathLike[str], loops: str | os.PathLike[str] | None = None) -> Tree:
    """The tree of a URDF file and its loop file.

    Checked by: tests/bridges/test_urdf.py.
    """
    file = Path(path)
    beside = Path(loops) if loops is not None else file.with_suffix(".loops.yaml")
    if file.is_file() and not beside.is_file():
        raise ImportedModelError(f"{file}: there is no file {beside} of its closing joints; say where it is (--loops)")
    try:
        root, document = parse(file).getroot(), yaml.safe_load(beside.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ParseError, yaml.YAMLError) as error:
        raise ImportedModelError(f"{file}: cannot be read with its loops {beside.name}: {error}") from error
    if root.tag != "robot" or not isinstance(document, dict):
        raise ImportedModelError(
            f"{file}: is not a URDF with a loop file: its root is <{root.tag}>, {beside.name} is not a mapping"
        )
    links, joints = root.findall("link"), root.findall("joint")
    for elements, what in ((links, "links"), (joints, "joints")):
        no_doubles([word(element, "name", f"{file}: {label(element)}") for element in elements], what, file)
    extra = _checked(loop_document(document, beside), joints, beside)
    nodes, rotated = _nodes(joints, {link.attrib["name"]: _inertial(link, file) for link in links}, extra, file)
    found = [_loop(entry, beside, rotated) for entry in extra["loops"]]
    no_doubles([loop.name for loop in found], "loops", beside)
    no_doubles([entry["name"] for entry in extra["struts"] if isinstance(entry, dict) and "name" in entry], "struts", beside)
    gears = (*_gears(extra, nodes, beside), *_mimics(joints, nodes, file))
    tree = Tree(name=root.get("name", file.stem), gravity=vector(extra["gravity"], 3, f"{beside}: gravity"),
                nodes=tuple(nodes), loops=tuple(found), gears=gears, struts=_struts(extra, rotated, beside),
                actuators=tuple(extra["actuated"]), remarks=tuple(extra["remarks"]), frames=rotated,
                platform=_platform(extra, rotated, beside))  # fmt: skip
    return separate_drive_springs(rejoined(tree))


class LoopFile(TypedDict):
    """Contents of a loop file with every section present; numbers and entries are checked where they are used."""

    gravity: object
    platform: object
    actuated: list[str]
    home: dict[str, object]
    rotor: dict[str, object]
    springs: dict[str, object]
    couplings: dict[str, object]
    struts: list[object]
    loops: list[object]
    remarks: list[str]


KEYS = {
    "": ("gravity", "platform", "actuated", "home", "rotor", "springs", "loops", "couplings", "struts", "remarks"),
    "loop": ("name", "type", "link1", "at1", "link2", "at2", "damping", "friction", "per_axis"),
    "strut": ("name", "link1", "at1", "link2", "at2", "stiffness", "length", "damping"),
}
"""Words of a loop file and of its entries."""


def _known(given: Iterable[str], what: str, where: str) -> None:
    """Refuse words that a loop file does not have, so that a misspelt one is not left out in silence."""
    unknown = next((key for key in given if key not in KEYS[what]), None)
    if unknown is not None:
        raise ImportedModelError(f"{where}: unknown key {unknown!r}; keys: {', '.join(k for k in KEYS[what] if k != 'remarks')}")


def _platform(extra: LoopFile, rotated: dict[str, Pose], file: Path) -> str:
    """Link that the loop file calls the platform; empty where it names none."""
    name = extra.get("platform") or ""
    if name and name not in rotated:
        raise ImportedModelError(f"{file}: platform names the link {name!r}, which the URDF does not have")
    return str(name)


def _checked(extra: dict[str, Any], joints: list[Element], file: Path) -> LoopFile:
    """The loop file with every section, which name joints of the URDF only."""
    _known(extra, "", str(file))
    missing = [key for key in ("gravity", "loops") if key not in extra]
    if missing:
        raise ImportedModelError(f"{file}: {' and '.join(missing)} missing")
    empty: dict[str, Any] = {"actuated": [], "home": {}, "rotor": {}, "springs": {}, "couplings": {}, "struts": [], "loops": []}
    found = {**extra, **{key: extra.get(key) or none for key, none in empty.items()}}
    known = [joint.attrib["name"] for joint in joints]
    for key, none in empty.items():
        if not isinstance(found[key], type(none)):
            raise ImportedModelError(f"{file}: {key} must be a {'list' if none == [] else 'mapping'}, got {found[key]!r}")
    for key in ("actuated", "home", "rotor", "springs"):
        no_strangers(found[key], known, f"{file}: {key}")
    no_doubles(found["actuated"], "actuated joints", file)
    return LoopFile(
        gravity=found["gravity"], platform=found.get("platform"), actuated=found["actuated"], home=found["home"],
        rotor=found["rotor"], springs=found["springs"], couplings=found["couplings"], struts=found["struts"],
        loops=found["loops"], remarks=extra.get("remarks", []),
    )  # fmt: skip


def _gears(extra: LoopFile, nodes: list[Node], file: Path) -> tuple[Gear, ...]:
    starts, found = {n.joint: n.start for n in nodes}, []
    for name, terms in extra["couplings"].items():
        where = f"{file}: coupling {name!r}"
        if not isinstance(terms, dict):
            raise ImportedModelError(f"{where}: expected factors by joint, got {terms!r}")
        no_strangers(terms, starts, where)
        factors = tuple((joint, number(factor, f"{where}: {joint}")) for joint, factor in terms.items())
        found.append(Gear(name=name, terms=factors, home=sum(factor * starts[joint] for joint, factor in factors)))
    return tuple(found)


def _mimics(joints: list[Element], nodes: list[Node], file: Path) -> tuple[Gear, ...]:
    """Joints that follow another: coordinate = multiplier times that of the other + offset."""
    starts, found = {n.joint: n.start for n in nodes}, []
    for joint in (j for j in joints if j.find("mimic") is not None):
        name, other, factor, offset = joint.attrib["name"], *_mimic(joint, file)
        no_strangers([other], starts, f"{file}: the mimic of {label(joint)}")
        home = starts[name] - factor * starts[other]
        if abs(home - offset) > HELD * max(1.0, abs(offset)):
            raise ImportedModelError(
                f"{file}: the mimic of {label(joint)} does not hold at home: {starts[name]:.9g} is not "
                f"{factor:.9g} x {starts[other]:.9g} + {offset:.9g}; correct `home` of the loop file"
            )
        found.append(Gear(name=f"{name}.mimic", terms=((name, 1.0), (other, -factor)), home=home))
    return tuple(found)


def _mimic(joint: Element, file: Path) -> tuple[str, float, float]:
    """The joint that is followed, multiplier and offset."""
    mimic, where = joint.find("mimic"), f"{file}: the mimic of {label(joint)}"
    assert mimic is not None
    factor, offset = (value(mimic.attrib, key, where, none) for key, none in (("multiplier", "1"), ("offset", "0")))
    return word(mimic, "joint", where), factor, offset


def _struts(extra: LoopFile, rotated: dict[str, Pose], file: Path) -> tuple[Strut, ...]:
    found = []
    for given in extra["struts"]:
        where, entry = _entry(
            given, "strut", ("name", "link1", "at1", "link2", "at2", "stiffness", "length", "damping"), rotated, file
        )
        at, on = (rotated[entry[f"link{k}"]].point(vector(entry[f"at{k}"], 3, f"{where}: at{k}")) for k in (1, 2))
        numbers = {key: number(entry[key], f"{where}: {key}") for key in ("stiffness", "length", "damping")}
        found.append(Strut(name=entry["name"], first=entry["link1"], at=at, second=entry["link2"], on=on, **numbers))
    return tuple(found)


def _entry(entry: object, what: str, keys: tuple[str, ...], rotated: dict[str, Pose], file: Path) -> tuple[str, dict[str, Any]]:
    """An entry that ties two links, checked, and where it is, for messages."""
    missing = [key for key in keys if not isinstance(entry, dict) or key not in entry]
    if missing or not isinstance(entry, dict):
        raise ImportedModelError(f"{file}: a {what} needs {', '.join(keys)}; {', '.join(missing)} missing")
    where = f"{file}: {what} {entry['name']!r}"
    _known(entry, what, where)
    unknown = [link for link in (entry["link1"], entry["link2"]) if link not in rotated]
    if unknown:
        raise ImportedModelError(f"{where} names the link {unknown[0]!r}, which the URDF does not have")
    return where, entry


def _inertial(link: Element, file: Path) -> Inertial:
    found = link.find("inertial")
    if found is None:
        if link.find("visual") is not None and link.get("name") != WORLD and link.find("collision") is not None:
            raise ImportedModelError(f"{file}: link {link.get('name')!r} has geometry but no `inertial`: write its mass")
        return Inertial()
    mass, inertia = found.find("mass"), found.find("inertia")
    if mass is None or inertia is None:
        raise ImportedModelError(f"{file}: the inertial of link {link.get('name')!r} needs `mass` and `inertia`")
    where = f"{file}: the inertial of {label(link)}"
    place = _origin(found, where)
    xx, xy, xz, yy, yz, zz = (value(inertia.attrib, key, where) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    t, R = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), place.rotation
    kilograms = value(mass.attrib, "value", f"{where}: <mass>")
    return Inertial(mass=kilograms, com=np.asarray(place.position), tensor=R @ t @ R.T)


def _origin(element: Element, where: str) -> Pose:
    origin = element.find("origin")
    a = {} if origin is None else origin.attrib
    rotation = Rotation.model_validate({"xyz": values(a, "rpy", where, 3, "0 0 0")})
    return pose(values(a, "xyz", where, 3, "0 0 0"), rotation_matrix(rotation))


def _nodes(
    joints: list[Element], inertials: dict[str, Inertial], extra: LoopFile, file: Path
) -> tuple[list[Node], dict[str, Pose]]:
    """Nodes in order from the root, and each link's URDF frame seen from its node (whose z is the joint axis)."""
    ends = [[word(j.find(end), "link", f"{file}: {label(j)}: <{end}>") for end in ("parent", "child")] for j in joints]
    for joint, both in zip(joints, ends, strict=True):
        unknown = next((link for link in both if link not in inertials), None)
        if unknown is not None:
            raise ImportedModelError(f"{file}: {label(joint)} names the link {unknown!r}, which does not exist")
    children = [child for _, child in ends]
    twice = next((child for child in children if children.count(child) > 1), None)
    if twice is not None:
        raise ImportedModelError(f"{file}: two joints carry the link {twice!r}; one of them belongs into the loop file")
    roots = [name for name in inertials if name not in children]
    if len(roots) != 1:
        raise ImportedModelError(f"{file}: a URDF has one root link, found {', '.join(roots) or 'none'}")
    nodes: list[Node] = []
    rotated = {roots[0]: pose(), WORLD: pose()}
    waiting = list(zip(joints, ends, strict=True))
    while waiting:
        ready = [(joint, both) for joint, both in waiting if both[0] in rotated]
        if not ready:
            raise ImportedModelError(f"{file}: the joints of {', '.join(child for _, (_, child) in waiting)} form a ring")
        for joint, (parent, child) in ready:
            nodes.append(_node(joint, (parent, child), rotated, inertials[child], extra, file))
        waiting = [(joint, both) for joint, both in waiting if both[1] not in rotated]
    return nodes, rotated


def _node(
    joint: Element, ends: tuple[str, str], rotated: dict[str, Pose], inertial: Inertial, extra: LoopFile, file: Path
) -> Node:
    """The node of a joint's child; `rotated` begins with the root and gets the child's frame."""
    (parent, child), name, where = ends, joint.attrib["name"], f"{file}: {label(joint)}"
    kind = KINDS.get(joint.get("type", ""))
    if kind is None:
        raise ImportedModelError(f"{file}: joint {name!r} has the type {joint.get('type')!r}, which is not read")
    axis, dynamics, limit = ({} if part is None else part.attrib for part in map(joint.find, ("axis", "dynamics", "limit")))
    R = np.eye(3)
    if kind in "RP":
        direction = unit_axis(axis, "xyz", f"{where}: <axis>", 3, None if axis else "1 0 0")
        R = np.eye(3) if np.array_equal(direction, [0.0, 0.0, 1.0]) else frame_along(direction)
    place = rotated[parent] @ _origin(joint, where) @ pose(rotation=R)
    rotated[child] = pose(rotation=R.T)
    start = _start(joint, extra["home"], file)
    stiffness, free = vector(extra["springs"].get(name, (0.0, start)), 2, f"{file}: spring of joint {name!r}").tolist()
    driven = name in extra["actuated"]
    stroke = None
    if {"lower", "upper"} <= set(limit):
        low, high = value(limit, "lower", where), value(limit, "upper", where)
        stroke = (low, high) if low < high and (low, high) != UNLIMITED else None
    return Node(
        name=child, parent=WORLD if parent == next(iter(rotated)) else parent, place=place, kind=kind, joint=name,
        inertial=Inertial(mass=inertial.mass, com=R.T @ inertial.com, tensor=R.T @ inertial.tensor @ R),
        actuated=driven, start=start,
        rotor=number(extra["rotor"].get(name, 0.0), f"{file}: rotor of joint {name!r}"),
        damping=value(dynamics, "damping", where, "0"), loss=value(dynamics, "friction", where, "0"), stroke=stroke,
        stiffness=stiffness, free=None if free == start else free,
        force=_limit(limit, "effort", where) if driven else None, speed=_limit(limit, "velocity", where) if driven else None,
    )  # fmt: skip


def _limit(limit: Mapping[str, str], key: str, where: str) -> float | None:
    """Effort or velocity of a joint; None where there is no limit of it."""
    most = value(limit, key, f"{where}: <limit>", "0")
    return most if 0.0 < most < BOUNDLESS else None


def _start(joint: Element, home: Mapping[str, object], file: Path) -> float:
    """Coordinate at home: that of the loop file, else what a mimic follows, else zero."""
    name = joint.attrib["name"]
    if name not in home and joint.find("mimic") is not None:
        other, factor, offset = _mimic(joint, file)
        return factor * number(home.get(other, 0.0), f"{file}: home of {other!r}") + offset
    return number(home.get(name, 0.0), f"{file}: home of {name!r}")


def _loop(given: object, file: Path, rotated: dict[str, Pose]) -> ClosingLoop:
    where, entry = _entry(given, "loop", ("name", "type", "link1", "at1", "link2", "at2"), rotated, file)
    if entry["type"] not in CLOSING:
        raise ImportedModelError(f"{where} has the type {entry['type']!r}; types: {', '.join(CLOSING)}")
    halves = [rotated[entry[f"link{k}"]] @ _half(entry[f"at{k}"], f"{where}: at{k}") for k in (1, 2)]
    damping, loss = (number(entry.get(key, 0.0), f"{where}: {key}") for key in ("damping", "friction"))
    return ClosingLoop(name=entry["name"], type=entry["type"], first=entry["link1"], on_first=halves[0], second=entry["link2"],
                on_second=halves[1], damping=damping, loss=loss, per_axis=bool(entry.get("per_axis", False)))  # fmt: skip


def _half(entry: object, where: str) -> Pose:
    if not isinstance(entry, dict) or "xyz" not in entry:
        raise ImportedModelError(f"{where}: expected a mapping with xyz and quat_wxyz, got {entry!r}")
    quat = vector(entry.get("quat_wxyz", [1.0, 0.0, 0.0, 0.0]), 4, f"{where}: quat_wxyz")
    if not quat.any():
        raise ImportedModelError(f"{where}: quat_wxyz is zero; expected a rotation")
    return pose(vector(entry["xyz"], 3, f"{where}: xyz"), quaternion_rotation(quat / np.linalg.norm(quat)))
