"""The JSON Schema of the robot file, for completion and checks in editors."""

from __future__ import annotations

import copy
from typing import Any

from pydantic.json_schema import models_json_schema

from flexapod.calls import checked
from flexapod.description.schema import Leg, PolarDirection, PolarPoint, RobotFile
from flexapod.description.units import NAME_PATTERN, unit_of
from flexapod.description.walk import fields_of

_EULER = "^([xyz]{1,3}|[XYZ]{1,3})$"
_PARTS = ("Leg", "Joint", "Row", "Flexible", "Section", "Body", "Payload")


@checked
def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12). A quantity is a number in SI or a string with a unit; descriptions name the unit.

    It checks less than `read_robot_file`: keys, types and units, not how legs are connected.
    """
    _, schema = models_json_schema(
        [(model, "validation") for model in (RobotFile, Leg, PolarPoint, PolarDirection)],
        ref_template="#/$defs/{model}",
        title="flexapod robot file",
    )
    definitions = schema["$defs"]
    _add_units(definitions)
    rotation = definitions["Rotation"]
    angles = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    rotation["patternProperties"] = {_EULER: {"anyOf": [angles, {"type": "array", "items": angles, "maxItems": 3}]}}
    rotation["additionalProperties"] = False
    for name in _PARTS:
        definitions[f"{name}Part"] = _partial(definitions[name])
    legs = definitions["Legs"]["properties"]
    legs["template"] = {
        "anyOf": [{"$ref": "#/$defs/LegPart"}, {"type": "null"}],
        "default": None,
        "description": legs["template"]["description"],
    }
    patch = {key: value for key, value in definitions["LegPart"]["properties"].items()}
    part = {"anyOf": [{"$ref": f"#/$defs/{name}Part"} for name in ("Joint", "Body", "Row")] + [{"type": "null"}]}
    legs["each"] = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": NAME_PATTERN},
        "additionalProperties": {"type": ["object", "null"], "properties": patch, "additionalProperties": part},
        "description": legs["each"]["description"],
    }
    top = definitions.pop("RobotFile")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **top,
        "title": "flexapod robot file",
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _add_units(definitions: dict[str, Any]) -> None:
    """Name the unit in the description of every field that is a quantity."""
    from flexapod.description import schema as module

    for name, definition in definitions.items():
        for key, field in fields_of(getattr(module, name)).items():
            unit = unit_of(field)
            if unit and unit != "1":
                described = definition["properties"][key]
                described["description"] = f"{field.description or key} [{unit}]"


def _partial(definition: dict[str, object]) -> dict[str, Any]:
    """The same without required keys, down to the parts: for templates and for what differs per leg."""
    part = copy.deepcopy(definition)
    part.pop("required", None)
    partial: dict[str, Any] = _refer_to_parts(part)
    return partial


def _refer_to_parts(value: object) -> Any:
    if isinstance(value, dict):
        reference = value.get("$ref", "").removeprefix("#/$defs/") if isinstance(value.get("$ref"), str) else ""
        if reference in _PARTS:
            return value | {"$ref": f"#/$defs/{reference}Part"}
        return {key: _refer_to_parts(item) for key, item in value.items()}
    return [_refer_to_parts(item) for item in value] if isinstance(value, list) else value
