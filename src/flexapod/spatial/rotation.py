"""Rotation matrices that carry both frames: `R_WB @ p_B` is a vector in W; any other pairing is an error.

`Rot(expr, "W", "B")` is R_WB: columns are the axes of B written in W.
"""

from __future__ import annotations

from typing import overload

import casadi as ca

from flexapod.arrays import SX
from flexapod.spatial.vector import FrameError, Vec


class Rot:
    """World-from-body style rotation R_AB.

    Args:
        expr: (3, 3) CasADi expression or numbers.
        to: frame A of the result.
        from_: frame B of the argument.
    """

    __slots__ = ("expr", "from_", "to")

    def __init__(self, expr: SX, to: str, from_: str) -> None:
        self.to = to
        self.from_ = from_
        if isinstance(expr, ca.SX) and expr.nnz() == 9 == expr.numel() and expr.size1() == 3:
            self.expr = expr  # full already, as nearly every product is
            return
        matrix = ca.SX(expr)
        if matrix.shape != (3, 3):
            raise ValueError(f"a rotation is 3 x 3, got {matrix.shape}")
        self.expr = ca.densify(matrix)

    @overload
    def __matmul__(self, other: Vec) -> Vec: ...
    @overload
    def __matmul__(self, other: Rot) -> Rot: ...
    def __matmul__(self, other: Vec | Rot) -> Vec | Rot:
        if isinstance(other, Vec):
            if other.frame != self.from_:
                raise FrameError(f"R_{self.to}{self.from_} cannot turn a vector in axes {other.frame}")
            return Vec(ca.mtimes(self.expr, other.expr), self.to)
        if other.to != self.from_:
            raise FrameError(f"R_{self.to}{self.from_} @ R_{other.to}{other.from_}: frames do not chain")
        return Rot(ca.mtimes(self.expr, other.expr), self.to, other.from_)

    @property
    def T(self) -> Rot:
        """The inverse, R_BA."""
        return Rot(self.expr.T, self.from_, self.to)

    def column(self, index: int) -> Vec:
        """An axis of the child frame, written in the parent frame."""
        return Vec(self.expr[:, index], self.to)

    def renamed(self, to: str, from_: str) -> Rot:
        """The same numbers between other frame names."""
        return Rot(self.expr, to, from_)


def from_columns(x: Vec, y: Vec, z: Vec, from_: str) -> Rot:
    """R_AB from the three axes of B written in A."""
    x._same(y, "columns")
    x._same(z, "columns")
    return Rot(ca.horzcat(x.expr, y.expr, z.expr), x.frame, from_)


def rotation_z(angle: SX, to: str, from_: str) -> Rot:
    """Rotation by `angle` [rad] about the common z axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    return Rot(ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)), to, from_)


def normalised(column: SX) -> SX:
    """A column, e.g. a quaternion, at unit length."""
    return column / ca.sqrt(ca.dot(column, column))


def axis_angle(rotation_vector: SX) -> SX:
    r"""Rotation matrix of a rotation vector, smooth through zero.

    .. math:: R = 1 + \frac{\sin\theta}{\theta}\hat r + \frac{1-\cos\theta}{\theta^2}\hat r^2

    Args:
        rotation_vector: (3,) [rad].
    Returns:
        (3, 3) CasADi matrix. Below an angle of 1e-4 rad the series to fourth order is exact to rounding.
    """
    square = ca.dot(rotation_vector, rotation_vector)
    small = square < 1e-8
    safe = ca.if_else(small, 1.0, square)
    angle = ca.sqrt(safe)
    a = ca.if_else(small, 1 - square / 6 * (1 - square / 20), ca.sin(angle) / angle)
    b = ca.if_else(small, 0.5 - square / 24 * (1 - square / 30), (1 - ca.cos(angle)) / safe)
    skew = ca.skew(rotation_vector)
    return ca.SX.eye(3) + a * skew + b * ca.mtimes(skew, skew)
