"""Collects the problems of one file, and knows the line and the readable path of every place in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from flexapod.description.problems import Path, Problem, dotted

MOST_PROBLEMS = 200

Severity = Literal["error", "warning"]


class Reporter(Protocol):
    """Reports of a check: paths are relative to what it checks."""

    def error(self, path: Path, what: str, hint: str) -> None:
        """Report a problem."""

    def warn(self, path: Path, what: str, hint: str) -> None:
        """Report a warning."""


@dataclass(kw_only=True)
class Report:
    """The problems of one file so far."""

    file: str
    document: Mapping[str, Any]
    lines: Mapping[Path, int]
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    of_legs: dict[tuple[Severity, Path, str, str], list[LegReport]] = field(default_factory=dict)
    _seen: set[tuple[int | None, str, str]] = field(default_factory=set)

    @property
    def full(self) -> bool:
        """Enough problems: looking for more would only cost time."""
        return len(self.problems) >= MOST_PROBLEMS

    def line(self, path: Path) -> int | None:
        """Line of a path, or of the nearest part above it."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def readable(self, path: Path) -> str:
        """A path as in parameter lists: `legs.A.rail.axis`, `legs.rail.axis` for the template."""
        if path[:2] == ("legs", "each") and len(path) > 2:
            return dotted(("legs", *path[2:3], *self._within_leg(path[:3], path[3:])))
        if path[:2] == ("legs", "template"):
            short = ("legs", *self._within_leg(path[:2], path[2:]))
            return "legs.template" if len(short) == 1 else dotted(short)
        return dotted(path)

    def _within_leg(self, leg: Path, path: Path) -> Path:
        if len(path) > 1 and path[0] in ("joints", "bodies"):
            return path[1:]
        if len(path) > 1 and path[0] == "table" and isinstance(path[1], int):
            body = self._value((*leg, *path[:2], "body"))
            return path if body is None else (str(body), *path[2:])
        return path

    def _value(self, path: Path) -> Any:
        value: Any = self.document
        try:
            for key in path:
                value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
        return value

    def gather_legs(self, legs: int) -> None:
        """Move the problems of merged legs to those of the file; a problem that all `legs` inherit is reported once, for the
        template."""
        for (severity, path, what, hint), reports in self.of_legs.items():
            inherited = (
                path
                and isinstance(self._value(("legs", "template", *path[:2])), dict)
                and (path not in reports[0].origins or isinstance(self._value(("legs", "template", *path)), dict))
            )
            if inherited and len(reports) == legs > 1:
                self._add(("legs", "template", *path), what, hint, severity)
                continue
            for report in reports:
                self._add(report.place(path), what, hint, severity)
        self.of_legs.clear()

    def error(self, path: Path, what: str, hint: str) -> None:
        """Report a problem at a path of the document."""
        self._add(path, what, hint, "error")

    def warn(self, path: Path, what: str, hint: str) -> None:
        """Report a warning at a path of the document."""
        self._add(path, what, hint, "warning")

    def _add(self, path: Path, what: str, hint: str, severity: Severity) -> None:
        if path and isinstance(path[-1], int) and not isinstance(self._value(path[:-1]), list | dict):
            path = path[:-1]  # one angle written without the brackets of a list
        line, text = self.line(path), self.readable(path)
        target = self.problems if severity == "error" else self.warnings
        if (line, text, what) in self._seen or len(target) >= MOST_PROBLEMS:
            return
        self._seen.add((line, text, what))
        target.append(Problem(file=self.file, line=line, path=text, what=what, hint=hint, severity=severity))


@dataclass(frozen=True)
class LegReport:
    """Reports on a merged leg: a place in it is traced to the leg's own lines or to the template."""

    report: Report
    leg: str
    origins: Mapping[Path, Path]

    def place(self, path: Path) -> Path:
        """Path in the document of a path in the merged leg."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.origins:
                return (*self.origins[path[:end]], *path[end:])
        return ("legs", "each", self.leg, *path)

    def error(self, path: Path, what: str, hint: str) -> None:
        """Report a problem at a path of the merged leg."""
        self.report.of_legs.setdefault(("error", path, what, hint), []).append(self)

    def warn(self, path: Path, what: str, hint: str) -> None:
        """Report a warning at a path of the merged leg."""
        self.report.of_legs.setdefault(("warning", path, what, hint), []).append(self)


@dataclass(frozen=True)
class Below:
    """Reports on a part: its paths are below `prefix`."""

    reporter: Reporter
    prefix: Path

    def error(self, path: Path, what: str, hint: str) -> None:
        """Report a problem at a path of the part."""
        self.reporter.error((*self.prefix, *path), what, hint)

    def warn(self, path: Path, what: str, hint: str) -> None:
        """Report a warning at a path of the part."""
        self.reporter.warn((*self.prefix, *path), what, hint)
