r"""Friction by joint loads of flexible robots, in simulations.

Unknown are the loads y of the joints with friction. Friction Q(y) along the coordinates changes the accelerations, these and the
friction change what the loops bear, and that is what the joints carry:

.. math:: \ddot u = M^{-1}N^T(S\Gamma - h + Q),\qquad A_b^T\lambda = (M_z\ddot z + h - Q - S\Gamma)_b,\qquad
          y = Y(\ddot z, \lambda, Q)

The fixed point is found at every evaluation, as `load_friction` does for rigid robots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from flexapod.equations.elastodynamics.joint_forces import friction_force, leg_views, sliding_points
from flexapod.equations.elastodynamics.loops import all_coordinates, loop_multipliers
from flexapod.equations.elastodynamics.program_state import RobotAt
from flexapod.equations.elastodynamics.projection import projected_mass
from flexapod.equations.elastodynamics.reactions import next_loads
from flexapod.equations.newton_euler.fixed_point import CONVERGED, LIMIT, fixed_point
from flexapod.equations.newton_euler.friction_points import PointFriction
from flexapod.equations.values import Values
from flexapod.robot.elastic_plan import driven_columns
from flexapod.simulation.system.independent import acting, completed, projected
from flexapod.simulation.system.scope import Scope
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.simulation.system.independent import Action, CarriedLoops, IndependentLayout


COUPLING = "the coupling of friction and acceleration does not converge"


def loaded_friction(scope: Scope, layout: IndependentLayout, at: CarriedLoops, now: Action, M: SX, signals: dict[str, SX]) -> SX:
    """Friction (z,) along the coordinates, with the loads that belong to it.

    Args:
        at: the closed state; now: what acts there without friction, at zero accelerations of the unknowns.
        M: (u, u) mass matrix of the independent coordinates.

    Source: Kim 2002 Eqs. (30)-(32), on the tree of Briot 2014. Checked by: tests/simulation/test_loaded_joints.py.
    """
    robot, values, q, unknown = layout.robot, Values(scope.root), now.equation, layout.unknown
    points = sliding_points(values, robot, leg_views(values, robot, at.state, at.motion, guides=True), layout.sliding)
    counts = [len(point.places) for point in points]
    inverse = solve_symmetric(M[unknown, unknown], ca.SX.eye(len(unknown)))
    start, driving = ca.mtimes(inverse, (now.driving - now.felt)[unknown, :]), ca.SX.zeros(len(robot.elastic_plan.columns))
    if not layout.follows:  # actuators that follow are independent coordinates
        driving[driven_columns(robot)] = now.force

    def found(y: SX) -> list[PointFriction]:
        parts = ca.vertsplit(y, [0, *np.cumsum(counts).tolist()])
        return [p.friction_at([part[k] for k in range(part.numel())]) for p, part in zip(points, parts, strict=True)]

    def along(friction: list[PointFriction]) -> SX:
        return friction_force(values, robot, at.motion, points, friction)

    def loads_of(builder: Builder, y: SX) -> SX:
        friction = found(y)
        Q = along(friction)
        second = completed(layout, start + ca.mtimes(inverse, projected(robot, now.X, Q)[unknown, :]), signals, 2)
        zdd = all_coordinates(robot, second, ca.mtimes(now.X, second) + now.beta)
        rest = ca.mtimes(q.M, zdd) + q.h - Q - driving
        multiplier = loop_multipliers(robot.elastic_plan, q.A, rest[list(robot.elastic_plan.bound)])
        inner, wrench = Scope(scope.root, builder), signals.get("wrench", ca.SX.zeros(6))
        place = RobotAt(b=inner, values=values, robot=robot, state=at.state)  # type: ignore[arg-type]
        return next_loads(place, zdd, multiplier, points, friction, wrench)

    y, converged = fixed_point(scope.builder, loads_of, sum(counts), limit=LIMIT, tolerance=CONVERGED)
    scope.fail_if(1 - converged, COUPLING)
    return along(found(y))


def acting_freely(
    scope: Scope, layout: IndependentLayout, parts: dict[str, SX], at: CarriedLoops, z: SX, column: SX
) -> tuple[Action, SX]:
    """Forces at zero accelerations of the unknowns, friction by joint loads included, and the mass matrix (u, u)."""
    plan, none = layout.robot.elastic_plan, ca.SX.zeros(len(layout.unknown))
    now = acting(scope, layout, parts, at, none, z, column=column)
    M = projected_mass(now.equation.M, now.X, plan.independent, plan.bound)
    if layout.friction == "load":
        loaded = loaded_friction(scope, layout, at, now, M, layout.at_node(column))
        now = acting(scope, layout, parts, at, none, z, column=column, loaded=loaded)
    return now, M
