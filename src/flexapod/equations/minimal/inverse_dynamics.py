r"""Actuator forces of 6-UPS and 6-PUS robots with few operations: no angles, two levers, one three by three solve.

Letters: U_0, U_1, U_2 forces on the basis (1, D1, D2), kappa force of a leg on the platform by its scaled vector D.

.. math:: \sum_j \kappa_j D_j = U_0,\qquad \sum_j (S_j - O)\times D_j\,\kappa_j = M_O

Three of the six rows have constant coefficients: those of the base plane for U-P-S legs (D = d/z), those of the platform
plane for P-U-S legs (D = d/(d.normal)).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.equations.minimal.extending_leg import extending_leg
from flexapod.equations.minimal.gram_schmidt import gram_schmidt
from flexapod.equations.minimal.loads import load, load_on_normal, with_legs
from flexapod.equations.minimal.model import MinimalModel, model
from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.planning import plan as make_plan
from flexapod.equations.minimal.platform_levers import Coordinates, Levers, Place, lever_motion
from flexapod.equations.minimal.slide import slide
from flexapod.equations.minimal.sliding_leg import SlidingLeg, sliding_leg
from flexapod.equations.minimal.solve import LegCoefficients, Load, solve
from flexapod.equations.minimal.vectors import MovingVector, Scalar, Triple, add, cross, dot, scale, subtract, triple
from flexapod.equations.platform_inputs import FrameMotion, platform_motion_inputs
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

FLAT = 0.01
"""Sine of the angle between a P-U-S leg and the platform plane below which it counts as lying in it."""
UPRIGHT = 0.05
"""Vertical component of the platform's normal below which the moment about the vertical no longer distinguishes the legs."""


def minimal_inverse_dynamics(robot: Robot, plan: MinimalPlan | None = None) -> Program:
    """The program: inputs of `platform_motion_inputs`, output `force` (6,) [N].

    Args:
        robot: a robot to which the minimal equations apply.
        plan: choices, if not those of `flexapod.equations.minimal.planning.plan`.

    Checked by: tests/equations/test_minimal.py.
    """
    chosen = make_plan(robot) if plan is None else plan
    b = Program("minimal_inverse_dynamics")
    m = model(b, robot, chosen)
    forces = (_extending if chosen.architecture == "UPS" else _sliding)(b, m, chosen, platform_motion_inputs(b))
    b.output("force", ca.vertcat(*forces), shape=(6,), unit="N", dims=("actuator",))
    return b


def _extending(b: Program, m: MinimalModel, plan: MinimalPlan, platform: FrameMotion) -> list[Scalar]:
    """U-P-S: moments about the base joint of the first leg of the triangle."""
    first, joints = plan.triangle[0], m.basis.joints
    origin, names = m.base[first], plan.base_joints
    axes = 2 if plan.flat_base else 3
    places: list[Coordinates] = [
        (0,) * axes if n == names[first] else tuple(U[i] - origin[i] for i in range(axes))
        for n, U in zip(names, m.base, strict=True)
    ]
    levers = lever_motion(platform, m.basis, origin)
    legs = []
    for j in range(6):
        S = levers.position(joints[j])
        d = (S[0] - places[j][0], S[1] - places[j][1], S[2] if plan.flat_base else S[2] - places[j][2])
        motion = MovingVector(at=d, rate=levers.velocity(joints[j]), second=levers.acceleration(joints[j]))
        legs.append(extending_leg(b, m, plan, j, motion))
    a = subtract(levers.a, m.gravity)
    U = [load(m.body.row(k)[:4], levers, a, scale(m.body.weightless[k], m.gravity)) for k in range(3)]
    U = with_legs([*U, load_on_normal(m.body, levers, a, m.gravity)], plan, joints, [(*leg.h, 0) for leg in legs])
    M = add(add(cross(levers.p, U[0]), cross(levers.D[0], U[1])), cross(levers.D[1], U[2]))
    M = add(M, add(scale(m.body.spin, triple(platform.alpha.expr)), cross(levers.D3, U[3])))
    slopes = [leg.slope for leg in legs]
    (u2, v2, *_), (u3, v3, *_) = places[plan.triangle[1]], places[plan.triangle[2]]
    size = ca.sqrt(ca.fabs(u2 * v3 - v2 * u3))
    if plan.flat_base:
        rhs = Load(rows=(U[0][0], U[0][1], M[2]), sum=U[0][2], u=-M[1], v=M[0])
        columns = LegCoefficients(names=names, places=places, slopes=slopes, arms=places)
        kappa = solve(b, plan.triangle, columns, rhs, size)
    else:
        wrenches = [_wrench(slope, [x / size for x in place]) for slope, place in zip(slopes, places, strict=True)]
        kappa = gram_schmidt(b, wrenches, U[0][2], [U[0][0], U[0][1], *scale(1 / size, M)])
    return [leg.force(k) for leg, k in zip(legs, kappa, strict=True)]


def _wrench(slope: Place, place: Sequence[Scalar]) -> list[Scalar]:
    """D and its moment at a base joint, without the vertical component of D."""
    (X, Y), (x, y, z) = slope, place
    return [X, Y, y - z * Y, z * X - x, x * Y - y * X]


def _beside(m: MinimalModel, levers: Levers, platform: FrameMotion) -> Triple:
    """Moment of the platform along its normal, which is not part of D1 x U1 + D2 x U2."""
    lifted = cross(levers.D3, load_on_normal(m.body, levers, subtract(levers.a, m.gravity), m.gravity))
    return add(scale(m.body.spin, triple(platform.alpha.expr)), lifted)


def _sliding(b: Program, m: MinimalModel, plan: MinimalPlan, platform: FrameMotion) -> list[Scalar]:
    """P-U-S: moments about the platform joint of the first leg of the triangle."""
    levers = lever_motion(platform, m.basis, (0, 0, 0))
    b.fail_if(ca.logic_not(plan.side * levers.D3[2] > UPRIGHT), "the platform is upright, where these equations are singular")
    joints = [levers.position(c) for c in m.basis.joints]
    legs: list[SlidingLeg] = []
    for j, name in enumerate(plan.legs):
        rate, second = levers.velocity(m.basis.joints[j]), levers.acceleration(m.basis.joints[j])
        moving = MovingVector(at=subtract(joints[j], m.base[j]), rate=rate, second=second)
        legs.append(sliding_leg(b, m, plan, j, slide(b, m.values, name, plan.branches[j], moving)))
    first = plan.triangle[0]
    pole, places = joints[first], m.basis.seen_from(plan, first)
    U = []
    for k in range(3):
        *row, weightless = m.body.row(k, m.basis.joints[first])
        U.append(load(row, levers, levers.a, scale(weightless - row[0], m.gravity)))
    U = with_legs(U, plan, places, [leg.h for leg in legs])
    heights = [dot(levers.D3, leg.d) for leg in legs]
    for name, height in zip(plan.legs, heights, strict=True):
        least = FLAT * m.values.scalar(f"legs.{name}.length")
        upright = ca.logic_or(height > least, height < -least)
        b.fail_if(ca.logic_not(upright), "leg {leg} lies in the platform plane, where these equations are singular", leg=name)
    inverses = [1 / height for height in heights]
    slopes = [(leg.d[0] * inverse, leg.d[1] * inverse) for leg, inverse in zip(legs, inverses, strict=True)]
    names = plan.platform_joints
    arms: list[Coordinates] = [
        (0, 0) if n == names[first] else (S[0] - pole[0], S[1] - pole[1]) for n, S in zip(names, joints, strict=True)
    ]
    rhs = _platform_rows(m, levers, U, _beside(m, levers, platform))
    columns = LegCoefficients(names=names, places=places, slopes=slopes, arms=arms)
    kappa = solve(b, plan.triangle, columns, rhs, ca.sqrt(ca.fabs(m.basis.area)))
    return [leg.force(k * inverse) for leg, k, inverse in zip(legs, kappa, inverses, strict=True)]


def _platform_rows(m: MinimalModel, levers: Levers, U: list[Triple], beside: Triple) -> Load:
    r"""Rows of the platform plane: :math:`M\cdot D_1 = A\,n\cdot U_2`, :math:`M\cdot D_2 = -A\,n\cdot U_1`, n the normal."""
    n, (D1, D2) = levers.D3, levers.D
    Mz = (D1[0] * U[1][1] - D1[1] * U[1][0]) + (D2[0] * U[2][1] - D2[1] * U[2][0]) + beside[2]
    return Load(
        rows=(U[0][0], U[0][1], Mz),
        sum=dot(n, U[0]),
        u=dot(n, U[1]) - dot(D2, beside) / m.basis.area,
        v=dot(n, U[2]) + dot(D1, beside) / m.basis.area,
    )
