"""Inverse dynamics body by body: actuator forces and every joint reaction, with friction (Kim & Ryu 2002, Eqs. 4-32)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.chain_leg import ChainLeg
from flexapod.equations.newton_euler.constraint_plan import Undetermined, check_structure, constraint_plan, plain, undetermined
from flexapod.equations.newton_euler.force_parts import Contributions, force_contributions
from flexapod.equations.newton_euler.friction_coupling import joint_friction, solve_friction
from flexapod.equations.newton_euler.friction_points import FrictionPoint, friction_points, refuse_open_loads
from flexapod.equations.newton_euler.leg import LegLoads, LegModel, rotor_loads
from flexapod.equations.newton_euler.mechanism import Loads, Mechanism
from flexapod.equations.newton_euler.platform_system import AxialSystem, GeneralSystem
from flexapod.equations.newton_euler.reactions import leg_reactions
from flexapod.equations.newton_euler.universal_leg_force import UniversalLeg
from flexapod.equations.newton_euler.universal_motion import Spin
from flexapod.equations.newton_euler.wrench import Wrench, at_rest, body_wrench, none, wrench_outputs
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs, wrench_input
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Iterates, TakesChecks
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec
from flexapod.spatial.vector import zero

if TYPE_CHECKING:
    from flexapod.equations.newton_euler.platform_system import PlatformSystem


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A program under construction: its inputs, the mechanism, and the joints with friction."""

    b: Iterates
    values: Values
    platform: FrameMotion
    applied: Wrench
    mechanism: Mechanism
    points: list[FrictionPoint]
    open: Undetermined


def newton_euler(
    robot: Robot,
    *,
    friction: bool = True,
    spin: Spin = "exact",
    contributions: Contributions | None = None,
    closed_form: bool = True,
) -> Program:
    """The program: motion of the platform to actuator forces and joint reactions.

    Args:
        robot: any robot; only its structure is used.
        friction: as in the robot file; False leaves it out.
        spin: of closed-form legs about their own line: exact, or neglected as Kim does (n.omega = 0).
        contributions: also give the parts of the actuator forces (see `force_contributions`).
        closed_form: False treats every leg as a general one (further input `guess`).

    Inputs: position, rotation, velocity, angular_velocity, acceleration, angular_acceleration, `wrench` (6,) external force
    and moment on the platform at its frame origin in world axes, and `guess` for general legs.
    Outputs: `force` (actuators,); `reaction_force`, `reaction_moment` (joints, 3) in the order of `reaction_names`, exerted
    by the base-side body on the next one (closing joint: by the leg on the platform), at the joint centre, world axes,
    without actuator force and friction; with friction `friction_force`, `friction_moment` (joints, 3) likewise; with
    contributions `force_contribution` (parts, actuators). Results of a kernel are finite: reaction components that rigid bodies
    leave undetermined hold one of many solutions here, and `mark_undetermined` must turn them into NaN before they are shown.

    Source: Kim 2002 Eqs. (20)-(32) with the errata. Checked by: tests/equations/test_newton_euler.py.
    """
    b = Program("newton_euler")
    setting = set_up(b, robot, spin, closed_form, friction)
    values, mechanism = setting.values, setting.mechanism
    base = loads(setting, gravity=True, platform=True, legs=True, drives=True, applied=True)
    redundant = setting.open.redundant > 0
    solution = solve_friction(b, mechanism, base, setting.points, redundant)
    carried = joint_friction(mechanism.legs, setting.points, solution.friction, "carried")
    reactions = [
        reaction
        for model, forces, own in zip(mechanism.legs, solution.forces, carried, strict=True)
        for reaction in leg_reactions(model, values.of(f"legs.{model.leg.name}"), forces, own)
    ]
    unit = "N" if set(robot.actuator_units) == {"m"} else "N m" if set(robot.actuator_units) == {"rad"} else "N or N m"
    force = ca.vertcat(*[x for leg in solution.forces for x in leg.actuators])
    b.output("force", force, shape=(len(robot.actuators),), unit=unit, dims=("actuator",))
    wrench_outputs(b, "reaction", reactions)
    if friction:
        shown = joint_friction(mechanism.legs, setting.points, solution.friction, "shown")
        wrench_outputs(b, "friction", [w for leg in shown for w in leg])
    if contributions is not None:
        parts = {
            "gravity": loads(setting, gravity=True),
            "platform_inertia": loads(setting, platform=True),
            "leg_inertia": loads(setting, legs=True),
            "drive_inertia": loads(setting, drives=True),
            "wrench": loads(setting, applied=True),
        }
        table = force_contributions(setting, parts, base, solution, contributions)
        b.output("force_contribution", table, shape=table.shape, unit=unit, dims=("contribution", "actuator"))
    return b


def loads(
    s: Setting,
    *,
    gravity: bool = False,
    platform: bool = False,
    legs: bool = False,
    drives: bool = False,
    applied: bool = False,
) -> Loads:
    """Loads of the robot.

    Args:
        gravity: weight of all bodies.
        platform: inertia of the platform.
        legs: inertia of the legs' bodies, except those of the drives (Kim Eq. 34).
        drives: inertia of bodies on actuated joints of the base (sliders, cranks) and of rotors.
        applied: the external wrench.
    """
    g = s.values.vector("gravity", "W") if gravity else None
    own = s.platform if platform else at_rest(s.platform)
    on_platform = body_wrench(s.values.of("platform"), own, g if g is not None else zero("W"))
    result = [leg_loads(model, s.values, g, legs, drives) for model in s.mechanism.legs]
    return Loads(platform=on_platform - s.applied if applied else on_platform, legs=tuple(result))


def leg_loads(model: LegModel, values: Values, gravity: Vec | None, legs: bool, drives: bool) -> LegLoads:
    """Loads of a leg: weight (None: without), inertia of its bodies, and of those of the drives."""
    moves = [drives if link.actuated and link.parent < 0 else legs for link in model.leg.links]
    axial = rotor_loads(model, values.of(f"legs.{model.leg.name}")) if drives else (0,) * len(model.joints)
    return LegLoads(bodies=model.body_loads(gravity, moves), axial=axial, closing=none())


def set_up(b: Program, robot: Robot, spin: Spin, closed_form: bool, friction: bool) -> Setting:
    """Inputs, legs and the platform's equations."""
    if spin not in ("exact", "neglected"):
        raise InputError(f"newton_euler: spin must be 'exact' or 'neglected', got {spin!r}")
    kim = closed_form and plain(robot)
    if spin == "neglected" and not kim:
        raise InputError(
            f"newton_euler: spin='neglected' is a simplification of six U-P-S, P-U-S or R-U-S legs, and {robot.name} is treated "
            "with general ones; use spin='exact'"
        )
    platform = platform_motion_inputs(b)
    wrench = wrench_input(b)
    guess = guess_input(b, robot, needed=not kim)
    return setting_at(b, Values(b), robot, platform, wrench, guess, spin=spin, friction=friction)


def setting_at(
    b: Iterates,
    values: Values,
    robot: Robot,
    platform: FrameMotion,
    wrench: SX,
    guess: SX | None,
    *,
    spin: Spin = "exact",
    friction: bool = True,
) -> Setting:
    """Legs and the platform's equations for a motion of the platform, in the scope `b` (a program, or a loop's body).

    Args:
        values: of the program itself.
        guess: joint coordinates of all legs to start from; None treats six closed-form legs as Kim does.
    """
    length = values.scalar("characteristic_length")
    legs: Sequence[LegModel]
    if guess is None:
        legs = universal_legs(b, values, robot, platform, spin)
        system: PlatformSystem = AxialSystem(b, legs, platform.p, length)
        left_open = undetermined(robot)
    else:
        check_structure(robot)
        plan = constraint_plan(robot)
        legs = _chains(b, robot, values, platform, guess, plan.complements)
        system = GeneralSystem(b, legs, platform.p, length, plan.kept, plan.dof)
        left_open = undetermined(robot)
    points = refuse_open_loads(b, legs, friction_points(legs, values), left_open.mask) if friction else []
    return Setting(
        b=b, values=values, platform=platform, points=points, open=left_open,
        applied=Wrench(force=Vec(wrench[:3], "W"), moment=Vec(wrench[3:], "W")),
        mechanism=Mechanism(legs=tuple(legs), origin=platform.p, system=system),
    )  # fmt: skip


def universal_legs(
    b: TakesChecks, values: Values, robot: Robot, platform: FrameMotion, spin: Spin = "exact", *, more: SX | None = None
) -> list[UniversalLeg]:
    """Six closed-form legs at a motion of the platform; `more`: see `UniversalLeg`."""
    return [
        UniversalLeg(b, values.of(f"legs.{leg.name}"), leg, form.sign, platform, spin, more=more)
        for leg, form in zip(robot.legs, robot.closed_forms, strict=True)
        if form is not None
    ]


def _chains(
    b: Iterates, robot: Robot, values: Values, platform: FrameMotion, guess: SX, complements: Sequence[Sequence[int]]
) -> list[LegModel]:
    result: list[LegModel] = []
    at = 0
    for leg, plan, complement in zip(robot.legs, robot.plan.legs, complements, strict=True):
        start = [guess[at + k] for k in range(len(leg.moving))]
        result.append(ChainLeg(b, values.of(f"legs.{leg.name}"), leg, plan, platform, start, complement=complement))
        at += len(leg.moving)
    return result
