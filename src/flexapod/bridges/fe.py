r"""`import_fe`: a flexible body from files of a finite element program, its units said, its modes checked.

With length L, mass m and time T of the model in SI, and degrees of freedom that are translations or rotations:

.. math:: M_{SI} = m\,D M D,\qquad K_{SI} = \frac{m}{T^2}\,D K D,\qquad D = \mathrm{diag}(1\ \text{or}\ L)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from flexapod.bridges.fe_matrices import Array, FeFileError, Labelled, read_matrix, read_nodes
from flexapod.description.unit_parser import UnitError, parse_unit
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.flexible.body import FlexibleBody

SAME_FREQUENCY = 1e-3
"""Modes this near in frequency count as one family in the check."""
DENSE = 3000
"""Degrees of freedom up to which all modes of the matrices are computed for the check."""
SHIFT = 400.0
"""[rad^2/s^2] below zero, about which a large model is factorised: rigid motions do not make it singular."""
DIMENSIONS = {"length": (0, 1, 0, 0), "mass": (1, 0, 0, 0), "time": (0, 0, 1, 0)}


@dataclass(frozen=True, kw_only=True, eq=False)
class ImportedBody:
    """A reduced body and what it was reduced from.

    Args:
        body: for `Robot.with_flexible_body` or `flexible.save_modes`.
        frequency: [Hz] of the reduced body; full_frequency: of the matrices, elastic ones.
        mac: (reduced, full) modal assurance criterion, mass-weighted.
    """

    body: FlexibleBody
    frequency: Array
    full_frequency: Array
    mac: Array

    @property
    def check_page(self) -> str:
        """Mass, centre, inertia, frequencies before and after, and how alike the modes are, as Markdown."""
        b = self.body
        com = ", ".join(f"{x:.6g}" for x in np.asarray(b.MS_r) / b.mass)
        about = ", ".join(f"{x:.6g}" for x in np.diag(b.I_rr))
        lines = ["# Imported body", "", f"mass: {b.mass:.6g} kg", f"centre of mass: {com} m"]
        lines += [f"moments of inertia about the frame origin: {about} kg m^2", ""]
        lines += ["| mode | full [Hz] | reduced [Hz] | MAC |", "|---|---|---|---|"]
        for k, f in enumerate(self.frequency):
            full = self.full_frequency[k] if k < len(self.full_frequency) else np.nan
            alike = np.abs(self.full_frequency - f) <= SAME_FREQUENCY * f  # equal frequencies: any mixture is a mode
            value = self.mac[k, alike].sum() if np.any(alike) else self.mac[k].max()
            lines.append(f"| {k + 1} | {full:.6g} | {f:.6g} | {value:.4f} |")
        return "\n".join(lines) + "\n"


def import_fe(
    mass: str | os.PathLike[str],
    stiffness: str | os.PathLike[str],
    nodes: str | os.PathLike[str],
    *,
    units: Mapping[str, str],
    interfaces: Mapping[str, int | Sequence[float]],
    modes: int | None = None,
    below: float | None = None,
    method: str = "normal",
    damping: Any = 0.0,
) -> ImportedBody:
    """A flexible body from finite element files.

    Args:
        mass, stiffness: Matrix Market or Abaqus (.mtx, both of its forms), Harwell-Boeing (.hb, .rb), Nastran OP4 (.op4) or
            DMIG (.bdf, .pch), .npz; one file may hold both.
        nodes: Nastran (.bdf), Ansys archive (.cdb), Abaqus (.inp), .csv (node,x,y,z), .npz.
        units: ``{"length": "mm", "mass": "t", "time": "s"}``: asked for, never guessed.
        interfaces: name to a node's number, or to its position [m].
        modes: number of elastic modes; or
        below: keep modes up to this frequency [Hz].
        method: ``"normal"`` (free-free modes) or ``"craig-bampton"``.

    Source: Craig, Bampton 1968, for the reduction. Checked by: tests/bridges/test_fe.py.
    """
    from flexapod.flexible.errors import FlexibleBodyError
    from flexapod.flexible.matrices import _free_motions, from_matrices, rigid_motions

    if (modes is None) == (below is None):
        raise InputError("import_fe: give either modes (a number) or below (a frequency [Hz])")
    size = {name: _unit(units, name) for name in DIMENSIONS}
    numbers, places = read_nodes(Path(nodes))
    M, K = (read_matrix(Path(path), name) for path, name in ((mass, "mass"), (stiffness, "stiffness")))
    width = _dofs(M, K, len(numbers), Path(mass))
    M, K = (_ordered(part, numbers, width, Path(mass)) for part in (M, K))
    D = sparse.diags(np.tile([1.0] * 3 + [size["length"]] * (width - 3), len(numbers)))
    inertia, springs = size["mass"] * (D @ M @ D), size["mass"] / size["time"] ** 2 * (D @ K @ D)
    if sparse.csr_matrix(inertia).diagonal().sum() <= 0.0:
        raise FeFileError(f"{mass}: the mesh has no mass; export the mass matrix, with a density for every material")
    chosen = {name: _node(name, place, numbers) for name, place in interfaces.items()}
    r0 = size["length"] * places
    options: dict[str, Any] = {"dofs_per_node": width, "method": method, "interfaces": chosen, "damping": damping}
    rigid = _free_motions(sparse.csc_array(springs), rigid_motions(r0, width)).shape[1]
    count = modes if modes is not None else _below(inertia, springs, rigid, float(below or 0.0))
    try:
        body = from_matrices(inertia, springs, r0, modes=count, **options)
    except FlexibleBodyError as error:
        raise FeFileError(f"import_fe: {error}") from error
    return _checked(body, inertia, springs, width, rigid)


def _unit(units: Mapping[str, str], name: str) -> float:
    if name not in units:
        raise InputError(f"units: say the unit of {name}, e.g. units={{'length': 'mm', 'mass': 't', 'time': 's'}}")
    try:
        factor, dimension = parse_unit(units[name])
    except UnitError as error:
        raise InputError(f"units: {error.what}. {error.hint}") from None
    if dimension != DIMENSIONS[name]:
        raise InputError(f"units: {units[name]!r} is no unit of {name}")
    return float(factor)


def _dofs(M: Labelled, K: Labelled, count: int, path: Path) -> int:
    """Degrees of freedom per node, 3 or 6."""
    if M.labels is not None:
        return 6 if max(d for _, d in M.labels) > 3 else 3
    for width in (3, 6):
        if K.matrix.shape[0] == width * count:
            return width
    raise FeFileError(f"{path}: matrices of size {K.matrix.shape[0]} do not fit {count} nodes with 3 or 6 degrees of freedom")


def _ordered(part: Labelled, numbers: list[int], width: int, path: Path) -> Any:
    """The matrix with rows node by node; degrees of freedom that a file leaves out have none."""
    if part.labels is None:
        return sparse.csr_matrix(part.matrix)
    at = {number: k for k, number in enumerate(numbers)}
    lost = [node for node, _ in part.labels if node not in at]
    if lost:
        raise FeFileError(f"{path}: the matrix has node {lost[0]}, which the file of nodes does not have")
    places = np.array([at[node] * width + dof - 1 for node, dof in part.labels])
    total = width * len(numbers)
    pick = sparse.coo_matrix((np.ones(len(places)), (places, np.arange(len(places)))), shape=(total, len(places)))
    return (pick @ sparse.csr_matrix(part.matrix) @ pick.T).tocsr()


def _node(name: str, place: Any, numbers: list[int]) -> Any:
    if isinstance(place, int | np.integer):
        if int(place) not in numbers:
            raise InputError(f"interfaces: {name!r} is node {place}, which the file does not have")
        return numbers.index(int(place))
    return place


def _full(M: Any, K: Any, rigid: int, count: int) -> tuple[Array, Array]:
    """Frequencies [Hz] and mass-normalised shapes of the matrices behind their rigid motions, at least `count` or all."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh

    M, K = sparse.csc_matrix(M), sparse.csc_matrix(K)
    massive = bool(np.all(M.diagonal() > 0.0))  # shells may have rotations without inertia
    if M.shape[0] <= DENSE and massive:
        value, V = eigh(K.toarray(), M.toarray())
    else:
        value, V = eigsh(K, k=min(rigid + count + 2, M.shape[0] - 2), M=M, sigma=-SHIFT)
        order = np.argsort(value)
        value, V = value[order], V[:, order]
    return np.sqrt(np.clip(value[rigid:], 0, None)) / (2 * np.pi), V[:, rigid:]


def _below(M: Any, K: Any, rigid: int, limit: float) -> int:
    """Number of elastic modes up to a frequency."""
    count = 16
    while True:
        frequency, _ = _full(M, K, rigid, count)
        found = int(np.sum(frequency <= limit))
        if found == 0:
            raise InputError(f"below: no mode lies below {limit:g} Hz; the first is at {frequency[0]:.5g} Hz")
        if found < len(frequency) or len(frequency) >= M.shape[0] - rigid - 2:
            return found
        count *= 2


def _checked(body: FlexibleBody, M: Any, K: Any, width: int, rigid: int) -> ImportedBody:
    """Frequencies before and after, and the modal assurance criterion with the mass as weight."""
    from scipy.linalg import eigh

    full, V = _full(M, K, rigid, len(body.names))
    k_ee, m_ee = np.asarray(body.K_ee), np.asarray(body.M_ee)
    value, Q = eigh(k_ee, m_ee)
    picture = body.nodes
    assert picture is not None
    parts = [picture.Phi_d, *([picture.Phi_r] if width == 6 and picture.Phi_r is not None else [])]
    Phi = np.concatenate(parts, axis=1).reshape(-1, len(value)) @ Q
    cross = Phi.T @ (M @ V)
    own = np.einsum("ik,ik->k", Phi, M @ Phi)
    return ImportedBody(body=body, frequency=np.sqrt(np.clip(value, 0, None)) / (2 * np.pi), full_frequency=full,
                        mac=cross**2 / own[:, None])  # fmt: skip
