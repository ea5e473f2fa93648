r"""Sine, cosine and hyperbolic tangent of vectors as LLVM functions; the C library beyond their range and for NaN and infinities.

Sine and cosine share a range reduction (Cody and Waite): with n the nearest integer to :math:`2x/\pi` and :math:`\pi/2` as a sum
of parts whose products with n are exact, :math:`r = x - n\pi/2` is known to twice double precision; Taylor's series on
:math:`|r|\le\pi/4`, then the quadrant. The hyperbolic tangent is :math:`t/(t+2)` with :math:`t = e^{2|x|}-1`, in which only
:math:`e^r - 1` on :math:`|r|\le\ln 2/2` is a series. Steps that rely on exact rounding are not contracted.

Worst errors: 0.8 ulp (sine, cosine up to 1e6), 2.5 ulp (hyperbolic tangent). Checked by: tests/kernels/test_vector_functions.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flexapod.kernels.llvm.writer import LANES, M, V, Writer, splat

I = f"<{LANES} x i64>"
SINE_RANGE = 1e6
"""Largest |x| of the vector sine and cosine: n has 20 bits, so that products with parts of 33 bits are exact."""
TANH_RANGE = 1e300
"""Hyperbolic tangents of all finite numbers: arguments are held below 22, where the result rounds to one."""
MAGIC = 6755399441055744.0
"""1.5 x 2^52: added and taken away again it rounds to an integer, which its lowest bits hold."""


def _parts(text: str, bits: int, count: int) -> list[float]:
    """A number given by its digits as a sum of doubles of at most `bits` bits, the last one whole."""
    rest, result = Fraction(text), []
    for k in range(count):
        value = float(rest)
        if k < count - 1:
            mantissa, exponent = math.frexp(value)
            value = math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)
        result.append(value)
        rest -= Fraction(value)
    return result


HALF_PI = _parts("1.57079632679489661923132169163975144209858469968755291048747229615390820314310450", 33, 3)
LN2 = _parts("0.69314718055994530941723212145817656807550013436025525412068000949339362196969472", 33, 2)
SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)]
COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(2, 9)]
EXPONENTIAL = [1 / math.factorial(k) for k in range(2, 14)]


class FunctionWriter(Writer):
    """Arithmetic on vectors, exact steps apart from those that may fuse."""

    def plain(self, op: str, a: str, b: str) -> str:
        """An operation with one rounding, never fused."""
        return self.let(f"f{op} {V} {a}, {b}")

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c, fused where the processor can."""
        product = self.let(f"fmul contract {V} {a}, {b}")
        return self.let(f"fadd contract {V} {product}, {c}")

    def series(self, coefficients: list[float], z: str) -> str:
        """c0 + c1 z + ... by Horner's rule."""
        result = splat(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.fused(result, z, splat(c))
        return result

    def integer(self, op: str, a: str, b: int) -> str:
        """Integer operation with the same number in all lanes."""
        return self.let(f"{op} {I} {a}, <{', '.join([f'i64 {b}'] * LANES)}>")


def _held(w: FunctionWriter, limit: float) -> tuple[str, str]:
    """Mask of the lanes in range, and x with zero in the others: no lane's result depends on its neighbours."""
    size = w.let(f"call {V} @llvm.fabs.v{LANES}f64({V} %x)")
    inside = w.let(f"fcmp ole {V} {size}, {splat(limit)}")
    return inside, w.let(f"select {M} {inside}, {V} %x, {V} {splat(0.0)}")


def _finish(w: FunctionWriter, inside: str, results: dict[str, str]) -> None:
    """Return the results; lanes beyond the range from the C library's functions, by their names."""
    every = w.let(f"icmp eq i{LANES} {w.let(f'bitcast {M} {inside} to i{LANES}')}, -1")
    w.do(f"br i1 {every}, label %fast, label %slow")
    w.start_block("fast")
    _return(w, list(results.values()))
    w.start_block("slow")
    _return(w, [w.let(f"select {M} {inside}, {V} {own}, {V} {_one_by_one(w, name)}") for name, own in results.items()])


def _return(w: Writer, values: list[str]) -> None:
    if len(values) == 1:
        w.do(f"ret {V} {values[0]}")
        return
    pair = f"{{ {V}, {V} }}"
    first = w.let(f"insertvalue {pair} poison, {V} {values[0]}, 0")
    w.do(f"ret {pair} {w.let(f'insertvalue {pair} {first}, {V} {values[1]}, 1')}")


def _one_by_one(w: Writer, name: str) -> str:
    """The C library's function, lane by lane."""
    result = "poison"
    for lane in range(LANES):
        scalar = w.let(f"extractelement {V} %x, i32 {lane}")
        value = w.let(f"call double @{name}(double {scalar})")
        result = w.let(f"insertelement {V} {result}, double {value}, i32 {lane}")
    return result


def _reduced(w: FunctionWriter, x: str) -> tuple[str, str, str]:
    """r and its rounding error with x = n pi/2 + r, and the bits of n."""
    shifted = w.let(f"fadd {V} {w.plain('mul', x, splat(2 / math.pi))}, {splat(MAGIC)}")
    n = w.plain("sub", shifted, splat(MAGIC))
    a = w.plain("sub", x, w.plain("mul", n, splat(HALF_PI[0])))
    t = w.plain("mul", n, splat(HALF_PI[1]))
    r = w.plain("sub", a, t)
    back = w.plain("sub", a, r)  # the part that was subtracted; its error is exact (Knuth)
    error = w.plain("sub", w.plain("sub", a, w.plain("add", r, back)), w.plain("sub", t, back))
    low = w.plain("sub", w.plain("mul", n, splat(HALF_PI[2])), error)
    y = w.plain("sub", r, low)
    tail = w.plain("sub", w.plain("sub", r, y), low)
    return y, tail, w.let(f"bitcast {V} {shifted} to {I}")


def _sincos() -> tuple[str, set[str]]:
    w = FunctionWriter()
    inside, x = _held(w, SINE_RANGE)
    y, tail, n = _reduced(w, x)
    z = w.plain("mul", y, y)
    cube = w.plain("mul", z, y)
    # sin(y + tail) = y + (tail (1 - z/2) + z y S(z)); cos(y + tail) = 1 - z/2 + (z^2 C(z) - y tail)
    part = w.fused(cube, w.series(SINE, z), w.plain("mul", tail, w.fused(z, splat(-0.5), splat(1.0))))
    sine = w.plain("add", y, part)
    half = w.plain("mul", z, splat(0.5))
    one = w.plain("sub", splat(1.0), half)
    lost = w.plain("sub", w.plain("sub", splat(1.0), one), half)
    small = w.fused(w.plain("mul", z, z), w.series(COSINE, z), w.plain("sub", lost, w.plain("mul", y, tail)))
    cosine = w.plain("add", one, small)
    odd = w.let(f"icmp ne {I} {w.integer('and', n, 1)}, zeroinitializer")
    results = []
    for first, second, rotated in ((sine, cosine, n), (cosine, sine, w.integer("add", n, 1))):
        value = w.let(f"select {M} {odd}, {V} {second}, {V} {first}")
        sign = w.integer("shl", w.integer("and", rotated, 2), 62)
        bits = w.let(f"xor {I} {w.let(f'bitcast {V} {value} to {I}')}, {sign}")
        results.append(w.let(f"bitcast {I} {bits} to {V}"))
    _finish(w, inside, dict(zip(("sin", "cos"), results, strict=True)))
    declared = {"declare double @sin(double)", "declare double @cos(double)"}
    return _definition(w, "flexapod.sincos", f"{{ {V}, {V} }}"), declared


def _tanh() -> tuple[str, set[str]]:
    w = FunctionWriter()
    inside, x = _held(w, TANH_RANGE)
    size = w.let(f"call {V} @llvm.fabs.v{LANES}f64({V} {x})")
    held = w.let(f"select {M} {w.let(f'fcmp olt {V} {size}, {splat(22.0)}')}, {V} {size}, {V} {splat(22.0)}")
    y = w.plain("add", held, held)
    shifted = w.plain("add", w.plain("mul", y, splat(1 / math.log(2))), splat(MAGIC))
    k = w.plain("sub", shifted, splat(MAGIC))
    r = w.plain("sub", w.plain("sub", y, w.plain("mul", k, splat(LN2[0]))), w.plain("mul", k, splat(LN2[1])))
    p = w.fused(w.plain("mul", r, r), w.series(EXPONENTIAL, r), r)
    exponent = w.integer("shl", w.integer("add", w.let(f"bitcast {V} {shifted} to {I}"), 1023), 52)
    power = w.let(f"bitcast {I} {exponent} to {V}")
    t = w.fused(power, p, w.plain("sub", power, splat(1.0)))
    value = w.plain("div", t, w.plain("add", t, splat(2.0)))
    _finish(w, inside, {"tanh": w.let(f"call {V} @llvm.copysign.v{LANES}f64({V} {value}, {V} %x)")})
    declared = {"declare double @tanh(double)", f"declare {V} @llvm.copysign.v{LANES}f64({V}, {V})"}
    return _definition(w, "flexapod.tanh", V), declared


def _definition(w: Writer, name: str, kind: str) -> str:
    return "\n".join([f"define internal {kind} @{name}({V} %x) noinline #0 {{", "entry:", *w.lines, "}"])


FABS = f"declare {V} @llvm.fabs.v{LANES}f64({V})"
DEFINED = {"sin": _sincos, "cos": _sincos, "tanh": _tanh}
"""Function of the tape -> maker of the LLVM function that gives it, with what it declares."""


def function_text(name: str) -> set[str]:
    """Lines of a module that a vector function needs: its definition and declarations."""
    text, declared = DEFINED[name]()
    return declared | {FABS, text}
