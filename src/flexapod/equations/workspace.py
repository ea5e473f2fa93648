r"""Quantities of a pose for the workspace: actuator coordinates, joint angles, condition number, distances to singular poses.

One kernel for a map of many poses. With S = diag(L, L, L, 1, 1, 1), N an orthonormal basis of the twists that the constraints
allow, and rows of length 1 marked by a hat:

.. math:: \kappa = \frac{\sigma_{max}(J S N)}{\sigma_{min}(J S N)},\qquad
          d_2 = \sigma_{min}\left(\widehat{\begin{bmatrix} J\\ G\end{bmatrix} S}\right)
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.deflections import deflections, swivels
from flexapod.equations.jacobian import legs_at_pose, moving_frame, without_angles
from flexapod.equations.platform_inputs import guess_input, pose_inputs
from flexapod.equations.singular_values import extremes, singular_values
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve

LARGEST = 1e17
"""Condition numbers end here: beyond, the smallest singular value is rounding."""
IDLE = 1e-60
"""Square of the length of a row below which it is zero and stays so: that of an actuator which does not move the platform."""


def workspace(robot: Robot, joints: bool = False) -> Program:
    """The program.

    Inputs the pose, for general legs `guess`. Outputs `actuator_position`, `deflection` of every passive joint that bends,
    `type_1` per leg, `type_2`, `condition_number`, for limited mobility the `constraint` rows, with `joints` also
    `joint_position`.

    Checked by: tests/analysis/test_workspace.py.
    """
    b = Program("workspace")
    position, rotation = pose_inputs(b)
    guess = guess_input(b, robot)
    length = b.parameter("characteristic_length", unit="m")
    frame, twist = moving_frame(position, rotation)
    values = Values(b)
    legs = legs_at_pose(b if joints else without_angles(b), robot, values, frame, twist, guess)
    J, G = ca.vertcat(*[leg.jacobian for leg in legs]), ca.vertcat(*[leg.constraint for leg in legs])
    kept = list(robot.plan.constraints)
    scale = ca.diag(ca.vertcat(*[length] * 3, 1, 1, 1))
    J, kept_G = ca.densify(J) @ scale, ca.densify(G)[kept, :] @ scale
    b.output("actuator_position", ca.vertcat(*[leg.actuators for leg in legs]), shape=(len(robot.actuators),), dims=("actuator",))
    deflected = swivels(robot)
    if deflected:
        b.output(
            "deflection",
            deflections(robot, values, frame, [leg.q for leg in legs]),
            shape=(len(deflected),),
            unit="rad",
            dims=("swivel",),
        )
    b.output("type_1", ca.vertcat(*[leg.margin for leg in legs]), shape=(len(legs),), dims=("leg",))
    b.output("type_2", _finite(_type_2(b, ca.vertcat(J, kept_G)), 0), shape=())
    b.output("condition_number", _finite(_condition(b, robot, J, kept_G, length), LARGEST), shape=())
    if G.shape[0]:
        b.output("constraint", ca.vertcat(*[leg.residual for leg in legs]), shape=(G.shape[0],), dims=("constraint_row",))
    if joints:
        b.output("joint_position", ca.vertcat(*[leg.q for leg in legs]), shape=(len(robot.coordinates),), dims=("joint",))
    return b


def _type_2(b: Program, rows: SX) -> SX:
    unit = [rows[i, :] / ca.sqrt(ca.fmax(ca.dot(rows[i, :], rows[i, :]), IDLE)) for i in range(rows.shape[0])]
    return extremes(singular_values(b, ca.vertcat(*unit)))[0]


def _condition(b: Program, robot: Robot, J: SX, G: SX, length: SX) -> SX:
    rows = [J[i, :] / (length if unit == "m" else 1) for i, unit in enumerate(robot.actuator_units)]
    matrix = ca.vertcat(*rows)
    if G.shape[0]:
        matrix = ca.mtimes(matrix, _allowed(robot, G))
    low, high = extremes(singular_values(b, matrix))
    return high / ca.fmax(low, high / LARGEST)


def _allowed(robot: Robot, G: SX) -> SX:
    """Orthonormal basis N (6, k) of the twists with G N = 0: dependents from independents, then Gram-Schmidt."""
    dependent, free = list(robot.plan.platform_dependents), list(robot.plan.platform_independent)
    X = solve(G[:, dependent], -G[:, free])
    T = ca.SX.zeros(6, len(free))
    T[free, :], T[dependent, :] = ca.SX.eye(len(free)), X
    columns: list[SX] = []
    for j in range(len(free)):
        column = ca.densify(T[:, j])
        for other in columns:
            column = column - other * ca.dot(other, column)
        columns.append(column / ca.sqrt(ca.dot(column, column)))
    return ca.horzcat(*columns)


def _finite(value: SX, instead: float) -> SX:
    """A number that is always finite, so that one singular quantity does not hide the others."""
    return ca.if_else(ca.fabs(value) < 1e300, value, instead)
