"""Constant folding: the value of an operation on numbers, if it has one."""

from __future__ import annotations

import math
from collections.abc import Callable


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


FOLD: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "sqrt": math.sqrt,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "atan2": math.atan2, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh,
    "acosh": math.acosh, "atanh": math.atanh, "exp": math.exp, "log": math.log, "expm1": math.expm1,
    "log1p": math.log1p, "pow": math.pow, "fmod": math.fmod, "hypot": math.hypot, "floor": math.floor,
    "ceil": math.ceil, "abs": abs, "sign": _sign, "copysign": math.copysign, "min": min, "max": max,
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
    "not": lambda x: x == 0, "and": lambda x, y: x != 0 and y != 0, "or": lambda x, y: x != 0 or y != 0,
}  # fmt: skip


def fold(op: str, numbers: list[float]) -> float | None:
    """Result of an operation, or None where it is not a finite number."""
    try:
        value = float(FOLD[op](*numbers))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) else None
