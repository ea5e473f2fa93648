"""Energy of stiffened and exact elements: forces, invariance, and the equation of motion against Lagrange's."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from beam_alone import beam_alone
from element_chain import Numbers, element
from scipy.spatial.transform import Rotation

from flexapod.analysis.model.closed_legs import ActuatorState, close, home
from flexapod.analysis.model.leg_model import leg_terms
from flexapod.equations.elastodynamics.beam_energy import elastic_energy, elastic_forces, elastic_slope
from flexapod.flexible import Section

AXIS = np.array([0.5, 0.0, 0.0])
BAR = Section.rectangle(width=0.01, height=0.02)
AGREE = 1e-10
"""Two derivations, of the largest entry of each row."""
LINEAR = 1e-6
"""A deflection of 1e-12 of the length: what is not linear is of the next order."""
DIFFERENCES = 1e-10
"""Of the largest force or stiffness: fourth-order differences over 1e-4; found 4e-13."""
PLANE = 1e-12
"""Relative, and of the largest force: the same polynomials of other variables; found 6e-16."""


def evaluated(law: str, planar: bool, q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    one = element(0.5, BAR, 70e9, law, planar=planar, poisson=0.3)
    e = ca.SX.sym("e", len(q))
    out = [make(Numbers(one), one, e) for make in (elastic_energy, elastic_forces, elastic_slope)]
    V, f, K = ca.Function("f", [e], out)(q)
    return float(V), np.array(f)[:, 0], np.array(K)


def random(planar: bool, size: float) -> np.ndarray:
    return np.random.default_rng(3).uniform(-size, size, 3 if planar else 6)


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("law", ["linear", "stiffened", "exact"])
def test_forces_are_the_slope_of_the_energy(law: str, planar: bool) -> None:
    q, h = random(planar, 0.1), 1e-4
    V, f, K = evaluated(law, planar, q)
    for k, unit in enumerate(np.eye(len(q))):
        ahead, behind, far, near = (evaluated(law, planar, q + s * h * unit)[:2] for s in (1, -1, 2, -2))
        slope = (8 * (ahead[0] - behind[0]) - (far[0] - near[0])) / (12 * h)
        assert slope == pytest.approx(f[k], abs=DIFFERENCES * np.abs(f).max())
        column = (8 * (ahead[1] - behind[1]) - (far[1] - near[1])) / (12 * h)
        assert np.abs(column - K[:, k]).max() < DIFFERENCES * np.abs(K).max()
    assert V > 0


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("law", ["stiffened", "exact"])
def test_small_deflections_are_linear(law: str, planar: bool) -> None:
    q = random(planar, 5e-13)
    _, f, K = evaluated(law, planar, q)
    one = element(0.5, BAR, 70e9, law, planar=planar, poisson=0.3).body
    size = np.sqrt(np.diag(one.K_ee))
    assert (np.abs(K - one.K_ee) / np.outer(size, size)).max() < LINEAR
    assert np.abs((f - one.K_ee @ q) / size).max() < LINEAR * np.abs(one.K_ee @ q / size).max()


@pytest.mark.parametrize("planar", [True, False])
def test_the_exact_element_is_the_same_from_both_ends(planar: bool) -> None:
    """Root and tip exchanged (x and y reversed): the energy of large rotations does not know which end is which."""
    q = random(planar, 0.4) * (np.array([0.05, 1, 1]) if planar else np.array([0.05, 1, 1, 1, 1, 1]))
    full = q if not planar else np.array([q[0], q[1], 0, 0, 0, q[2]])
    R = Rotation.from_euler("XYZ", full[3:]).as_matrix()
    half = np.diag([-1.0, -1.0, 1.0])
    d, back = half @ (-R.T @ (full[:3] + AXIS)), Rotation.from_matrix(half @ R.T @ half).as_euler("XYZ")
    seen = np.concatenate([d - AXIS, back])
    other = seen[[0, 1, 5]] if planar else seen
    assert evaluated("exact", planar, other)[0] == pytest.approx(evaluated("exact", planar, q)[0], rel=AGREE)


def test_planar_is_spatial_in_the_plane() -> None:
    for law in ("stiffened", "exact"):
        q = np.array([-2e-3, 0.05, 0.2])
        flat, solid = evaluated(law, True, q), evaluated(law, False, np.array([q[0], q[1], 0, 0, 0, q[2]]))
        assert solid[0] == pytest.approx(flat[0], rel=PLANE)
        assert solid[1][[0, 1, 5]] == pytest.approx(flat[1], rel=PLANE)
        across = solid[1][[2, 3, 4]]
        assert np.abs(across).max() < PLANE * np.abs(flat[1]).max()


# -- Lagrange's equations of two elements on a hub, from mass points --------------------------------------------------
def lagrangian(law: str, length: float, count: int, young: float, rho: float) -> ca.Function:
    """M (z, z) and c (z,) of hub (0.1 kg m^2), planar elements and tip mass (0.3 kg), from their energies."""
    one = element(length / count, BAR, young, law, planar=True, poisson=0.3)
    h, n = length / count, 1 + 3 * count
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)

    def rate(x: ca.SX) -> ca.SX:
        return ca.jtimes(x, q, v)

    x, w = np.polynomial.legendre.leggauss(7)
    p, phi, T, V = ca.SX.zeros(2), q[0], 0.05 * v[0] ** 2, ca.SX(0)
    for k in range(count):
        e = q[1 + 3 * k : 4 + 3 * k]
        V = V + elastic_energy(Numbers(one), one, e)
        R = ca.vertcat(ca.horzcat(ca.cos(phi), -ca.sin(phi)), ca.horzcat(ca.sin(phi), ca.cos(phi)))
        ex = R[:, 0]
        for s, weight in zip((x + 1) / 2, w / 2, strict=True):
            m = rho * BAR.area * h * weight
            at = one_shapes(h, s)
            place = p + ca.mtimes(R, ca.vertcat(h * s + s * e[0], at[0] * e[1] + at[1] * e[2]))
            frozen = rate(p) + rate(phi) * ca.vertcat(-ex[1], ex[0]) * h * s
            inner = ex * ca.dot(e[1:], ca.mtimes(ca.DM(drawn(h, s)), e[1:])) / 2
            T = T + m * (ca.dot(rate(place), rate(place)) / 2 + ca.dot(frozen, rate(inner)))
        p = p + ca.mtimes(R, ca.vertcat(h + e[0], e[1]))
        phi = phi + e[2]
    T = T + 0.15 * ca.dot(rate(p), rate(p))
    M, momentum = ca.hessian(T, v)[0], ca.gradient(T, v)
    return ca.Function("f", [q, v], [M, ca.jtimes(momentum, q, v) - ca.gradient(T, q) + ca.gradient(V, q), T + V])


def one_shapes(h: float, s: float) -> tuple[float, float]:
    return 3 * s**2 - 2 * s**3, h * (s**3 - s**2)


def drawn(h: float, s: float) -> np.ndarray:
    """s S(1) - S(s), S the integral of slopes squared for (v, theta), by hand: slopes 6 (t - t^2) / h and 3 t^2 - 2 t."""

    def whole(t: float) -> np.ndarray:
        vv = 36 / h * (t**3 / 3 - t**4 / 2 + t**5 / 5)
        vt = 6 * (5 * t**4 / 4 - 3 * t**5 / 5 - 2 * t**3 / 3)
        return np.array([[vv, vt], [vt, h * (9 * t**5 / 5 - 3 * t**4 + 4 * t**3 / 3)]])

    return s * whole(1.0) - whole(s)


def test_equation_of_motion_is_lagranges() -> None:
    """Mass matrix and all forces of a stiffened beam in fast motion, large deflection: nothing left out of one derivation."""
    robot = beam_alone(elements=2, tip=0.3)
    f = lagrangian("stiffened", 1.0, 2, 70e9, 2700.0)
    random_ = np.random.default_rng(5)
    q, qd = random_.uniform(-1, 1, (4, 1)), random_.uniform(-5, 5, (4, 1))
    size = np.tile([1e-3, 0.05, 0.1], 2)
    e, ed = random_.uniform(-1, 1, (4, 6)) * size, random_.uniform(-1, 1, (4, 6)) * size * 30
    words = np.full(4, "", dtype=object)
    state = close(robot, home(robot, 4), ActuatorState(q=q, e=e, qd=qd, ed=ed), words)
    terms = leg_terms(robot, state, np.zeros((4, 6)), False, words)
    assert (words == "").all()
    for k in range(4):
        M, c, _ = (np.array(x) for x in f(np.r_[q[k], e[k]], np.r_[qd[k], ed[k]]))
        assert np.abs(terms.M[k] - M).max() < AGREE * np.abs(M).max()
        assert (np.abs(terms.c[k] - c[:, 0]) / np.abs(c[:, 0])).max() < 100 * AGREE
