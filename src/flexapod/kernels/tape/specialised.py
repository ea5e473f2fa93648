"""Specialised tapes: parameters as inputs with a set-up part, or as numbers folded into the model.

With numbers the tape is the model of exactly one robot, as symbolic generators for serial robots write it: products with 0 and 1,
equal products and sums of constants disappear, and nothing is left for a set-up part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flexapod.kernels.errors import ProgramError
from flexapod.kernels.passes.dependence import UNIFORM, VARYING
from flexapod.kernels.passes.factoring import factored
from flexapod.kernels.passes.hoisting import hoist
from flexapod.kernels.passes.invariants import simplify
from flexapod.kernels.passes.lowering import lower
from flexapod.kernels.passes.scheduling import schedule
from flexapod.kernels.passes.unrolling import instantiate
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.operations import count_operations
from flexapod.kernels.tape.signature import Parameter
from flexapod.kernels.tape.tape import Tape, improve

if TYPE_CHECKING:
    from flexapod.kernels.tape.program import Program

SNAP = 4e-16
"""Dimensionless parameters (entries of rotations, unit vectors) this near to -1, 0 or 1 are meant to be it."""

DIGITS = 15
"""Digits of the numbers in a model: moments that are equal but for rounding become equal, and products with them one."""


def unrolled_tape(program: Program, zeros: Collection[str] = (), values: Mapping[str, float] | None = None) -> Tape:
    """Tape with short loops written out; parameters stay inputs.

    Args:
        zeros: parameters that are structurally zero.
        values: if given, dimensionless parameters (entries of rotations, unit vectors) that are -1, 0 or 1 are structure too.
            Parameters that are structure leave the signature.
    """
    s = program.signature
    inputs = sum(i.size for i in s.inputs)
    structure = {} if values is None else _structure(s.parameters, zeros, values)
    left = [p for p in s.parameters if p.name not in structure]
    graph = _placed(lower(program, zeros), inputs, s.parameters, structure)
    classes = [VARYING] * inputs + [UNIFORM] * len(left)

    def cost(graph: Graph) -> int:
        return count_operations(hoist(graph, inputs, len(left))[1]).total

    graph = factored(improve(graph, classes), classes, cost)
    setup, main = hoist(graph, inputs, len(left))
    kept = tuple(sorted(zeros)) if values is None else ()
    return Tape(signature=replace(s, parameters=tuple(left)), zeros=kept, setup=schedule(setup), main=schedule(main))


def numeric_tape(program: Program, values: Mapping[str, float]) -> Tape:
    """Tape with every parameter replaced by its value.

    Checked by: tests/generator/test_specialised.py.
    """
    s = program.signature
    missing = [p.name for p in s.parameters if p.name not in values]
    if missing:
        raise ProgramError(f"no value for {', '.join(missing)}")
    inputs = sum(i.size for i in s.inputs)
    numbers = {p.name: float(f"{_snapped(p, float(values[p.name])):.{DIGITS}g}") for p in s.parameters}
    classes = [VARYING] * inputs
    graph = improve(_placed(lower(program), inputs, s.parameters, numbers), classes)
    graph = factored(graph, classes, lambda graph: count_operations(graph).total)
    return Tape(signature=replace(s, parameters=()), zeros=(), setup=Graph(arity=0), main=schedule(graph))


def _placed(graph: Graph, inputs: int, parameters: Sequence[Parameter], numbers: Mapping[str, float]) -> Graph:
    """Numbers in place of some parameters, folded; the others close up."""
    n = Numbering()
    arguments = [n.arg(i) for i in range(inputs)]
    for p in parameters:
        arguments.append(n.const(numbers[p.name]) if p.name in numbers else n.arg(n.graph.arity))
    n.graph.arity = max(n.graph.arity, inputs)
    n.graph.outputs = instantiate(n, graph, arguments)
    placed = simplify(n.graph)
    return simplify(placed) if placed.loops else placed


def _structure(parameters: Sequence[Parameter], zeros: Collection[str], values: Mapping[str, float]) -> dict[str, float]:
    found = {p.name: _snapped(p, float(values[p.name])) for p in parameters if not p.unit}
    return {name: x for name, x in found.items() if x in (-1.0, 0.0, 1.0)} | dict.fromkeys(zeros, 0.0)


def _snapped(parameter: Parameter, value: float) -> float:
    if not parameter.unit:
        for whole in (-1.0, 0.0, 1.0):
            if abs(value - whole) <= SNAP:
                return whole
    return value
