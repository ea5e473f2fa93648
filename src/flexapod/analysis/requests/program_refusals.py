"""Programs that do not describe a robot, refused with what there is instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexapod.errors import InputError
from flexapod.robot.build import has_inner_loops
from flexapod.robot.chain import closes_alone
from flexapod.robot.elastic_plan import posed, undriven

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

RIGID_BODIES = (
    "virtual_power", "virtual_work", "newton_euler", "minimal_", "link_inverse", "link_forward", "forward_dynamics",
    "mass_matrix", "gravity_force", "coriolis_force", "forward_friction", "friction_force", "motion_derivatives",
    "value_derivatives", "flexible_",
)  # fmt: skip
"""Beginnings of programs whose legs are rigid and free of springs and force elements."""


TERMS = ("gravity_force", "coriolis_force", "friction_force")
"""Terms of the equations of rigid robots."""


def refuse_other_bodies(robot: Robot, quantity: str) -> None:
    """Refuse programs of rigid legs for robots with others."""
    from flexapod.analysis.requests.properties import PLACES, holds

    deflects = quantity in ("inertia_regressor", "joint_loads") and holds(robot, "unmeasured deflections")
    if deflects or (quantity.startswith(RIGID_BODIES) and holds(robot, "more than masses")):
        raise InputError(
            f"{quantity}: has equations of rigid legs, and {robot.name} has {PLACES['part'](robot)}; 'inverse_dynamics', "
            "'forward_dynamics' and 'mass_matrix' are those of this robot"
        )
    if quantity in TERMS and holds(robot, "flexible platform"):
        raise InputError(
            f"{quantity}: has equations of a rigid platform, and that of {robot.name} is flexible; 'inverse_dynamics', "
            "'forward_dynamics' and 'mass_matrix' are those of this robot"
        )
    if quantity == "pose_limits" and None in robot.closed_forms:
        raise InputError(f"pose_limits: takes robots on U-P-S, P-U-S or R-U-S legs; pave and check_pose take {robot.name}")


INVERSE_DYNAMICS = (
    "virtual_power", "virtual_work", "newton_euler", "minimal_inverse_dynamics", "link_inverse_dynamics",
    "flexible_inverse_dynamics", "elastic_inverse_dynamics",
)  # fmt: skip
"""Programs of actuator forces that enforce a motion."""


NO_FRICTION = (
    "forward dynamics with friction: found by inverse dynamics, which the under-actuated {robot} does not have ({driven} "
    "for {mobility} DOF); friction=False leaves it out, the verb forward_dynamics, simulate and export_fmu have it"
)


def refuse_too_few_actuators(robot: Robot, quantity: str) -> None:
    """Refuse actuator forces that enforce a motion, and what is found by them, as the verb does."""
    from flexapod.analysis.requests.abilities import UNDERACTUATED, wording
    from flexapod.analysis.requests.properties import holds

    verb = "inverse_dynamics" if quantity in INVERSE_DYNAMICS else quantity
    if verb not in ("inverse_dynamics", "friction_force", "forward_friction") or not holds(robot, "under-actuated"):
        return
    raise InputError(wording(robot, verb, "", NO_FRICTION if verb == "forward_friction" else UNDERACTUATED))


ANY_LOOPS = ("elastic_", "recursive_", "loop_", "long_")
"""Beginnings of programs that take loops of any kind."""
LEG_BY_LEG = (
    "inverse_kinematics", "forward_kinematics", "platform_from_actuators", "jacobian", "workspace", "pose_limits",
    "virtual_power", "forward_dynamics", "mass_matrix", "gravity_force", "coriolis_force", "motion_derivatives",
    "value_derivatives", "inertia_regressor",
)  # fmt: skip
"""Programs that close every leg by itself, whatever loops are in it. All others take legs that close once."""


def refuse_inner_loops(robot: Robot, quantity: str) -> None:
    """Refuse programs that do not take the robot's loops."""
    if quantity.startswith("loop_"):
        _refuse_undetermined(robot, quantity.removeprefix("loop_"))
    if quantity.startswith(ANY_LOOPS):
        return
    if quantity not in LEG_BY_LEG and has_inner_loops(robot.legs):
        why = f"takes legs that close once, and {robot.name} has loops inside or between its legs"
        raise InputError(f"{quantity}: {why}; {_next(quantity)}")
    if not closes_alone(robot.legs):
        why = f"closes the legs one by one, and loops of {robot.name} run through several legs"
        raise InputError(f"{quantity}: {why}; {_next(quantity)}")


def _refuse_undetermined(robot: Robot, verb: str) -> None:
    """Refuse kinematics of all loops where pose or actuators do not determine all coordinates."""
    if robot.elastic_names:
        raise InputError(
            f"{verb}: {robot.name} deforms, so that neither pose nor actuators determine its coordinates; the verb {verb} finds "
            "its deflection"
        )
    if verb == "forward_kinematics":
        if undriven(robot):
            raise undetermined(robot)
    elif robot.floats:
        raise floating(robot, *FLOATING[verb])
    elif len(posed(robot)) != len(robot.plan.platform_independent):
        raise InputError(f"{verb}: the platform's motion does not determine all coordinates of {robot.name}; linearize has them")


FLOATING = {
    "inverse_kinematics": (
        "inverse kinematics", "simulate has them, and a State at rest is drawn as near home as it can be"
    ),
    "jacobian": ("the Jacobian", "linearize describes its small motions"),
}  # fmt: skip
"""Verb -> its name in a sentence, and what there is instead where actuators move while the platform is at rest."""


def floating(robot: Robot, what: str, instead: str) -> InputError:
    """Why the platform's motion does not give that of the actuators."""
    return InputError(
        f"{what}: actuators of {robot.name} can move while its platform is at rest, so that its motion does not give theirs; "
        f"{instead}"
    )


def undetermined(robot: Robot) -> InputError:
    """Why actuators do not give the platform's pose."""
    count, rest = len(robot.actuators), ", ".join(robot.independent[k] for k in undriven(robot))
    return InputError(
        f"forward kinematics: the {count} actuators of {robot.name} do not determine where all its bodies are: "
        f"with all of them held, {rest} can move. Drive that, tie it by a coupling, or choose a home that is not singular"
    )


def _next(quantity: str) -> str:
    """What there is instead."""
    if quantity in RIGID_KINEMATICS:
        return "'inverse_kinematics', 'forward_kinematics' and 'jacobian' are programs for all loops"
    return "'inverse_dynamics', 'forward_dynamics' and 'mass_matrix' are programs for all loops"


RIGID_KINEMATICS = ("platform_from_actuators", "workspace", "pose_limits")
"""Programs of kinematics that close every leg by itself."""
