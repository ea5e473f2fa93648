"""Nastran bulk data as a mesh: GRID; CBAR, CBEAM, CROD, CONROD; CTRIA3, CQUAD4; CONM2; RBE2. Other elements are refused by name.

Numbers stay in the file's units. Masses are consistent with the elements' shapes, which Nastran does with PARAM,COUPMASS,1; its
own lumped masses give the same body as the mesh gets finer. WTMASS and K6ROT are taken from the file. Constraints and loads
belong to an analysis, not to the body: they are left out and noted.
"""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.bridges.fe_assembly import ElementMatrices, FileMesh, beam_part, mass_part, rod_part
from flexapod.bridges.fe_files import FeFileError, first_line
from flexapod.bridges.nastran_bulk import bulk_data
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.materials import Material
from flexapod.flexible.section import Section
from flexapod.flexible.shell_element import DRILLING, ShellElement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BEAMS, RODS, SHELLS = ("CBAR", "CBEAM"), ("CROD", "CONROD"), ("CTRIA3", "CQUAD4")
STIFF_IN_SHEAR = 1e8
"""Shear factor of beams that do not deform in shear."""


def nastran_mesh(path: Path) -> FileMesh:
    """The mesh of a bulk data file.

    Checked by: tests/bridges/test_nastran_mesh.py.
    """
    model = bulk_data(path)
    weight = float(model.params["WTMASS"].values[0]) if "WTMASS" in model.params else 1.0
    drilling = 1e-6 * float(model.params["K6ROT"].values[0]) if "K6ROT" in model.params else DRILLING
    if drilling <= 0.0:
        raise FeFileError(f"{path}: PARAM,K6ROT,0 leaves rotations about the normals of shells without stiffness; write 100.")
    known = (*BEAMS, *RODS, *SHELLS)
    unknown = [str(line).lstrip() for block in (*model.reject_lines, *model.reject_cards) for line in block]
    names = sorted({re.split(r"[\s,*]", line)[0] for line in unknown if line[:1].isalpha()})
    if names:
        raise FeFileError(f"{path}: cannot be read as Nastran bulk data: unknown cards {', '.join(names)}")
    others = sorted({e.type for e in model.elements.values()} - {*known, "PLOTEL"})
    if others or not model.elements:
        raise FeFileError(
            f"{path}: has {'elements ' + ', '.join(others) if others else 'no elements'}; those that are assembled are "
            f"{', '.join(known)}. Export the solver's matrices instead (DMIG by EXTSEOUT, or OP4)"
        )
    if model.mpcs:
        raise FeFileError(f"{path}: has MPC equations, which are not supported; use RBE2, or export the solver's matrices")
    if model.nsms or model.nsmadds:
        raise FeFileError(
            f"{path}: has NSM cards, which are not supported; give the mass by PBAR, PSHELL, ... (field NSM) or CONM2"
        )
    if any(name in line.upper() for line in model.case_control_lines for name in ("K2GG", "M2GG")):
        raise FeFileError(f"{path}: adds matrices (K2GG, M2GG), which is not supported; export the solver's matrices")
    parts = []
    for number, element in sorted(model.elements.items()):
        if element.type == "PLOTEL":
            continue
        try:
            parts.append(_scaled(_part(model, element, drilling), weight))
        except FlexibleBodyError as error:
            raise FeFileError(f"{path}: element {number}: {error}") from error
        except (AttributeError, TypeError, KeyError, ValueError) as error:
            why = first_line(error)
            raise FeFileError(f"{path}: element {number} ({element.type}) lacks a property or number: {why}") from error
    parts += [_scaled(_mass(path, m), weight) for _, m in sorted(model.masses.items())]
    places = {int(k): np.asarray(node.get_position(), dtype=float) for k, node in model.nodes.items()}
    return FileMesh(places=places, parts=parts, links=_rigid(path, model), notes=_notes(model, parts))


def _scaled(part: ElementMatrices, weight: float) -> ElementMatrices:
    return replace(part, mass=weight * part.mass)


def _part(model: Any, element: Any, drilling: float) -> ElementMatrices:
    places = [tuple(node.get_position()) for node in element.nodes_ref]
    if len(set(places)) < len(places) and element.type not in BEAMS:  # the ends of beams may have offsets
        raise FlexibleBodyError(f"Two of its nodes {', '.join(map(str, element.node_ids))} are at one place.")
    if element.type in BEAMS:
        return _beam(model, element)
    if element.type in SHELLS:
        return _shell(element, drilling)
    own = element if element.type == "CONROD" else element.pid_ref
    material = own.mid_ref
    ends = np.array([node.get_position() for node in element.nodes_ref])
    per_length = float(own.A if element.type == "CONROD" else own.Area()) * material.rho + (own.nsm or 0.0)
    area, torsion = (own.A if element.type == "CONROD" else own.Area()), (own.j or 0.0)
    return rod_part(element.node_ids, ends[1] - ends[0], material.e * area, (material.g or 0.0) * torsion, per_length, area)


def _beam(model: Any, element: Any) -> ElementMatrices:
    if element.pa or element.pb:
        raise FlexibleBodyError("Pins at the ends of beams (pa, pb) are not supported; model the joint in the robot.")
    try:
        with redirect_stdout(StringIO()), np.errstate(invalid="ignore", divide="ignore"):  # pyNastran prints what is wrong
            failed, (way_a, way_b, x, y, z) = element.get_axes(model)
    except ValueError:
        raise FlexibleBodyError(f"Its nodes {', '.join(map(str, element.node_ids))} are at one place.") from None
    if failed or not np.isfinite([x, y, z]).all():
        raise FlexibleBodyError("The orientation vector is parallel to the beam.")
    p = element.pid_ref
    section = _section(p)
    material = p.mid_ref
    if material.type != "MAT1":
        raise FlexibleBodyError(f"Material {material.mid} is {material.type}; beams take MAT1.")
    ends = np.array([node.get_position() for node in element.nodes_ref]) + np.array([way_a, way_b])
    made_of = Material(name="file", young=material.e, density=1.0, shear=material.g or None)
    length = float(np.linalg.norm(ends[1] - ends[0]))
    beam = BeamElement(length=length, section=section, material=made_of, planar=False, shear=True)
    return beam_part(element.node_ids, beam, np.array([x, y, z]), np.array([way_a, way_b]), material.rho, _first(p.Nsm()) or 0.0)


def _section(p: Any) -> Section:
    """The section of PBAR, PBARL, PBEAM or PBEAML; plane 1 is x-y."""
    if p.type in ("PBEAM", "PBEAML") and _varies(p):
        raise FlexibleBodyError(f"The section of {p.type} {p.pid} changes along the beam; divide it into constant ones.")
    i1, i2, i12 = (_first(f()) for f in (p.I11, p.I22, p.I12))
    if abs(i12) > 1e-9 * np.sqrt(abs(i1 * i2)):
        raise FlexibleBodyError(f"{p.type} {p.pid} has I12 = {i12:g}; give principal axes by the orientation vector.")
    k1, k2 = (float(getattr(p, k, None) or STIFF_IN_SHEAR) for k in ("k1", "k2"))
    return Section(area=_first(p.Area()), iz=i1, iy=i2, torsion=_torsion(p), shear_y=k1, shear_z=k2)


def _torsion(p: Any) -> float:
    """Torsion constant; of named shapes that pyNastran has none for, ours."""
    given = _first(p.J())
    shape, dim = getattr(p, "beam_type", ""), np.ravel(getattr(p, "dim", ()))
    if given <= 0.0 and shape == "BAR":
        given = Section.rectangle(width=float(dim[1]), height=float(dim[0])).torsion or 0.0
    if given <= 0.0:
        raise FlexibleBodyError(f"{p.type} {p.pid} {shape} has no torsion constant J; give it by PBAR.")
    return given


def _first(value: ArrayLike) -> float:
    return float(np.ravel(value)[0])


def _varies(p: Any) -> bool:
    """The section changes along the beam, or its centre is off the line of shear centres."""
    if p.type == "PBEAML":
        arrays = list(np.asarray(p.dim, dtype=float).T)
    else:
        arrays = [np.ravel(getattr(p, name)).astype(float) for name in ("A", "i1", "i2", "j", "nsm")]
    shifts = [getattr(p, name, 0.0) or 0.0 for name in ("n1a", "n1b", "n2a", "n2b", "m1a", "m1b", "m2a", "m2b")]
    return any(np.ptp(a) > 1e-12 * np.abs(a).max(initial=0.0) for a in arrays if a.size) or any(shifts)


def _shell(element: Any, drilling: float) -> ElementMatrices:
    p = element.pid_ref
    if p.type != "PSHELL":
        raise FlexibleBodyError(f"Property {p.pid} is {p.type}; shells take PSHELL.")
    material = p.mid1_ref
    if material is None or material.type != "MAT1" or p.mid2 not in (p.mid1, p.mid1_ref.mid) or (p.twelveIt3 or 1.0) != 1.0:
        raise FlexibleBodyError(f"PSHELL {p.pid} must have MID1 = MID2, a MAT1, and 12I/T**3 = 1.")
    corners = [t for t in (getattr(element, f"T{k}", None) for k in range(1, 5)) if t not in (None, 0.0)]
    if corners:
        raise FlexibleBodyError("A thickness at the corners (T1 to T4) is not supported; give it by PSHELL.")
    h = float(p.t)
    shear = p.tst * h * p.mid3_ref.g if p.mid3_ref is not None else None
    nu = material.nu if material.nu is not None else material.e / (2 * material.g) - 1
    shell = ShellElement(
        corners=np.array([node.get_position() for node in element.nodes_ref], dtype=float), young=material.e, poisson=nu,
        thickness=h, mass_per_area=material.rho * h + (p.nsm or 0.0), shear=shear, offset=element.zoffset or 0.0,
        drilling=drilling,
    )  # fmt: skip
    return ElementMatrices(nodes=element.node_ids, mass=shell.mass(), stiffness=shell.stiffness(), volume=shell.volume)


def _mass(path: Path, m: Any) -> ElementMatrices:
    if m.type != "CONM2" or m.Cid() != 0:
        where = f" in coordinate system {m.Cid()}" if m.type == "CONM2" else ""
        raise FeFileError(f"{path}: mass {m.eid} is {m.type}{where}; masses are CONM2 in system 0")
    i11, i21, i22, i31, i32, i33 = m.I
    inertia = np.array([[i11, -i21, -i31], [-i21, i22, -i32], [-i31, -i32, i33]])
    return mass_part(m.Nid(), float(m.mass), np.asarray(m.X, dtype=float), inertia)


def _rigid(path: Path, model: Any) -> dict[int, int]:
    links: dict[int, int] = {}
    for number, link in sorted(model.rigid_elements.items()):
        if link.type != "RBE2" or sorted(str(link.cm)) != list("123456"):
            what = f"{link.type}" + (f" with components {link.cm}" if link.type == "RBE2" else "")
            raise FeFileError(f"{path}: rigid element {number} is {what}; only RBE2 with components 123456 is supported")
        for node in link.Gmi_node_ids:
            if node in links:
                raise FeFileError(f"{path}: node {node} depends on two rigid elements, {number} being the second")
            links[int(node)] = int(link.Gn())
    return links


def _notes(model: Any, parts: list[ElementMatrices]) -> tuple[str, ...]:
    """Contents of the file that the body does not have."""
    used = {node for part in parts for node in part.nodes}
    loose = sorted(set(model.nodes) - used - set(_touched(model)))
    found = []
    if loose:
        found.append(f"{len(loose)} nodes of no element are left out, the first is {loose[0]}")
    if any(node.ps for node in model.nodes.values()) or model.spcs or model.suport:
        found.append("constraints of the file (SPC, SUPORT, GRID) are not applied: the body is free")
    if model.loads or model.tempds:
        found.append("loads of the file are not applied")
    return tuple(found)


def _touched(model: Any) -> list[int]:
    return [int(n) for link in model.rigid_elements.values() for n in (link.Gn(), *link.Gmi_node_ids)]
