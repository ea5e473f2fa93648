"""Specialised tapes: parameters as inputs with a set-up part, or as numbers folded into the model.

With numbers the tape is the model of exactly one robot, as symbolic generators for serial robots write it: products with 0 and 1,
equal products and sums of constants disappear, and nothing is left for a set-up part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from .dependence import UNIFORM, VARYING
from .errors import ProgramError
from .graph import Graph
from .hoisting import hoist
from .lowering import lower
from .scheduling import schedule
from .signature import Parameter
from .tape import Tape, improve
from .unrolling import put_numbers, unroll

if TYPE_CHECKING:
    from .program import Program

SNAP = 4e-16
"""Dimensionless parameters (entries of rotations, unit vectors) this near to -1, 0 or 1 are meant to be it."""


def unrolled_tape(program: Program, zeros: Collection[str] = ()) -> Tape:
    """Tape with short loops written out; parameters stay inputs."""
    s = program.signature
    zeros = tuple(sorted(zeros))
    inputs, parameters = sum(i.size for i in s.inputs), len(s.parameters)
    classes = [VARYING] * inputs + [UNIFORM] * parameters
    setup, main = hoist(improve(unroll(lower(program, zeros)), classes), inputs, parameters)
    return Tape(signature=s, zeros=zeros, setup=schedule(setup), main=schedule(main))


def numeric_tape(program: Program, values: Mapping[str, float]) -> Tape:
    """Tape with every parameter replaced by its value.

    Checked by: tests/generator/test_specialised.py.
    """
    s = program.signature
    missing = [p.name for p in s.parameters if p.name not in values]
    if missing:
        raise ProgramError(f"no value for {', '.join(missing)}")
    inputs = sum(i.size for i in s.inputs)
    numbers = {inputs + k: _snapped(p, float(values[p.name])) for k, p in enumerate(s.parameters)}
    graph = lower(program)
    graph.arity = inputs + len(s.parameters)
    graph = put_numbers(graph, numbers)
    graph = improve(graph, [VARYING] * graph.arity)
    graph.arity = inputs
    return Tape(signature=replace(s, parameters=()), zeros=(), setup=Graph(arity=0), main=schedule(graph))


def _snapped(parameter: Parameter, value: float) -> float:
    if not parameter.unit:
        for whole in (-1.0, 0.0, 1.0):
            if abs(value - whole) <= SNAP:
                return whole
    return value
