r"""The dynamic equation of a robot in platform coordinates, with its constraints.

.. math:: h(\dot V) = A\dot V + c = J_a^T\,\Gamma + G^T\lambda,\qquad V = N u,\qquad
          N^T h = (J_a N)^T\,\Gamma

h gathers platform and legs (Long 2014 Eqs. 36-49 without elastic part); N spans the motions that the constraint rows G
of the legs leave free (the closing plan's independent components u), so that constraint forces drop out.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.closing import close_leg
from flexapod.equations.leg_kinematics import home_guess
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import actuator_direction
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.closed_form_leg import force_at_joint
from flexapod.equations.virtual_power.general_leg import tree_forces
from flexapod.equations.virtual_power.inertia_wrench import Wrench, inertia_wrench
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import cross
from flexapod.spatial.linear import solve


@dataclass(frozen=True, kw_only=True)
class PlatformEquation:
    """Terms of the equation.

    Args:
        h: (6,) force and moment about the platform origin that the motion demands, affine in the acceleration.
        legs: (legs, 6) contributions of the legs to h.
        rates: (actuators,) actuator rates.
        jacobian: (actuators, 6) J_a.
        constraint: (rows, 6) G of the plan, and its acceleration residual (rows,), affine in the acceleration.
        residual: see constraint.
        basis: (6, mobility) N.
    """

    h: SX
    legs: SX
    rates: SX
    jacobian: SX
    constraint: SX
    residual: SX
    basis: SX


def platform_equation(
    b: Program, robot: Robot, platform: FrameMotion, guess: SX | None = None, massless_legs: bool = False
) -> PlatformEquation:
    """Assemble the equation for a given motion of the platform.

    Checked by: tests/equations/test_formulations_agree.py.
    """
    values = Values(b)
    gravity = values.vector("gravity", "W")
    wrenches, rates, rows, constraints, residuals, at = [], [], [], [], [], 0
    for i, leg in enumerate(robot.legs):
        own, form, n = values.of(f"legs.{leg.name}"), robot.closed_forms[i], len(leg.moving)
        if form is not None:
            force, motion = force_at_joint(b, own, leg, form.sign, platform, gravity)
            arm = motion.tip.p - platform.p
            wrenches.append(Wrench(force=force, moment=cross(arm, force)).column)
            rates.append(motion.actuator.qd)
            d = actuator_direction(own, leg, motion)
            rows.append(ca.horzcat(d.expr.T, cross(arm, d).expr.T))
        else:
            start = [guess[at + k] for k in range(n)] if guess is not None else home_guess(own, leg)
            closed = close_leg(b, own, leg, robot.plan.legs[i], platform, start)
            h = tree_forces(own, leg, closed.links, closed.qdd, gravity)
            wrenches.append(ca.mtimes(closed.jacobian.T, h))
            driven = [k for k, index in enumerate(leg.moving) if leg.links[index].actuated]
            rates += [closed.qd[k] for k in driven]
            rows.append(closed.jacobian[driven, :])
            constraints.append(closed.constraint)
            residuals.append(closed.leftover[2])
        at += n
    kept = list(robot.plan.constraints)
    G_all: SX = ca.vertcat(*constraints)
    r_all: SX = ca.vertcat(*residuals)
    G = G_all[kept, :] if kept else ca.SX.zeros(0, 6)
    r = r_all[kept] if kept else ca.SX.zeros(0, 1)
    h = inertia_wrench(values, "platform", platform, gravity).column
    legs = ca.vertcat(*[wrench.T for wrench in wrenches])
    if not massless_legs:
        h = h + sum(wrenches)
    return PlatformEquation(
        h=h,
        legs=legs,
        rates=ca.vertcat(*rates),
        jacobian=ca.vertcat(*rows),
        constraint=G,
        residual=r,
        basis=motion_basis(robot, G),
    )


def motion_basis(robot: Robot, G: SX) -> SX:
    """N (6, mobility): platform twist from its independent components."""
    free, bound = list(robot.plan.platform_independent), list(robot.plan.platform_dependents)
    N = ca.SX.zeros(6, len(free))
    for k, i in enumerate(free):
        N[i, k] = 1
    if bound:
        X = -solve(ca.densify(G[:, bound]), ca.densify(G[:, free]))
        for k, i in enumerate(bound):
            N[i, :] = X[k, :]
    return N
