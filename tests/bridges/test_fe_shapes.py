"""Modes of a solver from OP2 and punch files: our own modes, written in Nastran's forms by pyNastran or by hand, come back."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_nastran_mesh import UNITS, beam, written

import flexapod as fp
from flexapod.bridges.fe_assembly import assembled
from flexapod.bridges.fe_shapes import op2_package, read_shapes
from flexapod.bridges.nastran_mesh import nastran_mesh

SINGLE = 1e-5
"""OP2 holds single precision, punch files seven digits."""


def solved(path: Path) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Nodes, eigenvalues and eigenvectors (modes, nodes, 6) of a mesh, rigid motions first, as a solver has them."""
    from scipy.linalg import eigh

    numbers, _, M, K = assembled(nastran_mesh(path), "mesh")
    value, V = eigh(K.matrix.toarray(), M.matrix.toarray(), subset_by_index=[0, 11])
    return numbers, value, V.T.reshape(12, len(numbers), 6)


def as_op2(path: Path, numbers: list[int], value: np.ndarray, V: np.ndarray) -> Path:
    model = op2_package().OP2(debug=False, log=None)
    from pyNastran.op2.tables.oug.oug_eigenvectors import RealEigenvectorArray

    table = RealEigenvectorArray.add_modal_case(
        "OUGV1", np.stack([numbers, np.ones(len(numbers))], axis=1).astype("int32"), V.astype("float32"), 1,
        np.arange(1, 13, dtype="int32"), value, np.sqrt(np.abs(value)) / (2 * np.pi),
    )  # fmt: skip
    table.table_code, model.is_nx, model.is_msc, model.eigenvectors[1] = 7, False, True, table
    model.write_op2(str(path), post=-1)
    return path


def as_punch(path: Path, numbers: list[int], value: np.ndarray, V: np.ndarray) -> Path:
    lines = []
    for k, (eigenvalue, rows) in enumerate(zip(value, V, strict=True), 1):
        lines += ["$TITLE   = BEAM", "$SUBTITLE=", "$LABEL   =", "$EIGENVECTOR", "$REAL OUTPUT", "$SUBCASE ID =           1"]
        lines.append(f"$EIGENVALUE = {eigenvalue:14.7E}  MODE = {k:5d}")
        for number, row in zip(numbers, rows, strict=True):
            lines.append(f"{number:10d}       G{row[0]:18.6E}{row[1]:18.6E}{row[2]:18.6E}")
            lines.append(f"-CONT-            {row[3]:18.6E}{row[4]:18.6E}{row[5]:18.6E}")
    padded = [f"{line:<72}{k:8d}" for k, line in enumerate(lines, 1)]
    path.write_text("\n".join(padded) + "\n")
    return path


@pytest.mark.parametrize("form", ["op2", "pch"])
def test_modes_of_a_solver_give_the_same_body(tmp_path: Path, form: str) -> None:
    mesh = written(beam(8), tmp_path)
    numbers, value, V = solved(mesh)
    shapes = (as_op2 if form == "op2" else as_punch)(tmp_path / f"modes.{form}", numbers, value, V)
    ends: dict[str, Any] = {"A": 1, "B": [1.0, 0.0, 0.0]}
    ours = fp.import_fe(mesh=mesh, units=UNITS, interfaces=ends, modes=4)
    theirs = fp.import_fe(mesh=mesh, shapes=shapes, units=UNITS, interfaces=ends, modes=4)
    assert np.allclose(theirs.frequency, ours.frequency, rtol=SINGLE, atol=0)
    assert theirs.mac.max(axis=1).min() > 1 - SINGLE
    assert np.allclose(np.abs(theirs.body.interfaces["B"].Phi_d), np.abs(ours.body.interfaces["B"].Phi_d), rtol=0, atol=SINGLE)
    below = fp.import_fe(mesh=mesh, shapes=shapes, units=UNITS, interfaces=ends, below=float(ours.frequency[2]) * 1.001)
    assert len(below.frequency) == 3


def test_displacement_axes_of_grids_are_rotated_away(tmp_path: Path) -> None:
    m = beam(8)
    m.add_cord2r(5, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])  # z along y, x along z
    for k in (3, 4):
        m.nodes[k].cd = 5
    mesh = written(m, tmp_path)
    numbers, value, V = solved(mesh)
    axes = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    rotated = V.copy()
    for k in (3, 4):
        at = numbers.index(k)
        rotated[:, at, :3], rotated[:, at, 3:] = V[:, at, :3] @ axes.T, V[:, at, 3:] @ axes.T
    shapes = as_punch(tmp_path / "modes.pch", numbers, value, rotated)
    theirs = fp.import_fe(mesh=mesh, shapes=shapes, units=UNITS, interfaces={"A": 1}, modes=4)
    assert theirs.mac.max(axis=1).min() > 1 - SINGLE


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("$EIGENVECTOR", "$DISPLACEMENTS"), "holds no eigenvectors"),
        (("-CONT-            ", "-CONT-         xx"), "line 9 is not a line"),
        (("         3       G", "        33       G"), "the modes have no node 3"),
        (("MODE =     8", "MODE =     7"), "modes.pch: has mode 7 twice; write the modes of one subcase"),
    ],
)  # fmt: skip
def test_mistakes_have_one_clear_message(tmp_path: Path, change: tuple[str, str], text: str) -> None:
    mesh = written(beam(8), tmp_path)
    path = as_punch(tmp_path / "modes.pch", *solved(mesh))
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(fp.FeFileError, match=re.escape(text)):
        fp.import_fe(mesh=mesh, shapes=path, units=UNITS, interfaces={"A": 1}, modes=4)


def test_shapes_of_another_body_are_refused(tmp_path: Path) -> None:
    mesh = written(beam(8), tmp_path)
    numbers, value, V = solved(mesh)
    path = as_punch(tmp_path / "modes.pch", numbers, value, V[:, ::-1] * np.linspace(1, 3, len(numbers))[:, None])
    with pytest.raises(fp.FeFileError, match="do not belong together"):
        fp.import_fe(mesh=mesh, shapes=path, units=UNITS, interfaces={"A": 1}, modes=4)
    with pytest.raises(fp.InputError, match="are requested"):
        fp.import_fe(mesh=mesh, shapes=as_punch(path, numbers, value, V), units=UNITS, interfaces={"A": 1}, modes=40)
    with pytest.raises(fp.InputError, match="used as they are"):
        fp.import_fe(mesh=mesh, shapes=path, units=UNITS, interfaces={"A": 1}, modes=4, method="craig-bampton")
    with pytest.raises(fp.FeFileError, match="not a supported file of modes"):
        read_shapes(mesh)
