"""Scheduling: evaluation order that keeps few values alive at a time.

Depth first from the outputs, the operand that needs more registers first (Sethi and Ullman 1970).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flexapod.kernels.tape.graph import Graph


def schedule(graph: Graph) -> Graph:
    """The same nodes in a new order, without dead ones; bodies of loops too."""
    need = _register_need(graph)
    order: list[int] = []
    done: set[int] = set()
    for ref in graph.outputs:
        _visit(graph, ref >> 1, need, done, order)
    return renumbered(graph, order, schedule)


def renumbered(graph: Graph, order: Sequence[int], inside: Callable[[Graph], Graph]) -> Graph:
    """The nodes in a given order, in which they can be evaluated; `inside` is applied to the bodies of loops."""
    number = {node: k for k, node in enumerate(order)}
    new = Graph(arity=graph.arity)
    for k, node in enumerate(order):
        op, args = graph.ops[node], graph.args[node]
        new.ops.append(op)
        if op == "result":
            new.args.append((number[args[0]], args[1]))
        elif op in ("const", "arg"):
            new.args.append(args)
        else:
            new.args.append(tuple([2 * number[ref >> 1] + (ref & 1) for ref in args]))
        if op == "const":
            new.values[k] = graph.values[node]
        elif op == "loop":
            new.loops[k] = replace(graph.loops[node], body=inside(graph.loops[node].body))
    new.outputs = [2 * number[ref >> 1] + (ref & 1) for ref in graph.outputs]
    return new


def _register_need(graph: Graph) -> list[int]:
    need = [0] * graph.front
    for op, args in zip(graph.ops[len(need) :], graph.args[len(need) :], strict=True):
        if op in ("const", "arg"):
            need.append(0)
        elif len(args) == 2 and op != "loop" and op != "result":
            a, b = need[args[0] >> 1], need[args[1] >> 1]
            need.append((a or 1) if args[0] >> 1 == args[1] >> 1 else max(a, b) if a != b else a + 1)
        else:
            operands = {args[0]} if op == "result" else {ref >> 1 for ref in args}
            below = sorted([need[k] for k in operands], reverse=True)
            need.append(max([value + i for i, value in enumerate(below)], default=1) or 1)
    return need


def _visit(graph: Graph, root: int, need: list[int], done: set[int], order: list[int]) -> None:
    """Append a node to the order, behind all that it needs; a node on the stack as its complement waits for its operands."""
    ops, args, stack = graph.ops, graph.args, [root]
    while stack:
        node = stack.pop()
        if node < 0:
            node = ~node
            if node not in done:
                done.add(node)
                order.append(node)
            continue
        if node in done:
            continue
        if ops[node] in ("const", "arg"):
            done.add(node)
            order.append(node)
            continue
        stack.append(~node)
        operands = [args[node][0]] if ops[node] == "result" else [ref >> 1 for ref in args[node]]
        if len(operands) > 1:
            operands = sorted(dict.fromkeys(operands), key=need.__getitem__)
        stack += [k for k in operands if k not in done]
