"""Finite element files of other programs: the same truss in every format, written with the programs' own libraries where there
are any, gives the same body; units are asked for."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse
from scipy.linalg import eigh

import flexapod as fp

SAME = 1e-12
"""Matrices written with 16 digits, one eigenvalue problem."""
ROUNDED = 1e-6
"""Matrices written in the ten digits of a Nastran field."""
NODES = np.array(list(itertools.product([0.0, 100.0, 230.0], [0.0, 120.0], [0.0, 80.0])))
"""[mm]"""
NUMBERS = [10 * (k + 1) for k in range(len(NODES))]
UNITS = {"length": "mm", "mass": "t", "time": "s"}
ENDS = {"A": NUMBERS[0], "B": NUMBERS[-1]}
SPARSE = 1e-9
"""Relative: frequencies by a sparse eigenvalue problem."""
COMPONENT = 0.02
"""Of the first frequency, with eight component modes."""


def truss() -> tuple[np.ndarray, np.ndarray]:
    """Mass [t] and stiffness [N/mm] of bars between all nodes nearer than 200 mm."""
    n = len(NODES)
    M, K = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
    for i, j in itertools.combinations(range(n), 2):
        d = NODES[j] - NODES[i]
        length = np.linalg.norm(d)
        if length > 200:
            continue
        block = 70e3 * 20.0 / length * np.outer(d, d) / length**2
        mass = 2.7e-9 * 20.0 * length
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            K[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
            M[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += mass * np.eye(3) * (1 / 3 if a == b else 1 / 6)
    return M, K


M_, K_ = truss()


def matrix_market(folder: Path) -> tuple[Path, Path]:
    for name, matrix in (("m.mtx", M_), ("k.mtx", K_)):
        io.mmwrite(folder / name, sparse.coo_matrix(matrix), precision=17)
    return folder / "m.mtx", folder / "k.mtx"


def harwell_boeing(folder: Path) -> tuple[Path, Path]:
    for name, matrix in (("m.hb", M_), ("k.hb", K_)):
        io.hb_write(folder / name, sparse.csc_matrix(matrix))
    return folder / "m.hb", folder / "k.hb"


def ansys(folder: Path) -> tuple[Path, Path]:
    """As HBMAT writes them: one triangle, real symmetric, D exponents, rows in the order of the solver, a mapping beside."""
    order = np.random.default_rng(3).permutation(len(M_))
    for name, matrix in (("m.matrix", M_), ("k.matrix", K_)):
        A = sparse.csc_matrix(np.tril(matrix[np.ix_(order, order)]))
        A.sort_indices()
        groups = [(A.indptr + 1, 8, "{:10d}"), (A.indices + 1, 8, "{:10d}"), (A.data, 3, "{:25.16E}")]
        blocks = [
            ["".join(form.format(x).replace("E", "D") for x in values[k : k + per]) for k in range(0, len(values), per)]
            for values, per, form in groups
        ]
        cards = [len(block) for block in blocks]
        head = ["by hand".ljust(72) + "KEY".ljust(8), "".join(f"{n:14d}" for n in (sum(cards), *cards, 0))]
        head += ["RSA".ljust(14) + "".join(f"{n:14d}" for n in (*A.shape, A.nnz, 0))]
        head += ["(8I10)".ljust(16) + "(8I10)".ljust(16) + "(1P,3D25.16)".ljust(20) + " " * 20]
        (folder / name).write_text("\n".join([*head, *(line for block in blocks for line in block)]) + "\n")
        rows = [f"{k + 1:12d}{NUMBERS[i // 3]:12d}    {('UX', 'UY', 'UZ')[i % 3]}" for k, i in enumerate(order)]
        (folder / name).with_suffix(".mapping").write_text("\n".join(["  Matrix Eqn        Node   DOF", *rows]))
    return folder / "m.matrix", folder / "k.matrix"


def abaqus(folder: Path, labels: bool) -> tuple[Path, Path]:
    for name, matrix in (("m.mtx", M_), ("k.mtx", K_)):
        lines = []
        for i, j in zip(*np.nonzero(np.tril(matrix)), strict=True):
            row, column = ((NUMBERS[k // 3], k % 3 + 1) if labels else (k + 1,) for k in (i, j))
            entries = [*map(str, (*row, *column)), repr(float(matrix[i, j]))]
            lines.append((", " if labels else " ").join(entries))
        (folder / name).write_text("** by hand\n" + "\n".join(lines))
    return folder / "m.mtx", folder / "k.mtx"


def op4(folder: Path) -> tuple[Path, Path]:
    from pyNastran.op4.op4 import OP4

    OP4(debug=False).write_op4(str(folder / "both.op4"), {"MGG": (1, M_), "KGG": (1, K_)}, is_binary=False, precision="double")
    return folder / "both.op4", folder / "both.op4"


def dmig(folder: Path) -> tuple[Path, Path]:
    from pyNastran.bdf.bdf import BDF

    model = BDF(debug=False)
    for name, matrix in (("MAAX", M_), ("KAAX", K_)):
        rows, columns, values = [], [], []
        for i, j in zip(*np.nonzero(np.tril(matrix)), strict=True):
            rows.append((NUMBERS[i // 3], i % 3 + 1))
            columns.append((NUMBERS[j // 3], j % 3 + 1))
            values.append(float(matrix[i, j]))
        model.add_dmig(name, 6, 2, 0, 0, None, columns, rows, values)
    model.write_bdf(str(folder / "both.pch"), size=16, is_double=True, enddata=False)
    return folder / "both.pch", folder / "both.pch"


def npz(folder: Path) -> tuple[Path, Path]:
    np.savez(folder / "both.npz", mass=M_, stiffness=K_)
    return folder / "both.npz", folder / "both.npz"


def nodes_nastran(folder: Path) -> Path:
    from pyNastran.bdf.bdf import BDF

    model = BDF(debug=False)
    for number, place in zip(NUMBERS, NODES, strict=True):
        model.add_grid(number, place)
    model.write_bdf(str(folder / "mesh.bdf"), enddata=False)
    return folder / "mesh.bdf"


def nodes_ansys(folder: Path) -> Path:
    import mapdl_archive

    mapdl_archive.write_nblock(str(folder / "mesh.cdb"), np.array(NUMBERS, dtype=np.int32), NODES, sig_digits=16)
    return folder / "mesh.cdb"


def nodes_abaqus(folder: Path) -> Path:
    rows = "\n".join(f"{n}, {x}, {y}, {z}" for n, (x, y, z) in zip(NUMBERS, NODES, strict=True))
    (folder / "mesh.inp").write_text(f"*HEADING\ntruss\n*NODE, NSET=ALL\n{rows}\n*ELEMENT, TYPE=T3D2\n1, 10, 20\n")
    return folder / "mesh.inp"


def nodes_csv(folder: Path) -> Path:
    np.savetxt(folder / "mesh.csv", np.column_stack([NUMBERS, NODES]), delimiter=",", header="node,x,y,z", comments="")
    return folder / "mesh.csv"


CASES = {
    "matrix market": (matrix_market, nodes_csv, SAME), "harwell-boeing, ansys": (harwell_boeing, nodes_ansys, SAME),
    "ansys hbmat": (ansys, nodes_ansys, SAME), "abaqus labels": (lambda f: abaqus(f, True), nodes_abaqus, SAME),
    "abaqus coordinate": (lambda f: abaqus(f, False), nodes_abaqus, SAME),
    "nastran op4": (op4, nodes_nastran, SAME), "nastran dmig": (dmig, nodes_nastran, ROUNDED), "npz": (npz, nodes_csv, SAME),
}  # fmt: skip


def exact() -> np.ndarray:
    """Frequencies [Hz] in SI, from the matrices themselves."""
    value = eigh(K_ * 1e3, M_ * 1e3, eigvals_only=True)  # N/mm, t
    return np.sqrt(value[6:]) / (2 * np.pi)


@pytest.mark.parametrize("case", list(CASES))
def test_every_format_gives_the_same_body(tmp_path: Path, case: str) -> None:
    matrices, nodes, close = CASES[case]
    found = fp.import_fe(*matrices(tmp_path), nodes(tmp_path), units=UNITS, interfaces=ENDS, modes=6)
    assert found.body.mass == pytest.approx(1e3 * M_[::3, ::3].sum(), rel=close)
    assert np.allclose(found.frequency, exact()[:6], rtol=close, atol=0)
    assert np.allclose(found.full_frequency[:6], found.frequency, rtol=close, atol=0)
    assert found.mac.max(axis=1).min() > 1 - 1e-6
    assert np.allclose(found.body.interfaces["B"].r0, 1e-3 * NODES[-1])
    assert f"mass: {found.body.mass:.6g} kg" in found.check_page


def test_large_models_are_solved_sparsely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flexapod.bridges.fe_check.DENSE", 10)
    files = (*npz(tmp_path), nodes_csv(tmp_path))
    found = fp.import_fe(*files, units=UNITS, interfaces=ENDS, below=float(exact()[5]) * 1.0001)
    assert np.allclose(found.full_frequency[:6], exact()[:6], rtol=SPARSE, atol=0)
    assert len(found.frequency) == 6


def test_a_frequency_limit_and_craig_bampton(tmp_path: Path) -> None:
    files, limit = (*npz(tmp_path), nodes_csv(tmp_path)), float(exact()[4]) * 1.0001
    kept = fp.import_fe(*files, units=UNITS, interfaces={"A": [0.0, 0.0, 0.0]}, below=limit)
    assert len(kept.frequency) == 5
    three = {**ENDS, "C": NUMBERS[3]}
    held = fp.import_fe(*files, units=UNITS, interfaces=three, modes=8, method="craig-bampton")
    assert np.abs(held.frequency[0] / exact()[0] - 1) < COMPONENT


def test_a_frequency_limit_of_craig_bampton_counts_held_modes(tmp_path: Path) -> None:
    three, held = {**ENDS, "C": NUMBERS[3]}, [0, 3, len(NODES) - 1]
    free = np.setdiff1d(np.arange(3 * len(NODES)), [3 * k + axis for k in held for axis in range(3)])
    value = eigh(K_[np.ix_(free, free)], M_[np.ix_(free, free)], eigvals_only=True)
    limit = float(np.sqrt(value[5]) / (2 * np.pi)) * 1.0001
    assert np.sum(exact() <= limit) != 6
    files = (*npz(tmp_path), nodes_csv(tmp_path))
    found, same = (
        fp.import_fe(*files, units=UNITS, interfaces=three, method="craig-bampton", **count)
        for count in ({"below": limit}, {"modes": 6})
    )
    assert np.allclose(found.frequency, same.frequency, rtol=SAME, atol=0)
    with pytest.raises(fp.InputError, match="Hz with the interfaces held"):
        fp.import_fe(*files, units=UNITS, interfaces=three, method="craig-bampton", below=1.0)


def test_two_interfaces_at_one_node(tmp_path: Path) -> None:
    files, three = (*npz(tmp_path), nodes_csv(tmp_path)), {**ENDS, "C": NUMBERS[3]}
    once, twice = (
        fp.import_fe(*files, units=UNITS, interfaces=names, modes=4, method="craig-bampton")
        for names in (three, {**three, "D": NUMBERS[3]})
    )
    assert np.allclose(once.frequency, twice.frequency, rtol=SAME, atol=0)


@pytest.mark.parametrize("method", ["normal", "craig-bampton", "residual"])
def test_stiffness_to_ground_is_said(tmp_path: Path, method: str) -> None:
    """A spring between the first node and ground, and one at every degree of freedom: the stiffness against rigid motions."""
    spring = np.zeros_like(K_)
    spring[0, 0] = 500.0  # N/mm
    three = {**ENDS, "C": NUMBERS[3]}
    for added, texts in (
        (spring, ["holds 1 of the 6 rigid motions (translation along x 5e+05 N/m)"]),
        (np.eye(len(K_)), ["holds 6 of the 6", "translation along z 1.2e+04 N/m", "rotation about x "]),
    ):
        np.savez(tmp_path / "both.npz", mass=M_, stiffness=K_ + added)
        files = (tmp_path / "both.npz", tmp_path / "both.npz", nodes_csv(tmp_path))
        with pytest.warns(fp.FlexapodWarning, match="import_fe: the stiffness ties the body to ground") as label:
            found = fp.import_fe(*files, units=UNITS, interfaces=three, modes=3, method=method)
        for text in texts:
            assert text in str(label[0].message)
            assert text in found.check_page


def test_one_interface_and_no_modes_is_a_rigid_body(tmp_path: Path) -> None:
    """A beam whose root alone is held by Craig-Bampton: its static shapes are rigid motions."""
    bars = "MAT1,1,210000.,,.3,7.8-9\nPBAR,1,1,100.,833.,833.,1406.\nGRID,1,,0.,0.,0.\nGRID,2,,50.,0.,0.\nCBAR,1,1,1,2,0.,1.,0.\n"
    (tmp_path / "bar.bdf").write_text(bars)
    given = {"mesh": tmp_path / "bar.bdf", "units": UNITS, "interfaces": {"root": 1}, "method": "craig-bampton"}
    assert len(fp.import_fe(**given, modes=2).frequency) == 2
    with pytest.raises(fp.FeFileError, match="no elastic shape: with one interface and no modes the body is rigid"):
        fp.import_fe(**given, modes=0)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"units": {"length": "mm", "mass": "t"}}, "give the unit of time"),
        ({"units": {**UNITS, "mass": "mm"}}, "'mm' is not a unit of mass"),
        ({"units": {**UNITS, "mass": "stone"}}, "units: "),
        ({"interfaces": {"A": 7}}, "'A' is node 7, which the file does not have"),
        ({"modes": None}, "give either modes"),
        ({"mass": "gone.npz"}, "there is no such file"),
        ({"mass": "zero.npz"}, "the mesh has no mass"),
        ({"stiffness": "slack.npz"}, "slack.npz: the stiffness is zero; export the stiffness matrix"),
        ({"nodes": "few.csv"}, "do not fit 3 nodes"),
        ({"modes": None, "below": 1.0}, "no mode lies below 1 Hz"),
        ({"modes": None, "below": -5.0}, "below: expected a frequency above zero [Hz], got -5.0"),
        ({"modes": None, "below": "all"}, "below: expected a frequency above zero [Hz], got 'all'"),
        ({"modes": 0}, "modes must be a whole number, at least 1, is 0"),
        ({"units": "mm,t,s"}, "units: expected a dictionary, units={'length': 'mm', 'mass': 't', 'time': 's'}, got 'mm,t,s'"),
        ({"units": {**UNITS, "length": 0.001}}, "units: the unit of length must be a text such as 'mm', is 0.001"),
        ({"units": {**UNITS, "force": "N"}}, "units: 'force' is not length, mass or time"),
        ({"interfaces": ["A"]}, "interfaces: expected a dictionary, e.g. interfaces={'tip': 1}, got ['A']"),
        ({"mass": "cut.npz"}, "cut.npz: cannot be read as a matrix: File is not a zip file. Is it whole"),
        ({"mass": "cut.mtx"}, "cut.mtx: cannot be read as a matrix: Truncated file"),
        ({"mass": "junk.op4"}, "junk.op4: cannot be read as a matrix: "),
        ({"stiffness": "nan.npz"}, "nan.npz: 1 entries are not finite, the first in row 3, column 5"),
        ({"stiffness": "small.npz"}, "small.npz: matrices of size 33 do not fit 12 nodes"),
        ({"mass": "complex.npz"}, "complex.npz: has entries of type complex128; expected real numbers"),
        ({"mass": "text.npz"}, "text.npz: "),
        ({"mass": "negative.npz"}, "negative.npz: has a negative mass at node 10, degree of freedom 2: -0.001 kg"),
        ({"nodes": "words.csv"}, "words.csv: cannot be read as nodes: could not convert string 'a'"),
        ({"nodes": "repeated.csv"}, "repeated.csv: node 7 occurs 2 times; each node has its own number"),
        ({"nodes": "swapped.csv"}, "swapped.csv: 0.5 is not a node number; the columns are node, x, y, z"),
        ({"nodes": "endless.csv"}, "endless.csv: node 2 has no finite place"),
    ],
)  # fmt: skip
def test_mistakes_have_one_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    npz(Path())
    nodes_csv(Path())
    np.savez("zero.npz", mass=0 * M_, stiffness=K_)
    np.savez("slack.npz", mass=M_, stiffness=0 * K_)
    Path("few.csv").write_text("node,x,y,z\n1,0,0,0\n2,1,0,0\n3,0,1,0\n")
    broken_files()
    files = {"mass": "both.npz", "stiffness": "both.npz", "nodes": "mesh.csv"}
    given = {**files, "units": UNITS, "interfaces": ENDS, "modes": 4, **change}
    with pytest.raises(fp.InputError, match=re.escape(text)):
        fp.import_fe(given.pop("mass"), given.pop("stiffness"), given.pop("nodes"), **given)


def broken_files() -> None:
    """Files that are cut, or hold something else than their names say, in the working folder."""
    Path("cut.npz").write_bytes(Path("both.npz").read_bytes()[:500])
    io.mmwrite("whole.mtx", sparse.coo_matrix(M_))
    Path("cut.mtx").write_text(Path("whole.mtx").read_text()[:400])
    Path("junk.op4").write_text("junk")
    hole, negative = K_.copy(), M_.copy()
    hole[2, 4], negative[1, 1] = np.nan, -1e-6
    np.savez("nan.npz", stiffness=hole)
    np.savez("small.npz", stiffness=K_[:-3])
    np.savez("complex.npz", mass=M_ * (1 + 0.1j))
    np.savez("text.npz", mass=np.full((3, 3), "a"))
    np.savez("negative.npz", mass=negative)
    for name, row in (
        ("words", "1,a,b,c"),
        ("repeated", "7,0,0,0\n7,1,0,0"),
        ("swapped", "0.5,0,0,1"),
        ("endless", "1,0,0,0\n2,inf,0,0"),
    ):
        Path(f"{name}.csv").write_text(f"node,x,y,z\n{row}\n")


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    nodes = nodes_nastran(tmp_path)
    monkeypatch.setitem(sys.modules, "pyNastran.bdf.bdf", None)
    with pytest.raises(fp.FeFileError, match=r"flexapod\[fe\]"):
        fp.import_fe(*npz(tmp_path), nodes, units=UNITS, interfaces=ENDS, modes=4)
