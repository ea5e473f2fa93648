"""Matrices and nodes of finite element programs: Nastran, Ansys, Abaqus, Matrix Market, Harwell-Boeing, npz.

A matrix knows its degrees of freedom where its file does (Abaqus, DMIG); else they are those of the nodes, node by node.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from flexapod.bridges.harwell_boeing import read_harwell_boeing, read_mapping
from flexapod.errors import FlexapodError, InputError

Array = NDArray[np.float64]
Label = tuple[int, int]
"""Node number, and degree of freedom 1 to 6."""


class FeFileError(InputError):
    """A file of a finite element program that cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A matrix, and the degrees of freedom of its rows where the file says them."""

    matrix: Any
    labels: list[Label] | None = None


def _package(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise FeFileError(f"{what} needs the package {package}; install it with `pip install 'flexapod[fe]'`") from error


def first_line(error: Exception) -> str:
    """The first line of another program's message."""
    return (str(error).strip() or repr(error)).splitlines()[0]


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """One error for a file that is missing or cannot be read, whatever its reader raises."""
    if not path.is_file():
        raise FeFileError(f"{path}: there is no such file")
    try:
        yield
    except FlexapodError:
        raise
    except Exception as error:
        raise FeFileError(
            f"{path}: cannot be read as {what}: {first_line(error).rstrip('.')}. Is it whole, and does its suffix fit?"
        ) from error


def finite_matrix(matrix: Any, path: Path) -> Any:
    """A sparse matrix of finite real numbers."""
    try:
        found = sparse.csr_matrix(matrix)
    except (TypeError, ValueError) as error:
        raise FeFileError(f"{path}: is no matrix of numbers: {first_line(error)}") from None
    if found.dtype.kind not in "fiu":
        raise FeFileError(f"{path}: has entries of type {found.dtype}; real numbers are taken (structural damping is left out)")
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
        with np.load(path) as found:
            return Labelled(matrix=_chosen(path, dict(found), name))
    if suffix in (".hb", ".rb", ".rua", ".rsa", ".matrix"):
        return Labelled(matrix=read_harwell_boeing(path), labels=read_mapping(path))
    if suffix == ".op4":
        found = _package("pyNastran.op4.op4", "an OP4 file").read_op4(str(path), debug=False)
        whole = {k: getattr(v, "data", v[1] if isinstance(v, tuple) else v) for k, v in found.items()}
        return Labelled(matrix=_chosen(path, whole, name))
    if suffix in (".bdf", ".dat", ".nas", ".pch"):
        return _dmig(path, name)
    if suffix == ".mtx":
        with path.open(encoding="utf-8", errors="replace") as stream:
            first = stream.readline()
        return Labelled(matrix=io.mmread(path)) if first.startswith("%%MatrixMarket") else _abaqus(path)
    raise FeFileError(f"{path}: is no matrix that is read; .mtx (Matrix Market, Abaqus), .hb, .rb, .op4, .bdf, .pch, .npz")


def _chosen(path: Path, found: dict[str, Any], name: str) -> Any:
    """The matrix of a name, in any case; its letter (m; k or s) is enough where only one begins so."""
    letters = ("m",) if name == "mass" else ("k", "s")
    near = [k for k in found if k.lower() == name] or [k for k in found if k.lower().startswith(letters)]
    if len(near) != 1:
        raise FeFileError(f"{path}: holds {', '.join(found) or 'nothing'}; which is the matrix {name!r}?")
    return found[near[0]]


def _dmig(path: Path, name: str) -> Labelled:
    from flexapod.bridges.nastran_mesh import bulk_data

    card = _chosen(path, dict(bulk_data(path, xref=False).dmig), name)
    pairs = [[(int(a[0]), int(a[1])) for a in pair] for pair in zip(card.GCi, card.GCj, strict=True)]
    return _labelled(pairs, np.array(card.Real, dtype=float))


def _abaqus(path: Path) -> Labelled:
    """Both text forms: `node, dof, node, dof, value` (matrix input), and `row column value` (coordinate)."""
    text = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in text if line.strip() and not line.startswith(("*", "#", "%"))]
    try:
        rows = np.array([[float(x) for x in line.replace(",", " ").split()] for line in lines])
    except ValueError as error:
        raise FeFileError(f"{path}: is neither Matrix Market nor a matrix of Abaqus: {error}") from error
    if rows.ndim != 2 or rows.shape[1] not in (3, 5):
        raise FeFileError(f"{path}: expected 3 or 5 numbers per line, as Abaqus writes matrices")
    if rows.shape[1] == 3:
        i, j = rows[:, 0].astype(int) - 1, rows[:, 1].astype(int) - 1
        return Labelled(matrix=_filled(i, j, rows[:, 2], int(max(i.max(), j.max())) + 1))
    return _labelled([[(int(r[k]), int(r[k + 1])) for k in (0, 2)] for r in rows], rows[:, 4])


def _labelled(pairs: list[list[Label]], values: Array) -> Labelled:
    """The matrix of entries given by the degrees of freedom of their row and column."""
    labels = sorted({label for pair in pairs for label in pair})
    at = {label: k for k, label in enumerate(labels)}
    i, j = (np.array([at[pair[k]] for pair in pairs]) for k in (0, 1))
    return Labelled(matrix=_filled(i, j, values, len(labels)), labels=labels)


def _filled(i: Any, j: Any, values: Array, size: int) -> Any:
    """The whole matrix; where a file holds one triangle, the other is its mirror."""
    matrix = sparse.coo_matrix((values, (i, j)), shape=(size, size)).tocsr()
    if np.all(i >= j) or np.all(i <= j):
        matrix = matrix + matrix.T - sparse.diags(matrix.diagonal())
    return matrix


def read_nodes(path: Path) -> tuple[list[int], Array]:
    """Numbers and positions (n, 3) of nodes, in the file's units.

    Checked by: tests/bridges/test_fe.py.
    """
    with reading(path, "nodes"):
        numbers, places = _nodes(path, path.suffix.lower())
    if places.ndim != 2 or places.shape[1] != 3 or len(numbers) != len(places) or not len(numbers):
        raise FeFileError(f"{path}: expected a node number and three coordinates per node, at least one")
    if not np.isfinite(places).all():
        raise FeFileError(f"{path}: node {numbers[int(np.argmin(np.isfinite(places).all(axis=1)))]:g} has no finite place")
    whole = [int(k) for k in numbers]
    wrong = next((k for k, n in zip(numbers, whole, strict=True) if k != n), None)
    if wrong is not None:
        raise FeFileError(f"{path}: {wrong:g} is no node number; the columns are node, x, y, z")
    repeated = next((k for k, count in Counter(whole).items() if count > 1), None)
    if repeated is not None:
        raise FeFileError(f"{path}: node {repeated} occurs {Counter(whole)[repeated]} times; each node has its own number")
    return whole, places


def _nodes(path: Path, suffix: str) -> tuple[Sequence[float], Array]:
    if suffix in (".bdf", ".dat", ".nas"):
        from flexapod.bridges.nastran_mesh import bulk_data

        model = bulk_data(path)
        numbers = sorted(model.nodes)
        return numbers, np.array([model.nodes[k].get_position() for k in numbers])
    if suffix in (".cdb", ".arch"):
        archive = _package("mapdl_archive", "an Ansys archive").Archive(str(path), parse_vtk=False)
        return [int(k) for k in archive.nnum], np.asarray(archive.nodes, dtype=float)[:, :3]
    if suffix == ".inp":
        rows = _inp_nodes(path)
    elif suffix == ".npz":
        with np.load(path) as found:
            return _npz_nodes(path, dict(found))
    elif suffix == ".csv":
        rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    else:
        raise FeFileError(f"{path}: is no file of nodes that is read; .bdf, .cdb, .inp, .csv (node,x,y,z), .npz")
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise FeFileError(f"{path}: expected a node number and three coordinates per line")
    return rows[:, 0].tolist(), rows[:, 1:]


def _npz_nodes(path: Path, found: dict[str, Any]) -> tuple[Sequence[float], Array]:
    if "nodes" not in found:
        raise FeFileError(f"{path}: holds {', '.join(found)}; `nodes` (n, 3) is missing")
    places = np.asarray(found["nodes"], dtype=float)
    return np.ravel(found.get("numbers", np.arange(1, len(places) + 1))).tolist(), places


def _inp_nodes(path: Path) -> Array:
    """Lines below *NODE of an Abaqus input file."""
    rows, inside = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("*"):
            inside = line.strip().upper().split(",")[0] == "*NODE"
        elif inside and line.strip():
            rows.append([float(x) for x in line.split(",") if x.strip()])
    return np.array(rows)
