r"""A fixed orientation and sign of modes, so that results do not depend on the machine or on rounding.

Modes with the same frequency may be turned into each other, and any mode may change its sign. The rule: expand the modes in
polynomials p_j(r0), orthonormal over the mass, in graded order 1, x, y, z, x^2, ...; the functionals are
``f_j,a = sum m p_j u_a`` for the axes a = z, x, y. Within each group of equal frequencies the first functional that the group
feels makes the first mode, oriented so that the functional is positive and zero for the others; the next functional makes the
next mode, and so on. The functionals are smooth, so the rule does not depend on the mesh either.
"""

from __future__ import annotations

import itertools

import numpy as np

from flexapod.flexible.checked_arrays import Floats

SAME = 1e-6
"""Frequencies closer than this, relatively, are one degenerate group: symmetric meshes agree to 1e-9."""

FELT = 0.02
"""A functional counts if it holds this part of a mode's norm; by symmetry the others vanish to rounding or mesh error."""

HIGHEST_DEGREE = 6


def fixed_orientation(omega2: Floats, r0: Floats, mass: Floats, phi: Floats) -> tuple[Floats, Floats]:
    """The orthogonal matrix Q (N, N) that rotates modes into the fixed orientation, `V @ Q`, and omega^2 made equal in groups.

    Args:
        omega2: (N,) ascending.
        r0: (n, 3) positions; mass: (n,); phi: (n, 3, N) displacements of the mass-normalised modes.

    Checked by: tests/flexible/test_mode_order.py.
    """
    some = mass > 0.0
    weighted = weighted_polynomials(r0[some], mass[some])
    F = np.stack([weighted.T @ phi[some, a] for a in (2, 0, 1)], axis=1)
    return orientation(omega2, F.reshape(-1, phi.shape[2]))


def orientation(omega2: Floats, F: Floats) -> tuple[Floats, Floats]:
    """`fixed_orientation` from the functionals (number, N) of the modes; axes without displacement may be left out."""
    values = np.array(omega2, dtype=np.float64)
    Q = np.eye(len(omega2))
    for start, stop in _groups(values):
        part = slice(start, stop)
        values[part] = values[part].mean()
        Q[part, part] = _orient(F[:, part])
    return Q, values


def _groups(omega2: Floats) -> list[tuple[int, int]]:
    """Ranges of equal frequencies."""
    omega = np.sqrt(np.clip(omega2, 0.0, None))
    cuts = [k for k in range(1, len(omega)) if omega[k] - omega[k - 1] > SAME * omega[k]]
    edges = [0, *cuts, len(omega)]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def _orient(F: Floats) -> Floats:
    """Orthogonal matrix for one group from its functionals (number of functionals, g)."""
    g = F.shape[1]
    columns: list[Floats] = []
    rest = np.eye(g)
    while len(columns) < g:
        felt = np.linalg.norm(F @ rest, axis=1)
        first = int(np.argmax(felt > FELT)) if (felt > FELT).any() else int(np.argmax(felt))
        direction = rest @ (F[first] @ rest)
        size = np.linalg.norm(direction)
        direction = rest[:, 0] if size == 0.0 else direction / size
        columns.append(direction)
        done = np.stack(columns, axis=1)
        rest = np.linalg.svd(done, full_matrices=True)[0][:, len(columns) :]
    return np.stack(columns, axis=1)


def weighted_polynomials(r0: Floats, mass: Floats) -> Floats:
    """m p_j of points with mass (n, number of polynomials): times displacements along an axis they are its functionals."""
    result: Floats = _polynomials(r0 - np.average(r0, axis=0, weights=mass), mass) * mass[:, None]
    return result


def _polynomials(x: Floats, m: Floats) -> Floats:
    """Polynomials orthonormal over the mass (n, number), graded, leading coefficient positive; axes without extent drop out."""
    size = np.abs(x).max()
    axes = [a for a in range(3) if np.abs(x[:, a]).max() > 1e-6 * size]
    x = x / size if size > 0.0 else x
    root = np.sqrt(m)
    P = np.zeros((len(m), 0))
    for degree in range(HIGHEST_DEGREE + 1):
        for factors in itertools.combinations_with_replacement(axes, degree):
            p = root * np.prod(x[:, list(factors)], axis=1)
            before = np.linalg.norm(p)
            for _ in range(2):
                p = p - P @ (P.T @ p)
            after = np.linalg.norm(p)
            if after > 1e-6 * before:
                P = np.hstack([P, (p / after)[:, None]])
    result: Floats = P / root[:, None]
    return result
