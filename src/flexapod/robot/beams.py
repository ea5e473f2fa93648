"""Beam elements inside legs: their flexible bodies, and where in the tree of links they sit.

An element is a body about its root node; its elastic coordinates are the links that lead to its tip (see `elastic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, kw_only=True, eq=False)
class BeamElement:
    """One element of a beam.

    Args:
        name: ``13.beam1``: body and number of the element; values stand below ``legs.<leg>.<name>``.
        root: link whose frame is at the root node.
        axes: (3, 3) beam axes (x along it) seen from that link.
        links: links of its elastic coordinates, in the order of the body's coordinates.
        body: mass, moments and elastic matrices about the root, in beam axes.
    """

    name: str
    root: int
    axes: Array
    links: tuple[int, ...]
    body: FlexibleBody

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
            body = _element(spec.model_dump_json(), planar)
        except FlexibleBodyError as error:
            raise RobotBuildError(f"leg {leg.name}, body {link.body.name}: {error}") from error
        root, axes = i, link.body.body_axes
        for k in range(spec.elements):
            links = tuple(elastic[k * per_element : (k + 1) * per_element])
            result.append(BeamElement(name=f"{link.body.name}.beam{k + 1}", root=root, axes=axes, links=links, body=body))
            root, axes = links[-1], frame_along(np.eye(3)[2]).T
    return tuple(result)


@lru_cache(maxsize=64)
def _element(words: str, planar: bool) -> FlexibleBody:
    """One element of the beam that a robot file describes."""
    from flexapod import flexible

    spec = Flexible.model_validate_json(words)
    if spec.section is None or spec.length is None:
        raise RobotBuildError("a beam needs its length and section")
    return flexible.beam(
        length=spec.length / spec.elements,
        section=_section(spec.section),
        material=spec.material,
        young=spec.young,
        density=spec.density,
        poisson=spec.poisson,
        planar=planar,
        theory=spec.theory or "euler-bernoulli",
        damping=spec.damping or 0.0,
    )


def _section(s: Section) -> Cut:
    from flexapod.flexible import Section as Cut

    if s.shape == "rectangle":
        return Cut.rectangle(width=s.width or 0.0, height=s.height or 0.0)
    if s.shape == "tube":
        return Cut.tube(outer=s.outer or 0.0, inner=s.inner or 0.0)
    if s.shape == "i":
        return Cut.i(width=s.width or 0.0, height=s.height or 0.0, flange=s.flange or 0.0, web=s.web or 0.0)
    return Cut.general(area=s.area or 0.0, iy=s.iy or 0.0, iz=s.iz or 0.0, torsion=s.torsion)


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
    return values
