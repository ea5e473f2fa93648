"""`count_table`: operators of a robot's models by formulation and option, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flexapod.analysis.model.kernels import make_program
from flexapod.analysis.model.model_choice import choose_model, tape_of
from flexapod.analysis.model.programs import formulations
from flexapod.analysis.requests.arguments import check_texts, checked
from flexapod.analysis.requests.results import check_option
from flexapod.analysis.verbs.generate import CONSTANTS, OperatorCount, counts
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

COLUMNS = (
    "quantity", "formulation", "final solve", "constants", "solved for",
    "+ and -", "x and /", "functions", "total", "variables", "set-up",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CountRow:
    """Operation counts of one model.

    Args:
        quantity, formulation, constants: as for `generate`.
        solve: a final system of equations is solved, or left out; None where there is none.
        dependents: coordinates that the loops are solved for; empty for the usual ones.
        operations: per sample; setup: once per parameter set.
    """

    quantity: str
    formulation: str
    constants: str
    solve: bool | None
    dependents: tuple[str, ...]
    operations: OperatorCount
    setup: OperatorCount


@dataclass(frozen=True, kw_only=True)
class CountTable:
    """All models of a robot; prints as text, `markdown` for a page, `rows` for work. `refused`: what does not apply, and why."""

    robot: str
    rows: tuple[CountRow, ...]
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Head of the table."""
        return COLUMNS

    def cells(self) -> list[tuple[str, ...]]:
        """Text of all rows."""
        solve = {True: "yes", False: "no", None: "-"}
        return [
            (
                r.quantity, r.formulation, solve[r.solve], r.constants, ", ".join(r.dependents) or "usual",
                *(str(n) for n in (r.operations.adds, r.operations.multiplies, r.operations.functions)),
                str(r.operations.total), str(r.operations.variables), str(r.setup.total),
            )
            for r in self.rows
        ]  # fmt: skip

    @property
    def markdown(self) -> str:
        """The table for a page."""
        lines = [COLUMNS, ("---",) * 5 + ("--:",) * 6, *self.cells()]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    def __str__(self) -> str:
        from flexapod.robot.summary import Table

        return str(Table(columns=COLUMNS, rows=tuple(self.cells())))

    def __repr__(self) -> str:
        return f"<counts of {len(self.rows)} models of {self.robot}>"

    def least(self, quantity: str, **fields: object) -> CountRow:
        """The row of a quantity with the fewest operations; fields choose among rows, e.g. ``constants="numbers"``."""
        found = [r for r in self.rows if r.quantity == quantity and all(getattr(r, k) == v for k, v in fields.items())]
        if not found:
            raise InputError(f"no counted model of {quantity} for {self.robot}")
        return min(found, key=lambda r: r.operations.total)


@checked
def count_table(
    robot: Robot,
    quantities: Sequence[str] | None = None,
    *,
    constants: Sequence[str] = CONSTANTS,
    dependents: Sequence[Sequence[str]] = (),
) -> CountTable:
    """Operators of every formulation of some quantities, with constants as inputs and as numbers.

    Args:
        robot: any robot.
        quantities: ``"inverse_dynamics"``, ``"forward_dynamics"``, ``"mass_matrix"`` (the model without the final solve), or any
            name that `generate` knows; left out: these three.
        constants: ``"inputs"``, ``"numbers"`` or both.
        dependents: further choices of coordinates that the loops are solved for, e.g. ``[("q11", "q22")]``; robots with
            flexible legs only.
    Returns:
        `CountTable` with a row per formulation, and what does not apply to the robot, with the reason.

    Checked by: tests/generator/test_count_table.py.
    """
    check_texts("constants", constants)
    for chosen in dependents if isinstance(dependents, Sequence) and not isinstance(dependents, str) else [None]:
        check_texts("dependents", chosen)
    for one in constants:
        check_option("constants", one, CONSTANTS)
    known = formulations(robot)
    rows: list[CountRow] = []
    refused: list[tuple[str, str]] = []
    for chosen in [(), *map(tuple, dependents)]:
        variant = _variant(robot, chosen)
        for quantity in quantities or tuple(known):
            for formulation in known.get(quantity, {None: quantity}):
                try:
                    rows += _rows(variant, quantity, formulation, constants, chosen)
                except FlexapodError as error:
                    refused.append((f"{quantity}, {formulation}" if formulation else quantity, str(error)))
    if not rows:
        empty = "quantities: is empty; name one or more, e.g. 'inverse_dynamics', or leave it out"
        raise InputError(refused[0][1] if refused else empty)
    return CountTable(robot=robot.name, rows=tuple(rows), refused=tuple(refused))


def _variant(robot: Robot, dependents: Sequence[str]) -> Robot:
    if not dependents:
        return robot
    from flexapod.robot.chosen_dependents import with_dependents

    return with_dependents(robot, dependents)


def _rows(
    robot: Robot, quantity: str, formulation: str | None, constants: Sequence[str], dependents: tuple[str, ...]
) -> list[CountRow]:
    """Rows of one formulation; its program is derived once."""
    from flexapod.kernels.text.listing import make_listing

    choice = choose_model(robot, quantity, formulation=formulation)
    program = make_program(robot, choice.program, choice.options)
    solved = quantity == "forward_dynamics" or (quantity == "inverse_dynamics" and bool(robot.elastic_names))
    rows = []
    for one in constants:
        tape = tape_of(robot, program, one)
        operations, setup = counts(tape, make_listing(tape))
        rows.append(
            CountRow(
                quantity=quantity, formulation=choice.formulation, constants=one, dependents=dependents,
                solve=True if solved else False if quantity == "mass_matrix" else None, operations=operations, setup=setup,
            )
        )  # fmt: skip
    return rows
