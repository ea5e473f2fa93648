"""What is generated from the schema: JSON Schema and reference page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flexapod.description import read_robot_text, schema
from flexapod.description.json_schema import json_schema
from flexapod.description.reference_page import example, models, reference_page, title
from flexapod.description.walk import fields_of
from flexapod.description.yaml_reader import read_yaml


def test_json_schema_is_deterministic_and_complete() -> None:
    first = json.dumps(json_schema())
    assert first == json.dumps(json_schema())
    definitions = json_schema()["$defs"]
    for model in models():
        if model is not schema.RobotFile:
            assert set(definitions[model.__name__]["properties"]) == set(fields_of(model))


def test_json_schema_names_units() -> None:
    definitions = json_schema()["$defs"]
    mass = definitions["Body"]["properties"]["mass"]
    assert mass["description"] == "mass [kg]"
    assert {option["type"] for option in mass["anyOf"]} == {"number", "string"}
    assert "required" not in definitions["JointPart"]
    assert set(definitions["Joint"]["required"]) == {"type", "from", "to"}


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_json_schema_references_exist() -> None:
    whole = json_schema()
    assert references(whole) <= {f"#/$defs/{name}" for name in whole["$defs"]}


def test_json_schema_accepts_every_valid_file(robot_file: Path) -> None:
    whole = json_schema()
    assert mismatches(read_yaml(robot_file.read_bytes(), "my.yaml").data, whole, whole) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mass: 50", "mass: -50"),
        ("mass: 50", "masss: 50"),
        ("mass: 50", "mass: heavy"),
        ("type: spherical", "type: hinge"),
        ("axis: [0, 0, 1]", "axis: [0, 1]"),
        ("flexapod: 1", "flexapod: 2"),
        ("name: ups\n", ""),
        ("direction: home", "direction: up"),
        ("A: {hip: {at: [2.5, 0, 0]", "A: {hip: {att: [2.5, 0, 0]"),
        ("4.33]}", "4.33], rotation: {XyZ: [1, 2, 3]}}"),
    ],
)
def test_json_schema_refuses_wrong_files(ups: str, old: str, new: str) -> None:
    whole = json_schema()
    assert mismatches(read_yaml(ups.replace(old, new), "my.yaml").data, whole, whole)


JSON_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def is_type(value: Any, name: str) -> bool:
    return isinstance(value, JSON_TYPES[name]) and not (isinstance(value, bool) and name in ("number", "integer"))


def mismatches(value: Any, rule: Any, whole: dict[str, Any]) -> list[str]:
    """What in the value breaks a rule of JSON Schema, for the keywords that our schema uses."""
    if rule is True or rule is False:
        return [] if rule else [f"{value!r} is not allowed"]
    unknown = set(rule) - KEYWORDS
    assert not unknown, unknown
    found: list[str] = []
    if "$ref" in rule:
        found += mismatches(value, whole["$defs"][rule["$ref"].removeprefix("#/$defs/")], whole)
    for word in ("anyOf", "oneOf"):
        if word in rule and all(mismatches(value, option, whole) for option in rule[word]):
            found.append(f"{value!r} fits no option")
    types = rule.get("type", [])
    if types and not any(is_type(value, name) for name in ([types] if isinstance(types, str) else types)):
        found.append(f"{value!r} is not {types}")
    if ("const" in rule and value != rule["const"]) or ("enum" in rule and value not in rule["enum"]):
        found.append(f"{value!r} is not the word")
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        found.append(f"{value!r} has another pattern")
    if is_type(value, "number"):
        fits = rule.get("minimum", value) <= value <= rule.get("maximum", value)
        found += [] if fits and value > rule.get("exclusiveMinimum", value - 1) else [f"{value} is out of range"]
    if isinstance(value, list):
        fits = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
        found += [] if fits else [f"{len(value)} items"]
        found += [text for item in value for text in mismatches(item, rule.get("items", True), whole)]
    if isinstance(value, dict):
        found += [f"{key} is missing" for key in rule.get("required", []) if key not in value]
        found += ["too few keys"] if len(value) < rule.get("minProperties", 0) else []
        for key, item in value.items():
            found += mismatches(key, rule.get("propertyNames", True), whole)
            patterns = [inner for pattern, inner in rule.get("patternProperties", {}).items() if re.search(pattern, key)]
            rules = [rule["properties"][key]] if key in rule.get("properties", {}) else patterns
            for inner in rules or [rule.get("additionalProperties", True)]:
                found += [f"{key}: {text}" for text in mismatches(item, inner, whole)]
    return found


KEYWORDS = {
    "$schema", "$defs", "$ref", "title", "description", "default", "anyOf", "oneOf", "type", "const", "enum", "pattern",
    "minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems", "items", "required", "minProperties", "maxProperties",
    "propertyNames", "patternProperties", "properties", "additionalProperties",
}  # fmt: skip


def test_every_field_is_described() -> None:
    for model in models():
        assert model.__doc__
        for key, field in fields_of(model).items():
            assert field.description, f"{model.__name__}.{key}"


def test_reference_page_has_every_part_and_key() -> None:
    page = reference_page()
    assert page == reference_page()
    for model in models():
        section = page.split(f"\n## {title(model)}\n")[1].split("\n## ")[0]
        for key in fields_of(model):
            assert f"| `{key}` |" in section
    for line in page.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") == 5, line


def test_committed_page_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "robot-file.md"
    assert page.read_text(encoding="utf-8") == reference_page(), "run: python tools/make_reference.py"


def test_reference_page_links_lead_to_headings() -> None:
    page = reference_page()
    headings = {line[3:].lower().replace(" ", "-") for line in page.splitlines() if line.startswith("## ")}
    links = {part.split(")")[0] for part in page.split("](#")[1:]}
    assert links <= headings


def test_examples_of_the_reference_page_are_right() -> None:
    assert read_robot_text(example(schema.RobotFile)).file.name == "slider"
    for model in models():
        for line in example(model).splitlines():
            if line.startswith(("rotation:", "inertia:")):
                key, value = next(iter(read_yaml(line, "my.yaml").data.items()))
                {"rotation": schema.Rotation, "inertia": schema.Inertia}[key].model_validate(value)
    payloads = read_yaml(example(schema.Payload), "my.yaml").data["payloads"]
    assert [schema.Payload.model_validate(payload).mass for payload in payloads.values()] == [500.0, 35.0]
    joints = read_yaml(example(schema.Joint), "my.yaml").data
    assert [schema.Joint.model_validate(joint).type for joint in joints.values()] == ["universal", "prismatic", "spherical"]
    rows = read_yaml(example(schema.Row), "my.yaml").data["table"]
    assert [schema.Row.model_validate(row).body for row in rows] == ["1", "2", "3"]
    schema.Flexible.model_validate(read_yaml(example(schema.Flexible), "my.yaml").data["flexible"])
