"""The structure of a robot: everything that is not a number. Robots of equal structure share their kernels."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from flexapod.robot.architecture import closes, reach
from flexapod.robot.beams import twisting_pairs
from flexapod.robot.link_plan import inner_constants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flexapod.robot.beams import ElasticElement
    from flexapod.robot.model import Closing, Leg, Link
    from flexapod.robot.robot import Robot


def structure(robot: Robot) -> str:
    """Hash of names, kinds and order of links, joints, points, plans and shapes: robots with equal structure share kernels."""
    legs = [
        {
            "name": leg.name,
            "architecture": _architecture(leg, plan.rows),
            "branch": leg.branch,
            "sign": form.sign if form else 0,
            "links": [
                (
                    *(k.coordinate, k.kind, k.parent, k.actuated, k.body.name if k.body else None),
                    *(_friction(k), *passive_force_kinds(k)),
                )
                for k in leg.links
            ],
            "closing": [(c.joint, c.type, c.link, _friction(c), *([c.to] if c.to else [])) for c in leg.closings],
        }
        for leg, form, plan in zip(robot.legs, robot.closed_forms, robot.plan.legs, strict=True)
    ]
    points = {key: sorted(b.points) for key, b in robot.bodies_by_name.items()}
    flexible = ""
    if robot.flexible_platform is not None:  # its legs in link axes have the constants of their inner frames written into them
        flexible = repr((robot.flexible_shape, [inner_constants(leg) for leg in robot.legs if reach(leg) != "general"]))
    beams = [repr([_element(e) for e in found]) for found in robot.beams.values()]
    elastic = repr(robot.elastic_plan) if robot.elastic_legs else ""
    forces: list[Any] = [(force.name, force.first.on, force.second.on) for force in robot.forces]
    forces += [(leg.name, c.name, [term[:2] for term in c.terms]) for leg in robot.legs for c in leg.couplings]
    text = json.dumps([legs, points, robot.planar, repr(robot.plan), flexible, beams, elastic, *forces], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _element(beam: ElasticElement) -> tuple[Any, ...]:
    """Structure of an element: what its equations depend on besides its numbers."""
    parts = (beam.name, beam.root, beam.links, beam.shape, beam.law)
    if beam.twisting is not None:
        return (*parts, twisting_pairs(beam))
    return parts if beam.quadratic is None else (*parts, beam.quadratic.columns, len(beam.quadratic.stretch))


def _architecture(leg: Leg, rows: Sequence[int]) -> str:
    """Architecture of a leg; a general one whose plan is solved in closed form names its reach."""
    reached = leg.architecture == "general" and closes(leg, rows)
    return f"general {reach(leg)}" if reached else leg.architecture


def passive_force_kinds(link: Link) -> tuple[bool, ...]:
    """Passive forces at the coordinate of a link: a spring, and where there are any a constant force and bump stops."""
    more = (link.preload != 0.0, link.stop > 0.0)
    return (link.spring, *more) if any(more) else (link.spring,)


def _friction(part: Link | Closing) -> tuple[str, str, bool] | None:
    f = part.friction
    return None if f is None else (f.normal_rule, f.direction, f.speed is not None)
