"""Scheduling: evaluation order that keeps few values alive at a time.

Depth first from the outputs, the operand that needs more registers first (Sethi and Ullman 1970).
"""

from __future__ import annotations

from dataclasses import replace

from .graph import Graph


def schedule(graph: Graph) -> Graph:
    """The same nodes in a new order, without dead ones; bodies of loops too."""
    need = _register_need(graph)
    order: list[int] = []
    done: set[int] = set()
    for ref in graph.outputs:
        _visit(graph, ref >> 1, need, done, order)
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
            new.args.append(tuple(2 * number[ref >> 1] + (ref & 1) for ref in args))
        if op == "const":
            new.values[k] = graph.values[node]
        elif op == "loop":
            new.loops[k] = replace(graph.loops[node], body=schedule(graph.loops[node].body))
    new.outputs = [2 * number[ref >> 1] + (ref & 1) for ref in graph.outputs]
    return new


def _register_need(graph: Graph) -> list[int]:
    need: list[int] = []
    for node, op in enumerate(graph.ops):
        if op in ("const", "arg"):
            need.append(0)
            continue
        below = sorted((need[k] for k in set(graph.operands(node))), reverse=True)
        need.append(max((value + i for i, value in enumerate(below)), default=1) or 1)
    return need


def _visit(graph: Graph, root: int, need: list[int], done: set[int], order: list[int]) -> None:
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done.add(node)
            order.append(node)
            continue
        stack.append((node, True))
        operands = [k for k in dict.fromkeys(graph.operands(node)) if k not in done]
        stack.extend((k, False) for k in sorted(operands, key=lambda k: need[k]))
