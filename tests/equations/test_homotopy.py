"""Path tracker: complex arithmetic in pairs, elimination, paths of a system whose roots are known."""

import casadi as ca
import numpy as np
import pytest

from flexapod.analysis.poses.path_tracking import ARRIVED, Tracker, TrackingControl, projective_gap
from flexapod.equations.homotopy.complex_pairs import Z, complexify, dot
from flexapod.equations.homotopy.tracker import System, six_legs, solve

ROUNDING = 1e-13  # a few roundings of numbers near 1
POLISHED = 1e-12  # roots of well-conditioned quadratics after Newton
LAPACK = 1e-12
"""Relative: random systems of eight complex unknowns by two eliminations; found 9e-15."""


def random_complex(*shape: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(size=shape) + 1j * random.normal(size=shape)


def pair(values: np.ndarray) -> Z:
    return Z(ca.SX(ca.DM(values.real)), ca.SX(ca.DM(values.imag)))


def number(z: Z) -> np.ndarray:
    return np.array(ca.DM(z.re)).astype(complex)[:, 0] + 1j * np.array(ca.DM(z.im))[:, 0]


def test_complexify_evaluates_at_complex_numbers():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y")
    f = ca.Function("f", [x, y], [ca.vertcat(x[0] * x[1] - 2 * y, x[0] ** 2 / (1 + y), ca.sin(x[0]) * ca.cos(y) - x[1])])
    a, b = random_complex(2, seed=1), random_complex(1, seed=2)
    (value,) = complexify(f, [pair(a), pair(b)])
    expected = [a[0] * a[1] - 2 * b[0], a[0] ** 2 / (1 + b[0]), np.sin(a[0]) * np.cos(b[0]) - a[1]]
    np.testing.assert_allclose(number(value), expected, rtol=ROUNDING)


def test_bilinear_product_does_not_conjugate():
    a, b = random_complex(4, seed=3), random_complex(4, seed=4)
    np.testing.assert_allclose(number(dot(pair(a), pair(b))), [(a * b).sum()], rtol=ROUNDING)


def test_elimination_agrees_with_lapack_and_pivots():
    A, B = random_complex(8, 8, seed=5), random_complex(8, 2, seed=6)
    A[0, 0] = 0.0  # fails without pivoting
    rows = [[pair(np.array([v])) for v in np.concatenate([A[i], B[i]])] for i in range(8)]
    found = np.stack([number(x) for x in solve(rows)], axis=1)
    np.testing.assert_allclose(found, np.linalg.solve(A, B), rtol=LAPACK)


def quadratic() -> System:
    """Two roots of p_0 x_1^2 + p_1 x_1 x_0 + p_2 x_0^2."""
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p", 3)
    return System(name="quadratic", x=x, p=p, equations=p[0] * x[1] ** 2 + p[1] * x[0] * x[1] + p[2] * x[0] ** 2, leading=2)


@pytest.fixture(scope="module")
def tracker() -> Tracker:
    return Tracker(quadratic, "test quadratic")


def test_paths_end_at_the_roots(tracker):
    start = np.array([1.0, 0.0, -1.0], dtype=complex)
    x0 = np.array([[1.0, 1.0], [1.0, -1.0]], dtype=complex)
    targets = random_complex(50, 3, seed=7)
    ends = tracker.track(
        np.tile(x0, (50, 1)), np.tile(start, (50, 1)), targets, TrackingControl(), rows=np.repeat(np.arange(50), 2)
    )
    assert np.all(ends.code == ARRIVED)
    for i, p in enumerate(targets):
        roots = np.sort_complex(ends.x[2 * i : 2 * i + 2, 1] / ends.x[2 * i : 2 * i + 2, 0])
        np.testing.assert_allclose(roots, np.sort_complex(np.roots(p)), rtol=POLISHED)


def test_a_root_at_infinity_is_reached_in_homogeneous_coordinates(tracker):
    start = np.array([[1.0 + 0.3j, 0.2j, -1.0]], dtype=complex)
    roots = np.roots(start[0])
    x0 = np.stack([np.ones(2), roots], axis=1)
    ends = tracker.track(x0, start, np.array([[0.0, 1.0, -2.0]], dtype=complex), TrackingControl(), rows=np.zeros(2, dtype=int))
    assert np.all(ends.code == ARRIVED)
    expected = np.array([[1.0, 2.0], [0.0, 1.0]], dtype=complex)
    assert np.all(projective_gap(ends.x, expected).min(axis=0) < POLISHED**2)


def test_a_double_root_is_not_taken_for_an_arrival(tracker):
    """Both paths meet at x = 1: the last Newton step does not vanish, or the step becomes too small."""
    start = np.array([[1.0, 0.4j, -1.0 + 0.2j]], dtype=complex)
    x0 = np.stack([np.ones(2), np.roots(start[0])], axis=1)
    ends = tracker.track(x0, start, np.array([[1.0, -2.0, 1.0]], dtype=complex), TrackingControl(), rows=np.zeros(2, dtype=int))
    gap = projective_gap(ends.x, ends.x)[0, 1]
    assert np.all((ends.code != ARRIVED) | (ends.last > POLISHED)) or gap < POLISHED


def test_equations_of_six_legs_vanish_at_a_pose():
    """The Study form of a leg is |p + R b - a|^2 = s, written by hand here."""
    from flexapod.analysis.poses import quaternion_algebra as quat

    random = np.random.default_rng(8)
    a, b, e, p = random.normal(size=(6, 3)), random.normal(size=(6, 3)), random.normal(size=4), random.normal(size=3)
    s = ((p + b @ quat.matrix(e).T - a) ** 2).sum(axis=1)
    x = np.concatenate([e, quat.product(quat.pure(p), e)])
    system = six_legs()
    f = ca.Function("f", [system.x, system.p], [system.equations])
    value = np.array(f(x, np.concatenate([(b - a).ravel(), (a + b).ravel(), s])))[:, 0]
    assert np.abs(value).max() < ROUNDING * np.abs(x).max() ** 2 * 10
