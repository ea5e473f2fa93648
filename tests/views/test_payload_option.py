"""`--payload` on the command line: its forms, and the same robot as `with_payload` makes."""

from collections.abc import Callable
from typing import Any

import pytest

import flexapod as fp
from flexapod.views.payload import CarriedMass, payload_of, with_payloads

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("12", CarriedMass(mass=12.0)),
        ("500 g", CarriedMass(mass="500 g")),
        ("3,0,0,0.1", CarriedMass(mass=3.0, at=(0.0, 0.0, 0.1))),
        ("500 kg at 0,0,0.4", CarriedMass(mass="500 kg", at=(0.0, 0.0, 0.4))),
        ("5 at 0, -1e-2, 40 mm", CarriedMass(mass=5.0, at=(0.0, -0.01, "40 mm"))),
        ("2 kg on left.tool inertia 1,1,2", CarriedMass(mass="2 kg", inertia=(1.0, 1.0, 2.0), body="left.tool")),
        ("2 kg on left.tool at 0,0,1 inertia 1,1,2 kg m^2",
         CarriedMass(mass="2 kg", at=(0.0, 0.0, 1.0), inertia=(1.0, 1.0, "2 kg m^2"), body="left.tool")),
        ("2 kg inertia 1,1,2 at 0,0,1 on left.tool",
         CarriedMass(mass="2 kg", at=(0.0, 0.0, 1.0), inertia=(1.0, 1.0, 2.0), body="left.tool")),
    ],
)  # fmt: skip
def test_forms(text: str, wanted: CarriedMass) -> None:
    assert payload_of(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "1,2",
        "nan",
        "1,2,3,x",
        "1 at 2",
        "1 at 1,2,3,4",
        "1 inertia 3",
        "at 0,0,1",
        "on x",
        "1 at 0,0,0 at 1,1,1",
        "1 on a b",
    ],
)
def test_forms_that_are_none(text: str) -> None:
    with pytest.raises(fp.InputError, match="expected a mass in kg and where it is"):
        payload_of(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("-1", "mass: must not be below 0"),
        ("12 mm", "'12 mm' has the wrong unit: it must be kg"),
        ("1 at 0,0,3 kg", "'3 kg' has the wrong unit: it must be m"),
        ("1 inertia 1,1,3", "no body has this inertia"),
        ("1 on nobody", "no body is called 'nobody'; write platform, or leg.body, e.g. platform, A.cross, A.cylinder, A.piston"),
        ("1 on A", "no body is called 'A'; write platform, or leg.body, e.g. platform, A.cross, A.cylinder, A.piston"),
        ("1 on A.nobody", "the body A.nobody does not exist; bodies of this leg: A.cross, A.cylinder, A.piston"),
    ],
)
def test_values_are_checked_as_in_the_file(text: str, label: str) -> None:
    with pytest.raises(fp.FlexapodError, match=label):
        with_payloads(fp.load("stewart-3-3"), [text])


def test_commands_take_it(run: Run) -> None:
    shown = run("show", "stewart-3-3", "--payload", "500 kg at 0,0,0.4", "--payload", "5 kg on A.piston", "--json")
    assert shown.exit_code == 0, shown.stderr
    plain = run("inverse-dynamics", "stewart-3-3", "--payload", "500 kg at 0,0,0.4", "--json")
    assert plain.exit_code == 0, plain.stderr
    assert plain.stdout != run("inverse-dynamics", "stewart-3-3", "--json").stdout
    wrong = run("inverse-dynamics", "stewart-3-3", "--payload", "heavy")
    assert wrong.exit_code == 1
    assert "--payload heavy: expected a mass in kg" in wrong.stderr
