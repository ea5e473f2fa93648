"""Inverse dynamics body by body: actuator forces and every joint reaction (Kim & Ryu 2002, Eqs. 4-32)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.equations.newton_euler.leg import LegLoads, rotor_loads
from flexapod.equations.newton_euler.mechanism import Loads, Mechanism
from flexapod.equations.newton_euler.names import reaction_names
from flexapod.equations.newton_euler.platform_system import AxialSystem
from flexapod.equations.newton_euler.reactions import leg_reactions, no_friction
from flexapod.equations.newton_euler.universal_leg import UniversalLeg
from flexapod.equations.newton_euler.universal_motion import Spin
from flexapod.equations.newton_euler.wrench import Wrench, body_wrench, none
from flexapod.equations.platform_motion import platform_motion
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec


def newton_euler(robot: Robot, *, friction: bool = True, spin: Spin = "exact") -> Program:
    """Temporary first version."""
    b = Program("newton_euler")
    platform = platform_motion(b)
    applied = b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform at its frame origin, world axes")
    values = Values(b)
    gravity = values.vector("gravity", "W")
    models = []
    for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
        models.append(UniversalLeg(b, values.of(f"legs.{leg.name}"), leg, form.sign, platform, spin))
    mech = Mechanism(legs=tuple(models), origin=platform.p, system=AxialSystem(b, models, platform.p, values.scalar("characteristic_length")))
    ext = Wrench(force=Vec(applied[:3], "W"), moment=Vec(applied[3:], "W"))
    legs = tuple(
        LegLoads(bodies=m.body_loads(gravity, True), axial=rotor_loads(m, values.of(f"legs.{m.leg.name}")), closing=none()) for m in models
    )
    loads = Loads(platform=body_wrench(values.of("platform"), platform, gravity) - ext, legs=legs)
    forces = mech.forces(loads)
    reactions = [w for m, f in zip(models, forces) for w in leg_reactions(m, values.of(f"legs.{m.leg.name}"), f, no_friction(m))]
    b.output("force", ca.vertcat(*[x for f in forces for x in f.actuators]), shape=(len(robot.actuators),), dims=("actuator",))
    for name, key in (("reaction_force", "force"), ("reaction_moment", "moment")):
        b.output(name, ca.vertcat(*[getattr(w, key).expr.T for w in reactions]), shape=(len(reactions), 3), dims=("joint", "axis"))
    return b
