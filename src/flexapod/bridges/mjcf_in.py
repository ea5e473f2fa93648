"""MJCF read as a tree: bodies, hinges, slides, free joints, inertials, `connect` and `weld`; meshes are not needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, parse

import numpy as np

from flexapod.bridges.halves import whole
from flexapod.bridges.mjcf_tendons import HELD, read_gears, read_struts
from flexapod.bridges.tree import WORLD, Inertial, Loop, Node, Tree, displacement
from flexapod.errors import InputError
from flexapod.robot.geometry import Pose, frame_along, pose, rotation_from_vector, unit

ORDER = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}


class ImportedModelError(InputError):
    """A model of another program that cannot be read as a parallel robot."""


class Reader:
    """What the whole file says: angle unit, default classes, and the nodes found so far."""

    def __init__(self, root: Element, file: str) -> None:
        self.file = file
        compiler = root.find("compiler")
        attributes = {} if compiler is None else compiler.attrib
        self.angle = 1.0 if attributes.get("angle", "degree") == "radian" else np.pi / 180.0
        self.sequence = attributes.get("eulerseq", "xyz")
        self.defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for part in root.findall("default"):
            self._default(part, part.get("class", "main"), {})
        self.nodes: list[Node] = []
        self.places: dict[str, Pose] = {}
        self.sites: dict[str, tuple[str, Pose]] = {}
        self.frames: dict[str, Pose] = {}
        self.free: dict[str, float] = {}
        self.reference: dict[str, float] = {}
        self.zero: dict[str, Pose] = {WORLD: pose()}
        if root.find(".//include") is not None:
            raise self.error("it includes other files; write it in one (MuJoCo's own `mj_saveLastXML` does)")

    def error(self, text: str) -> ImportedModelError:
        """A mistake with the file's name."""
        return ImportedModelError(f"{self.file}: {text}")

    def _default(self, part: Element, name: str, above: Mapping[str, dict[str, str]]) -> None:
        own = {tag: dict(values) for tag, values in above.items()}
        for child in part:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(child.attrib)
        self.defaults[name] = own
        for child in part.findall("default"):
            self._default(child, child.get("class", "main"), own)

    def attributes(self, element: Element, inherited: str) -> dict[str, str]:
        """An element's attributes, completed by its default class."""
        own = self.defaults.get(element.get("class", inherited), {}).get(element.tag, {})
        return {**self.defaults["main"].get(element.tag, {}), **own, **element.attrib}

    def place(self, a: Mapping[str, str]) -> Pose:
        """Pose of an element, whatever form its orientation has."""
        position = floats(a.get("pos", "0 0 0"))
        if "quat" in a:
            q = unit(floats(a["quat"]))
            v = np.asarray(q[1:])
            skewed = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
            return pose(position, np.eye(3) + 2 * q[0] * skewed + 2 * skewed @ skewed)
        if "axisangle" in a:
            *axis, angle = floats(a["axisangle"])
            return pose(position, rotation_from_vector(unit(axis) * angle * self.angle))
        if "euler" in a:
            R = np.eye(3)
            for letter, angle in zip(self.sequence, floats(a["euler"]), strict=True):
                step = rotation_from_vector(np.array(ORDER[letter.lower()]) * angle * self.angle)
                R = R @ step if letter.islower() else step @ R
            return pose(position, R)
        if "zaxis" in a:
            z = unit(floats(a["zaxis"]))
            across = np.cross([0.0, 0.0, 1.0], z)
            s = float(np.linalg.norm(across))
            turn = across / s * np.arctan2(s, z[2]) if s > 0 else np.array([np.pi if z[2] < 0 else 0.0, 0.0, 0.0])
            return pose(position, rotation_from_vector(turn))
        if "xyaxes" in a:
            both = np.array(floats(a["xyaxes"])).reshape(2, 3)
            x = unit(both[0])
            y = unit(both[1] - (both[1] @ x) * x)
            return pose(position, np.column_stack([x, y, np.cross(x, y)]))
        return pose(position)

    def body(self, element: Element, parent: str, seat: Pose, inherited: str) -> None:
        """A body and what it carries. `seat`: the MJCF frame of the parent, seen from the parent's node."""
        inherited = element.get("childclass", inherited)
        name = element.get("name") or f"body{len(self.nodes) + 1}"
        if name in self.frames or name == WORLD:
            raise self.error(f"two bodies have the name {name!r}")
        place = seat @ self.place(element.attrib)
        joints = [self.attributes(j, inherited) for j in element if j.tag in ("joint", "freejoint")]
        free = element.find("freejoint") is not None or any(a.get("type") == "free" for a in joints)
        inertial = self._inertial(element, name)
        if free:
            self._add(Node(name=name, parent=parent, place=place, kind="free"), inertial, pose())
        elif not joints:
            self._add(Node(name=name, parent=parent, place=place, kind="fixed", joint=f"{name}.fixed"), inertial, pose())
        else:
            self._moving(name, parent, place, joints, inertial)
        own = self.frames[name]
        for child in element:
            if child.tag == "site" and child.get("name"):
                self.sites[child.attrib["name"]] = (name, own @ self.place(self.attributes(child, inherited)))
            elif child.tag == "body":
                self.body(child, name, own, inherited)

    def _moving(self, name: str, parent: str, place: Pose, joints: list[dict[str, str]], inertial: Inertial) -> None:
        """One node per joint; all but the last are massless. Joint frames have z along the axis, in the body's frame."""
        at, seat = parent, place
        for k, a in enumerate(joints):
            kind = {"hinge": "R", "slide": "P"}.get(a.get("type", "hinge"))
            if kind is None:
                raise self.error(f"joint {a.get('name', name)!r}: type {a['type']!r} is read only where it closes a loop")
            last = k == len(joints) - 1
            frame = pose(floats(a.get("pos", "0 0 0")), frame_along(unit(floats(a.get("axis", "0 0 1")))))
            scale = self.angle if kind == "R" else 1.0
            stroke = tuple(scale * x for x in floats(a["range"])) if "range" in a and a.get("limited") != "false" else None
            node = Node(
                name=name if last else f"{name}.{k + 1}", parent=at,
                place=seat @ frame @ displacement(kind, -scale * float(a.get("ref", 0))),
                kind=kind, joint=a.get("name") or f"{name}.joint{k + 1}", rotor=float(a.get("armature", 0.0)),
                damping=float(floats(a.get("damping", "0"))[0]), loss=float(a.get("frictionloss", 0.0)), stroke=stroke,  # type: ignore[arg-type]
                stiffness=float(floats(a.get("stiffness", "0"))[0]),
            )  # fmt: skip
            self.reference[node.joint] = scale * float(a.get("ref", 0))
            if node.stiffness:
                self.free[node.joint] = scale * float(a.get("springref", 0))
            back = Pose(position=-frame.rotation.T @ frame.position, rotation=frame.rotation.T)
            self._add(node, inertial if last else Inertial(), back, scale * float(a.get("ref", 0)))
            at, seat = node.name, back

    def _add(self, node: Node, inertial: Inertial, own: Pose, ref: float = 0.0) -> None:
        """Keep a node; `own`: the MJCF frame of the body, seen from the node; ref: its coordinate as the file stands."""
        R = own.rotation
        moved = Inertial(mass=inertial.mass, com=own.point(inertial.com), tensor=R @ inertial.tensor @ R.T)
        self.nodes.append(Node(**{**node.__dict__, "inertial": moved if inertial.mass else Inertial()}))
        self.frames[node.name] = own
        self.zero[node.name] = self.zero[node.parent] @ node.place @ displacement(node.kind, ref)

    def _inertial(self, element: Element, name: str) -> Inertial:
        found = element.find("inertial")
        if found is None:
            if element.find("geom") is not None:
                raise self.error(f"body {name!r} has geometry but no `inertial`: write its mass, centre and inertia")
            return Inertial()
        a = found.attrib
        place = self.place(a)
        if "fullinertia" in a:
            xx, yy, zz, xy, xz, yz = floats(a["fullinertia"])
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            tensor = np.diag(floats(a.get("diaginertia", "0 0 0")))
        R = place.rotation
        return Inertial(mass=float(a["mass"]), com=np.asarray(place.position), tensor=R @ tensor @ R.T)

    def bodies(self, a: Mapping[str, str], name: str) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
        """Both sides of an equality given by bodies: they meet where they are as the file stands."""
        first, second = a.get("body1", WORLD), a.get("body2", WORLD)
        for body in (first, second):
            if body not in self.frames:
                raise self.error(f"the equality {name!r} names the body {body!r}, which does not exist")
        if "relpose" in a or ("anchor" not in a and "body1" not in a):
            raise self.error(f"the equality {name!r} has a form that is not read; write it with site1 and site2")
        at = self.frames[first] @ pose(floats(a.get("anchor", "0 0 0")))
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


def floats(text: str) -> list[float]:
    """Numbers of an attribute."""
    return [float(word) for word in text.split()]


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
        raise ImportedModelError(f"{file}: is no MJCF: its root is <{root.tag}>, not <mujoco>")
    reader = Reader(root, file.name)
    reader.frames[WORLD] = pose()
    world = root.find("worldbody")
    for element in () if world is None else world:
        if element.tag == "body":
            reader.body(element, WORLD, pose(), "main")
        elif element.tag == "site" and element.get("name"):
            reader.sites[element.attrib["name"]] = (WORLD, reader.place(element.attrib))
    driven = {a.get("joint") for a in root.findall("actuator/*")}
    starts = _starts(root, reader)
    nodes = tuple(
        Node(**{**n.__dict__, "actuated": n.joint in driven, "start": (start := starts.get(n.joint, 0.0)),
                "free": None if abs(reader.free.get(n.joint, start) - start) <= HELD else reader.free[n.joint]})
        for n in reader.nodes
    )  # fmt: skip
    option = root.find("option")
    gravity = floats(option.get("gravity", "0 0 -9.81")) if option is not None else [0.0, 0.0, -9.81]
    name = root.get("model", file.stem).replace(" ", "-")
    return whole(Tree(name=name, gravity=np.array(gravity), nodes=nodes, loops=_loops(root, reader, nodes),
                      gears=read_gears(root, reader, nodes), struts=read_struts(root, reader)))  # fmt: skip


def _starts(root: Element, reader: Reader) -> dict[str, float]:
    """Coordinates of the first key frame."""
    key = root.find("keyframe/key")
    if key is None or "qpos" not in key.attrib:
        return {}
    values, at, found = floats(key.attrib["qpos"]), 0, {}
    for node in reader.nodes:  # nodes are in MuJoCo's order: depth first
        if node.kind == "free":
            at += 7
        elif node.kind in "RP":
            found[node.joint], at = values[at], at + 1
    return found


def _loops(root: Element, reader: Reader, nodes: tuple[Node, ...]) -> tuple[Loop, ...]:
    """Closing joints. Two `connect` between the same bodies are a revolute joint, more a fixed one, one with a tendon a universal
    joint."""
    pairs: dict[tuple[str, str], list[tuple[str, Any, Any]]] = {}
    loops: list[Loop] = []
    names: set[str] = set()
    for element in root.findall("equality/*"):
        a = element.attrib
        name = a.get("name") or f"loop{len(names) + 1}"
        if name in names:
            raise reader.error(f"two loops have the name {name!r}")
        names.add(name)
        if element.tag in ("tendon", "joint"):
            continue
        if element.tag not in ("connect", "weld"):
            raise reader.error(f"the equality <{element.tag}> {name!r} is no joint of a loop")
        one, two = reader.end(a, 1), reader.end(a, 2)
        if one is None or two is None:
            one, two = reader.bodies(a, name)
        (first, at), (second, on) = one, two
        if element.tag == "weld":
            loops.append(Loop(name=name, type="fixed", first=first, on_first=at, second=second, on_second=on))
        else:
            known = pairs.setdefault((first, second), [])
            if not any(np.array_equal(at.position, k[1].position) and np.array_equal(on.position, k[2].position) for k in known):
                known.append((name, at, on))  # the same points again make the constraint stiffer, not another one
    bends = {t.get("name"): [reader.sites[s.attrib["site"]] for s in t.findall("site")] for t in root.findall("tendon/spatial")}
    for (first, second), group in pairs.items():
        name, at, on = group[0]
        kind, at_R, on_R = "spherical", np.eye(3), np.eye(3)
        if len(group) == 2:
            kind = "revolute"
            at_R, on_R = (frame_along(unit(g.position - h.position)) for g, h in ((group[1][1], at), (group[1][2], on)))
        elif len(group) > 2:
            kind = "fixed"
            at_R, on_R = _spanned(reader, [[g[1].position for g in group], [g[2].position for g in group]], name)
        elif name in bends:
            kind, both = "universal", dict(bends[name])
            at_R, on_R = (frame_along(unit(both[b].position - h.position)) for b, h in ((first, at), (second, on)))
        loops.append(Loop(name=name, type=kind, first=first, on_first=pose(at.position, at_R), second=second,
                          on_second=pose(on.position, on_R)))  # fmt: skip
    return tuple(loops)


def _spanned(reader: Reader, sides: list[list[Any]], name: str) -> list[Any]:
    """Axes of the frame that connected points span on either side: the first two, and the one farthest from their line."""
    levers = [np.linalg.norm(np.cross(unit(sides[0][1] - sides[0][0]), p - sides[0][0])) for p in sides[0]]
    third = int(np.argmax(levers))
    if levers[third] <= HELD:
        raise reader.error(f"the points connected like {name!r} lie on one line; two of them are a revolute joint")
    found = []
    for points in sides:
        x = unit(points[1] - points[0])
        z = unit(np.cross(x, points[third] - points[0]))
        found.append(np.column_stack([x, np.cross(z, x), z]))
    return found
