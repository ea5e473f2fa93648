r"""Exact position closure of robots of limited mobility: dependent components are corrected after each step.

.. math:: r(X) = 0,\qquad G_d\,\delta_d = -r,\qquad V_d = -G_d^{-1} G_f V_f

r are the constraint rows that the closing plan keeps, d its dependent platform components, f the independent ones, which stay
as the integrator left them. Nothing is fed back into the equations of motion (no Baumgarte terms).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.jacobian import legs_at_pose, moving_frame
from flexapod.equations.values import Values
from flexapod.simulation.system.attitude import matrix, rotated
from flexapod.simulation.system.flexible_plant import flexible_jacobian
from flexapod.simulation.system.plant import Moment, is_general
from flexapod.simulation.system.scope import Scope
from flexapod.spatial.linear import solve
from flexapod.spatial.rotation import normalised

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.robot.robot import Robot

CLOSED = 1e-10
"""Last Newton step [m, rad] at which the projection stops; one more step squares it, below rounding."""


def closed(scope: Scope, robot: Robot, parts: dict[str, SX]) -> dict[str, SX]:
    """Pose (p, quat) and twist (v, w) brought onto the constraints, and the joint coordinates (joints) there.

    Checked by: tests/simulation/test_simulation_closure.py.
    """
    p, quat, v, w, joints = (parts[name] for name in ("p", "quat", "v", "w", "joints"))
    if not robot.plan.constraints:
        if is_general(robot):
            _, _, joints = _rows(scope, robot, p, quat, joints)
        return {"p": p, "quat": quat, "v": v, "w": w, "joints": joints}
    bound, free = list(robot.plan.platform_dependents), list(robot.plan.platform_independent)

    def pass_(b: Builder, p: SX, quat: SX, q: SX) -> tuple[list[SX], SX]:
        inner = Scope(scope.root, b)
        r, G, q = _rows(inner, robot, p, quat, q)
        delta = -solve(G[:, bound], r)
        step = ca.SX.zeros(6)
        for k, i in enumerate(bound):
            step[i] = delta[k]
        return [p + step[:3], normalised(rotated(step[3:], quat)), q], ca.mmax(ca.fabs(delta))

    (p, quat, joints), converged, _ = scope.iterate(pass_, start=[p, quat, joints], limit=20, tolerance=CLOSED)
    scope.fail_if(1 - converged, "the loops cannot be closed any more: the robot is at the edge of its workspace or singular")
    _, G, joints = _rows(scope.under("", solved=True), robot, p, quat, joints)
    V = ca.vertcat(v, w)
    dependent = -solve(G[:, bound], ca.mtimes(G[:, free], V[free]))
    twist = [V[i] for i in range(6)]
    for k, i in enumerate(bound):
        twist[i] = dependent[k]
    return {"p": p, "quat": quat, "v": ca.vertcat(*twist[:3]), "w": ca.vertcat(*twist[3:]), "joints": joints}


def _rows(scope: Scope, robot: Robot, p: SX, quat: SX, joints: SX) -> tuple[SX, SX, SX]:
    """Constraint rows that the plan keeps, their derivative, and the joint coordinates at a pose."""
    frame, twist = moving_frame(p, matrix(quat))
    legs = legs_at_pose(scope, robot, Values(scope), frame, twist, joints)
    kept = list(robot.plan.constraints)
    r = ca.vertcat(*[leg.residual for leg in legs])[kept]
    G = ca.densify(ca.vertcat(*[leg.constraint for leg in legs])[kept, :])
    return r, G, ca.vertcat(*[leg.q for leg in legs])


def determinant(scope: Scope, robot: Robot, moment: Moment) -> SX:
    """det [J; G], zero where the actuators lose control of the platform; of its square for redundant robots."""
    from flexapod.equations.forward_kinematics import determinant as of_rows

    if moment.e is not None:
        return of_rows(flexible_jacobian(scope, robot, moment))
    frame, twist = moving_frame(moment.p, moment.R)
    start = moment.joints if is_general(robot) else None
    legs = legs_at_pose(scope, robot, Values(scope), frame, twist, start)
    kept = list(robot.plan.constraints)
    rows = ca.vertcat(ca.vertcat(*[leg.jacobian for leg in legs]), ca.vertcat(*[leg.constraint for leg in legs])[kept, :])
    return of_rows(ca.densify(rows))
