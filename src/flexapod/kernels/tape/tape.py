"""Tape: the final operations of a kernel, set-up part and main part, made from a program by the passes.

set-up: parameters -> constants;  main: inputs and constants -> outputs and status.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flexapod.kernels.errors import ProgramError
from flexapod.kernels.passes.dependence import UNIFORM, VARYING
from flexapod.kernels.passes.hoisting import hoist, split_loops
from flexapod.kernels.passes.invariants import simplify
from flexapod.kernels.passes.reciprocals import share_reciprocals
from flexapod.kernels.passes.scheduling import schedule
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.operations import Operations, count_operations
from flexapod.kernels.tape.signature import Signature

if TYPE_CHECKING:
    from flexapod.kernels.tape.program import Program


@dataclass(frozen=True, kw_only=True, eq=False)
class Tape:
    """Both parts, with the boundary they belong to; `single`: see `Program`."""

    signature: Signature
    zeros: tuple[str, ...]
    setup: Graph
    main: Graph
    single: bool = False

    @property
    def inputs(self) -> int:
        """Number of input scalars; the constants follow as arguments of the main part."""
        return sum(i.size for i in self.signature.inputs)

    @property
    def constants(self) -> int:
        """Number of values that the set-up part gives to the main part."""
        return len(self.setup.outputs)

    @property
    def operations(self) -> Operations:
        """Operations of the main part."""
        return count_operations(self.main)

    @property
    def setup_operations(self) -> Operations:
        """Operations of the set-up part."""
        return count_operations(self.setup)

    def to_data(self) -> dict[str, Any]:
        """Plain data for the cache; `from_data` is the inverse."""
        return {
            "signature": self.signature.to_data(),
            "zeros": list(self.zeros),
            "setup": self.setup.to_data(),
            "main": self.main.to_data(),
            "single": self.single,
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Tape:
        """Tape from the data that `to_data` wrote."""
        return Tape(
            signature=Signature.from_data(data["signature"]),
            zeros=tuple(data["zeros"]),
            setup=Graph.from_data(data["setup"]),
            main=Graph.from_data(data["main"]),
            single=data["single"],
        )


FACTORED = 12_000
"""Variables up to which a program is factored: the search takes a second at this size."""


def make_tape(program: Program, zeros: Collection[str] | None = None) -> Tape:
    """Tape of a program, specialised on parameters that are structural zeros."""
    from flexapod.kernels.passes.factoring import factored
    from flexapod.kernels.passes.lowering import lower

    signature = program.signature
    if not signature.outputs:
        raise ProgramError(f"program {program.name!r} has no output")
    zeros = tuple(sorted(zeros or ()))
    unknown = sorted(set(zeros) - {p.name for p in signature.parameters})
    if unknown:
        raise ProgramError(f"zero pattern names unknown parameters: {', '.join(unknown)}")
    inputs, parameters = sum(i.size for i in signature.inputs), len(signature.parameters)
    classes = [VARYING] * inputs + [UNIFORM] * parameters
    graph = improve(lower(program, zeros), classes)
    if program.factored and count_operations(graph).variables <= FACTORED:
        graph = factored(graph, classes, lambda found: count_operations(hoist(found, inputs, parameters)[1]).total)
    setup, main = hoist(graph, inputs, parameters)
    return Tape(signature=signature, zeros=zeros, setup=schedule(setup), main=schedule(main), single=program.single)


def improve(graph: Graph, classes: list[int]) -> Graph:
    """All passes before the cut into set-up and main part."""
    graph = _simplified(graph)
    graph = _simplified(share_reciprocals(graph, classes))
    return _simplified(split_loops(graph, classes)) if graph.loops else graph


def _simplified(graph: Graph) -> Graph:
    """Simplify; once more where loops may pass on what came out of their inner loops."""
    before = _size(graph)
    graph = simplify(graph)
    return simplify(graph) if graph.loops and _size(graph) != before else graph


def _size(graph: Graph) -> int:
    """Nodes and operands, bodies of loops included."""
    return len(graph.ops) + sum(len(graph.args[k]) + _size(loop.body) for k, loop in graph.loops.items())
