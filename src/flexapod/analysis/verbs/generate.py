"""`generate`: the model of a robot and a quantity written out as intermediate variables, with its operators counted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flexapod.analysis.model.kernels import make_program, parameter_values
from flexapod.analysis.model.model_choice import Choice, choose_model, tape_of
from flexapod.analysis.model.model_names import meanings, short_names
from flexapod.analysis.model.programs import WITH_FRICTION
from flexapod.analysis.requests.arguments import check_flag, check_texts, checked
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.requests.results import check_option
from flexapod.errors import InputError
from flexapod.files import write_whole

if TYPE_CHECKING:
    from flexapod.kernels.tape.operations import Operations
    from flexapod.kernels.tape.signature import Signature
    from flexapod.kernels.tape.tape import Tape
    from flexapod.kernels.text.listing import Listing
    from flexapod.robot.robot import Robot

Form = Literal["python", "c", "matlab", "cpp", "markdown", "latex"]
Constants = Literal["inputs", "numbers"]
FORMS = ("python", "c", "matlab", "cpp", "markdown", "latex")
CONSTANTS = ("inputs", "numbers")
SUFFIX = {"python": ".py", "c": ".c", "matlab": ".m", "cpp": ".hpp", "markdown": ".md", "latex": ".tex"}


@dataclass(frozen=True, kw_only=True)
class OperatorCount:
    """Operators as Briot 2014 section 5 counts them.

    Args:
        adds: + and -.
        multiplies: x and /.
        functions: roots, sines, cosines and other calls.
        variables: intermediate variables, each with at least one operator.
        comparisons: comparisons and selections; not part of the total.
    """

    adds: int
    multiplies: int
    functions: int
    variables: int
    comparisons: int = 0

    @property
    def total(self) -> int:
        """+, -, x, / and functions."""
        return self.adds + self.multiplies + self.functions

    def __str__(self) -> str:
        return (
            f"{self.total} operations: {self.adds} + and -, {self.multiplies} x and /, "
            f"{self.functions} functions; {self.variables} intermediate variables"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Generated:
    """A model written out.

    Args:
        robot, quantity, formulation, constants, form: what it is.
        text: the file's text.
        operations: per sample.
        setup_operations: once per parameter set; none where constants are numbers.
        signature: names, shapes and units at the boundary.
        tape: the operations behind it.
    """

    robot: str
    quantity: str
    formulation: str
    constants: str
    form: str
    text: str
    operations: OperatorCount
    setup_operations: OperatorCount
    signature: Signature
    tape: Tape

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the text to a file; returns its path. A MATLAB function gets the name of its file."""
        target = Path(path)
        if target.is_dir() or not target.parent.is_dir():
            raise InputError(f"{target}: cannot be written; give a file in a folder that exists")
        write_whole({target: self.text_in(target).encode()})
        return target

    def text_in(self, path: Path) -> str:
        """The text for a file: MATLAB finds functions by the names of their files."""
        if self.form != "matlab":
            return self.text
        from flexapod.kernels.text.matlab import renamed

        text = renamed(self.text, path.stem)
        if text is None:
            raise InputError(
                f"{path}: MATLAB calls a function by the name of its file, and {path.stem!r} is not usable as one; it needs a "
                f"letter first, then letters, digits and _, and no word of the function itself: {self.quantity}.m would do"
            )
        return text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.quantity} of {self.robot} as {self.form}: {self.operations}>"


@checked
def generate(
    robot: Robot,
    quantity: str,
    *,
    form: Form = "python",
    constants: Constants = "inputs",
    solve: bool = True,
    formulation: str | None = None,
    dependents: Sequence[str] = (),
    friction: bool | Literal["file"] | None = None,
    **options: object,
) -> Generated:
    """The model of a quantity as intermediate variables: unused ones removed, constants folded, operators counted.

    The function of the text is called as the quantity is, whatever the formulation (of MATLAB: as its file is).

    Args:
        robot: any robot.
        quantity: ``"inverse_dynamics"``, ``"forward_dynamics"``, ``"mass_matrix"``, ``"inverse_kinematics"``, or any name that
            `kernel` knows.
        form: readable ``"python"`` that runs, ``"c"`` (C99), ``"matlab"`` (GNU Octave too), ``"cpp"`` (C++17 header with
            `std::array`), ``"markdown"`` or ``"latex"``.
        constants: ``"inputs"``: parameters stay inputs, what depends on them alone is a set-up part counted by itself;
            ``"numbers"``: the robot's values are put in and folded.
        solve: False stops before the final system is solved: mass matrix and remaining forces instead of accelerations.
        formulation: of the quantity, e.g. ``"virtual_work"``; left out: the first that applies.
        dependents: coordinates that the loops are solved for, of robots with flexible legs, e.g. ``("q12", "q22")``; left out:
            the passive joints.
        friction: True: with the friction of the robot file; ``"file"``: with it where the quantity and the robot have some; left
            out: without it, and programs as `kernel` has them.
        options: of the program, as for `kernel`.
    Returns:
        `Generated`: the text, its operator counts and its signature; `write` writes it to a file.

    Source: Briot 2014 section 4. Checked by: tests/generator/test_generated_text.py.
    """
    check_option("form", form, FORMS)
    check_texts("dependents", dependents)
    if friction == "file":
        friction = True if quantity in WITH_FRICTION and has_friction(robot) else None
    if friction is not None:
        check_flag("friction", friction)
    check_option("constants", constants, CONSTANTS)
    if dependents:
        from flexapod.robot.chosen_dependents import with_dependents

        robot = with_dependents(robot, dependents)
    choice = choose_model(robot, quantity, solve=solve, formulation=formulation, friction=friction, options=options)
    tape = _called(quantity, tape_of(robot, make_program(robot, choice.program, choice.options), constants))
    from flexapod.kernels.text.listing import make_listing

    listing = make_listing(tape, short_names(robot, tape.signature))
    counted = counts(tape, listing)
    return Generated(
        robot=robot.name,
        quantity=quantity,
        formulation=choice.formulation,
        constants=constants,
        form=form,
        text=_text(robot, form, tape, listing, _head(robot, choice, constants, counted)),
        operations=counted[0],
        setup_operations=counted[1],
        signature=tape.signature,
        tape=tape,
    )


def _called(quantity: str, tape: Tape) -> Tape:
    """The operations under the name of the quantity, whichever program they come from."""
    return replace(tape, signature=replace(tape.signature, name=quantity))


def counts(tape: Tape, listing: Listing) -> tuple[OperatorCount, OperatorCount]:
    """Operators per sample, and once per parameter set."""
    from flexapod.kernels.text.statements import variables

    return _counted(tape.operations, variables(listing.main)), _counted(tape.setup_operations, variables(listing.setup))


def _counted(found: Operations, variables: int) -> OperatorCount:
    return OperatorCount(
        adds=found.add,
        multiplies=found.multiply + found.divide,
        functions=found.root + found.function,
        variables=variables,
        comparisons=found.select,
    )


def _about_friction(robot: Robot, choice: Choice) -> str:
    """Text about friction in the head, for robots that have some."""
    if not has_friction(robot) or not choice.quantity.endswith("dynamics"):
        return ""
    return ", with friction" if choice.options.get("friction") or choice.program == "forward_friction" else ", without friction"


def _head(robot: Robot, choice: Choice, constants: str, counted: tuple[OperatorCount, OperatorCount]) -> list[str]:
    """Lines at the head of a text: what it computes, and by how many operators."""
    about = [f"{robot.name}: {choice.quantity} by {choice.formulation.replace('_', ' ')}{_about_friction(robot, choice)}", ""]
    if constants == "numbers":
        about += [f"Constants are the numbers of {robot.name}. Per sample: {counted[0]}."]
    else:
        about += [f"Parameters are inputs. Per sample: {counted[0]}.", f"Once per parameter set: {counted[1]}."]
    return [*about, "Generated by flexapod."]


def _text(robot: Robot, form: str, tape: Tape, listing: Listing, about: list[str]) -> str:
    """The text of a listing in a form, `about` at its head."""
    from flexapod.kernels.text.c import c_listing
    from flexapod.kernels.text.cpp import cpp_text
    from flexapod.kernels.text.markdown import latex_text, markdown_text
    from flexapod.kernels.text.matlab import matlab_text
    from flexapod.kernels.text.python import python_text
    from flexapod.kernels.text.statements import Repeat

    values = dict(zip([p.name for p in tape.signature.parameters], parameter_values(robot, tape.signature).tolist(), strict=True))
    if form == "python":
        return python_text(listing, about, values)
    if form == "c":
        return c_listing(listing, about, values)
    if form == "matlab":
        return matlab_text(listing, about, values)
    if form == "cpp":
        return cpp_text(tape, listing.signature.name, list(values.values()), about)
    if form == "markdown":
        return markdown_text(listing, about, meanings(robot, listing.signature))
    if any(isinstance(s, Repeat) for s in [*listing.setup, *listing.main]):
        raise InputError(
            f"{tape.signature.name} of {robot.name} contains an iteration, which LaTeX cannot list; "
            "use form='markdown', 'python' or 'c'"
        )
    return latex_text(listing, about, meanings(robot, listing.signature))
