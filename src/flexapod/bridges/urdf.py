"""`export_urdf`: URDF with a file of closing joints beside it: `<name>.urdf` holds the tree, `<name>.loops.yaml` the loops.

What URDF has no word for is in the loop file: gravity, actuated joints, rotor inertias, springs, coordinates at home, couplings.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
import yaml

from flexapod.arrays import Array
from flexapod.bridges.body_tree import WORLD, Tree, robot_tree
from flexapod.bridges.drive_springs import merge_drive_springs
from flexapod.bridges.mjcf_out import numbers
from flexapod.calls import check_path, checked
from flexapod.errors import FlexapodWarning, InputError
from flexapod.robot.geometry import Pose
from flexapod.robot.robot import Robot
from flexapod.rotation_arrays import rotation_quaternion

UNLIMITED = (-1e3, 1e3)
"""Limits [m] of prismatic joints without any, which URDF must have."""
BOUNDLESS = 1e9
"""Effort and velocity of joints without limits of them."""


@checked(path=check_path)
def export_urdf(robot: Robot, path: str | os.PathLike[str]) -> dict[str, Path]:
    """Write a rigid robot as URDF and a YAML of the joints that close its loops.

    Args:
        path: ends in .urdf; the loops are written beside it as ``<name>.loops.yaml``.
    Returns:
        The paths of both files: `urdf` and `loops`.

    Checked by: tests/bridges/test_urdf.py.
    """
    target = Path(path)
    if target.suffix != ".urdf" or target.is_dir() or not target.parent.is_dir():
        raise InputError(f"export_urdf: {target} must be a file that ends in .urdf, in a folder that exists")
    tree = merge_drive_springs(robot_tree(robot))
    loops = target.with_suffix(".loops.yaml")
    target.write_text(urdf_text(tree), encoding="utf-8")
    loops.write_text(loops_text(tree), encoding="utf-8")
    for remark in tree.remarks:
        warnings.warn(f"{target.name}: {remark}", FlexapodWarning, stacklevel=2)
    return {"urdf": target, "loops": loops}


def rpy(R: Array) -> Array:
    """Roll, pitch, yaw [rad] of a rotation: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:  # roll and yaw have one axis: yaw is set to zero
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
        rotating = "revolute" if node.stroke else "continuous"
        kind = {"R": rotating, "P": "prismatic", "fixed": "fixed", "free": "floating"}[node.kind]
        joint = SubElement(root, "joint", {"name": node.joint or f"{node.name}.free", "type": kind})
        SubElement(joint, "parent", {"link": node.parent})
        SubElement(joint, "child", {"link": node.name})
        SubElement(joint, "origin", {"xyz": numbers(node.place.position), "rpy": numbers(rpy(node.place.rotation))})
        if node.kind in "RP":
            SubElement(joint, "axis", {"xyz": "0 0 1"})
            most = {"effort": _most(node.force), "velocity": _most(node.speed)}
            if kind != "continuous":
                low, high = node.stroke or UNLIMITED
                SubElement(joint, "limit", {"lower": repr(low), "upper": repr(high), **most})
            elif node.force is not None or node.speed is not None:
                SubElement(joint, "limit", most)
            if node.damping or node.loss:
                SubElement(joint, "dynamics", {"damping": repr(float(node.damping)), "friction": repr(float(node.loss))})
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"


def _most(limit: float | None) -> str:
    """A limit that URDF must have."""
    return repr(float(BOUNDLESS if limit is None else limit))


def loops_text(tree: Tree) -> str:
    """The text of the loop file."""

    def half(place: Pose) -> dict[str, Any]:
        return {"xyz": place.position.tolist(), "quat_wxyz": rotation_quaternion(place.rotation).tolist()}

    loops = [
        {
            "name": k.name,
            "type": k.type,
            "link1": k.first,
            "at1": half(k.on_first),
            "link2": k.second,
            "at2": half(k.on_second),
            **({"damping": k.damping, "friction": k.loss, "per_axis": k.per_axis} if k.damping or k.loss else {}),
        }
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
