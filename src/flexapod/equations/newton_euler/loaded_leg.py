"""A leg whose joints have friction by their loads: its friction, the forces that load it, and the maps between them.

Letters: y loads of the leg's points with friction (places,), in the order of points and places.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.friction_points import FrictionPoint, PointFriction
from flexapod.equations.newton_euler.leg import LegForces, LegLoads

if TYPE_CHECKING:
    from flexapod.equations.newton_euler.leg import LegModel


def by_leg(points: Sequence[FrictionPoint]) -> list[list[FrictionPoint]]:
    """The points of every leg that has some, in their order."""
    return [list(group) for _, group in groupby(points, key=lambda p: p.leg)]


def affine(expression: SX, x: SX) -> tuple[SX, SX]:
    """Value at x = 0 and columns of an expression that is affine in symbols x."""
    return ca.substitute(expression, x, ca.SX.zeros(x.numel())), ca.jacobian(expression, x)


def friction_of(points: Sequence[FrictionPoint], y: SX) -> list[PointFriction]:
    """Friction of points for their loads (places,)."""
    rest = iter(ca.vertsplit(y))
    return [point.friction_at([next(rest) for _ in point.places]) for point in points]


def with_friction(leg: LegModel, load: LegLoads, points: Sequence[FrictionPoint], y: SX) -> LegLoads:
    """Loads of a leg with the friction of its points."""
    axial, closing = list(load.axial), load.closing
    for found in friction_of(points, y):
        closing = closing + found.closing
        for i, value in found.axial.items():
            axial[i] = axial[i] + value
    return LegLoads(bodies=load.bodies, axial=tuple(axial), closing=closing)


def forces_at(points: Sequence[FrictionPoint], forces: LegForces) -> SX:
    """Components of forces (m,) that load the points of a leg."""
    return ca.vertcat(*[point.components(place, forces.joints[place].force) for point in points for place in point.places])


def loads_of(points: Sequence[FrictionPoint], forces: SX) -> tuple[SX, SX, SX]:
    """Loads, weights and weighted slopes of a leg's points under `forces_at`, as `LegLoading` has them."""
    places = [point for point in points for _ in point.places]
    loads, weights, slopes, at = [], [], ca.SX(len(places), forces.numel()), 0
    for k, point in enumerate(places):
        n = 2 if point.source == "prismatic" else 3
        load, weight, slopes[k, at : at + n] = point.sloped_load(forces[at : at + n])
        loads.append(load)
        weights.append(weight)
        at += n
    return ca.vertcat(*loads), ca.vertcat(*weights), slopes
