"""Refusal of programs that do not describe a robot, with the name of one that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexapod.errors import InputError
from flexapod.robot.build import has_inner_loops
from flexapod.robot.elastic_plan import pose_columns, undriven
from flexapod.robot.leg_positions import closes_alone

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
            f"{quantity}: is derived for rigid legs, and {robot.name} has {PLACES['part'](robot)}; use 'inverse_dynamics', "
            "'forward_dynamics' or 'mass_matrix'"
        )
    if quantity in TERMS and holds(robot, "flexible platform"):
        raise InputError(
            f"{quantity}: is derived for a rigid platform, and that of {robot.name} is flexible; use 'inverse_dynamics', "
            "'forward_dynamics' or 'mass_matrix'"
        )
    if quantity == "pose_limits" and None in robot.closed_forms:
        raise InputError(f"pose_limits: needs U-P-S, P-U-S or R-U-S legs; for {robot.name} use pave or check_pose")


INVERSE_DYNAMICS = (
    "virtual_power", "virtual_work", "newton_euler", "minimal_inverse_dynamics", "link_inverse_dynamics",
    "flexible_inverse_dynamics", "elastic_inverse_dynamics",
)  # fmt: skip
"""Programs of actuator forces that enforce a motion."""


NO_FRICTION = (
    "forward dynamics with friction: needs inverse dynamics, which the under-actuated {robot} does not have ({driven} "
    "for {mobility} DOF); set friction=False, or use the verb forward_dynamics, simulate or export_fmu"
)


def refuse_too_few_actuators(robot: Robot, quantity: str) -> None:
    """Refuse actuator forces that enforce a motion, and results that follow from them, as the verb does."""
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
        why = f"is for legs without loops of their own, and {robot.name} has loops inside or between its legs"
        raise InputError(f"{quantity}: {why}; {_next(quantity)}")
    if not closes_alone(robot.legs):
        why = f"closes the legs one by one, and {robot.name} has loops through several legs"
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
    elif len(pose_columns(robot)) != len(robot.plan.platform_independent):
        raise InputError(f"{verb}: the platform's motion does not determine all coordinates of {robot.name}; use linearize")


FLOATING = {
    "inverse_kinematics": (
        "inverse kinematics", "use simulate; pictures of a State at rest show its actuators as near home as possible"
    ),
    "jacobian": ("the Jacobian", "use linearize for its small motions"),
}  # fmt: skip
"""Verb -> its name in a sentence, and what there is instead where actuators move while the platform is at rest."""


def floating(robot: Robot, what: str, instead: str) -> InputError:
    """Error where the platform's motion does not determine that of the actuators."""
    return InputError(
        f"{what}: actuators of {robot.name} can move while its platform is at rest, so that its motion does not determine "
        f"theirs; {instead}"
    )


def undetermined(robot: Robot) -> InputError:
    """Error where the actuators do not determine the platform's pose."""
    count, rest = len(robot.actuators), ", ".join(robot.independent[k] for k in undriven(robot))
    return InputError(
        f"forward kinematics: the {count} actuators of {robot.name} do not determine where all its bodies are: "
        f"with all of them held, {rest} can still move. Actuate it, tie it by a coupling, or choose a home that is not singular"
    )


def _next(quantity: str) -> str:
    """The programs to use instead."""
    if quantity in RIGID_KINEMATICS:
        return "'inverse_kinematics', 'forward_kinematics' and 'jacobian' are programs for all loops"
    return "'inverse_dynamics', 'forward_dynamics' and 'mass_matrix' are programs for all loops"


RIGID_KINEMATICS = ("platform_from_actuators", "workspace", "pose_limits")
"""Programs of kinematics that close every leg by itself."""
