r"""Inverse dynamics by the principle of virtual work: one virtual motion per actuator.

In the virtual motion of an actuator it moves at unit rate and the others are at rest; the connectivity conditions give the
virtual twist of the platform and the virtual rates of all joints. The work of all wrenches in it is the actuator's force:

.. math:: f_k = \sum_{legs}\sum_j \dot q^v_{j,k}\,\tau_j + V^v_k\cdot W

with tau_j = u . M_j or u . F_j the inward recursion's wrenches on the joint axes, W that of the platform.
"""

from __future__ import annotations

from typing import Literal

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import guess_input, platform_motion_inputs, wrench_input
from flexapod.equations.values import Values
from flexapod.equations.virtual_work.general_connectivity import general_leg_work
from flexapod.equations.virtual_work.joint_chain import joint_chain
from flexapod.equations.virtual_work.leg_work import LegWork, PlatformState, platform_state
from flexapod.equations.virtual_work.recursion import BodyMotion, acceleration_matrix, inertia_wrench
from flexapod.equations.virtual_work.relative_frames import inertia
from flexapod.equations.virtual_work.universal_chain import universal_chain
from flexapod.equations.virtual_work.universal_connectivity import universal_leg_work
from flexapod.equations.virtual_work.virtual_motions import explicit_forces, transposed_forces
from flexapod.errors import InputError, amount
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

VirtualMotions = Literal["transposed", "explicit"]


def virtual_work(robot: Robot, virtual_motions: VirtualMotions = "transposed") -> Program:
    """The program: actuator forces and powers of a motion of the platform.

    Args:
        robot: any robot with at least as many actuators as degrees of freedom; only its structure is used.
        virtual_motions: ``"transposed"`` finds all forces by one solve with the transposed matrix of the conditions;
            ``"explicit"`` solves for every virtual motion and sums its work, as the papers write it (same numbers; not for
            redundant actuation).

    Inputs as `platform_motion_inputs`, `wrench` (6,): external force and moment on the platform at its frame origin, world axes,
    and `guess` (joint coordinates to start from) where legs are general. Outputs `force` (actuators,) and `power`
    (actuators,). Redundant actuation: forces of minimum norm.

    Source: Staicu 2009 Eqs. (9)-(21), Sinatra 2009 Eqs. (9)-(23). Checked by: tests/equations/test_virtual_work.py.
    """
    _check(robot, virtual_motions)
    b = Program("virtual_work")
    motion = platform_motion_inputs(b)
    external = wrench_input(b)
    guess = guess_input(b, robot)
    values = Values(b)
    platform = platform_state(motion, values.vector("gravity", "W"))
    legs = [_leg(b, robot, i, values, platform, guess) for i in range(len(robot.legs))]
    load = platform_wrench(values, platform) - external
    force = (explicit_forces if virtual_motions == "explicit" else transposed_forces)(b, robot.plan, legs, load)
    rates = ca.vertcat(*[leg.rates[k] for leg in legs for k in leg.actuators])
    count = len(robot.actuators)
    unit = {"m": "N", "rad": "N m"}[robot.actuator_units[0]] if len(set(robot.actuator_units)) == 1 else "N or N m"
    b.output("force", force, shape=(count,), unit=unit, dims=("actuator",), doc="> 0 pushes the coordinate up")
    b.output("power", force * rates, shape=(count,), unit="W", dims=("actuator",), doc="force times rate")
    return b


def _check(robot: Robot, virtual_motions: str) -> None:
    if virtual_motions not in ("transposed", "explicit"):
        raise InputError(f"virtual_motions: expected 'transposed' or 'explicit', got {virtual_motions!r}")
    if robot.flexible_platform is not None or any(link.elastic for leg in robot.legs for link in leg.links):
        raise InputError(f"{robot.name} has flexible bodies; virtual_work treats rigid ones. Use formulation 'virtual_power'")
    dof, count = 6 - len(robot.plan.constraints), len(robot.actuators)
    if count < dof:
        raise InputError(f"{robot.name}: {amount(count, 'actuator')} cannot hold {dof} DOF of the platform; actuate more joints")
    if virtual_motions == "explicit" and count > dof:
        raise InputError(f"{robot.name}: {count} actuators for {dof} degrees of freedom, so none moves alone; use 'transposed'")
    for leg, plan in zip(robot.legs, robot.plan.legs, strict=True):
        for k in plan.free(len(leg.moving)):
            if leg.links[leg.moving[k]].actuated:
                name = f"{leg.name}.{leg.links[leg.moving[k]].coordinate}"
                raise InputError(f"{robot.name}: actuator {name} does not move the platform, whose motion gives no force for it")


def _leg(b: Program, robot: Robot, index: int, values: Values, platform: PlatformState, guess: SX | None) -> LegWork:
    leg, form, plan = robot.legs[index], robot.closed_forms[index], robot.plan.legs[index]
    if not leg.links:
        raise InputError(f"virtual_work: leg {leg.name} of {robot.name} has no body; use another formulation (virtual_power)")
    own = values.of(f"legs.{leg.name}")
    if form is not None:
        r = platform.R @ own.vector("S", "P")
        chain = universal_chain(b, own, leg, form.sign, platform.p + r)
        return universal_leg_work(chain, 2 if leg.architecture == "UPS" else 0, platform, r)
    at = sum(len(other.moving) for other in robot.legs[:index])
    half = f"{leg.closing.joint}.on_platform"
    R_half = platform.R @ own.rotation(f"{half}.R", "P", "H")
    p_half = platform.p + platform.R @ own.vector(f"{half}.p", "P")
    assert guess is not None
    start = [guess[at + k] for k in range(len(leg.moving))]
    chain = joint_chain(b, own, leg, plan, (R_half, p_half), start)
    return general_leg_work(b, own, leg, plan, chain, platform, R_half=R_half)


def platform_wrench(values: Values, platform: PlatformState) -> SX:
    """Force and moment (6,) that the platform needs at its frame origin, weight included; world axes.

    The inertia terms are those of any body (Staicu Eq. 21), taken in platform axes, where the tensor is constant.
    """
    R = platform.R.T
    omega, epsilon = R @ platform.w, R @ platform.alpha
    motion = BodyMotion(omega=omega, epsilon=epsilon, gamma=R @ platform.a, matrix=acceleration_matrix(omega, epsilon))
    force, moment = inertia_wrench(inertia(values, "platform", "P"), motion)
    return ca.vertcat((platform.R @ force).expr, (platform.R @ moment).expr)
