"""A 3-vector that carries its frame: `p_W + q_B` is an error while the expression is built, at no cost afterwards.

`Vec(expr, "W")` holds a CasADi column of three entries and the name of the axes in which they are written.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX, Array, Scalar


def plus(a: SX, b: SX) -> SX:
    """a + b of two expressions.

    The operators of CasADi's Python interface try every kind of matrix before they come to expressions, which takes seven times
    as long as the operation; derivations do a hundred thousand of them. Checked by: tests/spatial/test_spatial.py.
    """
    return ca.SX.binary(ca.OP_ADD, a, b)


def minus(a: SX, b: SX) -> SX:
    """a - b of two expressions; see `plus`."""
    return ca.SX.binary(ca.OP_SUB, a, b)


def times(a: SX, b: SX) -> SX:
    """a b of two expressions, entry by entry; see `plus`."""
    return ca.SX.binary(ca.OP_MUL, a, b)


def negative(a: SX) -> SX:
    """-a of an expression; see `plus`."""
    return ca.SX.unary(ca.OP_NEG, a)


class FrameError(TypeError):
    """Two quantities in different axes were combined."""


class Vec:
    """A free vector in named axes.

    Args:
        expr: CasADi expression or numbers, three entries.
        frame: name of the axes, e.g. ``"W"``.
    """

    __slots__ = ("expr", "frame")

    def __init__(self, expr: SX | Array | Sequence[Scalar], frame: str) -> None:
        self.frame = frame
        if isinstance(expr, ca.SX) and expr.is_column() and expr.nnz() == 3 == expr.numel():
            self.expr = expr  # the result of nearly every operation; copies of it would take half the time of derivations
            return
        column = ca.vertcat(*expr) if isinstance(expr, Sequence) else ca.SX(expr)
        if column.numel() != 3:
            raise ValueError(f"a vector has 3 entries, got {column.shape}")
        self.expr = ca.densify(ca.reshape(ca.SX(column), 3, 1))

    def _same(self, other: Vec, operation: str) -> None:
        if not isinstance(other, Vec):
            raise FrameError(f"{operation}: expected a vector in axes {self.frame}, got {type(other).__name__}")
        if other.frame != self.frame:
            raise FrameError(f"{operation}: axes {self.frame} and {other.frame} do not match")

    def __add__(self, other: Vec) -> Vec:
        self._same(other, "add")
        return Vec(plus(self.expr, other.expr), self.frame)

    def __sub__(self, other: Vec) -> Vec:
        self._same(other, "subtract")
        return Vec(minus(self.expr, other.expr), self.frame)

    def __neg__(self) -> Vec:
        return Vec(negative(self.expr), self.frame)

    def __mul__(self, scalar: Scalar) -> Vec:
        return Vec(times(self.expr, scalar if isinstance(scalar, ca.SX) else ca.SX(scalar)), self.frame)

    __rmul__ = __mul__

    def __getitem__(self, index: int) -> SX:
        return self.expr[index]

    def __repr__(self) -> str:
        return f"Vec({self.expr}, {self.frame!r})"


def zero(frame: str) -> Vec:
    """The zero vector."""
    return Vec(ca.SX.zeros(3), frame)


def cross(a: Vec, b: Vec) -> Vec:
    """a x b, both in the same axes."""
    a._same(b, "cross")
    return Vec(ca.cross(a.expr, b.expr), a.frame)


def dot(a: Vec, b: Vec) -> SX:
    """a . b, both in the same axes."""
    a._same(b, "dot")
    return ca.dot(a.expr, b.expr)  # the sum in order of the entries; taking six entries out costs five times as much


def line_coordinates(direction: SX, arm: SX) -> SX:
    """(6,) a force and its moment about the origin; or the row that takes a velocity along a direction from a twist."""
    return ca.vertcat(direction, ca.cross(arm, direction))


def norm(a: Vec) -> SX:
    """Euclidean length."""
    return ca.sqrt(dot(a, a))
