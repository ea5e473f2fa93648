r"""Limits of legs that change their length, at one orientation of the platform: shells, cones and a cubic.

With C the universal centre less the rotated spherical one, d = p - C: strokes are shells
:math:`l_{min} \le |d| \le l_{max}`, deflections are cones :math:`g = d\cdot a - \cos\lambda\,|d| \ge 0` with a unit vectors, and
the determinant of the lines (d, r x d) is a cubic polynomial of p. Bounds over a box with middle m and half widths r,
everything at p = m:

.. math:: |d|^2 \in \Big[\sum_k \max(|d_k|-r_k,0)^2,\ \sum_k(|d_k|+r_k)^2\Big],\qquad
          g \in g_m + \nabla g\cdot(p-m) - \Big[0,\ \frac{\cos\lambda\,|r|^2}{2(|d|-|r|)}\Big]

since the norm is convex with second derivatives between 0 and 1/|d|. Roundings are covered by a bound known beforehand, `slack`.
This is the fast way for such robots; `pose_limits` in interval arithmetic is the general one, and both agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.program import Program

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

MONOMIALS = tuple((i, j, k) for i in range(4) for j in range(4 - i) for k in range(4 - i - j))
"""Exponents of a cubic in three variables."""

SMALL = 0.02
SHARE_ROUNDING = 1e-9
FAR = 1e9


@dataclass(frozen=True)
class _Affine:
    """A limit over a box: value at the middle, gradient, and by how much it may lie lower and higher than its tangent."""

    g: SX
    slope: SX
    lower: SX
    higher: SX


def shells(strokes: int, cones: int, cubic: bool) -> Program:
    """Decides boxes: `inside`, `outside`, and `open_cones`, `open_cubic` (1 where not certain), `open` (limits that are not).

    Inputs `at` (3,) middle. Parameters: `radius`, centres, lengths, cones, coefficients, slacks.

    Checked by: tests/analysis/test_pave.py.
    """
    b = Program("shells")
    at = b.input("at", (3,), unit="m")
    r = ca.vertcat(*[b.parameter(f"radius.{k}") for k in "xyz"])
    slack = b.parameter("slack")
    low, high = [], []
    for i in range(strokes):
        d = ca.fabs(at - _vector(b, f"centre.{i}"))
        near, far = ca.fmax(d - r, 0), d + r
        smallest, largest = ca.dot(near, near), ca.dot(far, far)
        low += [smallest - b.parameter(f"shortest.{i}"), b.parameter(f"longest.{i}") - largest]
        high += [largest - b.parameter(f"shortest.{i}"), b.parameter(f"longest.{i}") - smallest]
    first = len(low)
    for limit in _cones(b, at, r, cones):
        reach = ca.dot(ca.fabs(limit.slope), r)
        low.append(limit.g - reach - limit.lower)
        high.append(limit.g + reach + limit.higher)
    certain = [value >= slack for value in low]
    never = [value < -slack for value in high]
    open_cubic = ca.SX(0)
    if cubic:
        value, reach, rest = _cubic(b, at, r)
        margin, own = reach + rest, b.parameter("cubic.slack")
        open_cubic = ca.logic_not(value - margin > own)
        never.append(value + margin < -own)
    outside = _any(never)
    open_cones = _any([ca.logic_not(c) for c in certain[first:]])
    open_shells = _any([ca.logic_not(c) for c in certain[:first]])
    b.output("outside", outside)
    b.output("inside", ca.logic_not(_any([open_shells, open_cones, open_cubic, outside])))
    b.output("open", ca.vertcat(open_shells, open_cones, open_cubic))
    return b


def shell_cuts(strokes: int, cones: int, cubic: bool) -> Program:
    """Shares of undecided boxes that are `certain` and `possible`, cut by the tangent planes of every limit."""
    b = Program("shell_cuts")
    columns = affine_limits(b, strokes, cones, cubic)

    def cut(_: Builder, __: SX, lost: SX, most: SX, limit: SX) -> tuple[list[SX], list[SX]]:
        w = ca.fabs(limit[2:])
        lost = lost + 1 - half_space_share(limit[0], w, -1)
        return [lost, ca.fmin(most, half_space_share(limit[1], w, 1))], []

    (lost, most), _ = b.scan(cut, columns.size2(), carry=[ca.SX(0), ca.SX(1)], each=[columns])
    b.output("certain", ca.fmax(1 - lost, 0))
    b.output("possible", most)
    return b


def affine_limits(b: Program, strokes: int, cones: int, cubic: bool, own_size: bool = False) -> SX:
    r"""Limits over boxes with middles `at` as columns (5, limits): least and most at the middle, and slopes times half widths.

    With t in the cube [-1, 1]^3, every limit is at least :math:`l + w\cdot t` and at most :math:`h + w\cdot t`, with rounding.
    Half widths are parameters, or, where every box has its `own_size`, the input `radius` (3,).
    """
    at = b.input("at", (3,), unit="m")
    r = b.input("radius", (3,), unit="m") if own_size else ca.vertcat(*[b.parameter(f"radius.{k}") for k in "xyz"])
    slack, square = b.parameter("slack"), ca.dot(r, r)
    limits = []
    for i in range(strokes):
        d = at - _vector(b, f"centre.{i}")
        q = ca.dot(d, d)
        limits.append(_Affine(q - b.parameter(f"shortest.{i}"), 2 * d, ca.SX(0), square))
        limits.append(_Affine(b.parameter(f"longest.{i}") - q, -2 * d, square, ca.SX(0)))
    limits += _cones(b, at, r, cones)
    parts = [(limit, slack) for limit in limits]
    if cubic:
        value, _, rest, slope = _cubic_parts(b, at, r)
        parts.append((_Affine(value, slope, rest, rest), b.parameter("cubic.slack")))
    return ca.horzcat(
        *[ca.vertcat(limit.g - limit.lower - own, limit.g + limit.higher + own, limit.slope * r) for limit, own in parts]
    )


def _vector(b: Program, name: str) -> SX:
    return ca.vertcat(*[b.parameter(f"{name}.{k}") for k in "xyz"])


def _any(truths: list[SX]) -> SX:
    found = ca.SX(0)
    for truth in truths:
        found = ca.logic_or(found, truth)
    return found


def _cones(b: Program, at: SX, r: SX, count: int) -> list[_Affine]:
    size = ca.sqrt(ca.dot(r, r))
    found = []
    for i in range(count):
        d, a, c = at - _vector(b, f"cone.{i}.centre"), _vector(b, f"cone.{i}.axis"), b.parameter(f"cone.{i}.cosine")
        length = ca.sqrt(ca.dot(d, d))
        clear = length - size
        bend = ca.fabs(c) * size * size / (2 * ca.if_else(clear > 0, clear, 1))
        bend = ca.if_else(clear > 0, bend, FAR)
        # cos < 0: the function is convex instead
        found.append(
            _Affine(ca.dot(d, a) - c * length, a - d * (c / length), ca.if_else(c > 0, bend, 0), ca.if_else(c > 0, 0, bend))
        )
    return found


def _cubic(b: Program, at: SX, r: SX) -> tuple[SX, SX, SX]:
    value, reach, rest, _ = _cubic_parts(b, at, r)
    return value, reach, rest


def _cubic_parts(b: Program, at: SX, r: SX) -> tuple[SX, SX, SX, SX]:
    """The cubic about the middle: value, sum of its linear terms over the box, sum of the others, gradient."""
    t: dict[tuple[int, ...], SX] = {m: b.parameter(f"cubic.{m[0]}{m[1]}{m[2]}") for m in MONOMIALS}
    for axis in range(3):
        x = at[axis]
        for base in [m for m in MONOMIALS if m[axis] == 0]:
            up = [tuple(e + (n if k == axis else 0) for k, e in enumerate(base)) for n in range(4 - sum(base))]
            c = [t[m] for m in up]  # Horner's shift p(x + u)
            for stop in range(len(c) - 1):
                for n in range(len(c) - 2, stop - 1, -1):
                    c[n] = c[n] + x * c[n + 1]
            for m, new in zip(up, c, strict=True):
                t[m] = new
    unit = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    slope = ca.vertcat(*[t[m] for m in unit])
    rest = ca.SX(0)
    for m in MONOMIALS:
        if sum(m) > 1:
            rest += ca.fabs(t[m]) * r[0] ** m[0] * r[1] ** m[1] * r[2] ** m[2]
    return t[0, 0, 0], ca.dot(ca.fabs(slope), r), rest, slope


def half_space_share(alpha: SX, w: SX, safe: int) -> SX:
    """Share of the cube [-1, 1]^3 where alpha + w.t >= 0 (w >= 0), rounded up (safe = 1) or down (-1); see `cut_boxes`."""
    high, low = ca.fmax(w[0], w[1]), ca.fmin(w[0], w[1])
    a, rest = ca.fmax(high, w[2]), ca.fmin(high, w[2])
    middle, c = ca.fmax(low, rest), ca.fmin(low, rest)
    small_c, small_b = c < SMALL * a, middle < SMALL * a
    alpha = alpha + safe * (ca.if_else(small_c, c, 0) + ca.if_else(small_b, middle, 0))

    def sums(weights: list[SX], power: int) -> SX:
        total = ca.SX(0)
        for code in range(2 ** len(weights)):
            signs = [-1 if (code >> k) & 1 else 1 for k in range(len(weights))]
            term = ca.fmax(alpha + sum(s * x for s, x in zip(signs, weights, strict=True)), 0)
            sign = -1 if sum(s < 0 for s in signs) % 2 else 1
            total += sign * (term if power == 1 else term * term if power == 2 else term * term * term)
        return total

    safe_a, safe_b, safe_c = ca.fmax(a, 1e-300), ca.if_else(small_b, 1, middle), ca.if_else(small_c, 1, c)
    one = sums([a], 1) / (2 * safe_a)
    two = sums([a, middle], 2) / (8 * safe_a * safe_b)
    three = sums([a, middle, c], 3) / (48 * safe_a * safe_b * safe_c)
    share = ca.if_else(small_b, one, ca.if_else(small_c, two, three)) + safe * SHARE_ROUNDING
    total = a + ca.if_else(small_b, 0, middle) + ca.if_else(small_c, 0, c)
    share = ca.if_else(alpha >= total, 1, ca.if_else(alpha < -total, 0, share))
    return ca.fmin(ca.fmax(share, 0), 1)
