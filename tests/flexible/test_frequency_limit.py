"""Bounds of reductions against the full structure, on random frames and plates: true, and not far off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from flexapod.flexible import FlexibleBodyError
from flexapod.flexible.frequency_limit import METHODS, Reduced, reduce_to
from flexapod.flexible.plates import plate_problem

ROUNDING = 1e-9
"""Of the static stiffness: differences of stiffnesses that are sums over all modes."""


def frame(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K, M and interface rows of a random planar frame: nodes joined by bars that bend and stretch, four of them held."""
    random = np.random.default_rng(seed)
    count = int(random.integers(8, 14))
    place = random.uniform(0, 1, (count, 2))
    pairs = {(k, int(random.integers(0, k))) for k in range(1, count)} | {tuple(random.choice(count, 2, False)) for _ in range(6)}
    K, M = np.zeros((3 * count, 3 * count)), np.zeros((3 * count, 3 * count))
    for i, j in pairs:
        d = place[j] - place[i]
        length = float(np.hypot(*d))
        c, s = d / length
        EA, EI, mass = 1e6, 10.0 ** random.uniform(1, 2), 0.5 * length
        bend = EI / length**3 * np.array([[12, 6 * length], [6 * length, 4 * length**2]])
        k, m = np.zeros((6, 6)), np.zeros((6, 6))
        k[np.ix_([0, 3], [0, 3])] = EA / length * np.array([[1, -1], [-1, 1]])
        corner = np.array([[12, -6 * length], [-6 * length, 4 * length**2]]) * EI / length**3
        cross = np.array([[-12, 6 * length], [-6 * length, 2 * length**2]]) * EI / length**3
        k[np.ix_([1, 2], [1, 2])], k[np.ix_([4, 5], [4, 5])], k[np.ix_([1, 2], [4, 5])] = bend, corner, cross
        k[np.ix_([4, 5], [1, 2])] = cross.T
        m[np.ix_([0, 3], [0, 3])] = mass / 6 * np.array([[2, 1], [1, 2]])
        m[np.ix_([1, 2, 4, 5], [1, 2, 4, 5])] = mass / 420 * np.array(
            [[156, 22 * length, 54, -13 * length], [22 * length, 4 * length**2, 13 * length, -3 * length**2],
             [54, 13 * length, 156, -22 * length], [-13 * length, -3 * length**2, -22 * length, 4 * length**2]]
        )  # fmt: skip
        rotation = np.kron(np.eye(2), np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
        at = np.concatenate([3 * i + np.arange(3), 3 * j + np.arange(3)])
        K[np.ix_(at, at)] += rotation.T @ k @ rotation
        M[np.ix_(at, at)] += rotation.T @ m @ rotation
    held = np.concatenate([3 * k + np.arange(3) for k in random.choice(count, 2, replace=False)])
    return K, M, np.eye(3 * count)[held]


def plate(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random triangular plate, w and slopes at its corners held."""
    random = np.random.default_rng(seed)
    corners = np.array([[0, 0], [1, 0], [0.3, 0.8]]) + random.uniform(-0.15, 0.15, (3, 2))
    given = plate_problem(
        outline=corners, thickness=0.01, young=70e9, poisson=0.3, density=2700.0, theory="kirchhoff", modes=10, mesh_size=0.5
    )
    model = given.model()
    at = model.at(corners * 0.98 + 0.02 * corners.mean(axis=0))
    C = np.vstack([at.w.toarray(), at.beta_x.toarray(), at.beta_y.toarray()])
    return model.K.toarray(), model.M.toarray(), C


def check(K: np.ndarray, M: np.ndarray, C: np.ndarray, method: str) -> list[float]:
    """The bound holds at frequencies up to the limit; returns bound over truth of the worst direction."""
    Q = linalg.qr(C.T)[0][:, len(C) :]
    held = np.sqrt(linalg.eigh(Q.T @ K @ Q, Q.T @ M @ Q, eigvals_only=True))
    reduced = reduce_to(K, M, C, 1.001 * held[3], method)
    assert len(reduced.omega) <= len(held)
    assert method == "krylov" or len(reduced.omega) == 4
    scale = np.linalg.eigvalsh(reduced.K[: len(C), : len(C)])[-1]
    ratios = []
    end = reduced.above if method == "craig-bampton" else reduced.first
    for omega in np.array([0.3, 0.6, 0.9]) * min(end, held[3]):
        true = reduced.stiffness_at(omega) - dynamic_stiffness(K, M, C, omega)
        bound = reduced.missing(omega)
        assert np.linalg.eigvalsh(bound - true)[0] > -ROUNDING * scale, "never below the truth"
        assert np.linalg.eigvalsh((true + true.T) / 2)[0] > -ROUNDING * scale, "a reduction is too stiff"
        size = np.linalg.eigvalsh((true + true.T) / 2)[-1]
        if size > 1e3 * ROUNDING * scale:
            ratios.append(float(np.linalg.eigvalsh(bound)[-1] / size))
    return ratios


def dynamic_stiffness(K: np.ndarray, M: np.ndarray, C: np.ndarray, omega: float) -> np.ndarray:
    """Of the whole structure at its interfaces: the multiplier of C x = 1."""
    n, b = len(K), len(C)
    scale = np.abs(K).max()
    whole = np.block([[(K - omega**2 * M) / scale, C.T], [C, np.zeros((b, b))]])
    found: np.ndarray = -scale * np.linalg.solve(whole, np.vstack([np.zeros((n, b)), np.eye(b)]))[n:]
    return found


CLOSE = 6.0
"""The bound of Craig-Bampton over the truth: 1 at low frequencies, 1 / (1 - 0.9^2) at the end of what was looked at."""


@pytest.mark.parametrize("make", [frame, plate])
def test_craig_bampton_on_random_structures(make: object) -> None:
    for seed in range(4):
        ratios = check(*make(seed), "craig-bampton")  # type: ignore[operator]
        assert ratios
        assert 1.0 - 1e-3 < min(ratios) <= max(ratios) < CLOSE


def test_krylov_on_random_frames() -> None:
    for seed in range(4):
        check(*frame(seed), "krylov")


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [frame, plate])
def test_many_random_structures(make: object, method: str) -> None:
    for seed in range(4, 100):
        ratios = check(*make(seed), method)  # type: ignore[operator]
        assert method == "krylov" or max(ratios, default=1.0) < CLOSE


def test_all_modes_leave_nothing_out() -> None:
    K, M, C = frame(1)
    whole: Reduced = reduce_to(K, M, C, 1e12)
    assert whole.above == np.inf
    assert np.abs(whole.missing(50.0)).max() < ROUNDING * np.abs(whole.K).max()


def test_refused() -> None:
    K, M, C = frame(1)
    with pytest.raises(FlexibleBodyError, match="can still move"):
        reduce_to(0 * K, M, C, 1.0)
    with pytest.raises(FlexibleBodyError, match="craig-bampton, krylov"):
        reduce_to(K, M, C, 1.0, "guyan")
    with pytest.raises(FlexibleBodyError, match="positive frequency"):
        reduce_to(K, M, C, 0.0)
