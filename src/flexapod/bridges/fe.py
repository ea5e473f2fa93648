"""`import_fe`: a flexible body from files of a finite element program, with units stated and modes checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from flexapod.bridges.fe_check import ImportedBody, checked
from flexapod.bridges.fe_files import FeFileError
from flexapod.bridges.fe_model import FEModel, Source, read_model
from flexapod.bridges.fe_nodes import BULK
from flexapod.bridges.fe_remarks import stiff_shapes, tied_to_ground, with_remarks
from flexapod.bridges.fe_request import interface_nodes, modes_below, units_in_si
from flexapod.bridges.fe_shapes import Shapes, in_basic_axes, read_shapes
from flexapod.bridges.nastran_bulk import displacement_axes
from flexapod.calls import checked as checked_call
from flexapod.calls import unchecked
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.flexible.body import FlexibleBody

RIGID = 0.5
"""Part of a shape's mass norm in rigid motions above which a solver's mode is a rigid one."""
ORTHOGONAL = 0.1
"""Largest product of two unit shapes of a solver over our mass: lumped against consistent masses stay below on meshes of use."""


@checked_call(stiffness=unchecked)
def import_fe(
    mass: Source | None = None,
    stiffness: Source | None = None,
    nodes: Source | None = None,
    *,
    units: Mapping[str, str],
    interfaces: Mapping[str, int | Sequence[float]],
    mesh: Source | None = None,
    shapes: Source | None = None,
    modes: int | None = None,
    below: float | None = None,
    method: str = "normal",
    damping: float | ArrayLike = 0.0,
) -> ImportedBody:
    """A flexible body from finite element files: a mesh, or matrices and nodes.

    Args:
        mass, stiffness: Matrix Market or Abaqus (.mtx, both of its forms), Harwell-Boeing (.hb, .rb, .matrix, with the mapping
            file of Ansys beside it), Nastran OP4 (.op4) or DMIG (.bdf, .pch), .npz; one file may hold both.
        nodes: Nastran (.bdf), Ansys archive (.cdb), Abaqus (.inp), .csv (node,x,y,z), .npz.
        units: ``{"length": "mm", "mass": "t", "time": "s"}``: asked for, never guessed.
        interfaces: name to a node's number, or to its position [m].
        mesh: instead of these three: Nastran bulk data (.bdf, .dat, .nas) or an Ansys archive (.cdb), whose beams, rods, shells,
            masses (and rigid links of Nastran) are assembled here.
        shapes: modes of the solver (.op2 or .pch of Nastran) that are taken instead of our own; rigid ones are left out.
        modes: number of elastic modes; or
        below: keep modes up to this frequency [Hz]; of craig-bampton those with held interfaces.
        method: ``"normal"`` (free-free modes), ``"craig-bampton"`` or ``"residual"`` (free-free with residual flexibility).
        damping: modal damping ratios, or a matrix (N, N).
    Returns:
        `ImportedBody`: the reduced body, its frequencies [Hz] beside those of the matrices, and what was left out.
    Raises:
        FeFileError: a file that cannot be read, or whose nodes and matrices do not fit.

    Source: Craig, Bampton 1968, for the reduction. Checked by: tests/bridges/test_fe.py, tests/bridges/test_nastran_mesh.py,
    tests/bridges/test_ansys_mesh.py.
    """
    from flexapod.flexible.errors import FlexibleBodyError
    from flexapod.flexible.matrices import _free_motions, from_matrices, rigid_motions, stiffness_to_ground

    if (modes is None) == (below is None):
        raise InputError("import_fe: give either modes (a number) or below (a frequency [Hz])")
    model = read_model(mass, stiffness, nodes, mesh, units_in_si(units))
    chosen = interface_nodes(interfaces, model.numbers, model.left_out)
    try:
        R = _free_motions(sparse.csc_array(model.stiffness), rigid_motions(model.r0, model.width))
        if shapes is not None:
            given = _solver_shapes(Path(shapes), mesh, nodes)
            body = _from_shapes(model, given, chosen, modes=modes, below=below, method=method, damping=damping)
        else:
            count = (
                modes if modes is not None else modes_below(model.mass, model.stiffness, R, below, _held(model, chosen, method))
            )
            body = from_matrices(
                model.mass, model.stiffness, model.r0, modes=count, dofs_per_node=model.width, method=method, interfaces=chosen,
                damping=damping,
            )  # fmt: skip
    except FlexibleBodyError as error:
        raise FeFileError(f"import_fe: {error}") from error
    found = checked(body, model.mass, model.stiffness, model.width, R, model.notes)
    ground = stiffness_to_ground(sparse.csc_array(model.stiffness), rigid_motions(model.r0, model.width))
    return with_remarks(tied_to_ground(stiff_shapes(found), ground, R.shape[1]), model.r0, model.density, units)


def _held(model: FEModel, chosen: Mapping[str, int | Sequence[float]], method: str) -> list[int]:
    """Degrees of freedom that Craig-Bampton's modes hold."""
    from flexapod.flexible.matrices import _node as nearest

    nodes = [nearest(name, place, model.r0) for name, place in chosen.items()] if method == "craig-bampton" else []
    return [node * model.width + axis for node in nodes for axis in range(model.width)]


def _solver_shapes(path: Path, mesh: Source | None, nodes: Source | None) -> Shapes:
    """Modes of a solver in basic axes."""
    found, source = read_shapes(path), Path(str(mesh or nodes))
    if source.suffix.lower() not in BULK:
        return found
    return in_basic_axes(found, displacement_axes(source))


def _from_shapes(
    model: FEModel,
    shapes: Shapes,
    chosen: Mapping[str, int | Sequence[float]],
    *,
    modes: int | None,
    below: float | None,
    method: str,
    damping: float | ArrayLike,
) -> FlexibleBody:
    """The body of a solver's elastic modes, normalised by the mass."""
    from flexapod.flexible.checked_arrays import checked_integer
    from flexapod.flexible.matrices import _node as nearest
    from flexapod.flexible.matrices import reduced_body, rigid_motions

    if modes is not None:
        checked_integer("modes", modes, 1)
    if method != "normal":
        raise InputError(f"method={method!r}: modes of a solver are used as they are; leave it out")
    at = {number: k for k, number in enumerate(shapes.numbers)}
    lost = [number for number in model.numbers if number not in at]
    if lost:
        raise FeFileError(f"import_fe: the modes have no node {lost[0]}, which the mesh has; write them for all nodes")
    Phi = shapes.Phi[[at[number] for number in model.numbers], : model.width]
    Phi = Phi * np.array([model.units["length"]] * 3 + [1.0] * (model.width - 3))[:, None]
    V, M = Phi.reshape(-1, Phi.shape[2]), sparse.csc_array(model.mass)
    V = V / np.sqrt(np.einsum("nk,nk->k", V, M @ V))
    R = rigid_motions(model.r0, model.width)
    inside = R.T @ (M @ V)
    elastic = np.einsum("nk,nk->k", inside, np.linalg.pinv(R.T @ (M @ R)) @ inside) < RIGID
    omega2, V = shapes.eigenvalue[elastic] / model.units["time"] ** 2, V[:, elastic]
    count = modes if modes is not None else int(np.sum(omega2 <= (2 * np.pi * float(below or 0.0)) ** 2))
    if not 1 <= count <= len(omega2):
        raise InputError(f"import_fe: the file has {len(omega2)} elastic modes, but {count} are requested")
    order = np.argsort(omega2, kind="stable")[:count]
    V, omega2 = V[:, order], omega2[order]
    mixed = float(np.abs(V.T @ (M @ V) - np.eye(count)).max())
    if mixed > ORTHOGONAL:
        raise FeFileError(
            f"import_fe: shapes and mass do not belong together: the shapes are orthogonal with this mass to {mixed:.2g} only"
        )
    places = {name: nearest(name, place, model.r0) for name, place in chosen.items()}
    body = reduced_body(M, model.r0, model.width, omega2, V, places)
    return body if np.ndim(damping) == 0 and damping == 0.0 else body.with_damping(damping)
