"""Choice of the program for a quantity of a robot: by formulation, with or without the final solve; and its tape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flexapod.analysis.model.kernels import PROGRAMS, parameter_values, program_options, unknown_quantity
from flexapod.analysis.model.programs import WITH_FRICTION, formulations, usual_program, warn_loads
from flexapod.analysis.requests.program_refusals import refuse_other_bodies
from flexapod.analysis.requests.properties import PROPERTIES, has_friction
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.kernels.tape.program import Program
    from flexapod.kernels.tape.tape import Tape
    from flexapod.robot.robot import Robot

OPTIONS: dict[str, dict[str, Any]] = {
    "newton_euler": {"friction": False},
    "link_axes": {"axes": "links"},
    "articulated": {"axes": "articulated"},
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


def choose_model(
    robot: Robot, quantity: str, *, solve: bool = True, formulation: str | None = None, friction: bool | None = None,
    options: Mapping[str, object] | None = None,
) -> Choice:  # fmt: skip
    """The program of a quantity; refusals say what there is."""
    known = formulations(robot)
    given = dict(options or {})
    if friction:
        known = _with_friction(robot, quantity, known, solve)
        given |= {"friction": True} if quantity != "forward_dynamics" or PROPERTIES["flexible legs"](robot) else {}
    elif friction is not None and quantity not in known:
        given["friction"] = friction
    if not solve:
        solved = ("forward_dynamics",) if PROPERTIES["rigid"](robot) else ("inverse_dynamics", "forward_dynamics")
        if quantity not in solved:
            raise InputError(
                f"solve=False: {quantity} of {robot.name} solves no linear system; solve=False applies to forward_dynamics"
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
    from flexapod.analysis.requests.abilities import refuse

    if not has_friction(robot):
        raise InputError(f"friction: the joints of {robot.name} have none; leave it out")
    if quantity in known and (quantity not in WITH_FRICTION or not solve):
        raise InputError("friction: available in inverse_dynamics and in forward_dynamics with its final solve; leave it out")
    if quantity in PROGRAMS and quantity not in known and "friction" not in program_options(quantity):
        raise InputError(f"friction: {quantity} has no such option; leave it out")
    if quantity in WITH_FRICTION:
        refuse(robot, quantity, motion="actuators", friction=True)
    if PROPERTIES["rigid"](robot):
        return WITH_FRICTION
    warn_loads(robot, quantity)
    return known


def _direct(robot: Robot, quantity: str, formulation: str | None, given: dict[str, object]) -> Choice:
    if quantity not in PROGRAMS:
        raise unknown_quantity("model of", quantity)
    program, chosen = usual_program(robot, quantity, True)
    refuse_other_bodies(robot, program)
    if formulation is not None:
        raise InputError(f"{quantity} has one formulation only; leave formulation out")
    options = _options(robot, quantity, program, {**chosen, **given})
    return Choice(quantity=quantity, formulation=quantity, program=program, options=options)


def _options(robot: Robot, formulation: str, program: str, given: dict[str, object]) -> dict[str, Any]:
    if program.startswith("minimal_"):
        from flexapod.equations.minimal import plan

        return {"plan": plan(robot), **given}
    if program.startswith("link_"):
        if robot.no_link_plan is not None:
            raise InputError(f"formulation='links' does not apply to {robot.name}: {robot.no_link_plan}")
        return {"zeros": robot.zeros, **given}
    return {**({} if program == "elastic_mass_matrix" else OPTIONS.get(formulation, {})), **given}


def tape_of(robot: Robot, program: Program, constants: str) -> Tape:
    """Operations of a program with parameters as inputs or as the robot's numbers."""
    from flexapod.kernels.tape.specialised import numeric_tape, unrolled_tape

    names = [p.name for p in program.signature.parameters]
    values = dict(zip(names, map(float, parameter_values(robot, program.signature)), strict=True))
    if constants == "numbers":
        return numeric_tape(program, values)
    return unrolled_tape(program, robot.zeros & set(names), values)
