"""A tree with loops written as a robot file: the platform, a leg per moving body of the world, joints and bodies by name."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.bridges.body_tree import WORLD, ClosingLoop, Inertial, Node, Strut, Tree, inverse
from flexapod.bridges.imported import ImportedModelError
from flexapod.bridges.loop_gaps import open_loops
from flexapod.bridges.mjcf_in import read_mjcf
from flexapod.calls import check_path, check_text, checked
from flexapod.description.problems import Problem, RobotFileError
from flexapod.description.read import description_from_document
from flexapod.errors import FileWarning, InputError
from flexapod.robot.geometry import Pose, pose

if TYPE_CHECKING:
    from flexapod.description.read import Description

TYPES = {"R": "revolute", "P": "prismatic", "fixed": "fixed", "free": "free"}
TAKEN = ("platform", "base", "frame", "platform_frame", "branch", "table", "joints", "bodies", "copy", "mirrored", "rotated")
"""Words of a leg in a robot file, which bodies and joints cannot be called."""
SAME = 1e-12
"""Frames that differ by less [m, and in directions] are one."""


@checked(path=check_path, loops=check_path, platform=check_text, source=check_text)
def import_robot(path: str | os.PathLike[str], *, platform: str | None = None, loops: str | os.PathLike[str] | None = None,
                 source: str = "") -> Description:  # fmt: skip
    """Read a mechanism of another program as a robot; `write_robot_file` keeps it, `load` of that file makes the robot.

    Args:
        path: MJCF (.xml) or URDF (.urdf).
        platform: name of the body that is the platform; left out: the one that the loop file names, or that floats.
        loops: YAML of the joints that close loops, beside a URDF; left out: ``<name>.loops.yaml``.
        source: what the robot file says about where the numbers come from; left out: the file's name.
    Returns:
        `Description`: the robot file, validated.
    Raises:
        ImportedModelError: the mechanism cannot be read as a parallel robot; names the element.

    Meshes are not needed; every moving body needs an inertial. Loops are `connect` and `weld` between sites or bodies. Legs and
    actuators have the order of the file's actuators; `notes` say which actuator is which joint, and what a warning says besides:
    loops that are open where the file puts its bodies, gravity that it does not give, force limits that a robot file cannot
    describe.

    Checked by: tests/bridges/test_mjcf.py, tests/bridges/test_urdf.py.
    """
    file = Path(path)
    if loops is not None and file.suffix.lower() != ".urdf":
        raise InputError(
            f"loops: {file.name} is not a URDF, and MJCF contains its closing joints itself (`equality`); leave it out"
        )
    if file.suffix.lower() == ".urdf":
        from flexapod.bridges.urdf_in import read_urdf

        tree = read_urdf(file, loops)
    else:
        tree = read_mjcf(file)
    tree = replace(tree, remarks=(*tree.remarks, *open_loops(tree)))
    document, origins = robot_document(tree, platform, source or f"imported from {file.name}")
    for remark in tree.remarks:
        warnings.warn(f"{file.name}: {remark}", FileWarning, stacklevel=2)
    try:
        return description_from_document(document, name=file.name)
    except RobotFileError as error:
        raise ImportedModelError("\n".join(_in_words_of(file, problem, origins) for problem in error.problems)) from error


def _in_words_of(file: Path, problem: Problem, origins: dict[str, tuple[str, str]]) -> str:
    """A problem of the robot file with the body or joint of the imported file that it comes from."""
    key = max((key for key in origins if f"{problem.path}.".startswith(f"{key}.")), key=len, default="")
    if not key:
        return f"{file.name}: {problem.path}: {problem.what}. {problem.hint}"
    what, name = origins[key]
    what = "link" if what == "body" and file.suffix.lower() == ".urdf" else what
    return f"{file.name}: <{what} {name!r}>: {problem.path[len(key) + 1 :] or what}: {problem.what}. {problem.hint}"


def robot_document(tree: Tree, platform: str | None, source: str) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """The robot file of a tree as plain data: the bodies that one moving body of the world carries are a leg.

    Returns:
        The document, and by path in it what it was: ``("body", name)``, ``("joint", name)`` or ``("loop", name)``.
    """
    name = platform or tree.platform or _floating(tree)
    if name not in {n.name for n in tree.nodes}:
        raise ImportedModelError(f"{tree.name}: there is no body {name!r}; bodies: {', '.join(n.name for n in tree.nodes)}")
    tree, name = _framed(tree, name)
    node = tree.node(name)
    loops = [_toward(loop, name) for loop in tree.loops]
    ends = [end for loop in loops for end in (loop.first, loop.second)] + [name]
    groups: dict[str, list[Node]] = {}
    for end in ends:
        chain = _chain(tree, end, name) if end != WORLD and (end != name or node.kind != "free") else []
        if chain:
            group = groups.setdefault(_root(chain), [])
            group += [n for n in chain if n.name not in {k.name for k in group}]
    _add_coupled(tree, groups, name)
    _check_used(tree, groups, name)
    written, joints, origins = _written(tree, node, _in_order(tree, groups, name), loops)
    notes = [*_actuator_note(tree, joints), *tree.remarks]
    document = {
        "flexapod": 1, "name": re.sub(r"[^A-Za-z0-9_-]", "-", tree.name), "source": source,
        **({"notes": notes} if notes else {}), "gravity": tree.gravity.tolist(), **written,
    }  # fmt: skip
    return document, origins


def _framed(tree: Tree, name: str) -> tuple[Tree, str]:
    """The tree with a platform whose frame is the one that the file gives its body: fixed on the body, whose own frame is at its
    joint, where the two differ."""
    frame = tree.frames.get(name, pose())
    if tree.node(name).kind == "free" or np.allclose([*frame.position, *np.ravel(frame.rotation - np.eye(3))], 0.0, atol=SAME):
        return tree, name
    own, back = f"{name}_origin", inverse(frame)
    node = Node(name=own, parent=name, place=frame, kind="fixed", joint=f"{own}.fixed")
    loops = []
    for loop in tree.loops:
        loop = replace(loop, first=own, on_first=back @ loop.on_first) if loop.first == name else loop
        loops.append(replace(loop, second=own, on_second=back @ loop.on_second) if loop.second == name else loop)
    return replace(tree, nodes=(*tree.nodes, node), loops=tuple(loops)), own


def _in_order(tree: Tree, groups: dict[str, list[Node]], platform: str) -> list[list[Node]]:
    """Legs in the order of the file's actuators; those without one keep their places. In a leg, joints too where its branches
    allow it."""
    rank = {joint: k for k, joint in enumerate(tree.actuators)}

    def first(group: list[Node]) -> int:
        return min((rank[n.joint] for n in group if n.actuated), default=-1)

    driven = iter(sorted((g for g in groups.values() if first(g) >= 0), key=first))
    found = [next(driven) if first(group) >= 0 else group for group in groups.values()]
    return [_branches(tree, group, rank, platform) for group in found]


def _branches(tree: Tree, group: list[Node], rank: dict[str, int], platform: str) -> list[Node]:
    driven = [rank[n.joint] for n in group if n.actuated]
    if driven == sorted(driven):
        return group
    own = {n.name for n in group}
    order: list[Node] = []
    for node in (*sorted((n for n in group if n.actuated), key=lambda n: rank[n.joint]), *group):
        order += [n for n in _chain(tree, node.name, platform) if n.name in own and n not in order]
    return order


def _actuator_note(tree: Tree, joints: dict[str, str]) -> list[str]:
    """Note on actuators whose names are not those of the file's joints, and on their order where the file has another one."""
    driven = [joint for joint in joints if joint in tree.actuators]
    legs = [joints[joint].partition(".")[0] for joint in driven]
    names = [leg if legs.count(leg) == 1 else joints[joint] for leg, joint in zip(legs, driven, strict=True)]
    if names == driven == list(tree.actuators):
        return []
    text = ", ".join(f"{name} is the joint {joint}" for name, joint in zip(names, driven, strict=True))
    order = "" if driven == list(tree.actuators) else f"; the order of the imported file is {', '.join(tree.actuators)}"
    return [f"actuators: {text}{order}"]


def _root(chain: list[Node]) -> str:
    """Name of the first node of a chain that moves: chains with the same one are one leg."""
    return next((n for n in chain if n.kind != "fixed"), chain[-1]).name


def _add_coupled(tree: Tree, groups: dict[str, list[Node]], platform: str) -> None:
    """Add bodies that only a coupling ties to a loop to the leg of the joint that they are coupled to."""
    for gear in tree.gears:
        nodes = [next(n for n in tree.nodes if n.joint == joint) for joint, _ in gear.terms]
        held = [group for n in nodes for group in groups.values() if any(k.name == n.name for k in group)]
        for node in nodes if held else []:
            if not any(k.name == node.name for group in groups.values() for k in group):
                held[0] += [n for n in _chain(tree, node.name, platform) if n.name not in {k.name for k in held[0]}]


def _check_used(tree: Tree, groups: dict[str, list[Node]], platform: str) -> None:
    used = {n.name for group in groups.values() for n in group} | {platform}
    for node in tree.nodes:  # bodies beyond the loops belong to the leg that carries them
        if node.name not in used and node.parent in used and node.parent != platform:
            next(group for group in groups.values() if any(n.name == node.parent for n in group)).append(node)
            used.add(node.name)
    lost = [n.name for n in tree.nodes if n.name not in used]
    if lost:
        text = "belong to no loop of the platform; name another platform (platform=..., --platform NAME)"
        raise ImportedModelError(f"{tree.name}: {', '.join(lost)} {text}")


def _written(
    tree: Tree, platform: Node, groups: list[list[Node]], loops: list[ClosingLoop]
) -> tuple[dict[str, Any], dict[str, str], dict[str, tuple[str, str]]]:
    """Home, platform, legs, couplings and forces; joints as `leg.joint` by their names in the tree; what paths were."""
    legs: dict[str, Any] = {}
    place: dict[str, str] = {platform.name: "platform", WORLD: "base"}
    joints: dict[str, str] = {}
    origins: dict[str, tuple[str, str]] = {}
    carrier = ""
    for group in groups:
        leg = _leg_name(group, legs)
        own = _short_names([n.name for n in group])
        legs[leg] = _leg(group, leg, own, joints)
        place |= {n.name: f"{leg}.{own[n.name]}" for n in group if n.name != platform.name}
        carrier = f"{leg}.{own[platform.name]}" if platform.name in own else carrier
    for loop in _ended(loops, {end: path.partition(".")[0] for end, path in place.items() if "." in path}, carrier):
        first = place[loop.first]
        leg = first.partition(".")[0] if loop.first != WORLD else _leg_name([], legs)
        known = legs.setdefault(leg, {"joints": {}, "bodies": {}})
        taken = {**known["joints"], **known["bodies"]}
        to = carrier if loop.second == platform.name and carrier.startswith(f"{leg}.") else place[loop.second]
        to = to.partition(".")[2] if to.startswith(f"{leg}.") else to
        named = _short(loop.name) if _short(loop.name) not in taken else _plain(loop.name)
        joint = _fresh(named, taken)
        known["joints"][joint] = _closing(loop, first.partition(".")[2] or "base", to)
        origins[f"legs.{leg}.{joint}"] = ("loop", loop.name)
    found: dict[str, Any] = {"home": _placed(platform.place), "platform": _body(platform.inertial)}
    if platform.kind != "free":
        found = {"home": _placed(tree.at_home(platform.name)), "platform": {"body": carrier}}
    couplings: dict[str, Any] = {}
    for gear in tree.gears:
        couplings[_fresh(_plain(gear.name), couplings)] = {joints[joint]: factor for joint, factor in gear.terms}
    forces: dict[str, Any] = {}
    for strut in tree.struts:
        forces[_fresh(_plain(strut.name), forces)] = _force(strut, place)
    extra = {key: value for key, value in (("couplings", couplings), ("forces", forces)) if value}
    origins |= {f"legs.{path}": ("body", name) for name, path in place.items()} | {"platform": ("body", platform.name)}
    origins |= {f"legs.{carrier}": ("body", platform.name)} if carrier else {}
    origins |= {f"legs.{path}": ("joint", name) for name, path in joints.items()}
    return {**found, "legs": {"each": legs}, **extra}, joints, origins


def _ended(loops: list[ClosingLoop], legs: dict[str, str], carrier: str) -> list[ClosingLoop]:
    """Loops such that every leg has one that begins on it: one that ends there is reversed where its first leg has others;
    `legs`: by body."""
    found, free = list(loops), {carrier.partition(".")[0]}
    for leg in dict.fromkeys(legs.values()):
        begin = [legs.get(loop.first, "") for loop in found]
        if leg in free or leg in begin:
            continue
        unused = (
            k for k, loop in enumerate(found) if legs.get(loop.second) == leg and (begin[k] in free or begin.count(begin[k]) > 1)
        )
        if (k := next(unused, None)) is not None:
            loop = found[k]
            found[k] = replace(loop, first=loop.second, on_first=loop.on_second, second=loop.first, on_second=loop.on_first)
    return found


def _force(s: Strut, place: dict[str, str]) -> dict[str, Any]:
    """A force element; `place`: bodies of the robot file by node."""
    ends = {"from": place[s.first], "at": s.at.tolist(), "to": place[s.second], "on": s.on.tolist()}
    return {**ends, "stiffness": s.stiffness, "length": s.length, "damping": s.damping}


def _floating(tree: Tree) -> str:
    free = [n.name for n in tree.nodes if n.kind == "free"]
    if len(free) != 1:
        found = "no body floats" if not free else f"several bodies float: {', '.join(free)}"
        names = ", ".join(n.name for n in tree.nodes)
        raise ImportedModelError(f"{tree.name}: {found}; name the platform (platform=..., --platform NAME), one of: {names}")
    return free[0]


def _toward(loop: ClosingLoop, platform: str) -> ClosingLoop:
    """The loop written toward the platform where it ends there, and away from the world."""
    if loop.second == platform or (loop.first not in (platform, WORLD)):
        return loop
    return replace(loop, first=loop.second, on_first=loop.on_second, second=loop.first, on_second=loop.on_first)


def _chain(tree: Tree, end: str, platform: str) -> list[Node]:
    """Nodes from the world to a body."""
    found: list[Node] = []
    while end != WORLD:
        found.insert(0, tree.node(end))
        end = found[0].parent
    if any(n.kind == "free" and n.name == platform for n in found):
        raise ImportedModelError(f"{tree.name}: {found[-1].name!r} is attached to a floating body; a leg starts at the world")
    return found


def _plain(name: str) -> str:
    """A name as robot files have them."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _short(name: str) -> str:
    short = _plain(name.split(".", 1)[1] if "." in name else name)
    return f"{short}_body" if short in TAKEN else short


def _leg_name(chain: list[Node], known: Mapping[str, object]) -> str:
    """Name of a leg: what the names of its chain have before their dot, else its one driven joint, else a number."""
    own = {n.name for n in chain}
    heads = {n.name.split(".", 1)[0] for n in chain if "." in n.name and n.name.rpartition(".")[0] not in own}
    driven = {n.joint for n in chain if n.actuated}
    names = next((found for found in (heads, driven) if len(found) == 1), {str(len(known) + 1)})
    name = _short(names.pop())
    return name if name not in known else f"{name}-{len(known) + 1}"


def _short_names(names: list[str]) -> dict[str, str]:
    """Names of bodies or joints in a leg: without what is before their dot, unless two would be one."""
    short = {name: _short(name) for name in names}
    return {name: own if list(short.values()).count(own) == 1 else _plain(name) for name, own in short.items()}


def _leg(group: list[Node], leg: str, bodies: dict[str, str], names: dict[str, str]) -> dict[str, Any]:
    """Joints and bodies of a leg; `names` gets the joints' names in the robot file."""
    joints: dict[str, Any] = {}
    short = _short_names([node.joint for node in group])
    for node in group:
        joint = _fresh(short[node.joint], {**joints, **dict.fromkeys(bodies.values())})
        names[node.joint] = f"{leg}.{joint}"
        joints[joint] = _joint(node, bodies.get(node.parent, "base"), bodies[node.name])
    return {"joints": joints, "bodies": {bodies[node.name]: _body(node.inertial) for node in group}}


def _fresh(name: str, known: Mapping[str, object]) -> str:
    return name if name and name not in known else f"{name or 'joint'}-{len(known) + 1}"


def _joint(node: Node, before: str, body: str) -> dict[str, Any]:
    """A joint of the tree. Angles of passive joints are counted from home, so limits and free springs of theirs are too."""
    R, zero = node.place.rotation, node.start if node.kind == "R" and not node.actuated else 0.0
    found: dict[str, Any] = {"type": TYPES[node.kind], "from": before, "to": body, "at": node.place.position.tolist()}
    found["rotation"] = {"matrix": R.tolist()}
    if node.kind in "RP":
        found |= {"axis": R[:, 2].tolist(), "start": node.start}
    for key, value in (("actuated", node.actuated), ("inertia", node.rotor)):
        if value:
            found[key] = value
    limits = {"stroke": [end - zero for end in node.stroke] if node.stroke else None, "speed": node.speed, "force": node.force}
    if node.kind in "RP" and any(limits.values()):
        found["limits"] = {key: value for key, value in limits.items() if value is not None}
    if node.stiffness:
        found |= {
            "stiffness": node.stiffness,
            "damping": node.damping,
            **({} if node.free is None else {"rest": node.free - zero}),
        }
    if node.loss or (node.damping and not node.stiffness):
        found["friction"] = {"viscous": 0.0 if node.stiffness else node.damping, "coulomb": node.loss}
    return found


def _closing(loop: ClosingLoop, before: str, to: str) -> dict[str, Any]:
    found: dict[str, Any] = {"type": loop.type, "from": before, "to": to, "at": loop.on_first.position.tolist(),
                             "on": loop.on_second.position.tolist()}  # fmt: skip
    z1, z2 = loop.on_first.rotation[:, 2].tolist(), loop.on_second.rotation[:, 2].tolist()
    if loop.type in ("revolute", "cylindrical"):
        found |= {"axis": z1, "axis_on": z2}
    elif loop.type == "universal":
        found |= {"axis1": z1, "axis2": z2}
    elif loop.type in ("fixed", "prismatic"):
        found["rotation"] = {"matrix": (loop.on_first.rotation @ loop.on_second.rotation.T).tolist()}
        found |= {"axis": z1} if loop.type == "prismatic" else {}
    if loop.damping or loop.loss:
        found["friction"] = {
            "viscous": loop.damping,
            "coulomb": loop.loss,
            **({"direction": "per_axis"} if loop.per_axis else {}),
        }
    return found


def _body(inertial: Inertial) -> dict[str, Any]:
    if inertial.mass == 0.0:
        return {}
    t = inertial.tensor
    entries = {"xx": t[0, 0], "yy": t[1, 1], "zz": t[2, 2], "xy": t[0, 1], "xz": t[0, 2], "yz": t[1, 2]}
    return {"mass": inertial.mass, "com": np.asarray(inertial.com).tolist(), "inertia": {k: float(v) for k, v in entries.items()}}


def _placed(place: Pose) -> dict[str, Any]:
    return {"position": place.position.tolist(), "rotation": {"matrix": place.rotation.tolist()}}
