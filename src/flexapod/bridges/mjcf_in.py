"""MJCF read as a tree: bodies, hinges, slides, free joints, inertials, `connect` and `weld`; meshes are not needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, parse

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.body_tree import WORLD, Inertial, Node, Tree, displacement, massless
from flexapod.bridges.drive_springs import separate_drive_springs
from flexapod.bridges.imported import ImportedModelError, label, unit_axis, value, values
from flexapod.bridges.mjcf_defaults import Defaults
from flexapod.bridges.mjcf_loops import read_loops
from flexapod.bridges.mjcf_place import placed
from flexapod.bridges.mjcf_refused import check_attributes, check_words, driven_joints, force_limits
from flexapod.bridges.mjcf_tendons import HELD, read_gears, read_struts
from flexapod.bridges.split_bodies import rejoined
from flexapod.robot.geometry import Pose, frame_along, pose


class Reader:
    """Settings of the whole file: angle unit, default classes, and the nodes found so far."""

    def __init__(self, root: Element, file: str) -> None:
        self.file = file
        attributes = {key: value for compiler in root.findall("compiler") for key, value in compiler.attrib.items()}
        self.angle = 1.0 if attributes.get("angle", "degree") == "radian" else np.pi / 180.0
        self.autolimits = attributes.get("autolimits", "true") != "false"
        self.sequence = attributes.get("eulerseq", "xyz")
        if len(self.sequence) != 3 or not set(self.sequence.lower()) <= set("xyz"):
            raise self.error(f"<compiler> has eulerseq {self.sequence!r}; expected three of x, y, z, X, Y, Z")
        self.defaults = Defaults(root, self.error)
        self.nodes: list[Node] = []
        self.sites: dict[str, tuple[str, Pose]] = {}
        self.frames: dict[str, Pose] = {WORLD: pose()}
        self.free: dict[str, float] = {}
        self.most: dict[str, str] = {}
        self.between: set[str] = set()
        self.reference: dict[str, float] = {}
        self.zero: dict[str, Pose] = {WORLD: pose()}
        if root.find(".//include") is not None:
            raise self.error("it includes other files; write it in one (MuJoCo's own `mj_saveLastXML` does)")

    def error(self, text: str) -> ImportedModelError:
        """A mistake with the file's name."""
        return ImportedModelError(f"{self.file}: {text}")

    def attributes(self, element: Element, inherited: str) -> dict[str, str]:
        """An element's attributes, completed by its default class."""
        return self.defaults.of(element, inherited)

    def where(self, element: Element, owner: str = "") -> str:
        """File and element, for messages."""
        return f"{self.file}: {label(element)}{f' of body {owner!r}' if owner else ''}"

    def place(self, element: Element, a: Mapping[str, str], owner: str = "") -> Pose:
        """Pose of an element, whatever form its orientation has."""
        return placed(a, self.where(element, owner), self.angle, self.sequence)

    def contents(self, element: Element, seat: Pose, inherited: str) -> Iterator[tuple[Element, Pose, str]]:
        """Contents of a body, also inside of `frame`: element, the frame it is placed in, default class."""
        for child in element:
            if child.tag == "frame":
                yield from self.contents(child, seat @ self.place(child, child.attrib), child.get("childclass", inherited))
            else:
                yield child, seat, inherited

    def hold(self, element: Element, name: str, inherited: str) -> None:
        """Sites and bodies of a body or of the world."""
        for child, seat, own in self.contents(element, self.frames[name], inherited):
            if child.tag == "site" and child.get("name"):
                self.sites[child.attrib["name"]] = (name, seat @ self.place(child, self.attributes(child, own)))
            elif child.tag == "body":
                self.body(child, name, seat, own)

    def body(self, element: Element, parent: str, seat: Pose, inherited: str) -> None:
        """A body and what it carries. `seat`: the MJCF frame of the parent, seen from the parent's node."""
        inherited = element.get("childclass", inherited)
        name = element.get("name") or f"body{len(self.nodes) + 1}"
        if name in self.frames:
            raise self.error(f"two bodies have the name {name!r}")
        place = seat @ self.place(element, element.attrib)
        joints = [(self.where(j, name), self.attributes(j, inherited)) for j in element if j.tag in ("joint", "freejoint")]
        for joint in (j for j in element if j.tag == "joint"):
            check_attributes(joint, self.attributes(joint, inherited), self)
        free = element.find("freejoint") is not None or any(a.get("type") == "free" for _, a in joints)
        inertial = self._inertial(element, name)
        if free:
            self._add(Node(name=name, parent=parent, place=place, kind="free"), inertial, pose())
        elif not joints:
            self._add(Node(name=name, parent=parent, place=place, kind="fixed", joint=f"{name}.fixed"), inertial, pose())
        else:
            self._moving(name, parent, place, joints, inertial)
        self.hold(element, name, inherited)

    def _moving(self, name: str, parent: str, place: Pose, joints: list[tuple[str, dict[str, str]]], inertial: Inertial) -> None:
        """One node per joint; all but the last are massless. Joint frames have z along the axis, in the body's frame."""
        at, seat = parent, place
        for k, (where, a) in enumerate(joints):
            kind = {"hinge": "R", "slide": "P"}.get(a.get("type", "hinge"))
            if kind is None:
                raise self.error(f"joint {a.get('name', name)!r}: type {a['type']!r} is read only where it closes a loop")
            last = k == len(joints) - 1
            frame = pose(values(a, "pos", where, 3, "0 0 0"), frame_along(unit_axis(a, "axis", where, 3, "0 0 1")))
            scale = self.angle if kind == "R" else 1.0
            ref = scale * value(a, "ref", where, "0")
            low, high = values(a, "range", where, 2) if "range" in a and self.limited(a, "limited") else (0.0, 0.0)
            node = Node(
                name=name if last else f"{name}.{k + 1}", parent=at, place=seat @ frame @ displacement(kind, -ref),
                kind=kind, joint=a.get("name") or f"{name}.joint{k + 1}", rotor=value(a, "armature", where, "0"),
                damping=values(a, "damping", where, None, "0")[0], loss=value(a, "frictionloss", where, "0"),
                stroke=(scale * low, scale * high) if low != high else None,
                stiffness=values(a, "stiffness", where, None, "0")[0],
            )  # fmt: skip
            if node.joint in self.reference:
                raise self.error(f"two joints have the name {node.joint!r}; give each its own")
            self.reference[node.joint] = ref
            if node.stiffness:
                self.free[node.joint] = scale * value(a, "springref", where, "0")
            if "actuatorfrcrange" in a and self.limited(a, "actuatorfrclimited"):
                self.most[node.joint] = a["actuatorfrcrange"]
            back = Pose(position=-frame.rotation.T @ frame.position, rotation=frame.rotation.T)
            self._add(node, inertial if last else Inertial(), back, ref)
            if not last:
                self.between.add(node.name)
            at, seat = node.name, back

    def limited(self, a: Mapping[str, str], key: str) -> bool:
        """A range of an element holds."""
        return a.get(key, "auto") == "true" or (a.get(key, "auto") == "auto" and self.autolimits)

    def _add(self, node: Node, inertial: Inertial, own: Pose, ref: float = 0.0) -> None:
        """Keep a node; `own`: the MJCF frame of the body, seen from the node; ref: its coordinate as the file is."""
        R = own.rotation
        moved = Inertial(mass=inertial.mass, com=own.point(inertial.com), tensor=R @ inertial.tensor @ R.T)
        self.nodes.append(Node(**{**node.__dict__, "inertial": moved if inertial.mass else Inertial()}))
        self.frames[node.name] = own
        self.zero[node.name] = self.zero[node.parent] @ node.place @ displacement(node.kind, ref)

    def _inertial(self, element: Element, name: str) -> Inertial:
        found = element.find("inertial")
        if found is None:
            if any(child.tag == "geom" for child, _, _ in self.contents(element, pose(), "main")):
                raise self.error(f"body {name!r} has geometry but no `inertial`: write its mass, centre and inertia")
            return Inertial()
        a, where = found.attrib, self.where(found, name)
        place = self.place(found, a, name)
        if "fullinertia" in a:
            xx, yy, zz, xy, xz, yz = values(a, "fullinertia", where, 6)
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            tensor = np.diag(values(a, "diaginertia", where, 3, "0 0 0"))
        R = place.rotation
        return Inertial(mass=value(a, "mass", where), com=np.asarray(place.position), tensor=R @ tensor @ R.T)

    def bodies(self, a: Mapping[str, str], name: str) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
        """Both sides of an equality given by bodies: they meet at their places in the file."""
        first, second = a.get("body1", WORLD), a.get("body2", WORLD)
        for body in (first, second):
            if body not in self.frames:
                raise self.error(f"the equality {name!r} names the body {body!r}, which does not exist")
        if "relpose" in a or ("anchor" not in a and "body1" not in a):
            raise self.error(f"the equality {name!r} has a form that is not read; write it with site1 and site2")
        at = self.frames[first] @ pose(values(a, "anchor", f"{self.file}: the equality {name!r}", 3, "0 0 0"))
        meeting = self.zero[first] @ at
        back = self.zero[second].rotation.T
        return (first, at), (second, pose(back @ (meeting.position - self.zero[second].position), back @ meeting.rotation))

    def end(self, a: Mapping[str, str], which: int) -> tuple[str, Pose] | None:
        """Node and place of one side of an equality given by sites."""
        name = a.get(f"site{which}")
        if name is None:
            return None
        if name not in self.sites:
            raise self.error(f"the equality {a.get('name', '')!r} names the site {name!r}, which does not exist")
        return self.sites[name]


def read_mjcf(path: str | os.PathLike[str]) -> Tree:
    """The tree of an MJCF file.

    Checked by: tests/bridges/test_mjcf.py.
    """
    file = Path(path)
    try:
        root = parse(file).getroot()
    except (OSError, ParseError) as error:
        raise ImportedModelError(f"{file}: cannot be read as MJCF: {error}") from error
    if root.tag != "mujoco":
        raise ImportedModelError(f"{file}: is not MJCF: its root is <{root.tag}>, not <mujoco>")
    reader = Reader(root, file.name)
    check_words(root, reader)
    for world in root.findall("worldbody"):
        reader.hold(world, WORLD, "main")
    _check_masses(reader)
    driven, starts = driven_joints(root, reader), _starts(root, reader)
    limits, remarks = force_limits(driven, reader)
    nodes = tuple(
        replace(n, actuated=n.joint in driven, force=limits.get(n.joint), place=starts.places.get(n.name, n.place),
                start=(start := starts.coordinates.get(n.joint, 0.0)),
                free=None if abs(reader.free.get(n.joint, start) - start) <= HELD else reader.free[n.joint])
        for n in reader.nodes
    )  # fmt: skip
    name = root.get("model", file.stem).replace(" ", "-")
    found = rejoined(Tree(name=name, gravity=_gravity(root, file.name), nodes=nodes, loops=read_loops(root, reader),
                          gears=read_gears(root, reader, nodes), struts=read_struts(root, reader), actuators=tuple(driven),
                          remarks=remarks, frames=reader.frames))  # fmt: skip
    return separate_drive_springs(found)


def _check_masses(reader: Reader) -> None:
    """Refuse bodies that move without mass, as MuJoCo does; frames between the joints of one body are none."""
    lost = [name for name in massless(reader.nodes) if name not in reader.between]
    if lost:
        raise reader.error(f"body {lost[0]!r} moves and has no mass, nor has a body that is fixed on it: write its `inertial`")


def _gravity(root: Element, file: str) -> Array:
    """Gravity of the last option that says it; none where the flag switches it off."""
    if any(flag.get("gravity") == "disable" for flag in root.findall("option/flag")):
        return np.zeros(3)
    found = [option.attrib for option in root.findall("option") if "gravity" in option.attrib]
    return np.array(values(found[-1] if found else {}, "gravity", f"{file}: <option>", 3, "0 0 -9.81"))


@dataclass(frozen=True, kw_only=True)
class Starts:
    """Start of the model: coordinates of hinges and slides by joint, poses of floating bodies by body."""

    coordinates: dict[str, float]
    places: dict[str, Pose]


def _starts(root: Element, reader: Reader) -> Starts:
    """The first key frame; without one, the file as it is: coordinates are `ref`."""
    key = root.find("keyframe/key")
    if key is None or "qpos" not in key.attrib:
        return Starts(coordinates=dict(reader.reference), places={})
    count = sum({"free": 7, "R": 1, "P": 1}.get(node.kind, 0) for node in reader.nodes)
    where = reader.where(key)
    found, places, at, given = {}, {}, 0, values(key.attrib, "qpos", where, count)
    for node in reader.nodes:  # nodes are in MuJoCo's order: depth first
        if node.kind == "free":
            pos, quat = (" ".join(map(repr, given[at + i : at + j])) for i, j in ((0, 3), (3, 7)))
            places[node.name] = placed({"pos": pos, "quat": quat}, where, reader.angle, reader.sequence)
            at += 7
        elif node.kind in "RP":
            found[node.joint], at = given[at], at + 1
    return Starts(coordinates=found, places=places)
