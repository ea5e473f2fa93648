"""Bounds of the mathematical functions of the tape over intervals, from their monotone pieces."""

from __future__ import annotations

import math

from flexapod.kernels.intervals.operations import FUNCTION, UNDERFLOW, Intervals, Operation, Pair

RISING = ("atan", "sinh", "tanh", "asinh", "exp", "expm1")
"""Functions that rise and are defined everywhere."""

DOMAIN = {"asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "acosh": (1.0, math.inf), "atanh": (-1.0, 1.0), "log": (0.0, math.inf),
          "log1p": (-1.0, math.inf)}  # fmt: skip
"""Functions that are monotone on an interval; beyond it they are taken at its end and noted as undefined."""

RANGE = {"tanh": (-1.0, 1.0), "exp": (0.0, math.inf)}

SAFE = 1e-9
"""Part of a period by which extremes of sine and cosine are searched too far."""

FAR = 1e6
"""Angles beyond which every value is possible: their reduction to one period is not worth a proof."""


def _clipped(i: Intervals, a: Pair, low: float, high: float) -> Pair:
    n = i.n
    result = [n.make("min", n.make("max", x, n.const(low)), n.const(high)) for x in a]
    return result[0], result[1]


def _periodic(i: Intervals, op: str, a: Pair) -> Pair:
    """sin or cos: values at the ends, 1 and -1 where an extreme lies between."""
    n = i.n
    ends = [n.make(op, x) for x in a]
    low, high = i.outward(n.make("min", *ends), n.make("max", *ends), FUNCTION, FUNCTION)

    def between(peak: float) -> int:
        """A multiple of the period after the peak lies in a."""
        rotations = []
        for x, side in zip(a, (-SAFE, SAFE), strict=True):
            rotations.append(n.add(n.mul(n.const(1 / (2 * math.pi)), n.add(x, n.const(-peak))), n.const(side)))
        return n.make("ne", n.make("floor", rotations[0]), n.make("floor", rotations[1]))

    top, bottom = (math.pi / 2, -math.pi / 2) if op == "sin" else (0.0, math.pi)
    far = n.make("lt", n.const(FAR), i.magnitude(a))
    low = n.select(n.make("or", between(bottom), far), n.const(-1.0), low)
    high = n.select(n.make("or", between(top), far), n.const(1.0), high)
    return n.make("max", low, n.const(-1.0)), n.make("min", high, n.const(1.0))


def _tan(i: Intervals, a: Pair) -> Pair:
    return i.div(_periodic(i, "sin", a), _periodic(i, "cos", a))


def _on_domain(i: Intervals, op: str, a: Pair) -> Pair:
    low, high = DOMAIN[op]
    n = i.n
    i.need(n.make("and", n.make("le", n.const(low), a[0]), n.make("le", a[1], n.const(high))))
    inside = _clipped(i, a, low, high)
    if op == "acos":
        falling = i.outward(n.make(op, inside[1]), n.make(op, inside[0]), FUNCTION, FUNCTION)
        return _clipped(i, falling, 0.0, math.nextafter(math.pi, 4.0))
    return i.outward(n.make(op, inside[0]), n.make(op, inside[1]), FUNCTION, UNDERFLOW)


def _rising(i: Intervals, op: str, a: Pair) -> Pair:
    low, high = i.outward(i.n.make(op, a[0]), i.n.make(op, a[1]), FUNCTION, UNDERFLOW)
    return _clipped(i, (low, high), *RANGE[op]) if op in RANGE else (low, high)


def _atan2(i: Intervals, y: Pair, x: Pair) -> Pair:
    """Extremes at the corners, unless the box touches the cut along the negative axis."""
    n = i.n
    corners = [n.make("atan2", q, p) for q in dict.fromkeys(y) for p in dict.fromkeys(x)]
    low, high = i.outward(i.fold("min", corners), i.fold("max", corners), FUNCTION, UNDERFLOW)
    cut = n.make("and", n.make("le", x[0], n.const(0.0)), i.holds_zero(y))
    i.need(n.make("not", n.make("and", i.holds_zero(x), i.holds_zero(y))))
    pi = n.const(math.nextafter(math.pi, 4.0))
    return n.select(cut, n.neg(pi), low), n.select(cut, pi, high)


def _even(i: Intervals, op: str, a: Pair) -> Pair:
    """cosh: by size."""
    return i.outward(i.n.make(op, i.mignitude(a)), i.n.make(op, i.magnitude(a)), FUNCTION)


def _hypot(i: Intervals, a: Pair, b: Pair) -> Pair:
    n = i.n
    low, high = (n.make("hypot", f(a), f(b)) for f in (i.mignitude, i.magnitude))
    return i.outward(low, high, FUNCTION, UNDERFLOW)


def _pow(i: Intervals, a: Pair, b: Pair) -> Pair:
    """Positive bases: extremes at the corners. Others: whole exponents only."""
    n = i.n
    exponent = n.value(b[0]) if b[0] == b[1] else None
    if exponent is not None and exponent == int(exponent) and exponent >= 0:
        if int(exponent) % 2:
            return i.outward(n.make("pow", a[0], b[0]), n.make("pow", a[1], b[0]), FUNCTION, UNDERFLOW)
        small, large = i.mignitude(a), i.magnitude(a)
        return i.outward(n.make("pow", small, b[0]), n.make("pow", large, b[0]), FUNCTION, UNDERFLOW)
    positive = n.make("lt", n.const(0.0), a[0])
    i.need(positive)
    corners = [n.make("pow", x, y) for x in dict.fromkeys(a) for y in dict.fromkeys(b)]
    low, high = i.outward(i.fold("min", corners), i.fold("max", corners), FUNCTION, UNDERFLOW)
    return n.select(positive, low, n.const(-math.inf)), n.select(positive, high, n.const(math.inf))


def _fmod(i: Intervals, a: Pair, b: Pair) -> Pair:
    """a where it is smaller than b; else by the sizes of both and the sign of a."""
    n, zero = i.n, i.n.const(0.0)
    size = n.make("min", i.magnitude(a), i.magnitude(b))
    low = n.select(n.make("lt", a[0], zero), n.neg(size), zero)
    high = n.select(n.make("lt", zero, a[1]), size, zero)
    i.need(n.make("not", i.holds_zero(b)))
    small = n.make("lt", i.magnitude(a), i.mignitude(b))
    return n.select(small, a[0], low), n.select(small, a[1], high)


def _copysign(i: Intervals, a: Pair, b: Pair) -> Pair:
    n, zero = i.n, i.n.const(0.0)
    small, large = i.mignitude(a), i.magnitude(a)
    positive, negative = n.make("lt", zero, b[0]), n.make("lt", b[1], zero)
    low = n.select(positive, small, n.neg(large))
    return low, n.select(negative, n.neg(small), large)


def _abs(i: Intervals, a: Pair) -> Pair:
    return i.mignitude(a), i.magnitude(a)


def _exact(i: Intervals, op: str, *pairs: Pair) -> Pair:
    """Functions that do not fall in any argument and do not round."""
    low, high = (i.n.make(op, *[pair[side] for pair in pairs]) for side in (0, 1))
    return low, high


def operations(i: Intervals) -> dict[str, Operation]:
    """Every operation of the tape on pairs."""
    table: dict[str, Operation] = {
        "add": i.add, "mul": i.mul, "div": i.div, "sqrt": i.sqrt, "select": i.select,
        "tan": lambda a: _tan(i, a), "cosh": lambda a: _even(i, "cosh", a), "abs": lambda a: _abs(i, a),
        "atan2": lambda y, x: _atan2(i, y, x), "pow": lambda a, b: _pow(i, a, b), "fmod": lambda a, b: _fmod(i, a, b),
        "hypot": lambda a, b: _hypot(i, a, b), "copysign": lambda a, b: _copysign(i, a, b),
    }  # fmt: skip
    for op in ("sin", "cos"):
        table[op] = lambda a, op=op: _periodic(i, op, a)
    for op in RISING:
        table[op] = lambda a, op=op: _rising(i, op, a)
    for op in DOMAIN:
        table[op] = lambda a, op=op: _on_domain(i, op, a)
    for op in ("floor", "ceil", "sign", "min", "max"):
        table[op] = lambda *pairs, op=op: _exact(i, op, *pairs)
    for op in ("lt", "le", "eq", "ne"):
        table[op] = lambda a, b, op=op: i.compare(op, a, b)
    for op in ("and", "or", "not"):
        table[op] = lambda *pairs, op=op: i.logic(op, *pairs)
    return table
