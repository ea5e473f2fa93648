"""Legs in `each` that are copies of others, rotated about z or mirrored in a plane, written out as legs of their own.

A copy has the values of its source; then it is mirrored, then rotated; what it says itself comes last, in its own axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from flexapod.description.merge import COPY_WORDS, merge_leg, merged_values
from flexapod.description.mirror import MirrorError, mirrored_leg
from flexapod.description.plain_data import count
from flexapod.description.problem_report import Report
from flexapod.description.problems import Path, nearest
from flexapod.description.rotations import about, apply, compose, rotation_matrix
from flexapod.description.schema import Frame, Leg
from flexapod.description.units import describe, quantity_of
from flexapod.description.walk import fields_of, literals_of
from flexapod.description.yaml_reader import MOST_NODES

FRAMES = ("frame", "platform_frame")
_ANGLE = quantity_of(fields_of(Leg)["rotated"])
_PLANES = literals_of(fields_of(Leg)["mirrored"].annotation)


def with_copies(data: dict[str, object], shared: dict[Path, float], report: Report) -> dict[str, Any]:
    """The data with every copy written out; mistakes are reported.

    Args:
        data: of a file whose numbers are resolved.
        shared: gets the angles of `rotated` by their paths.

    Checked by: tests/description/test_leg_copies.py.
    """
    legs = data.get("legs")
    each = legs.get("each") if isinstance(legs, dict) else None
    if not isinstance(legs, dict) or not isinstance(each, dict):
        return data
    template = legs.get("template")
    for word in _words(template, template):
        report.error(("legs", "template", word), "belongs to a leg in `each`", "Write it there.")
    own = {name: _words(patch, template) for name, patch in each.items()}
    if not any(own.values()):
        return data
    done: dict[str, Any] = {name: patch for name, patch in each.items() if not own[name]}
    size = count(template) * len(each) + sum(map(count, done.values()))
    waiting = [name for name in each if own[name]]
    while waiting:
        ready = [name for name in waiting if own[name].get("copy", name) in done or "copy" not in own[name]]
        for name in ready:
            source = done[own[name]["copy"]] if "copy" in own[name] else {}
            size += count(source) + count(template)
            if size > MOST_NODES:
                report.error(("legs", "each", name), f"more than {MOST_NODES} values in all legs together", "Copy fewer legs.")
                return data
            done[name] = _written_out(name, each[name], template, source, shared, report)
        waiting = [name for name in waiting if name not in ready]
        if not ready:
            for name in waiting:
                _report_source(name, own[name]["copy"], each, report)
                done[name] = {key: value for key, value in each[name].items() if key not in own[name]}
            break
    return {**data, "legs": {**legs, "each": {name: done[name] for name in each}}}


def _words(patch: object, template: object) -> dict[str, Any]:
    """The words of a copy that a leg has; a joint or body of that name is none."""
    found = patch if isinstance(patch, dict) else {}
    return {word: found[word] for word in COPY_WORDS if word in found and not isinstance(found[word], dict | list | None)}


def _report_source(name: str, source: object, each: Mapping[str, object], report: Report) -> None:
    here: Path = ("legs", "each", name, "copy")
    if source in each:
        report.error(here, f"copies itself through {source}", "Write one of these legs out.")
    else:
        report.error(here, f"no leg is called {describe(source)}", nearest(str(source), [n for n in each if n != name]))


def _written_out(
    name: str,
    patch: Mapping[str, object],
    template: object,
    source: Mapping[str, object] | None,
    shared: dict[Path, float],
    report: Report,
) -> dict[str, Any]:
    here: Path = ("legs", "each", name)
    words = _words(patch, template)
    rest = {key: value for key, value in patch.items() if key not in words}
    made: dict[str, Any] = dict(source or {})
    if "mirrored" in words or "rotated" in words:
        for key in FRAMES:
            if key in rest:
                what = f"cannot be given together with {' and '.join(w for w in ('mirrored', 'rotated') if w in words)}"
                report.error((*here, key), what, "Write the frame without them, or change the leg that is copied.")
                return rest
    if "mirrored" in words:
        plane = words["mirrored"]
        if plane not in _PLANES or "copy" not in words:
            what = f"must be one of {', '.join(_PLANES)}" if "copy" in words else "mirrors a leg that `copy` names"
            report.error((*here, "mirrored"), what, "Write e.g. {copy: A, mirrored: xz}.")
            return rest
        try:
            made = mirrored_leg(merge_leg(name, template, made, report).data, plane)
        except MirrorError as error:
            report.error((*here, "mirrored"), str(error), "Write the leg out.")
            return rest
        except ValidationError:
            return rest  # the leg that is copied is reported
    if "rotated" in words:
        try:
            assert _ANGLE is not None
            angle = _ANGLE.convert(words["rotated"])
        except PydanticCustomError as error:
            context = error.context or {}
            report.error((*here, "rotated"), str(context["what"]), str(context["hint"]))
            return rest
        shared[(*here, "rotated")] = angle
        made |= _rotated_frames(template, made, angle)
    written: dict[str, Any] = merged_values(made, rest)
    return written


def _rotated_frames(template: object, patch: Mapping[str, object], angle: float) -> dict[str, Any]:
    """Both frames of a leg rotated about z: as an angle where they are rotations about z, else as matrix and position."""
    base = template if isinstance(template, dict) else {}
    found: dict[str, Any] = {}
    for key in FRAMES:
        frame = merged_values(base.get(key) or {}, patch.get(key) or {})
        try:
            known = Frame.model_validate(frame)
        except (ValidationError, TypeError):
            continue  # reported where it is written
        rotation = frame.get("rotation") or {}
        if not any(known.position) and set(rotation) <= {"Z"}:
            before = (known.rotation.model_extra or {}).get("Z", [0.0])[0] if known.rotation is not None else 0.0
            found[key] = {"rotation": {"Z": before + angle}}
            continue
        about_z = about((0.0, 0.0, 1.0), angle)
        matrix = compose(about_z, rotation_matrix(known.rotation))
        found[key] = {"position": list(apply(about_z, known.position)), "rotation": {"matrix": [list(row) for row in matrix]}}
    return found
