"""Operators of expressions while programs are derived: the same expressions and messages as CasADi's own."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.tape import quick_operators as module

X, Y, S = ca.SX.sym("x", 3), ca.SX.sym("y", 3), ca.SX.sym("s")
M = ca.SX.sym("m", 3, 3)
SPARSE = ca.SX(ca.Sparsity.diag(3), ca.SX.sym("d", 3))
OTHERS = {
    "expression": Y, "scalar": S, "columns": M, "row": X.T, "sparse": SPARSE, "number": 2.5, "integer": 3, "zero": 0.0, "one": 1,
    "DM": ca.DM([1.0, 2.0, 0.5]), "truth": True, "array": np.array([1.0, 2.0, 3.0]), "float64": np.float64(0.5), "text": "y",
    "nothing": None, "MX": ca.MX.sym("z", 3), "list": [1.0, 2.0, 3.0], "too short": ca.SX.sym("w", 2),
}  # fmt: skip
NAMES = ("add", "sub", "mul", "truediv")
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv)


def usual(do: Callable[[], Any]) -> Any:
    """What CasADi's own operators give: the run of tests has taken the quick ones."""
    taken = {name: vars(ca.SX)[name] for name in list(vars(ca.SX)) if name.strip("_").lstrip("r") in NAMES}
    for name in taken:
        delattr(ca.SX, name)
    try:
        return do()
    finally:
        for name, one in taken.items():
            setattr(ca.SX, name, one)


def outcome(do: Callable[[], Any]) -> tuple[Any, str]:
    """Kind and text of a result, which shows its structural zeros, or of the error."""
    try:
        found = do()
    except (TypeError, RuntimeError, NotImplementedError) as error:
        return type(error), str(error)
    return type(found), str(found)


@pytest.mark.parametrize("name", list(OTHERS))
@pytest.mark.parametrize("operation", OPERATORS, ids=NAMES)
def test_same_expressions_and_messages(operation: Callable[[Any, Any], Any], name: str) -> None:
    other = OTHERS[name]
    for one in (X, M, SPARSE, S):
        for left, right in ((one, other), (other, one)):
            do = functools.partial(operation, left, right)
            with module.quick_operators():
                quick = outcome(do)
            own = usual(functools.partial(outcome, do))
            assert quick == own, f"{type(left).__name__} {operation.__name__} {type(right).__name__}"


def test_they_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def nested() -> list[bool]:
        found = ["__add__" in vars(ca.SX)]
        with module.quick_operators():
            with module.quick_operators():
                found.append("__add__" in vars(ca.SX))
            found.append("__add__" in vars(ca.SX))
        return [*found, "__add__" in vars(ca.SX)]

    monkeypatch.setattr(module, "_within", [0])
    assert usual(nested) == [False, True, True, False]
