r"""Generalized forces of a leg with beams: the recursion of Briot 2014 section 3 on the tree of links.

A beam element demands a wrench at its root and generalized forces at its elastic coordinates (Eqs. 53-55); what hangs on
its tip reaches those coordinates through the links that they are.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.equations.closing import ClosedLeg
from flexapod.equations.flexible_platform.generalized_newton_euler import flexible_model
from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.general_leg import along_joints
from flexapod.equations.virtual_power.inertia_wrench import Wrench, inertia_wrench
from flexapod.kernels.program import Program
from flexapod.robot.beams import BeamElement
from flexapod.robot.model import Leg
from flexapod.spatial import Vec
from flexapod.spatial.vector import zero


def elastic_tree_forces(
    b: Program, values: Values, leg: Leg, beams: tuple[BeamElement, ...], closed: ClosedLeg, gravity: Vec
) -> Any:
    """Generalized forces (n,) that the leg's motion, weight and deformation demand at its coordinates.

    Source: Briot 2014 Eqs. (5)-(27). Checked by: tests/equations/test_elastodynamics.py.
    """
    links, wrenches = closed.links, []
    for link, frame in zip(leg.links, links, strict=True):
        own = FrameMotion(R=frame.R.renamed("W", "B"), p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)
        rigid = link.body is not None and link.body.flexible is None
        none = Wrench(f=zero("W"), n=zero("W"))
        wrenches.append(inertia_wrench(values, f"{link.coordinate}.body", own, gravity) if rigid else none)
    elastic: dict[int, Any] = {}
    for beam in beams:
        wrench, forces = beam_forces(b, values, leg, beam, closed, gravity)
        wrenches[beam.root] = wrenches[beam.root] + wrench
        elastic.update({i: forces[k] for k, i in enumerate(beam.links)})
    forces = along_joints(leg, links, wrenches)
    rotors = [values.scalar(f"{leg.links[i].coordinate}.rotor") for i in leg.moving]
    return ca.vertcat(*[forces[i] + elastic.get(i, 0) + rotors[k] * closed.qdd[k] for k, i in enumerate(leg.moving)])


def beam_forces(b: Program, values: Values, leg: Leg, beam: BeamElement, closed: ClosedLeg, gravity: Vec) -> tuple[Wrench, Any]:
    """Wrench at the root (world axes) and forces at the elastic coordinates of one element.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68).
    """
    frame = closed.links[beam.root]
    R = frame.R.renamed("W", "B") @ values.rotation(f"{beam.name}.axes", "B", "E")
    where = [leg.moving.index(i) for i in beam.links]
    e, ed, edd = (ca.vertcat(*[column[k] for k in where]) for column in (closed.q, closed.qd, closed.qdd))
    model = flexible_model(b, values.of(beam.name), beam.shape, e, ed, (R.T @ frame.w).expr, (R.T @ gravity).expr)
    x = ca.mtimes(model.M, ca.vertcat((R.T @ frame.a).expr, (R.T @ frame.alpha).expr, edd)) + model.c
    return Wrench(f=R @ Vec(x[:3], "E"), n=R @ Vec(x[3:6], "E")), x[6:]
