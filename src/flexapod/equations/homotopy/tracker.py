r"""Path tracker: a few steps along the solution paths x(t) of F(x, p(t)) = 0, four paths per vector.

F is homogeneous in x in C^n (n - 1 equations), and p(t) = p_0 + t (p_1 - p_0). On the patch that is fixed by the last point,

.. math:: \begin{bmatrix} F_x \\ \bar x^T \end{bmatrix} \dot x = -\begin{bmatrix} F_t \\ 0\end{bmatrix},\qquad
          \begin{bmatrix} F_x \\ \bar x^T \end{bmatrix} u = -\begin{bmatrix} F \\ 0\end{bmatrix}

A step predicts by the cubic Hermite polynomial of the last two points and their tangents, corrects by Newton, and solves once
more for the tangent together with a second Newton step: the step counts if the first correction is small and the second one
much smaller. A path at t = 1 is polished by Newton steps. A path leaves the loop when it has arrived or its step is too small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.homotopy.complex_pairs import ZERO, Z, complexify, dot
from flexapod.kernels.tape.program import Program

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

FLOOR = 1e-14
"""Squared relative size of a second Newton step that always counts as small: tighter tolerances must not fail by rounding."""

PASSES = 12
"""Steps of one call: between calls, paths that have ended leave the batch."""

POLISH = 2
"""Passes at t = 1, of two Newton steps each."""

SCALARS = ("t", "t1", "h", "history", "polish", "code", "steps", "first", "second")
"""Scalars of a path's state: parameter now and at the point before, step, number of points behind, polishing passes left,
0 under way / 1 arrived / 2 step too small, steps tried, squared sizes of the last two Newton steps."""

Evaluator = Callable[[Z, Z, Z, bool], list[Z]]
"""Newton step, and the tangent where it is wanted, at (x, p, dp)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """A family of polynomial systems.

    Args:
        name: identifier.
        x: (n,) symbols, in which `equations` are homogeneous.
        p: (m,) symbols of the parameters.
        equations: (n - 1,) expressions.
        leading: the first so many unknowns are compared with their own size, all with the size of all.
    """

    name: str
    x: SX
    p: SX
    equations: SX
    leading: int


def state_size(n: int) -> int:
    """Numbers in a path's state: x, its tangent, the point before and its tangent as pairs, and the scalars."""
    return 8 * n + len(SCALARS)


def tracker(system: System) -> Program:
    """The program: inputs `state`, `p0`, `dp` (parameters as real parts, then imaginary parts) and `control` (largest first
    Newton step squared, largest contraction squared, smallest step, largest step); output `ahead`, the state after at most
    PASSES steps.

    Checked by: tests/equations/test_homotopy.py.
    """
    n, m = system.x.numel(), system.p.numel()
    b = Program(f"track_{system.name}")
    state = b.input("state", (state_size(n),))
    p0 = b.input("p0", (2 * m,))
    dp = b.input("dp", (2 * m,))
    control = b.input("control", (4,))
    evaluate = _evaluator(system)

    def body(_: Builder, carry: SX, a: SX, d: SX, limits: SX) -> tuple[list[SX], SX]:
        following = _step(system, evaluate, carry, Z(a[:m], a[m:]), Z(d[:m], d[m:]), limits)
        return [following], ca.if_else(following[8 * n + SCALARS.index("code")] == 0, 1, 0)

    (final,), _, _ = b.iterate(body, start=[state], shared=[p0, dp, control], limit=PASSES, tolerance=0.5)
    b.output("ahead", final, shape=(state_size(n),))
    return b


def _evaluator(system: System) -> Evaluator:
    """Newton step and tangent at (x, p, dp) as complex columns."""
    x, p, f = system.x, system.p, system.equations
    n = x.numel()
    dp = ca.SX.sym("dp", p.numel())
    rows = ca.vertcat(*[ca.gradient(f[i], x).T for i in range(f.numel())])
    change = ca.jtimes(f, p, dp)
    parts = [ca.densify(f), ca.densify(ca.vec(rows)), ca.densify(change)]
    function = ca.Function("system", [x, p, dp], parts, {"cse": True})

    def evaluate(at: Z, parameters: Z, rate: Z, tangent: bool) -> list[Z]:
        value, jacobian, moving = complexify(function, [at, parameters, rate])
        table = [[jacobian[i + (n - 1) * j] for j in range(n)] for i in range(n - 1)] + [[at[j].conj() for j in range(n)]]
        right = [[-value[i]] + ([-moving[i]] if tangent else []) for i in range(n - 1)] + [[Z(ZERO, ZERO)] * (1 + tangent)]
        return solve([row + r for row, r in zip(table, right, strict=True)])

    return evaluate


def solve(rows: list[list[Z]]) -> list[Z]:
    """Solutions of a complex linear system (n rows of n + r entries) by elimination with partial pivoting."""
    n, width = len(rows), len(rows[0])
    A = [Z.stack(row) for row in rows]
    for k in range(n):
        for i in range(k + 1, n):
            larger = A[i][k].norm2() > A[k][k].norm2()
            A[k], A[i] = A[i].where(larger, A[k]), A[k].where(larger, A[i])
        A[k] = A[k] * A[k][k].inverse()
        for i in range(k + 1, n):
            tail = A[i][k + 1 :] - A[i][k] * A[k][k + 1 :]
            A[i] = Z.stack([A[i][: k + 1], tail])
    results = []
    for r in range(n, width):
        x: list[Z] = [A[i][r] for i in range(n)]
        for k in range(n - 2, -1, -1):
            for i in range(k + 1, n):
                x[k] = x[k] - A[k][i] * x[i]
        results.append(Z.stack(x))
    return results


def _step(system: System, evaluate: Evaluator, carry: SX, p0: Z, dp: Z, limits: SX) -> SX:
    """State after one step, tried and taken or not."""
    n = system.x.numel()
    x, k, x1, k1 = (Z(carry[2 * n * i : 2 * n * i + n], carry[2 * n * i + n : 2 * n * (i + 1)]) for i in range(4))
    t, t1, h, history, polish, _, steps, _, _ = (carry[8 * n + i] for i in range(len(SCALARS)))
    largest, contraction, smallest, longest = (limits[i] for i in range(4))
    here = ca.logic_or(history < 0, t >= 1)  # a start gets its tangent, an end is polished
    left = 1 - t
    h = ca.if_else(h > left, left, ca.if_else(1.5 * h > left, 0.5 * left, h))
    H = ca.if_else(here, 0, h)
    t_next = ca.if_else(ca.logic_and(ca.logic_not(here), h >= left), 1, t + H)
    trial = _predict((x, k), (x1, k1), H, t - t1, history >= 1)
    parameters = p0 + dp.scaled(t_next)
    (u,) = evaluate(trial, parameters, dp, False)
    first = _size(system, trial, u)
    trial = trial + u
    u, tangent = evaluate(trial, parameters, dp, True)
    second = _size(system, trial, u)
    trial = Z(trial.re + ca.if_else(second < 1e-4, u.re, 0), trial.im + ca.if_else(second < 1e-4, u.im, 0))
    length = 1 / ca.sqrt(trial.norm2())
    trial, tangent = trial.scaled(length), tangent.scaled(length)
    small = second < FLOOR
    good = ca.logic_and(first < largest, ca.logic_or(second <= contraction * first, small))
    ratio = ca.fmax(first / largest, ca.if_else(small, 0, second / (contraction * first + 1e-300)))
    ratio = ca.if_else(ratio < 1e30, ratio, 1e30)
    rate = 0.75 / ca.sqrt(ca.sqrt(ca.sqrt(ratio + 1e-12)))
    taken = ca.if_else(here, second < 1e-4, good)
    grown = ca.fmin(longest, h * ca.fmin(2.5, ca.fmax(0.4, rate)))
    h_next = ca.if_else(here, carry[8 * n + 2], ca.if_else(good, grown, h * ca.fmin(0.6, ca.fmax(0.1, rate))))
    polish_next = ca.if_else(t >= 1, polish - 1, polish)
    code = ca.if_else(ca.logic_and(t >= 1, polish_next <= 0), 1, ca.if_else(ca.logic_and(t < 1, h_next < smallest), 2, 0))
    code = ca.if_else(ca.logic_and(here, ca.logic_not(taken)), ca.if_else(t >= 1, 1, 2), code)
    moved = ca.logic_and(taken, ca.logic_not(here))
    new = [trial.where(taken, x), tangent.where(taken, k), x.where(moved, x1), k.where(moved, k1)]
    history_next = ca.if_else(history < 0, 0, ca.if_else(moved, history + 1, history))
    scalars = [ca.if_else(taken, t_next, t), ca.if_else(moved, t, t1), h_next, history_next, polish_next, code, steps + 1]
    finite = [ca.if_else(v < 1e30, v, 1e30) for v in (first, second)]
    return ca.vertcat(*[part for z in new for part in (z.re, z.im)], *scalars, *finite)


def _predict(here: tuple[Z, Z], before: tuple[Z, Z], H: SX, way: SX, two: SX) -> Z:
    """Hermite polynomial through (x1, k1) before and (x, k) here, `way` apart, continued by H; the point before is carried to the
    patch of x first. Euler's step where there is one point only."""
    (x, k), (x1, k1) = here, before
    s = dot(x.conj(), x1).inverse()
    x1, slope = x1 * s, dot(x.conj(), k1) * s
    k1 = k1 * s - x1 * slope
    i1 = 1 / ca.if_else(two, way, 1)
    chord = (x - x1).scaled(i1)
    g0, g1 = (k - chord).scaled(i1), (chord - k1).scaled(i1)
    cubic = (g0 - g1).scaled(i1)
    curved = g0.scaled(H * H) + cubic.scaled(H * H * (H + way))
    curved = Z(ca.if_else(two, curved.re, 0), ca.if_else(two, curved.im, 0))
    return x + k.scaled(H) + curved


def _size(system: System, x: Z, u: Z) -> SX:
    """Squared relative size of a step: of the leading unknowns among themselves, of all among all."""
    n, lead = x.re.numel(), system.leading
    first = u[:lead].norm2() / x[:lead].norm2()
    return first if lead == n else ca.fmax(first, u[lead:].norm2() / x.norm2())


def lever(m: SX, n: SX, e: SX) -> SX:
    """W e = e b - a e with m = b - a and n = a + b (quaternion products)."""
    v = e[1:4]
    return ca.vertcat(-ca.dot(m, v), m * e[0] - ca.cross(n, v))


def six_legs() -> System:
    r"""The general 6-6 platform: parameters m (6 x 3), n (6 x 3), s (6); 40 solutions.

    Equations in Study's coordinates x = (e, g) in P^7: e is the quaternion of the platform's rotation, g = p e with the position
    p, and e.g = 0 (Study's quadric). A leg from base point a to platform point b of squared length s:

    .. math:: D\cdot D - s\,e\cdot e = 0,\qquad D = g + W e,\quad W e = e\,b - a\,e,\quad
              W = \begin{bmatrix} 0 & -m^T \\ m & -[n]_\times\end{bmatrix},\; m = b - a,\; n = a + b

    Source: M. Husty, An algorithm for solving the direct kinematics of general Stewart-Gough platforms (1996).
    Checked by: tests/equations/test_homotopy.py.
    """
    x, p = ca.SX.sym("x", 8), ca.SX.sym("p", 42)
    e, g = x[:4], x[4:]
    m, n, s = ca.reshape(p[:18], 3, 6), ca.reshape(p[18:36], 3, 6), p[36:]
    norm = ca.dot(e, e)
    D = [g + lever(m[:, i], n[:, i], e) for i in range(6)]
    legs = [(ca.dot(d, d) - s[i] * norm) / 2 for i, d in enumerate(D)]
    return System(name="six_legs", x=x, p=p, equations=ca.vertcat(*legs, ca.dot(e, g)), leading=4)
