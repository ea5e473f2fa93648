"""Shapes of the expressions that go into and come out of the bodies of loops, checked while a program is traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.errors import ProgramError


def flat(parts: Sequence[SX]) -> SX:
    """All entries as one column."""
    return ca.vertcat(*[ca.vec(part) for part in parts]) if parts else ca.SX(0, 1)


def positive(count: int, what: str) -> None:
    """Refuse a count that is not a positive whole number."""
    if not isinstance(count, int) or count < 1:
        raise ProgramError(f"{what} must be a positive integer, got {count!r}")


class Shaped(Protocol):
    """Expressions, and rows of parameters without symbols."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""


def check_each(each: Sequence[Shaped], count: int) -> None:
    """Refuse `each` expressions without one column per instance."""
    positive(count, "count")
    for k, e in enumerate(each):
        if e.shape[1] != count:
            raise ProgramError(f"each[{k}] must have {count} columns, one per instance, got shape {e.shape}")


def columns(outputs: Sequence[SX], what: str) -> list[SX]:
    """Outputs of a body, refused unless they are columns."""
    if not isinstance(outputs, list | tuple):
        raise ProgramError(f"{what}: the body must return a tuple of columns, got {type(outputs).__name__}")
    columns = [ca.densify(ca.SX(o)) for o in outputs]
    for k, column in enumerate(columns):
        if column.shape[1] != 1:
            raise ProgramError(f"{what}: output {k} of the body must be a column, got shape {column.shape}")
    return columns


def same_shapes(following: Sequence[SX], carry: Sequence[SX], what: str) -> list[SX]:
    """Next carry of a body, refused unless it is shaped like the carry."""
    after = [ca.densify(ca.SX(f)) for f in following]
    if [f.shape for f in after] != [c.shape for c in carry]:
        raise ProgramError(
            f"{what}: the next carry must have the shapes {[c.shape for c in carry]}, got {[f.shape for f in after]}"
        )
    return after
