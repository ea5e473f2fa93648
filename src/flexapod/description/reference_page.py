"""The reference page of the robot file, generated from the schema (Markdown for MyST)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from flexapod.description import schema
from flexapod.description.addresses import fixed_length
from flexapod.description.schema_vectors import OrPolar
from flexapod.description.units import Quantity, Word, unit_of
from flexapod.description.walk import alternatives, annotation_of, fields_of, model_of

_EXAMPLES: dict[str, str] = {
    "RobotFile": """flexapod: 1
name: slider
source: a textbook
gravity: [0, 0, -9.81]
home: {position: [0, 0, 0.5]}
platform: {mass: 2, inertia: {diagonal: [0.1, 0.1, 0.1]}}
legs:
  template:
    joints:
      slide: {type: prismatic, from: base, to: rod, axis: [0, 0, 1], actuated: true}
      hold: {type: fixed, from: rod, to: platform}
    bodies:
      rod: {mass: 500 g}
  each:
    A: {slide: {at: [0, 0, 20 cm]}}
""",
    "Rotation": """rotation: {XYZ: [10 deg, 0, 90 deg]}      # about x, then the new y, then the new z
rotation: {axis: [0, 0, 1], angle: 30 deg}
rotation: {toward_x: [1, 0, 0], toward_z: [0, 0, -1]}
""",
    "Inertia": """inertia: {about: origin, diagonal: [15, 15, 5]}
inertia: {xx: 0.2 kg m^2, yy: 0.1, zz: 0.1, xy: -0.01}
""",
    "Joint": """hip:   {type: universal, from: base, cross: cross, to: cylinder, direction: home, axis1: [1, 0, 0]}
slide: {type: prismatic, from: cylinder, to: piston, axis: [0, 0, 1], actuated: true, zero: 5 m}
ball:  {type: spherical, from: piston, to: platform, on: [1.25, 2.165, 0]}
""",
    "Row": """table:
  - {body: 1, alpha: -90 deg, inertial: {ZZ: 5.11, M: 3.176}}
  - {body: 2, alpha: 90 deg}
  - {body: 3, sigma: 1, mu: 1, alpha: 90 deg, IA: 45.89}
""",
    "Legs": """legs:
  template: {joints: {rail: {type: prismatic, from: base, to: slider, axis: [0, 0, 1]}}}
  each:
    A: {rail: {at: [1, 0, 0]}}                 # a joint of the template by its name
    B: {rail: {at: [0, 1, 0]}, branch: -1}
    C: {copy: A, rotated: 120 deg}             # leg A, rotated about z
    D: {copy: B, mirrored: xz}                 # the mirror image of leg B
""",
    "PolarPoint": """at: {radius: 0.3, angle: 15 deg}
at: {radius: $base_radius, angle: 90 deg, offset: -0.5 * $spacing, height: 20 mm}
""",
    "PolarDirection": """axis1: {azimuth: 105 deg}
""",
    "Payload": """payloads:
  crate: {mass: 500 kg, com: [0, 0, 0.4], inertia: {diagonal: [20, 20, 12]}}
  spindle: {mass: 35, com: [0, 0, -0.1], rotation: {Z: 30 deg}, inertia: {xx: 0.9, yy: 0.9, zz: 0.2}}
""",
    "Flexible": """flexible: {type: beam, length: 0.4, young: 74 GPa, density: 2800,
           section: {shape: rectangle, width: 4 mm, height: 50 mm}}
""",
}

_TITLES = {
    "RobotFile": "Top", "KhalilInertia": "Base parameters", "Row": "Table row", "PolarPoint": "Polar point",
    "PolarDirection": "Polar direction",
}  # fmt: skip

_INTRODUCTION = """# The robot file

A robot file is YAML (version 1.2: `1e-3` is a number, `no` is a word, a leg may be called `1`). Numbers are SI; a quantity
may also be written with a unit: `15 mm`, `30 deg`, `210 GPa`, `0.2 kg m^2`. Vectors are lists of three. Names have letters,
digits, `_` and `-`. Unknown keys are refused. Nothing in a file is ever executed.

Numbers that belong together are written once, under `parameters`, and referred to as `$name` wherever a number is expected; sums
and products of numbers and names are allowed, and nothing else:

```yaml
parameters: {base_radius: 300 mm, spacing: 60 mm}
home: {position: [0, 0, 2 * $base_radius + 5 mm]}
```

Units are checked through such expressions; a parameter that is a bare number fits everywhere. Points and directions may be
written in polar form. Parameters, radii and angles are parameters of `with_parameters` and of studies: `parameters.base_radius`,
`legs.A.hip.at.radius`, `legs.C.rotated`.

Cables, which only pull, and unilateral contacts are out of scope: a leg is made of rigid or flexible bodies and joints.

This page is written from the schema by `python tools/make_reference.py`; a test says when to run it again.
"""


def reference_page() -> str:
    """The whole page: a section per part of the file, from the top down."""
    sections = [_INTRODUCTION]
    for model in models():
        example = _EXAMPLES.get(model.__name__, "")
        sections.append(
            f"## {title(model)}\n\n{_text(model)}\n\n{_table(model)}" + (f"\n```yaml\n{example}```\n" if example else "")
        )
    return "\n".join(sections)


def models() -> list[type[BaseModel]]:
    """Every part of the file in the order in which the keys lead to them."""
    found: list[type[BaseModel]] = []

    def visit(model: type[BaseModel]) -> None:
        if model in found:
            return
        found.append(model)
        for field in fields_of(model).values():
            for inner in _models_in(annotation_of(field)):
                visit(inner)
        if model is schema.Legs:
            visit(schema.Leg)

    visit(schema.RobotFile)
    return found


def title(model: type[BaseModel]) -> str:
    """The heading of a part."""
    return _TITLES.get(model.__name__, model.__name__)


def example(model: type[BaseModel]) -> str:
    """The example of a part; empty if there is none."""
    return _EXAMPLES.get(model.__name__, "")


def _models_in(annotation: object) -> list[type[BaseModel]]:
    model = model_of(annotation)
    if model is not None:
        return [model]
    forms = [mark.form for _, marks in alternatives(annotation) for mark in marks if isinstance(mark, OrPolar)]
    return forms + [m for base, _ in alternatives(annotation) for inner in get_args(base) for m in _models_in(inner)]


def _text(model: type[BaseModel]) -> str:
    lines = [line.strip() for line in (model.__doc__ or "").strip().splitlines()]
    return "\n".join(lines).replace("``", "`")


def _table(model: type[BaseModel]) -> str:
    rows = ["| key | type | default | description |", "|---|---|---|---|"]
    for key, field in fields_of(model).items():
        description = (field.description or "").replace("|", "\\|")
        rows.append(f"| `{key}` | {_type(annotation_of(field))} | {_default(field)} | {description} |")
    return "\n".join(rows) + "\n"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is PydanticUndefined or field.default is None or field.default == "":
        return ""
    value = field.default
    if isinstance(value, list):
        return "`[" + ", ".join(f"{v:g}" for v in value) + "]`"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _link(model: type[BaseModel]) -> str:
    return f"[{title(model)}](#{title(model).lower().replace(' ', '-')})"


def _list(item: str, length: int) -> str:
    if not length or not item.startswith("number"):
        return f"list of {item}"
    return f"{length} numbers{item.removeprefix('number')}"


def _type(annotation: object) -> str:
    """A type in words, with links to the parts of the file and units of quantities."""
    words: list[str] = []
    for base, marks in alternatives(annotation):
        if any(isinstance(mark, Quantity) for mark in marks) and base is float:
            unit = unit_of(annotation)
            words.append("number" if unit == "1" else f"number, {unit}")
        elif word := next((mark for mark in marks if isinstance(mark, Word)), None):
            words.append(word.kind)
        elif isinstance(base, type) and issubclass(base, BaseModel):
            words.append(_link(base))
        elif get_origin(base) is Literal:
            words.append(", ".join(f"`{value}`" for value in get_args(base)))
        elif get_origin(base) is list:
            words.append(_list(_type(get_args(base)[0]), fixed_length(Annotated[base, *marks, None])))
            words += [_link(mark.form) for mark in marks if isinstance(mark, OrPolar)]
        elif get_origin(base) is dict:
            inner = _type(get_args(base)[1])
            words.append(f"name: {inner}" if inner else "mapping")
        else:
            words.append(
                {"int": "whole number", "str": "text", "bool": "`true` or `false`"}.get(getattr(base, "__name__", ""), "")
            )
    return " or ".join(word for word in words if word)
