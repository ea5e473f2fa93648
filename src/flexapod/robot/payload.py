"""Payloads: something fixed to a body of a robot by `robot.with_payload`, written into the description as `payloads:`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.description.merge import merge_leg
from flexapod.description.problem_report import Report
from flexapod.description.read import Description, description_from_document
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def loaded_description(
    robot: Robot, mass: ArrayLike, com: ArrayLike, inertia: ArrayLike | None, body: str, name: str | None
) -> Description:
    """The robot's description with a payload; arguments as in `Robot.with_payload`.

    Raises:
        InputError: no such body, or a platform that is described by its modes.
        RobotFileError: numbers that make no payload.

    Checked by: tests/robot/test_payloads.py.
    """
    payload: dict[str, Any] = {"mass": mass, "com": com}
    if inertia is not None:
        payload["inertia"] = _tensor(inertia)
    if robot.given_body:
        raise InputError(
            f"payload: the platform of {robot.name} was given by with_flexible_body; give the load as a wrench instead"
        )
    document = copy.deepcopy(robot.description.written)
    own = _body(document, robot.description.document, body)
    payloads = own.setdefault("payloads", {})
    free = name or next(
        text for k in range(1, len(payloads) + 2) if (text := "payload" if k == 1 else f"payload{k}") not in payloads
    )
    if free in payloads:
        raise InputError(f"payload: {body} has a payload {free} already; choose another name, or change {body}.payloads.{free}")
    payloads[free] = payload
    path, known = robot.description.path, robot.description.warnings
    return description_from_document(document, path=path, name=robot.name, known=known)


def _merged(plain: dict[str, Any], leg: str) -> dict[str, Any]:
    """A leg merged with the template."""
    template, own = plain["legs"].get("template"), plain["legs"]["each"][leg]
    return merge_leg(leg, template, own, Report(file="", document=plain, lines={})).data


def _body(document: dict[str, Any], plain: dict[str, Any], body: str) -> dict[str, Any]:
    """The part of the written document that describes a body, made where a leg takes it from the template or another leg."""
    platform = document["platform"]
    if body == "platform":
        if platform.get("body") is None:
            return _rigid(platform, body)
        body = str(platform["body"])
    leg, _, part = body.partition(".")
    each = document["legs"]["each"]
    if leg not in each or not part:
        first = leg if leg in each else next(iter(each))
        example = ", ".join(["platform", *(f"{first}.{name}" for name in _merged(plain, first).get("bodies") or {})])
        raise InputError(f"payload: no body is called {body!r}; write platform, or leg.body, e.g. {example}")
    merged = _merged(plain, leg)
    bodies = merged.get("bodies") or {}
    if part not in bodies:
        names = ", ".join(f"{leg}.{name}" for name in bodies)
        rows = [str(row.get("body")) for row in merged.get("table") or ()]
        why = "belongs to a table: change its `inertial` instead" if part in rows else "does not exist"
        why = "is a joint" if part in (merged.get("joints") or {}) else why
        raise InputError(f"payload: the body {body} {why}; bodies of this leg: {names or 'none'}")
    each[leg] = dict(each[leg] or {})
    owner = each[leg]["bodies"] if part in (each[leg].get("bodies") or {}) else each[leg]
    owner[part] = dict(owner.get(part) or {})
    made: dict[str, Any] = owner[part]
    return made


def _rigid(body: dict[str, Any], name: str) -> dict[str, Any]:
    if body.get("flexible") is not None:
        raise InputError(
            f"payload: {name} is flexible, described by its modes, and cannot carry a payload, which would change them. Make it "
            "a body of a leg (platform: {body: leg.body}), which carries payloads, or give its weight as a wrench"
        )
    return body


def _tensor(value: ArrayLike) -> dict[str, Any]:
    """Three principal moments, or a symmetric (3, 3) tensor, in the words of the file."""
    if np.shape(value) != (3, 3):
        return {"diagonal": value}
    I = np.asarray(value)
    if not np.array_equal(I, I.T):
        raise InputError("payload: inertia must be symmetric")
    return {a + b: I["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
