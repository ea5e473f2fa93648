"""Flexible beams along the body's x axis, from the frame origin at the proximal end to x = length at the tip.

Clamped: the proximal end is the body frame and the coordinates are those of the tip (of every node for several
elements). Free: the mean frame, with normal modes. All integrals are over the polynomial shapes, exact by Gauss
points along the centre line. Sections have rotary inertia about the beam's axis always; across it, in bending slopes and in
rigid rotations alike, only with `rotary_inertia`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from flexapod.calls import check_flag, check_text, checked
from flexapod.flexible.beam_element import BeamElement, gauss_points
from flexapod.flexible.body import FlexibleBody, Interface, body_from_integrals
from flexapod.flexible.checked_arrays import Floats, checked_integer, positive
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.materials import Material
from flexapod.flexible.materials import material as material_by_name
from flexapod.flexible.mode_order import fixed_orientation
from flexapod.flexible.normal_modes import normal_modes
from flexapod.flexible.section import Section
from flexapod.flexible.shape_integrals import Nodes, shape_integrals

THEORIES = ("euler-bernoulli", "timoshenko")


@checked(planar=check_flag, theory=check_text, boundary=check_text)
def beam(
    *,
    length: float,
    section: Section,
    material: Material | str | None = None,
    young: float | None = None,
    density: float | None = None,
    poisson: float | None = None,
    elements: int = 1,
    planar: bool = False,
    theory: str = "euler-bernoulli",
    rotary_inertia: bool | None = None,
    boundary: str = "clamped",
    modes: int | None = None,
    damping: float | ArrayLike = 0.0,
) -> FlexibleBody:
    """A flexible beam with interfaces `base` and `tip`.

    Args:
        length: [m]. section: see `Section`; width along y, height along z.
        material: a `Material` or a name; or young [Pa], density [kg/m^3] and poisson (needed by torsion and shear).
        elements: equal elements along the beam.
        planar: elastic in the xy plane only, coordinates (u, v, theta); otherwise (u, v, w, thx, thy, thz). Several elements put
            their number before the name: 1.u, ..., 2.theta.
        theory: euler-bernoulli or timoshenko (shear).
        rotary_inertia: of the sections in bending; by default only with timoshenko.
        boundary: clamped at the proximal end, or free (needs `modes`).
        modes: reduce to this number of mass-normalised modes; by default tip coordinates.
        damping: modal damping ratios, or a matrix (N, N).
        young, density, poisson: instead of the material.
    Returns:
        `FlexibleBody` for `Robot.with_flexible_body` or `save_modes`.

    Source: Briot 2014, section 5 and Eqs. (56)-(60).
    Checked by: tests/flexible/test_beam.py, tests/flexible/test_dualemps_beams.py,
    tests/elastodynamics/test_beam_textbook.py.
    """
    made_of = beam_material(material, young, density, poisson)
    positive("length", length, "metres")
    checked_integer("elements", elements)
    if theory not in THEORIES:
        raise FlexibleBodyError(f"theory must be one of {', '.join(THEORIES)}, is {theory!r}.")
    if boundary not in ("clamped", "free"):
        raise FlexibleBodyError(f"boundary must be clamped or free, is {boundary!r}.")
    if boundary == "free" and modes is None:
        raise FlexibleBodyError("A free beam needs `modes`, the number of its elastic modes.")
    element = BeamElement(
        length=length / elements, section=section, material=made_of, planar=planar, shear=theory == "timoshenko"
    )  # fmt: skip
    rotary = theory == "timoshenko" if rotary_inertia is None else rotary_inertia
    full = BeamChain([element] * elements, rotary)
    d = len(element.coordinates())
    if boundary == "clamped":
        basis = np.eye(d * (elements + 1))[:, d:]
        own = element.coordinates()
        names = list(own) if elements == 1 else [f"{k + 1}.{c}" for k in range(elements) for c in own]
        body = full.with_basis(basis, names)
        if modes is not None:
            body = _oriented(body.normal_modes(modes))
    else:
        body = full.free_modes(checked_integer("modes", modes or 0, 0))
    return body if np.ndim(damping) == 0 and damping == 0.0 else body.with_damping(damping)


def beam_material(material: Material | str | None, young: float | None, density: float | None, poisson: float | None) -> Material:
    """The material that a name or constants give; not both."""
    if material is not None:
        if young is not None or density is not None or poisson is not None:
            raise FlexibleBodyError("Give either material, or young, density and poisson, not both.")
        return material if isinstance(material, Material) else material_by_name(material)
    if young is None or density is None:
        raise FlexibleBodyError("A beam needs a material, or young and density.")
    return Material(name="given", young=young, density=density, poisson=poisson)


class BeamChain:
    """A straight chain of elements of equal length, both ends free: the coordinates of all its nodes."""

    def __init__(self, elements: Sequence[BeamElement], rotary: bool) -> None:
        self.elements, self.d = elements, len(elements[0].coordinates())
        self.step, self.size = elements[0].length, self.d * (len(elements) + 1)
        self.K = np.zeros((self.size, self.size))
        for k, element in enumerate(elements):
            part = slice(k * self.d, (k + 2) * self.d)
            self.K[part, part] += element.stiffness()
        self.nodes = self._nodes(gauss_points()[0] * self.step, rotary)
        ends = np.array([0.0, self.step])
        self.ends = []
        for k, e in ((0, 0), (1, len(elements) - 1)):
            shapes = elements[e].shapes(ends)
            self.ends.append((self._spread_out(shapes[0][[k]], e)[0], self._spread_out(shapes[1][[k]], e)[0]))

    def _spread_out(self, local: Floats, k: int) -> Floats:
        """Shapes of element k (p, 3, 2 d) as shapes of the chain (p, 3, size)."""
        result = np.zeros((len(local), 3, self.size))
        result[:, :, k * self.d : (k + 2) * self.d] = local
        return result

    def _nodes(self, x: Floats, rotary: bool) -> Nodes:
        """Gauss points with the size that gives their section its rotary inertia.

        With `rotary` that of the real section. Without, none about y and z: neither the slopes nor the rigid rotation of an
        element have any, so that an element may be the root of the next one, and planar and spatial beams are the same beam.
        """
        r0, masses, Phi_d, Phi_r, sizes = [], [], [], [], []
        for k, e in enumerate(self.elements):
            displacements, rotations = e.shapes(x)
            r0.append(np.stack([x + k * self.step, 0.0 * x, 0.0 * x], axis=1))
            masses.append(e.masses())
            Phi_d.append(self._spread_out(displacements, k))
            Phi_r.append(self._spread_out(rotations, k))
            sizes.append(np.array([_spread(cut, e.planar, rotary) for cut in e.sections()]))
        return Nodes(
            r0=np.concatenate(r0), mass=np.concatenate(masses), Phi_d=np.concatenate(Phi_d), Phi_r=np.concatenate(Phi_r),
            spread=np.concatenate(sizes),
        )  # fmt: skip

    def with_basis(self, V: Floats, names: list[str], K: Floats | None = None) -> FlexibleBody:
        """The body with chain coordinates V q_e."""
        length = self.step * len(self.elements)
        places = (np.zeros(3), np.array([length, 0.0, 0.0]))
        points = {
            name: Interface(r0=r0, Phi_d=d @ V, Phi_r=r @ V)
            for name, r0, (d, r) in zip(("base", "tip"), places, self.ends, strict=True)
        }
        nodes = self.nodes.transformed(V)
        K_ee = V.T @ self.K @ V if K is None else K
        return body_from_integrals(shape_integrals(nodes), K_ee=K_ee, interfaces=points, names=names, nodes=nodes)

    def free_modes(self, modes: int) -> FlexibleBody:
        """The free chain in its elastic normal modes."""
        M = shape_integrals(self.nodes).M_ee
        values, vectors = np.linalg.eigh(self.K / np.sqrt(np.outer(np.diag(self.K), np.diag(self.K))))
        R = vectors[:, values < 1e-10] / np.sqrt(np.diag(self.K))[:, None]
        omega2, V = normal_modes(sparse.csc_array(self.K), sparse.csc_array(M), R, modes)
        return _oriented(self.with_basis(V, [], np.diag(omega2)))


def _spread(cut: Section, planar: bool, rotary: bool) -> Floats:
    """(3, 3) size of a section about the centre line, see `Chain._nodes`."""
    y2, z2 = cut.iz / cut.area, cut.iy / cut.area
    if planar:
        return np.diag([0.0, y2 if rotary else 0.0, 0.0])
    return np.diag([0.0, y2, z2] if rotary else 0.5 * (y2 + z2) * np.array([-1.0, 1.0, 1.0]))


def element_body(element: BeamElement, rotary: bool) -> FlexibleBody:
    """The body of one element, its root held, by the coordinates of its tip."""
    d = len(element.coordinates())
    return BeamChain([element], rotary).with_basis(np.eye(2 * d)[:, d:], list(element.coordinates()))


def _oriented(body: FlexibleBody) -> FlexibleBody:
    """The body in modal coordinates, oriented and signed by the fixed rule."""
    assert body.nodes is not None
    Q = fixed_orientation(body.angular_frequency**2, body.nodes.r0, body.nodes.mass, body.nodes.Phi_d)[0]
    return body.transformed(Q)
