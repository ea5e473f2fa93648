"""Complex numbers as pairs of real expressions, so that programs on real tapes follow complex paths.

A holomorphic expression is written in ordinary real symbols; `complexify` evaluates it at pairs (real, imaginary).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.arrays import SX

ZERO = ca.SX(0)


@dataclass(frozen=True)
class Z:
    """A complex number, or an array of them: real and imaginary expressions of one shape."""

    re: SX
    im: SX

    def __add__(self, o: Z) -> Z:
        return Z(self.re + o.re, self.im + o.im)

    def __sub__(self, o: Z) -> Z:
        return Z(self.re - o.re, self.im - o.im)

    def __neg__(self) -> Z:
        return Z(-self.re, -self.im)

    def __mul__(self, o: Z) -> Z:
        """Product, elementwise."""
        return Z(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __getitem__(self, index: int | slice) -> Z:
        return Z(self.re[index], self.im[index])

    def conj(self) -> Z:
        """Complex conjugate."""
        return Z(self.re, -self.im)

    def norm2(self) -> SX:
        """Squared magnitude of the sum over all entries."""
        return ca.sumsqr(self.re) + ca.sumsqr(self.im)

    def scaled(self, factor: SX) -> Z:
        """Times a real number."""
        return Z(factor * self.re, factor * self.im)

    def inverse(self) -> Z:
        """1 / z."""
        d = 1 / (self.re * self.re + self.im * self.im)
        return Z(self.re * d, -self.im * d)

    def where(self, condition: SX, other: Z) -> Z:
        """Self where the condition holds, else the other."""
        return Z(ca.if_else(condition, self.re, other.re), ca.if_else(condition, self.im, other.im))

    @staticmethod
    def stack(parts: Sequence[Z]) -> Z:
        """Entries above each other."""
        return Z(ca.vertcat(*[p.re for p in parts]), ca.vertcat(*[p.im for p in parts]))


def dot(a: Z, b: Z) -> Z:
    """Bilinear product (no conjugation) of columns."""
    return Z(ca.dot(a.re, b.re) - ca.dot(a.im, b.im), ca.dot(a.re, b.im) + ca.dot(a.im, b.re))


def _sine(z: Z) -> Z:
    return Z(ca.sin(z.re) * ca.cosh(z.im), ca.cos(z.re) * ca.sinh(z.im))


def _cosine(z: Z) -> Z:
    return Z(ca.cos(z.re) * ca.cosh(z.im), -ca.sin(z.re) * ca.sinh(z.im))


_RULES: dict[int, Any] = {
    ca.OP_ADD: lambda a, b: a + b,
    ca.OP_SUB: lambda a, b: a - b,
    ca.OP_MUL: lambda a, b: a * b,
    ca.OP_DIV: lambda a, b: a * b.inverse(),
    ca.OP_NEG: lambda a: -a,
    ca.OP_SQ: lambda a: a * a,
    ca.OP_TWICE: lambda a: a.scaled(2),
    ca.OP_INV: lambda a: a.inverse(),
    ca.OP_SIN: _sine,
    ca.OP_COS: _cosine,
}


def complexify(function: ca.Function, arguments: Sequence[Z]) -> list[Z]:
    """Values of a function of real columns at complex columns.

    Args:
        function: of dense columns to dense columns; sums, products, quotients, sine and cosine only.
        arguments: one column per input.
    Returns:
        One column per output.

    Checked by: tests/equations/test_homotopy.py.
    """
    work: dict[int, Z] = {}
    results: list[list[Z]] = [[Z(ZERO, ZERO)] * function.numel_out(k) for k in range(function.n_out())]
    for k in range(function.n_instructions()):
        op, out, given = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_INPUT:
            work[out[0]] = arguments[given[0]][given[1]]
        elif op == ca.OP_CONST:
            work[out[0]] = Z(ca.SX(function.instruction_constant(k)), ZERO)
        elif op == ca.OP_OUTPUT:
            results[out[0]][out[1]] = work[given[0]]
        else:
            work[out[0]] = _RULES[op](*[work[i] for i in given])
    return [Z.stack(entries) for entries in results]
