"""Reading a robot file: text to plain data to validated models, with all problems reported at once."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from flexapod.calls import check_path_kind, check_text, checked, fields_alone, refuse_kind, users_level
from flexapod.description.check_leg import LegEnds, check_leg
from flexapod.description.check_plane import check_plane
from flexapod.description.check_robot import check_files, check_together, check_top
from flexapod.description.leg_copies import with_copies
from flexapod.description.merge import MergedLeg, merge_leg, reporter_of
from flexapod.description.plain_data import count, plain_data
from flexapod.description.problem_report import Below, LegReport, Report
from flexapod.description.problems import Path, Problem, RobotFileError, RobotFileWarning, dotted
from flexapod.description.schema import Leg, RobotFile
from flexapod.description.shared_numbers import resolved
from flexapod.description.translate import validated
from flexapod.description.walk import plain, type_at
from flexapod.description.yaml_reader import LARGEST_FILE, MOST_NODES, read_yaml

if TYPE_CHECKING:
    from flexapod.description.addresses import Addresses

MOST_LEGS = 100
REMEMBERED = 16
"""Files that are remembered, as long as their contents do not change."""

_remembered: dict[tuple[bytes | str, str, str], Description] = {}


@dataclass(frozen=True, kw_only=True)
class Description:
    """A robot file that was read and found right. Equal descriptions say the same, wherever they are written."""

    file: RobotFile
    """The file as validated; `legs.template` and `legs.each` are plain data in it."""
    legs: dict[str, Leg]
    """Each leg complete: the template with the leg's own values, in file order."""
    document: dict[str, Any]
    """Contents of the file as plain data: quantities in SI, names as strings; shared numbers and copies of legs written out."""
    written: dict[str, Any]
    """The contents with shared numbers and copies as they are written; `document` itself where there are none."""
    shared: Mapping[Path, float] = field(default_factory=dict)
    """Values of the numbers that are only in `written`, by path: parameters, polar forms, angles of rotated legs."""
    lines: Mapping[Path, int] = field(default_factory=dict, compare=False)
    """Line of every path of the document."""
    warnings: tuple[Problem, ...] = field(default=(), compare=False)
    path: FilePath | None = field(default=None, compare=False)
    """Place of the file; None if it was given as text or data."""
    name: str = field(default="robot", compare=False)
    """Name of the file in messages."""

    @cached_property
    def addresses(self) -> Addresses:
        """Places of the document by dotted paths of parameters."""
        from flexapod.description.addresses import Addresses

        return Addresses(self.document)

    __getstate__ = fields_alone

    def place(self, path: Path) -> str:
        """`file:line` of a path of the document, or of the nearest part above it; empty where the file's lines are unknown."""
        known = [self.lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.lines]
        return f"{self.name}:{known[0]}" if known else ""


def check_description(name: str, value: object) -> None:
    """Refuse what is not a description."""
    if not isinstance(value, Description):
        refuse_kind(name, "a Description (read_robot_file gives one; robot.description is one)", value)


@checked(path=check_path_kind)
def read_robot_file(path: str | os.PathLike[str]) -> Description:
    """Read a robot file.

    Args:
        path: of the YAML file.
    Returns:
        `Description`: the validated robot file; `write_robot_file` and `robot_text` take it.
    Raises:
        RobotFileError: the file cannot be read or is wrong; it carries every problem.
    Warns:
        RobotFileWarning: once, with all that is suspicious but usable.
    """
    name = os.fspath(path)
    try:
        # Only regular files, asked of what was opened: a pipe or a device would wait or never end.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise RobotFileError([_unreadable(name, "is not a file")])
            content = stream.read(LARGEST_FILE + 1)
    except IsADirectoryError:
        raise RobotFileError([_unreadable(name, "is not a file")]) from None
    except (OSError, ValueError) as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise RobotFileError([_unreadable(name or "(no name)", what)]) from None
    return _read(content, name, FilePath(path))


def read_robot_text(text: str, *, name: str = "robot") -> Description:
    """Read the text of a robot file; `name` represents the file in messages. Raises and warns as `read_robot_file`."""
    return _read(text, name, None)


@checked(path=check_path_kind, name=check_text)
def description_from_document(
    document: Mapping[str, object],
    *,
    path: FilePath | None = None,
    name: str = "robot",
    known: tuple[Problem, ...] = (),
) -> Description:
    """Check plain data as if it had been read from a file.

    Args:
        document: what a robot file says, as nested dicts and lists; NumPy numbers and arrays are welcome.
        path: the robot file that it belongs to, for the files beside it.
        name: represents the file in messages.
        known: warnings that were given before and are not repeated.
    Returns:
        `Description`: the validated robot file.

    Raises and warns as `read_robot_file`; lines are unknown.
    """
    file = str(path) if path is not None else name
    return _check(plain_data(document, file), {}, file, path, known)


def problem_at(description: Description, path: Path, what: str, hint: str) -> Problem:
    """A problem of a description that shows up after reading, at a path of its document."""
    name = str(description.path) if description.path is not None else "robot"
    line = next((description.lines[path[:k]] for k in range(len(path), 0, -1) if path[:k] in description.lines), None)
    return Problem(file=name, line=line, path=dotted(path), what=what, hint=hint)


def _unreadable(name: str, what: str) -> Problem:
    return Problem(file=name, line=None, path="(file)", what=what, hint="Give the path of a robot file (.yaml).")


def _read(content: bytes | str, name: str, path: FilePath | None) -> Description:
    """Read and check a file; the last valid files are remembered by their contents and not checked again."""
    key = (content, name, str(path))
    if key in _remembered:
        return _remembered[key]
    read = read_yaml(content, name)
    found = _check(read.data, read.lines, name, path)
    if not found.warnings and not _names_files(found):
        _remembered[key] = found
        while len(_remembered) > REMEMBERED:
            _remembered.pop(next(iter(_remembered)), None)
    return found


def _names_files(description: Description) -> bool:
    """Other files belong to the robot, whose place is checked every time."""
    bodies: list[Any] = [
        description.file.platform,
        *(body for leg in description.legs.values() for body in [*leg.bodies.values(), *leg.table]),
    ]
    return any(body.flexible is not None and body.flexible.file is not None for body in bodies)


def _check(
    data: dict[str, Any], lines: Mapping[Path, int], name: str, path: FilePath | None, known: tuple[Problem, ...] = ()
) -> Description:
    raw = data
    report = Report(file=name, document=data, lines=lines)
    numbers = resolved(data, report)
    data = report.document = with_copies(numbers.data, numbers.shared, report)
    file = validated(RobotFile, data, report)
    merged = _merged_legs(data, report)
    reports = {leg.name: reporter_of(leg, report) for leg in merged}
    legs: dict[str, Leg] = {}
    ends: dict[str, LegEnds] = {}
    allowed = {"allow_unphysical": data.get("allow_unphysical") is True, "planar": data.get("plane") is not None}
    for part in merged:
        leg = None if report.full else validated(Leg, part.data, reports[part.name])
        if leg is not None:
            legs[part.name] = leg
            ends[part.name] = check_leg(leg, part.data, reports[part.name], **allowed)
    report.gather_legs(len(merged))
    if file is not None:
        check_top(file, report)
        if len(legs) == len(file.legs.each):
            check_together(file, ends, reports, report)
            _check_planes(file, legs, reports, report)
            check_files(file, legs, reports, report, path)
            report.gather_legs(len(merged))
    if report.problems or file is None:
        raise RobotFileError(sorted(report.problems, key=lambda p: p.line or 0))
    found = tuple(report.warnings)
    reported = {(warning.path, warning.what) for warning in known}
    if new := [str(warning) for warning in found if (warning.path, warning.what) not in reported]:
        warnings.warn(RobotFileWarning("\n".join(new)), stacklevel=users_level())
    document = _plain_document(data, merged)
    file = RobotFile.model_validate(document)
    written = document if data is raw else _plain_document(raw, merged)
    if "parameters" in written:
        written["parameters"] = {key: v if isinstance(v, str) else float(v) for key, v in raw["parameters"].items()}
    return Description(
        file=file, legs=legs, document=document, written=written, shared=numbers.shared, lines=lines, warnings=found, path=path,
        name=name,
    )  # fmt: skip


def _check_planes(file: RobotFile, legs: dict[str, Leg], reports: dict[str, LegReport], report: Report) -> None:
    if file.plane is not None and not report.problems:
        for name, leg in legs.items():
            check_plane(leg, file.plane, reports[name])


def _merged_legs(data: Mapping[str, object], report: Report) -> list[MergedLeg]:
    """Every leg merged with the template, as far as the file has them; bounded in number and size."""
    legs = data.get("legs")
    each = legs.get("each") if isinstance(legs, dict) else None
    if not isinstance(legs, dict) or not isinstance(each, dict):
        return []
    template = legs.get("template")
    if len(each) > MOST_LEGS:
        report.error(("legs", "each"), f"has {len(each)} legs, more than {MOST_LEGS}", "Write fewer legs.")
        return []
    if count(template) * len(each) + count(each) > MOST_NODES:
        report.error(("legs",), f"more than {MOST_NODES} values in all legs together", "Shorten the template.")
        return []
    if isinstance(template, dict):
        validated(Leg, template, Below(report, ("legs", "template")), partial=True)
    return [merge_leg(name, template, patch, report) for name, patch in each.items() if isinstance(patch, dict | None)]


def _plain_document(data: dict[str, Any], merged: list[MergedLeg]) -> dict[str, Any]:
    """The file's data with quantities in SI and names as strings."""
    document: dict[str, Any] = plain(data, RobotFile)
    legs = data["legs"]
    if legs.get("template") is not None:
        document["legs"]["template"] = plain(legs["template"], Leg)
    for leg in merged:
        patch = legs["each"][leg.name] or {}
        document["legs"]["each"][leg.name] = {
            key: plain(value, type_at(Leg, leg.targets[key])) if key in leg.targets else value for key, value in patch.items()
        }
    return document
