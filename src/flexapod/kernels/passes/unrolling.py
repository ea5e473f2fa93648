"""Unrolling: a graph copied into another one, with short counted loops written out.

Arguments become any references of the target, so that numbers put in place of parameters fold on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.walking import walk, written_out

LARGEST = 4000
"""Operations up to which a counted loop is written out."""


def instantiate(n: Numbering, graph: Graph, arguments: Sequence[int], largest: int = LARGEST) -> list[int]:
    """Add a graph's operations to another one; returns the references of its outputs.

    Counted loops of at most `largest` operations are written out; iterate-until stays.

    Checked by: tests/generator/test_specialised.py.
    """
    return walk(
        graph, arguments, const=n.const, neg=n.neg, apply=lambda op, args: n.make(op, *args),
        loop=lambda loop, operands: _loop(n, loop, operands, largest),
    )  # fmt: skip


def _loop(n: Numbering, loop: LoopNode, operands: list[int], largest: int) -> list[int]:
    """Results of a loop, written out if it is counted and short."""
    if loop.tolerance is None and loop.count * len(loop.body.ops) <= largest:
        return written_out(loop, operands, n.const, lambda body, arguments: instantiate(n, body, arguments, largest))
    body = Numbering()
    body.graph.outputs = instantiate(body, loop.body, [body.arg(i) for i in range(loop.body.arity)], largest)
    body.graph.arity = loop.body.arity
    node = n.loop(replace(loop, body=body.graph), operands)
    count = loop.carry + (2 if loop.tolerance is not None else loop.stacked * loop.count)
    return [n.result(node, k) for k in range(count)]
