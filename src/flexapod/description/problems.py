"""Problems of a robot file: place, what is wrong, what would be right; all of them in one error."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flexapod.errors import FlexapodError, FlexapodWarning

Path = tuple[str | int, ...]
"""Keys and indices from the top of a document to a value."""

MOST_SHOWN = 50


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One problem. `path` is written as in the parameter lists: `legs.A.rail.axis`."""

    file: str
    line: int | None
    path: str
    what: str
    hint: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        """`file:line: path: what. hint`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.path}: {self.what}. {self.hint}"


class RobotFileError(FlexapodError):
    """A robot file that cannot be used, with every problem found in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:MOST_SHOWN]]
        if len(self.problems) > MOST_SHOWN:
            lines.append(f"and {len(self.problems) - MOST_SHOWN} more problems.")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[RobotFileError], tuple[tuple[Problem, ...]]]:
        return (RobotFileError, (self.problems,))


class RobotFileWarning(FlexapodWarning):
    """A robot file that can be used, but has suspicious contents, such as an impossible inertia."""


def readable_name(name: str) -> str:
    """A name as it can be shown in a message: short, printable, never empty."""
    shown = name if name.isprintable() and name.strip() else repr(name)
    return shown if len(shown) <= 64 else shown[:61] + "..."


def dotted(path: Path) -> str:
    """A path as text: keys with dots, indices in brackets; `(top)` for the document itself."""
    text = ""
    for key in path:
        part = readable_name(str(key))
        text += f"[{key}]" if isinstance(key, int) else f".{part}" if text else part
    return (text if len(text) <= 200 else text[:197] + "...") or "(top)"


def nearest(word: str, valid: list[str], *, longest_list: int = 13) -> str:
    """A hint with the nearest valid names, and all of them where they are few."""
    valid = [readable_name(name) for name in valid[:1000]]
    near = difflib.get_close_matches(word[:80], valid, n=3, cutoff=0.6)
    hint = f"Did you mean {' or '.join(near)}?" if near else ""
    if 0 < len(valid) <= longest_list:
        hint = f"{hint} Valid: {', '.join(valid)}.".strip()
    elif not near and valid:
        hint = f"Valid are e.g. {', '.join(valid[:longest_list])}."
    return hint or "Nothing is valid here; leave it out."
