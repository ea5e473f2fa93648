"""Errors of pydantic as messages of flexapod: what is wrong, what would be right, the nearest valid names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from flexapod.description.problem_report import Reporter
from flexapod.description.problems import Path, nearest
from flexapod.description.schema import Rotation
from flexapod.description.unit_parser import shorten
from flexapod.description.units import describe, unit_of
from flexapod.description.walk import fields_of, is_list, literals_of, model_of, step, type_at

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)

MOST_ERRORS = 200
_EULER = re.compile(r"[xyz]{1,3}|[XYZ]{1,3}")


def validated(model: type[M], data: object, reporter: Reporter, *, partial: bool = False) -> M | None:
    """The data as a model, or None with the problems reported.

    Args:
        model: the type that is wanted.
        data: plain data.
        reporter: where problems go, paths relative to the data.
        partial: missing keys are no problem (the template of the legs).
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [e for e in error.errors(include_url=False) if not (partial and e["type"] == "missing")]
        for problem in problems[:MOST_ERRORS]:
            path, what, hint = translate(model, problem)
            reporter.error(path, what, hint)
        return None


def is_euler(key: object) -> bool:
    """Whether a key of a rotation is an Euler sequence such as `XYZ`, without the same letter twice in a row."""
    return isinstance(key, str) and _EULER.fullmatch(key) is not None and not re.search(r"(.)\1", key)


def rotation_names() -> list[str]:
    """Valid keys of a rotation."""
    return [*fields_of(Rotation), "XYZ", "xyz"]


def translate(model: type[BaseModel], error: ErrorDetails) -> tuple[Path, str, str]:
    """Path, message and a hint, from one of pydantic's errors."""
    path = _path(error["loc"])
    for end in range(1, len(path) + 1):
        if model_of(type_at(model, path[: end - 1])) is Rotation and not (
            path[end - 1] in fields_of(Rotation) or is_euler(path[end - 1])
        ):
            return path[:end], "unknown key", nearest(str(path[end - 1]), rotation_names())
    return _words(model, path, error)


def translate_value(annotation: object, error: ErrorDetails) -> tuple[str, str]:
    """Message and hint from one of pydantic's errors about a single value of some type."""
    return _words(annotation, _path(error["loc"]), error)[1:]


def _words(model: object, path: Path, error: ErrorDetails) -> tuple[Path, str, str]:
    kind, given, context = error["type"], error.get("input"), error.get("ctx", {})
    wanted = type_at(model, path)
    if kind == "flexapod":
        return path, str(context["what"]), str(context["hint"])
    if kind == "missing":
        return path, "is missing", _missing_hint(model, path)
    if kind == "extra_forbidden":
        owner = model_of(type_at(model, path[:-1]))
        return path, "unknown key", nearest(str(path[-1]), list(fields_of(owner)) if owner else [])
    if kind == "literal_error":
        words = [str(word) for word in literals_of(wanted)]
        if len(words) <= 3:
            return path, f"must be {' or '.join(words)}, is {describe(given)}", f"Write {' or '.join(words)}."
        return path, f"{describe(given)} is not an allowed value", nearest(shorten(given), words)
    if kind in ("too_short", "too_long"):
        return path, *_wrong_length(wanted, context, given)
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than"):
        limit = next(iter(context.values()))
        word = "at least" if kind.startswith("greater") else "at most"
        return path, f"must be {word} {limit}, is {describe(given)}", f"Write a number {word} {limit}."
    wanted_type, hint = _WRONG_TYPE.get(kind, ("something else", "See the reference of the robot file."))
    return path, f"must be {wanted_type}, is {describe(given)}", hint


_WRONG_TYPE = {
    "list_type": ("a list", "Write e.g. [0, 0, 1]."),
    "dict_type": ("a mapping", "Write keys with values below it, or {key: value}."),
    "string_type": ("text", 'Put it in quotes: "...".'),
    "bool_type": ("true or false", "Write true or false."),
    "int_type": ("a whole number", "Write e.g. 1."),
}
_WRONG_TYPE["model_type"] = _WRONG_TYPE["model_attributes_type"] = _WRONG_TYPE["dict_type"]
_WRONG_TYPE["int_from_float"] = _WRONG_TYPE["int_parsing"] = _WRONG_TYPE["int_type"]
_EXAMPLES = {2: "[-0.5, 0.5]", 3: "[0, 0, 1]", 4: "[1, 0, 0, 0]"}


def _wrong_length(wanted: object, context: Mapping[str, int], given: object) -> tuple[str, str]:
    short = "min_length" in context
    length = context["min_length"] if short else context["max_length"]
    size = len(given) if isinstance(given, list | dict) else 0
    if isinstance(given, dict):
        return f"must have at least {length} entry, has {size}", "Write at least one leg, e.g. `A: {}`."
    if unit_of(wanted) == "" or model_of(wanted) is not None:
        word = "at least" if short else "at most"
        return f"must have {word} {length} entries, has {size}", "Add or remove entries."
    if is_list(step(wanted, 0)):
        return f"must have {length} rows, has {size}", f"Write {length} lists of {length} numbers."
    return f"must have {length} numbers, has {size}", f"Write e.g. {_EXAMPLES.get(length, '[0]')}."


def _missing_hint(model: object, path: Path) -> str:
    owner = model_of(type_at(model, path[:-1]))
    field = fields_of(owner).get(str(path[-1])) if owner else None
    if field is None:
        return "Add it."
    words = [str(word) for word in literals_of(type_at(model, path))]
    unit = unit_of(field)
    detail = f": {field.description}" if field.description else ""
    detail += f" [{unit}]" if unit not in ("", "1") else ""
    detail += f"; one of {', '.join(words)}" if len(words) > 1 else f", `{path[-1]}: {words[0]}`" if words else ""
    return f"Add `{path[-1]}`{detail}."


def _path(loc: tuple[str | int, ...]) -> Path:
    """The path of the document: without what pydantic adds for keys and for alternatives."""
    return tuple(k for i, k in enumerate(loc) if not (k == "[key]" or (k in ("list", "one") and i and loc[i - 1] == "start")))
