"""Collocation methods: coefficients, factorisation, order, phase, energy and damping, on systems without any robot."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from flexapod.kernels.tape.program import Program
from flexapod.simulation.integrators.collocation import Collocation, gauss, radau
from flexapod.simulation.integrators.complex_ldl import factorise, solve_factorised
from flexapod.simulation.integrators.implicit import Evaluation, SecondOrder, implicit_step
from support.plain import compile_kernel

ROUNDING = 1e-13
"""A few roundings of sums of some ten numbers of size one."""
ORDER = 0.3
"""Allowed distance of a measured order from the method's: the next term of the error is not yet negligible."""
STEPS = 100
G = 9.81
SOLVED = 1e-13
"""Relative: two factorisations of a matrix of seven rows."""
FAST = 2e-3
"""[J] The fast mode has 1.25e-3 J to exchange."""
DRIFT = 1e-4
"""[J] Between means over 2 s at both ends: a twelfth of the fast energy."""
DAMPED = 1e-6
"""Of the fast energy, after 100 steps: Radau damps what it cannot resolve."""
SERIES = 0.06
"""Of the phase lag: the next term of the series is y^2/28 to y^2/20 of it."""
AMPLITUDE = 1e-11
"""Of the amplitude, per step: rounding."""


def test_coefficients_of_the_books() -> None:
    """Hairer and Wanner II, Tables IV.5.1 (Gauss 4) and IV.5.6 (Radau IIA 5)."""
    root = np.sqrt(3.0)
    assert np.allclose(gauss(2).A, [[1 / 4, 1 / 4 - root / 6], [1 / 4 + root / 6, 1 / 4]], rtol=0, atol=ROUNDING)
    six = np.sqrt(6.0)
    A = [
        [(88 - 7 * six) / 360, (296 - 169 * six) / 1800, (-2 + 3 * six) / 225],
        [(296 + 169 * six) / 1800, (88 + 7 * six) / 360, (-2 - 3 * six) / 225],
        [(16 - six) / 36, (16 + six) / 36, 1 / 9],
    ]
    assert np.allclose(radau(3).A, A, rtol=0, atol=ROUNDING)
    assert np.allclose(radau(3).b, A[2], rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("method", [gauss(1), gauss(2), gauss(3), radau(2), radau(3)], ids=lambda m: m.name)
def test_eigenvalues_rebuild_the_coefficients(method: Collocation) -> None:
    A = sum((value * np.outer(column, row) for value, row, column in method.real), np.zeros_like(method.A))
    A = A + sum((2 * (value * np.outer(column, row)).real for value, row, column in method.pairs), np.zeros_like(method.A))
    assert np.allclose(A, method.A, rtol=0, atol=ROUNDING)
    powers = np.arange(1, method.stages + 1)  # B(s) and C(s): integrals of polynomials are exact
    assert np.allclose(method.b @ method.c[:, None] ** (powers - 1), 1 / powers, rtol=0, atol=ROUNDING)
    assert np.allclose(method.A @ method.c[:, None] ** (powers - 1), method.c[:, None] ** powers / powers, rtol=0, atol=ROUNDING)


def test_complex_factors() -> None:
    random = np.random.default_rng(5)
    B, C = random.normal(size=(2, 7, 7))
    A, y = B @ B.T + np.eye(7) + 1j * (C @ C.T), random.normal(size=7) + 1j * random.normal(size=7)
    re, im = solve_factorised(factorise(ca.SX(A.real), ca.SX(A.imag)), ca.SX(y.real), ca.SX(y.imag))
    x = np.array(ca.DM(re)).ravel() + 1j * np.array(ca.DM(im)).ravel()
    assert np.abs(A @ x - y).max() < 1e3 * ROUNDING * np.abs(x).max()
    real, none = solve_factorised(factorise(ca.SX(A.real)), ca.SX(y.real))
    assert none is None
    assert np.allclose(np.array(ca.DM(real)).ravel(), np.linalg.solve(A.real, y.real), rtol=SOLVED, atol=0)


def pendulum(method: Collocation, tangent: bool = True) -> Program:
    """STEPS steps of a mass on a spring that turns: x = (r, phi), T = (r'^2 + r^2 phi'^2)/2, U = k (r - 1)^2/2 - g r cos(phi).

    z is the work of gravity, so that the energy balance is another check of what is integrated beside.
    """
    root = Program("pendulum")
    start, h, k = root.input("start", (5,)), root.input("h"), root.parameter("k")

    def step(b: object, _: object, y: ca.SX) -> tuple[list[ca.SX], list[ca.SX]]:
        x0, v0 = y[:2], y[2:4]

        def parts(x: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX]:
            r, phi = x[0], x[1]
            M = ca.diag(ca.vertcat(1, r**2))
            f = ca.vertcat(r * v[1] ** 2 - k * (r - 1) + G * ca.cos(phi), -2 * r * v[0] * v[1] - G * r * ca.sin(phi))
            return M, f

        def evaluate(_: object, dx: ca.SX, dv: ca.SX, a: ca.SX, z: ca.SX, column: ca.SX) -> Evaluation:
            x, v = x0 + dx, v0 + dv
            M, f = parts(x, v)
            work = G * (v[0] * ca.cos(x[1]) - x[0] * v[1] * ca.sin(x[1]))
            return Evaluation(residual=ca.mtimes(M, a) - f, rate=v, beside=work, code=ca.SX(0))

        M, f = parts(x0, v0)
        K = ca.diag(ca.vertcat(k if tangent else 0, 0))
        system = SecondOrder(
            evaluate=evaluate, velocity=v0, acceleration=f / ca.diag(M), mass=M, damping=ca.SX.zeros(2, 2), stiffness=K, beside=1
        )
        found = implicit_step(root, b, method, system, h, ca.SX(0, method.stages))
        after = ca.if_else(found.code == 0, y + ca.vertcat(found.x, found.v, found.z), y)
        return [after], [ca.vertcat(after, found.code, found.passes)]

    _, (rows,) = root.scan(step, STEPS, carry=[start])
    root.output("rows", rows.T, shape=(STEPS, 7))
    return root


@cache
def kernel(name: str, tangent: bool = True) -> object:
    kind, _, order = name.partition("-")
    method = gauss(int(order) // 2) if kind == "gauss" else radau((int(order) + 1) // 2)
    return compile_kernel(pendulum(method, tangent))


def swing(name: str, h: float, count: int, k: float, start: tuple[float, ...], tangent: bool = True) -> np.ndarray:
    """Rows (count, 7): r, phi, rates, work of gravity, status, passes."""
    state, rows = np.array([*start, 0.0]), []
    while sum(map(len, rows)) < count:
        found = kernel(name, tangent).batch({"start": state[None], "h": np.array([h])}, np.array([k])).outputs["rows"][0]
        rows.append(found[: count - sum(map(len, rows))])
        state = found[-1, :5]
    return np.concatenate(rows)


def energy(rows: np.ndarray, k: float) -> np.ndarray:
    r, phi, rd, phid = rows[:, :4].T
    return (rd**2 + (r * phid) ** 2) / 2 + k * (r - 1) ** 2 / 2 - G * r * np.cos(phi)


def exact(k: float, end: float, start: tuple[float, ...]) -> np.ndarray:
    def rate(_: float, y: np.ndarray) -> list[float]:
        r, phi, rd, phid = y
        return [rd, phid, r * phid**2 - k * (r - 1) + G * np.cos(phi), (-2 * rd * phid - G * np.sin(phi)) / r]

    return solve_ivp(rate, (0, end), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


SOFT = (1.1, 0.9, 0.3, -0.5)
"""A start in large motion: r, phi and their rates."""


@pytest.mark.parametrize(("name", "order"), [("gauss-2", 2), ("gauss-4", 4), ("gauss-6", 6), ("radau-5", 5)])
def test_orders(name: str, order: int) -> None:
    """Steps halved, against an explicit method of order 8 of another library; work of gravity of the same order."""
    k, end = 400.0, 0.8
    truth, gaps = exact(k, end, SOFT), []
    coarse = 40 if order > 2 else 400
    for count in (coarse, 2 * coarse):
        rows = swing(name, end / count, count, k, SOFT)
        assert not np.any(rows[:, 5])
        gap = np.abs(rows[-1, :4] - truth).max()
        heights = [r * np.cos(phi) for r, phi in (SOFT[:2], rows[-1, :2])]
        gaps.append([gap, abs(rows[-1, 4] - G * (heights[1] - heights[0]))])
    orders = np.log2(np.array(gaps[0]) / np.array(gaps[1]))
    assert abs(orders[0] - order) < ORDER, (gaps, orders)
    assert orders[1] > order - 1, "the work of gravity is integrated as well, up to the last pass of Newton"


def test_energy_of_a_stiff_nonlinear_oscillation() -> None:
    """The spring is 50 times too fast for the step: Gauss neither damps nor drifts, Radau damps, and neither diverges."""
    k, h, count = 2.5e9, 1e-3, 20_000  # omega h = 50
    start = (1.0 + 1e-6, 0.9, 0.0, -0.5)
    rows = swing("gauss-6", h, count, k, start)
    assert not np.any(rows[:, 5]), "every step converges"
    fast = k * (rows[:, 0] - 1) ** 2 / 2 + rows[:, 2] ** 2 / 2
    total = energy(rows, k)
    assert np.ptp(total) < FAST, "bounded: a part of the fast energy, 1.25e-3 J"
    assert abs(total[-2000:].mean() - total[:2000].mean()) < DRIFT, "no drift in 20 s"
    assert fast[-2000:].max() > 5e-4, "the fast mode rings on"
    damped = swing("radau-5", h, 200, k, start)
    quiet = damped[100:, 2] ** 2 / 2
    assert quiet.max() < DAMPED * fast.max(), "Radau damps what it cannot resolve"


def test_phase_of_a_linear_oscillation() -> None:
    """phi = 0: the spring alone; a step turns the phase by y (1 - y^2s / c_s)."""
    k, h, count = 1.0e4, 5e-3, 400  # y = 0.5
    y, rest = 0.5, 1 + G / 1e4
    for name, s, c in (("gauss-4", 2, 720.0), ("gauss-6", 3, 100_800.0)):
        rows = swing(name, h, count, k, (rest + 0.01, 0.0, 0.0, 0.0))
        late = y ** (2 * s + 1) / c * count
        rotation = np.arctan2(-rows[-1, 2] / 100.0, rows[-1, 0] - rest)
        lag = (count * y - rotation + np.pi) % (2 * np.pi) - np.pi
        assert lag == pytest.approx(late, rel=SERIES)
        size = np.hypot(rows[:, 0] - rest, rows[:, 2] / 100.0)
        assert np.ptp(size) < AMPLITUDE * size[0] * count, "amplitude to rounding, however long"


def test_without_a_tangent_a_stiff_step_reports_it() -> None:
    rows = swing("gauss-6", 1e-3, 10, 2.5e9, (1.0 + 1e-6, 0.9, 0.0, -0.5), tangent=False)
    code = int(rows[0, 5])
    assert "the implicit step does not converge in 30 passes" in kernel("gauss-6", False).signature.status(code).text


def test_passes_are_few() -> None:
    """Linear parts are exact after one pass: the step of a stiff spring takes hardly more than one of a soft spring."""
    soft = swing("gauss-6", 1e-3, 300, 1.0e2, SOFT)
    stiff = swing("gauss-6", 1e-3, 300, 2.5e9, (1.0 + 1e-6, 0.9, 0.0, -0.5))
    assert soft[:, 6].mean() < 5
    assert stiff[:, 6].mean() < 6
