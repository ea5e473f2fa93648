r"""Direct elastodynamic model by articulated bodies: as many operations per element for long legs as for short ones.

Each leg is gone through three times: motion outwards, forms inwards (`articulated_form`), accelerations outwards. Multipliers of
the closing rows pass through as unknowns; what all legs and the platform say about them is one small system at the end:

.. math:: K_{yy}\,y + p = 0,\qquad y = (\text{platform}, -\lambda)

The mass matrix of a leg with n coordinates takes some n^2 operations and its elimination n^3; this takes n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.articulated_form import EliminatedUnknown, Form, Held, child_acceleration
from flexapod.equations.elastodynamics.bordered_solve import eliminate
from flexapod.equations.elastodynamics.link_beams import LinkBeam
from flexapod.equations.elastodynamics.link_motion import LinkMotion
from flexapod.equations.elastodynamics.link_tree import rigid_body, rigid_moment
from flexapod.equations.elastodynamics.program_state import LegAt
from flexapod.robot.model import Leg

PLACE = {"P": 2, "R": 5, "fixed": 0}


@dataclass(frozen=True, kw_only=True)
class LegForms:
    """Result of the pass inwards: pivots of every link's elements and of its joint, and the form of the unknowns."""

    elements: dict[int, list[EliminatedUnknown]]
    joints: dict[int, EliminatedUnknown]
    held: dict[int, Held]
    rest: Form


def leg_forms(
    at: LegAt, links: Sequence[LinkMotion], beams: Sequence[LinkBeam], forces: Mapping[int, SX],
    rows: Mapping[int, Mapping[int, SX]], known: Mapping[int, SX],
) -> LegForms:  # fmt: skip
    """The pass inwards.

    Args:
        forces: column -> force that acts against the coordinate besides inertia (springs, friction, less the actuator).
        known: column -> acceleration that is given.
        rows: link -> unknown of a closing row -> (6,) coefficients of the link's acceleration in it, link axes.

    Checked by: tests/equations/test_articulated.py.
    """
    leg, forms = at.leg, [Form() for _ in at.leg.links]
    elements: dict[int, list[EliminatedUnknown]] = {}
    joints: dict[int, EliminatedUnknown] = {}
    held: dict[int, Held] = {}
    rest = Form()
    column = {i: at.first + k for k, i in enumerate(leg.moving)}
    for i in reversed(range(len(leg.links))):
        link, form = leg.links[i], forms[i]
        if link.body is not None and link.body.flexible is None:
            own, now = rigid_body(at.values, leg, i), links[i]
            form.add_body(own.m, own.S, own.I, own.m * now.a + ca.mtimes(now.U, own.S), rigid_moment(own, now))
        for row, k in rows.get(i, {}).items():
            form.add_column(row, k)
            form.add_p(row, ca.SX(0))
        for element in beams:
            if element.beam.root == i:
                _add_element(form, element, [column[k] for k in element.beam.links])
                inwards = [column[k] for k in reversed(element.beam.links)]
                elements.setdefault(i, []).extend(form.eliminate(k) for k in inwards)
        unknown = column.get(i)
        moved = form.in_parent(links[i], unknown, PLACE[link.kind])
        if unknown is not None:
            moved.add_p(unknown, forces.get(unknown, ca.SX(0)))
            moved.add_entry(unknown, unknown, at.values.scalar(f"{link.coordinate}.rotor"))
            if unknown in known:
                held[i] = moved.hold(unknown, known[unknown])
            elif not link.elastic:
                joints[i] = moved.eliminate(unknown)
        if link.parent >= 0:
            forms[link.parent].join(moved)
        else:
            rest.join_unknowns(moved)
    return LegForms(elements=elements, joints=joints, held=held, rest=rest)


def _add_element(form: Form, e: LinkBeam, unknowns: Sequence[int]) -> None:
    """Add a beam element at its root; its coordinates came with the bodies on its tip."""
    form.add_body(e.m, e.S, e.I, e.f, e.n)
    for k, unknown in enumerate(unknowns):
        form.add_column(unknown, ca.vertcat(e.force[:, k], e.moment[:, k]))
        form.add_p(unknown, e.s[k])
        for other in range(k + 1):
            form.add_entry(unknown, unknowns[other], e.M[k, other])


def leg_accelerations(leg: Leg, links: Sequence[LinkMotion], forms: LegForms, first: int, x: dict[int, SX]) -> dict[int, SX]:
    """The pass outwards: fills in the accelerations of the leg's coordinates, given those of the other unknowns.

    Returns:
        Forces that hold the known coordinates, by column.
    """
    forces = {}
    column = {i: first + k for k, i in enumerate(leg.moving)}
    D: list[SX] = []
    for i, link in enumerate(leg.links):
        before = D[link.parent] if link.parent >= 0 else None
        if i in forms.joints:
            x[column[i]] = forms.joints[i].value(before, x)
        if i in forms.held:
            forces[column[i]] = forms.held[i].force(before, x)
        y = x[column[i]] if i in column else None
        D.append(child_acceleration(links[i], before, y, PLACE[link.kind]))
        for pivot in reversed(forms.elements.get(i, [])):
            x[pivot.unknown] = pivot.value(D[i], x)
    return forces


def solve_rest(forms: Sequence[Form], size: int, rows: Sequence[int], early: set[int]) -> dict[int, SX]:
    """Unknowns that no leg eliminates: platform and multipliers.

    Args:
        forms: of legs and platform.
        size: number of coordinates; unknowns from there on are rows.
        early: rows that may be pivots before the platform.
    """
    whole = Form()
    for form in forms:
        whole.join_unknowns(form)
    unknowns = sorted({*whole.p, *rows})
    place = {i: k for k, i in enumerate(unknowns)}
    entries = {(place[i], place[j]): value for (i, j), value in whole.entries.items()}
    right = [-whole.p[i] if i in whole.p else ca.SX(0) for i in unknowns]
    coordinates = {place[i] for i in unknowns if i < size}
    after = {place[i]: coordinates for i in rows if i not in early}
    found = eliminate(entries, right, after)
    return {i: found[place[i]] for i in unknowns}
