"""Operators of expressions without the search for their kind, while a program is derived.

CasADi's Python interface tries every kind of matrix before it comes to expressions (SX), which takes seven times as long as the
operation. Within `quick_operators` x + y, x - y, x * y and x / y go to `SX.binary` at once, where CasADi's own operators end as
well: expressions, rounding and messages are the same. What is not in KINDS is left to CasADi's own operators.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import casadi as ca

from flexapod.arrays import SX

KINDS = frozenset((ca.SX, ca.DM, float, int))
"""Kinds of the other side of an operator."""
OPERATORS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}
_within = [0]
_one = threading.Lock()
"""Operators change hands one thread at a time."""

Operator = Callable[[SX, SX], SX]


@contextlib.contextmanager
def quick_operators() -> Iterator[None]:
    """Operators of `casadi.SX` go to `SX.binary` meanwhile; another thread gets the same results from either.

    Checked by: tests/kernels/test_quick_operators.py.
    """
    with _one:
        _within[0] += 1
        if _within[0] == 1:
            for name, operator in _QUICK.items():
                setattr(ca.SX, name, operator)
    try:
        yield
    finally:
        with _one:
            _within[0] -= 1
            if _within[0] == 0:
                for name in _QUICK:
                    delattr(ca.SX, name)  # CasADi's own are those of a class above


def _quick() -> dict[str, Operator]:
    """Both sides of every operator by their names in Python."""
    made = {}
    for name, op in OPERATORS.items():
        made[f"__{name}__"] = _left(op, getattr(ca.SX, f"__{name}__"))
        made[f"__r{name}__"] = _right(op, getattr(ca.SX, f"__r{name}__"))
    return made


def _left(op: int, usual: Operator, binary: Callable[..., SX] = ca.SX.binary) -> Operator:
    """x op y."""

    def operator(x: SX, y: SX) -> SX:
        return binary(op, x, y) if type(y) in KINDS else usual(x, y)

    return operator


def _right(op: int, usual: Operator, binary: Callable[..., SX] = ca.SX.binary) -> Operator:
    """y op x, where y is no expression."""

    def operator(x: SX, y: SX) -> SX:
        return binary(op, y, x) if type(y) in KINDS else usual(x, y)

    return operator


_QUICK = _quick()
