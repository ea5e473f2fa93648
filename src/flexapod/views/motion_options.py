"""Options of a motion from the command line: `radius="100 mm"`, `center="0, 0, 900 mm"`, `units=position=mm,euler=deg`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import flexapod as fp

POSE = ("m", "m", "m", "rad", "rad", "rad")
UNITS: dict[str, str | tuple[str, ...]] = {
    "radius": "m", "side": "m or rad", "corner": "m or rad", "corners": "m or rad", "positions": "m", "end": "m",
    "center": POSE, "start": POSE, "amplitude": POSE, "acceleration": tuple(f"{unit}/s^2" for unit in POSE),
    "start_angle": "rad", "phase": "rad", "speed": "m/s", "rpm": "rpm or Hz", "omega": "rad/s or Hz", "cutoff": "Hz",
    "duration": "s", "durations": "s", "rests": "s", "switch": "s",
    "samples": "1", "revolutions": "1", "window": "1", "order": "1",
}  # fmt: skip
"""Option -> what it is measured in, one for all its numbers or one for each."""

QUANTITY = re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*[a-zA-Z%°µ]\S*(?:\s.*)?")
NUMBER = re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*")
"""A number with a unit behind it, and one without."""

NAMES = ("units", "columns")
"""Options of motion files that say something of several columns."""


def options_in_si(motion: str, options: Mapping[str, object]) -> dict[str, Any]:
    """Options with every unit converted, and pairs such as ``position=mm,euler=deg`` as dictionaries.

    Args:
        motion: name or file; decides whether an amplitude is a length or an angle.

    Checked by: tests/views/test_cli_motion_units.py.
    """
    units = UNITS | ({"amplitude": "rad"} if motion.startswith("rotation-") else {})
    result = {key: _in_si(key, value, units[key]) if key in units else value for key, value in options.items()}
    return result | {key: _pairs(result[key]) for key in NAMES if key in result}


def _in_si(key: str, value: object, unit: str | tuple[str, ...]) -> Any:
    """A value, or each of a list, in SI; text that is no quantity stays as it is."""
    if isinstance(value, str) and "," in value:
        parts = value.split(",")
        if all(QUANTITY.fullmatch(part) or NUMBER.fullmatch(part) for part in parts):
            return _in_si(key, [float(p) if NUMBER.fullmatch(p) else p for p in parts], unit)
    if isinstance(value, list):
        _check_all_have_units(key, value)
        each = unit if isinstance(unit, tuple) else (unit,) * len(value)
        if len(each) < len(value) or any(isinstance(part, list) for part in value):
            each = (unit,) * len(value)  # type: ignore[assignment]
        return [_in_si(key, part, of) for part, of in zip(value, each, strict=False)]
    if isinstance(value, str) and QUANTITY.fullmatch(value):
        return _number(key, value, unit if isinstance(unit, str) else unit[0])
    return value


def _check_all_have_units(key: str, values: list[object]) -> None:
    with_unit = next((x for x in values if isinstance(x, str) and QUANTITY.fullmatch(x)), None)
    bare = next((x for x in values if isinstance(x, int | float) and x != 0), None)
    if with_unit is not None and bare is not None:
        raise fp.InputError(
            f"--option {key}: {with_unit.strip()} has a unit and {bare:g} has none; give each number its unit, or none"
        )


def _number(key: str, text: str, unit: str) -> float:
    """The number of an option with a unit: SI, but rpm for `rpm`; cycles per second become rad/s where omega is meant."""
    try:
        value = fp.si_value(text, unit)
    except fp.InputError as error:
        raise fp.InputError(f"--option {key}={text.strip()}: {error}") from None
    cycles = text.strip().endswith("Hz")
    if key == "rpm":
        return value * 60 if cycles else value * 60 / (2 * np.pi)
    return value * 2 * np.pi if key == "omega" and cycles else value


def _pairs(value: object) -> Any:
    """``time=t_ms,position=X,Y,Z`` as a dictionary; a part without a name belongs to the one before. Other values as they are."""
    if not isinstance(value, str) or "=" not in value.split(",")[0]:
        return value
    found: dict[str, list[str]] = {}
    for part in value.split(","):
        name, equals, text = (x.strip() for x in part.partition("="))
        if equals:
            found[last := name] = [text]
        else:
            found[last].append(name)
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in found.items()}
