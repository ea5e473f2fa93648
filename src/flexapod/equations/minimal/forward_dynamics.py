r"""Acceleration of the platform from actuator forces, with few operations.

Letters: O platform joint of the first lever, y its acceleration, s_j = S_j - O, M_j mass matrix of a leg at S_j (3 x 3,
world axes, zero along a U-P-S leg), F_j force of a leg on the platform if y and alpha were zero.

.. math:: \Big(\text{platform} + \sum_j \begin{bmatrix} 1 \\ \tilde s_j \end{bmatrix} M_j
          \begin{bmatrix} 1 & -\tilde s_j \end{bmatrix}\Big)
          \begin{bmatrix} y \\ \alpha \end{bmatrix} = \sum_j \begin{bmatrix} F_j \\ s_j\times F_j\end{bmatrix} - \text{bias}

The acceleration of the platform frame follows from y and alpha.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.minimal.extending_leg import extending_leg
from flexapod.equations.minimal.loads import with_legs
from flexapod.equations.minimal.mass_matrix import Symmetric, mass_matrix
from flexapod.equations.minimal.model import MinimalModel, model
from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.planning import plan as make_plan
from flexapod.equations.minimal.platform_levers import Coordinates, Levers, PseudoInertia, lever_motion
from flexapod.equations.minimal.slide import slide
from flexapod.equations.minimal.sliding_leg import sliding_leg
from flexapod.equations.minimal.vectors import MovingVector, Scalar, Triple, add, combine, cross, scale, subtract
from flexapod.equations.platform_inputs import platform_state
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot


def minimal_forward_dynamics(robot: Robot, plan: MinimalPlan | None = None) -> Program:
    """The program: inputs position, rotation, velocity, angular_velocity, force; outputs acceleration, angular_acceleration.

    Args:
        robot: a robot to which the minimal equations apply.
        plan: choices, if not those of `flexapod.equations.minimal.planning.plan`.

    Checked by: tests/equations/test_minimal.py.
    """
    chosen = make_plan(robot) if plan is None else plan
    b = Program("minimal_forward_dynamics")
    m = model(b, robot, chosen)
    platform = platform_state(b)
    force = b.input("force", (6,), unit="N", doc="of the actuators")
    levers = lever_motion(platform, m.basis, (0, 0, 0))
    pole = chosen.levers[0]
    legs = (_extending if chosen.architecture == "UPS" else _sliding)(b, m, chosen, levers, force)
    places = m.basis.seen_from(chosen, pole)
    body = m.body.about(m.basis.joints[pole])
    rhs = _right_side(m, chosen, body, levers, places, [F for F, _ in legs])
    A = mass_matrix(m, chosen, body, levers, [M for _, M in legs])
    x = ldl_solve(b, A, rhs)
    y, alpha = (x[0], x[1], x[2]), (x[3], x[4], x[5])
    to_pole = combine((m.basis.height, *m.basis.joints[pole][:2]), (levers.D3, *levers.D))
    drift = combine((m.basis.height, *m.basis.joints[pole][:2]), (levers.W3, *levers.W))
    a = subtract(subtract(y, cross(alpha, to_pole)), drift)
    b.output("acceleration", ca.vertcat(*a), unit="m/s^2", doc="of the platform frame origin, world", dims=("axis",))
    b.output("angular_acceleration", ca.vertcat(*alpha), unit="rad/s^2", doc="of the platform, world", dims=("axis",))
    return b


def _extending(b: Program, m: MinimalModel, plan: MinimalPlan, levers: Levers, force: SX) -> list[tuple[Triple, Symmetric]]:
    """Force and mass matrix of each U-P-S leg."""
    result = []
    for j, motion in enumerate(_motions(m, plan, levers)):
        leg = extending_leg(b, m, plan, j, motion)
        result.append((leg.on_platform(force[j]), leg.mass))
    return result


def _sliding(b: Program, m: MinimalModel, plan: MinimalPlan, levers: Levers, force: SX) -> list[tuple[Triple, Symmetric]]:
    """Force and mass matrix of each P-U-S leg."""
    result = []
    for j, motion in enumerate(_motions(m, plan, levers)):
        leg = sliding_leg(b, m, plan, j, slide(b, m.values, plan.legs[j], plan.branches[j], motion))
        result.append((leg.on_platform(force[j]), leg.mass))
    return result


def _motions(m: MinimalModel, plan: MinimalPlan, levers: Levers) -> list[MovingVector]:
    """S - U of each leg if y and alpha were zero; U0 of P-U-S legs."""
    places = m.basis.seen_from(plan, plan.levers[0])
    return [
        MovingVector(at=subtract(levers.position(joint), base), rate=levers.velocity(joint), second=levers.drift(place))
        for joint, base, place in zip(m.basis.joints, m.base, places, strict=True)
    ]


def _right_side(
    m: MinimalModel,
    plan: MinimalPlan,
    body: PseudoInertia,
    levers: Levers,
    places: Sequence[Coordinates],
    forces: Sequence[Triple],
) -> list[Scalar]:
    """Forces of legs, weight and centrifugal terms about the pole."""
    U = []
    for k in range(3):
        *row, weightless = body.row(k)
        weight = scale(row[0] - weightless, m.gravity)
        drift = combine(row[1:], (*levers.W, levers.W3))
        U.append(subtract(weight, drift))
    U3 = subtract(scale(body.normal[0] - body.weightless_normal, m.gravity), combine(body.normal[1:], levers.W))
    U = with_legs([*U, U3], plan, places, forces)
    M = add(add(cross(levers.D[0], U[1]), cross(levers.D[1], U[2])), cross(levers.D3, U[3]))
    return [*U[0], *M]


def ldl_solve(b: Program, A: Sequence[Sequence[Scalar]], rhs: Sequence[Scalar]) -> list[Scalar]:
    r"""Solution of A x = rhs by :math:`A = L D L^T`, unrolled: a reciprocal per row, no roots.

    Only the lower triangle of A is read. No pivoting: for a positive definite matrix the pivots are positive and elements do
    not grow.
    Checked by: tests/equations/test_minimal.py.
    """
    n = len(rhs)
    work = [[A[i][j] for j in range(i + 1)] for i in range(n)]
    x, factor = list(rhs), [list[Scalar]([0]) * n for _ in range(n)]
    inverses = []
    for j in range(n):
        pivot = work[j][j]
        inverses.append(1 / pivot)
        for i in range(j + 1, n):
            factor[i][j] = work[i][j] * inverses[j]
            x[i] = x[i] - factor[i][j] * x[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                work[i][k] = work[i][k] - factor[i][j] * work[k][j]
    b.fail_if(ca.logic_not(work[n - 1][n - 1] > 0), "the mass matrix is not positive definite")
    for j in reversed(range(n)):
        x[j] = x[j] * inverses[j]
        for i in range(j + 1, n):
            x[j] = x[j] - factor[i][j] * x[i]
    return x
