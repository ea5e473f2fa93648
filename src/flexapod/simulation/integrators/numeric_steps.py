r"""Steps of simulations in numbers (`numeric_rows`): increments y = (x, v, z) of a row, by the methods of the compiled loop.

.. math:: \dot x = v_0 + v,\qquad M\dot v = -r(x, v),\qquad \dot z = g(x, v, z)

x: unknown coordinates since the row's start; v: their rates since then; z: what is integrated beside. Coefficients and tolerances
are those of `rk4`, `dopri` and `implicit_step`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from flexapod.arrays import Array
from flexapod.simulation.integrators import dopri, rk4
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.implicit import CLOSED, LOST, PASSES, ROUNDING

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import ClosedLegs
    from flexapod.simulation.integrators.numeric_rows import NumericRows

Signal = Callable[[float], Array]
"""Signals (1, width) at a place 0 .. 1 of a row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StepStart:
    """State from which increments begin: carried numbers, the closed state of one sample, N (z, u) there, signals (1, width)
    there."""

    now: Array
    begin: ClosedLegs
    N: Array
    signals: Array


def signal_of(method: str, signals: Array) -> Signal:
    """Signals within a row from its table (nodes, width): polynomials of `dopri`, else values at the start, middle and end."""
    if method == "dopri":
        return lambda where: np.asarray(np.polynomial.polynomial.polyval(2.0 * where - 1.0, signals))[None]
    return lambda where: signals[round(where * (len(signals) - 1))][None]


def part_of_row(nodes: Array, signals: Array, begin: float) -> Array:
    """Signals (nodes, width) at the nodes of the half of a row that starts at `begin` (0 or 1/2): a polynomial through the row's
    own, of which Radau's methods have the end twice."""
    own, first = np.unique(nodes, return_index=True)
    coefficients = np.linalg.solve(np.vander(own, increasing=True), signals[first])
    return np.asarray(np.vander(begin + nodes / 2.0, len(own), increasing=True) @ coefficients)


def derivative(rows: NumericRows, start: StepStart, y: Array, signals: Array) -> tuple[Array, str]:
    """Rates of the increments y (k,) at signals (1, width), and a reason where there are none."""
    layout, reasons = rows.layout, np.full(1, "", dtype=object)
    n = len(layout.unknown)
    rate = start.now[layout.places["ud"]][layout.unknown] + y[n : 2 * n]
    step, rates = rows.completed(y[None, :n], signals - start.signals, 0), rows.completed(rate[None], signals, 1)
    at = rows.moved(start.begin, step, rates, reasons, start.N)
    found = rows.evaluate(at, rates, np.zeros((1, n)), y[None, 2 * n :], signals, reasons, now=start.now)
    a = np.full(n, np.nan)
    if reasons[0] == "":
        a = np.linalg.solve(found.terms.M[0][np.ix_(layout.unknown, layout.unknown)], -found.residual[0])
        if layout.feels or layout.follows:  # what accelerometers feel, and the work of followed actuators, depend on it
            found = rows.evaluate(at, rates, a[None], y[None, 2 * n :], signals, reasons, now=start.now)
    return np.concatenate([rows.rates(start.begin, at, rate[:, None])[:, 0], a, found.beside[0]]), str(reasons[0])


def rk4_increments(rows: NumericRows, start: StepStart, h: float, signal: Signal) -> tuple[Array, str]:
    """Increments after a step of `rk4`, and a reason where it fails."""
    k = total = np.zeros(rows.layout.increments)
    for argument, weight, node in zip(rk4.ARGUMENT, rk4.WEIGHT, rk4.NODE, strict=True):
        k, why = derivative(rows, start, h * argument * k, signal(node / 2.0))
        if why:
            return k, why
        total = total + weight * k
    return h * total, ""


def adaptive_row(rows: NumericRows, start: StepStart, H: float, signal: Signal) -> tuple[Array, str]:
    """Carried numbers after a row by `dopri`, and a reason where it fails; see `dopri.adaptive_row`."""
    place, now, s = rows.layout.places, start.now, 0.0
    for _ in range(dopri.PASSES):
        wanted = float(now[place["step"]][0])
        last = wanted * (1.0 + 1e-6) >= H - s
        h = H - s if last else wanted
        y, error, why = _stages(rows, start, h, lambda c, s=s, h=h: signal((s + c * h) / H))  # type: ignore[misc]
        after, end, lost = (now, start.begin, why) if why else rows.advanced(start, y, signal(min((s + h) / H, 1.0)))
        why = why or lost
        size = np.inf if why else _norm(rows, start, error)
        good = size <= 1.0
        factor = min(5.0, max(0.2, 0.9 * max(size, 1e-10) ** -0.2)) if size < 1e300 else 0.2
        now = (after if good else now).copy()
        now[place["step"]] = max(wanted, h * factor) if last and good else h * factor
        now[place["taken" if good else "rejected"]] += 1.0
        if not good:
            if h * factor < dopri.SMALLEST * H:
                return now, why or dopri.STALLED
            start = StepStart(now=now, begin=start.begin, N=start.N, signals=start.signals)
            continue
        s = H if last else s + h
        if last:
            return now, ""
        start = StepStart(now=now, begin=end, N=rows.slopes(end), signals=signal(s / H))
    return now, dopri.TOO_MANY


def _stages(rows: NumericRows, start: StepStart, h: float, signal: Signal) -> tuple[Array, Array, str]:
    """Fifth-order increments, their error estimate, and a reason where a stage fails."""
    k = np.zeros((7, rows.layout.increments))
    for i in range(7):
        k[i], why = derivative(rows, start, h * dopri.A[i] @ k, signal(float(dopri.C[i])))
        if why:
            return k[0], k[0], why
    return h * dopri.A[6] @ k, h * dopri.E @ k, ""


def _norm(rows: NumericRows, start: StepStart, error: Array) -> float:
    """Weighted error of coordinates and rates; see `independent_norm`."""
    layout, robot, at = rows.layout, rows.layout.robot, start.begin
    rtol, atol = rows.values["tolerance.relative"], rows.values["tolerance.absolute"]
    n, head = len(layout.unknown), len(robot.elastic_plan.columns) - at.joint_position.shape[1] - at.modes.shape[1]
    z = np.concatenate([np.zeros(head), at.modes[0], at.joint_position[0]])[rows.free]
    total, rates = 0.0, start.now[layout.places["ud"]]
    for group in ([k for k in layout.unknown if k in rows.places], [k for k in layout.unknown if k not in rows.places]):
        own = [layout.unknown.index(k) for k in group]
        for offset, values in ((0, z[group]), (n, rates[group])):
            scale = atol + rtol * np.abs(values).max(initial=0.0)
            total += float(np.sum((error[[offset + k for k in own]] / scale) ** 2)) if own else 0.0
    return float(np.sqrt(total / max(2 * n, 1)))


def implicit_increments(
    rows: NumericRows, start: StepStart, h: float, signals: Array, a0: Array, tangent: tuple[Array, Array, Array]
) -> tuple[Array, str]:
    """Increments after a step, by the passes of `implicit_step`, and a reason where it fails.

    Args:
        signals: (nodes, width) at the start, the stages and the end.
        a0: accelerations of the unknowns at the start; tangent: mass, damping and stiffness there.
    """
    layout, method = rows.layout, METHODS[rows.layout.method]
    M, D, K = tangent
    s, v0 = method.stages, start.now[layout.places["ud"]][layout.unknown]
    factors = [(scipy.linalg.lu_factor(M + h * w * D + (h * w) ** 2 * K), row, column)
               for w, row, column in (*method.real, *method.pairs)]  # fmt: skip
    X, V = v0[:, None] + h * a0[:, None] * method.c, np.tile(a0[:, None], (1, s))
    Z = np.zeros((layout.increments - 2 * len(v0), s))
    before, many = np.inf, start.begin.rows(np.zeros(s, dtype=int))
    for _ in range(PASSES):
        reasons = np.full(s, "", dtype=object)
        x, v, z = (h * rate @ method.A.T for rate in (X, V, Z))
        step = rows.completed(x.T, signals[1:-1] - start.signals, 0)
        rates = rows.completed(v0 + v.T, signals[1:-1], 1)
        at = rows.moved(many, step, rates, reasons, start.N)
        found = rows.evaluate(at, rates, V.T, z.T, signals[1:-1], reasons, now=start.now)
        if np.any(reasons != ""):
            return x[:, 0], str(reasons[reasons != ""][0])
        rate = rows.rates(start.begin, at, v0[:, None] + v)
        off = X - rate
        delta = _correction(factors, h * K @ (off @ method.A.T) - found.residual.T)
        X, V, Z = rate + h * delta @ method.A.T, V + delta, found.beside.T
        scale = CLOSED[1] + CLOSED[0] * (np.abs(v0) + h * np.linalg.norm(V, axis=1))
        size = float(np.sqrt(np.sum((h**2 * np.sum(delta**2, axis=1) + np.sum(off**2, axis=1)) / scale**2)))
        if size < 1.0 or (size < ROUNDING and size > 0.9 * before):
            return h * np.concatenate([X, V, Z]) @ method.b, ""
        before = size
    return x[:, 0], LOST


def _correction(factors: list[Any], right: Array) -> Array:
    total = np.zeros_like(right)
    for factor, row, column in factors:
        found = np.outer(scipy.linalg.lu_solve(factor, right @ row), column)
        total = total + (found if np.isrealobj(found) else 2.0 * found.real)
    return total
