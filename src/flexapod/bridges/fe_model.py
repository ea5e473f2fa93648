r"""Mass and stiffness of a finite element model in SI, from files of matrices and nodes or from a mesh.

With length L, mass m and time T of the model in SI, and degrees of freedom that are translations or rotations:

.. math:: M_{SI} = m\,D M D,\qquad K_{SI} = \frac{m}{T^2}\,D K D,\qquad D = \mathrm{diag}(1\ \text{or}\ L)

Nodes with axes of their own, A (rows in global axes), have their part of a solver's matrices in them: u = A^T u_own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from flexapod.arrays import Array
from flexapod.bridges.fe_files import FeFileError
from flexapod.bridges.fe_matrices import Labelled, finite_matrix, read_matrix
from flexapod.bridges.fe_nodes import node_axes, read_nodes
from flexapod.errors import InputError

MESHES = (".bdf", ".dat", ".nas", ".cdb")
NO_MASS = 1e-9
"""Mass of the body along an axis, of its entries without signs, below which the matrix is no mass; a stiffness has zero there."""
Source = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True, eq=False)
class FEModel:
    """Matrices in SI, rows node by node; nodes with numbers and places [m]; of a mesh, mass over volume of its elements.

    left_out: nodes of a mesh that the matrices do not have -> why.
    """

    mass: Any
    stiffness: Any
    numbers: list[int]
    r0: Array
    width: int
    units: Mapping[str, float]
    source: Path
    notes: tuple[str, ...] = ()
    density: float | None = None
    left_out: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """A model in the units of its files; notes, density and left_out as in `FEModel`."""

    numbers: list[int]
    places: Array
    width: int
    mass: Any
    stiffness: Any
    notes: tuple[str, ...] = ()
    density: float | None = None
    left_out: Mapping[int, str] = field(default_factory=dict)


def read_model(
    mass: Source | None, stiffness: Source | None, nodes: Source | None, mesh: Source | None, size: Mapping[str, float]
) -> FEModel:
    """The model of files, in SI.

    Args:
        size: length, mass and time of the files in SI.

    Checked by: tests/bridges/test_fe.py, tests/bridges/test_fe_nodes.py, tests/bridges/test_nastran_mesh.py.
    """
    given = [x is not None for x in (mass, stiffness, nodes)]
    if any(given) == (mesh is not None) or (any(given) and not all(given)):
        raise InputError("import_fe: give either mesh=..., or mass, stiffness and nodes")
    source, springs = Path(str(mass or mesh)), Path(str(stiffness or mesh))
    found = _from_mesh(source) if mesh is not None else _from_files(source, springs, Path(str(nodes)))
    D = sparse.diags(np.tile([1.0] * 3 + [size["length"]] * (found.width - 3), len(found.numbers)))
    inertia = size["mass"] * (D @ found.mass @ D)
    _check_mass(inertia, found.numbers, found.width, source)
    if found.stiffness.count_nonzero() == 0:
        raise FeFileError(f"{springs}: the stiffness is zero; export the stiffness matrix, with a modulus for every material")
    return FEModel(mass=inertia, stiffness=size["mass"] / size["time"] ** 2 * (D @ found.stiffness @ D), numbers=found.numbers,
                 r0=size["length"] * found.places, width=found.width, units=size, source=source, notes=found.notes,
                 density=None if found.density is None else size["mass"] / size["length"] ** 3 * found.density,
                 left_out=found.left_out)  # fmt: skip


def _from_mesh(source: Path) -> Parts:
    """Matrices of the elements of a mesh."""
    from flexapod.bridges.ansys_mesh import ansys_mesh
    from flexapod.bridges.fe_assembly import assembled, density, left_out
    from flexapod.bridges.nastran_mesh import nastran_mesh

    suffix = source.suffix.lower()
    if suffix not in MESHES:
        raise FeFileError(
            f"{source}: is not a supported mesh file; Nastran bulk data end in .bdf, .dat or .nas, Ansys archives in .cdb; a "
            "mass matrix needs stiffness and nodes beside it"
        )
    mesh = ansys_mesh(source) if suffix == ".cdb" else nastran_mesh(source)
    numbers, places, M, K = assembled(mesh, str(source))
    width = _dofs(M, K, len(numbers), source)
    inside, springs = (_ordered(part, numbers, width, source) for part in (M, K))
    return Parts(numbers=numbers, places=places, width=width, mass=inside, stiffness=springs, notes=mesh.notes,
                 density=density(mesh), left_out=left_out(mesh, numbers))  # fmt: skip


def _from_files(mass: Path, stiffness: Path, nodes: Path) -> Parts:
    """Matrices and nodes of a solver, with the axes of single nodes rotated away."""
    numbers, places = read_nodes(nodes)
    M, K = read_matrix(mass, "mass"), read_matrix(stiffness, "stiffness")
    if (M.labels is None) != (K.labels is None):
        known, unknown = (mass, stiffness) if K.labels is None else (stiffness, mass)
        raise FeFileError(
            f"{unknown}: does not give the nodes of its rows (of Harwell-Boeing the .mapping file does), {known.name} does: "
            "their rows may be in another order; write both in one format"
        )
    width = _dofs(M, K, len(numbers), stiffness)
    inside, springs = (_ordered(part, numbers, width, path) for part, path in ((M, mass), (K, stiffness)))
    axes = node_axes(nodes)
    if not axes:
        return Parts(numbers=numbers, places=places, width=width, mass=inside, stiffness=springs)
    A: Any = sparse.block_diag([axes.get(number, np.eye(3)) for number in numbers for _ in range(width // 3)], format="csr")
    note = f"the matrices are rotated from the axes of {len(axes)} nodes (CD) to the basic ones"
    return Parts(numbers=numbers, places=places, width=width, mass=A.T @ inside @ A, stiffness=A.T @ springs @ A, notes=(note,))


def _check_mass(mass: sparse.csr_matrix, numbers: list[int], width: int, source: Path) -> None:
    """A mass of the whole body, and none below zero."""
    matrix = sparse.csr_matrix(mass)
    diagonal = matrix.diagonal()
    if diagonal.min() < 0.0:
        node, axis = divmod(int(diagonal.argmin()), width)
        where = f"node {numbers[node]}, degree of freedom {axis + 1}: {diagonal.min():.4g} kg or kg m^2"
        raise FeFileError(f"{source}: has a negative mass at {where}; look at the sign of the matrix and at densities")
    if diagonal.sum() == 0.0:
        raise FeFileError(f"{source}: the mesh has no mass; export the mass matrix, with a density for every material")
    along = np.arange(matrix.shape[0]) % width == np.arange(3)[:, None]
    total, without = (np.array([float(row @ (part @ row)) for row in along.astype(float)]) for part in (matrix, abs(matrix)))
    none = (without > 0.0) & (np.abs(total) <= NO_MASS * without)
    if none.any():
        raise FeFileError(
            f"{source}: the entries add up to no mass along {'xyz'[int(none.argmax())]}, as those of a stiffness do; are mass "
            "and stiffness exchanged, or the degrees of freedom in another order?"
        )


def _dofs(M: Labelled, K: Labelled, count: int, path: Path) -> int:
    """Degrees of freedom per node, 3 or 6."""
    if M.labels is not None:
        return 6 if max(d for part in (M, K) for _, d in part.labels or ()) > 3 else 3
    for width in (3, 6):
        if K.matrix.shape[0] == width * count:
            return width
    raise FeFileError(f"{path}: matrices of size {K.matrix.shape[0]} do not fit {count} nodes with 3 or 6 degrees of freedom")


def _ordered(part: Labelled, numbers: list[int], width: int, path: Path) -> Any:
    """The matrix with rows node by node; degrees of freedom that a file leaves out have none."""
    total = width * len(numbers)
    matrix = finite_matrix(part.matrix, path)
    if part.labels is None:
        if matrix.shape != (total, total):
            raise FeFileError(f"{path}: has the size {matrix.shape}, expected {total} rows and columns, {width} per node")
        return matrix
    if matrix.shape != (len(part.labels), len(part.labels)):
        raise FeFileError(f"{path}: has the size {matrix.shape}, but {len(part.labels)} rows are named by node; write both again")
    at = {number: k for k, number in enumerate(numbers)}
    lost = [node for node, _ in part.labels if node not in at]
    if lost:
        raise FeFileError(f"{path}: the matrix has node {lost[0]}, which the file of nodes does not have")
    places = np.array([at[node] * width + dof - 1 for node, dof in part.labels])
    pick = sparse.coo_matrix((np.ones(len(places)), (places, np.arange(len(places)))), shape=(total, len(places)))
    return (pick @ matrix @ pick.T).tocsr()
