"""One small robot of every kind that verbs distinguish, all with friction and force limits where their kind allows it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import yaml

import flexapod as fp

FRICTION = {"viscous": 0.3, "coulomb": 0.2, "speed": 0.01}
TOOL = [0.02, 0.03, 0.0]
KINDS = (
    "rigid, mobility 6",
    "rigid, mobility below 6",
    "redundantly actuated",
    "over-constrained",
    "flexible platform",
    "flexible legs",
    "flexible platform on flexible legs",
    "joint springs",
    "elastic drives",
    "redundant with joint springs",
    "under-actuated",
)


def document_of(name: str) -> dict[str, Any]:
    """The data of a catalogue file; keys are texts (YAML 1.1 reads `on` as true)."""

    def keyed(part: Any) -> Any:
        if isinstance(part, dict):
            return {"on" if key is True else str(key): keyed(value) for key, value in part.items()}
        return [keyed(value) for value in part] if isinstance(part, list) else part

    found: dict[str, Any] = keyed(yaml.safe_load(fp.catalogue()[name].read_text(encoding="utf-8")))
    return found


def changed(name: str, new: str, **joints: dict[str, object]) -> fp.Robot:
    """A robot of the catalogue whose template joints have other keys."""
    document = document_of(name)
    document["name"] = new
    document["platform"]["points"] = {"tool": TOOL}
    template = document["legs"]["template"]["joints"]
    for joint, keys in joints.items():
        for key, value in keys.items():
            if value is None:
                template[joint].pop(key, None)
            else:
                template[joint][key] = value
    return robot_of(document)


def robot_of(document: dict[str, Any]) -> fp.Robot:
    """A robot from the data of a robot file."""
    from flexapod.robot.robot import build_robot

    return build_robot(fp.description_from_document(document))


@cache
def robot_of_kind(kind: str) -> fp.Robot:
    """The robot of a kind."""
    limits = {"stroke": [-1.0, 4.0], "force": 1e4}
    if kind == "rigid, mobility 6":
        document = document_of("hexaslide")
        document["platform"]["points"] = {"tool": TOOL}
        return robot_of(document)
    if kind == "rigid, mobility below 6":
        return changed("five-bar", "five-bar-friction", crank={"friction": FRICTION, "limits": limits})
    if kind == "redundantly actuated":
        return changed("planar-4-prr", "prr-friction", rail={"friction": FRICTION, "limits": limits})
    if kind == "over-constrained":
        return changed("tripteron", "tripteron-friction", rail={"friction": FRICTION, "limits": limits})
    if kind == "flexible platform":
        robot = fp.load("gough-stewart-flexible")
        assert robot.flexible_platform is not None
        return robot.with_flexible_body("platform", robot.flexible_platform.truncated(4))
    if kind == "flexible legs":
        return fp.load("dualemps")
    if kind == "flexible platform on flexible legs":
        return plate_on_delta()
    if kind == "joint springs":
        return changed("five-bar", "five-bar-springs", crank={"friction": FRICTION}, elbow={"stiffness": 40.0, "damping": 0.1})
    if kind == "elastic drives":
        return changed("five-bar", "five-bar-soft", crank={"friction": FRICTION, "stiffness": 1e4, "inertia": 0.1})
    if kind == "redundant with joint springs":
        return changed("planar-4-prr", "prr-springs", root={"stiffness": 40.0})
    assert kind == "under-actuated"
    return changed_leg("five-bar", "five-bar-under", "right", crank={"actuated": False})


def changed_leg(name: str, new: str, leg: str, **joints: dict[str, object]) -> fp.Robot:
    """A robot of the catalogue with other keys in the joints of one leg."""
    document = document_of(name)
    document["name"] = new
    document["platform"]["points"] = {"tool": TOOL}
    for joint, keys in joints.items():
        document["legs"]["each"][leg].setdefault(joint, {}).update(keys)
    return robot_of(document)


def plate_on_delta() -> fp.Robot:
    """A plate with one mode and a tool on the legs of `delta`, which pass moments to it."""
    document = document_of("delta")
    document["platform"]["points"] = {"tool": TOOL}
    robot = robot_of(document)
    joints = {leg.name: tuple(leg.closing.on_platform.position) for leg in robot.legs} | {"tool": tuple(TOOL)}
    radius, angles = 1.4 * np.linalg.norm(robot.legs[0].closing.on_platform.position), np.arange(6) * np.pi / 3
    outline = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    plate = fp.flexible.plate(
        outline=outline, thickness=0.002, young=70e9, poisson=0.3, density=2700.0, modes=1, interfaces=joints
    )
    return robot.with_flexible_body("platform", plate)
