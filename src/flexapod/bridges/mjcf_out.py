"""`export_mjcf`: a rigid robot as an MJCF file, loops as equality constraints.

Legs are bodies with hinges and slides, massless frames are merged into the next body, the platform floats unless a leg carries
it. A spherical joint closes by `connect`, a revolute one by two of them along its axis, a fixed one by `weld`. Others, and
revolute ones with friction, are hinges and slides of the tree behind which half of the leg's last body hangs; four `connect` hold
the halves together (split_bodies.py).
Couplings are fixed tendons held by an equality, force elements spatial tendons with a spring.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

import numpy as np
from numpy.typing import ArrayLike

from flexapod.bridges.body_tree import WORLD, ClosingLoop, Gear, Inertial, Node, Strut, Tree, massless, merged, robot_tree
from flexapod.bridges.drive_springs import merge_drive_springs
from flexapod.bridges.mjcf_softness import copies_for
from flexapod.bridges.split_bodies import halved
from flexapod.calls import check_path, check_seed, checked
from flexapod.errors import FlexapodWarning, InputError
from flexapod.robot.geometry import Pose, pose
from flexapod.robot.robot import Robot
from flexapod.rotation_arrays import rotation_quaternion

LEAST = 1e-14
"""Principal moments below this are written as this: MuJoCo refuses moving bodies without inertia. Results do not change by it."""
FLAT = 1e-14
"""Flat bodies get this part of their largest moment more about every axis: MuJoCo takes A + B >= C to the last digit."""
ARM = 1.0
"""Distance of the points on a closing axis from the joint centre [m]."""
CORNERS = ARM / np.sqrt(3.0) * np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
"""Where two halves of a body are held together: points far from a slender body hold its rotations better than `weld`, whose
softness follows its smallest moment of inertia."""
SOFT = 1.2e-4
"""Gap of the loops that may remain at home; elsewhere it is up to 1.6 times as large, and the aim is 2e-4."""
STIFF = {"solref": "0.002 1", "solimp": "0.9999 0.9999 0.001 0.5 2"}


@checked(path=check_path, copies=check_seed)
def export_mjcf(robot: Robot, path: str | os.PathLike[str], *, copies: int | None = None) -> Path:
    """Write a robot as MJCF for MuJoCo, with its home pose as the key frame `home`.

    Args:
        robot: rigid; every body physical; of tables of base parameters `physical_equivalent` gives such bodies.
        path: ends in .xml.
        copies: how often each `connect` is written. What MuJoCo's soft solver leaves of the loops at a single state is divided by
            this number; legs that are light beside the platform need more than one. Left out: as many as it takes to leave
            2e-4 of what the loops change (mjcf_softness.py). Steps settle to the loops by themselves.
    Returns:
        The path of the file.

    Joints keep their names, coordinates and signs; actuators are motors with the force as control. Viscous and constant friction
    become `damping` and `frictionloss`; friction by joint loads has no counterpart, which a warning says. Loops inside legs and
    between them, couplings, joint springs, force elements and limits of strokes and forces are written too.

    Checked by: tests/bridges/test_mjcf.py.
    """
    target = Path(path)
    if target.suffix != ".xml" or target.is_dir() or not target.parent.is_dir():
        raise InputError(f"export_mjcf: {target} must be a file that ends in .xml, in a folder that exists")
    if copies is not None and copies < 1:
        raise InputError(f"export_mjcf: copies is {copies}; every loop is written once at least")
    tree = merge_drive_springs(robot_tree(robot))
    target.write_text(mjcf_text(tree, copies), encoding="utf-8")
    for remark in (*tree.remarks, *_remarks(tree)):
        warnings.warn(f"{target.name}: {remark}", FlexapodWarning, stacklevel=2)
    return target


def _remarks(tree: Tree) -> list[str]:
    """Friction of closing joints that is left out or changed."""
    lost = [k.name for k in tree.loops if k.type == "spherical" and (k.damping or k.loss)]
    vectors = [k.name for k in tree.loops if k.type == "universal" and k.loss and not k.per_axis]
    found = [f"the friction of {', '.join(lost)}, spherical joints that close loops, is left out"] if lost else []
    text = "acts against the vector of angular velocity; it is written for each axis alone"
    return found + ([f"the friction of {', '.join(vectors)} {text}"] if vectors else [])


def mjcf_text(tree: Tree, copies: int | None = None) -> str:
    """The text of an MJCF file; copies as in `export_mjcf`."""
    tree = halved(tree)
    if copies is None:
        copies = copies_for(tree, {loop.name: held_points(loop) for loop in tree.loops}, SOFT)
    root = Element("mujoco", {"model": tree.name})
    if copies > 1:
        root.append(Comment(f" each loop is written {copies} times, so that MuJoCo's soft solver leaves 1/{copies} of the gap "))
    SubElement(root, "compiler", {"angle": "radian", "autolimits": "true"})
    option = SubElement(root, "option", {"gravity": numbers(tree.gravity)})
    SubElement(option, "flag", {"contact": "disable"})
    world = SubElement(root, "worldbody")
    elements, bodies = {WORLD: world}, merged(tree)
    _check_masses([replace(node, kind="R") if joints else node for node, joints in bodies])
    order: list[Node] = []
    for node, joints in bodies:
        body = elements[node.name] = SubElement(elements[node.parent], "body", {"name": node.name, **placed(node.place)})
        if node.kind == "free":
            SubElement(body, "freejoint", {"name": "platform"})
        for joint, seen in joints:
            SubElement(body, "joint", _joint(joint, seen))
            order.append(joint)
        order += [node] if node.kind == "free" else []
        if node.inertial.mass or np.any(node.inertial.tensor):
            SubElement(body, "inertial", _inertial(node.name, node.inertial))
    equality, tendons = Element("equality"), Element("tendon")
    for loop in tree.loops:
        _close(loop, elements, equality, copies)
    for gear in tree.gears:
        _couple(gear, equality, tendons)
    for strut in tree.struts:
        _stretch(strut, elements, tendons)
    for part in (tendons, equality):
        if len(part):
            root.append(part)
    actuator = SubElement(root, "actuator")
    for joint in (joint for joint in order if joint.actuated):
        most = {} if joint.force is None else {"forcerange": numbers([-joint.force, joint.force])}
        SubElement(actuator, "motor", {"name": joint.joint, "joint": joint.joint, **most})
    _home(root, tree, elements)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _check_masses(nodes: list[Node]) -> None:
    """Refuse what MuJoCo does: bodies that move without mass, their own or that of bodies fixed on them."""
    lost = massless(nodes)
    if lost:
        raise InputError(
            f"export: {', '.join(lost)} would be moving {'bodies' if len(lost) > 1 else 'a body'} without mass, which MuJoCo "
            "refuses; give every body at the end of a joint a mass and an inertia"
        )


def numbers(values: ArrayLike) -> str:
    """Numbers that read back to the same doubles."""
    return " ".join(repr(float(v)) for v in np.ravel(values))


def placed(place: Pose) -> dict[str, str]:
    """Attributes of a pose."""
    return {"pos": numbers(place.position), "quat": numbers(rotation_quaternion(place.rotation))}


def _joint(node: Node, seen: Pose) -> dict[str, str]:
    found = {
        "name": node.joint, "type": "hinge" if node.kind == "R" else "slide", "pos": numbers(seen.position),
        "axis": numbers(seen.rotation[:, 2]),
    }  # fmt: skip
    for name, value in (("armature", node.rotor), ("damping", node.damping), ("frictionloss", node.loss)):
        if value:
            found[name] = repr(float(value))
    if node.stiffness:
        found |= {
            "stiffness": repr(float(node.stiffness)),
            "springref": repr(float(node.start if node.free is None else node.free)),
        }
    return found | ({"range": numbers(node.stroke)} if node.stroke else {})


def _inertial(name: str, inertial: Inertial) -> dict[str, str]:
    moments, axes = np.linalg.eigh(inertial.tensor)
    size = max(1.0, float(np.abs(moments).max()))
    if moments[0] < -1e-12 * size or moments[2] > (moments[0] + moments[1]) + 1e-9 * size or inertial.mass <= 0.0:
        raise InputError(
            f"export: {name} is not a physical body: mass {inertial.mass:.4g} kg, principal moments "
            f"{', '.join(f'{m:.4g}' for m in moments)} kg m^2 (base parameters of a table?). "
            "physical_equivalent gives bodies that can exist with the same dynamics, where there are any"
        )
    axes = axes * (1.0 if np.linalg.det(axes) > 0 else -1.0)
    if np.array_equal(inertial.tensor, np.diag(np.diag(inertial.tensor))):
        moments, axes = np.diag(inertial.tensor), np.eye(3)
    largest = float(moments.max())  # a flat body lies on the border A + B = C, which rounding may cross
    moments = moments + max(0.0, 2.0 * largest - float(moments.sum()) + FLAT * largest)
    mass = {"mass": repr(float(inertial.mass)), "diaginertia": numbers(np.maximum(moments, LEAST))}
    return {**placed(pose(inertial.com, axes)), **mass}


def held_points(loop: ClosingLoop) -> list[Any]:
    """Points (3,) of a loop's frames that `connect` holds together; none of a `weld`."""
    if loop.type in ("fixed", "held"):
        return list(CORNERS) if loop.type == "held" else []
    return [np.zeros(3), np.array([0.0, 0.0, ARM])] if loop.type == "revolute" else [np.zeros(3)]


def _close(loop: ClosingLoop, elements: dict[str, Element], equality: Element, copies: int) -> None:
    """Sites on both sides and the constraints between them."""

    def site(k: int, suffix: str, shift: ArrayLike) -> str:
        owner, half = ((loop.first, loop.on_first), (loop.second, loop.on_second))[k]
        name = f"{loop.name}.{'on' if k else 'at'}{suffix}"
        SubElement(elements[owner], "site", {"name": name, **placed(half @ pose(shift))})
        return name

    def connect(suffix: str, shift: ArrayLike) -> None:
        both = {"site1": site(0, suffix, shift), "site2": site(1, suffix, shift)}
        for k in range(copies):
            SubElement(equality, "connect", {"name": f"{loop.name}{suffix}{f'.copy{k}' if k else ''}", **both, **STIFF})

    for k, point in enumerate(held_points(loop)):
        connect("" if k == 0 else ".axis" if loop.type == "revolute" else f".{k + 1}", point)
    if loop.type == "fixed":
        both = {"site1": site(0, "", np.zeros(3)), "site2": site(1, "", np.zeros(3))}
        SubElement(equality, "weld", {"name": loop.name, **both, **STIFF})


def _couple(gear: Gear, equality: Element, tendons: Element) -> None:
    """A fixed tendon, whose length is the sum of factors times coordinates, held at its value at home."""
    tendon = SubElement(tendons, "fixed", {"name": gear.name})
    for joint, factor in gear.terms:
        SubElement(tendon, "joint", {"joint": joint, "coef": repr(float(factor))})
    held = {"tendon1": gear.name, "polycoef": numbers([gear.home, 0, 0, 0, 0])}
    SubElement(equality, "tendon", {"name": gear.name, **held, **STIFF})


def _stretch(strut: Strut, elements: dict[str, Element], tendons: Element) -> None:
    """A spatial tendon between two sites with a spring and a damper."""
    spring = {"stiffness": strut.stiffness, "springlength": strut.length, "damping": strut.damping}
    tendon = SubElement(tendons, "spatial", {"name": strut.name, **{k: repr(float(v)) for k, v in spring.items()}})
    for owner, at, end in ((strut.first, strut.at, "at"), (strut.second, strut.on, "on")):
        SubElement(elements[owner], "site", {"name": f"{strut.name}.{end}", **placed(pose(at))})
        SubElement(tendon, "site", {"site": f"{strut.name}.{end}"})


def _home(root: Element, tree: Tree, elements: dict[str, Element]) -> None:
    """The key frame: coordinates in MuJoCo's order, depth first."""
    by_joint = {n.joint: n for n in tree.nodes}
    values: list[float] = []
    for element in elements[WORLD].iter():
        if element.tag == "freejoint":
            place = tree.node("platform").place
            values += [*place.position, *rotation_quaternion(place.rotation)]
        elif element.tag == "joint":
            values.append(by_joint[element.attrib["name"]].start)
    SubElement(SubElement(root, "keyframe"), "key", {"name": "home", "qpos": numbers(values)})
