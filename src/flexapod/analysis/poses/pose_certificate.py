r"""Certificates of solutions of quadrics: Krawczyk's test in disc arithmetic, for real solutions and complex ones.

f_i = x^T Q_i x / 2 in P^(n-1), with n - 1 quadrics. In the chart x_c = 1 (c: largest coordinate), with the midpoint m of a
polydisc X and Y near J(m)^{-1},

.. math:: K(X) = m - Y f(m) + (I - Y J(X))(X - m) \subset \operatorname{int} X

proves that X holds exactly one solution, a simple one (Krawczyk 1969, Rump 1983). A solution of real equations whose polydisc
is its own mirror image is real; one whose coordinate has a nonzero imaginary part throughout is not. Two solutions are distinct
if a 2 x 2 minor of their coordinates excludes zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.discs import UP, Disc, U, around, exact, point_matrix_product, stack
from flexapod.arrays import Array, Complex

ROUNDS = 8
"""Polydiscs that are tried, each a little larger than the image of the one before."""

DATA_ERROR = 2.0**-51
"""Relative error of joint positions and squared lengths that a certificate allows for: the rounding of their computation."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Proven facts about n candidate solutions of one platform.

    Args:
        certified: (n,) exactly one simple solution lies in the polydisc, and a rotation belongs to it (e.e is not zero).
        real, complex: (n,) it is real; it is not.
        distinct: no two certified solutions are the same.
        radius: (n,) largest radius of the polydisc, the largest coordinate being 1.
        box: (n, coordinates) the polydiscs; the radius is 0 in the chart.
    """

    certified: NDArray[np.bool_]
    real: NDArray[np.bool_]
    complex: NDArray[np.bool_]
    distinct: bool
    radius: Array
    box: Disc


def certify_quadrics(Q: Disc, x: Complex, real: NDArray[np.bool_], quaternion: int, drift: Disc | None = None) -> Certificate:
    """Test candidate solutions.

    Args:
        Q: (n - 1, n, n) symmetric matrices of the quadrics, with their uncertainty; or (N, n - 1, n, n), one set per candidate.
        x: (N, n) candidates.
        real: (N,) candidates that are to be proven real.
        quaternion: the first so many coordinates are the rotation's; their bilinear norm must not vanish.
        drift: D, of the shape of Q: the test is that of all quadrics Q + t D with t from -1 to 1, each of which has one solution
            in the polydisc. That all of them move with one t makes the polydiscs much smaller than uncertain Q would.

    Checked by: tests/analysis/test_pose_certificate.py.
    """
    N, n = x.shape
    Q = Q if Q.mid.ndim == 4 else Q[None]
    chart = np.abs(x).argmax(axis=1)
    x = x / np.take_along_axis(x, chart[:, None], axis=1)
    x = np.where(real[:, None], x.real, x)
    free = np.array([[j for j in range(n) if j != c] for c in chart], dtype=np.int64).reshape(N, n - 1)
    columns = np.broadcast_to(free[:, None, :], (N, n - 1, n - 1))
    for _ in range(3):  # Newton without certainty, from the tracker's precision to rounding
        rows = (Q.mid @ x[:, None, :, None])[..., 0]
        step = _inverse(np.take_along_axis(rows, columns, axis=2)) @ (0.5 * np.einsum("Nri,Ni->Nr", rows, x))[..., None]
        np.put_along_axis(x, free, np.take_along_axis(x, free, axis=1) - step[..., 0], axis=1)
        x = np.where(real[:, None], x.real, x)
    rows = (Q.mid @ x[:, None, :, None])[..., 0]
    Y = _inverse(np.take_along_axis(rows, columns, axis=2))
    shift = point_matrix_product(Y, _values(Q, x)).largest()[..., 0]
    if drift is not None:
        shift = (shift + point_matrix_product(Y, _values(drift, x)).largest()[..., 0]) * UP
    radius = 2.0 * shift + 1e-16
    good, final = np.zeros(N, dtype=bool), radius.copy()
    for _ in range(ROUNDS):
        X = Disc(x, _all_radii(free, radius, n))
        rest = (exact(np.eye(n - 1)) - point_matrix_product(Y, _chosen(_gradient(Q, X), columns))).largest()
        if drift is not None:
            rest = (rest + point_matrix_product(Y, _chosen(_gradient(drift, X), columns)).largest()) * UP
        image = (shift + (rest @ radius[..., None])[..., 0] * (1.0 + 64 * U)) * UP
        inside = np.all(image < radius, axis=1) & np.all(np.isfinite(image), axis=1) & ~good
        good |= inside
        final = np.where(inside[:, None], radius, final)
        radius = np.where(good[:, None], radius, 1.5 * np.minimum(image, 1.0) + 1e-16)
        if good.all():
            break
    box = Disc(x, _all_radii(free, final, n))
    norm = box[:, 0] * box[:, 0]
    for j in range(1, quaternion):
        norm = norm + box[:, j] * box[:, j]
    good &= norm.excludes_zero()
    return Certificate(
        certified=good,
        real=good & real,
        complex=good & (np.abs(x.imag) > box.rad * UP).any(axis=1),
        distinct=_distinct(box[good]),
        radius=final.max(axis=1),
        box=box,
    )


def leg_quadrics(
    a: Array, b: Array, s: Array, data_error: float = DATA_ERROR, a_spread: float | Array = 0.0, s_spread: float | Array = 0.0
) -> Disc:
    """Quadrics (.., r, 8, 8) of r legs: |g + W e|^2 - s e.e, in Study's coordinates (e, g).

    Args:
        a, b: (.., r, 3) joint centres; s: (.., r) squared lengths.
        data_error: relative; the certificate then holds for all platforms within it.
        a_spread, s_spread: the same as lengths and squared lengths, of the shapes of a and s.
    """
    spread = (data_error * (np.abs(a) + np.abs(b)) + a_spread) * UP
    m, n = (Disc(exact(v).mid, spread + 4 * U * np.abs(v)) for v in (b - a, a + b))
    place = Disc(np.concatenate([m.mid, n.mid], axis=-1), np.concatenate([m.rad, n.rad], axis=-1))
    W = Disc(place.mid[..., _PLACE] * _SIGN, place.rad[..., _PLACE] * np.abs(_SIGN))
    square = around(s, data_error)
    total = W[..., 0, :, None] * W[..., 0, None, :]
    for k in range(1, 4):
        total = total + W[..., k, :, None] * W[..., k, None, :]
    diagonal = Disc(square.mid[..., None, None] * np.eye(4), ((square.rad + s_spread) * UP)[..., None, None] * np.eye(4))
    total = total - diagonal
    ones = np.broadcast_to(np.eye(4), total.mid.shape)
    mid = np.block([[total.mid, np.swapaxes(W.mid, -1, -2)], [W.mid, ones]])
    rad = np.block([[total.rad, np.swapaxes(W.rad, -1, -2)], [W.rad, np.zeros(total.rad.shape)]])
    return Disc(mid, rad)


def leg_drift(a: Array, b: Array, da: Array, ds: Array, error: float, a_spread: float | Array = 0.0) -> tuple[Disc, Array]:
    """First change of the quadrics of `leg_quadrics` with centres a + t da and squared lengths s + t ds, and the most that the
    square of t adds (.., r, 8, 8), for t from -1 to 1.

    Args:
        error: relative error of a, b, da and ds; a_spread: of a, of its shape, as in `leg_quadrics`.
    """

    def placed(m: Array, n: Array) -> Array:
        return np.asarray(np.concatenate([m, n], axis=-1)[..., _PLACE])

    def crossed(one: Array, other: Array) -> Array:
        product = np.swapaxes(one, -1, -2) @ other
        return np.asarray(product + np.swapaxes(product, -1, -2))

    W, D = placed(b - a, a + b) * _SIGN, placed(-da, da) * _SIGN
    size, moved = np.abs(a) + np.abs(b), np.abs(D)
    size, loose = (placed(v, v) * np.abs(_SIGN) for v in (size, a_spread + np.zeros_like(a)))
    lengths, none = ds[..., None, None] * np.eye(4), np.zeros(D.shape)
    spread = 4.0 * error * (crossed(moved, size) + np.abs(lengths))
    mid = np.block([[crossed(D, W) - lengths, np.swapaxes(D, -1, -2)], [D, none]])
    rad = np.block([[spread, error * np.swapaxes(moved, -1, -2)], [error * moved, none]])
    square = np.block([[crossed(moved, moved) / 2 + crossed(moved, loose), none], [none, none]])
    return Disc(mid.astype(np.complex128), rad), square * (1.0 + 4.0 * error)


_PLACE = np.array([[0, 0, 1, 2], [0, 0, 5, 4], [1, 5, 0, 3], [2, 4, 3, 0]])
_SIGN = np.array([[0.0, -1, -1, -1], [1, 0, 1, -1], [1, -1, 0, 1], [1, 1, -1, 0]])
"""W by the places of its entries in (m, n), and their signs."""


def study_quadric() -> Disc:
    """e.g, as a quadric (1, 8, 8)."""
    return exact(np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(4))[None])


def joined(*parts: Disc) -> Disc:
    """Quadrics (.., r, n, n) after each other."""
    lead = np.broadcast_shapes(*[p.mid.shape[:-3] for p in parts])

    def whole(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([np.broadcast_to(x, (*lead, *x.shape[-3:])) for x in arrays], axis=-3)

    return Disc(whole([p.mid for p in parts]), whole([p.rad for p in parts]))


def _all_radii(free: NDArray[np.int64], values: Array, n: int) -> Array:
    """Radii of all coordinates; zero in the chart."""
    full = np.zeros((len(free), n))
    np.put_along_axis(full, free, values, axis=1)
    return full


def _chosen(J: Disc, columns: NDArray[np.int64]) -> Disc:
    """Columns of derivatives (N, n - 1, n) beside the chart's."""
    return Disc(np.take_along_axis(J.mid, columns, axis=2), np.take_along_axis(J.rad, columns, axis=2))


def _gradient(Q: Disc, x: Disc) -> Disc:
    """Q_i x, (N, n - 1, n)."""
    total = Q[..., 0] * x[:, None, None, 0]
    for j in range(1, x.mid.shape[1]):
        total = total + Q[..., j] * x[:, None, None, j]
    return total


def _values(Q: Disc, x: Complex) -> Disc:
    """x^T Q_i x / 2, (N, n - 1, 1)."""
    rows, point = _gradient(Q, exact(x)), exact(x)
    total = rows[:, :, 0] * point[:, None, 0]
    for j in range(1, x.shape[1]):
        total = total + rows[:, :, j] * point[:, None, j]
    return Disc(0.5 * total.mid[..., None], 0.5 * total.rad[..., None])


def _distinct(box: Disc) -> bool:
    """Whether every two solutions differ in some 2 x 2 minor."""
    n = len(box.mid)
    if n < 2:
        return True
    i, j = np.triu_indices(n, 1)
    u, v = box[i], box[j]
    c = np.abs(u.mid).argmax(axis=1)
    rows = np.arange(len(i))
    uc, vc = u[rows, c], v[rows, c]
    minors = stack([uc * v[:, k] - u[:, k] * vc for k in range(box.mid.shape[1])], axis=1)
    return bool(minors.excludes_zero().any(axis=1).all())


def _inverse(A: Complex) -> Complex:
    try:
        return np.asarray(np.linalg.inv(A), dtype=np.complex128)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(A), dtype=np.complex128)
