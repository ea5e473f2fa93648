r"""Interval arithmetic as operations of a graph: bounds that hold whatever the rounding.

A value is a pair of references (low, high). Results are computed in round-to-nearest and moved outwards,

.. math:: \underline{x} = \mathrm{fl}(x - 2^{-51}|x|),\qquad \overline{x} = \mathrm{fl}(x + 2^{-51}|x|)

which is more than one rounding of x, of its reciprocal and of the shift itself (and of nothing less where products fuse with
sums). Not a number, as of infinity times zero, becomes infinity on its side. Products also move by the smallest normal number.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flexapod.kernels.passes.value_numbering import Numbering

ROUNDING = 2.0**-51
"""Four times the largest relative error of one operation."""

FUNCTION = 2.0**-49
"""Sixteen roundings: libraries of mathematical functions are right to one or two."""

UNDERFLOW = 2.0**-1022

Pair = tuple[int, int]


class Intervals:
    """Operations on pairs of references in a graph under construction.

    `defined` is the reference of a truth: 1 where no operation so far may have met an argument outside its domain.
    """

    def __init__(self, n: Numbering) -> None:
        self.n = n
        self.defined = n.const(1.0)
        self.truths: set[Pair] = set()

    # -- helpers --------------------------------------------------------------------------------------
    def point(self, value: float) -> Pair:
        """A number."""
        ref = self.n.const(value)
        return ref, ref

    def neg(self, a: Pair) -> Pair:
        """-a."""
        return self.n.neg(a[1]), self.n.neg(a[0])

    def outward(self, low: int, high: int, relative: float = ROUNDING, absolute: float = 0.0) -> Pair:
        """Computed bounds moved by their rounding."""
        n = self.n

        def shift(x: int) -> int:
            size = n.mul(n.const(relative), n.make("abs", x))
            return n.add(size, n.const(absolute)) if absolute else size

        down = n.make("max", n.add(low, n.neg(shift(low))), n.const(-math.inf))
        up = n.make("min", n.add(high, shift(high)), n.const(math.inf))
        return down, up

    def need(self, truth: int) -> None:
        """Note a condition of the domain."""
        self.defined = self.n.make("and", self.defined, truth)

    def magnitude(self, a: Pair) -> int:
        """Largest |a|."""
        return self.n.make("max", self.n.make("abs", a[0]), self.n.make("abs", a[1]))

    def mignitude(self, a: Pair) -> int:
        """Smallest |a|."""
        n = self.n
        return n.make("max", n.make("max", a[0], n.neg(a[1])), n.const(0.0))

    def hull(self, a: Pair, b: Pair) -> Pair:
        """Smallest interval that holds both."""
        return self.n.make("min", a[0], b[0]), self.n.make("max", a[1], b[1])

    def holds_zero(self, a: Pair) -> int:
        """Truth of: zero may be a value."""
        n = self.n
        return n.make("and", n.make("le", a[0], n.const(0.0)), n.make("le", n.const(0.0), a[1]))

    # -- arithmetic -----------------------------------------------------------------------------------
    def add(self, a: Pair, b: Pair) -> Pair:
        """a + b."""
        return self.outward(self.n.add(a[0], b[0]), self.n.add(a[1], b[1]))

    def mul(self, a: Pair, b: Pair) -> Pair:
        """a b; a square is not negative."""
        if a == b or a == self.neg(b):
            small, large = self.mignitude(a), self.magnitude(a)
            low, high = self.outward(self.n.mul(small, small), self.n.mul(large, large), absolute=UNDERFLOW)
            square = self.n.make("max", low, self.n.const(0.0)), high
            return square if a == b else self.neg(square)
        products = [self.n.mul(x, y) for x in dict.fromkeys(a) for y in dict.fromkeys(b)]
        return self.outward(self.fold("min", products), self.fold("max", products), absolute=UNDERFLOW)

    def div(self, a: Pair, b: Pair) -> Pair:
        """a / b; all numbers where b may be zero."""
        n = self.n
        zero = self.holds_zero(b)
        self.need(n.make("not", zero))
        quotients = [n.div(x, y) for x in dict.fromkeys(a) for y in dict.fromkeys(b)]
        low, high = self.outward(self.fold("min", quotients), self.fold("max", quotients), absolute=UNDERFLOW)
        return n.select(zero, n.const(-math.inf), low), n.select(zero, n.const(math.inf), high)

    def fold(self, op: str, refs: list[int]) -> int:
        """Smallest or largest of several."""
        result = refs[0]
        for ref in refs[1:]:
            result = self.n.make(op, result, ref)
        return result

    def sqrt(self, a: Pair) -> Pair:
        """Root of the part that is not negative."""
        n, zero = self.n, self.n.const(0.0)
        self.need(n.make("le", zero, a[0]))
        roots = [n.make("sqrt", n.make("max", x, zero)) for x in a]
        low, high = self.outward(roots[0], roots[1])
        return n.make("max", low, zero), high

    def monotone(self, op: str, a: Pair, relative: float = FUNCTION) -> Pair:
        """A function that does not fall."""
        return self.outward(self.n.make(op, a[0]), self.n.make(op, a[1]), relative)

    # -- truth ----------------------------------------------------------------------------------------
    def truth(self, a: Pair) -> Pair:
        """(certainly, possibly) not zero."""
        if a in self.truths:
            return a
        n, zero = self.n, self.n.const(0.0)
        sure = n.make("or", n.make("lt", zero, a[0]), n.make("lt", a[1], zero))
        maybe = n.make("or", n.make("ne", a[0], zero), n.make("ne", a[1], zero))
        return sure, maybe

    def as_truth(self, sure: int, maybe: int) -> Pair:
        """A pair that is known to be 0 or 1 on either side."""
        self.truths.add((sure, maybe))
        return sure, maybe

    def compare(self, op: str, a: Pair, b: Pair) -> Pair:
        """(certainly, possibly) `lt`, `le`, `eq`, `ne`."""
        n = self.n
        if op in ("lt", "le"):
            return self.as_truth(n.make(op, a[1], b[0]), n.make(op, a[0], b[1]))
        meet = n.make("and", n.make("le", a[0], b[1]), n.make("le", b[0], a[1]))
        same = n.make("and", n.make("eq", a[0], b[1]), n.make("eq", a[1], b[0]))
        return self.as_truth(same, meet) if op == "eq" else self.as_truth(n.make("not", meet), n.make("not", same))

    def logic(self, op: str, *pairs: Pair) -> Pair:
        """`and`, `or`, `not` of truths."""
        truths = [self.truth(pair) for pair in pairs]
        if op == "not":
            sure, maybe = truths[0]
            return self.as_truth(self.n.make("not", maybe), self.n.make("not", sure))
        return self.as_truth(self.n.make(op, truths[0][0], truths[1][0]), self.n.make(op, truths[0][1], truths[1][1]))

    def select(self, condition: Pair, a: Pair, b: Pair) -> Pair:
        """a, b, or both where the condition is not certain."""
        n = self.n
        sure, maybe = self.truth(condition)
        both = self.hull(a, b)
        low, high = (n.select(sure, x, n.select(maybe, z, y)) for x, y, z in zip(a, b, both, strict=True))
        return low, high


Operation = Callable[..., Pair]
