"""The list of friction laws: one place, formulas with shapes, and what follows from a law."""

import ast
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import flexapod
from flexapod.description.friction import LAWS, Friction, Law, friction_unit
from flexapod.description.units import quantity_of
from flexapod.equations.friction import Coefficients, axis_friction, vector_friction
from flexapod.spatial import Vec

FORMULA = 1e-15
"""Of sums of a few numbers: the last digit."""
ALONG = 1e-14
"""The same with the length of a vector."""

SOURCE = Path(flexapod.__file__).parent
HOME = SOURCE / "description" / "friction.py"
OTHER_FORMATS = {"bridges", "views"}
"""Folders that name single coefficients: of other programs' files, and of published robots."""


def named(path: Path) -> set[str]:
    """Words that only friction has, as texts or attributes of a module."""
    found, text = set(), path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "viscous" in text or "coulomb" in text else ():
        found |= {node.attr} if isinstance(node, ast.Attribute) else set()
        found |= {str(node.value)} if isinstance(node, ast.Constant) else set()
    return found & {"viscous", "coulomb"}


def test_coefficients_are_listed_in_one_file() -> None:
    """A list of laws anywhere else would have to be found by whoever adds one; `PathTerms.coulomb` is a force along a path."""
    assert set(LAWS) == {"viscous", "coulomb", "preload", "normal", "reaction"}
    files = [p for p in SOURCE.rglob("*.py") if p != HOME and p.relative_to(SOURCE).parts[0] not in OTHER_FORMATS]
    listing = {str(p.relative_to(SOURCE)) for p in files if named(p)}
    assert listing == {"analysis/timing/timing_passes.py"}


def test_every_law_has_a_quantity_and_a_default_of_zero() -> None:
    for name in LAWS:
        field = Friction.model_fields[name]
        quantity = quantity_of(field)
        assert getattr(quantity, "minimum", None) == 0.0, name
        assert field.default == 0.0, name
        assert field.description, name
    assert [friction_unit("viscous", linear) for linear in (True, False)] == ["N s/m", "N m s"]
    assert friction_unit("normal", True) == ""


def number(expression) -> np.ndarray:
    return np.array(ca.DM(ca.evalf(ca.SX(getattr(expression, "expr", expression))))).ravel()


def test_a_law_with_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drag, and a static part that fades with the speed (Stribeck), beside the constant part: along an axis and a vector."""
    monkeypatch.setitem(LAWS, "drag", Law(along="rate", shape=lambda v: v))
    fading = Law(along="direction", shape=lambda v, at: np.exp(-((v / at) ** 2)), reads=("stribeck_speed",))
    monkeypatch.setitem(LAWS, "stribeck", fading)
    c = Coefficients(numbers={"drag": 3.0, "coulomb": 2.0, "stribeck": 1.5, "stribeck_speed": 0.4})

    def size(v: float) -> float:
        return 3.0 * v**2 + 2.0 + 1.5 * np.exp(-((v / 0.4) ** 2))

    for v in (0.3, -0.7):
        assert number(axis_friction(c, ca.SX(v), 10.0))[0] == pytest.approx(-np.sign(v) * size(abs(v)), rel=FORMULA, abs=0)
    w = np.array([0.2, -0.4, 0.4])
    expected = -size(0.6) * w / 0.6
    assert np.allclose(number(vector_friction(c, Vec(list(w), "W"), 10.0)), expected, rtol=ALONG, atol=0)


def test_given_laws_and_plain_sums() -> None:
    friction = Friction(viscous=0.5, coulomb=2.0, preload=0.25, normal=0.1)
    assert friction.given() == ("viscous", "coulomb", "preload", "normal")
    assert friction.given(by_load=True) == ("normal",)
    assert (friction.plain("rate"), friction.plain("direction")) == (0.5, 2.25)
    assert friction.numbers() == {"viscous": 0.5, "coulomb": 2.0, "preload": 0.25, "normal": 0.1, "reaction": 0.0}
