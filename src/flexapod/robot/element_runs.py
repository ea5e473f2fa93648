"""Runs of equal beam elements one behind the other, which a kernel can evaluate in a loop.

Elements are alike where they have the same links, moments and law of forces; their numbers may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flexapod.robot.model import Leg, RigidBody

if TYPE_CHECKING:
    from flexapod.robot.beams import ElasticElement
    from flexapod.robot.robot import Robot

SHORTEST = 3
"""Elements from which a loop is worth it."""
FEW = 3
"""Runs that are alike up to which each has a loop of its own over elements with the same numbers; more share one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ElementRun:
    """Elements of one leg, from the base outwards; each begins at the tip of the one before.

    shared: all have the numbers of the first one.
    """

    leg: Leg
    elements: tuple[ElasticElement, ...]
    shared: bool = False

    @property
    def links(self) -> range:
        """All its links."""
        return range(self.elements[0].links[0], self.elements[-1].links[-1] + 1)

    @property
    def size(self) -> int:
        """Coordinates of one element."""
        return len(self.elements[0].links)

    @property
    def first(self) -> int:
        """Place of its first coordinate among those of its leg."""
        return self.leg.moving.index(self.elements[0].links[0])


def element_runs(robot: Robot) -> list[ElementRun]:
    """All runs of a robot, leg by leg; empty where its equations cannot be written with them.

    Couplings, force elements between bodies, and flexible bodies other than beams are written out.

    Found once and kept with the robot. Checked by: tests/robot/test_element_runs.py.
    """
    if "element runs" not in robot.kept:
        robot.kept["element runs"] = _element_runs(robot)
    found: list[ElementRun] = robot.kept["element runs"]
    return found


def _element_runs(robot: Robot) -> list[ElementRun]:
    if robot.forces or any(leg.couplings for leg in robot.legs):
        return []
    result = []
    met = met_links(robot)
    first = {own[0] for own in alike_legs(robot)}
    for i, leg in enumerate(robot.legs):
        beams = robot.beams.get(leg.name, ())
        if any(beam.rooted is not None or beam.basis is not None or not _is_chain(leg, beam) for beam in beams):
            return []
        parts = [part for part in _parts(leg, beams, met[i]) if len(part) >= SHORTEST]
        result += [ElementRun(leg=leg, elements=tuple(part)) for part in parts]
    count = Counter(kind(run.leg, run.elements[0]) for run in result if robot.legs.index(run.leg) in first)
    return [_uniform(run) if count[kind(run.leg, run.elements[0])] <= FEW else run for run in result]


def _uniform(run: ElementRun) -> ElementRun:
    """The elements to which a beam of one section gives the same numbers; the first one of a curved beam is placed otherwise."""
    body = next(link.body for link in run.leg.links[run.elements[0].root :: -1] if link.body is not None)
    spec, begins = body.flexible, run.elements[0].name == f"{body.name}.beam1"
    if spec is None or spec.tip_section is not None or not begins or len(run.elements) <= SHORTEST:
        return run
    return ElementRun(leg=run.leg, elements=run.elements[1:] if spec.bend else run.elements, shared=True)


def alike_legs(robot: Robot) -> list[list[int]]:
    """Numbers of the legs, those with the same links, names, bodies and cut links together: a loop can go through them."""
    groups: dict[object, list[int]] = {}
    met = met_links(robot)
    for i, leg in enumerate(robot.legs):
        links = [(link.coordinate, link.kind, link.parent, link.spring, _body_key(link.body)) for link in leg.links]
        beams = [(beam.name, beam.links, beam.root, kind(leg, beam)) for beam in robot.beams.get(leg.name, ())]
        groups.setdefault((tuple(links), tuple(beams), frozenset(met[i])), []).append(i)
    return list(groups.values())


def _body_key(body: RigidBody | None) -> object:
    """Key that bodies of legs that are alike share."""
    return None if body is None else (body.name, body.flexible is None)


def met_links(robot: Robot) -> list[set[int]]:
    """Per leg, the links that carry half of a joint at which a loop is cut."""
    result: list[set[int]] = [{closing.link for closing in leg.closings} for leg in robot.legs]
    for leg in robot.legs:
        for closing in leg.closings:
            if closing.to is not None:
                result[closing.to[0]].add(closing.to[1])
    return result


def kind(leg: Leg, beam: ElasticElement) -> tuple[object, ...]:
    """Key that elements that are alike share."""
    kinds = tuple(leg.links[i].kind for i in beam.links)
    return kinds, tuple(beam.body.names), beam.shape, beam.law, beam.foreshortening is None, beam.twisting is None


def _parts(leg: Leg, beams: Sequence[ElasticElement], met: set[int]) -> list[list[ElasticElement]]:
    """The elements of a leg, those alike that follow each other together; a joint between two of them parts them."""
    result: list[list[ElasticElement]] = []
    for beam in beams:
        before = result[-1][-1] if result else None
        follows = before is not None and beam.root == before.links[-1] and kind(leg, beam) == kind(leg, before)
        if follows and _bare(leg, result[-1][-1], met):
            result[-1].append(beam)
        else:
            result.append([beam])
    return result


def _bare(leg: Leg, beam: ElasticElement, met: set[int]) -> bool:
    """Whether nothing but the next element hangs on an element."""
    own = set(beam.links)
    if own & met:
        return False
    hanging = [k for k, link in enumerate(leg.links) if link.parent in own and k not in own]
    return len(hanging) == 1


def _is_chain(leg: Leg, beam: ElasticElement) -> bool:
    """The links of an element follow each other, and carry neither bodies nor springs."""
    parents = [leg.links[i].parent for i in beam.links]
    plain = all(leg.links[i].body is None and not leg.links[i].spring for i in beam.links)
    in_order = list(beam.links) == list(range(beam.links[0], beam.links[-1] + 1))
    return plain and in_order and parents == [beam.root, *beam.links[:-1]]
