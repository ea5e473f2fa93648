"""Vectors of the robot file: three numbers, polar forms, the word `home`; and fields that are one coordinate or several."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from flexapod.description.schema_flexible import Model
from flexapod.description.units import Angle, Coordinate, Length, Number, quantity_of, refuse


class PolarPoint(Model):
    """A point by radius and angle about z, in place of three coordinates."""

    radius: Length = Field(description="distance from the z axis")
    angle: Angle = Field(default=0.0, description="about z, from x towards y")
    height: Length = Field(default=0.0, description="along z")
    offset: Length = Field(
        default=0.0, description="along the tangent, in the direction of growing angles: half the spacing of a pair"
    )


class PolarDirection(Model):
    """A direction by its angle about z, in place of three components."""

    azimuth: Angle = Field(description="about z, from x towards y")
    elevation: Angle = Field(default=0.0, description="above the xy plane")


def _quantities(model: type[Model]) -> dict[str, Any]:
    return {name: quantity_of(field) for name, field in model.model_fields.items()}


POLAR_POINT, POLAR_DIRECTION = _quantities(PolarPoint), _quantities(PolarDirection)
"""Words of the polar forms, with the quantities that they are."""


class OrPolar:
    """Marks a vector that may also be written in polar form; it is a vector by the time it is validated."""

    def __init__(self, form: type[Model]) -> None:
        self.form = form

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The vector, or a mapping of its words."""
        return {"anyOf": [handler(schema), {"$ref": f"#/$defs/{self.form.__name__}"}]}


Position = Annotated[list[Length], Field(min_length=3, max_length=3), OrPolar(PolarPoint)]
Direction = Annotated[list[Number], Field(min_length=3, max_length=3), OrPolar(PolarDirection)]


class HomeOrDirection:
    """Marks a field that is the word `home` or a direction."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """The word, else three numbers."""

        def validate(value: object, direction: core_schema.ValidatorFunctionWrapHandler) -> Any:
            if isinstance(value, str) and value != "home":
                raise refuse(f"must be `home` or 3 numbers, is {value[:40]!r}", "Write home, or e.g. [0, 0, 1].")
            return value if value == "home" else direction(value)

        return core_schema.no_info_wrap_validator_function(validate, handler.generate_schema(Direction))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.WrapValidatorFunctionSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """JSON schema of the field: the word `home` or the value."""
        return {"anyOf": [{"const": "home"}, handler(schema["schema"])]}


class OneOrMore:
    """Marks a field that is one coordinate or a list of them."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """A list where a list is given, else one quantity."""
        several = Annotated[list[Coordinate], Field(min_length=1, max_length=3)]
        one = handler.generate_schema(Coordinate)
        return core_schema.tagged_union_schema(
            {"list": handler.generate_schema(several), "one": one},
            lambda value: "list" if isinstance(value, list) else "one",
        )
