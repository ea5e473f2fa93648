"""Dependence: does a value vary with the sample, with the parameters only, or not at all?"""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.kernels.tape.graph import Graph, LoopNode

FIXED, UNIFORM, VARYING = 0, 1, 2  # constants and loop indices; parameters only; inputs


def classify(graph: Graph, arguments: Sequence[int]) -> list[int]:
    """Class of every node, given the classes of the graph's arguments."""
    front = graph.front
    classes = [arguments[index] for (index,) in graph.args[:front]]
    for op, args in zip(graph.ops[front:], graph.args[front:], strict=True):
        if op == "arg":
            classes.append(arguments[args[0]])
        elif op == "result":
            classes.append(classes[args[0]])
        else:
            classes.append(max([classes[ref >> 1] for ref in args], default=FIXED))
    return classes


def body_arguments(loop: LoopNode, operands: Sequence[int]) -> list[int]:
    """Classes of the arguments of a body, given those of the loop's operands."""
    whole = max(operands, default=FIXED)
    each = [max(loop.each_operands(operands, j), default=FIXED) for j in range(loop.each)]
    return [FIXED, *each, *([whole] * loop.carry), *loop.shared_operands(operands)]
