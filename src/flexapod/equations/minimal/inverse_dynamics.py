"""Actuator forces of 6-UPS and 6-PUS robots with few operations: no angles, two levers, one three by three solve."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.equations.minimal.extending_leg import extending_inertia, extending_leg
from flexapod.equations.minimal.plan import Plan
from flexapod.equations.minimal.plan import plan as make_plan
from flexapod.equations.minimal.platform_levers import (
    Basis,
    Levers,
    lever_basis,
    lever_motion,
    pseudo_inertia,
)
from flexapod.equations.minimal.sliding_leg import slide, sliding_inertia, sliding_leg
from flexapod.equations.minimal.solve import Load, solve
from flexapod.equations.minimal.vectors import Scalar, Triple, add, combine, cross, dot, scale, subtract, times, triple
from flexapod.equations.platform_motion import FrameMotion, platform_motion
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot

UPRIGHT = 0.05
"""Vertical component of the platform's normal below which the moment about the vertical no longer tells the legs apart."""


def minimal_inverse_dynamics(robot: Robot, plan: Plan | None = None) -> Program:
    """The program: inputs of `platform_motion`, output `force` (6,) [N].

    Args:
        robot: a robot to which the minimal equations apply.
        plan: choices, if not those of `flexapod.equations.minimal.plan`.

    Checked by: tests/equations/test_minimal.py.
    """
    chosen = make_plan(robot) if plan is None else plan
    b = Program("minimal_inverse_dynamics")
    forces = (_extending if chosen.architecture == "UPS" else _sliding)(b, robot, chosen)
    b.output("force", ca.vertcat(*forces), shape=(6,), unit="N", dims=("actuator",))
    return b


def _extending(b: Program, robot: Robot, plan: Plan) -> list[Scalar]:
    """U-P-S: constant rows are those of the base plane, moments about the base joint of the first leg of the triangle."""
    values, platform = Values(b), platform_motion(b)
    gravity = triple(values.vector("gravity", "W").expr)
    basis = lever_basis(plan, values)
    inertias = [extending_inertia(robot, values, n, k) for n, k in zip(plan.legs, plan.driven, strict=True)]
    rotors = [i.rotor for i in inertias]
    body = pseudo_inertia(values, basis, [i.piston + i.rotor for i in inertias], rotors)
    base = [triple(values.vector(f"legs.{n}.U", "W").expr) for n in plan.base_joints]
    origin = base[plan.triangle[0]]
    first = plan.base_joints[plan.triangle[0]]
    places = [
        (0, 0) if n == first else (U[0] - origin[0], U[1] - origin[1]) for n, U in zip(plan.base_joints, base, strict=True)
    ]
    levers = lever_motion(platform, basis, origin)
    legs = []
    for j, name in enumerate(plan.legs):
        S, c = levers.position(basis.joints[j]), basis.joints[j]
        d = (S[0] - places[j][0], S[1] - places[j][1], S[2])
        axis1 = values.scalar(f"legs.{name}.axis1.x"), values.scalar(f"legs.{name}.axis1.y")
        upright = bool(plan.upright[j])
        motion = d, levers.velocity(c), levers.acceleration(c)
        legs.append(extending_leg(b, name, plan.side, upright, axis1, inertias[j], gravity, *motion))
    a = subtract(levers.a, gravity)
    U = [_load(body.row(k)[:4], levers, a, scale(body.weightless[k], gravity)) for k in range(3)]
    U = _with_legs(U, [(1, *c) for c in basis.joints], [(*leg.h, 0) for leg in legs])
    M = _moment(platform, body, levers, a, [cross(levers.p, U[0]), cross(levers.D[0], U[1]), cross(levers.D[1], U[2])])
    columns = [(*leg.slope, _area(place, leg.slope)) for leg, place in zip(legs, places, strict=True)]
    load = Load(rows=(U[0][0], U[0][1], M[2]), sum=U[0][2], u=-M[1], v=M[0])
    (u2, v2), (u3, v3) = places[plan.triangle[1]], places[plan.triangle[2]]
    size = ca.sqrt(ca.fabs(u2 * v3 - v2 * u3))
    kappa = solve(b, plan.triangle, places, columns, load, size)
    return [leg.force(k) for leg, k in zip(legs, kappa, strict=True)]


def _sliding(b: Program, robot: Robot, plan: Plan) -> list[Scalar]:
    """P-U-S: constant rows are those of the platform plane, moments about the platform joint of the first leg."""
    values, platform = Values(b), platform_motion(b)
    gravity = triple(values.vector("gravity", "W").expr)
    basis = lever_basis(plan, values)
    inertias = [sliding_inertia(robot, values, n, k) for n, k in zip(plan.legs, plan.driven, strict=True)]
    body = pseudo_inertia(values, basis, [i.m_SS for i in inertias], [-i.m_SU for i in inertias])
    levers = lever_motion(platform, basis, (0, 0, 0))
    b.fail_if(ca.logic_not(plan.side * levers.D3[2] > UPRIGHT), "the platform stands upright, where these equations end")
    legs, joints = [], [levers.position(c) for c in basis.joints]
    for j, name in enumerate(plan.legs):
        c, U0 = basis.joints[j], triple(values.vector(f"legs.{plan.base_joints[j]}.U", "W").expr)
        S2 = levers.acceleration(c)
        motion = slide(b, values, name, plan.branches[j], subtract(joints[j], U0), levers.velocity(c), S2)
        legs.append(sliding_leg(b, values, name, plan.upright[j], inertias[j], gravity, motion, S2))
    first = plan.triangle[0]
    pole, places = basis.joints[first], _relative(plan, basis)
    U = []
    for k in range(3):
        *row, weightless = body.row(k, pole)
        U.append(_load(row, levers, levers.a, scale(weightless - row[0], gravity)))
    U = _with_legs(U, [(1, *place) for place in places], [leg.h for leg in legs])
    N3 = scale(body.spin, triple(platform.alpha.expr))
    N3 = add(N3, cross(levers.D3, _load_on_normal(body, levers, subtract(levers.a, gravity))))
    normal, (D1, D2) = levers.D3, levers.D
    flat = [b_dot(normal, leg.d) for leg in legs]
    columns, lengths = [], []
    for j, leg in enumerate(legs):
        inverse = 1 / flat[j]
        lengths.append(inverse)
        slope = leg.d[0] * inverse, leg.d[1] * inverse
        arm = (0, 0) if plan.platform_joints[j] == plan.platform_joints[first] else _arm(joints[j], joints[first])
        columns.append((*slope, _area(arm, slope)))
    Mz = D1[0] * U[1][1] - D1[1] * U[1][0] + (D2[0] * U[2][1] - D2[1] * U[2][0]) + N3[2]
    load = Load(
        rows=(U[0][0], U[0][1], Mz),
        sum=dot(normal, U[0]),
        u=dot(normal, U[1]) - dot(D2, N3) / basis.area,
        v=dot(normal, U[2]) + dot(D1, N3) / basis.area,
    )
    kappa = solve(b, plan.triangle, places, columns, load, ca.sqrt(ca.fabs(basis.area)))
    return [leg.force(k * inverse) for leg, k, inverse in zip(legs, kappa, lengths, strict=True)]


b_dot = dot


def _relative(plan: Plan, basis: Basis):
    first = plan.triangle[0]
    o = basis.joints[first]
    return [(0, 0) if n == plan.platform_joints[first] else (c[0] - o[0], c[1] - o[1]) for n, c in zip(plan.platform_joints, basis.joints)]


def _arm(S, S1):
    return S[0] - S1[0], S[1] - S1[1]


def _area(place, slope):
    """Moment about the vertical: u Y - v X."""
    if isinstance(place[0], int) and isinstance(place[1], int) and place == (0, 0):
        return 0
    return place[0] * slope[1] - place[1] * slope[0]


def _load(row: Sequence[Scalar], levers: Levers, a: Triple, extra: Triple) -> Triple:
    """U_k of the platform."""
    return add(combine(row, (a, *levers.W, levers.W3)), extra)


def _load_on_normal(body, levers, a):
    n = body.normal
    return tuple(n[0] * a[i] + n[1] * levers.W[0][i] + n[2] * levers.W[1][i] for i in range(3))


def _with_legs(U, weights, forces):
    out = []
    for k in range(3):
        u = list(U[k])
        for w, h in zip(weights, forces, strict=True):
            for i in range(3):
                t = times(w[k], h[i])
                if not isinstance(t, int):
                    u[i] = u[i] + t
        out.append(tuple(u))
    return out


def _moment(platform: FrameMotion, body, levers, a, parts):
    alpha = triple(platform.alpha.expr)
    parts = [*parts, cross(levers.D3, _load_on_normal(body, levers, a)), scale(body.spin, alpha)]
    return tuple(sum(p[i] for p in parts[1:]) + parts[0][i] for i in range(3))
