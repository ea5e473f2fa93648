r"""Friction that depends on reactions that depend on friction, solved inside the kernel.

.. math:: y = Y(F(f(y)))

y are the loads (normal forces of guides, reaction forces of bearings), f the friction they cause, F the joint wrenches
with that friction: affine in y, so that `coupled_loads` solves with a few numbers per leg. Friction along an
actuated coordinate reaches nothing but its actuator, so it stays outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.coupled_loads import LegLoading, coupled_loads
from flexapod.equations.newton_euler.friction_points import FrictionPoint, PointFriction
from flexapod.equations.newton_euler.leg import LegForces, LegLoads
from flexapod.equations.newton_euler.loaded_leg import affine, by_leg, forces_at, friction_of, loads_of, with_friction
from flexapod.equations.newton_euler.mechanism import Loads, Mechanism, unloaded
from flexapod.equations.newton_euler.wrench import Wrench, none
from flexapod.kernels.tape.roles import Iterates
from flexapod.spatial import Vec

if TYPE_CHECKING:
    from flexapod.equations.elastodynamics.joint_forces import LegView
    from flexapod.equations.newton_euler.leg import LegModel


@dataclass(frozen=True, kw_only=True)
class FrictionSolution:
    """Forces with friction.

    Args:
        forces: per leg; actuator forces with friction.
        friction: of every point.
    """

    forces: list[LegForces]
    friction: list[PointFriction]


def solve_friction(
    b: Iterates, mechanism: Mechanism, base: Loads, points: Sequence[FrictionPoint], redundant: bool
) -> FrictionSolution:
    """Forces of a robot with friction.

    Args:
        base: all other loads.
        redundant: more actuators than degrees of freedom: friction at actuators then changes how they share.

    Source: Kim 2002 Eqs. (29)-(32), coupling solved. Checked by: tests/equations/test_friction.py.
    """
    inner = [p for p in points if redundant or not p.driven]
    outer = [p for p in points if p not in inner]
    of_points: dict[int, PointFriction] = {}
    loads = base
    if inner:
        legs = by_leg(inner)
        y, _, converged = coupled_loads(b, *_coupling(mechanism, base, legs))
        b.fail_if(
            1 - converged,
            "friction and joint reactions do not converge: the friction coefficients are so large that joints are self-locking",
        )
        found = [one for own, y_i in zip(legs, y, strict=True) for one in friction_of(own, y_i)]
        of_points.update(zip([points.index(p) for p in inner], found, strict=True))
        loads = base + friction_loads(mechanism, inner, found)
    forces = mechanism.forces(loads)
    for point in outer:
        found_one = point.friction_at(point.loads(forces[point.leg]))
        of_points[points.index(point)] = found_one
        forces[point.leg] = against_friction(point, forces[point.leg], found_one)
    return FrictionSolution(forces=forces, friction=[of_points[i] for i in range(len(points))])


def _coupling(mechanism: Mechanism, base: Loads, legs: Sequence[Sequence[FrictionPoint]]) -> tuple[None, SX, list[LegLoading]]:
    """Loads at a motion: z are the unknowns of all legs, as they are without friction by loads, and their change with loads."""
    missing, loaded, columns, at = base.platform, [], [], [0]
    for leg in mechanism.legs:
        at.append(at[-1] + len(leg.columns()))
    chosen = {points[0].leg: points for points in legs}
    for number, (leg, load) in enumerate(zip(mechanism.legs, base.legs, strict=True)):
        arm = leg.closing.centre - mechanism.origin
        if number not in chosen:
            missing = missing - leg.particular(load).seen_from(arm)
            continue
        points = chosen[number]
        y, x = ca.SX.sym("y", sum(len(p.places) for p in points)), ca.SX.sym("x", at[number + 1] - at[number])
        braked = with_friction(leg, load, points, y)
        wrench, forces = leg.particular(braked).seen_from(arm).column, leg.finish(braked, ca.vertsplit(x))
        none_yet, per_load = affine(wrench, y)
        missing = missing - Wrench(force=Vec(none_yet[:3], "W"), moment=Vec(none_yet[3:], "W"))
        loaded.append((points, x, forces_at(points, forces), y))
        columns.append(per_load)
    inverse = mechanism.system.inverse
    result = []
    for (points, x, force, y), B in zip(loaded, columns, strict=True):
        P, per = affine(force, ca.vertcat(y, x))
        K = ca.SX(P.numel(), at[-1])
        K[:, at[points[0].leg] : at[points[0].leg + 1]] = per[:, y.numel() :]
        loads = partial(loads_of, points)
        result.append(LegLoading(B=ca.mtimes(inverse, B), P=P, L=per[:, : y.numel()], K=K, loads=loads))
    return None, ca.vertcat(*[x for leg in mechanism.system.solve(missing) for x in leg]), result


def friction_loads(mechanism: Mechanism, points: Sequence[FrictionPoint], friction: Sequence[PointFriction]) -> Loads:
    """Friction as loads of the robot."""
    result = unloaded(mechanism.legs)
    legs = list(result.legs)
    for point, found in zip(points, friction, strict=True):
        leg = legs[point.leg]
        axial = tuple(value + found.axial.get(i, 0) for i, value in enumerate(leg.axial))
        legs[point.leg] = LegLoads(bodies=leg.bodies, axial=axial, closing=leg.closing + found.closing)
    return Loads(platform=result.platform, legs=tuple(legs))


def against_friction(point: FrictionPoint, forces: LegForces, friction: PointFriction) -> LegForces:
    """Friction along an actuated coordinate, added to its actuator."""
    links = point.model.leg.links
    driven = [i for i, link in enumerate(links) if link.actuated]
    actuators = tuple(f - friction.axial.get(i, 0) for i, f in zip(driven, forces.actuators, strict=True))
    return replace(forces, actuators=actuators)


def joint_friction(
    legs: Sequence[LegModel | LegView], points: Sequence[FrictionPoint], friction: Sequence[PointFriction], what: str
) -> list[list[Wrench]]:
    """Per leg and joint (links, closing) the friction that is `shown` or `carried` there."""
    result = [[none()] * (len(leg.joints) + 1) for leg in legs]
    for point, found in zip(points, friction, strict=True):
        for index, wrench in getattr(found, what).items():
            result[point.leg][index] = result[point.leg][index] + wrench
    return result
