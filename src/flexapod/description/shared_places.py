"""Parameter paths that exist only in the written file: `parameters.base`, `legs.A.hip.at.radius`, `legs.B.rotated`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_core import PydanticCustomError

from flexapod.description.addresses import ParameterError
from flexapod.description.expressions import is_expression, unit_text
from flexapod.description.leg_copies import FRAMES
from flexapod.description.problems import Path, nearest
from flexapod.description.read import Description
from flexapod.description.schema import Leg, PolarDirection, PolarPoint
from flexapod.description.unit_parser import UnitError, parse_quantity
from flexapod.description.units import SharedNumber, quantity_of, unit_of
from flexapod.description.walk import fields_of

_WORDS = {**fields_of(PolarPoint), **fields_of(PolarDirection), "rotated": fields_of(Leg)["rotated"]}


@dataclass(frozen=True, kw_only=True)
class SharedPlace:
    """A number of the written file: its dotted path, its place, SI value, unit and meaning."""

    text: str
    path: Path
    value: float
    unit: str
    doc: str

    def checked(self, value: object) -> Any:
        """A new value as it is written: a number, a text with a unit or an expression.

        Raises:
            ParameterError: of the wrong kind or unit.
        """
        if is_expression(value):
            return value  # judged with the names that it refers to
        quantity = quantity_of(SharedNumber if self.path[0] == "parameters" else _WORDS[str(self.path[-1])])
        assert quantity is not None
        try:
            number = quantity.convert(value)
        except PydanticCustomError as error:
            context = error.context or {}
            raise ParameterError(self.text, str(context["what"]), str(context["hint"])) from None
        return value if self.path[0] == "parameters" and isinstance(value, str) else number


class SharedPlaces:
    """The shared numbers of one description."""

    def __init__(self, description: Description) -> None:
        self.description = description

    @cached_property
    def places(self) -> dict[str, SharedPlace]:
        """Every place by its dotted path."""
        found = {}
        for path, value in self.description.shared.items():
            text = _dotted(path)
            if path[0] == "parameters":
                unit, doc = _unit(self.description.written["parameters"][path[1]]), "shared number"
            else:
                word = _WORDS[str(path[-1])]
                unit, doc = unit_of(word), word.description or ""
            found[text] = SharedPlace(text=text, path=path, value=value, unit=unit, doc=doc)
        return found

    def find(self, text: str) -> SharedPlace | None:
        """The place of a dotted path; None where it is a number of the plain document.

        Raises:
            ParameterError: no parameter of that name.
        """
        if not isinstance(text, str):
            return None
        if text.startswith("parameters.") and text not in self.places:
            names = [str(path[1]) for path in self.description.shared if path[0] == "parameters"]
            raise ParameterError(text, "there is no parameter of this name", nearest(text[11:], names) or "Write it in the file.")
        return self.places.get(text)

    def replace(self, place: Path) -> bool:
        """Whether a number of the plain document comes from `rotated` or `mirrored` and cannot be set by itself."""
        if len(place) < 4 or place[3] not in FRAMES:
            return False
        written = self.description.written["legs"]["each"][place[2]] or {}
        return any(isinstance(written.get(word), str | float | int) for word in ("rotated", "mirrored"))


def _dotted(path: Path) -> str:
    """Dotted path of a place, as lists of parameters have it: `legs.A.hip.at.radius`, `legs.hip.at.radius` of the template."""
    keys = [str(key) for key in path]
    if keys[:2] in (["legs", "each"], ["legs", "template"]):
        end = 3 if keys[1] == "each" else 2
        inner = keys[end + 1 :] if keys[end : end + 1] in (["joints"], ["bodies"]) else keys[end:]
        keys = ["legs", *keys[2:end], *inner]
    return ".".join(keys)


def _unit(given: object) -> str:
    """SI unit of a parameter that is written with one."""
    if not isinstance(given, str) or is_expression(given):
        return ""
    try:
        return unit_text(parse_quantity(given)[1])
    except UnitError:
        return ""
