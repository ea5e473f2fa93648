"""Data from Python as plain data, as if read from a file: dicts with string keys, lists, numbers, text; bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexapod.description.problems import Path, Problem, RobotFileError, dotted
from flexapod.description.yaml_reader import DEEPEST, MOST_NODES


def count(data: object) -> int:
    """Number of values in plain data."""
    if isinstance(data, dict):
        return 1 + sum(map(count, data.values()))
    return 1 + sum(map(count, data)) if isinstance(data, list) else 1


def plain_data(document: Mapping[str, object], file: str) -> dict[str, Any]:
    """A plain copy of nested mappings and sequences.

    Raises:
        RobotFileError: too deep (or a cycle), too large, not a mapping, or a key that is no string.
    """
    left = [MOST_NODES]

    def refuse(path: Path, what: str, hint: str) -> RobotFileError:
        return RobotFileError([Problem(file=file, line=None, path=dotted(path), what=what, hint=hint)])

    def copy(value: object, path: Path) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise refuse(path, f"more than {MOST_NODES} values", "A robot has a few hundred.")
        if len(path) > DEEPEST:
            raise refuse(path, f"nested deeper than {DEEPEST} levels", "Check that no value contains itself.")
        if isinstance(value, Mapping):
            for key in value:
                if not isinstance(key, str):
                    raise refuse(path, f"the key {key!r:.40} is not text", "Write keys as strings.")
            return {key: copy(item, (*path, key)) for key, item in value.items()}
        if hasattr(value, "tolist"):  # NumPy arrays and numbers
            value = value.tolist()
        if isinstance(value, str) and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise refuse(path, "is not Unicode text", "Remove the lone surrogates.")
        if isinstance(value, list | tuple):
            return [copy(item, (*path, i)) for i, item in enumerate(value)]
        return value

    if not isinstance(document, Mapping):
        raise refuse((), "the top must be a mapping of keys", "Start with `flexapod: 1`.")
    data: dict[str, Any] = copy(document, ())
    return data
