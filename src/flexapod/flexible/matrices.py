r"""A flexible body from finite element matrices and node positions, reduced here to a few modes.

Degrees of freedom node by node: (ux, uy, uz) or (ux, uy, uz, rx, ry, rz). With the six rigid motions R of the nodes
about the frame origin, ``R^T M R`` is the rigid mass matrix, ``R^T M Phi`` holds MS_de and beta, ``Phi^T M Phi`` is
M_ee: exact. The products of shapes (lambda, I_re, I_ee) need the displacement field. Solid elements: the scalar nodal
mass matrix m = (M_xx + M_yy + M_zz)/3, exact. Beam and shell matrices do not show their field: there the nodes' parts
of the mass are used, right to the second order of the elements' size, and the rotary inertia of sections is left out of
these three (it is in all the others).
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from flexapod.calls import checked, unchecked
from flexapod.errors import FileError
from flexapod.files import read_whole
from flexapod.flexible.block_lanczos import Sparse
from flexapod.flexible.body import FlexibleBody, Interface, body_from_integrals
from flexapod.flexible.checked_arrays import Floats, checked_integer, floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.mode_order import fixed_orientation
from flexapod.flexible.normal_modes import craig_bampton, normal_modes, residual_modes
from flexapod.flexible.shape_integrals import Nodes, ShapeIntegrals, integrals_from_moments, shape_integrals
from flexapod.rotation_arrays import skew

Matrix = ArrayLike | sparse.sparray | sparse.spmatrix | str | Path
"""An array, a sparse matrix, or the path of a Matrix Market file."""

SYMMETRIC = 1e-8
"""Largest asymmetry of the matrices, of their largest entry: files with nine digits pass, a forgotten half does not."""

RIGID = 1e-8
"""A rigid motion is free if its energy is below this part of that of the same displacements without cancellation."""

SAME_MASS = 1e-6
"""The masses along x, y and z agree to this."""

LARGEST = 2**30
"""Bytes of a Matrix Market file: some ten million entries."""

EXTRA_MODES = 3

NEGATIVE = 1e-9
"""Smallest eigenvalue of a matrix with unit diagonal, below zero, that is rounding of double precision."""

FEW_DIGITS = 1e-5
"""Smallest eigenvalue, below zero, that is rounding of matrices that were written with seven digits (single precision)."""


@checked(stiffness=unchecked)
def from_matrices(
    mass: Matrix,
    stiffness: Matrix,
    nodes: ArrayLike | str | Path,
    *,
    dofs_per_node: int = 3,
    modes: int = 10,
    method: str = "normal",
    interfaces: Mapping[str, int | Sequence[float]] | None = None,
    damping: float | ArrayLike = 0.0,
) -> FlexibleBody:
    """A flexible body from mass and stiffness matrices.

    Args:
        mass, stiffness: (n d, n d) arrays, SciPy sparse, or paths of Matrix Market files (.mtx).
        nodes: (n, 3) positions [m], body axes, or the path of a Matrix Market array file.
        dofs_per_node: d, 3 or 6.
        modes: elastic modes; for craig-bampton those with held interfaces.
        method: normal, craig-bampton or residual (all degrees of freedom of the interface nodes).
        interfaces: name to the number of a node, or to its position (3,).
        damping: modal damping ratios, or a matrix (N, N).
    Returns:
        `FlexibleBody` for `Robot.with_flexible_body` or `save_modes`.

    Rigid motions that cost no energy are removed (the mean frame); a body that its matrices hold keeps its frame.

    Raises:
        FlexibleBodyError: matrices that are not symmetric, not of the nodes' size, negative, or of no mass; too many modes.

    Checked by: tests/flexible/test_fe_matrices.py.
    """
    if dofs_per_node not in (3, 6):
        raise FlexibleBodyError(f"dofs_per_node must be 3 or 6, is {dofs_per_node!r}.")
    checked_integer("modes", modes, 1 if method == "normal" else 0)
    r0 = floats("nodes", _load("nodes", nodes), (None, 3))
    n = len(r0) * dofs_per_node
    M, K = _matrix("mass", mass, n), _matrix("stiffness", stiffness, n)
    _check_positive(M, K)
    rigid = rigid_motions(r0, dofs_per_node)
    R = _free_motions(K, rigid)
    chosen = {str(name): _node(name, place, r0) for name, place in (interfaces or {}).items()}
    if method == "normal":
        omega2, V = normal_modes(K, M, R, modes, EXTRA_MODES)
    elif method in ("craig-bampton", "residual"):
        held = [k * dofs_per_node + axis for k in dict.fromkeys(chosen.values()) for axis in range(dofs_per_node)]
        C = np.zeros((len(held), n))
        C[np.arange(len(held)), held] = 1.0
        omega2, V = (craig_bampton if method == "craig-bampton" else residual_modes)(K, M, R, C, modes)
    else:
        raise FlexibleBodyError(f"method must be normal, craig-bampton or residual, is {method!r}.")
    found = reduced_body(M, r0, dofs_per_node, omega2, V, chosen, keep=modes if method == "normal" else None)
    return found if np.ndim(damping) == 0 and damping == 0.0 else found.with_damping(damping)


def reduced_body(
    M: Sparse, r0: Floats, d: int, omega2: Floats, V: Floats, chosen: Mapping[str, int], *, keep: int | None = None
) -> FlexibleBody:
    """The body of modes V (n d, N), in fixed orientation.

    Args:
        omega2: (N,) [rad^2/s^2]; V: mass-normalised.
        chosen: interface -> its node.
        keep: modes that are kept after orientation; None: all.
    """
    m = _nodal_mass(M, d)
    lumped: Floats = np.clip(m @ np.ones(len(r0)), 0.0, None)
    Q, omega2 = fixed_orientation(omega2, r0, lumped, V.reshape(len(r0), d, -1)[:, :3])
    keep = len(omega2) if keep is None else keep
    V, omega2 = (V @ Q)[:, :keep], omega2[:keep]
    Phi = V.reshape(len(r0), d, keep)
    Phi_r = Phi[:, 3:] if d == 6 else None
    picture = Nodes(r0=r0, mass=lumped, Phi_d=Phi[:, :3], Phi_r=Phi_r)
    points = {
        name: Interface(r0=r0[k], Phi_d=Phi[k, :3], Phi_r=None if Phi_r is None else Phi_r[k]) for name, k in chosen.items()
    }
    integrals = _integrals(M, m, rigid_motions(r0, d), V, picture)
    return body_from_integrals(integrals, K_ee=np.diag(omega2), interfaces=points, nodes=picture)


def rigid_motions(r0: Floats, dofs_per_node: int) -> Floats:
    """(n d, 6) displacements of unit translations along x, y, z and unit rotations about them through the frame origin."""
    n = len(r0)
    R = np.zeros((n, dofs_per_node, 6))
    R[:, :3, :3] = np.eye(3)
    R[:, :3, 3:] = -skew(r0)
    if dofs_per_node == 6:
        R[:, 3:, 3:] = np.eye(3)
    return R.reshape(n * dofs_per_node, 6)


def _integrals(M: Sparse, m: Sparse, rigid: Floats, V: Floats, nodes: Nodes) -> ShapeIntegrals:
    """Shape integrals; see the head of this module for what each is made of."""
    total = rigid.T @ (M @ rigid)
    along = np.diag(total)[:3]
    if np.ptp(along) > SAME_MASS * along.max():
        raise FlexibleBodyError(
            f"mass must be that of a body: the masses along x, y, z are {along[0]:g}, {along[1]:g}, {along[2]:g} kg. "
            "Look at the order of the degrees of freedom."
        )
    coupled = rigid.T @ (M @ V)
    part = _products(m, nodes) if nodes.Phi_r is None else shape_integrals(nodes)
    beta = coupled[3:]
    symmetric = 0.5 * (part.I_re + part.I_re.transpose(0, 2, 1))
    return ShapeIntegrals(
        mass=float(along.mean()),
        MS_r=np.array([total[5, 1], total[3, 2], total[4, 0]]),
        MS_de=coupled[:3],
        beta=beta,
        lambda_=part.lambda_,
        I_rr=total[3:, 3:],
        I_re=symmetric - 0.5 * skew(beta.T),
        I_ee=part.I_ee,
        M_ee=V.T @ (M @ V),
    )


def _products(m: Sparse, nodes: Nodes) -> ShapeIntegrals:
    """Products of shapes by the scalar nodal mass matrix; the rigid entries are not used."""
    r0, phi = nodes.r0, nodes.Phi_d
    n, _, N = phi.shape
    weighted = (m @ phi.reshape(n, 3 * N)).reshape(n, 3, N)
    G = np.einsum("nai,nbk->ikab", phi, weighted, optimize=True)
    H = np.einsum("na,nbk->kab", r0, weighted, optimize=True)
    return integrals_from_moments(mass=1.0, s=np.zeros(3), T=np.zeros((3, 3)), s_e=np.zeros((3, N)), H=H, G=G)


# -- reading and checks ---------------------------------------------------------------------------------
def _load(name: str, value: Matrix) -> Any:
    """The value, or the content of the Matrix Market file it names."""
    if not isinstance(value, str | Path):
        return value
    from scipy.io import mmread

    try:
        return mmread(io.BytesIO(read_whole(Path(value), LARGEST)))
    except FileError as problem:
        raise FlexibleBodyError(f"{name}: {problem}") from None
    except (OSError, ValueError, OverflowError, MemoryError) as problem:
        raise FlexibleBodyError(f"{name}: {value} cannot be read as a Matrix Market file: {problem}.") from None


def _matrix(name: str, value: Matrix, n: int) -> Sparse:
    """A symmetric sparse matrix of the nodes' size."""
    given = _load(name, value)
    try:
        matrix = sparse.csc_array(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise FlexibleBodyError(f"{name} must be a matrix of real numbers: {problem}.") from None
    if matrix.shape != (n, n):
        raise FlexibleBodyError(f"{name} must have the shape ({n}, {n}), dofs_per_node times the nodes, has {matrix.shape}.")
    if not np.isfinite(matrix.data).all():
        raise FlexibleBodyError(f"{name} must be finite, but it holds nan or inf.")
    largest = float(np.abs(matrix.data).max(initial=0.0))
    error = abs(matrix - matrix.T).tocoo()
    if error.nnz and error.data.max() > SYMMETRIC * largest:
        worst = int(error.data.argmax())
        i, k = sorted((int(error.row[worst]), int(error.col[worst])))
        raise FlexibleBodyError(
            f"{name} must be symmetric, but entries ({i}, {k}) and ({k}, {i}) are {matrix[i, k]:.6g} and {matrix[k, i]:.6g}."
        )
    return sparse.csc_array(0.5 * (matrix + matrix.T))


def _check_positive(M: Sparse, K: Sparse) -> None:
    """Refuse a negative diagonal and a mass that is negative in some direction (small bodies: all directions; large: by a
    shifted factorisation)."""
    for name, A in (("mass", M), ("stiffness", K)):
        diagonal = A.diagonal()
        if diagonal.min() < 0.0 or diagonal.max() <= 0.0:
            k = int(diagonal.argmin())
            raise FlexibleBodyError(f"{name} must not be negative and not zero, but diagonal entry {k} is {diagonal[k]:g}.")
        if not _semidefinite(A, NEGATIVE):
            few = ", slightly: were its numbers rounded? Write them in double precision" * _semidefinite(A, FEW_DIGITS)
            raise FlexibleBodyError(f"{name} must be positive semidefinite, but it is negative in some direction{few}.")


def _semidefinite(A: Sparse, eps: float) -> bool:
    """Whether A + eps diag(A) has positive pivots, which it has exactly if A has no direction below -eps."""
    from scipy.sparse.linalg import splu

    diagonal = A.diagonal()
    used = np.flatnonzero(diagonal > 0.0)
    unused = np.flatnonzero(diagonal <= 0.0)
    if len(unused) and abs(A[:, unused]).max() > 0.0:
        return False
    root = sparse.diags_array(1.0 / np.sqrt(diagonal[used]))
    scaled = sparse.csc_array(root @ A[:, used][used, :] @ root + eps * sparse.eye_array(len(used)))
    try:
        factor = splu(scaled, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return False
    ordered = bool((factor.perm_r == factor.perm_c).all())
    return ordered and bool((factor.U.diagonal() > 0.0).all())


def _without_cancellation(K: Sparse, rigid: Floats) -> Floats:
    """(6,) twice the energy of each rigid motion if no entries of K cancelled; one where K has no entries for it."""
    whole: Floats = np.einsum("nk,nk->k", np.abs(rigid), abs(K) @ np.abs(rigid))
    return np.where(whole > 0.0, whole, 1.0)


def stiffness_to_ground(K: Sparse, rigid: Floats) -> Floats:
    """(6,) stiffness against each rigid motion [N/m, N m/rad], zero where it is none beyond rounding (`RIGID`)."""
    found: Floats = np.einsum("nk,nk->k", rigid, K @ rigid)
    return np.where(found > RIGID * _without_cancellation(K, rigid), found, 0.0)


def _free_motions(K: Sparse, rigid: Floats) -> Floats:
    """The rigid motions (n, r) that cost no energy."""
    sized = rigid / np.sqrt(_without_cancellation(K, rigid))
    values, vectors = np.linalg.eigh(sized.T @ (K @ sized))
    free: Floats = sized @ vectors[:, np.abs(values) < RIGID]
    return free


def _nodal_mass(M: Sparse, d: int) -> Sparse:
    """m = (M_xx + M_yy + M_zz)/3, (n, n)."""
    parts = [M[:, axis::d][axis::d, :] for axis in range(3)]
    return sparse.csc_array((parts[0] + parts[1] + parts[2]) / 3.0)


def _node(name: str, place: int | Sequence[float], r0: Floats) -> int:
    """The number of an interface's node."""
    if isinstance(place, int | np.integer) and not isinstance(place, bool):
        if not 0 <= place < len(r0):
            raise FlexibleBodyError(f"interface {name} must be a node from 0 to {len(r0) - 1}, is {place}.")
        return int(place)
    far = np.linalg.norm(r0 - floats(f"interface {name}", place, (3,)), axis=1)
    k = int(far.argmin())
    if far[k] > 1e-6 * float(np.ptp(r0, axis=0).max()):
        raise FlexibleBodyError(f"interface {name} must be at a node, but the nearest one is {far[k]:.3g} m away, at {r0[k]}.")
    return k
