"""Ansys archives assembled by our own elements: the same body as the same mesh written for Nastran."""

from pathlib import Path

import mapdl_archive
import numpy as np
import pytest

import flexapod as fp
from flexapod.bridges.ansys_mesh import ansys_mesh
from flexapod.bridges.fe_assembly import assembled
from flexapod.bridges.nastran_mesh import nastran_mesh

UNITS = {"length": "mm", "mass": "t", "time": "s"}
DIGITS = 1e-7
"""Fields of Nastran's bulk data, eight characters, of the largest entry; numbers here fit them."""
PLACES = {1: (0, 0, 0), 2: (100, 0, 0), 3: (100, 80, 0), 4: (0, 80, 0), 5: (180, 40, 0), 6: (100, 40, 300), 7: (0, 40, 300)}

BULK = """
GRID,1,,0.,0.,0.
GRID,2,,100.,0.,0.
GRID,3,,100.,80.,0.
GRID,4,,0.,80.,0.
GRID,5,,180.,40.,0.
GRID,6,,100.,40.,300.
CQUAD4,1,1,1,2,3,4
CTRIA3,2,1,2,5,3
CBAR,3,2,2,6,0.,1.,0.
CBAR,4,2,3,6,0.,1.,0.
CONM2,5,6,,1.25E-3,,,,,+A
+A,2.,,3.,,,4.
PSHELL,1,1,4.,1,,1,.8333333
PBAR,2,1,200.,1666.667,6666.667,4577.3,,,+B
+B,,,,,,,,,+C
+C,.8333333,.8333333
MAT1,1,200000.,,.25,7.8E-9
"""

COMMANDS = """/PREP7
ET,        1,181
ET,        2,188
ET,        3,21
{nodes}EBLOCK,19,SOLID,         5,         5
(19i9)
{elements}
       -1
MPTEMP,R5.0, 1, 1,  0.00000000    ,
MPDATA,R5.0, 1,EX  ,     1, 1,  200000.000    ,
MPDATA,R5.0, 1,NUXY,     1, 1, 0.25    ,
MPDATA,R5.0, 1,DENS,     1, 1, 7.8E-9    ,
SECTYPE,     1,SHELL,    ,
SECOFFSET,MID
SECBLOCK,      1
  4.00000000    ,     1 ,  0.00000000    ,    3
SECTYPE,     2,BEAM,ASEC
SECOFFSET,CENT
SECDATA, 200., 6666.667, 0., 1666.667, 0., 4577.3
R,3, 1.25E-3, 1.25E-3, 1.25E-3, 2., 3., 4.
D,       1,UX  , 0.
"""
ROUNDING = 1e-12
"""Relative: sums over a few elements."""
SAME = 1e-12
"""Of the largest entry: the same beam by other words."""
NO_MASS = 1e-18
"""[t] of 1e-4 t: a difference that is nothing."""
HERMITE = 1e-4
"""Of frequencies: 20 Hermite elements, h^4."""


def row(number: int, kind: int, section: int, nodes: list[int], real: int = 1) -> str:
    fields = [1, kind, real, section, 0, 0, 0, 0, len(nodes), 0, number, *nodes]
    return "".join(f"{n:9d}" for n in fields)


def archive(folder: Path, old: str = "", new: str = "") -> Path:
    numbers, places = np.array(list(PLACES), dtype=np.int32), np.array(list(PLACES.values()), dtype=float)
    mapdl_archive.write_nblock(str(folder / "nodes"), numbers, places, sig_digits=16)
    nodes = (folder / "nodes").read_text()
    nodes = nodes[nodes.index("NBLOCK") :]
    # the third node of a beam gives its x-z plane: the bars of BULK have y along the world's
    rows = [row(1, 1, 1, [1, 2, 3, 4]), row(2, 1, 1, [2, 5, 3, 3]), row(3, 2, 2, [2, 6, 7]), row(4, 2, 2, [3, 6, 7]),
            row(5, 3, 1, [6], real=3)]  # fmt: skip
    text = COMMANDS.format(nodes=nodes, elements="\n".join(rows))
    assert old in text
    path = folder / "mesh.cdb"
    path.write_text(text.replace(old, new, 1) if old else text)
    return path


def test_the_same_mesh_as_for_nastran(tmp_path: Path) -> None:
    (tmp_path / "mesh.bdf").write_text(BULK)
    mesh = ansys_mesh(archive(tmp_path))
    theirs = assembled(nastran_mesh(tmp_path / "mesh.bdf"), "bulk")
    ours = assembled(mesh, "archive")
    assert ours[0] == theirs[0]
    assert np.array_equal(ours[1], theirs[1])
    for a, b in zip(ours[2:], theirs[2:], strict=True):
        assert np.abs((a.matrix - b.matrix).toarray()).max() <= DIGITS * np.abs(b.matrix).max()
    assert mesh.notes == (
        "1 nodes of no element are left out, the first is 7", "constraints of the file (D) are not applied: the body is free",
    )  # fmt: skip


def test_a_body_with_its_check_page(tmp_path: Path) -> None:
    found = fp.import_fe(mesh=archive(tmp_path), units=UNITS, interfaces={"foot": 1, "tip": 6}, modes=4)
    area, bars = 100 * 80 + 0.5 * 80 * 80, 2 * np.hypot(40, 300) * 200
    assert found.body.mass == pytest.approx(7.8e-6 * (4 * area + bars) + 1.25, rel=ROUNDING)
    assert "constraints of the file (D)" in found.check_page


def test_beams_without_orientation_node(tmp_path: Path) -> None:
    """y is parallel to the global xy plane; upright ones have it along the global y."""
    sideways = archive(tmp_path, row(3, 2, 2, [2, 6, 7]), row(3, 2, 2, [2, 6]))
    parts = ansys_mesh(sideways).parts
    x = np.array([0.0, 40.0, 300.0]) / np.hypot(40, 300)
    y = np.cross([0.0, 0.0, 1.0], x)
    assert y[2] == 0.0
    # bent about the section's axes: rotations about y are stiffer (iy) than about z
    K = parts[2].stiffness[3:6, 3:6]
    y = y / np.linalg.norm(y)
    z = np.cross(x, y)
    assert y @ K @ y > 3 * (z @ K @ z)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("ET,        1,181", "ET,        1,186", "has elements of type 186; those that are assembled are BEAM188"),
        ("SECOFFSET,CENT", "SECOFFSET,USER", "element 3: Section 2 has the offset USER"),
        ("BEAM,ASEC", "BEAM,HREC", "is a beam of shape HREC; supported: RECT, CSOLID, CTUBE, ASEC"),
        ("EX  ,     1, 1,  200000.000    ,", "EX  ,     1, 1,  200000.000    , 190000.,", "changes with temperature"),
        ("NUXY", "ALPX", "has neither NUXY nor PRXY"),
        (row(4, 2, 2, [3, 6, 7]), row(4, 2, 2, [3, 66, 7]), "element 4: Node 66 is missing"),
        ("SECDATA, 200., 6666.667, 0., 1666.667, 0., 4577.3", "SECDATA, 200., 6.", "Section 2 .* has 2 numbers, 6 are needed"),
        ("SECTYPE,     1,SHELL", "SECTYP,     1,SHELL", "cannot be read as an Ansys archive"),
        ("D,       1,UX", "CE,R5.0,DEFI,       1", "has constraint equations"),
        ("MPDATA,R5.0, 1,DENS", "MP,EY,1,1e4\nMPDATA,R5.0, 1,DENS", r"depends on the direction \(EX = 200000, EY = 10000\)"),
        (
            "MPDATA,R5.0, 1,DENS",
            "TB,ANEL,       1\nMPDATA,R5.0, 1,DENS",
            "Material 1 has a table TB,ANEL; only EX and NUXY are supported",
        ),
        ("EX  ,     1, 1,  200000.000", "EX  ,     1, 1,  0.0", "Material 1 has EX = 0 and NUXY = 0.25; expected EX > 0"),
        ("  4.00000000    ,     1 ,", "  4.00000000    ,     2 ,", "element 1: Material 2 has no EX"),
        ("  4.00000000    ,     1 ,", "  0.00000000    ,     1 ,", r"Section 1 \(real constants 1\) has the thickness 0"),
        ("SECOFFSET,MID", "SECOFFSET,MID\nSECCONTROLS,0,0,0,1e-8,1,1,1", "Section 1 has SECCONTROLS .added mass"),
        ("ET,        2,188", "ET,        2,188\nKEYOP,    2,1,1", r"element 3: BEAM188 has KEYOPT\(1\) = 1; only 0 is supported"),
        ("4577.3", "4577.3, 5.", "Section 2 has its centre off the node"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_named(tmp_path: Path, old: str, new: str, text: str) -> None:
    with pytest.raises(fp.FeFileError, match=text):
        ansys_mesh(archive(tmp_path, old, new))


SHELL = "SECTYPE,     1,SHELL,    ,\nSECOFFSET,MID\nSECBLOCK,      1\n  4.00000000    ,     1 ,  0.00000000    ,    3\n"
BEAM = "SECTYPE,     2,BEAM,ASEC\nSECOFFSET,CENT\nSECDATA, 200., 6666.667, 0., 1666.667, 0., 4577.3\n"


def changed(path: Path, *changes: tuple[str, str]) -> Path:
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


def test_a_layer_has_its_own_material(tmp_path: Path) -> None:
    """The material of the section's layer goes before that of the element; it was not looked at."""
    own = "".join(f"MP,{name},2,{value}\n" for name, value in (("EX", 7e4), ("NUXY", 0.3), ("DENS", 2.7e-9)))
    path = archive(tmp_path, "  4.00000000    ,     1 ,  0.00000000    ,    3\n", f"  4.,     2 ,  0.,    3\n{own}")
    found = fp.import_fe(mesh=path, units=UNITS, interfaces={}, modes=1)
    area, bars = 100 * 80 + 0.5 * 80 * 80, 2 * np.hypot(40, 300) * 200
    assert found.body.mass == pytest.approx(2.7e-6 * 4 * area + 7.8e-6 * bars + 1.25, rel=ROUNDING)


def test_beams_of_the_old_kind_have_all_their_constants(tmp_path: Path) -> None:
    """BEAM4 with SHEARZ = SHEARY = A/A_s = 6/5 is BEAM188; RMORE, shear and added mass were left out."""
    modern = ansys_mesh(archive(tmp_path)).parts[2]
    line = "R,1,200.,1666.667,6666.667,20.,10.,0.\nRMORE,0.,4577.3,1.2,1.2,0.,{added}\n"
    for added in (0.0, 1e-6):
        path = changed(archive(tmp_path), ("ET,        2,188", "ET,        2,4"), (BEAM, line.format(added=added)))
        old = ansys_mesh(path).parts[2]
        assert np.allclose(old.stiffness, modern.stiffness, rtol=SAME, atol=SAME * np.abs(modern.stiffness).max())
        more = (old.mass - modern.mass)[::6, ::6].sum()
        assert more == pytest.approx(added * np.hypot(40, 300), rel=SAME, abs=NO_MASS)


def test_a_free_beam_has_its_closed_form_frequencies(tmp_path: Path) -> None:
    """BEAM4 without shear: f = (beta L)^2 / (2 pi L^2) sqrt(E I / (rho A)), here about both axes, in a skew direction."""
    count, length, way = 20, 1000.0, np.array([2.0, 2.0, 1.0]) / 3.0
    places = np.linspace(0.0, length, count + 1)[:, None] * way
    mapdl_archive.write_nblock(str(tmp_path / "nodes"), np.arange(1, count + 2, dtype=np.int32), places, sig_digits=16)
    nodes = (tmp_path / "nodes").read_text()
    rows = "\n".join(row(k, 1, 1, [k, k + 1]) for k in range(1, count + 1))
    elements = f"EBLOCK,19,SOLID,{count:10d},{count:10d}\n(19i9)\n{rows}\n       -1\n"
    text = f"/PREP7\nET,        1,4\n{nodes[nodes.index('NBLOCK') :]}{elements}"
    (tmp_path / "beam.cdb").write_text(text + "MP,EX,1,200000.\nMP,NUXY,1,.3\nMP,DENS,1,7.8E-9\nR,1,200.,1666.667,6666.667\n")
    found = fp.import_fe(mesh=tmp_path / "beam.cdb", units=UNITS, interfaces={}, modes=4)
    roots = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])
    closed = [(roots**2 / (2 * np.pi)) * np.sqrt(2e5 * inertia / (7.8e-9 * 200 * length**4)) for inertia in (1666.667, 6666.667)]
    assert np.allclose(found.frequency, np.sort(np.ravel(closed))[:4], rtol=HERMITE, atol=0)


def test_shells_of_the_old_kind_have_one_thickness(tmp_path: Path) -> None:
    kind = ("ET,        1,181", "ET,        1,63")
    shell = ansys_mesh(changed(archive(tmp_path), kind, (SHELL, "R,1,4.\n"))).parts[0]
    assert shell.mass[::6, ::6].sum() == pytest.approx(7.8e-9 * 4 * 100 * 80)
    for reals in ("R,1,4.,4.,4.,8.", "R,1,4.,,,,1e3", "R,1,4.,,,,,\nRMORE,2."):
        with pytest.raises(fp.FeFileError, match="Real constants 1 of SHELL63 have several thicknesses"):
            ansys_mesh(changed(archive(tmp_path), kind, (SHELL, reals + "\n")))


def test_masses_at_one_node_have_no_elastic_mode(tmp_path: Path) -> None:
    """Without densities all mass is that of the one MASS21: rounding gave modes at 1e78 Hz."""
    with pytest.raises(fp.FeFileError, match="modes must be at most 0, the elastic degrees of freedom with inertia, is 2"):
        fp.import_fe(mesh=archive(tmp_path, "1,DENS", "1,ALPX"), units=UNITS, interfaces={}, modes=2)


def test_an_archive_with_nodes_alone(tmp_path: Path) -> None:
    path = tmp_path / "nodes.cdb"
    mapdl_archive.write_nblock(str(path), np.array([1, 2], dtype=np.int32), np.eye(3)[:2].copy(), sig_digits=16)
    with pytest.raises(fp.FeFileError, match="has no elements; those that are assembled"):
        fp.import_fe(mesh=path, units=UNITS, interfaces={}, modes=1)


def test_a_text_that_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "text.cdb"
    path.write_text("hello\n")
    with pytest.raises(fp.FeFileError, match="is not an Ansys archive with nodes"):
        fp.import_fe(mesh=path, units=UNITS, interfaces={}, modes=1)
