"""Beam elements inside legs: their flexible bodies, and where in the tree of links they sit.

An element is a body about its root node; its elastic coordinates are the links that lead to its tip (see `elastic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from flexapod.description.schema import Flexible, Section
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.robot.elastic import PLANAR, SPATIAL
from flexapod.robot.flexible_platform import FlexibleShape, moment_shape, moment_values
from flexapod.robot.geometry import Array, frame_along
from flexapod.robot.model import Leg
from flexapod.robot.tree import RobotBuildError

if TYPE_CHECKING:
    from flexapod.flexible import FlexibleBody
    from flexapod.flexible import Section as Cut
    from flexapod.flexible.beam_element import Foreshortening


Law = Literal["linear", "stiffened", "exact"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BeamElement:
    """One element of a beam.

    Args:
        name: ``13.beam1``: body and number of the element; values stand below ``legs.<leg>.<name>``.
        root: link whose frame is at the root node.
        axes: (3, 3) beam axes (x along it) seen from that link.
        links: links of its elastic coordinates, in the order of the body's coordinates.
        body: mass, moments and elastic matrices about the root, in beam axes.
        law: how elastic forces follow from the coordinates: linear, stiffened by axial load, or exact for large rotations.
        foreshortening: what bending shortens; None for linear elements.
    """

    name: str
    root: int
    axes: Array
    links: tuple[int, ...]
    body: FlexibleBody
    law: Law
    foreshortening: Foreshortening | None

    @property
    def shape(self) -> FlexibleShape:
        """Which moments the element has."""
        return moment_shape(self.body)


def leg_beams(leg: Leg, planar: bool) -> tuple[BeamElement, ...]:
    """All beam elements of a leg, from the base outwards."""
    per_element = len(PLANAR if planar else SPATIAL)
    result = []
    for i, link in enumerate(leg.links):
        if link.body is None or link.body.flexible is None:
            continue
        spec = link.body.flexible
        elastic = [j for j, other in enumerate(leg.links) if other.elastic and other.joint == link.body.name]
        try:
            body, shortening = _element(spec.model_dump_json(), planar)
        except FlexibleBodyError as error:
            raise RobotBuildError(f"leg {leg.name}, body {link.body.name}: {error}") from error
        root, axes = i, link.body.body_axes
        for k in range(spec.elements):
            links = tuple(elastic[k * per_element : (k + 1) * per_element])
            result.append(
                BeamElement(
                    name=f"{link.body.name}.beam{k + 1}", root=root, axes=axes, links=links, body=body,
                    law=_law(spec), foreshortening=shortening,
                )
            )  # fmt: skip
            root, axes = links[-1], frame_along(np.eye(3)[2]).T
    return tuple(result)


def _law(spec: Flexible) -> Law:
    """The elastic law that the file's words choose."""
    return "exact" if spec.theory == "exact" else "linear" if spec.stiffening is False else "stiffened"


@lru_cache(maxsize=64)
def _element(words: str, planar: bool) -> tuple[FlexibleBody, Foreshortening | None]:
    """One element of the beam that a robot file describes, and its foreshortening."""
    from flexapod.flexible.beam_element import BeamElement as Element
    from flexapod.flexible.beams import beam, beam_material

    spec = Flexible.model_validate_json(words)
    if spec.section is None or spec.length is None:
        raise RobotBuildError("a beam needs its length and section")
    theory = "timoshenko" if spec.theory == "exact" else spec.theory or "euler-bernoulli"
    made_of = beam_material(spec.material, spec.young, spec.density, spec.poisson)
    section, length = _section(spec.section), spec.length / spec.elements
    body = beam(length=length, section=section, material=made_of, planar=planar, theory=theory, damping=spec.damping or 0.0)
    if _law(spec) == "linear":
        return body, None
    element = Element(length=length, section=section, material=made_of, planar=planar, shear=theory == "timoshenko")
    return body, element.foreshortening().of_tip()


def _section(s: Section) -> Cut:
    from flexapod.flexible import Section as Cut

    if s.shape == "rectangle":
        return Cut.rectangle(width=s.width or 0.0, height=s.height or 0.0)
    if s.shape == "tube":
        return Cut.tube(outer=s.outer or 0.0, inner=s.inner or 0.0)
    if s.shape == "i":
        return Cut.i(width=s.width or 0.0, height=s.height or 0.0, flange=s.flange or 0.0, web=s.web or 0.0)
    return Cut.general(area=s.area or 0.0, iy=s.iy or 0.0, iz=s.iz or 0.0, torsion=s.torsion)


def bending_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs i <= k of an element's coordinates that bend it in one plane."""
    planes = [("v", "theta")] if "theta" in names else [("v", "thz"), ("w", "thy")]
    at = [tuple(names.index(n) for n in plane) for plane in planes]
    return [pair for v, turn in at for pair in ((v, v), (v, turn), (turn, turn))]


def beam_values(leg: Leg, beams: tuple[BeamElement, ...]) -> dict[str, float]:
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
    return values
