"""A robot with estimated numbers: inertial data of bodies, drive inertias and friction written into its file.

Bodies are written as `base_parameters` (table rows: `inertial`): mass, first moments and tensor about the frame origin.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.description.read import description_from_document
from flexapod.equations.regressor import INERTIAL
from flexapod.robot.robot import build_robot

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

KHALIL = dict(zip(INERTIAL, ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "XZ", "YZ"), strict=True))
INSTEAD = ("mass", "com", "inertia", "base_parameters", "payloads")
"""Keys that `base_parameters` replaces."""


def identified_robot(robot: Robot, names: Sequence[str], theta: NDArray[np.float64], source: str) -> Robot:
    """The robot with other numbers.

    Args:
        names: of parameters, as a `LinearModel` has them with ``legs="each"``.
        theta: their values; what is not named stays as in the file.
        source: how they were found, added to the file's own source.

    Checked by: tests/identification/test_identify.py.
    """
    document = copy.deepcopy(robot.description.document)
    given = dict(zip(names, map(float, theta), strict=True))
    own = _body(given, "platform")
    if own is not None:
        platform = {k: v for k, v in document["platform"].items() if k not in INSTEAD}
        document["platform"] = {**platform, "base_parameters": own}
    template = document["legs"].get("template") or {}
    changed: set[str] = set()
    for leg in robot.legs:
        each = document["legs"]["each"]
        each[leg.name] = dict(each[leg.name] or {})
        for link in leg.links:
            if link.body is not None:
                body = link.body.name.split(".")[-1]
                own = _body(given, f"legs.{leg.name}.{body}")
                if own is not None and (any(own.values()) or link.body.mass):
                    _write_body(each[leg.name], template, body, own)
                    changed.add(body)
            key, field = (link.joint[1:], "IA") if link.from_table else (link.joint, "inertia")
            rotor = given.get(f"legs.{leg.name}.{link.joint}.inertia")
            if rotor is not None and link.actuated and (rotor or link.inertia):
                each[leg.name][key] = {**(each[leg.name].get(key) or {}), field: rotor}
            _write_friction(each[leg.name], key, given, f"legs.{leg.name}.{link.joint}.friction")
        _write_friction(each[leg.name], leg.closing.joint, given, f"legs.{leg.name}.{leg.closing.joint}.friction")
    for body, data in (template.get("bodies") or {}).items():
        if body in changed and data:
            template["bodies"][body] = {k: v for k, v in data.items() if k not in INSTEAD}
    document["source"] = f"{document['source']}; {source}"
    return build_robot(
        description_from_document(document, path=robot.description.path), robot.zeros & _still_zero(robot, given), robot.plan
    )


def _still_zero(robot: Robot, given: Mapping[str, float]) -> frozenset[str]:
    """Structural zeros that are no inertial data: estimated numbers are hardly ever exactly zero."""
    keys = (".mass", ".first_moment.", ".inertia.", ".rotor", ".friction.")
    return frozenset(name for name in robot.zeros if not any(key in name for key in keys))


def _body(given: Mapping[str, float], prefix: str) -> dict[str, float] | None:
    if f"{prefix}.mass" not in given:
        return None
    return {short: given[f"{prefix}.{name}"] for name, short in KHALIL.items()}


def _write_body(leg: dict[str, Any], template: dict[str, Any], body: str, own: dict[str, float]) -> None:
    """Into the leg's own part: as table row, or as a body."""
    rows = [row.get("body") for row in [*(template.get("table") or []), *(leg.get("table") or [])]]
    here = dict(leg.get(body) or {})
    if body in map(str, rows):
        leg[body] = {**here, "inertial": own}
        return
    if body in (leg.get("bodies") or {}):
        data = {k: v for k, v in (leg["bodies"][body] or {}).items() if k not in INSTEAD}
        leg["bodies"] = {**leg["bodies"], body: {**data, "base_parameters": own}}
        return
    leg[body] = {**{k: v for k, v in here.items() if k not in INSTEAD}, "base_parameters": own}


def _write_friction(leg: dict[str, Any], key: str, given: Mapping[str, float], prefix: str) -> None:
    found = {name.removeprefix(f"{prefix}."): value for name, value in given.items() if name.startswith(f"{prefix}.")}
    if not found:
        return
    if key in (leg.get("joints") or {}):
        joint = leg["joints"][key]
        leg["joints"] = {**leg["joints"], key: {**joint, "friction": {**(joint.get("friction") or {}), **found}}}
        return
    here = dict(leg.get(key) or {})
    leg[key] = {**here, "friction": {**(here.get("friction") or {}), **found}}
