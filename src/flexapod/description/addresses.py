"""Dotted parameter paths, such as `legs.A.cylinder.com.z`, to places in a document.

A path goes into the top of the file, into one leg (`legs.A...`) or into the template of all legs (`legs...`). A leg comes
first where its name is also that of a part and the rest of the path fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flexapod.description.merge import RESERVED, MergedLeg, merge_leg, parts_of
from flexapod.description.problem_report import Report
from flexapod.description.problems import Path, nearest
from flexapod.description.schema import Leg, RobotFile, Tensor
from flexapod.description.units import quantity_of
from flexapod.description.walk import alternatives, fields_of, is_list, model_of, step
from flexapod.errors import FlexapodError

_DIAGONAL = ("xx", "yy", "zz")
_COMPONENTS = {3: "xyz", 4: "wxyz"}


class ParameterError(FlexapodError):
    """A parameter that does not exist or cannot have a value: its `path`, `what` is wrong, and a `hint`."""

    def __init__(self, path: str, what: str, hint: str) -> None:
        super().__init__(f"{path}: {what}. {hint}")
        self.path = path
        self.what = what
        self.hint = hint

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str, str]]:
        """All three parts, for pickling."""
        return (ParameterError, (self.path, self.what, self.hint))


@dataclass(frozen=True, kw_only=True)
class Address:
    """Address of a parameter.

    `leg` is a leg's name, "" for the template, None for the top; `place` leads from the root of that (`annotation` is
    there); `component` is the index in a vector, None for the whole; `part` is how much of `place` names a joint or body.
    """

    text: str
    leg: str | None
    place: Path
    annotation: Any
    component: int | None = None
    part: int = 0


class Addresses:
    """The places of one document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.legs: dict[str, Any] = document["legs"]["each"]
        self.template: dict[str, Any] | None = document["legs"].get("template")

    @cached_property
    def merged(self) -> dict[str, MergedLeg]:
        """Every leg with the template's values."""
        report = Report(file="", document=self.document, lines={})
        return {name: merge_leg(name, self.template, patch, report) for name, patch in self.legs.items()}

    def root(self, leg: str | None) -> dict[str, Any]:
        """The data that addresses of a leg, the template or the top lead into."""
        if leg is None:
            return self.document
        return self.merged[leg].data if leg else self.template or {}

    def find(self, text: str) -> Address:
        """The place of a dotted path.

        Raises:
            ParameterError: there is no such parameter; with the nearest names.
        """
        if not isinstance(text, str) or not text:
            raise ParameterError(str(text) or "(empty)", "is not a parameter path", "Write e.g. platform.mass.")
        first, *rest = text.split(".")
        if first != "legs":
            return self._walk(text, None, RobotFile, (), [first, *rest])
        if rest and rest[0] in self.legs:
            try:
                return self._in_leg(text, rest[0], rest[1:])
            except ParameterError:
                if self.template is None or rest[0] not in parts_of(self.template):
                    raise
        if self.template is None:
            hint = nearest(rest[0] if rest else "", [*self.legs])
            raise ParameterError(text, "no leg has this name, and there is no template", hint)
        return self._in_leg(text, "", rest)

    def _in_leg(self, text: str, leg: str, keys: list[str]) -> Address:
        parts = parts_of(self.root(leg))
        if keys and keys[0] in parts and keys[0] not in RESERVED:
            return self._walk(text, leg, Leg, parts[keys[0]], keys[1:])
        if keys and keys[0] in RESERVED:
            return self._walk(text, leg, Leg, (keys[0],), keys[1:])
        names = [*parts, *RESERVED] if leg else [*self.legs, *parts, *RESERVED]
        raise ParameterError(text, "there is no such parameter", nearest(keys[0] if keys else "", names))

    def _walk(self, text: str, leg: str | None, root: object, part: Path, keys: list[str]) -> Address:
        annotation, place = root, part
        for key in part:
            annotation = step(annotation, key)
        value: Any = self.root(leg)
        for key in part:
            value = value[key] if isinstance(key, int) else value.get(key) if isinstance(value, dict) else None
        part_length = len(part)
        for position, key in enumerate(keys):
            inner = value if isinstance(value, dict) else {}
            if is_list(annotation) and quantity_of(annotation) is not None:
                if position < len(keys) - 1:
                    break
                index = self._component(text, annotation, value, key)
                return Address(text=text, leg=leg, place=place, annotation=annotation, component=index, part=part_length)
            model = model_of(annotation)
            if model is not None and issubclass(model, Tensor) and key in _DIAGONAL and isinstance(inner.get("diagonal"), list):
                place, value, index = (*place, "diagonal"), inner["diagonal"], _DIAGONAL.index(key)
                annotation = step(annotation, "diagonal")
                if position < len(keys) - 1:
                    break
                return Address(text=text, leg=leg, place=place, annotation=annotation, component=index, part=part_length)
            valid = [*fields_of(model)] if model is not None else [*inner]
            valid += [k for k in inner if k not in valid]
            if key not in valid and not (model is not None and step(annotation, key) is not None):
                raise ParameterError(text, f"there is no parameter {key[:64]!r} here", nearest(key, _leading(annotation, valid)))
            annotation, place, value = step(annotation, key), (*place, key), inner.get(key)
        else:
            if quantity_of(annotation) is not None:
                return Address(text=text, leg=leg, place=place, annotation=annotation, part=part_length)
            model = model_of(annotation)
            valid = [*fields_of(model)] if model else [*value] if isinstance(value, dict) else []
            hint = f"Go on with one of {', '.join(valid[:12])}." if valid else "Only quantities are parameters."
            raise ParameterError(text, "is not a number or a vector", hint)
        raise ParameterError(text, f"goes on after {'.'.join(text.split('.')[:-1])}", "Stop there: it is a number.")

    @staticmethod
    def _component(text: str, annotation: object, value: object, key: str) -> int:
        size = len(value) if isinstance(value, list) else fixed_length(annotation)
        letters = _COMPONENTS.get(size, "")
        if key in letters and len(key) == 1:
            return letters.index(key)
        if key.isdecimal() and key.isascii() and len(key) < 4 and int(key) < size:
            return int(key)
        names = [*letters] if letters else [str(i) for i in range(size)]
        raise ParameterError(text, f"a vector has no component {key[:64]!r}", nearest(key, names))

    def document_path(self, address: Address) -> Path:
        """Path at which to write a value: the leg's own entry for `legs.A...`, made if it is missing."""
        if address.leg is None:
            return address.place
        if address.leg == "":
            return ("legs", "template", *address.place)
        part, rest = address.place[: address.part], address.place[address.part :]
        origin = self.merged[address.leg].origins.get(part, ())
        here: Path = ("legs", "each", address.leg)
        if origin[:3] == here:
            return (*origin, *rest)
        row = self.merged[address.leg].data["table"][part[1]]["body"] if part[0] == "table" and part[1:] else part[-1]
        return (*here, str(row), *rest)

    def own_legs(self, place: Path) -> list[str]:
        """Legs that give their own value at a place of the template."""
        owners = {name: leg.origins.get(place, ()) for name, leg in self.merged.items()}
        return [name for name, origin in owners.items() if origin[:2] == ("legs", "each")]


def _leading(annotation: object, names: list[str]) -> list[str]:
    """The names under a place that are quantities or lead to some; texts, flags and words are no parameters."""
    found = []
    for name in names:
        kind = step(annotation, name)
        if kind is None or quantity_of(kind) is not None or model_of(kind) is not None or step(kind, "any") is not None:
            found.append(name)
    return found


def fixed_length(annotation: object) -> int:
    """The number of entries that a list must have; 0 if it is free."""
    for _, marks in alternatives(annotation):
        for mark in marks:
            for rule in getattr(mark, "metadata", [mark]):
                if (length := getattr(rule, "max_length", None)) is not None:
                    return int(length)
    return 0
