r"""The elastodynamic model before its loops are closed: for robots with many coordinates, where closing and solving are left to
linear algebra on numbers.

.. math:: M_z\ddot z + h = A_a^T\Gamma + A^T\lambda,\qquad A\ddot z + \gamma = 0
"""

from __future__ import annotations

import casadi as ca

from flexapod.equations.elastodynamics.assembly import platform_load, tree_terms
from flexapod.equations.elastodynamics.elastic_state import read_state, tree_motion
from flexapod.equations.elastodynamics.joint_forces import joint_forces
from flexapod.equations.elastodynamics.loops import loop_rows
from flexapod.equations.elastodynamics.statics import used_rows
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot


def elastic_terms(robot: Robot, friction: bool = False) -> Program:
    """The program: a closed state and `wrench` (6,) on the platform frame (world axes) in; `mass` (z, z), `forces` (z,) at zero
    accelerations, `rows` (m, z), `drift` (m,) out.

    Source: Briot 2014 Eqs. (9)-(33). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_terms")
    plan, values = robot.elastic_plan, Values(b)
    size, used = len(plan.columns), used_rows(plan)
    state = read_state(b, robot)
    wrench = b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform frame at its origin, world")
    motion = tree_motion(values, robot, state)
    h, M = tree_terms(b, values, robot, state, motion, ca.SX.zeros(size))
    h = h + joint_forces(values, robot, state, motion, friction) - platform_load(robot, motion, wrench)
    matrices, drifts, _ = loop_rows(values, robot, motion)
    A = ca.vertcat(ca.SX(0, size), *[matrices[i][k, :] for i, k in used])
    drift = ca.vertcat(ca.SX(0, 1), *[drifts[i][k] for i, k in used])
    b.output("mass", ca.densify(M), shape=(size, size), dims=("coordinate", "coordinate_"))
    b.output("forces", ca.densify(h), shape=(size,), dims=("coordinate",))
    b.output("rows", ca.densify(A), shape=(len(used), size), dims=("row", "coordinate"))
    b.output("drift", ca.densify(drift), shape=(len(used),), dims=("row",))
    return b
