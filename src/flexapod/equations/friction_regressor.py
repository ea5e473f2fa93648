r"""Friction as a matrix times coefficients, at given loads of the joints (Kim & Ryu 2002, Eqs. 29-32).

.. math:: \Gamma_f = Y_f(\text{motion}, y)\,\kappa,\qquad \kappa = (c, F_s, \tau_b/p, \mu)\text{ of every joint with friction}

Letters: y loads of the joints (normal force of a guide, reaction force of a bearing), kappa friction coefficients. With y
found by `joint_loads` the product is the friction that Newton-Euler adds; y depends on kappa, so that an estimate is iterated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.friction_coupling import against_friction, friction_loads, solve_friction
from flexapod.equations.newton_euler.friction_points import FrictionPoint, PointFriction
from flexapod.equations.newton_euler.inverse_dynamics import Setting, loads, set_up
from flexapod.equations.newton_euler.leg import LegForces
from flexapod.errors import InputError
from flexapod.kernels.tape.program import Program
from flexapod.robot.model import Closing, Link
from flexapod.robot.robot import Robot

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder


def friction_columns(robot: Robot) -> list[str]:
    """Names of the friction coefficients that the file gives (not zero): ``legs.A.rail.friction.viscous``, ..."""
    result: list[str] = []
    for leg in robot.legs:
        parts: list[Link | Closing] = [*leg.links, leg.closing]
        for part in parts:
            result += [f"legs.{leg.name}.{part.joint}.friction.{law}" for law in part.friction.given()] if part.friction else []
    return list(dict.fromkeys(result))


def friction_regressor(robot: Robot, columns: tuple[str, ...]) -> Program:
    """The program: `regressor` (actuators, coefficients) at the loads `load` (places,) [N].

    Args:
        columns: names of coefficients, as `friction_columns` lists them.

    Checked by: tests/identification/test_regressor.py.
    """
    b = Program("friction_regressor")
    setting = set_up(b, robot, "exact", True, True)
    mechanism, points = setting.mechanism, setting.points
    load = b.input(
        "load", (count_places(setting),), unit="N", doc="normal or reaction force per place, as joint_loads gives them"
    )
    inner = [p for p in points if setting.open.redundant > 0 or not p.driven]
    found = dict(zip(map(id, points), _friction_of(points, load), strict=True))
    forces: list[LegForces] = mechanism.forces(friction_loads(mechanism, inner, [found[id(p)] for p in inner]))
    for point in points:
        if point not in inner:
            forces[point.leg] = against_friction(point, forces[point.leg], found[id(point)])
    force = ca.vertcat(*[x for leg in forces for x in leg.actuators])
    kappa = ca.vertcat(*[b.parameter(name) for name in columns])

    def direction(_: Builder, seed: SX) -> tuple[SX]:
        return (ca.densify(ca.jtimes(force, kappa, seed)),)

    (Y,) = b.map(direction, len(columns), each=[ca.SX.eye(len(columns))], unroll=False)
    b.output("regressor", Y, shape=(len(robot.actuators), len(columns)), dims=("actuator", "parameter"))
    return b


def joint_loads(robot: Robot) -> Program:
    """The program: `load` (places,) [N] of every joint with friction, friction and reactions solved together.

    Checked by: tests/identification/test_regressor.py.
    """
    b = Program("joint_loads")
    setting = set_up(b, robot, "exact", True, True)
    if not count_places(setting):
        raise InputError(f"joint_loads: no friction of {robot.name} depends on the load of its joint")
    base = loads(setting, gravity=True, platform=True, legs=True, drives=True, applied=True)
    solution = solve_friction(b, setting.mechanism, base, setting.points, setting.open.redundant > 0)
    found = [load for p in setting.points for load in p.loads(solution.forces[p.leg])]
    b.output("load", ca.vertcat(*found), shape=(len(found),), unit="N", dims=("place",))
    return b


def count_places(setting: Setting) -> int:
    """Loads that the friction of a robot reads."""
    return sum(len(p.places) for p in setting.points)


def _friction_of(points: list[FrictionPoint], load: SX) -> list[PointFriction]:
    result, at = [], 0
    for point in points:
        result.append(point.friction_at([load[at + k] for k in range(len(point.places))]))
        at += len(point.places)
    return result
