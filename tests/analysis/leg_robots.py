"""Robots with flexible legs for these tests: loaded once, coordinates of the references in the robots' order, variants."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.description import description_from_document
from flexapod.robot.geometry import rotation_matrix
from flexapod.robot.robot import build_robot

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
REFERENCE = json.loads((DATA / "dualemps.json").read_text())
WITH_FRICTION = json.loads((DATA / "dualemps-friction.json").read_text())
ORDER = ["13.u", "13.v", "13.theta", "23.u", "23.v", "23.theta", "16.u", "16.v", "16.theta"]
"""Elastic coordinates of DualEMPS as the reference orders them."""


@cache
def robot(name: str) -> fp.Robot:
    """By name: a file of the tests, or the catalogue."""
    file = DATA / f"{name}.yaml"
    return fp.load(file if file.exists() and name != "dualemps" else name)


def arranged(values: Any) -> np.ndarray:
    """Numbers in the reference's order as `dualemps` orders its elastic coordinates."""
    return np.asarray(values)[[ORDER.index(name) for name in robot("dualemps").elastic_names]]


def whole(values: Any) -> np.ndarray:
    """Matrix or column over actuators and elastic coordinates, likewise, by all axes."""
    array = np.asarray(values)
    order = [0, 1, *(2 + ORDER.index(name) for name in robot("dualemps").independent[2:])]
    return array[np.ix_(*[order] * array.ndim)]


def home_actuators(of: fp.Robot) -> np.ndarray:
    return np.concatenate([leg.home for leg in of.legs])[list(of.driven)]


def moment(q: Any, qd: Any = None, qdd: Any = None) -> fp.ActuatorMotion:
    """One moment of an actuator motion, or one per row."""
    q = np.atleast_2d(np.asarray(q, dtype=float))
    rates = [np.zeros_like(q) if x is None else np.atleast_2d(np.asarray(x, dtype=float)) for x in (qd, qdd)]
    return fp.ActuatorMotion(time=np.arange(float(len(q))), position=q, velocity=rates[0], acceleration=rates[1])


def relabelled(of: fp.Robot) -> fp.Robot:
    """The same robot with other names of its legs, in the opposite order."""
    data = copy.deepcopy(of.description.document)
    data["legs"]["each"] = {f"leg-{name}": leg for name, leg in reversed(list(data["legs"]["each"].items()))}
    if "body" in data["platform"]:
        data["platform"]["body"] = "leg-" + data["platform"]["body"]
    return build_robot(description_from_document(data))


def in_another_world(of: fp.Robot, shift: np.ndarray, Q: np.ndarray) -> fp.Robot:
    """The same robot written in a world whose axes and origin are elsewhere: p_new = Q p + shift."""
    data = copy.deepcopy(of.description.document)
    for name, leg in of.description.legs.items():
        R, p = Q @ rotation_matrix(leg.frame.rotation), Q @ np.array(leg.frame.position) + shift
        data["legs"]["each"][name]["frame"] = {"position": p.tolist(), "rotation": {"matrix": R.tolist()}}
    rotation = {"matrix": (Q @ of.home.rotation).tolist()}
    data["home"] = {"position": (Q @ of.home.position + shift).tolist(), "rotation": rotation}
    data["gravity"] = (Q @ of.gravity).tolist()
    return build_robot(description_from_document(data))


def share(found: Any, expected: Any) -> float:
    """Largest difference, of the largest expected entry."""
    expected = np.asarray(expected)
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())
