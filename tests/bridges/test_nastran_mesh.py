"""Bulk data assembled here: frames and plates against closed forms and our own plates, masses against pyNastran, rigid links."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.bridges.fe_assembly import assembled
from flexapod.bridges.nastran_mesh import nastran_mesh
from flexapod.flexible.matrices import rigid_motions

bdf = pytest.importorskip("pyNastran.bdf.bdf")
UNITS = {"length": "mm", "mass": "t", "time": "s"}
E, NU, RHO = 70e3, 0.3, 2.7e-9
"""[N/mm^2], [t/mm^3]"""
FIELDS = 1e-6
"""Coordinates and constants in the digits of a Nastran field."""
CUBIC = 2e-4
"""Of frequencies: consistent cubic elements, error of the fourth order."""
KIRCHHOFF = 0.02
"""Of frequencies: discrete Kirchhoff elements, 10 by 8."""
ORIGIN = 1e-13
"""[m]: a centre of mass at the origin."""
POINTS = 0.12
"""Of moments of inertia: theirs are of point masses at the elements' centres."""
RIGID = 1e-11
"""Of the largest: sums over elements of forces that vanish in rigid motions."""
FREE = 1e-13
"""Of the largest stiffness: eigenvalues of rigid motions."""
MINDLIN = 0.04
"""Of frequencies: ours has rotary inertia, 1.4 % of a twist; linear mass 1 %."""
SAME = 1e-12
"""Relative: the same eigenvalue problem, whole and reduced."""


def model() -> Any:
    found = bdf.BDF(debug=False, log=None)
    found.add_mat1(1, E, None, NU, rho=RHO)
    return found


def written(m: Any, folder: Path, name: str = "mesh.bdf") -> Path:
    m.write_bdf(str(folder / name), size=16, is_double=True, enddata=False)
    return folder / name


def plate(nx: int, ny: int, a: float, b: float, h: float, thick: bool = False, triangles: bool = False) -> Any:
    m = model()
    m.add_pshell(1, mid1=1, t=h, mid2=1, mid3=1 if thick else None)
    number = {}
    for i in range(nx + 1):
        for j in range(ny + 1):
            number[i, j] = 100 + len(number)
            m.add_grid(number[i, j], [a * i / nx, b * j / ny, 0.0])
    for i in range(nx):
        for j in range(ny):
            q = [number[i, j], number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]]
            for cell in [[q[0], q[1], q[2]], [q[0], q[2], q[3]]] if triangles else [q]:
                (m.add_ctria3 if triangles else m.add_cquad4)(len(m.elements) + 1, 1, cell)
    return m


def beam(count: int, length: float = 1000.0) -> Any:
    """A bar along x of rectangular section 20 x 30, plane 1 in y."""
    m = model()
    m.add_pbar(1, 1, A=600.0, i1=20.0 * 30.0**3 / 12, i2=30.0 * 20.0**3 / 12, j=5e4)
    for k in range(count + 1):
        m.add_grid(k + 1, [length * k / count, 0.0, 0.0])
    for k in range(count):
        m.add_cbar(k + 1, 1, [k + 1, k + 2], [0.0, 1.0, 0.0], None)
    return m


def test_a_free_beam_has_its_closed_form_frequencies(tmp_path: Path) -> None:
    found = fp.import_fe(mesh=written(beam(16), tmp_path), units=UNITS, interfaces={"A": 1, "B": 17}, modes=4)
    bend = [4.730040744862704, 7.853204624095838]
    wanted = sorted(
        (x / 1.0) ** 2 / (2 * np.pi) * np.sqrt(70e9 * i / (2700 * 6e-4))
        for x in bend
        for i in (0.02 * 0.03**3 / 12, 0.03 * 0.02**3 / 12)
    )
    assert np.allclose(found.frequency, wanted, rtol=CUBIC, atol=0)
    assert found.body.mass == pytest.approx(2700 * 6e-4, rel=FIELDS)


@pytest.mark.parametrize("triangles", [False, True])
def test_a_free_plate_agrees_with_our_own_plate(tmp_path: Path, triangles: bool) -> None:
    """Discrete Kirchhoff elements on a mesh of files against scikit-fem's Kirchhoff plate."""
    path = written(plate(10, 8, 400.0, 300.0, 4.0, triangles=triangles), tmp_path)
    found = fp.import_fe(mesh=path, units=UNITS, interfaces={"A": [0.0, 0.0, 0.0]}, modes=4)
    ours = fp.flexible.plate(
        outline=[[0, 0], [0.4, 0], [0.4, 0.3], [0, 0.3]], thickness=4e-3, young=70e9, poisson=0.3, density=2700.0,
        theory="kirchhoff", modes=4,
    )  # fmt: skip
    assert np.allclose(found.frequency, ours.angular_frequency / (2 * np.pi), rtol=KIRCHHOFF, atol=0)
    assert found.body.mass == pytest.approx(ours.mass, rel=FIELDS)
    assert np.allclose(found.full_frequency[:4], found.frequency, rtol=FIELDS, atol=0)


def frame(offset: float = -2.5) -> Any:
    """A plate on two beams, one with an offset, a rod, a mass off its node and rigid links; out of any symmetry."""
    m = plate(4, 3, 400.0, 300.0, 5.0, thick=True)
    m.add_pbarl(2, 1, "BAR", [10.0, 25.0])
    m.add_grid(1, [0.0, 0.0, -200.0])
    m.add_grid(2, [400.0, 0.0, -180.0])
    m.add_cbar(901, 2, [1, 100], [1.0, 0.2, 0.0], None, wb=[0.0, 0.0, offset])
    m.add_cbar(902, 2, [2, 116], [1.0, 0.2, 0.0], None)
    m.add_conrod(903, 1, [1, 2], A=40.0)
    m.add_conm2(904, 119, 2e-4, X=[0.0, 10.0, 30.0], I=[0.4, 0.02, 0.5, 0.0, 0.03, 0.3])
    m.add_grid(3, [200.0, 320.0, 50.0])
    m.add_rbe2(905, 3, "123456", [107, 111])
    m.add_grid(77, [1.0, 2.0, 3.0])
    m.add_spc1(1, "123456", [100])
    return m


def test_mass_centre_and_inertia_agree_with_pynastran(tmp_path: Path) -> None:
    from pyNastran.bdf.mesh_utils.mass_properties import mass_properties

    path = written(frame(offset=0.0), tmp_path)  # pyNastran leaves offsets out of the length
    reread = bdf.read_bdf(str(path), punch=True, debug=False, log=None)
    mass, centre, inertia = mass_properties(reread)
    found = fp.import_fe(mesh=path, units=UNITS, interfaces={"tip": 3, "foot": 1}, modes=6)
    assert found.body.mass == pytest.approx(1e3 * mass, rel=FIELDS)
    assert np.allclose(np.asarray(found.body.MS_r) / found.body.mass, 1e-3 * centre, rtol=FIELDS, atol=ORIGIN)
    about = np.asarray(found.body.I_rr)
    c = np.asarray(found.body.MS_r) / found.body.mass
    about = about - found.body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    theirs = 1e3 * 1e-6 * np.array(inertia[:3])
    assert np.allclose(np.diag(about), theirs, rtol=POINTS, atol=0)
    assert [note.split(",")[0] for note in found.notes] == [
        "1 nodes of no element are left out", "constraints of the file (SPC",
    ]  # fmt: skip
    assert "constraints of the file" in found.check_page


def test_rigid_motions_of_the_frame_have_no_energy(tmp_path: Path) -> None:
    numbers, places, M, K = assembled(nastran_mesh(written(frame(), tmp_path)), "mesh")
    assert 3 in numbers
    assert 107 not in numbers  # carried by 3
    R = rigid_motions(places, 6)
    moved = np.abs(K.matrix @ R).max(axis=0) / (abs(K.matrix) @ np.abs(R)).max(axis=0)
    assert moved.max() < RIGID
    values = np.linalg.eigvalsh(K.matrix.toarray())
    assert np.sum(values < FREE * values.max()) <= 6
    assert np.allclose(M.matrix.toarray(), M.matrix.toarray().T)


def test_thick_plates_are_softer(tmp_path: Path) -> None:
    """MID3 adds transverse shear: against the Mindlin plate of our own."""
    path = written(plate(12, 9, 400.0, 300.0, 40.0, thick=True), tmp_path)
    found = fp.import_fe(mesh=path, units=UNITS, interfaces={"A": [0.0, 0.0, 0.0]}, modes=3)
    ours, thin = (
        fp.flexible.plate(outline=[[0, 0], [0.4, 0], [0.4, 0.3], [0, 0.3]], thickness=0.04, young=70e9, poisson=0.3,
                          density=2700.0, theory=theory, modes=3).angular_frequency / (2 * np.pi)
        for theory in ("mindlin", "kirchhoff")
    )  # fmt: skip
    assert np.allclose(found.frequency[:2], ours[:2], rtol=MINDLIN, atol=0)
    assert found.frequency[0] < 0.99 * thin[0]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("CQUAD4*", "CQUADR*", "has elements CQUADR"), ("RBE2", "RBE3", "rigid element 905 is RBE3"),
        ("  123456", "     123", "components 123;"), ("GRID*", "GRIB*", "is not Nastran bulk data"),
        ("CONROD", "CTUBEX", "unknown cards CTUBEX"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_named(tmp_path: Path, old: str, new: str, text: str) -> None:
    m = frame()
    path = written(m, tmp_path)
    content = path.read_text()
    if old.startswith("  123456"):
        m.rigid_elements[905].cm = "123"
        content = written(m, tmp_path).read_text()
    elif old == "RBE2":
        del m.rigid_elements[905]
        m.add_rbe3(905, 3, "123456", [1.0], ["123"], [[107, 111]])
        content = written(m, tmp_path).read_text()
    elif old == "CQUAD4*":
        m.add_cquadr(990, 1, [100, 101, 105, 104])
        content = written(m, tmp_path).read_text()
    else:
        content = content.replace(old, new)
    path.write_text(content)
    with pytest.raises(fp.FeFileError, match=re.escape(text)):
        fp.import_fe(mesh=path, units=UNITS, interfaces={"tip": 3}, modes=6)


PLATE = "MAT1,1,70000.,,.3,2.7-9\nPSHELL,1,1,4.,1\nGRID,1,,0.,0.,0.\nGRID,2,,200.,0.,0.\nGRID,3,,200.,300.,0.\nCTRIA3,5,1,1,2,3\n"


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("PSHELL,1,", "PSHELL,7,", "pid=1 not found, which is required by CTRIA3 eid=5"),
        ("MAT1,1,", "MAT1,9,", "mid=1, which is required by PSHELL pid=1"),
        ("1,2,3\n", "1,2,55\n", "nid=55 is not a GRID, SPOINT, or EPOINT, which is required by CTRIA3 eid=5"),
    ],
)
def test_what_the_file_lacks_is_named(tmp_path: Path, old: str, new: str, lost: str) -> None:
    path = tmp_path / "plate.bdf"
    path.write_text(PLATE.replace(old, new))
    with pytest.raises(fp.FeFileError, match=rf"plate.bdf: refers to a card that it does not have: .*{lost}$"):
        fp.import_fe(mesh=path, units=UNITS, interfaces={"tip": 3}, modes=2)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("CMASS2,77,1.-5,1,1\n", "mass 77 is CMASS2; masses are CONM2 in system 0"),
        ("NSM,5,PSHELL,1,1.-6\n", "has NSM cards, which are not supported; give the mass by PBAR, PSHELL"),
        ("NSML1,5,PSHELL,1.,1\n", "has NSM cards"),
        ("GRID,3,,1.,0.,0.\n", "has two cards with nid=3; each has its own number"),
        ("GRID,9,,200.,0.,0.\nCTRIA3,6,1,2,9,3\n", "element 6: Two of its nodes 2, 9, 3 are at one place"),
        ("GRID,9,,200.,0.,0.\nPBAR,2,1,1.,1.,1.,1.\nCBAR,6,2,2,9,0.,1.,0.\n", "element 6: Its nodes 2, 9 are at one place"),
        ("GRID,9,,a,0.,0.\n", "is not Nastran bulk data: x1 = 'A'"),
        ("INCLUDE 'other.bdf'\n", "is not Nastran bulk data: No such bdf_filename"),
    ],
)  # fmt: skip
def test_cards_that_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], more: str, text: str
) -> None:
    """Masses by NSM were left out in silence; others ended in tracebacks, or in prints and a file of the reader."""
    monkeypatch.chdir(tmp_path)
    Path("plate.bdf").write_text(PLATE + more)
    with pytest.raises(fp.FeFileError, match=re.escape(text)):
        fp.import_fe(mesh="plate.bdf", units=UNITS, interfaces={}, modes=2)
    assert [path.name for path in tmp_path.iterdir()] == ["plate.bdf"]
    assert "".join(capfd.readouterr()) == ""


def test_matrices_that_a_run_adds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.bdf"
    path.write_text(f"SOL 103\nCEND\nK2GG = KX\nBEGIN BULK\n{PLATE}DMIG,KX,0,6,2,0\nDMIG,KX,1,1,,1,1,1000.\nENDDATA\n")
    with pytest.raises(fp.FeFileError, match=r"adds matrices \(K2GG, M2GG\), which is not supported"):
        fp.import_fe(mesh=path, units=UNITS, interfaces={}, modes=2)
    path.write_text(path.read_text().replace("K2GG = KX\n", ""))
    assert fp.import_fe(mesh=path, units=UNITS, interfaces={}, modes=2).body.mass == pytest.approx(2.7e-6 * 4 * 100 * 300)


LINE = (
    "MAT1,1,210000.,,.3\nPBAR,1,1,100.,833.,833.,1406.{nsm}\nGRID,1,,0.,0.,0.\nGRID,2,,50.,0.,0.\nGRID,3,,100.,0.,0.\n"
    "CBAR,1,1,1,2,0.,1.,0.\nCBAR,2,1,2,3,0.,1.,0.\n"
)
LUMPS = "".join(f"CONM2,{10 + k},{k},,4.-5{{way}}\n" for k in (1, 2, 3))


@pytest.mark.parametrize("method", ["normal", "craig-bampton", "residual"])
@pytest.mark.parametrize("kind", ["masses", "masses off their nodes", "mass per length"])
def test_masses_without_rotary_inertia_are_condensed(tmp_path: Path, kind: str, method: str) -> None:
    """Beams without density: the line's spin has no inertia, and its rotations follow statically."""
    way = ",5.,6.,7." if kind == "masses off their nodes" else ""
    text = LINE.format(nsm=",8.-7") if kind == "mass per length" else LINE.format(nsm="") + LUMPS.format(way=way)
    path = tmp_path / "line.bdf"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fp.import_fe(mesh=path, units=UNITS, interfaces={"a": 1}, modes=2, method=method)
    assert found.body.mass == pytest.approx(0.08 if kind == "mass per length" else 0.12)
    if kind == "masses":  # k = 6 E I / h^3 between the middle and the ends, reduced mass m (2m) / (3m)
        middle = np.sqrt(6 * 210e9 * 833e-12 / 0.05**3 / (0.08 * 0.04 / 0.12)) / (2 * np.pi)
        assert found.full_frequency[:2] == pytest.approx([middle, middle], rel=FIELDS)
        assert len(found.full_frequency) == 4  # nine displacements less five rigid motions with inertia
    if method != "craig-bampton":
        assert np.allclose(found.frequency[:2], found.full_frequency[:2], rtol=SAME, atol=0)
    assert (found.frequency[:2] > found.full_frequency[:2] * (1 - SAME)).all()
    below = fp.import_fe(mesh=path, units=UNITS, interfaces={"a": 1}, below=1.001 * found.full_frequency[1])
    assert len(below.frequency) == 2


def test_a_beam_along_its_orientation_vector_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was said to be a node whose rotations no element holds, between lines of pyNastran."""
    path = tmp_path / "line.bdf"
    path.write_text(LINE.format(nsm=",8.-7").replace("CBAR,2,1,2,3,0.,1.,0.", "CBAR,2,1,2,3,1.,0.,0."))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(fp.FlexapodError, match=r"line.bdf: element 2: The orientation vector is parallel to the beam"):
            fp.import_fe(mesh=path, units=UNITS, interfaces={"a": 1}, modes=2)
    assert capsys.readouterr().out == ""


def test_an_interface_at_a_node_of_no_element(tmp_path: Path) -> None:
    path = written(frame(), tmp_path)
    for node, text in (
        (77, "'A' is node 77, to which no element is connected; take a node of an element"),
        (107, "'A' is node 107, which a rigid link ties to node 3; take that one"),
        (78, "'A' is node 78, which the file does not have"),
    ):
        with pytest.raises(fp.InputError, match=text):
            fp.import_fe(mesh=path, units=UNITS, interfaces={"A": node}, modes=2)


def test_a_mesh_and_matrices_are_not_mixed(tmp_path: Path) -> None:
    path = written(beam(2), tmp_path)
    for given in ({}, {"mesh": path, "mass": path}, {"mass": path}):
        with pytest.raises(fp.InputError, match=r"either mesh=\.\.\., or mass, stiffness and nodes"):
            fp.import_fe(**given, units=UNITS, interfaces={"A": 1}, modes=2)
    m = beam(2)
    m.materials[1].rho = 0.0
    with pytest.raises(fp.FeFileError, match="no mass"):
        fp.import_fe(mesh=written(m, tmp_path), units=UNITS, interfaces={"A": 1}, modes=2)
    with pytest.raises(fp.FeFileError, match="not a supported mesh file"):
        fp.import_fe(mesh=tmp_path / "mesh.op2", units=UNITS, interfaces={"A": 1}, modes=2)


@pytest.mark.parametrize(
    ("units", "odd"),
    [
        (("m", "kg", "s"), ["density of the elements 2.7e-09 kg/m^3", "size 400 m", "mass over", "first frequency times size"]),
        (("mm", "kg", "s"), ["density of the elements 2.7 kg/m^3"]),
        (("mm", "g", "s"), ["density of the elements 0.0027 kg/m^3"]),
        (("um", "t", "s"), ["density of the elements 2.7e+12 kg/m^3", "mass over"]),
        (("mm", "t", "ms"), ["first frequency times size"]),
    ],
)
def test_units_that_hardly_fit_are_said(tmp_path: Path, units: tuple[str, ...], odd: list[str]) -> None:
    file = written(plate(4, 4, 300.0, 400.0, 4.0), tmp_path)
    said = dict(zip(("length", "mass", "time"), units, strict=True))
    with pytest.warns(fp.FlexapodWarning, match="import_fe: the units hardly fit") as label:
        found = fp.import_fe(mesh=file, units=said, interfaces={"A": 100}, modes=2)
    for text in odd:
        assert text in str(label[0].message)
        assert text in found.check_page
    assert f"mass {found.body.mass:.4g} kg" in found.check_page


@pytest.mark.parametrize("kind", ["plate", "beam", "frame"])
def test_units_that_fit_are_not_remarked(tmp_path: Path, kind: str) -> None:
    made = {"plate": plate(4, 4, 300.0, 400.0, 4.0), "beam": beam(8), "frame": frame()}[kind]
    node = {"plate": 100, "beam": 1, "frame": 3}[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error", fp.FlexapodWarning)
        found = fp.import_fe(mesh=written(made, tmp_path), units=UNITS, interfaces={"A": node}, modes=2)
    assert "hardly" not in found.check_page


def test_the_check_page_has_a_picture(tmp_path: Path) -> None:
    found = fp.import_fe(mesh=written(beam(8), tmp_path), units=UNITS, interfaces={"A": 1}, modes=3)
    page = found.write_check_page(tmp_path / "check.html").read_text()
    assert page.count("<rect") == 3 * 5
    assert "1 / 1: 1.0000" in page
    assert f"{found.frequency[0]:.6g}" in page
    with pytest.raises(fp.InputError, match=r"ends in \.html"):
        found.write_check_page(tmp_path / "check.txt")


@pytest.mark.parametrize("method", ["normal", "craig-bampton", "residual"])
def test_shapes_without_inertia_are_noted(tmp_path: Path, method: str) -> None:
    """An interface holds the rotation about the normal of a shell, which has a small stiffness and no inertia of its own."""
    path = written(plate(4, 3, 400.0, 300.0, 4.0), tmp_path)
    ends = {"A": [0.0, 0.0, 0.0], "B": [0.4, 0.3, 0.0]}
    found = fp.import_fe(mesh=path, units=UNITS, interfaces=ends, modes=3, method=method)
    noted = [note for note in found.notes if "shapes lie above 1e+06 Hz" in note]
    assert len(noted) == (found.frequency.max() > 1e6) == (method != "normal")
    assert all(note in found.check_page for note in noted)
