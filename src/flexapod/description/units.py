"""Quantities of the robot file as pydantic types: SI numbers, or strings with a unit of the right dimension."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from flexapod.description.expressions import EXPRESSION_PATTERN, Shared, unit_text
from flexapod.description.unit_parser import (
    DIMENSIONLESS,
    LARGEST,
    Dimension,
    UnitError,
    parse_quantity,
    parse_unit,
    shorten,
)

QUANTITY_PATTERN = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*[A-Za-zµμ°%][^#]*$"
NAME_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
REFERENCE_PATTERN = r"^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64})?$"
COORDINATE_PATTERN = r"^[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,64}(\.[1-6])?$"


class Written(float):
    """A float that remembers how it was written, so that the reference `1.10` (leg 1, body 10) is not 1.1."""

    text: str

    def __new__(cls, value: float, text: str) -> Written:
        """The float `value`, written as `text`."""
        self = super().__new__(cls, value)
        self.text = text
        return self

    def __deepcopy__(self, memo: object) -> Written:
        return self

    def __reduce__(self) -> tuple[type[Written], tuple[float, str]]:
        return (Written, (float(self), self.text))


def refuse(what: str, hint: str) -> PydanticCustomError:
    """A pydantic error in our words; `hint` says what would be right."""
    return PydanticCustomError("flexapod", "{what}", {"what": what, "hint": hint})


@dataclass(frozen=True)
class Quantity:
    """Marks a float as a quantity. `unit` is what a bare number means; alternatives are separated by ` or `."""

    unit: str
    minimum: float | None = None
    above: float | None = None
    also: str = ""
    label: str = ""

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Dimensions that a written unit may have."""
        alternatives = [u for u in (self.unit + " or " + self.also).split(" or ") if u]
        return tuple(parse_unit("" if u == "1" else u)[1] for u in alternatives)

    @property
    def shown(self) -> str:
        """The unit for people."""
        return self.label or self.unit

    def _hint(self) -> str:
        if self.unit == "1":
            return "Write a number without a unit."
        return f"Write a number in {self.shown}, or a number with its unit."

    def convert(self, value: object) -> float:
        """The SI number of a value of the file.

        Raises:
            PydanticCustomError: with `what` and `hint`.
        """
        if isinstance(value, Shared) and value.dimension is not None and value.dimension not in self.dimensions:
            raise refuse(f"{shorten(value.text)} is in {unit_text(value.dimension)}: it must be {self.shown}", self._hint())
        if isinstance(value, str):
            number = self._from_text(value)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise refuse(f"must be a number, is {describe(value)}", self._hint())
        else:
            try:
                number = float(value)
            except OverflowError:
                number = float("inf")
        if number != number or number in (float("inf"), float("-inf")):
            raise refuse("must be a finite number", self._hint())
        if abs(number) > LARGEST:
            raise refuse(f"{number:g} is too large", f"Numbers go up to {LARGEST:g}.")
        if self.minimum is not None and number < self.minimum:
            raise refuse(f"must not be below {self.minimum:g}, is {number:g}", f"Write {self.minimum:g} or more.")
        if self.above is not None and number <= self.above:
            raise refuse(f"must be above {self.above:g}, is {number:g}", f"Write more than {self.above:g}.")
        return number

    def _from_text(self, text: str) -> float:
        try:
            number, dimension = parse_quantity(text)
        except UnitError as error:
            raise refuse(error.what, error.hint) from None
        if dimension in self.dimensions:
            return number
        if dimension == DIMENSIONLESS:
            raise refuse(
                f"{shorten(text)} has no unit",
                f"Write the unit, or {text.strip()} without quotes for {self.shown}.",
            )
        raise refuse(f"{shorten(text)} has the wrong unit: it must be {self.shown}", self._hint())

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validation by `convert`."""
        return core_schema.no_info_plain_validator_function(self.convert)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A number, or a string with a unit."""
        number: dict[str, Any] = {"type": "number", "maximum": LARGEST, "minimum": -LARGEST}
        if self.minimum is not None:
            number["minimum"] = self.minimum
        if self.above is not None:
            del number["minimum"]
            number["exclusiveMinimum"] = self.above
        shared = {"type": "string", "pattern": EXPRESSION_PATTERN}
        if self.unit == "1":
            return {"anyOf": [number, shared], "description": "number without a unit"}
        text = {"type": "string", "pattern": QUANTITY_PATTERN}
        return {"anyOf": [number, text, shared], "description": f"number in {self.shown}, or a string with a unit"}


class AnyQuantity(Quantity):
    """A number of any unit."""

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """None: `convert` accepts them all."""
        return ()

    def convert(self, value: object) -> float:
        """The SI number."""
        if isinstance(value, Shared):
            return float(value)
        try:
            return parse_quantity(value)[0] if isinstance(value, str) else super().convert(value)
        except UnitError as error:
            raise refuse(error.what, error.hint) from None

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A number, or any text with a unit or names."""
        patterns = [{"type": "string", "pattern": pattern} for pattern in (QUANTITY_PATTERN, EXPRESSION_PATTERN)]
        return {"anyOf": [{"type": "number"}, *patterns], "description": "number in SI, or a string with a unit or with names"}


def describe(value: object) -> str:
    """Kind of value in the words of the robot file."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return shorten(value)


@dataclass(frozen=True)
class Word:
    """Marks a string as a name or a reference; whole numbers are read as names too, so that a leg may be called 1."""

    pattern: str
    kind: str
    example: str

    def convert(self, value: object) -> str:
        """The name as a string.

        Raises:
            PydanticCustomError: with `what` and `hint`.
        """
        if isinstance(value, Written):
            value = value.text
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
            value = str(value)
        hint = f"Write e.g. {self.example}."
        if not isinstance(value, str):
            raise refuse(f"must be {self.kind}, is {describe(value)}", hint)
        if re.fullmatch(self.pattern.strip("^$"), value) is None:
            raise refuse(f"{shorten(value)} is not {self.kind} (1 to 64 letters a to z or A to Z, digits, _ and -)", hint)
        return value

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validation by `convert`."""
        return core_schema.no_info_plain_validator_function(self.convert)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A string with a pattern, or a whole number."""
        return {
            "anyOf": [{"type": "string", "pattern": self.pattern}, {"type": "number"}],
            "description": self.kind,
        }


Name = Annotated[str, Word(NAME_PATTERN, "a name", "cylinder")]
Reference = Annotated[str, Word(REFERENCE_PATTERN, "a body, platform or leg.body", "platform")]
CoordinateName = Annotated[str, Word(COORDINATE_PATTERN, "leg.joint or leg.joint.number", "A.crank")]

Length = Annotated[float, Quantity("m")]
LengthSize = Annotated[float, Quantity("m", minimum=0.0)]
Size = Annotated[float, Quantity("m", above=0.0)]
Area = Annotated[float, Quantity("m^2", above=0.0)]
AreaMoment = Annotated[float, Quantity("m^4", above=0.0)]
Angle = Annotated[float, Quantity("rad")]
AngleSize = Annotated[float, Quantity("rad", minimum=0.0)]
Mass = Annotated[float, Quantity("kg", minimum=0.0)]
InertiaValue = Annotated[float, Quantity("kg m^2")]
Moment = Annotated[float, Quantity("kg m")]
MassOrInertia = Annotated[float, Quantity("kg or kg m^2", minimum=0.0)]
Velocity = Annotated[float, Quantity("m/s", minimum=0.0)]
AngularVelocity = Annotated[float, Quantity("rad/s", minimum=0.0)]
Acceleration = Annotated[float, Quantity("m/s^2")]
AccelerationSize = Annotated[float, Quantity("m/s^2", minimum=0.0)]
AngularAcceleration = Annotated[float, Quantity("rad/s^2", minimum=0.0)]
Density = Annotated[float, Quantity("kg/m^3", above=0.0)]
Stress = Annotated[float, Quantity("Pa", above=0.0)]
Power = Annotated[float, Quantity("W", minimum=0.0)]
Number = Annotated[float, Quantity("1")]
Fraction = Annotated[float, Quantity("1", minimum=0.0)]
SharedNumber = Annotated[float, AnyQuantity("1", label="any unit")]
Coordinate = Annotated[float, Quantity("m or rad")]
Rate = Annotated[float, Quantity("m/s or rad/s", above=0.0)]
Force = Annotated[float, Quantity("N or N m", minimum=0.0)]
SignedForce = Annotated[float, Quantity("N")]
SignedForceOrTorque = Annotated[float, Quantity("N or N m")]
SpringRate = Annotated[float, Quantity("N/m", minimum=0.0)]
DamperRate = Annotated[float, Quantity("N s/m", minimum=0.0)]
Viscous = Annotated[float, Quantity("N s/m or N m s/rad", minimum=0.0, also="N m s")]
Stiffness = Annotated[float, Quantity("N/m or N m/rad", minimum=0.0, also="N m")]


def quantity_of(annotation: object) -> Quantity | None:
    """The `Quantity` inside a type or a pydantic field, through lists, unions and `Annotated`; None if there is none."""
    if isinstance(annotation, Quantity):
        return annotation
    if isinstance(annotation, FieldInfo):
        return next((m for m in annotation.metadata if isinstance(m, Quantity)), None) or quantity_of(annotation.annotation)
    if get_origin(annotation) is dict:
        return None
    return next((q for q in map(quantity_of, get_args(annotation)) if q is not None), None)


def unit_of(annotation: object) -> str:
    """The SI unit of a type of this module, of a list of it, or of a pydantic field; empty where there is no quantity."""
    quantity = quantity_of(annotation)
    return "" if quantity is None else quantity.shown
