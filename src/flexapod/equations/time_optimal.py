r"""Steps of the fastest timing of a path: feasible squared speeds, and the largest acceleration.

Letters: s path parameter, x = sd^2, u = sdd, D length of an interval: x + 2 D u is the squared speed at its end. Limits are
rows :math:`l_r - m_r x \le u \le h_r - k_r x`; for a given x the accelerations are an interval of length

.. math:: g(x) = \min_r (h_r - k_r x) - \max_r (l_r - m_r x)

which is concave and made of straight pieces. The largest and smallest x with g(x) >= 0 are found by Newton's method from
outside: tangents lie above g, so that no step goes too far, and the last piece gives the exact end.

Source: Pham & Pham 2018 (TOPP-RA) for the two passes. Checked by: tests/analysis/test_time_optimal.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.program import Program

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

PASSES = 100
"""Most passes, more than there are straight pieces in g of most robots; Newton's method needs 2 to 6."""

ROUNDING = 1e-13
"""g that counts as zero, over the size of its terms."""

INFEASIBLE = 1e-9
"""-g over the size of its terms beyond which no acceleration is possible."""


def _rows(b: Program, rows: int) -> list[SX]:
    return [b.input(name, (rows,)) for name in ("upper", "upper_slope", "lower", "lower_slope")]


@dataclass(frozen=True)
class Extremes:
    """Largest and smallest acceleration at x, and the rows that decide: u = h - k x above, u = l - m x below."""

    most: SX
    least: SX
    h: SX
    k: SX
    l: SX
    m: SX

    def size(self, x: SX) -> SX:
        """Size of the terms of g(x) before they cancel: their rounding is that of g."""
        return ca.fabs(self.h) + ca.fabs(self.k * x) + ca.fabs(self.l) + ca.fabs(self.m * x)


def _extremes(rows: list[SX], x: SX, high: SX, low: SX, slope: SX) -> Extremes:
    """Extremes over the rows; the end of the interval is one row more."""
    upper, upper_slope, lower, lower_slope = rows
    h, k, l, m = high, slope, low, slope
    most, least = h - k * x, l - m * x
    for r in range(upper.numel()):
        above, below = upper[r] - upper_slope[r] * x, lower[r] - lower_slope[r] * x
        h, k = (ca.if_else(above < most, new, old) for new, old in ((upper[r], h), (upper_slope[r], k)))
        l, m = (ca.if_else(least < below, new, old) for new, old in ((lower[r], l), (lower_slope[r], m)))
        most, least = ca.fmin(most, above), ca.fmax(least, below)
    return Extremes(most, least, h, k, l, m)


def controllable_step(rows: int) -> Program:
    """Backward pass: squared speeds at the start of an interval from which those at its end, [low, high], can be reached.

    Inputs `upper`, `upper_slope`, `lower`, `lower_slope` (rows,), `cap` (largest x); carried `low`, `high`.
    """
    b = Program("controllable_step")
    limits = _rows(b, rows)
    cap, low, high = (b.input(name) for name in ("cap", "low", "high"))
    double = 2 * b.parameter("interval")

    def extremes(x: SX) -> Extremes:
        return _extremes(limits, x, high / double, low / double, 1 / double)

    largest = _end(b, extremes, cap, -1)
    smallest = _end(b, extremes, ca.SX(0), 1)
    b.output("next_low", ca.fmin(ca.fmax(smallest, 0), largest))
    b.output("next_high", largest)
    return b


def _end(b: Program, extremes: Callable[[SX], Extremes], start: SX, sign: int) -> SX:
    """The end of {g >= 0} that is met from outside; sign of g' that leads there.

    A step goes to where the two rows that decide meet, which does not cancel digits of a far start.
    """

    def newton(_: Builder, x: SX) -> tuple[list[SX], SX]:
        e = extremes(x)
        slope = e.m - e.k
        outside = ca.logic_and(e.most - e.least < -ROUNDING * e.size(x), sign * slope > 0)
        return [ca.if_else(outside, (e.l - e.h) / ca.if_else(outside, slope, 1), x)], outside

    (x,), _, _ = b.iterate(newton, start=[start], limit=PASSES, tolerance=0.0)
    e = extremes(x)
    b.fail_if(ca.logic_not(e.most - e.least >= -INFEASIBLE * e.size(x)), "no acceleration keeps the limits")
    return x


def fastest_step(rows: int) -> Program:
    """Forward pass: the largest acceleration in an interval that ends inside [low, high]; carried `x`."""
    b = Program("fastest_step")
    limits = _rows(b, rows)
    low, high, x = (b.input(name) for name in ("low", "high", "x"))
    double = 2 * b.parameter("interval")
    e = _extremes(limits, x, high / double, low / double, 1 / double)
    u = ca.if_else(e.most < e.least, (e.most + e.least) / 2, e.most)
    b.output("acceleration", u)
    b.output("next_x", ca.fmax(x + double * u, 0))
    return b
