"""Checks of one joint: the fields that its type needs, refuses or limits; whether its units fit its motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexapod.description.friction import GUIDES, LAWS
from flexapod.description.joint_types import DOF, DRIVEN, MOTIONS, words_of
from flexapod.description.problem_report import Below, Reporter
from flexapod.description.rotations import apply, check_rotation, is_zero, parallel, rotation_matrix
from flexapod.description.schema import Friction, Joint, Limits, Row
from flexapod.description.unit_parser import UnitError, parse_quantity, parse_unit
from flexapod.description.units import unit_of

if TYPE_CHECKING:
    from pydantic import BaseModel

_AXES = ("axis", "axis_on", "axis1", "axis2", "direction", "cross", "pitch")


def _two_units() -> dict[str, tuple[str, str]]:
    fields = [pair for model in (Joint, Row, Limits, Friction) for pair in model.model_fields.items()]
    units = {name: unit_of(field).split(" or ") for name, field in fields}
    return {name: (found[0], found[1]) for name, found in units.items() if len(found) == 2}


LINEAR_AND_ANGULAR = _two_units()
"""Fields whose unit depends on the joint: for a joint that slides, and for one that rotates."""


def given_fields(model: BaseModel) -> set[str]:
    """Fields that the file gives a value."""
    return {name for name in model.model_fields_set if getattr(model, name) is not None}


def check_joint(joint: Joint, closing: bool, report: Reporter) -> None:
    """Report the errors of a joint by itself. `closing`: it leads to the platform or to another leg."""
    given = given_fields(joint)
    used = words_of(joint.type)
    for name in _AXES:
        if name in given and name not in used:
            hint = f"Use {' and '.join(used[:2])} instead." if used else "Remove it."
            report.error((name,), f"does not belong to a {joint.type} joint", hint)
    for name in ("on", "axis_on"):
        if name in given and not closing:
            report.error((name,), "belongs to joints that close a loop", "Remove it; this joint carries its own body.")
    for name in ("axis", "axis_on", "axis1", "axis2", "direction"):
        vector = getattr(joint, name)
        if isinstance(vector, list) and is_zero(vector):
            report.error((name,), "is zero, so it has no direction", "Write e.g. [0, 0, 1].")
    rotation_right = check_rotation(joint.rotation, Below(report, ("rotation",)))
    if joint.type == "universal":
        _check_universal(joint, given, closing, rotation_right, report)
    elif used and "axis" not in given:
        report.error(("axis",), f"is missing: a {joint.type} joint needs it", "Write e.g. axis: [0, 0, 1].")
    if "rotation" in given and closing and joint.type in ("spherical", "universal"):
        report.error(("rotation",), f"has no meaning for a closing {joint.type} joint", "Remove it.")
    if joint.type == "screw" and not joint.pitch:
        why = "is zero: the screw would not advance" if "pitch" in given else "is missing: a screw joint needs it"
        report.error(("pitch",), why, "Write e.g. pitch: 5 mm.")
    _check_motion(joint, given, closing, report)
    check_spring(joint, given, report)
    check_limits(joint.limits, Below(report, ("limits",)))
    check_friction(joint.friction, joint.type, report)


def _check_motion(joint: Joint, given: set[str], closing: bool, report: Reporter) -> None:
    if joint.actuated and joint.type not in DRIVEN:
        what = f"a {joint.type} joint cannot be actuated"
        report.error(("actuated",), what, "Actuate a revolute, prismatic or screw joint.")
    if joint.type == "free" and closing:
        report.error(("type",), "a free joint holds nothing, so that it closes no loop", "Remove the joint.")
    if joint.type in ("fixed", "free"):
        for name in ("zero", "start", "limits", "friction", "inertia")[2 * (joint.type == "free") :]:
            if name in given:
                report.error((name,), f"does not belong to a {joint.type} joint", "Remove it.")
    count = DOF[joint.type]
    if isinstance(joint.start, list) and len(joint.start) != count and count:
        report.error(
            ("start",), f"must have {count} number{'s' * (count > 1)}, has {len(joint.start)}", "One for each coordinate."
        )


def check_spring(joint: Joint, given: set[str], report: Reporter) -> None:
    """Report words of springs and bump stops that act on nothing."""
    if "rest" in given and not joint.stiffness:
        report.error(("rest",), "has no meaning without a spring", "Write stiffness too, or preload for a constant force.")
    if "rest" in given and joint.actuated:
        report.error(("rest",), "has no meaning for a drive through a spring, which deflects from zero", "Write preload instead.")
    if joint.limits is not None and joint.limits.stop and DOF[joint.type] != 1 and joint.type != "screw":
        report.error(("limits", "stop"), f"does not belong to a {joint.type} joint", "Split it into joints with one coordinate.")
    for name in {"rest", "preload"} & given:
        if DOF[joint.type] != 1:
            report.error((name,), f"does not belong to a {joint.type} joint", "It belongs to revolute and prismatic joints.")


def _check_universal(joint: Joint, given: set[str], closing: bool, rotation_right: bool, report: Reporter) -> None:
    if "axis1" not in given:
        report.error(("axis1",), "is missing: a universal joint needs it", "Write e.g. axis1: [1, 0, 0].")
    if closing:
        if "axis2" not in given:
            report.error(("axis2",), "is missing: a closing universal joint needs it", "Write e.g. axis2: [0, 1, 0].")
        if "direction" in given:
            report.error(("direction",), "does not belong to a closing joint", "Write axis2 instead.")
        return
    if ("axis2" in given) == ("direction" in given):
        what = "has both axis2 and direction" if "axis2" in given else "needs axis2 or direction"
        report.error((), what, "Write direction: home, a direction, or axis2: exactly one of them.")
        return
    if "direction" in given and "rotation" in given:
        report.error(("rotation",), "cannot be given together with direction", "Remove one of them.")
    if joint.axis1 is None or is_zero(joint.axis1) or not rotation_right:
        return
    if isinstance(joint.direction, list) and not is_zero(joint.direction) and parallel(joint.axis1, joint.direction):
        report.error(("direction",), "is parallel to axis1", "The leg must point across its first axis.")
    if joint.axis2 is not None and not is_zero(joint.axis2):
        rotated = apply(rotation_matrix(joint.rotation), joint.axis2)
        if parallel(joint.axis1, rotated):
            report.error(("axis2",), "is parallel to axis1", "Choose axis2 across axis1.")


def check_limits(limits: Limits | None, report: Reporter) -> None:
    """Report a stroke whose ends are exchanged or equal, and bump stops without a stroke."""
    if limits is not None and limits.stop and limits.stroke is None:
        report.error(("stop",), "needs a stroke, at whose ends it acts", "Write e.g. stroke: [-0.1, 0.1].")
    if limits is not None and limits.stroke is not None and limits.stroke[0] >= limits.stroke[1]:
        low, high = limits.stroke
        report.error(
            ("stroke",),
            f"must go from small to large, is [{low:g}, {high:g}]",
            "Write the smaller end first.",
        )


def check_friction(friction: Friction | None, kind: str, report: Reporter) -> None:
    """Report friction that the type of joint cannot have."""
    if friction is None:
        return
    given = given_fields(friction)
    places = {name: law.joints for name, law in LAWS.items()} | {"normal_rule": "guide"}
    for name, place in places.items():
        fits = kind in GUIDES if place == "guide" else kind not in ("prismatic", "fixed") if place == "bearing" else True
        if name in given and not fits:
            report.error(("friction", name), f"does not belong to a {kind} joint", f"It is friction of a {place}.")


def check_units(data: object, kind: str, report: Reporter) -> None:
    """Report quantities written with a unit of the other motion: `5 mm` for an angle.

    Args:
        data: the joint as it is written.
        kind: its type.
        report: where problems go.
    """
    if not isinstance(data, dict):
        return
    parts = [((), data), (("limits",), data.get("limits")), (("friction",), data.get("friction"))]
    for prefix, part in parts:
        for name, value in part.items() if isinstance(part, dict) else ():
            for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                where = (*prefix, name) if index is None else (*prefix, name, index)
                if wrong := misfit(item, name, kind):
                    report.error(where, *wrong)


def own_unit(name: str, kind: str) -> str:
    """Unit of a field of a joint whose unit depends on its type; empty where the field or the type leaves it open."""
    motions = {motion for motion, _ in MOTIONS.get(kind, ())}
    if name not in LINEAR_AND_ANGULAR or not (len(motions) == 1 or kind == "screw"):  # the drive of a screw rotates it
        return ""
    return LINEAR_AND_ANGULAR[name]["R" in motions]


def misfit(value: object, name: str, kind: str) -> tuple[str, str] | None:
    """Error in the unit of a value of a joint, and a hint; None where it fits."""
    unit = own_unit(name, kind)
    if not unit or _fits(value, unit):
        return None
    return f"{str(getattr(value, 'text', value)).strip()} does not fit a {kind} joint", f"Write it in {unit}."


def _fits(value: object, unit: str) -> bool:
    """Whether a written value has the unit; numbers without a unit do."""
    wanted = parse_unit(unit)[1]
    try:
        found = parse_quantity(value)[1] if isinstance(value, str) else getattr(value, "dimension", None)
    except UnitError:
        return True  # reported already
    if found is None:
        return True
    return found == wanted or (found[:3] == wanted[:3] and wanted[3] < 0)
