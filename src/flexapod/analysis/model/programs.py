"""Programs by quantity and formulation: one table, from which kernels, exports and counts are chosen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from flexapod.analysis.requests.properties import PROPERTIES, depends_on_loads, has_friction
from flexapod.errors import FlexapodWarning
from flexapod.robot.leg_positions import closes_alone

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

RIGID = {
    "inverse_dynamics": {
        "minimal": "minimal_inverse_dynamics",
        "links": "link_inverse_dynamics",
        "virtual_power": "virtual_power",
        "virtual_work": "virtual_work",
        "newton_euler": "newton_euler",
    },
    "forward_dynamics": {
        "minimal": "minimal_forward_dynamics",
        "links": "link_forward_dynamics",
        "virtual_power": "forward_dynamics",
    },
    "mass_matrix": {"virtual_power": "mass_matrix"},
}
WITH_FRICTION = {
    "inverse_dynamics": {"newton_euler": "newton_euler"},
    "forward_dynamics": {"iterated": "forward_friction"},
}
FLEXIBLE_PLATFORM = {
    "inverse_dynamics": {"closed_form": "flexible_inverse_dynamics", "general": "elastic_inverse_dynamics"},
    "forward_dynamics": {"closed_form": "flexible_forward_dynamics", "general": "elastic_forward_dynamics"},
    "mass_matrix": {"closed_form": "flexible_mass_matrix", "general": "elastic_mass_matrix"},
}
FLEXIBLE_LEGS = {
    "inverse_dynamics": {
        "link_axes": "elastic_inverse_dynamics",
        "articulated": "elastic_inverse_dynamics",
        "projected": "elastic_inverse_dynamics",
    },
    "forward_dynamics": {
        "link_axes": "elastic_forward_dynamics",
        "articulated": "elastic_forward_dynamics",
        "projected": "elastic_forward_dynamics",
    },
    "mass_matrix": {"link_axes": "elastic_mass_matrix"},
}

BY_PROPERTY = (("flexible legs", FLEXIBLE_LEGS), ("flexible platform", FLEXIBLE_PLATFORM), ("rigid", RIGID))
"""Property of a robot -> quantity -> formulation -> program; the first formulation that applies is the default."""


LOOPS = {
    "inverse_kinematics": "loop_inverse_kinematics",
    "forward_kinematics": "loop_forward_kinematics",
    "jacobian": "loop_jacobian",
}
"""Quantity -> program that closes all loops together, for those that run through several legs or the platform's own link."""
INDEPENDENT = {
    "gravity_force": "elastic_gravity_force",
    "coriolis_force": "elastic_coriolis_force",
    "friction_force": "elastic_friction_force",
}
"""Quantity -> program in independent coordinates, for loops of any kind where nothing deforms."""


def formulations(robot: Robot) -> Mapping[str, Mapping[str, str]]:
    """Quantity -> formulation -> program of a robot."""
    known = next(table for name, table in BY_PROPERTY if PROPERTIES[name](robot))
    return {quantity: _preferred(robot, found) for quantity, found in known.items()}


BY_LEG_MASS = ("link_axes", "articulated")
"""Formulations that divide by the mass of every leg, where they solve for accelerations."""


def _preferred(robot: Robot, found: Mapping[str, str]) -> dict[str, str]:
    """Articulated bodies first where legs are long; none that divides by the mass of legs that move without any."""
    from flexapod.equations.elastodynamics.articulated_assembly import prefers_articulated
    from flexapod.equations.elastodynamics.massless import has_massless_motion

    if "articulated" not in found:
        return dict(found)
    if has_massless_motion(robot):
        return {name: program for name, program in found.items() if name not in BY_LEG_MASS}
    first = ["articulated"] if prefers_articulated(robot) else []
    return {name: found[name] for name in [*first, *(n for n in found if n not in first)]}


def warn_loads(robot: Robot, quantity: str) -> None:
    """Say that a kernel has not the friction by joint loads that the verb finds around it.

    Checked by: tests/bridges/test_casadi_function.py.
    """
    if depends_on_loads(robot):
        warnings.warn(
            f"kernel of {quantity}: the friction of {robot.name} by joint loads (`reaction`, `normal`) is left out, and the "
            f"rest of the friction is in it; the verb {quantity} has all, friction=False leaves out all",
            FlexapodWarning, stacklevel=2,
        )  # fmt: skip


def usual_program(robot: Robot, quantity: str, friction: object) -> tuple[str, dict[str, object]]:
    """The program and its options behind a verb's name; friction that its equations do not have is refused."""
    slides = has_friction(robot)
    if not PROPERTIES["rigid"](robot):
        if quantity not in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            return _of_loops(robot, quantity), {}
        if friction and quantity != "mass_matrix":
            from flexapod.analysis.requests.abilities import refuse

            refuse(robot, quantity, motion="actuators", friction=True)
            warn_loads(robot, quantity)
        program = next(iter(formulations(robot)[quantity].values()))
        return program, {"friction": slides} if program.startswith("elastic_") and quantity != "mass_matrix" else {}
    if quantity != "inverse_dynamics":
        return quantity, {}
    if slides:
        return "newton_euler", {"friction": True}
    from flexapod.analysis.model.rigid_dynamics import (  # imports the derivations, which cached results do not need
        INVERSE,
        usual_formulation,
    )

    return INVERSE[usual_formulation(robot, "auto", loaded=False)], {}


def _of_loops(robot: Robot, quantity: str) -> str:
    """The program of a quantity of a robot whose equations are in independent coordinates."""
    if quantity in LOOPS and not robot.follows_platform:
        return LOOPS[quantity]
    if quantity not in INDEPENDENT or robot.elastic_names or not PROPERTIES["flexible legs"](robot):
        return quantity
    if quantity == "friction_force":
        from flexapod.analysis.requests.abilities import refuse

        refuse(robot, "inverse_dynamics", motion="actuators", friction=True)
        return INDEPENDENT[quantity]
    simple = closes_alone(robot.legs) and not PROPERTIES["more than masses"](robot)
    return quantity if simple else INDEPENDENT[quantity]
