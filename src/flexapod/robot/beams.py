"""Elements inside legs, of beams and other flexible bodies: their bodies, and their places in the tree of links.

An element is a body about its root node; its elastic coordinates are the links that lead to its tip (see `elastic`). A beam that
`modes` reduces is one such element of more coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.description.schema_flexible import Flexible
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.robot.build import placed
from flexapod.robot.elastic import PLANAR, SPATIAL, arc_chord
from flexapod.robot.flexible_platform import FlexibleShape, damped, moment_shape, moment_values
from flexapod.robot.geometry import frame_along, tidy
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.flexible import FlexibleBody
    from flexapod.flexible import Section as Cut
    from flexapod.flexible.beam_element import BeamElement as Element
    from flexapod.flexible.beam_element import Foreshortening
    from flexapod.flexible.body_from_root import RootedBody
    from flexapod.flexible.materials import Material
    from flexapod.flexible.modal_foreshortening import QuadraticLink
    from flexapod.robot.robot import Robot


ROUNDING = 1e-10
"""Entries below this part of the largest, coordinates scaled to equal energy, are zero by symmetry."""

FIBRES = ("fibre_y", "fibre_z")
"""Words of a general section that only stresses need."""

Law = Literal["linear", "stiffened", "exact"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticElement:
    """One element of a beam, or a whole plate or file of modes.

    Args:
        name: ``13.beam1``: body and number of the element; values are below ``legs.<leg>.<name>``.
        root: link whose frame is at the root node.
        axes: (3, 3) beam axes (x along it) seen from that link.
        links: links of its elastic coordinates, in the order of the body's coordinates.
        body: mass, moments and elastic matrices about the root, in beam axes.
        law: how elastic forces follow from the coordinates: linear, stiffened by axial load, or exact for large rotations.
        foreshortening: what bending shortens; None for linear elements.
        rooted: tips and modes, where it is no beam but a plate or a file of modes (`modal_link`).
        basis: of a reduced beam: coordinates of all its nodes, the root first, per coordinate of the body.
        twisting: of a stiffened spatial beam: what bending and twisting move its tip by together, see
            `flexapod.flexible.twisting`; else None.
    """

    name: str
    root: int
    axes: Array
    links: tuple[int, ...]
    body: FlexibleBody
    law: Law
    foreshortening: Foreshortening | None
    rooted: RootedBody | None = None
    basis: Array | None = None
    twisting: Array | None = None

    @property
    def quadratic(self) -> QuadraticLink | None:
        """Foreshortening by bending, of a stiffened plate or file of modes."""
        return None if self.rooted is None else self.rooted.quadratic

    @property
    def tip(self) -> int:
        """Link whose frame is at the tip of a beam."""
        return self.links[len(tip_names(self.body.names)) - 1]

    @property
    def tips(self) -> tuple[int, ...]:
        """Links at the far ends: of a beam one, of other bodies one per tip that deforms."""
        if self.rooted is None:
            return (self.tip,)
        counts = [len(own) for own in self.rooted.components]
        return tuple(self.links[sum(counts[: k + 1]) - 1] for k, own in enumerate(counts) if own)

    def inner_line(self, places: Array, modes: Array) -> Array:
        """Displacement (p, 3) in beam axes that the modes of a reduced beam add at places from 0 (root) to 1 (tip)."""
        d, found = len(tip_names(self.body.names)), np.zeros((len(places), 3))
        assert self.basis is not None
        nodes = self.basis[:, d:] @ modes
        for axis, name in ((1, "v"), (2, "w")):
            if name in self.body.names:
                own = nodes[self.body.names.index(name) :: d]
                found[:, axis] = np.interp(places, np.linspace(0.0, 1.0, len(own)), own)
        return found

    @cached_property
    def shape(self) -> FlexibleShape:
        """Shape moments that the element has."""
        return moment_shape(self.body)


class BeamError(RobotBuildError):
    """A beam of a leg that cannot be made; `leg` and `body` say which."""

    def __init__(self, leg: str, body: str, why: str) -> None:
        super().__init__(f"leg {leg}, body {body}: {why}")
        self.leg, self.body = leg, body


def leg_beams(leg: Leg, planar: bool) -> tuple[ElasticElement, ...]:
    """All beam elements of a leg, from the base outwards."""
    per_element = len(PLANAR if planar else SPATIAL)
    result = []
    for i, link in enumerate(leg.links):
        if link.body is None or link.body.flexible is None:
            continue
        spec, made = link.body.flexible, link.body.rooted
        elastic = [j for j, other in enumerate(leg.links) if other.elastic and other.joint == link.body.name]
        if made is not None:
            result.append(
                ElasticElement(
                    name=f"{link.body.name}.modal", root=i, axes=link.body.body_axes, links=tuple(elastic), body=made.body,
                    law="linear" if made.quadratic is None else "stiffened", foreshortening=None, rooted=made,
                )
            )  # fmt: skip
            continue
        try:
            words = spec.model_dump_json()
            if spec.modes is None:
                parts = [_element(words, planar, k if spec.tip_section is not None else 0) for k in range(spec.elements)]
            else:
                parts = [_reduced(words, planar)]
        except FlexibleBodyError as error:
            raise BeamError(leg.name, link.body.name, str(error)) from error
        half = arc_chord(spec)[1]
        root, axes = i, link.body.body_axes @ half
        for k, (beam, shortening, basis, twisting) in enumerate(parts):
            links = tuple(elastic if basis is not None else elastic[k * per_element : (k + 1) * per_element])
            result.append(
                ElasticElement(
                    name=f"{link.body.name}.beam{k + 1}", root=root, axes=axes, links=links, body=beam,
                    law=_law(spec), foreshortening=shortening, basis=basis, twisting=twisting,
                )
            )  # fmt: skip
            root, axes = links[-1], frame_along(np.eye(3)[2]).T @ half @ half
    return tuple(result)


def _law(spec: Flexible) -> Law:
    """The elastic law that the file's words choose."""
    return "exact" if spec.theory == "exact" else "linear" if spec.stiffening is False else "stiffened"


Made = tuple["FlexibleBody", "Foreshortening | None", "Array | None", "Array | None"]
"""Body, foreshortening unless linear, basis of a reduced beam, and twisting of a stiffened one in space."""


@lru_cache(maxsize=256)
def _element(words: str, planar: bool, number: int) -> Made:
    """Element `number` (from 0) of the beam that a robot file describes."""
    from flexapod.flexible.beams import element_body
    from flexapod.flexible.twisting import tip_twisting

    spec = Flexible.model_validate_json(words)
    element = _part(spec, planar, number, arc_chord(spec)[0])
    body, length = element_body(element, rotary=element.shear), element.length
    if spec.loss_factor is not None and spec.elements > 1:
        body = body.with_rayleigh(stiffness=spec.loss_factor / _first_frequency(spec, element.material, planar))
    else:
        body = damped(body, spec)
    if _law(spec) == "linear":
        return body, None, None, None
    twisting = tip_twisting(element) if _law(spec) == "stiffened" else None
    return body, _without_rounding(element.foreshortening().of_tip(), body, length), None, twisting


@lru_cache(maxsize=64)
def _reduced(words: str, planar: bool) -> Made:
    """The whole beam that a robot file describes, reduced to its tip and some modes."""
    from flexapod.flexible.reduced_beam import reduced_beam
    from flexapod.flexible.twisting import twisting

    spec = Flexible.model_validate_json(words)
    found = reduced_beam(beam_elements(spec, planar), spec.modes or 0, rotary=has_shear(spec))
    body = damped(found.body, spec)
    if _law(spec) == "linear":
        return body, None, found.basis, None
    rotated = None if planar or _law(spec) != "stiffened" else twisting(beam_elements(spec, planar), found.basis)
    return body, _without_rounding(found.foreshortening, body, float(spec.length or 0.0)), found.basis, rotated


def beam_elements(spec: Flexible, planar: bool) -> list[Element]:
    """The elements of a straight beam that a robot file describes, from root to tip."""
    length = float(spec.length or 0.0) / spec.elements
    if spec.tip_section is None:  # all are the same
        return [_part(spec, planar, 0, length)] * spec.elements
    return [_part(spec, planar, k, length) for k in range(spec.elements)]


def has_shear(spec: Flexible) -> bool:
    """The beam has shear and rotary inertia."""
    return spec.theory in ("timoshenko", "exact")


def _part(spec: Flexible, planar: bool, number: int, length: float) -> Element:
    """Element `number` (from 0) of a beam, with its section."""
    from flexapod.flexible.beam_element import BeamElement as Element
    from flexapod.flexible.beam_element import gauss_points
    from flexapod.flexible.beams import beam_material

    if spec.section is None or spec.length is None:
        raise RobotBuildError("a beam needs its length and section")
    made_of = beam_material(spec.material, spec.young, spec.density, spec.poisson)
    section, shear = cross_section(spec, (number + 0.5) / spec.elements), has_shear(spec)
    if shear and spec.elements > 1:
        _check_slender(section, length, spec.elements, planar)
    places = (number + gauss_points()[0]) / spec.elements
    cuts = () if spec.tip_section is None else tuple(cross_section(spec, float(place)) for place in places)
    return Element(length=length, section=section, material=made_of, planar=planar, shear=shear, cuts=cuts)


def _check_slender(section: Cut, length: float, elements: int, planar: bool) -> None:
    """Refuse elements with shear that are shorter than the beam is thick: their sections rotate linearly along the beam."""
    thick = float(np.sqrt(12.0 * (section.iz if planar else max(section.iy, section.iz)) / section.area))
    if length < (1.0 - 1e-9) * thick:
        most = max(int(length * elements / thick), 1)
        raise FlexibleBodyError(
            f"elements of {length:.4g} m are shorter than the beam is thick ({thick:.4g} m): with shear more of them improve "
            f"frequencies with the square of their length only. Write `elements: {most}` or fewer, or theory euler-bernoulli"
        )


def _without_rounding(found: Foreshortening, body: FlexibleBody, length: float) -> Foreshortening:
    """Moments that vanish by symmetry made zero; the scale of an entry is mass and powers of the length by its units."""
    per = np.array([1.0 if name in ("theta", "thx", "thy", "thz") else 1.0 / length for name in body.names])
    scales = {"B": length, "first": float(body.mass) * length, "second": float(body.mass) * length**2}
    return replace(found, **{name: tidy(getattr(found, name), scale * np.outer(per, per)) for name, scale in scales.items()})


def _first_frequency(spec: Flexible, made_of: Material, planar: bool) -> float:
    """First angular frequency of the whole beam, root held, tip free: 1.8751^2 sqrt(EI / rho A) / L^2; tapered by elements."""
    if spec.tip_section is not None:
        return _first_of_elements(spec, planar)
    section = cross_section(spec, 0.5)
    bend = section.iz if planar else min(section.iy, section.iz)
    unit = made_of.young * bend / (made_of.density * section.area)
    return float(1.8751040687119611**2 * np.sqrt(unit) / float(spec.length or 1.0) ** 2)


def _first_of_elements(spec: Flexible, planar: bool) -> float:
    """First angular frequency [rad/s] of the whole beam, root held, tip free, by at least eight elements."""
    from flexapod.flexible.beams import BeamChain

    fine = spec.model_copy(update={"elements": max(spec.elements, 8), "theory": None})
    chain = BeamChain(beam_elements(fine, planar), rotary=False)
    names = [f"{k}" for k in range(chain.size - chain.d)]
    return float(chain.with_basis(np.eye(chain.size)[:, chain.d :], names).angular_frequency[0])


def cross_section(spec: Flexible, place: float) -> Cut:
    """The section at a place from 0 (root) to 1 (tip); sizes of a tapered beam change linearly along it."""
    from flexapod.flexible import Section as Cut

    assert spec.section is not None
    sizes = {name: value for name, value in spec.sizes_at(place).items() if name not in FIBRES}
    made: Cut = getattr(Cut, spec.section.shape)(**sizes)
    return made


def bending_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs i <= k of an element's coordinates that bend it in one plane; a mode may do so with any of them."""
    planes = [("v", "theta")] if "theta" in names else [("v", "thz"), ("w", "thy")]
    at = [tuple(names.index(n) for n in plane) for plane in planes]
    pairs = [pair for v, slope in at for pair in ((v, v), (v, slope), (slope, slope))]
    bending = sorted(k for plane in at for k in plane)
    modes = range(len(tip_names(names)), len(names))
    return pairs + [(i, k) for k in modes for i in (*bending, *(other for other in modes if other <= k))]


def twisting_pairs(beam: ElasticElement) -> list[tuple[int, int, int]]:
    """(c, i, k), i <= k: which pairs of coordinates move the coordinate c of the tip besides itself."""
    assert beam.twisting is not None
    size = 1.0 / np.sqrt(np.diag(beam.body.K_ee))
    found = []
    for c, Q in enumerate(np.abs(beam.twisting) * np.outer(size, size), start=1):
        found += [(c, int(i), int(k)) for i, k in zip(*np.nonzero(np.triu(ROUNDING * Q.max(initial=0.0) < Q)), strict=True)]
    return found


def tip_names(names: Sequence[str]) -> tuple[str, ...]:
    """Those of an element's coordinates that move its tip."""
    return tuple(name for name in names if not name.startswith("mode"))


def beam_values(leg: Leg, beams: tuple[ElasticElement, ...]) -> dict[str, float]:
    """The numbers of a leg's beam elements by name, as kernels read them."""
    values: dict[str, float] = {}
    for beam in beams:
        prefix, body = f"legs.{leg.name}.{beam.name}", beam.body
        values[f"{prefix}.mass"] = float(body.mass)
        for i, a in enumerate("xyz"):
            values[f"{prefix}.first_moment.{a}"] = float(body.MS_r[i])
            for j, c in enumerate("xyz"):
                values[f"{prefix}.axes.{a}{c}"] = float(beam.axes[i, j])
                if i <= j:
                    values[f"{prefix}.inertia.{a}{c}"] = float(body.I_rr[i, j])
        values.update(moment_values(prefix, body))
        shortening = beam.foreshortening
        if shortening is not None:
            values[f"{prefix}.length"] = float(body.interfaces["tip"].r0[0])
            for name, matrix in (("B", shortening.B), ("B0", shortening.first), ("B1", shortening.second)):
                values.update({f"{prefix}.flex.{name}.{i}.{k}": float(matrix[i, k]) for i, k in bending_pairs(body.names)})
        if beam.twisting is not None:
            pairs = twisting_pairs(beam)
            values.update({f"{prefix}.flex.Qt.{c}.{i}.{k}": float(beam.twisting[c - 1, i, k]) for c, i, k in pairs})
        if beam.quadratic is not None:
            values.update(_quadratic_values(prefix, beam.quadratic))
    return values


def _quadratic_values(prefix: str, link: QuadraticLink) -> dict[str, float]:
    """Matrices of a stiffened plate or file of modes."""
    found: dict[str, Array] = {f"Qt.{c}": Q for c, Q in zip(link.columns, link.tips, strict=True)}
    found |= {f"Q0.{a}": link.first[i] for i, a in enumerate("xyz")}
    found |= {f"Q1.{a}{c}": link.second[i, j] for i, a in enumerate("xyz") for j, c in enumerate("xyz")}
    found |= {f"A.{r}": A for r, A in enumerate(link.stretch)}
    pairs = list(zip(*np.triu_indices(link.tips.shape[-1]), strict=True))
    return {f"{prefix}.flex.{name}.{i}.{k}": float(matrix[i, k]) for name, matrix in found.items() for i, k in pairs}


def refuse_unmade(robot: Robot) -> None:
    """Report beams that cannot be made, and a platform without interfaces at its joints.

    Checked by: tests/robot/test_files_of_modes.py.
    """
    description = robot.description
    try:
        _ = robot.beams
    except BeamError as error:
        with placed(description, description.addresses.merged[error.leg].origins.get(("bodies", error.body), ("legs",))):
            raise
    with placed(description, ("platform", "flexible")):
        _ = robot.joint_shapes
