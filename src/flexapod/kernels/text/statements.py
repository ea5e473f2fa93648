"""Statements of a listing: assignments of expressions, and loops.

An expression is a name, a number or `(operation, operand, ...)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Expr = str | float | tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Assign:
    """`name = value`; indexed names are entries of arrays."""

    name: str
    value: Expr


@dataclass(frozen=True, kw_only=True)
class Repeat:
    """A loop that is not written out: counted, or until `error <= tolerance`.

    Args:
        index: name of the counter.
        carry: names with start values; `following` are their next values, set all at once after the body.
        groups: arrays of which pass i reads entry i.
        stacked: array that the body fills, with its size.
        error, tolerance: of iterate-until.
        converged, passes: names that are set, or None where nothing reads them.
    """

    index: str
    count: int
    carry: tuple[tuple[str, Expr], ...]
    groups: tuple[tuple[str, tuple[Expr, ...]], ...]
    body: tuple[Statement, ...]
    following: tuple[Expr, ...]
    stacked: tuple[str, int] | None = None
    error: str = ""
    tolerance: float | None = None
    converged: str | None = None
    passes: str | None = None


Statement = Assign | Repeat


def entries(name: str, shape: Sequence[int]) -> list[str]:
    """Names of the entries of an array in the order of memory: `force[0]`, `rotation[0][1]`; a scalar is its own."""
    names = [name]
    for size in shape:
        names = [f"{one}[{k}]" for one in names for k in range(size)]
    return names


def variables(statements: Sequence[Statement]) -> int:
    """Number of intermediate variables: names for at least one operation; bodies of loops once."""
    count = 0
    for s in statements:
        count += variables(s.body) + len(s.carry) if isinstance(s, Repeat) else operators(s.value) > 0
    return count


def operators(value: Expr) -> int:
    """Operations in an expression; negation is free."""
    if not isinstance(value, tuple):
        return 0
    return int(value[0] != "neg") + sum(operators(v) for v in value[1:])
