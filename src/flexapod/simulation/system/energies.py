r"""Kinetic and potential energy, summed over bodies: independent of the mass matrix that the simulation uses.

.. math:: T = \sum \tfrac12 m v^2 + m\,v\cdot(\omega\times s) + \tfrac12\,\omega\cdot I\omega + \tfrac12 I_A\dot q^2,\qquad
          U = -\sum g\cdot(m\,p + R\,m s)

m, m s and I about the origin of each body's frame, so that regrouped base parameters are used as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.closing import close_leg
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.simulation.system.flexible_plant import platform_energies
from flexapod.simulation.system.plant import Moment, moved_leg
from flexapod.simulation.system.scope import Scope
from flexapod.spatial import Vec, cross, dot

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot


def energies(scope: Scope, robot: Robot, moment: Moment) -> tuple[SX, SX, SX]:
    """Kinetic energy, potential energy and strain energy [J] of the whole robot at a state.

    Checked by: tests/simulation/test_energy_balance.py.
    """
    values, at = Values(scope), 0
    g = values.vector("gravity", "W")
    strain = ca.SX(0)
    if moment.e is None:
        total = _body(values, "platform", moment.frame, g)
    else:
        kinetic, potential, strain = platform_energies(scope, robot, moment)
        total = (kinetic, potential)
    for i, leg in enumerate(robot.legs):
        own, form = values.of(f"legs.{leg.name}"), robot.closed_forms[i]
        if form is not None:
            motion = moved_leg(scope, own, robot, i, moment)
            frames = [("in_C.0", motion.cross), ("in_L.0", motion.leg)]
            if leg.architecture == "UPS":
                offset = motion.tip.point(Vec([0, 0, -own.scalar("tip")], "L"))
                frames.append(("in_L.1", _moved(motion.tip, offset.p, offset.v)))
            else:
                assert motion.carrier is not None
                frames.insert(0, ("carrier", motion.carrier))
            driven = next(link for link in leg.links if link.actuated)
            rotors = [(driven.coordinate, motion.actuator.qd)]
        else:
            start = [moment.joints[at + k] for k in range(len(leg.moving))]
            closed = close_leg(scope, own, leg, robot.plan.legs[i], moment.frame, start)
            frames = [(f"{link.coordinate}.body", frame) for link, frame in zip(leg.links, closed.links, strict=True)]
            rotors = [(leg.links[index].coordinate, closed.qd[k]) for k, index in enumerate(leg.moving)]
        parts = [_body(own, name, frame, g) for link, (name, frame) in zip(leg.links, frames, strict=True) if link.body]
        rotor = sum((own.scalar(f"{name}.rotor") * rate * rate / 2 for name, rate in rotors), ca.SX(0))
        total = (total[0] + sum((k for k, _ in parts), rotor), total[1] + sum((u for _, u in parts), ca.SX(0)))
        at += len(leg.moving)
    return (*total, strain)


def _moved(frame: FrameMotion, p: Vec, v: Vec) -> FrameMotion:
    return FrameMotion(R=frame.R, p=p, v=v, w=frame.w, a=frame.a, alpha=frame.alpha)


def _body(values: Values, name: str, frame: FrameMotion, g: Vec) -> tuple[SX, SX]:
    """Kinetic and potential energy of one body."""
    mass = values.scalar(f"{name}.mass")
    c = frame.R.expr @ values.vector(f"{name}.first_moment", "B").expr
    w_B = frame.R.expr.T @ frame.w.expr
    spin = ca.dot(w_B, ca.mtimes(tensor(values, f"{name}.inertia"), w_B))
    kinetic = mass * dot(frame.v, frame.v) / 2 + dot(frame.v, cross(frame.w, Vec(c, "W"))) + spin / 2
    return kinetic, -(mass * dot(g, frame.p) + ca.dot(g.expr, c))
