r"""A general leg: generalized forces of its tree by recursion, projected to the platform by its closing Jacobian.

.. math:: h_i = A_i\ddot q_i + c_i,\qquad F_i = \left(\frac{\partial \dot q_i}{\partial V}\right)^{T} h_i
          \qquad\text{(Briot 2014, Eqs. 9, 23-27, 41-44)}
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import Wrench, inertia_wrench, none
from flexapod.robot.model import Leg
from flexapod.spatial import Vec, dot


def tree_forces(values: Values, leg: Leg, links: Sequence[FrameMotion], qdd: Sequence[SX], gravity: Vec) -> SX:
    """Generalized forces (n,) that the leg's motion demands at its coordinates, cut from the platform.

    Source: Briot 2014 Eqs. (9), (27). Checked by: tests/equations/test_formulations_agree.py.
    """
    wrenches = []
    for link, frame in zip(leg.links, links, strict=True):
        own = FrameMotion(R=frame.R.renamed("W", "B"), p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)
        wrenches.append(inertia_wrench(values, f"{link.coordinate}.body", own, gravity) if link.body else none())
    rotors = [values.scalar(f"{leg.links[i].coordinate}.rotor") for i in leg.moving]
    forces = along_joints(leg, links, wrenches)
    return ca.vertcat(*[forces[i] + rotors[k] * qdd[k] for k, i in enumerate(leg.moving)])


def along_joints(leg: Leg, links: Sequence[FrameMotion], wrenches: list[Wrench]) -> dict[int, SX]:
    """Wrenches on the links summed from the tips inwards, and their component along every joint that moves."""
    forces: dict[int, SX] = {}
    for i in reversed(range(len(leg.links))):
        link, frame = leg.links[i], links[i]
        axis = frame.R.column(2)
        if link.kind != "fixed":
            forces[i] = dot(axis, wrenches[i].moment if link.kind == "R" else wrenches[i].force)
        if link.parent >= 0:
            arm = frame.p - links[link.parent].p
            wrenches[link.parent] = wrenches[link.parent] + wrenches[i].seen_from(arm)
    return forces
