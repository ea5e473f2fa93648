r"""Generalized forces of a leg with beams: the recursion of Briot 2014 section 3 on the tree of links.

A beam element demands a wrench at its root and generalized forces at its elastic coordinates (Eqs. 53-55); what hangs on
its tip reaches those coordinates through the links that they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from flexapod.equations.flexible_platform.generalized_newton_euler import FlexibleModel, flexible_model
from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.general_leg import along_joints
from flexapod.equations.virtual_power.inertia_wrench import Wrench, inertia_wrench
from flexapod.kernels.program import Program
from flexapod.robot.beams import BeamElement
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec
from flexapod.spatial.vector import zero

Elements = Mapping[str, tuple[BeamElement, Rot, FlexibleModel]]
"""By name: element, beam axes in the world, its model at the state."""


def beam_models(
    b: Program, values: Values, leg: Leg, beams: Sequence[BeamElement], q: Sequence[Any], qd: Sequence[Any],
    links: Sequence[FrameMotion], gravity: Vec,
) -> Elements:  # fmt: skip
    """Mass matrix and bias of every element of a leg, in beam axes.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68). Checked by: tests/equations/test_elastodynamics.py.
    """
    found = {}
    for beam in beams:
        frame = links[beam.root]
        R = frame.R.renamed("W", "B") @ values.rotation(f"{beam.name}.axes", "B", "E")
        e, ed = (ca.vertcat(*[column[leg.moving.index(i)] for i in beam.links]) for column in (q, qd))
        w, g = (R.T @ frame.w).expr, (R.T @ gravity).expr
        found[beam.name] = (beam, R, flexible_model(b, values.of(beam.name), beam.shape, e, ed, w, g))
    return found


def tree_wrenches(
    values: Values, leg: Leg, elements: Elements, links: Sequence[FrameMotion], qdd: Sequence[Any], gravity: Vec
) -> tuple[list[Wrench], dict[int, Any]]:
    """Per link, the wrench about its origin that its body or the elements rooted there demand; by elastic link, the force."""
    wrenches = []
    for link, frame in zip(leg.links, links, strict=True):
        own = FrameMotion(R=frame.R.renamed("W", "B"), p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)
        rigid = link.body is not None and link.body.flexible is None
        none = Wrench(f=zero("W"), n=zero("W"))
        wrenches.append(inertia_wrench(values, f"{link.coordinate}.body", own, gravity) if rigid else none)
    elastic: dict[int, Any] = {}
    for beam, R, model in elements.values():
        frame = links[beam.root]
        edd = ca.vertcat(*[qdd[leg.moving.index(i)] for i in beam.links])
        x = ca.mtimes(model.M, ca.vertcat((R.T @ frame.a).expr, (R.T @ frame.alpha).expr, edd)) + model.c
        wrenches[beam.root] = wrenches[beam.root] + Wrench(f=R @ Vec(x[:3], "E"), n=R @ Vec(x[3:6], "E"))
        elastic.update({i: x[6 + k] for k, i in enumerate(beam.links)})
    return wrenches, elastic


def elastic_tree_forces(
    values: Values, leg: Leg, elements: Elements, links: Sequence[FrameMotion], qdd: Sequence[Any], gravity: Vec
) -> Any:
    """Generalized forces (n,) that the leg's motion, weight and deformation demand at its coordinates.

    Source: Briot 2014 Eqs. (5)-(27). Checked by: tests/equations/test_elastodynamics.py.
    """
    wrenches, elastic = tree_wrenches(values, leg, elements, links, qdd, gravity)
    forces = along_joints(leg, links, wrenches)
    rotors = [values.scalar(f"{leg.links[i].coordinate}.rotor") for i in leg.moving]
    return ca.vertcat(*[forces[i] + elastic.get(i, 0) + rotors[k] * qdd[k] for k, i in enumerate(leg.moving)])
