r"""Inverse dynamics of a platform motion by the link-axes model.

Passive joints balance, :math:`B_p^T\lambda = h_p`, so that a leg has :math:`\lambda = \lambda_0 + D\mu`; the platform's balance
:math:`\sum_i G_i\mu_i = w_P` is a small square system, six rows for a rigid platform of mobility six. Actuator forces are
:math:`\Gamma = h_a - B_a^T\lambda`. Directions of mu that the balance leaves free and that reach actuators are redundant drives:
the forces of least norm are taken, from these directions where they are few, else from the rows of the balance: operations grow
with the number of legs. Those that do not are over-constraint and change no force.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import NONE, LinkValues, cross, field, mul, nearly_dependent, solve_blocks, sparse, vee
from flexapod.equations.model.inertias import LinkInertia, body_inertia, carried_mass, point_mass
from flexapod.equations.model.leg import LinkLeg, link_leg
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs, wrench_input
from flexapod.equations.virtual_power.inverse_dynamics import SINGULAR
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Declares, Equations
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric

SINGULAR_POSE = "the pose is singular (type 2): the platform can move with all actuators locked"


@dataclass(frozen=True, kw_only=True)
class Balance:
    """A leg's multipliers and forces with the passive joints in balance: lambda = lambda_0 + D mu, Gamma = force + per_mu mu.

    `wrench` and `columns` are what the platform must give: lambda_0 and each mu as a wrench at its origin, world axes.
    """

    wrench: SX
    columns: list[SX]
    force: list[SX]
    per_mu: list[SX]


def link_inverse_dynamics(robot: Robot, massless_legs: bool = False, zeros: Collection[str] = ()) -> Program:
    """The program: `force`, `power` (actuators,), for numbers with the given structural zeros.

    Checked by: tests/equations/test_link_model.py.
    """
    b = Program("link_inverse_dynamics")
    platform = platform_motion_inputs(b)
    wrench = wrench_input(b)
    guess, values = guess_input(b, robot), LinkValues(b, zeros=zeros)
    about = joint_on_platform(values, robot) if len(robot.link_plan.components) == 6 else NONE
    carried = [ca.SX(0)] * len(robot.legs) if massless_legs else carried_masses(values, robot)
    legs = link_legs(b, values, robot, platform, guess, massless_legs, about=about, carried=carried)
    parts = [balance(leg) for leg in legs]
    load = platform_wrench(loaded_platform(values, robot, carried), platform, values.vec("gravity")) - wrench
    right = seen_from(load, platform, about) + sum(part.wrench for part in parts)
    G = ca.horzcat(*[c for part in parts for c in part.columns])
    if _is_shorter_by_rows(robot, parts):
        b.fail_if(nearly_singular(b, _square(robot, G)), SINGULAR_POSE)
        force = _least_forces(robot, parts, right)
    else:
        mu, null = _multipliers(b, robot, G, right)
        force = _forces(parts, mu, constant=True)
        if null:
            S = ca.horzcat(*[_forces(parts, direction, constant=False) for direction in null])
            force = force - ca.mtimes(S, solve_symmetric(ca.mtimes(S.T, S), ca.mtimes(S.T, force)))
    rates = ca.vertcat(*[leg.qd[k] for leg in legs for k in leg.driven])
    n = len(robot.actuators)
    b.output("force", force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", force * rates, shape=(n,), unit="W", dims=("actuator",))
    values.check()
    return b


def link_legs(
    b: Equations, values: LinkValues, robot: Robot, platform: FrameMotion, guess: SX | None, massless: bool = False, *,
    about: SX = NONE, carried: Sequence[SX] | None = None,
) -> list[LinkLeg]:  # fmt: skip
    """The legs of a robot, each with the constants of its inner frames; `about` and `carried` (per leg): as of `link_leg`."""
    masses = carried or [ca.SX(0)] * len(robot.legs)
    return [
        link_leg(b, own, robot, i, platform, guess, massless=massless, about=about, carried=masses[i])
        for i, own in enumerate(leg_values(values, robot))
    ]


def leg_values(values: LinkValues, robot: Robot) -> list[LinkValues]:
    """Values below every leg, with the constants of its inner frames."""
    return [values.below(f"legs.{leg.name}", dict(c.constants)) for leg, c in zip(robot.legs, robot.link_plan.legs, strict=True)]


def joint_on_platform(values: LinkValues, robot: Robot) -> SX:
    """(3,) the first leg's joint on the platform, its axes: seen from there that leg has no arm. Zero where the joint slides."""
    closing = robot.legs[0].closing
    if closing.type in ("cylindrical", "prismatic"):
        return NONE
    return leg_values(values, robot)[0].vec(f"{closing.joint}.on_platform.p")


def carried_masses(values: LinkValues, robot: Robot) -> list[SX]:
    """Per leg, the mass at its end that is as well one of the platform; none where the platform would lose a zero by it."""
    found = [carried_mass(own, leg) for own, leg in zip(leg_values(values, robot), robot.legs, strict=True)]
    bare, loaded = body_inertia(values, "platform"), loaded_platform(values, robot, found)
    kept = all(sparse(x).nnz() == sparse(y).nnz() for x, y in ((bare.S, loaded.S), (bare.E, loaded.E)))
    return found if kept else [ca.SX(0)] * len(found)


def loaded_platform(values: LinkValues, robot: Robot, carried: Sequence[SX]) -> LinkInertia:
    """The platform with the masses that legs leave to it, about its origin and in its axes."""
    found = body_inertia(values, "platform")
    for own, leg, mass in zip(leg_values(values, robot), robot.legs, carried, strict=True):
        if not mass.is_zero():
            found = found + point_mass(mass, own.vec(f"{leg.closing.joint}.on_platform.p"))
    return found


def platform_wrench(own: LinkInertia, platform: FrameMotion, gravity: SX) -> SX:
    """(6,) force and moment about the platform's origin that its motion and weight demand, world axes."""
    R, w, alpha = (x.expr for x in (platform.R, platform.w, platform.alpha))
    a = platform.a.expr - gravity
    s = ca.densify(mul(R, own.S))
    force = own.m * a + mul(field(w, alpha), s)
    moment = mul(R, vee(mul(field(ca.mtimes(R.T, w), ca.mtimes(R.T, alpha)), own.E))) + cross(s, a)
    return ca.vertcat(force, ca.densify(moment))


def seen_from(wrench: SX, platform: FrameMotion, about: SX) -> SX:
    """(6,) a wrench about the platform's origin, about a point (3,) of the platform, given in its axes."""
    force = wrench[:3]
    return ca.vertcat(force, wrench[3:] - ca.densify(cross(mul(platform.R.expr, about), force)))


def balance(leg: LinkLeg) -> Balance:
    """The passive joints of a leg in balance."""
    B, passive, driven = leg.B, leg.passive, leg.driven
    m, solved = B.shape[0], list(leg.choice.balance)
    free = [r for r in range(m) if r not in solved]
    first, D = [ca.SX(0)] * m, [[ca.SX(0)] * len(free) for _ in range(m)]
    for y, r in enumerate(free):
        D[r][y] = ca.SX(1)
    if passive:
        rows = sparse(B[:, passive].T)
        right = ca.horzcat(ca.vertcat(*[leg.h[k] for k in passive]), -rows[:, free])
        found = solve_blocks(rows[:, solved], right)
        for x, r in enumerate(solved):
            first[r] = found[x, 0]
            for y in range(len(free)):
                D[r][y] = found[x, 1 + y]
    lambda_0, per = ca.vertcat(*first), sparse(ca.vertcat(*[ca.horzcat(*row) for row in D])) if free else ca.SX(m, 0)
    return Balance(
        wrench=leg.platform_wrench(lambda_0),
        columns=[-leg.platform_wrench(per[:, y]) for y in range(len(free))],
        force=[leg.h[k] - mul(B[:, k].T, lambda_0) for k in driven],
        per_mu=[-mul(B[:, k].T, per) for k in driven],
    )


def _is_shorter_by_rows(robot: Robot, parts: list[Balance]) -> bool:
    """Whether redundant forces take fewer operations from the rows of the balance than from the directions that it leaves
    free: these are half as many as the rows or more, and every multiplier follows from the forces of its leg."""
    many = 2 * len(robot.link_plan.strain) >= len(robot.link_plan.components)
    return many and all(len(part.columns) == len(part.force) for part in parts)


def _least_forces(robot: Robot, parts: list[Balance], right: SX) -> SX:
    r"""Forces of least norm from the rows of the balance.

    .. math:: \Gamma = A^T(AA^T)^{-1}(w + A\Gamma_0),\qquad A_i = G_i P_i^{-1}

    Letters: P_i forces of a leg per multiplier, singular where its loop is; Gamma_0 those at mu = 0.
    """
    rows = list(robot.link_plan.components)
    per_leg = [solve_blocks(ca.vertcat(*part.per_mu).T, ca.horzcat(*part.columns)[rows, :].T).T for part in parts]
    A = ca.densify(ca.horzcat(*per_leg))
    first = ca.vertcat(*[force for part in parts for force in part.force])
    return ca.mtimes(A.T, solve_symmetric(ca.mtimes(A, A.T), right[rows] + ca.mtimes(A, first)))


def _square(robot: Robot, G: SX) -> SX:
    """Rows and columns of the platform's balance that have full rank."""
    return sparse(G[list(robot.link_plan.components), list(robot.link_plan.columns)])


def _multipliers(b: Declares, robot: Robot, G: SX, right: SX) -> tuple[list[SX], list[list[SX]]]:
    """mu that balances the platform, and the directions of mu that only strain the actuators."""
    plan = robot.link_plan
    columns, rows = list(plan.columns), list(plan.components)
    others = [k for k in range(G.shape[1]) if k not in columns]
    strain = [others[k] for k in plan.strain]
    A = _square(robot, G)
    b.fail_if(nearly_singular(b, A), SINGULAR_POSE)
    found = solve_blocks(A, ca.horzcat(right[rows], G[rows, strain]) if strain else right[rows])
    mu = [ca.SX(0)] * G.shape[1]
    for j, k in enumerate(columns):
        mu[k] = found[j, 0]
    null = []
    for x, k in enumerate(strain):
        direction = [ca.SX(0)] * G.shape[1]
        direction[k] = ca.SX(1)
        for j, c in enumerate(columns):
            direction[c] = -found[j, 1 + x]
        null.append(direction)
    return mu, null


def nearly_singular(b: Declares, A: SX) -> SX:
    """Whether some block of the balance has lost its rank: the wrench of a unit multiplier (force of order 1, moment of the
    robot's size) is spanned by the others to rounding."""
    length = b.parameter("characteristic_length", unit="m")
    return nearly_dependent(A, SINGULAR, ca.fmin(1, length) ** 2)


def _forces(parts: list[Balance], mu: list[SX], *, constant: bool) -> SX:
    """Actuator forces (n,) of multipliers; without the constant part for a direction of them."""
    result, at = [], 0
    for part in parts:
        k = len(part.columns)
        own = ca.vertcat(*mu[at : at + k]) if k else ca.SX(0, 1)
        for force, row in zip(part.force, part.per_mu, strict=True):
            result.append((force if constant else ca.SX(0)) + mul(row, own))
        at += k
    return ca.vertcat(*result)
