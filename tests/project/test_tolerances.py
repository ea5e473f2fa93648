"""Tolerances of tests have names: no bare numbers where numbers are compared, and none left to the default of a function."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from places import ROOT

TESTS = ROOT / "tests"
WORDS = {"rtol", "atol", "rel", "abs"}
POSITIONAL = {"approx": 1, "assert_allclose": 2, "allclose": 2, "isclose": 2}
"""Functions that compare, and how many arguments come before their tolerances."""
SMALL = 1e-3
"""Smaller numbers behind `<` are tolerances; larger ones may be bounds of what is tested."""


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def numbers(node: ast.expr) -> Iterator[float]:
    """Numbers that an expression is made of; signs and exponents apart."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield node.value
    elif isinstance(node, ast.BinOp):
        yield from numbers(node.left)
        if not isinstance(node.op, ast.Pow):
            yield from numbers(node.right)


def given(call: ast.Call) -> Iterator[ast.expr]:
    """Expressions for the tolerances of a comparison; integrators have such words for an accuracy of their own."""
    if name_of(call) in POSITIONAL:
        yield from (word.value for word in call.keywords if word.arg in WORDS)
        yield from call.args[POSITIONAL[name_of(call)] :]


def bare(tree: ast.AST) -> list[str]:
    """Tolerances without a name: non-zero numbers as argument, small ones as part of it or behind `<` in an assertion."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for value in given(node):
                most = float("inf") if isinstance(value, ast.Constant) else 1.0
                if any(0 < number < most for number in numbers(value)):
                    found.append(f"{value.lineno}: {ast.unparse(value)}")
        elif isinstance(node, ast.Assert):
            for compare in (part for part in ast.walk(node.test) if isinstance(part, ast.Compare)):
                for sign, right in zip(compare.ops, compare.comparators, strict=True):
                    if isinstance(sign, ast.Lt | ast.LtE) and any(0 < number < SMALL for number in numbers(right)):
                        found.append(f"{right.lineno}: {ast.unparse(right)}")
    return found


def left_to_defaults(tree: ast.AST) -> list[str]:
    """Calls with one of the two tolerances: NumPy then adds 1e-7 or 1e-5 of every number, or 1e-8, whatever the other says."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node) in POSITIONAL.keys() - {"approx"}:
            words = {word.arg for word in node.keywords}
            missing = {"rtol", "atol"} - words if words & {"rtol", "atol"} else set()
            if name_of(node) == "assert_allclose":
                missing -= {"atol"}  # zero
            found += [f"{node.lineno}: {name_of(node)} without {word}" for word in missing]
    return found


@cache
def trees() -> dict[Path, ast.AST]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("*.py"))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("assert x == approx(1.0, rel=1e-9)", ["1: 1e-09"]),
        ("assert x == approx(1.0, 0.5)", ["1: 0.5"]),
        ("assert x == approx(1.0, abs=5 * ROUNDING)", []),
        ("assert_allclose(a, b, rtol=0, atol=1e-9 * size)", ["1: 1e-09 * size"]),
        ("assert_allclose(a, b, rtol=0, atol=ROUNDING * (1.0 + size))", []),
        ("assert np.abs(x).max() < 1e-12 * size", ["1: 1e-12 * size"]),
        ("assert np.abs(x).max() < ROUNDING * size**1e-12", []),
        ("assert 1e-6 < x < 0.5", []),
        ("assert x > 1e-4", []),
        ("brentq(f, 0.0, 1.0, rtol=1e-12)", []),
    ],
)
def test_what_is_bare(text: str, expected: list[str]) -> None:
    assert bare(ast.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("np.allclose(a, b, atol=SMALL)", ["1: allclose without rtol"]),
        ("np.allclose(a, b, rtol=SMALL)", ["1: allclose without atol"]),
        ("np.testing.assert_allclose(a, b, atol=SMALL)", ["1: assert_allclose without rtol"]),
        ("np.testing.assert_allclose(a, b, rtol=SMALL)", []),
        ("np.allclose(a, b)", []),
    ],
)
def test_what_is_left_to_defaults(text: str, expected: list[str]) -> None:
    assert left_to_defaults(ast.parse(text)) == expected


@pytest.mark.parametrize("look", [bare, left_to_defaults])
def test_tolerances_have_names(look: Callable[[ast.AST], list[str]]) -> None:
    lines = [f"{path.relative_to(ROOT)}:{line}" for path, tree in trees().items() for line in look(tree)]
    assert not lines, "give both tolerances, with a name and the reason below it:\n" + "\n".join(lines)
