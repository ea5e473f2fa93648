"""Evaluation of a graph with values of any kind: numbers, arrays, expressions, references of another graph, pairs of them.

Backends and passes that go through the operations in order say what a constant, a negative, an operation and a loop are to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from flexapod.kernels.tape.graph import Graph, LoopNode

T = TypeVar("T")


def walk(
    graph: Graph,
    arguments: Sequence[T],
    *,
    const: Callable[[float], T],
    neg: Callable[[T], T],
    apply: Callable[[str, list[T]], T],
    loop: Callable[[LoopNode, list[T]], list[T]],
) -> list[T]:
    """Outputs of a graph.

    Args:
        arguments: values of the graph's arguments.
        const, neg: value of a number, and the negative of a value.
        apply: value of an operation, a word of `ARITY`, for its operands.
        loop: results of a loop for its operands, in the order of `LoopNode`.

    Checked by: tests/kernels/test_walking.py.
    """
    values: dict[int, T] = {}
    results: dict[int, list[T]] = {}

    def of(ref: int) -> T:
        return neg(values[ref >> 1]) if ref & 1 else values[ref >> 1]

    for node, op in enumerate(graph.ops):
        args = graph.args[node]
        if op == "const":
            values[node] = const(graph.values[node])
        elif op == "arg":
            values[node] = arguments[args[0]]
        elif op == "result":
            values[node] = results[args[0]][args[1]]
        elif op == "loop":
            results[node] = loop(graph.loops[node], [of(ref) for ref in args])
        else:
            values[node] = apply(op, [of(ref) for ref in args])
    return [of(ref) for ref in graph.outputs]


def written_out(
    loop: LoopNode, operands: Sequence[T], index: Callable[[float], T], body: Callable[[Graph, list[T]], list[T]]
) -> list[T]:
    """Results of a counted loop, one instance after the other.

    Args:
        index: value of an instance's number.
        body: outputs of the loop's body for its arguments.

    Checked by: tests/kernels/test_walking.py.
    """
    carry, shared = list(loop.carry_operands(operands)), loop.shared_operands(operands)
    stacked: list[list[T]] = [[] for _ in range(loop.stacked)]
    for i in range(loop.count):
        each = [loop.each_operands(operands, j)[i] for j in range(loop.each)]
        found = body(loop.body, [index(float(i)), *each, *carry, *shared])
        carry = found[: loop.carry]
        for group, value in zip(stacked, found[loop.carry :], strict=True):
            group.append(value)
    return [*carry, *(value for group in stacked for value in group)]
