"""A description with changed numbers: only what depends on them is checked again.

Checks are of one leg, of what is outside the legs, or of names and references. Numbers do not change the last; a leg that
says what it said before is right as it was. Where a check finds anything, the whole is checked, so that messages are the usual
ones.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from flexapod.description.check_leg import check_leg
from flexapod.description.check_plane import check_plane
from flexapod.description.check_robot import check_top
from flexapod.description.merge import merge_leg, reporter_of
from flexapod.description.problem_report import Below, Report
from flexapod.description.problems import Path
from flexapod.description.read import Description, description_from_document
from flexapod.description.schema import Leg, RobotFile
from flexapod.description.translate import validated


def with_numbers(description: Description, document: dict[str, object]) -> Description:
    """The description of a document that differs in numbers alone, in SI.

    Checked by: tests/description/test_parameters.py.
    """
    found = None if description.warnings else _changed(description, document)
    if found is not None:
        return found
    name, known = description.file.name, description.warnings
    return description_from_document(document, path=description.path, name=name, known=known)


def _changed(before: Description, document: dict[str, Any]) -> Description | None:
    """The description where all that changed is right; None where something is not."""
    report = Report(file="", document=document, lines={})
    try:
        file = RobotFile.model_validate(document)
    except ValidationError:
        return None
    legs: dict[str, Leg] = {}
    template, each = document["legs"].get("template"), document["legs"]["each"]
    own = before.document["legs"]
    same = template == own.get("template")
    if not same and isinstance(template, dict):
        validated(Leg, template, Below(report, ("legs", "template")), partial=True)
    for name, patch in each.items():
        if same and patch == own["each"][name]:
            legs[name] = before.legs[name]
            continue
        merged = merge_leg(name, template, patch, report)
        where = reporter_of(merged, report)
        leg = validated(Leg, merged.data, where)
        if leg is None:
            return None
        check_leg(leg, merged.data, where, allow_unphysical=file.allow_unphysical, planar=file.plane is not None)
        if file.plane is not None and not (report.problems or report.of_legs):
            check_plane(leg, file.plane, where)
        legs[name] = leg
    check_top(file, report)
    if report.problems or report.warnings or report.of_legs:
        return None
    return Description(
        file=file, legs=legs, document=document, written=document, path=before.path, name=str(before.path or before.file.name)
    )


def written(document: dict[str, object], path: Path, value: object) -> dict[str, Any]:
    """The document with another value at a path; parts that do not change are shared."""
    copy = dict(document)
    owner: Any = copy
    for key in path[:-1]:
        inner = owner.get(str(key)) if isinstance(owner, dict) else owner[key]
        inner = {} if inner is None else inner.copy()
        owner[str(key) if isinstance(owner, dict) else key] = inner
        owner = inner
    if path[-2:] == ("inertia", "diagonal"):
        for key in ("xx", "yy", "zz"):
            owner.pop(key, None)
    owner[path[-1]] = value
    return copy
