"""The legs of a file: the template merged with the values of each leg, every value traced to its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flexapod.description.problem_report import LegReport, Report
from flexapod.description.problems import Path, nearest
from flexapod.description.schema import Leg
from flexapod.description.units import describe
from flexapod.description.walk import fields_of

COPY_WORDS = ("copy", "mirrored", "rotated")
"""Keys of a leg in `each` that are resolved before legs are merged."""

RESERVED = tuple(key for key in fields_of(Leg) if key not in COPY_WORDS)
"""Keys of a leg that are not names of its joints and bodies."""

_DIAGONAL = ("xx", "yy", "zz")
_PAIRS = ({"axis", "angle"}, {"toward_x", "toward_z"})


@dataclass(frozen=True, kw_only=True)
class MergedLeg:
    """One leg, complete. `origins` maps its paths to those of the document, `targets` the names that it patched."""

    name: str
    data: dict[str, Any]
    origins: dict[Path, Path]
    targets: dict[str, Path]


def parts_of(leg: Mapping[str, object]) -> dict[str, Path]:
    """The names that a leg may patch, and where they are in it: joints, bodies, table rows (`3` or `q3`)."""
    parts: dict[str, Path] = {}
    table = leg.get("table")
    for i, row in enumerate(table if isinstance(table, list) else []):
        if isinstance(row, dict) and isinstance(row.get("body"), str | int | float):
            body = getattr(row["body"], "text", str(row["body"]))
            parts.setdefault(body, ("table", i))
            parts.setdefault(f"q{body}", ("table", i))
    for group in ("bodies", "joints"):
        members = leg.get(group)
        for name in members if isinstance(members, dict) else ():
            parts[name] = (group, name)
    return parts


def merge_leg(name: str, template: object, patch: object, report: Report) -> MergedLeg:
    """The template with one leg's own values; names that fit nothing are reported."""
    origins: dict[Path, Path] = {}
    targets: dict[str, Path] = {}
    here: Path = ("legs", "each", name)
    base = template if isinstance(template, dict) else {}
    data = _copy(base, (), ("legs", "template"), origins)
    origins[()] = here
    patch = patch if isinstance(patch, dict) else {}
    for key in [k for k in patch if k in RESERVED]:
        data[key] = _merge(data.get(key), patch[key], (key,), (*here, key), origins)
        targets[key] = (key,)
    parts = parts_of(data)
    for key in [k for k in patch if k not in RESERVED]:
        value = patch[key]
        if key not in parts:
            if not report.full:
                report.error(
                    (*here, key),
                    "no joint, body or table row has this name",
                    nearest(key, [*parts, *RESERVED]),
                )
            continue
        if parts[key] in targets.values():
            report.error((*here, key), "this part is given twice", "Use either the body's name or its joint's, once.")
            continue
        targets[key] = parts[key]
        if value is None:
            continue
        if not isinstance(value, dict):
            report.error(
                (*here, key),
                f"must be a mapping, is {describe(value)}",
                "Write the fields that differ: {at: ...}.",
            )
            continue
        *above, last = parts[key]
        owner: Any = data
        for step in above:
            owner = owner[step]
        owner[last] = _merge(owner[last], value, parts[key], (*here, key), origins)
    return MergedLeg(name=name, data=data, origins=origins, targets=targets)


def merged_values(base: object, patch: object) -> Any:
    """A value of a leg with other values over it, as a leg's own go over the template's."""
    return _merge(base, patch, ("",), ("",), {})


def reporter_of(merged: MergedLeg, report: Report) -> LegReport:
    """Reports on the merged leg by the lines of the file."""
    return LegReport(report, merged.name, merged.origins)


def _copy(value: object, path: Path, source: Path, origins: dict[Path, Path]) -> Any:
    origins[path] = source
    if isinstance(value, dict):
        return {k: _copy(v, (*path, k), (*source, k), origins) for k, v in value.items()}
    if isinstance(value, list):
        return [_copy(v, (*path, i), (*source, i), origins) for i, v in enumerate(value)]
    return value


def _merge(base: object, patch: object, path: Path, source: Path, origins: dict[Path, Path]) -> Any:
    """Mappings merged, everything else replaced; another form of the same thing replaces the template's."""
    if not (isinstance(base, dict) and isinstance(patch, dict)):
        return _copy(patch, path, source, origins)
    origins[path] = source
    if path[-1] == "inertia" and set(_DIAGONAL) & set(patch):
        base = _spelled_out(base, path, origins)
    merged = {k: v for k, v in base.items() if k not in _superseded(path, base, patch)}
    for key, value in patch.items():
        here, there = (*path, key), (*source, key)
        merged[key] = _merge(base[key], value, here, there, origins) if key in merged else _copy(value, here, there, origins)
    return merged


def _superseded(path: Path, base: Mapping[str, object], patch: Mapping[str, object]) -> set[str]:
    """Keys of the template that another form in the patch replaces: rotations, and `diagonal` against xx, yy, ..."""
    if path[-1] == "rotation" or path[-2:-1] == ("frames",):
        kept = next((pair for pair in _PAIRS if pair & set(patch)), set(patch))
        return set(base) - kept
    return set(_DIAGONAL) if path[-1] == "inertia" and "diagonal" in patch else set()


def _spelled_out(base: dict[str, object], path: Path, origins: dict[Path, Path]) -> dict[str, Any]:
    """An inertia with `diagonal` written as xx, yy, zz, so that a leg can change one of them."""
    diagonal = base.get("diagonal")
    if not isinstance(diagonal, list) or len(diagonal) != 3:
        return base
    for i, key in enumerate(_DIAGONAL):
        origins[(*path, key)] = origins.get((*path, "diagonal", i), path)
    rest = {key: value for key, value in base.items() if key != "diagonal"}
    return rest | dict(zip(_DIAGONAL, diagonal, strict=True))
