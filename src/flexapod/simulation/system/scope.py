"""Equations inside loops: a substitute for `Program` for one body of a loop.

Programs are written for inputs and outputs of their own. Inside a simulation loop, inputs are expressions, parameters belong to
the root program (under a prefix, so that a controller's model may have other numbers), and checks become a code that a simulation
carries along: a failed simulation keeps what it computed before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.control_flow import Builder, ParameterRows
from flexapod.kernels.tape.program import Program


class Scope:
    """A body of a loop, as equations see it.

    Args:
        root: the program that declares parameters and knows all messages.
        builder: of the body; takes nested loops.
        given: expressions for the inputs by name.
        prefix: put before every parameter name.
        solved: iterations are given their solution as start: they are left out (what polishes their result stays).
    """

    def __init__(
        self, root: Program, builder: Builder, given: Mapping[str, SX] | None = None, prefix: str = "", solved: bool = False
    ) -> None:
        self.root, self.builder, self.prefix, self.solved = root, builder, prefix, solved
        self.given = dict(given or {})
        self.checks: list[tuple[SX, int]] = []
        self.map, self.scan = builder.map, builder.scan

    def under(self, prefix: str, given: Mapping[str, SX] | None = None, solved: bool = False) -> Scope:
        """The same body with other inputs and parameters under a prefix; checks are shared."""
        other = Scope(self.root, self.builder, {**self.given, **(given or {})}, prefix, solved or self.solved)
        other.checks = self.checks
        return other

    def iterate(
        self, fn: Callable[..., tuple[Sequence[SX], SX]], *, start: Sequence[SX], **options: Any
    ) -> tuple[tuple[SX, ...], SX, SX]:
        """Iterate-until of the body, or its start where that is the solution."""
        if self.solved:
            return tuple(ca.SX(x) for x in start), ca.SX(1), ca.SX(0)
        return self.builder.iterate(fn, start=start, **options)

    def input(self, name: str, *_: object, **__: object) -> SX:
        """The expression given for an input."""
        return self.given[name]

    def parameter(self, name: str, *, unit: str = "", doc: str = "") -> SX:
        """A parameter of the root program."""
        return self.root.parameter(self.prefix + name, unit=unit, doc=doc)

    def parameter_rows(self, names: Sequence[str], count: int, *, unit: str = "", doc: str = "") -> ParameterRows:
        """Parameters of the root program as rows that loops read."""
        return self.root.parameter_rows([self.prefix + name for name in names], count, unit=unit, doc=doc)

    def fail_if(self, condition: SX, message: str, **fields: object) -> int:
        """Note a check: its message joins the statuses of the root program, its condition the code of this body."""
        code = self.root.fail_if(ca.SX(0), message, **fields)
        self.checks.append((ca.SX(condition), code))
        return code

    @property
    def code(self) -> SX:
        """Status of the first check that fails, else 0; a condition that is not a number fails."""
        status = ca.SX(0)
        for condition, code in reversed(self.checks):
            status = ca.if_else(condition, code, status)
        return status


def inlined(scope: Scope, program: Program, given: Mapping[str, SX]) -> dict[str, SX]:
    """Outputs of a finished program without loops, at given inputs, inside a scope.

    Args:
        program: straight-line; its checks are noted in the scope.
        given: expressions by input name, in the shape of the input.
    """
    if program._steps:
        raise ValueError(f"{program.name} has loops and cannot be inlined")
    inputs = [ca.vec(ca.SX(given[name]).T) for name in program._inputs]
    parameters = [scope.parameter(p.name, unit=p.unit, doc=p.doc) for p in program.signature.parameters]
    conditions = [c for check in program._checks if (c := check.condition) is not None]  # all have one where nothing is a loop
    whole = ca.Function(
        program.name,
        [program.input_symbols, program.parameter_symbols],
        [ca.vertcat(*program._output_values), ca.vertcat(*conditions) if conditions else ca.SX(0, 1)],
    )
    values, failed = whole(ca.vertcat(*inputs), ca.vertcat(*parameters))
    for k, check in enumerate(program._checks):
        message, fields = program._messages[int(check.code) - 1]
        scope.fail_if(failed[k], message, **fields)
    result, at = {}, 0
    for output in program._outputs.values():
        rows = output.shape[0] if output.shape else 1
        result[output.name] = ca.reshape(values[at : at + output.size], output.size // rows, rows).T
        at += output.size
    return result
