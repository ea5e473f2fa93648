"""Quantities: units to SI, exactly; wrong ones refused in words."""

from __future__ import annotations

import contextlib
import math
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from flexapod.description.schema import Body, Friction, Joint
from flexapod.description.unit_parser import UNITS, UnitError, parse_quantity, parse_unit
from flexapod.description.units import (
    Angle,
    Density,
    InertiaValue,
    Length,
    Mass,
    Name,
    Number,
    Quantity,
    Reference,
    Stress,
    Written,
    unit_of,
)

LAST_BIT = 3e-16
"""Relative: at most one rounding, of a unit without a decimal size."""
ROUNDING = 1e-15
"""Relative: roundings of the number, of the unit's size and of their product."""
LinearOrAngular = Annotated[
    float, Quantity("m or rad or m/s or rad/s or N or N m or N s/m or N m s/rad or N/m or N m/rad", also="N m s", label="SI")
]
"""A quantity of several units with one more and a label of its own."""


def si(annotation: Any, value: object) -> Any:
    return TypeAdapter(annotation).validate_python(value)


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Length, "15 mm", 0.015),
        (Length, "15mm", 0.015),
        (Length, "0.1 in", 0.00254),
        (Length, "1 ft", 0.3048),
        (Length, "3 um", 3e-6),
        (Length, "3 µm", 3e-6),
        (Length, 2, 2.0),
        (Length, -0.5, -0.5),
        (Angle, "30 deg", math.pi / 6),
        (Angle, "180 deg", math.pi),
        (Angle, "90°", math.pi / 2),
        (Angle, "1 rev", 2 * math.pi),
        (Mass, "250 g", 0.25),
        (Mass, "1 lb", 0.45359237),
        (Mass, "2 t", 2000.0),
        (InertiaValue, "-2.5e-3 kg m^2", -0.0025),
        (InertiaValue, "0.2 g cm^2", 2e-8),
        (InertiaValue, "1 kg*m²", 1.0),
        (Stress, "210 GPa", 210e9),
        (Stress, "7 bar", 7e5),
        (Density, "2.8 g/cm^3", 2800.0),
        (Number, 0.5, 0.5),
        (Number, "50 %", 0.5),
        (LinearOrAngular, "3 N m s/rad", 3.0),
        (LinearOrAngular, "60 rpm", 2 * math.pi),
        (LinearOrAngular, "1 kN/mm", 1e6),
    ],
)
def test_si_value(annotation: Any, value: object, expected: float) -> None:
    assert si(annotation, value) == pytest.approx(expected, rel=LAST_BIT, abs=0)


def test_decimal_prefixes_are_exact() -> None:
    assert [si(Length, f"{i} mm") for i in range(1, 200)] == [float(f"{i}e-3") for i in range(1, 200)]


@settings(deadline=None)
@given(st.sampled_from(sorted(UNITS)), st.floats(1e-6, 1e6))
def test_every_unit_is_its_number_times_its_size(unit: str, number: float) -> None:
    value, dimension = parse_quantity(f"{number!r} {unit}")
    assert value == pytest.approx(number * float(UNITS[unit][0]), rel=ROUNDING)
    assert dimension == UNITS[unit][1]


@settings(deadline=None)
@given(st.text(max_size=120))
def test_any_text_is_a_quantity_or_a_unit_error(text: str) -> None:
    with contextlib.suppress(UnitError):
        assert math.isfinite(parse_quantity(text)[0])


@pytest.mark.parametrize(
    "value", [True, False, None, "", "abc", math.nan, math.inf, 1e31, 10**400, "1e999 m", "0x1 m", "1_0 m", "\uff11 m", [1], {}]
)
def test_what_is_no_length(value: object) -> None:
    with pytest.raises(ValidationError):
        si(Length, value)


def test_tiny_numbers_take_no_time() -> None:
    assert si(Length, "1e-999999999 m") == 0.0
    assert si(Length, "0e999999999 m") == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 furlong", "'furlong' is not a unit. Write e.g. mm, m, kg, N, deg or rad."),
        ("3 Mm^2", None),
        ("3 degs", "'degs' is not a unit. Did you mean deg?"),
        ("3 KG", "'KG' is not a unit. Did you mean kg or ng or ug?"),
    ],
)
def test_unit_messages(text: str, message: str | None) -> None:
    if message is None:
        parse_quantity(text)
        return
    with pytest.raises(UnitError) as refused:
        parse_quantity(text)
    assert str(refused.value).startswith(message.split("Did you mean")[0])


def test_units_divide_one_by_one() -> None:
    assert parse_unit("kg/m/s") == parse_unit("kg m^-1 s^-1")
    assert parse_unit("1/s") == parse_unit("Hz")
    with pytest.raises(UnitError, match="can be read in two ways"):
        parse_unit("kg/m s")


def test_names() -> None:
    assert si(Name, "a-B_1") == "a-B_1"
    assert si(Name, 1) == "1"
    assert si(Reference, Written(1.1, "1.10")) == "1.10"
    for wrong in ["", "a.b", "a b", "x" * 65, "é", True, None, 1.5, "a\n", [1]]:
        with pytest.raises(ValidationError):
            si(Name, wrong)


def test_unit_of() -> None:
    assert unit_of(Length) == "m"
    assert unit_of(list[Length]) == "m"
    assert unit_of(Annotated[list[Mass], "x"] | None) == "kg"
    assert unit_of(LinearOrAngular) == "SI"
    assert unit_of(Name) == ""
    assert unit_of(Body.model_fields["com"]) == "m"
    assert unit_of(Body.model_fields["points"]) == ""
    assert unit_of(Friction.model_fields["viscous"]) == "N s/m or N m s/rad"
    assert unit_of(Joint.model_fields["start"]) == "m or rad"


def test_refusals_carry_what_and_hint() -> None:
    with pytest.raises(PydanticCustomError) as refused:
        Quantity("kg", minimum=0.0).convert(-1)
    assert refused.value.context == {"what": "must not be below 0, is -1", "hint": "Write 0 or more."}
