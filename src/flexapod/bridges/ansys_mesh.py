"""Ansys archives (CDWRITE, .cdb) as a mesh: BEAM188, BEAM4, LINK180, SHELL181, SHELL63, MASS21. Others are refused by name.

Numbers stay in the file's units. Elements are our own, as for Nastran: beams are Hermite's with shear, shells have consistent
masses. Constraints and loads belong to an analysis, not to the body: they are left out and noted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.bridges.ansys_tables import Tables, isotropic, read_tables
from flexapod.bridges.fe_assembly import ElementMatrices, FileMesh, beam_part, mass_part, rod_part
from flexapod.bridges.fe_files import FeFileError, needed_package, reading
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.materials import Material
from flexapod.flexible.section import Section
from flexapod.flexible.shell_element import ShellElement

ELEMENTS = {188: "BEAM188", 4: "BEAM4", 180: "LINK180", 181: "SHELL181", 63: "SHELL63", 21: "MASS21"}
BEAMS, SHELLS = ("BEAM188", "BEAM4"), ("SHELL181", "SHELL63")
MIDDLE = ("", "MID", "CENT")
"""Section offsets that leave nodes in the middle of shells and at the centre of beams."""
STIFF_IN_SHEAR = 1e8
"""Shear factor of beams that do not deform in shear."""
SLOPE = 1e-4
"""Beams closer than this to the global z axis have their y axis along the global one (theory reference of BEAM188)."""


def ansys_mesh(path: Path) -> FileMesh:
    """The mesh of an archive.

    Checked by: tests/bridges/test_ansys_mesh.py.
    """
    if not path.is_file():
        raise FeFileError(f"{path}: there is no such file")
    package = needed_package("mapdl_archive", "an Ansys archive")
    try:
        archive = package.Archive(str(path), parse_vtk=False)
        kinds = {int(k): int(kind) for k, kind in np.reshape(archive.ekey, (-1, 2))}
        elements = [np.asarray(e, dtype=int) for e in archive.elem] if len(kinds) else []
        places = {int(k): np.asarray(p[:3], dtype=float) for k, p in zip(archive.nnum, archive.nodes, strict=True)}
    except Exception as error:  # the reader raises errors of many kinds
        raise FeFileError(
            f"{path}: is not an Ansys archive with nodes (NBLOCK) and elements (ET, EBLOCK) as CDWRITE writes them"
        ) from error
    with reading(path, "an Ansys archive"):
        tables = read_tables(path)
    tables.reals |= {int(k): [float(v) for v in row] for k, row in zip(archive.rlblock_num, archive.rlblock, strict=True)}
    used = sorted({kinds.get(int(e[1]), 0) for e in elements})
    others = [str(kind) for kind in used if kind not in ELEMENTS]
    if others or not elements:
        what = f"elements of type {', '.join(others)}" if others else "no elements"
        raise FeFileError(
            f"{path}: has {what}; those that are assembled are {', '.join(ELEMENTS.values())}. Export the solver's matrices "
            "instead (*SMAT, *EXPORT to Matrix Market or Harwell-Boeing) and give the archive as nodes"
        )
    if tables.names & {"CE", "CP", "CERIG", "RBE3"}:
        raise FeFileError(f"{path}: has constraint equations (CE, CP), which are not supported; export the solver's matrices")
    parts = []
    for e in elements:
        try:
            parts.append(_part(ELEMENTS[kinds[int(e[1])]], e, tables, places))
        except FlexibleBodyError as error:
            raise FeFileError(f"{path}: element {e[8]}: {error}") from error
    return FileMesh(places=places, parts=parts, notes=_notes(tables, parts, places))


def _part(kind: str, e: NDArray[np.int64], tables: Tables, places: dict[int, Array]) -> ElementMatrices:
    nodes = [int(n) for n in e[10:] if n > 0]
    if lost := [n for n in nodes if n not in places]:
        raise FlexibleBodyError(f"Node {lost[0]} is missing.")
    if kind == "MASS21":
        return _mass(nodes[0], tables.reals.get(int(e[2]), []), tables.keys.get((int(e[1]), 3), 0))
    if tables.keys.get((int(e[1]), 1), 0):
        raise FlexibleBodyError(
            f"{kind} has KEYOPT(1) = {tables.keys[int(e[1]), 1]}; only 0 is supported: no warping, with bending."
        )
    if any(tables.controls.get(int(e[3]), [])[:4]):
        raise FlexibleBodyError(f"Section {e[3]} has SECCONTROLS (added mass, shear stiffness), which is not supported.")
    if kind in SHELLS:
        return _shell(kind, nodes, e, tables, places)
    young, _, shear, density = isotropic(tables, int(e[0]))
    ends = np.array([places[n] for n in nodes[:2]])
    length = float(np.linalg.norm(ends[1] - ends[0]))
    if length == 0.0:
        raise FlexibleBodyError(f"Nodes {nodes[0]} and {nodes[1]} are at one place.")
    if kind == "LINK180":
        area, added = [*_given(tables, e, "LINK", 1), 0.0][:2]
        return rod_part(nodes[:2], ends[1] - ends[0], young * area, 0.0, density * area + added, area)
    made_of = Material(name="file", young=young, density=1.0, shear=shear)
    section, added = _section(kind, e, tables)
    beam = BeamElement(length=length, section=section, material=made_of, planar=False, shear=True)
    axes = _beam_axes(ends, places[nodes[2]] if len(nodes) > 2 else None)
    return beam_part(nodes[:2], beam, axes, np.zeros((2, 3)), density, added)


def _given(tables: Tables, e: NDArray[np.int64], kind: str, least: int) -> list[float]:
    """Numbers of the element's section, or its real constants; elements of old kinds ("") have no section."""
    found = tables.sections.get(int(e[3])) if kind else None
    if found is None:
        numbers = tables.reals.get(int(e[2]), [])
    elif found[0] != kind:
        raise FlexibleBodyError(f"Section {e[3]} is {found[0]}, not {kind}.")
    elif found[3] not in MIDDLE:
        raise FlexibleBodyError(f"Section {e[3]} has the offset {found[3]}; only nodes at the middle (MID, CENT) are supported.")
    else:
        numbers = found[2]
    if len(numbers) < least:
        raise FlexibleBodyError(f"Section {e[3]} (real constants {e[2]}) has {len(numbers)} numbers, {least} are needed.")
    return numbers


def _section(kind: str, e: NDArray[np.int64], tables: Tables) -> tuple[Section, float]:
    """The section and mass per length besides its material: y is its width; ASEC and BEAM4 give second moments themselves."""
    if kind == "BEAM4":
        return _old_beam([*_given(tables, e, "", 3), *[0.0] * 9])
    shape = tables.sections.get(int(e[3]), ("", "", [], ""))[1]
    numbers = _given(tables, e, "BEAM", {"RECT": 2, "CTUBE": 2, "ASEC": 6}.get(shape, 1))
    if shape == "RECT":
        return Section.rectangle(width=numbers[0], height=numbers[1]), 0.0
    if shape == "CSOLID":
        return Section.tube(outer=2 * numbers[0], inner=0.0), 0.0
    if shape == "CTUBE":
        return Section.tube(outer=2 * numbers[1], inner=2 * numbers[0]), 0.0
    if shape == "ASEC":
        area, iyy, iyz, izz, _, torsion = numbers[:6]
        if abs(iyz) > 1e-9 * np.sqrt(abs(iyy * izz)):
            raise FlexibleBodyError(f"Section {e[3]} has Iyz = {iyz:g}; rotate it to its principal axes by the orientation node.")
        if any(numbers[6:10]):
            raise FlexibleBodyError(f"Section {e[3]} has its centre off the node (CGy, CGz, SHy, SHz); this is not supported.")
        return Section(area=area, iy=iyy, iz=izz, torsion=torsion), 0.0
    raise FlexibleBodyError(f"Section {e[3]} is a beam of shape {shape or 'none'}; supported: RECT, CSOLID, CTUBE, ASEC.")


def _old_beam(reals: list[float]) -> tuple[Section, float]:
    """BEAM4: A, Izz, Iyy, TKz, TKy, theta, strain, Ixx, shear constants A/A_s of Izz, Iyy (0: stiff), spin, mass per length."""
    area, izz, iyy, _, _, theta, _, ixx, by_z, by_y, _, added = reals[:12]
    if theta:
        raise FlexibleBodyError(f"BEAM4 has THETA = {theta:g}; rotate its axes by the orientation node.")
    stiff = (1.0 / by_z if by_z else STIFF_IN_SHEAR, 1.0 / by_y if by_y else STIFF_IN_SHEAR)
    return Section(area=area, iz=izz, iy=iyy, torsion=ixx or iyy + izz, shear_y=stiff[0], shear_z=stiff[1]), added


def _beam_axes(ends: Array, third: Array | None) -> Array:
    """(3, 3) rows x, y, z: z in the plane of the orientation node; without one y is parallel to the global xy plane."""
    x = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    if third is None:
        y = np.array([0.0, 1.0, 0.0]) if np.hypot(x[0], x[1]) < SLOPE else np.cross([0.0, 0.0, 1.0], x)
    else:
        y = np.cross(third - ends[0], x)
    y = y - (y @ x) * x
    size = float(np.linalg.norm(y))
    if size < 1e-12:
        raise FlexibleBodyError("The orientation node lies on the beam.")
    return np.stack([x, y / size, np.cross(x, y / size)])


def _shell(kind: str, nodes: list[int], e: NDArray[np.int64], tables: Tables, places: dict[int, Array]) -> ElementMatrices:
    corners = nodes[:4] if len(nodes) > 3 and nodes[3] != nodes[2] else nodes[:3]
    numbers = _given(tables, e, "SHELL" if kind == "SHELL181" else "", 1)
    own = int(e[0])
    if kind == "SHELL63":
        thickness, by_corner, elsewhere = numbers[0], numbers[1:4], [*numbers[4:5], *numbers[9:]]
        if any(t not in (0.0, thickness) for t in by_corner) or any(elsewhere) or any(r not in (0.0, 1.0) for r in numbers[6:7]):
            raise FlexibleBodyError(
                f"Real constants {e[2]} of SHELL63 have several thicknesses; only a constant one is supported."
            )
    elif len(numbers) > 4:
        raise FlexibleBodyError(f"Section {e[3]} has several layers; only one is supported.")
    elif len(numbers) > 1 and numbers[1]:
        own = int(numbers[1])  # the material of the layer goes before that of the element
    h = numbers[0]
    if h <= 0.0:
        raise FlexibleBodyError(f"Section {e[3]} (real constants {e[2]}) has the thickness {h:g}.")
    young, nu, shear, density = isotropic(tables, own)
    shell = ShellElement(
        corners=np.array([places[n] for n in corners]), young=young, poisson=nu, thickness=h, mass_per_area=density * h,
        shear=None if kind == "SHELL63" else 5.0 / 6.0 * h * shear,
    )  # fmt: skip
    return ElementMatrices(nodes=corners, mass=shell.mass(), stiffness=shell.stiffness(), volume=shell.volume)


def _mass(node: int, numbers: list[float], key: int) -> ElementMatrices:
    """KEYOPT(3): 0 masses along x, y, z and three moments of inertia, 2 one mass."""
    own = [*numbers, *[0.0] * 6]
    if key not in (0, 2) or (key == 0 and len({own[0], own[1] or own[0], own[2] or own[0]}) > 1) or not numbers:
        raise FlexibleBodyError("MASS21 is supported only with one mass for all directions and KEYOPT(3) = 0 or 2.")
    return mass_part(node, own[0], np.zeros(3), np.diag(own[3:6]) if key == 0 else np.zeros((3, 3)))


def _notes(tables: Tables, parts: list[ElementMatrices], places: dict[int, Array]) -> tuple[str, ...]:
    """Contents of the file that the body does not have."""
    loose = sorted(set(places) - {node for part in parts for node in part.nodes})
    found = [f"{len(loose)} nodes of no element are left out, the first is {loose[0]}"] if loose else []
    if "D" in tables.names:
        found.append("constraints of the file (D) are not applied: the body is free")
    if tables.names & {"F", "SF", "SFE", "ACEL"}:
        found.append("loads of the file are not applied")
    return tuple(found)
