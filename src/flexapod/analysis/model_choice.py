"""Which program gives a quantity of a robot, by formulation, with or without the final solve; and its tape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flexapod.analysis.kernels import PROGRAMS, parameter_values, unknown_quantity
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.kernels import Program, Tape
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
    "inverse_dynamics": {"closed_form": "flexible_inverse_dynamics", "general": "general_flexible_inverse_dynamics"},
    "forward_dynamics": {"closed_form": "flexible_forward_dynamics", "general": "general_flexible_forward_dynamics"},
    "mass_matrix": {"closed_form": "flexible_mass_matrix", "general": "general_flexible_mass_matrix"},
}
FLEXIBLE_LEGS = {
    "inverse_dynamics": {
        "link_axes": "elastic_inverse_dynamics",
        "articulated": "elastic_inverse_dynamics",
        "world_axes": "elastic_inverse_dynamics",
    },
    "forward_dynamics": {
        "link_axes": "elastic_forward_dynamics",
        "articulated": "elastic_forward_dynamics",
        "projected": "elastic_forward_dynamics",
        "world_axes": "elastic_forward_dynamics",
    },
    "mass_matrix": {"link_axes": "elastic_mass_matrix", "world_axes": "elastic_mass_matrix"},
}
"""Quantity -> formulation -> program, for each kind of robot; the first formulation that applies is the default."""

OPTIONS: dict[str, dict[str, Any]] = {
    "newton_euler": {"friction": False},
    "link_axes": {"axes": "links"},
    "articulated": {"axes": "articulated"},
    "world_axes": {"axes": "world"},
    "projected": {"axes": "projected"},
}
"""Formulation -> options of its program."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A program of a quantity.

    Args:
        quantity: as asked for; without the solve it is the mass matrix.
        formulation: its name.
        program: name that `kernel` knows.
        options: of the program.
    """

    quantity: str
    formulation: str
    program: str
    options: Mapping[str, Any]


def formulations(robot: Robot) -> Mapping[str, Mapping[str, str]]:
    """Quantity -> formulation -> program of a robot."""
    if robot.elastic_legs:
        return {quantity: _preferred(robot, found) for quantity, found in FLEXIBLE_LEGS.items()}
    return FLEXIBLE_PLATFORM if robot.flexible_platform is not None else RIGID


def _preferred(robot: Robot, found: Mapping[str, str]) -> dict[str, str]:
    """Articulated bodies first where legs are long."""
    from flexapod.equations.elastodynamics.articulated_assembly import is_long

    first = ["articulated"] if "articulated" in found and is_long(robot) else []
    return {name: found[name] for name in [*first, *(n for n in found if n not in first)]}


def choose_model(
    robot: Robot, quantity: str, *, solve: bool = True, formulation: str | None = None, friction: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> Choice:  # fmt: skip
    """The program of a quantity; refusals say what there is."""
    known = formulations(robot)
    given = dict(options or {})
    if friction:
        known = _with_friction(robot, quantity, known, solve)
        given |= {"friction": True} if quantity != "forward_dynamics" or robot.elastic_legs else {}
    elif friction is not None and quantity not in known:
        given["friction"] = friction
    if not solve:
        if quantity not in ("inverse_dynamics", "forward_dynamics") or (quantity == "inverse_dynamics" and known is RIGID):
            raise InputError(
                f"{quantity} of {robot.name} has no final system to leave out; solve=False applies to forward_dynamics"
                " and, of flexible robots, to inverse_dynamics"
            )
        if formulation in ("projected", "articulated"):
            formulation = "link_axes"
        if formulation not in (None, *known["mass_matrix"]):
            raise InputError(
                f"the mass matrix of {robot.name} is not formed by {formulation}; choose {', '.join(known['mass_matrix'])}"
            )
        quantity = "mass_matrix"
    if quantity not in known:
        return _direct(robot, quantity, formulation, given)
    candidates = known[quantity]
    if formulation is not None:
        if formulation not in candidates:
            raise InputError(f"no formulation '{formulation}' of {quantity} for {robot.name}; there are: {', '.join(candidates)}")
        candidates = {formulation: candidates[formulation]}
    problem: FlexapodError | None = None
    for name, program in candidates.items():
        try:
            return Choice(quantity=quantity, formulation=name, program=program, options=_options(robot, name, program, given))
        except FlexapodError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _with_friction(
    robot: Robot, quantity: str, known: Mapping[str, Mapping[str, str]], solve: bool
) -> Mapping[str, Mapping[str, str]]:
    """Formulations that have the friction of the robot file."""
    from flexapod.analysis.abilities import refuse
    from flexapod.analysis.properties import has_friction

    if not has_friction(robot):
        raise InputError(f"friction: the joints of {robot.name} have none; leave it out")
    if quantity in known and (quantity not in WITH_FRICTION or not solve):
        raise InputError("friction: known in inverse_dynamics and forward_dynamics with their final solve; leave it out")
    if quantity in WITH_FRICTION:
        refuse(robot, quantity, motion="actuators", friction=True)
    return WITH_FRICTION if known is RIGID else known


def _direct(robot: Robot, quantity: str, formulation: str | None, given: dict[str, Any]) -> Choice:
    if quantity not in PROGRAMS:
        raise unknown_quantity("model of", quantity)
    if formulation is not None:
        raise InputError(f"{quantity} has one formulation only; leave formulation out")
    return Choice(quantity=quantity, formulation=quantity, program=quantity, options=_options(robot, quantity, quantity, given))


def _options(robot: Robot, formulation: str, program: str, given: dict[str, Any]) -> dict[str, Any]:
    if program.startswith("minimal_"):
        from flexapod.equations.minimal import plan

        return {"plan": plan(robot), **given}
    if program.startswith("link_"):
        if robot.no_link_plan is not None:
            raise InputError(f"formulation='links' does not apply to {robot.name}: {robot.no_link_plan}")
        return {"zeros": robot.zeros, **given}
    return {**OPTIONS.get(formulation, {}), **given}


def tape_of(robot: Robot, program: Program, constants: str) -> Tape:
    """Operations of a program with parameters as inputs or as the robot's numbers."""
    from flexapod.kernels.specialised import numeric_tape, unrolled_tape

    names = [p.name for p in program.signature.parameters]
    values = dict(zip(names, map(float, parameter_values(robot, program.signature)), strict=True))
    if constants == "numbers":
        return numeric_tape(program, values)
    return unrolled_tape(program, robot.zeros & set(names), values)
