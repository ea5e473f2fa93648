"""Certificates: discs hold every value, certified solutions agree with exact ones, wrong candidates are refused."""

from fractions import Fraction

import numpy as np
import pytest
from pose_robots import DIETMAIER_BASE, DIETMAIER_LENGTHS, DIETMAIER_PLATFORM, random_platforms

from flexapod.analysis.poses.discs import Disc, around, exact, point_matrix_product
from flexapod.analysis.poses.platform_poses import real_poses, solve_platforms
from flexapod.analysis.poses.pose_certificate import Certificate, certify_quadrics, joined, leg_quadrics, study_quadric

RADIUS = 1e-6
"""Radii in which the poses are proven, with an error of 1e-12 of the platforms; found 6e-7."""

COUNT = 2000


def discs(seed: int) -> Disc:
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-12, 12, COUNT)
    mid = size * np.exp(2j * np.pi * random.random(COUNT))
    return Disc(mid, np.where(random.random(COUNT) < 0.3, 0.0, size * 10.0 ** random.uniform(-17, -0.1, COUNT)))


def point_in(disc: Disc, seed: int) -> list[tuple[Fraction, Fraction]]:
    """Exact points of the discs, near the edge for half of them."""
    random = np.random.default_rng(seed)
    part = np.where(random.random(COUNT) < 0.5, 0.999999, random.random(COUNT)) * np.exp(2j * np.pi * random.random(COUNT))
    move = disc.rad * part * (1.0 - 1e-15)
    return [
        (Fraction(m.real) + Fraction(d.real), Fraction(m.imag) + Fraction(d.imag)) for m, d in zip(disc.mid, move, strict=True)
    ]


def holds(disc: Disc, values: list[tuple[Fraction, Fraction]]) -> bool:
    for mid, rad, (re, im) in zip(disc.mid, disc.rad, values, strict=True):
        if (re - Fraction(mid.real)) ** 2 + (im - Fraction(mid.imag)) ** 2 > Fraction(rad) ** 2:
            return False
    return True


def times(u: tuple[Fraction, Fraction], v: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    return u[0] * v[0] - u[1] * v[1], u[0] * v[1] + u[1] * v[0]


def over(u: tuple[Fraction, Fraction], v: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    square = v[0] ** 2 + v[1] ** 2
    re, im = times(u, (v[0], -v[1]))
    return re / square, im / square


def test_discs_hold_exact_sums_products_and_quotients():
    a, b = discs(1), discs(2)
    x, y = point_in(a, 3), point_in(b, 4)
    assert holds(a + b, [(u[0] + v[0], u[1] + v[1]) for u, v in zip(x, y, strict=True)])
    assert holds(a - b, [(u[0] - v[0], u[1] - v[1]) for u, v in zip(x, y, strict=True)])
    assert holds(a * b, [times(u, v) for u, v in zip(x, y, strict=True)])
    fine = np.flatnonzero(np.isfinite((a.over(b)).rad))
    quotient = a.over(b)[fine]
    assert len(fine) > COUNT // 2
    assert holds(quotient, [over(x[i], y[i]) for i in fine])


def test_discs_hold_exact_matrix_products():
    random = np.random.default_rng(5)
    Y = random.normal(size=(4, 7, 7)) + 1j * random.normal(size=(4, 7, 7))
    A = random.normal(size=(4, 7, 3)) + 1j * random.normal(size=(4, 7, 3))
    product = point_matrix_product(Y, exact(A))
    for k, i, j in np.ndindex(4, 7, 3):
        total = (Fraction(0), Fraction(0))
        for m in range(7):
            u, v = Y[k, i, m], A[k, m, j]
            part = times((Fraction(u.real), Fraction(u.imag)), (Fraction(v.real), Fraction(v.imag)))
            total = total[0] + part[0], total[1] + part[1]
        assert holds(product[k, i, j][None], [total])


def certificate(a: np.ndarray, b: np.ndarray, s: np.ndarray, error: float = 0.0) -> tuple[Certificate, np.ndarray]:
    solutions = solve_platforms(a[None], b[None], s[None])
    real = np.zeros(40, dtype=bool)
    real[real_poses(a[None], b[None], s[None], solutions).index] = True
    Q = joined(leg_quadrics(a, b, s, error), study_quadric())
    return certify_quadrics(Q, solutions.x[0], real, quaternion=4), solutions.x[0]


@pytest.mark.parametrize("error", [0.0, 2.0**-51, 1e-12])
def test_dietmaiers_poses_are_proven_real_and_distinct(error):
    """Also for all platforms within a relative error: the radii then grow with it."""
    proof, _ = certificate(DIETMAIER_BASE, DIETMAIER_PLATFORM, DIETMAIER_LENGTHS**2, error)
    assert proof.real.sum() == 40
    assert proof.distinct
    assert proof.radius.max() < RADIUS


def test_a_shifted_or_repeated_candidate_is_not_proven():
    a, b, s = (v[0] for v in random_platforms(1, 21))
    proof, x = certificate(a, b, s)
    assert proof.certified.all()
    assert proof.distinct
    Q = joined(leg_quadrics(a, b, s, 0.0), study_quadric())
    random = np.random.default_rng(1)
    elsewhere = certify_quadrics(Q, random.normal(size=(20, 8)).astype(complex), np.zeros(20, dtype=bool), quaternion=4)
    known = x / np.linalg.norm(x, axis=1, keepdims=True)
    for i in np.flatnonzero(elsewhere.certified):  # Newton may run into a true solution, never to another place
        y = elsewhere.box.mid[i] / np.linalg.norm(elsewhere.box.mid[i])
        assert np.abs(known.conj() @ y).max() > 1.0 - 1e-10
    twice = certify_quadrics(Q, np.concatenate([x[:3], x[:1] * (0.3 + 2j)]), np.zeros(4, dtype=bool), quaternion=4)
    assert not twice.distinct


def test_a_complex_solution_is_not_proven_real():
    a, b, s = (v[0] for v in random_platforms(1, 22))
    proof, x = certificate(a, b, s)
    nonreal = np.flatnonzero(proof.complex)
    Q = joined(leg_quadrics(a, b, s, 0.0), study_quadric())
    forced = certify_quadrics(Q, x[nonreal], np.ones(len(nonreal), dtype=bool), quaternion=4)
    assert not forced.real.any() or _is_other(forced, x[nonreal])


def _is_other(proof: Certificate, x: np.ndarray) -> bool:
    """Newton from the real part went to a truly real solution."""
    y = proof.box.mid / np.linalg.norm(proof.box.mid, axis=1, keepdims=True)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return bool(np.all(np.abs((y.conj() * x).sum(axis=1))[proof.real] < 1.0 - 1e-12))


def test_data_with_too_large_an_error_is_not_proven():
    a, b, s = (v[0] for v in random_platforms(1, 23))
    proof, _ = certificate(a, b, s, 0.05)
    assert not proof.certified.all()


def test_numbers_with_a_relative_error():
    assert around([2.0], 0.5).excludes_zero().all()
    assert not around([2.0], 1.5).excludes_zero().any()


@pytest.mark.full
def test_five_hundred_random_platforms_are_certified():
    a, b, s = random_platforms(500, 31)
    solutions = solve_platforms(a, b, s)
    real = np.zeros((500, 40), dtype=bool)
    poses = real_poses(a, b, s, solutions)
    real[poses.platform, poses.index] = True
    for i in range(500):
        Q = joined(leg_quadrics(a[i], b[i], s[i]), study_quadric())
        proof = certify_quadrics(Q, solutions.x[i], real[i], quaternion=4)
        assert (proof.real | proof.complex).all(), f"platform {i}: {proof.certified.sum()} certified"
        assert proof.distinct
