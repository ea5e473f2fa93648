"""Matrices of finite element programs: Nastran, Ansys, Abaqus, Matrix Market, Harwell-Boeing, npz.

A matrix knows its degrees of freedom where its file does (Abaqus, DMIG); else they are those of the nodes, node by node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from flexapod.arrays import Array
from flexapod.bridges.fe_files import FeFileError, first_line, needed_package, reading
from flexapod.bridges.harwell_boeing import read_harwell_boeing, read_mapping
from flexapod.bridges.nastran_bulk import bulk_data

Label = tuple[int, int]
"""Node number, and degree of freedom 1 to 6."""


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A matrix, and the degrees of freedom of its rows where the file says them."""

    matrix: Any
    labels: list[Label] | None = None


def finite_matrix(matrix: Array | sparse.csr_matrix | sparse.csc_matrix | sparse.coo_matrix, path: Path) -> sparse.csr_matrix:
    """A sparse matrix of finite real numbers."""
    try:
        found = sparse.csr_matrix(matrix)
    except (TypeError, ValueError) as error:
        raise FeFileError(f"{path}: is not a matrix of numbers: {first_line(error)}") from None
    if found.dtype.kind not in "fiu":
        raise FeFileError(f"{path}: has entries of type {found.dtype}; expected real numbers (export without structural damping)")
    bad = np.flatnonzero(~np.isfinite(found.data))
    if len(bad):
        row = int(np.searchsorted(found.indptr, bad[0], side="right"))
        raise FeFileError(
            f"{path}: {len(bad)} entries are not finite, the first in row {row}, column {found.indices[bad[0]] + 1}"
        )
    return found.astype(float)


def read_matrix(path: Path, name: str) -> Labelled:
    """A mass or stiffness matrix from a file, by its suffix and first line.

    Args:
        name: ``"mass"`` or ``"stiffness"``, to find it in files that hold several matrices (op4, npz, DMIG).

    Checked by: tests/bridges/test_fe.py.
    """
    with reading(path, "a matrix"):
        return _matrix(path, path.suffix.lower(), name)


def _matrix(path: Path, suffix: str, name: str) -> Labelled:
    if suffix == ".npz":
        return Labelled(matrix=_npz(path, name))
    if suffix in (".hb", ".rb", ".rua", ".rsa", ".matrix"):
        return Labelled(matrix=read_harwell_boeing(path), labels=read_mapping(path))
    if suffix == ".op4":
        found = needed_package("pyNastran.op4.op4", "an OP4 file").read_op4(str(path), debug=False)
        whole = {k: getattr(v, "data", v[1] if isinstance(v, tuple) else v) for k, v in found.items()}
        return Labelled(matrix=_chosen(path, whole, name))
    if suffix in (".bdf", ".dat", ".nas", ".pch"):
        return _dmig(path, name)
    if suffix == ".mtx":
        with path.open(encoding="utf-8", errors="replace") as stream:
            first = stream.readline()
        return Labelled(matrix=io.mmread(path)) if first.startswith("%%MatrixMarket") else _abaqus(path)
    raise FeFileError(
        f"{path}: is not a supported matrix file; expected .mtx (Matrix Market, Abaqus), .hb, .rb, .op4, .bdf, .pch, .npz"
    )


def _npz(path: Path, name: str) -> Any:
    """The array of a name, or the one sparse matrix that `scipy.sparse.save_npz` wrote."""
    with np.load(path) as found:
        arrays = dict(found)
    return sparse.load_npz(path) if {"format", "shape", "data"} <= set(arrays) else _chosen(path, arrays, name)


def _chosen(path: Path, found: Mapping[str, T], name: str) -> T:
    """The matrix of a name, in any case; its letter (m; k or s) is enough where only one begins so."""
    letters = ("m",) if name == "mass" else ("k", "s")
    near = [k for k in found if k.lower() == name] or [k for k in found if k.lower().startswith(letters)]
    if len(near) != 1:
        raise FeFileError(f"{path}: holds {', '.join(found) or 'nothing'}; which is the matrix {name!r}?")
    return found[near[0]]


def _dmig(path: Path, name: str) -> Labelled:
    card = _chosen(path, dict(bulk_data(path, xref=False).dmig), name)
    if card.is_complex:
        raise FeFileError(f"{path}: DMIG {card.name} is complex; expected real numbers (export without structural damping)")
    pairs = np.array([[*row[:2], *column[:2]] for row, column in zip(card.GCi, card.GCj, strict=True)], dtype=float)
    return _labelled(path, pairs.reshape(-1, 4), np.array(card.Real, dtype=float))


def _abaqus(path: Path) -> Labelled:
    """Both text forms: `node, dof, node, dof, value` (matrix input), and `row column value` (coordinate)."""
    rows: list[list[float]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith(("*", "#", "%")):
            continue
        try:
            row = [float(x) for x in line.replace(",", " ").split()]
        except ValueError as error:
            raise FeFileError(f"{path}: is neither Matrix Market nor a matrix of Abaqus: line {number}, {error}") from error
        if len(row) not in (3, 5) or (rows and len(row) != len(rows[0])):
            what = "all lines alike" if rows else "as Abaqus writes matrices"
            raise FeFileError(f"{path}: line {number} has {len(row)} numbers; expected 3 or 5 per line, {what}")
        rows.append(row)
    if not rows:
        raise FeFileError(f"{path}: holds no entries; expected 3 or 5 numbers per line, as Abaqus writes matrices")
    found = np.array(rows)
    if found.shape[1] == 5:
        return _labelled(path, found[:, :4], found[:, 4])
    at = found[:, :2]
    wrong = np.flatnonzero((at != np.floor(at)).any(axis=1) | (at < 1).any(axis=1))
    if len(wrong):
        row, column = at[wrong[0]]
        raise FeFileError(f"{path}: entry {wrong[0] + 1} is in row {row:g}, column {column:g}; both count from 1")
    i, j = (at - 1).astype(int).T
    return Labelled(matrix=_filled(i, j, found[:, 2], int(max(i.max(), j.max())) + 1))


def _labelled(path: Path, pairs: Array, values: Array) -> Labelled:
    """The matrix of entries given by node and degree of freedom of their row and column, (n, 4)."""
    nodes, dofs = pairs[:, ::2], pairs[:, 1::2]
    broken = nodes[nodes != np.floor(nodes)]
    if len(broken):
        raise FeFileError(f"{path}: {broken[0]:g} is not a node number; expected node, dof, node, dof, value")
    odd = ~np.isin(dofs, range(1, 7))
    if odd.any():
        raise FeFileError(
            f"{path}: node {nodes[odd][0]:g} has the degree of freedom {dofs[odd][0]:g}; displacements and rotations are 1 to 6 "
            "(scalar points, modal coordinates and temperatures are not supported)"
        )
    ends = pairs.astype(int).reshape(-1, 2)
    labels, at = np.unique(ends, axis=0, return_inverse=True)
    i, j = np.reshape(at, (-1, 2)).T
    return Labelled(matrix=_filled(i, j, values, len(labels)), labels=[(int(node), int(dof)) for node, dof in labels])


def _filled(i: NDArray[np.int64], j: NDArray[np.int64], values: Array, size: int) -> Any:
    """The whole matrix; where a file holds one of every two mirrored entries, whichever, the other one is added."""
    matrix = sparse.coo_matrix((values, (i, j)), shape=(size, size)).tocsr()
    beside = sparse.csr_matrix(matrix - sparse.diags(matrix.diagonal()))
    beside.eliminate_zeros()
    twice = abs(beside).sign().multiply(abs(beside.T).sign()).nnz
    return matrix if twice else matrix + beside.T
