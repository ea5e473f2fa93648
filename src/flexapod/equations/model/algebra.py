"""Small matrix algebra that keeps structural zeros, and solves by blocks of a pattern.

A zero that is known when the equations are written never becomes an operation; numbers that happen to be zero are removed later,
on the tape.
"""

from __future__ import annotations

from collections.abc import Collection

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import Declares
from flexapod.robot.block_triangular import blocks
from flexapod.spatial.linear import solve, solve_reflected

Z = ca.SX(ca.DM([0, 0, 1]))
NONE = ca.SX(3, 1)


def expression(x: SX) -> SX:
    """x as an expression; one that is one already is not copied, which takes longer than most operations."""
    return x if isinstance(x, ca.SX) else ca.SX(x)


def sparse(x: SX) -> SX:
    """The expression without its structural zeros, in a matrix of its own."""
    return ca.sparsify(expression(x))


def mul(A: SX, B: SX) -> SX:
    """A B."""
    return ca.mtimes(sparse(A), sparse(B))


def cross(a: SX, b: SX) -> SX:
    """a x b."""
    return sparse(ca.cross(ca.densify(expression(a)), ca.densify(expression(b))))


def field(w: SX, alpha: SX) -> SX:
    r"""Matrix that maps a point's position to its acceleration, :math:`\hat\alpha + \hat\omega\hat\omega`, each product once."""
    w, alpha = ca.densify(w), ca.densify(alpha)
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return sparse(
        ca.vertcat(
            ca.horzcat(-(yy + zz), xy - alpha[2], xz + alpha[1]),
            ca.horzcat(xy + alpha[2], -(xx + zz), yz - alpha[0]),
            ca.horzcat(xz - alpha[1], yz + alpha[0], -(xx + yy)),
        )
    )


def vee(A: SX) -> SX:
    """Axial vector of A - A^T."""
    A = ca.densify(expression(A))
    return ca.vertcat(A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1])


def symmetric(A: SX) -> SX:
    """A symmetric matrix, computed in its lower triangle alone."""
    low = ca.tril(ca.densify(A))
    return low + ca.tril(low, False).T


class LinkValues(Values):
    """Values of which some are known when the equations are written: constants of inner frames, structural zeros.

    Args:
        constants: path below the prefix -> 0, 1 or -1.
        zeros: full names of values that are zero; `check` makes the program refuse other numbers there.
    """

    def __init__(
        self,
        program: Declares,
        prefix: str = "",
        known: dict[str, SX] | None = None,
        constants: dict[str, int] | None = None,
        zeros: Collection[str] = (),
    ) -> None:
        super().__init__(program, prefix, known)
        self._constants = constants or {}
        self._zeros = zeros

    def below(self, prefix: str, constants: dict[str, int]) -> LinkValues:
        """Values below a prefix, with the constants there."""
        return LinkValues(self.program, f"{self.prefix}{prefix}.", self._known, constants, self._zeros)

    def scalar(self, name: str) -> SX:
        """One number, a constant, or a structural zero."""
        if name in self._constants:
            return ca.SX(self._constants[name])
        symbol = super().scalar(name)
        return ca.SX(0) if self.prefix + name in self._zeros else symbol

    def check(self) -> None:
        """Refuse numbers for which the equations do not hold; every number that was asked for is then part of the signature.

        The checks depend on parameters alone: they cost nothing per sample, and nothing at all for zeros that the tape knows.
        """
        used = [symbol for name, symbol in self._known.items() if name in self._zeros]
        if used:
            self.program.fail_if(ca.sumsqr(ca.vertcat(*used)) > 0, "a parameter that the equations assume to be zero is not")
        all_numbers = ca.sumsqr(ca.vertcat(*self._known.values()))
        self.program.fail_if(ca.logic_not(all_numbers >= 0), "a number of the robot is NaN")

    def vec(self, name: str) -> SX:
        """(3,) without structural zeros."""
        return sparse(ca.vertcat(*[self.scalar(f"{name}.{k}") for k in "xyz"]))

    def rot(self, name: str) -> SX:
        """(3, 3) without structural zeros."""
        return sparse(ca.vertcat(*[ca.horzcat(*[self.scalar(f"{name}.{i}{j}") for j in "xyz"]) for i in "xyz"]))

    def pseudo_inertia(self, name: str) -> SX:
        r"""E = tr(I)/2 1 - I, the second moments of a body: the moment of its motion is vee(U E)."""
        I = {k: self.scalar(f"{name}.inertia.{k}") for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
        half = (I["xx"] + I["yy"] + I["zz"]) / 2
        rows = [[half - I[i + i] if i == j else -I["".join(sorted(i + j))] for j in "xyz"] for i in "xyz"]
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])


def pattern(A: SX) -> list[list[bool]]:
    """Pattern of the entries of a matrix that are not structurally zero."""
    A = sparse(A)
    return [[bool(A.sparsity().has_nz(i, j)) for j in range(A.shape[1])] for i in range(A.shape[0])]


def solve_blocks(A: SX, B: SX) -> SX:
    """A^-1 B by the block triangular form of A: blocks of one to three by Cramer, larger ones by reflections."""
    A, B = sparse(A), sparse(B)
    X: list[SX | None] = [None] * A.shape[0]
    for rows, columns in blocks(pattern(A)):
        right = B[list(rows), :]
        for i, r in enumerate(rows):
            for c, known in enumerate(X):
                if known is not None and A.sparsity().has_nz(r, c):
                    right[i, :] = sparse(right[i, :] - A[r, c] * known)
        right = sparse(right)
        used = [k for k in range(right.shape[1]) if right[:, k].nnz()]
        Y = ca.SX(len(columns), right.shape[1])
        if used:
            block = A[list(rows), list(columns)]
            Y[:, used] = (
                solve(ca.densify(block), ca.densify(right[:, used]))
                if len(rows) < 4
                else solve_reflected(block, right[:, used])[0]
            )
        for i, c in enumerate(columns):
            X[c] = sparse(Y[i, :])
    return ca.vertcat(*[x for x in X if x is not None]) if X else ca.SX(0, B.shape[1])


def _determinant(X: SX) -> SX:
    """Determinant of a small dense block; up to three from the numbers that `solve` needs anyway."""
    n = X.shape[0]
    if n == 1:
        return X[0, 0]
    if n == 2:
        return X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0]
    return ca.dot(X[:, 0], ca.cross(X[:, 1], X[:, 2])) if n == 3 else _reflected(X)


def _reflected(X: SX) -> SX:
    r"""Determinant by Householder's reflections, each of determinant -1: n^3 operations where minors take n!, and its sign.

    .. math:: \det X = \prod_k \operatorname{copysign}(|x_k|, x_{kk})

    x_k: column k from its diagonal entry down, after the reflections before.
    """
    columns, result = [X[:, j] for j in range(X.shape[1])], ca.SX(1)
    while len(columns) > 1:
        first, *others = columns
        corner = ca.copysign(ca.sqrt(ca.dot(first, first)), first[0])
        v = ca.vertcat(first[0] + corner, first[1:])
        square = ca.dot(v, v)
        scale = 2 / ca.if_else(square == 0, 1, square)
        columns = [(column - v * (ca.dot(v, column) * scale))[1:] for column in others]
        result = result * corner
    return result * columns[0][0]


def nearly_dependent(A: SX, bound: float, scale: SX) -> SX:
    """Whether some block of A has lost its rank: below `bound` is the square of its determinant where it has up to three
    columns, else that of the part of a column that others do not span; entries are measured by the root of `scale`."""
    lost = ca.SX(0)
    for rows, columns in blocks(pattern(A)):
        X = sparse(A)[list(rows), list(columns)]
        if len(rows) < 4:
            lost = ca.logic_or(lost, _determinant(ca.densify(X)) ** 2 < bound * scale ** len(rows))
        else:
            for pivot in solve_reflected(X, ca.SX(len(rows), 1))[1]:
                lost = ca.logic_or(lost, pivot.square < bound * scale * pivot.unit)
    return lost


def determinant(A: SX) -> SX:
    """Determinant of a square matrix, block by block."""
    found = blocks(pattern(A))
    order = [[r for block in found for r in block[side]] for side in (0, 1)]
    result = ca.SX(_parity(order[0]) * _parity(order[1]))
    for rows, columns in found:
        result = result * _determinant(ca.densify(sparse(A)[list(rows), list(columns)]))
    return result


def _parity(order: list[int]) -> int:
    """Sign of a permutation."""
    inversions = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
    return -1 if inversions % 2 else 1
