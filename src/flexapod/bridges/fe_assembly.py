r"""Mass and stiffness of a mesh from its elements: six degrees of freedom per node, rigid links eliminated.

.. math:: M = T^T\Big(\sum_e M_e\Big)T,\qquad K = T^T\Big(\sum_e K_e\Big)T,\qquad u = T u_{kept}

with T the rigid motion of dependent nodes by their independent one. Everything is in the units of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from flexapod.arrays import Array
from flexapod.bridges.fe_files import FeFileError
from flexapod.bridges.fe_matrices import Labelled
from flexapod.flexible.beam_element import BeamElement
from flexapod.rotation_arrays import skew

GAUSS_POINTS = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class ElementMatrices:
    """Matrices (6 n, 6 n) of an element for (ux, uy, uz, rx, ry, rz) of its nodes, in the mesh's axes; volume of its material."""

    nodes: Sequence[int]
    mass: Array
    stiffness: Array
    volume: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FileMesh:
    """A mesh in its file's units.

    Args:
        places: node number -> (3,).
        parts: elements and point masses.
        links: dependent node -> independent node that carries it rigidly.
        notes: what of the file was left out, for the check page.
    """

    places: Mapping[int, Array]
    parts: Sequence[ElementMatrices]
    links: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def density(mesh: FileMesh) -> float | None:
    """Mass of the elements over their volume, in the file's units; None where only nodes have masses."""
    parts = [part for part in mesh.parts if part.volume > 0.0 and part.mass.any()]
    return sum(float(part.mass[::6, ::6].sum()) for part in parts) / sum(part.volume for part in parts) if parts else None


def left_out(mesh: FileMesh, kept: Sequence[int]) -> dict[int, str]:
    """Nodes of the mesh that are not kept -> why."""
    carrier = {node: _carrier(mesh.links, node, "mesh") for node in set(mesh.places) - set(kept)}
    return {
        node: f"which a rigid link ties to node {own}; take that one"
        if own in kept
        else "to which no element is connected; take a node of an element"
        for node, own in carrier.items()
    }


def assembled(mesh: FileMesh, source: str) -> tuple[list[int], Array, Labelled, Labelled]:
    """Numbers and positions (n, 3) of the nodes that are left, mass and stiffness.

    Nodes of no element are left out. Where no element holds rotations, as in a truss, there are three degrees of freedom.

    Checked by: tests/bridges/test_nastran_mesh.py.
    """
    used = sorted({node for part in mesh.parts for node in part.nodes})
    kept = sorted({_carrier(mesh.links, node, source) for node in used})
    at = {node: k for k, node in enumerate(used)}
    M, K = (_summed(mesh.parts, at, name) for name in ("mass", "stiffness"))
    T = _links(mesh, used, kept, source)
    M, K = T.T @ M @ T, T.T @ K @ T
    stiff = (K.diagonal() > 0.0).reshape(-1, 6)
    rotations = stiff[:, 3:]
    if rotations.any() and not rotations.all():
        node = kept[int(np.flatnonzero(~rotations.all(axis=1))[0])]
        raise FeFileError(
            f"{source}: node {node} has rotations that no element holds (only rods or masses end there); connect it by beams, "
            "shells or a rigid link, or export the matrices of the solver"
        )
    width = 6 if rotations.any() else 3
    chosen = np.flatnonzero(np.tile(np.arange(6) < width, len(kept)))
    labels = [(node, d + 1) for node in kept for d in range(width)]
    parts = [Labelled(matrix=A.tocsr()[chosen][:, chosen], labels=labels) for A in (M, K)]
    return kept, np.array([mesh.places[node] for node in kept]), parts[0], parts[1]


def _summed(parts: Sequence[ElementMatrices], at: Mapping[int, int], name: str) -> sparse.csr_matrix:
    rows, columns, values = [], [], []
    for part in parts:
        own = (6 * np.array([at[node] for node in part.nodes])[:, None] + np.arange(6)).ravel()
        i, j = np.meshgrid(own, own, indexing="ij")
        rows.append(i.ravel())
        columns.append(j.ravel())
        values.append(getattr(part, name).ravel())
    size = 6 * len(at)
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_matrix((np.concatenate(values), places), shape=(size, size)).tocsr()


def _carrier(links: Mapping[int, int], node: int, source: str) -> int:
    """The node at the end of a chain of rigid links."""
    seen = {node}
    while node in links:
        node = links[node]
        if node in seen:
            raise FeFileError(f"{source}: rigid links form a cycle at node {node}")
        seen.add(node)
    return node


def _links(mesh: FileMesh, used: Sequence[int], kept: Sequence[int], source: str) -> sparse.csr_matrix:
    """Matrix (6 used, 6 kept) that moves every node with its carrier."""
    T = sparse.lil_matrix((6 * len(used), 6 * len(kept)))
    place = {node: k for k, node in enumerate(kept)}
    for k, node in enumerate(used):
        carrier = _carrier(mesh.links, node, source)
        block = np.eye(6)
        block[:3, 3:] = -skew(np.asarray(mesh.places[node]) - np.asarray(mesh.places[carrier]))
        T[6 * k : 6 * k + 6, 6 * place[carrier] : 6 * place[carrier] + 6] = block
    return T.tocsr()


def beam_part(
    nodes: Sequence[int], element: BeamElement, axes: Array, ways: Array, density: float, extra: float
) -> ElementMatrices:
    """A beam between two nodes.

    Args:
        axes: (3, 3) rows: the element's x, y, z.
        ways: (2, 3) from the nodes to the ends of the beam, mesh axes.
        density: of the material; extra: mass per length besides it.

    Mass is consistent with the shapes; sections have rotary inertia about the beam's axis only.
    """
    x, weight = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    Phi_d, Phi_r = element.shapes(0.5 * (x + 1.0) * element.length)
    section, rho = element.section, density
    step = 0.5 * element.length * weight
    M = np.einsum("p,pai,paj->ij", step * (rho * section.area + extra), Phi_d, Phi_d)
    M += np.einsum("p,pi,pj->ij", step * rho * (section.iy + section.iz), Phi_r[:, 0], Phi_r[:, 0])
    T = np.zeros((12, 12))
    for end in range(2):
        T[6 * end : 6 * end + 3, 6 * end : 6 * end + 3] = T[6 * end + 3 : 6 * end + 6, 6 * end + 3 : 6 * end + 6] = axes
        T[6 * end : 6 * end + 3, 6 * end + 3 : 6 * end + 6] = -axes @ skew(ways[end])
    volume = section.area * element.length
    return ElementMatrices(nodes=nodes, mass=T.T @ M @ T, stiffness=T.T @ element.stiffness() @ T, volume=volume)


def rod_part(
    nodes: Sequence[int], way: Array, axial: float, torsion: float, mass_per_length: float, area: float
) -> ElementMatrices:
    """A rod: E A and G J over its length, linear displacements."""
    length = float(np.linalg.norm(way))
    along = np.outer(way, way) / length**2
    M, K = np.zeros((12, 12)), np.zeros((12, 12))
    for i in range(2):
        for j in range(2):
            sign = 1.0 if i == j else -1.0
            K[6 * i : 6 * i + 3, 6 * j : 6 * j + 3] = sign * axial / length * along
            K[6 * i + 3 : 6 * i + 6, 6 * j + 3 : 6 * j + 6] = sign * torsion / length * along
            M[6 * i : 6 * i + 3, 6 * j : 6 * j + 3] = mass_per_length * length / (3 if i == j else 6) * np.eye(3)
    return ElementMatrices(nodes=nodes, mass=M, stiffness=K, volume=area * length)


def mass_part(node: int, mass: float, way: Array, inertia: Array) -> ElementMatrices:
    """A point mass at `way` from its node, with its tensor about itself."""
    T = np.eye(6)
    T[:3, 3:] = -skew(way)
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = mass * np.eye(3), inertia
    return ElementMatrices(nodes=(node,), mass=T.T @ M @ T, stiffness=np.zeros((6, 6)))
