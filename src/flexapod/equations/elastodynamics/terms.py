r"""The elastodynamic model before its loops are closed: for robots with many coordinates, where closing and solving are left to
linear algebra on numbers.

.. math:: M_z\ddot z + h = A_a^T\Gamma + A^T\lambda,\qquad A\ddot z + \gamma = 0
"""

from __future__ import annotations

import casadi as ca

from flexapod.equations.elastodynamics.link_assembly import link_equation_at
from flexapod.equations.elastodynamics.program_state import robot_at
from flexapod.equations.elastodynamics.statics import used_rows
from flexapod.equations.platform_inputs import wrench_input
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot


def elastic_terms(robot: Robot, friction: bool = False) -> Program:
    """The program: a closed state and `wrench` (6,) on the platform frame (world axes) in; `mass` (z, z), `forces` (z,) at zero
    accelerations, `rows` (m, z), `drift` (m,) out.

    Source: Briot 2014 Eqs. (9)-(33). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_terms")
    plan = robot.elastic_plan
    size, used = len(plan.columns), used_rows(plan)
    at = robot_at(b, robot)
    wrench = wrench_input(b)
    q = link_equation_at(at, friction, wrench)
    A = ca.vertcat(ca.SX(0, size), *[q.A[i][k, :] for i, k in used])
    drift = ca.vertcat(ca.SX(0, 1), *[q.gamma[i][k] for i, k in used])
    b.output("mass", ca.densify(q.M), shape=(size, size), dims=("coordinate", "coordinate_"))
    b.output("forces", ca.densify(q.h), shape=(size,), dims=("coordinate",))
    if used:
        b.output("rows", ca.densify(A), shape=(len(used), size), dims=("row", "coordinate"))
        b.output("drift", ca.densify(drift), shape=(len(used),), dims=("row",))
    return b
