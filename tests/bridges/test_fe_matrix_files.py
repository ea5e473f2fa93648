"""Matrices as solvers write them: OP4 in its binary forms, one of two mirrored entries, sparse npz; and what they cannot be."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from test_fe import ENDS, K_, M_, NUMBERS, ROUNDED, SAME, UNITS, ansys, exact, nodes_csv, npz

import flexapod as fp
from flexapod.bridges.fe_matrices import read_matrix

Entry = Callable[[int, int], bool]
RANK = np.argsort(np.random.default_rng(1).permutation(len(M_)))
"""Rows in the order of a solver, which is not that of the node numbers."""


def record(order: str, data: bytes) -> bytes:
    """A record of an unformatted Fortran file: its length before and behind it."""
    return struct.pack(order + "i", len(data)) + data + struct.pack(order + "i", len(data))


def strings(order: str, column: np.ndarray, big: bool) -> bytes:
    """Runs of entries as OUTPUT4 writes sparse columns: length and first row in one word (or two for BIGMAT), then numbers."""
    rows = np.flatnonzero(column)
    found = b""
    for run in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1):
        length, first = 2 * len(run) + 1, int(run[0]) + 1
        found += struct.pack(order + "2i", length, first) if big else struct.pack(order + "i", first + 65536 * length)
        found += struct.pack(f"{order}{len(run)}d", *column[run])
    return found


def binary_op4(path: Path, order: str, form: str) -> Path:
    """Both matrices in double precision; `form` is dense, sparse or bigmat."""
    data = b""
    for name, matrix in (("MGG", M_), ("KGG", K_)):
        n = len(matrix)
        rows = -n if form == "bigmat" else n
        data += record(order, struct.pack(order + "4i", n, rows, 6, 2) + name.ljust(8).encode())
        for k, column in enumerate(matrix.T, 1):
            used = np.flatnonzero(column)
            if form == "dense":
                part = column[used[0] : used[-1] + 1]
                head = struct.pack(order + "3i", k, int(used[0]) + 1, 2 * len(part))
                data += record(order, head + struct.pack(f"{order}{len(part)}d", *part))
            else:
                part = strings(order, column, form == "bigmat")
                data += record(order, struct.pack(order + "3i", k, 0, len(part) // 4) + part)
        data += record(order, struct.pack(order + "3i", n + 1, 1, 2) + struct.pack(order + "d", 1.0))
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("form", ["dense", "sparse", "bigmat"])
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_binary_op4(tmp_path: Path, order: str, form: str) -> None:
    path = binary_op4(tmp_path / "both.op4", order, form)
    for name, matrix in (("mass", M_), ("stiffness", K_)):
        assert np.array_equal(sparse.csr_matrix(read_matrix(path, name).matrix).toarray(), matrix)
    whole = path.read_bytes()
    for cut in (10, 24, 1000, len(whole) // 2, len(whole) - 8):
        path.write_bytes(whole[:cut])
        with pytest.raises(fp.FeFileError, match=r"both.op4: cannot be read as a matrix: .* Is it whole"):
            read_matrix(path, "stiffness")


def as_abaqus(folder: Path, label: Callable[[int], tuple[float, float]], keep: Entry) -> tuple[Path, Path]:
    for name, matrix in (("m.mtx", M_), ("k.mtx", K_)):
        entries = [(i, j) for i, j in zip(*np.nonzero(matrix), strict=True) if keep(i, j)]
        rows = [(*label(int(i)), *label(int(j)), float(matrix[i, j])) for i, j in entries]
        (folder / name).write_text("\n".join(", ".join(map(repr, row)) for row in rows))
    return folder / "m.mtx", folder / "k.mtx"


def as_dmig(folder: Path, keep: Entry) -> tuple[Path, Path]:
    """Fields of 16 characters with D exponents, as EXTSEOUT punches them."""
    lines = []
    for name, matrix in (("MAAX", M_), ("KAAX", K_)):
        lines.append(f"DMIG    {name:8s}{0:8d}{6:8d}{2:8d}{0:8d}")
        for j in range(len(matrix)):
            rows = [i for i in np.flatnonzero(matrix[:, j]) if keep(i, j)]
            if rows:
                lines.append(f"{'DMIG*':8s}{name:16s}{NUMBERS[j // 3]:16d}{j % 3 + 1:16d}")
            lines += [f"*{'':7s}{NUMBERS[i // 3]:16d}{i % 3 + 1:16d}{matrix[i, j]:16.9E}".replace("E", "D") for i in rows]
    path = folder / "both.pch"
    path.write_text("\n".join(lines) + "\n")
    return path, path


def plain_label(k: int) -> tuple[float, float]:
    return NUMBERS[k // 3], k % 3 + 1


@pytest.mark.parametrize("form", ["abaqus", "dmig"])
@pytest.mark.parametrize("half", ["lower", "upper", "solver", "all"])
def test_one_of_two_mirrored_entries_is_enough(tmp_path: Path, form: str, half: str) -> None:
    """A triangle in the order of the solver is none in the order of the nodes: such files were refused as not symmetric."""
    keeps: dict[str, Entry] = {
        "lower": lambda i, j: i >= j, "upper": lambda i, j: i <= j, "solver": lambda i, j: RANK[i] >= RANK[j],
        "all": lambda i, j: True,
    }  # fmt: skip
    files = as_dmig(tmp_path, keeps[half]) if form == "dmig" else as_abaqus(tmp_path, plain_label, keeps[half])
    found = fp.import_fe(*files, nodes_csv(tmp_path), units=UNITS, interfaces=ENDS, modes=4)
    assert np.allclose(found.frequency, exact()[:4], rtol=ROUNDED if form == "dmig" else SAME, atol=0)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (lambda k: (NUMBERS[k // 3], k % 3), "m.mtx: node 10 has the degree of freedom 0; displacements and rotations are 1"),
        (lambda k: (NUMBERS[k // 3], 11 if k % 3 else 1), "m.mtx: node 10 has the degree of freedom 11;"),
        (lambda k: (NUMBERS[k // 3] + 0.5, k % 3 + 1), "m.mtx: 10.5 is not a node number; expected node, dof, node, dof, value"),
    ],
    ids=["scalar", "temperature", "fraction"],
)  # fmt: skip
def test_degrees_of_freedom_are_one_to_six(tmp_path: Path, label: Callable[[int], tuple[float, float]], text: str) -> None:
    """They went to the rows of other nodes, or ended in an error of SciPy."""
    files = as_abaqus(tmp_path, label, lambda i, j: True)
    with pytest.raises(fp.FeFileError, match=text):
        fp.import_fe(*files, nodes_csv(tmp_path), units=UNITS, interfaces=ENDS, modes=4)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("0 1 5.0", "entry 2 is in row 0, column 1; both count from 1"),
        ("1.5 1 5.0", "entry 2 is in row 1.5, column 1; both count from 1"),
        ("1 1", "line 3 has 2 numbers; expected 3 or 5 per line, all lines alike"),
        ("1 1 5.0 x", "is neither Matrix Market nor a matrix of Abaqus: line 3, could not convert string to float: 'x'"),
    ],
)  # fmt: skip
def test_lines_of_the_coordinate_form(tmp_path: Path, line: str, text: str) -> None:
    (tmp_path / "k.mtx").write_text(f"** by hand\n1 1 2.0\n{line}\n")
    with pytest.raises(fp.FeFileError, match=text):
        read_matrix(tmp_path / "k.mtx", "stiffness")


def test_sparse_matrices_of_scipy(tmp_path: Path) -> None:
    """`stiffness` was looked for among the arrays of `save_npz`, where `shape` begins with s."""
    for name, matrix in (("m.npz", M_), ("k.npz", K_)):
        sparse.save_npz(tmp_path / name, sparse.csr_matrix(matrix))
    found = fp.import_fe(
        tmp_path / "m.npz", tmp_path / "k.npz", nodes_csv(tmp_path), units=UNITS, interfaces=ENDS, modes=4
    )  # fmt: skip
    assert np.allclose(found.frequency, exact()[:4], rtol=SAME, atol=0)


def test_mass_and_stiffness_exchanged(tmp_path: Path) -> None:
    np.savez(tmp_path / "both.npz", mass=K_, stiffness=M_)
    with pytest.raises(fp.FeFileError, match=r"no mass along x, as those of a stiffness do; are mass and stiffness exchanged"):
        fp.import_fe(*[tmp_path / "both.npz"] * 2, nodes_csv(tmp_path), units=UNITS, interfaces=ENDS, modes=4)


def test_single_precision_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "both.npz", mass=M_.astype("f4"), stiffness=K_.astype("f4"))
    with pytest.raises(fp.FeFileError, match=r"negative in some direction, slightly: .* Write them in double precision"):
        fp.import_fe(*[tmp_path / "both.npz"] * 2, nodes_csv(tmp_path), units=UNITS, interfaces=ENDS, modes=4)


def test_rows_of_both_matrices_are_named_or_of_none(tmp_path: Path) -> None:
    """A matrix in the order of the solver beside one in that of the nodes; a mapping file that was cut off."""
    mass, stiffness = ansys(tmp_path)
    nodes = nodes_csv(tmp_path)
    mapping = stiffness.with_suffix(".mapping")
    lines = mapping.read_text().splitlines()
    mapping.write_text("\n".join(lines[:-1]))
    with pytest.raises(fp.FeFileError, match=r"k.matrix: has the size \(36, 36\), but 35 rows are named by node"):
        fp.import_fe(mass, stiffness, nodes, units=UNITS, interfaces=ENDS, modes=4)
    mapping.unlink()
    with pytest.raises(fp.FeFileError, match=r"k.matrix: does not give the nodes of its rows .* m.matrix does"):
        fp.import_fe(mass, stiffness, nodes, units=UNITS, interfaces=ENDS, modes=4)


@pytest.mark.parametrize("place", [True, "10", 10.0, None])
def test_an_interface_is_a_node_or_a_position(tmp_path: Path, place: object) -> None:
    with pytest.raises(fp.InputError, match=r"interfaces: 'A' is .*; expected a node number, or a position of three numbers"):
        fp.import_fe(*npz(tmp_path), nodes_csv(tmp_path), units=UNITS, interfaces={"A": place}, modes=4)  # type: ignore[dict-item]
