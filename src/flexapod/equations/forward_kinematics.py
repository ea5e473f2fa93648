r"""Forward kinematics: the platform's pose from the actuator coordinates, by Newton on the pose itself.

Every leg is closed exactly at each trial pose, so only six unknowns remain:

.. math:: \begin{bmatrix} q_a(X) - q_a^* \\ r(X)\end{bmatrix} = 0,\qquad
          \begin{bmatrix} J \\ G\end{bmatrix}\delta = -\begin{bmatrix} q_a - q_a^* \\ r\end{bmatrix},\qquad
          p \leftarrow p + \delta_v,\quad R \leftarrow \exp(\hat\delta_\omega) R

with the leftover rows r of limited-mobility robots. Steps are limited and must reduce the residual; convergence is
quadratic. Redundant actuators give more rows than unknowns: least squares, and a residual that must vanish.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.jacobian import legs_at_pose, moving_frame, without_checks
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Iterates
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_gram_schmidt
from flexapod.spatial.rotation import axis_angle

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

NEWTON_STEP = 1e-9
"""Last step [relative to the robot's size, rad] at which Newton stops; one more step squares it."""

LARGEST_ROTATION = 0.25
"""Steps are held below this angle [rad] and this part of the characteristic length."""


def forward_kinematics(robot: Robot, iterations: int = 60, joints: bool = True) -> Program:
    """The program.

    Args:
        iterations: largest number of Newton steps, for a call of bounded time (exported C in a control loop). What has not
            converged by then has `converged` 0 and the best pose so far; from a pose a few degrees away 6 are enough.
        joints: False leaves out the joint coordinates of closed-form legs, whose angles take half of the time.

    Inputs `actuator_position`, and the guess: `guess_position`, `guess_rotation`, for general legs `guess` (joint coordinates).
    Outputs the pose, all joint coordinates, `residual` per actuator, `constraint` rows, `converged`, the number of
    `passes`, and the `determinant` of [J; G] at the guess and at the end: a change of sign is another assembly mode
    (redundant robots: of [J; G]^T [J; G], which has no sign); `departure` from the first Newton step distinguishes modes that
    share a sign. Revolute actuators are compared within a revolution.

    Checked by: tests/equations/test_forward_kinematics.py.
    """
    check_iterations(iterations)
    b = Program("forward_kinematics")
    target = b.input("actuator_position", (len(robot.actuators),), unit="m or rad")
    p0 = b.input("guess_position", (3,), unit="m", doc="guess of the platform frame origin")
    R0 = b.input("guess_rotation", (3, 3), doc="guess of world-from-platform")
    general = any(form is None for form in robot.closed_forms)
    q0 = b.input("guess", (len(robot.coordinates),), unit="m or rad") if general else ca.SX.zeros(len(robot.coordinates))
    length = b.parameter("characteristic_length", unit="m")
    values = Values(b)
    scale = ca.vertcat(*[length] * 3, 1, 1, 1)

    def at(builder: Iterates, pose: SX, q: SX, wanted: SX) -> tuple[SX, SX, SX]:
        """Residual, matrix [J; G] with dimensionless columns, and joint coordinates at a pose."""
        frame, twist = moving_frame(pose[:3], ca.reshape(pose[3:], 3, 3))
        legs = legs_at_pose(builder, robot, values, frame, twist, q if general else None)
        kept = list(robot.plan.constraints)
        gap = _within_a_revolution(robot, ca.vertcat(*[leg.actuators for leg in legs]) - wanted)
        residual = ca.vertcat(gap, ca.vertcat(*[leg.residual for leg in legs])[kept])
        rows = ca.vertcat(ca.vertcat(*[leg.jacobian for leg in legs]), ca.vertcat(*[leg.constraint for leg in legs])[kept, :])
        return residual, ca.densify(rows) @ ca.diag(scale), ca.vertcat(*[leg.q for leg in legs])

    def iteration(builder: Builder, pose: SX, q: SX, step: SX, best: SX, wanted: SX) -> tuple[list[SX], SX]:
        trial = _moved(pose, step)
        residual, A, joints = at(without_checks(builder), trial, q, wanted)
        delta = solve_gram_schmidt(A, -residual)
        size = ca.dot(residual, residual)
        better = ca.logic_or(size < best, best < 0)
        largest = ca.mmax(ca.fabs(delta))
        limited = scale * delta * ca.fmin(1, LARGEST_ROTATION / ca.fmax(largest, 1e-300))
        new = [ca.if_else(better, x, y) for x, y in ((trial, pose), (joints, q), (limited, step / 2), (size, best))]
        return new, ca.if_else(better, largest, 1e300)

    start = ca.vertcat(p0, ca.vec(R0))
    (pose, q, _, _), converged, passes = b.iterate(
        iteration, start=[start, q0, ca.SX.zeros(6), ca.SX(-1)], shared=[target], limit=iterations, tolerance=NEWTON_STEP
    )
    residual, A, q = at(without_checks(b), pose, q, target)
    pose = _orthonormal(_moved(pose, ca.if_else(converged, scale * solve_gram_schmidt(A, -residual), 0)))
    residual, A, q = at(without_checks(b), pose, q, target)
    residual0, A0, _ = at(without_checks(b), start, q0, target)
    off = departure(start, pose, scale, solve_gram_schmidt(A0, -residual0))
    n = len(robot.actuators)
    b.output("position", pose[:3], shape=(3,), unit="m")
    b.output("rotation", ca.reshape(pose[3:], 3, 3), shape=(3, 3))
    if joints or general:
        b.output("joint_position", q, shape=(len(robot.coordinates),), unit="m or rad", dims=("joint",))
    b.output("residual", residual[:n], shape=(n,), unit="m or rad", dims=("actuator",))
    if residual.numel() > n:
        b.output("constraint", residual[n:], shape=(residual.numel() - n,))
    b.output("converged", converged, shape=())
    b.output("passes", passes, shape=())
    b.output("determinant", ca.vertcat(determinant(A0), determinant(A)), shape=(2,), doc="at the guess and at the result")
    b.output("departure", off, shape=(), doc="way from the guess less the first Newton step, relative to that step")
    return b


def check_iterations(iterations: object) -> None:
    """Refuse a number of passes that is none."""
    if isinstance(iterations, bool) or not isinstance(iterations, int) or not 1 <= iterations <= 1000:
        raise InputError(f"iterations: expected a whole number from 1 to 1000, got {iterations!r}")


def _within_a_revolution(robot: Robot, gap: SX) -> SX:
    """Differences of revolute coordinates brought into half a revolution: cranks know no full revolutions."""
    parts = [gap[k] for k in range(gap.numel())]
    short = [ca.atan2(ca.sin(d), ca.cos(d)) if unit == "rad" else d for d, unit in zip(parts, robot.actuator_units, strict=True)]
    return ca.vertcat(*short)


def departure(start: SX, pose: SX, scale: SX, first: SX) -> SX:
    """Distance between the path to the result and the first Newton step: small where the branch of the guess was followed."""
    rotation = ca.mtimes(ca.reshape(pose[3:], 3, 3), ca.reshape(start[3:], 3, 3).T)
    way = ca.vertcat((pose[:3] - start[:3]) / scale[:3], ca.inv_skew(rotation - rotation.T) / 2)
    off = _length(way - first) / (_length(first) + NEWTON_STEP)
    return ca.if_else(off < 1e300, off, 1e300)  # a singular guess has no first step


def _length(x: SX) -> SX:
    """The norm of x; its derivative is zero at zero, where the norm has none."""
    square = ca.dot(x, x)
    none = square == 0
    return ca.if_else(none, 0, ca.sqrt(ca.if_else(none, 1, square)))  # nan stays nan


def _moved(pose: SX, step: SX) -> SX:
    R = ca.reshape(pose[3:], 3, 3)
    return ca.vertcat(pose[:3] + step[:3], ca.vec(ca.mtimes(axis_angle(step[3:]), R)))


def _orthonormal(pose: SX) -> SX:
    """One Newton step to the nearest rotation: R (3 - R^T R) / 2; rounding of a product of rotations is removed."""
    R = ca.reshape(pose[3:], 3, 3)
    return ca.vertcat(pose[:3], ca.vec(ca.mtimes(R, (3 * ca.SX.eye(3) - ca.mtimes(R.T, R)) / 2)))


def determinant(A: SX) -> SX:
    """det A by complementary 3 x 3 minors (Laplace), without division; of A^T A for redundant robots (no sign)."""
    square = A if A.shape[0] == A.shape[1] else ca.mtimes(A.T, A)
    total = ca.SX(0)
    for columns in combinations(range(6), 3):
        rest = [j for j in range(6) if j not in columns]
        total += (-1) ** (sum(columns) + 3) * ca.det(square[:3, list(columns)]) * ca.det(square[3:, rest])
    return total
