"""Nodes beside the matrices of a solver: columns by name, what an Abaqus input says besides `*NODE`, axes of single nodes."""

from pathlib import Path

import mapdl_archive
import numpy as np
import pytest
from scipy import io, sparse
from test_fe import ENDS, K_, M_, NODES, NUMBERS, SAME, UNITS, matrix_market

import flexapod as fp
from flexapod.bridges.fe_nodes import read_nodes

LINES = [f"{n},{x},{y},{z}" for n, (x, y, z) in zip(NUMBERS, NODES, strict=True)]
BLOCK = "\n".join(LINES)
SHAPES = 1e-12
"""Of mass-normalised shapes: eigenvectors of matrices in other axes; found equal."""


@pytest.mark.parametrize(
    "text",
    [
        "node,x,y,z\n" + BLOCK,
        BLOCK,
        "# by hand\n\nNode,X,Y,Z\n" + BLOCK,
        "x,y,z,id\n" + "\n".join(f"{x},{y},{z},{n}" for n, (x, y, z) in zip(NUMBERS, NODES, strict=True)),
        "node,z,y,x\n" + "\n".join(f"{n},{z},{y},{x}" for n, (x, y, z) in zip(NUMBERS, NODES, strict=True)),
    ],
    ids=["header", "none", "comment", "number last", "other order"],
)  # fmt: skip
def test_columns_of_a_table_have_their_names(tmp_path: Path, text: str) -> None:
    """A table without a header lost its first node, and names in another order were not looked at."""
    (tmp_path / "nodes.csv").write_text(text)
    numbers, places = read_nodes(tmp_path / "nodes.csv")
    assert numbers == NUMBERS
    assert np.array_equal(places, NODES)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("node;x;y;z\n1;0;0;0\n", "the first line is 'node;x;y;z'; expected node,x,y,z"),
        ("node,r,phi,z\n1,0,0,0\n", "names the columns node, r, phi, z; expected node,x,y,z"),
    ],
)  # fmt: skip
def test_other_tables_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "nodes.csv").write_text(text)
    with pytest.raises(fp.FeFileError, match=reason):
        read_nodes(tmp_path / "nodes.csv")


@pytest.mark.parametrize(
    "text",
    [
        "*HEADING\n model\n*Node, nset=all\n" + BLOCK + "\n*ELEMENT, TYPE=S4\n1,1,2,3,4\n",
        "*NODE\n" + "\n".join(LINES[:5]) + "\n** a comment\n" + "\n".join(LINES[5:]),
        "*NODE\n" + "\n".join(LINES[:5]) + "\n*NODE, SYSTEM=R\n" + "\n".join(LINES[5:]) + "\n*NODE PRINT\nU\n",
        "*PART, NAME=P\n*NODE\n" + BLOCK + "\n*END PART\n*INSTANCE, NAME=I, PART=P\n 0., 0., 0.\n*END INSTANCE\n",
        "*NODE\n" + BLOCK.replace("0.0,0.0,0.0", ",,", 1),
    ],
    ids=["plain", "comment", "two blocks", "instance", "empty places"],
)  # fmt: skip
def test_an_abaqus_input_gives_its_nodes(tmp_path: Path, text: str) -> None:
    """Nodes behind a comment were lost."""
    (tmp_path / "nodes.inp").write_text(text)
    numbers, places = read_nodes(tmp_path / "nodes.inp")
    assert numbers == NUMBERS
    assert np.array_equal(places, NODES)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"*NODE, SYSTEM=C\n{BLOCK}", r"has \*NODE,SYSTEM=C; write a flat input file"),
        (f"*SYSTEM\n0.,0.,0.,0.,1.,0.\n*NODE\n{BLOCK}", r"has \*SYSTEM: its nodes are in a system of their own"),
        (f"*NODE\n{BLOCK}\n*TRANSFORM, NSET=A\n0.,1.,0.,-1.,0.,0.\n", r"has \*TRANSFORM: .*axes of their own"),
        (f"*NODE\n{BLOCK}\n*INSTANCE, NAME=I, PART=P\n10.,0.,0.\n*END INSTANCE\n", "several or moved instances"),
        (f"*NODE\n{BLOCK}\n*INSTANCE, NAME=I\n*END INSTANCE\n*INSTANCE, NAME=J\n", "several or moved instances"),
        ("*NODE, INPUT=other.txt\n", r"has \*NODE,INPUT=OTHER.TXT; write a flat"),
        ("*INCLUDE, INPUT=other.inp\n", r"has \*INCLUDE: nodes of other files are not read"),
        (f"*NODE\n{LINES[0]}\n{LINES[-1]}\n*NGEN\n10,120,10\n", r"has \*NGEN: it generates nodes"),
    ],
)  # fmt: skip
def test_what_moves_nodes_of_abaqus_is_named(tmp_path: Path, text: str, reason: str) -> None:
    """Cylindrical coordinates, systems, moved instances and rotated axes were taken as plain coordinates."""
    (tmp_path / "nodes.inp").write_text(text)
    with pytest.raises(fp.FeFileError, match=reason):
        read_nodes(tmp_path / "nodes.inp")


def test_matrices_in_displacement_axes_of_grids_are_rotated_back(tmp_path: Path) -> None:
    """Nastran writes matrices in the axes of the field CD; here half of the grids have x along y and y along -x."""
    own = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    A = np.kron(np.diag(np.arange(len(NODES)) < 6), np.eye(3)) + np.kron(np.diag(np.arange(len(NODES)) >= 6), own)
    for name, matrix in (("m.mtx", A @ M_ @ A.T), ("k.mtx", A @ K_ @ A.T)):
        io.mmwrite(tmp_path / name, sparse.coo_matrix(matrix), precision=17)
    grids = [f"GRID,{n},,{x},{y},{z},{5 if k >= 6 else ''}" for k, (n, (x, y, z)) in enumerate(zip(NUMBERS, NODES, strict=True))]
    (tmp_path / "nodes.bdf").write_text("CORD2R,5,,0.,0.,0.,0.,0.,1.\n,0.,1.,0.\n" + "\n".join(grids) + "\n")
    files = (tmp_path / "m.mtx", tmp_path / "k.mtx", tmp_path / "nodes.bdf")
    found = fp.import_fe(*files, units=UNITS, interfaces=ENDS, modes=4)
    (tmp_path / "nodes.csv").write_text("node,x,y,z\n" + BLOCK)
    plain = fp.import_fe(*matrix_market(tmp_path), tmp_path / "nodes.csv", units=UNITS, interfaces=ENDS, modes=4)
    assert np.allclose(found.frequency, plain.frequency, rtol=SAME, atol=0)
    assert np.allclose(found.body.interfaces["B"].Phi_d, plain.body.interfaces["B"].Phi_d, rtol=0, atol=SHAPES)
    assert found.notes == ("the matrices are rotated from the axes of 6 nodes (CD) to the basic ones",)


def test_rotated_nodes_of_ansys_are_refused_beside_matrices(tmp_path: Path) -> None:
    path = tmp_path / "nodes.cdb"
    angles = np.zeros_like(NODES)
    angles[3, 0] = 30.0
    mapdl_archive.write_nblock(str(path), np.array(NUMBERS, dtype=np.int32), NODES, angles, sig_digits=16)
    with pytest.raises(fp.FeFileError, match=r"nodes.cdb: node 40 has axes of its own \(NROTAT\)"):
        fp.import_fe(*matrix_market(tmp_path), path, units=UNITS, interfaces=ENDS, modes=4)
