"""Unrolling: a graph copied into another one, with short counted loops written out.

Arguments become any references of the target, so that numbers put in place of parameters fold on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .graph import Graph, Loop
from .value_numbering import Numbering

LARGEST = 4000
"""Operations up to which a counted loop is written out."""


def instantiate(n: Numbering, graph: Graph, arguments: Sequence[int], largest: int = LARGEST) -> list[int]:
    """Add a graph's operations to another one; returns the references of its outputs.

    Counted loops of at most `largest` operations are written out; iterate-until stays.

    Checked by: tests/generator/test_specialised.py.
    """
    refs: dict[int, int] = {}
    results: dict[int, list[int]] = {}

    def new(ref: int) -> int:
        return n.neg(refs[ref >> 1]) if ref & 1 else refs[ref >> 1]

    for node, op in enumerate(graph.ops):
        args = graph.args[node]
        if op == "const":
            refs[node] = n.const(graph.values[node])
        elif op == "arg":
            refs[node] = arguments[args[0]]
        elif op == "result":
            refs[node] = results[args[0]][args[1]]
        elif op == "loop":
            results[node] = _loop(n, graph.loops[node], [new(ref) for ref in args], largest)
        else:
            refs[node] = n.make(op, *[new(ref) for ref in args])
    return [new(ref) for ref in graph.outputs]


def _loop(n: Numbering, loop: Loop, operands: list[int], largest: int) -> list[int]:
    """Results of a loop, written out if it is counted and short."""
    if loop.tolerance is None and loop.count * len(loop.body.ops) <= largest:
        carry, shared = list(loop.carry_operands(operands)), loop.shared_operands(operands)
        stacked: list[list[int]] = [[] for _ in range(loop.stacked)]
        for i in range(loop.count):
            each = [loop.each_operands(operands, j)[i] for j in range(loop.each)]
            outputs = instantiate(n, loop.body, [n.const(float(i)), *each, *carry, *shared], largest)
            carry = outputs[: loop.carry]
            for group, ref in zip(stacked, outputs[loop.carry :], strict=True):
                group.append(ref)
        return [*carry, *(ref for group in stacked for ref in group)]
    body = Numbering()
    body.graph.outputs = instantiate(body, loop.body, [body.arg(i) for i in range(loop.body.arity)], largest)
    body.graph.arity = loop.body.arity
    node = n.loop(replace(loop, body=body.graph), operands)
    count = loop.carry + (2 if loop.tolerance is not None else loop.stacked * loop.count)
    return [n.result(node, k) for k in range(count)]
