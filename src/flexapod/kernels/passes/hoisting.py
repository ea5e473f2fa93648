"""Hoisting: what depends on parameters alone leaves the main part.

`split_loops` cuts a loop into one that needs parameters only and stacks its values, and one that reads them;
`hoist` then cuts the whole graph into the set-up part (parameters to constants) and the main part (inputs and
constants to outputs).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

from flexapod.kernels.passes.dependence import UNIFORM, VARYING, body_arguments, classify
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph, LoopNode


def split_loops(graph: Graph, arguments: Sequence[int]) -> Graph:
    """Equivalent graph in which the parameter-only part of each counted loop is a loop of its own."""
    classes = classify(graph, arguments)

    def on_loop(n: Numbering, node: int, operands: list[int]) -> Callable[[int], int]:
        loop = graph.loops[node]
        given = [classes[ref >> 1] for ref in graph.args[node]]
        inside = body_arguments(loop, given)
        if max(given, default=0) < VARYING or UNIFORM not in inside:
            made = n.loop(loop, operands)
            return lambda position: n.result(made, position)
        loop = replace(loop, body=split_loops(loop.body, inside))
        frontier = _worth(loop.body, _frontier(loop.body, classify(loop.body, inside))) if loop.tolerance is None else []
        if frontier:
            loop, operands = _split(n, loop, operands, frontier)
        made = n.loop(loop, operands)
        return lambda position: n.result(made, position)

    return _copy(graph, list(graph.outputs), on_loop=on_loop)


def hoist(graph: Graph, inputs: int, parameters: int) -> tuple[Graph, Graph]:
    """Set-up part and main part of a graph whose arguments are inputs, then parameters."""
    classes = classify(graph, [VARYING] * inputs + [UNIFORM] * parameters)
    frontier = _grouped(graph, _frontier(graph, classes, arguments=True))
    setup = _copy(graph, [2 * node for node in frontier], argument=lambda i: i - inputs)
    setup.arity = parameters
    replaced = {node: inputs + slot for slot, node in enumerate(frontier)}
    main = _copy(graph, list(graph.outputs), replaced=replaced)
    main.arity = inputs + len(frontier)
    return setup, main


def _frontier(graph: Graph, classes: Sequence[int], *, arguments: bool = False) -> list[int]:
    """Parameter-only nodes that varying nodes or outputs read."""
    reads = {ref >> 1 for ref in graph.outputs}
    for node, op in enumerate(graph.ops):
        if classes[node] == VARYING and op != "result":
            reads |= {ref >> 1 for ref in graph.args[node]} if op not in ("arg", "const") else set()
    hidden = ("const",) if arguments else ("const", "arg")
    return sorted(k for k in reads if classes[k] == UNIFORM and graph.ops[k] not in hidden)


def _worth(body: Graph, frontier: list[int]) -> list[int]:
    """Nodes worth hoisting: without choices between arguments and constants, which cost less than to read them per instance
    (a diagonal, say)."""
    plain, choice = ("arg", "const"), ("select", "eq", "ne", "lt", "le")

    def free(node: int) -> bool:
        op = body.ops[node]
        return op in plain or (op in choice and all(free(ref >> 1) for ref in body.args[node]))

    return [node for node in frontier if not free(node)]


def _grouped(graph: Graph, frontier: list[int]) -> list[int]:
    """Order of the constants: groups that a loop reads one after the other stay together."""
    known, order = set(frontier), dict[int, None]()
    for node, loop in graph.loops.items():
        for j in range(loop.each):
            group = [ref >> 1 for ref in loop.each_operands(graph.args[node], j)]
            if len(set(group)) == len(group) and all(k in known and k not in order for k in group):
                order |= dict.fromkeys(group)
    return list(order | dict.fromkeys(frontier))


def _split(n: Numbering, loop: LoopNode, operands: list[int], frontier: list[int]) -> tuple[LoopNode, list[int]]:
    """Make the parameter-only loop; returns the rest, which reads its values as further `each` arguments."""
    each, extra = loop.each, len(frontier)
    first_carry, first_shared = 1 + each, 1 + each + loop.carry
    body = _copy(loop.body, [2 * k for k in frontier], argument=lambda i: i - loop.carry if i >= first_shared else i)
    body.arity = 1 + each + loop.shared
    made = n.loop(
        LoopNode(count=loop.count, each=each, carry=0, shared=loop.shared, stacked=extra, tolerance=None, body=body),
        [*operands[: each * loop.count], *loop.shared_operands(operands)],
    )
    stacked = [n.result(made, k) for k in range(extra * loop.count)]
    rest = _copy(
        loop.body,
        list(loop.body.outputs),
        argument=lambda i: i + extra if i >= first_carry else i,
        replaced={node: 1 + each + slot for slot, node in enumerate(frontier)},
    )
    rest.arity = loop.body.arity + extra
    split = each * loop.count
    return replace(loop, each=each + extra, body=rest), [*operands[:split], *stacked, *operands[split:]]


def _copy(
    graph: Graph,
    outputs: list[int],
    *,
    argument: Callable[[int], int] = lambda i: i,
    replaced: dict[int, int] | None = None,
    on_loop: Callable[[Numbering, int, list[int]], Callable[[int], int]] | None = None,
) -> Graph:
    """Copy the nodes that the outputs need; nodes in `replaced` become arguments with the given number."""
    replaced = replaced or {}
    needed = _needed(graph, outputs, replaced)
    n, front = Numbering(), bisect_left(needed, graph.front)
    first = [replaced[node] if node in replaced else argument(graph.args[node][0]) for node in needed[:front]]
    refs = dict(zip(needed, n.arguments(first), strict=False))
    results: dict[int, Callable[[int], int]] = {}

    for node in needed[front:]:
        op, args = graph.ops[node], graph.args[node]
        if node in replaced:
            refs[node] = n.arg(replaced[node])
        elif op == "const":
            refs[node] = n.const(graph.values[node])
        elif op == "arg":
            refs[node] = n.arg(argument(args[0]))
        elif op == "result":
            refs[node] = results[args[0]](args[1])
        elif op == "loop":
            operands = n.renumbered(refs, args)
            make = on_loop or (lambda n, node, operands: _same_loop(n, graph.loops[node], operands))
            results[node] = make(n, node, operands)
        else:
            refs[node] = n.remake(op, refs, args)
    n.graph.outputs = n.renumbered(refs, outputs)
    n.graph.arity = max(n.graph.arity, graph.arity)
    return n.graph


def _same_loop(n: Numbering, loop: LoopNode, operands: list[int]) -> Callable[[int], int]:
    made = n.loop(loop, operands)
    return lambda position: n.result(made, position)


def _needed(graph: Graph, outputs: list[int], replaced: dict[int, int]) -> list[int]:
    """Nodes that the outputs need, in order; what a replaced node reads is not."""
    ops, args = graph.ops, graph.args
    mark = [False] * len(ops)
    for ref in outputs:
        mark[ref >> 1] = True
    for node in range(len(ops) - 1, graph.front - 1, -1):
        if mark[node] and node not in replaced:
            op = ops[node]
            if op == "result":
                mark[args[node][0]] = True
            elif op != "arg" and op != "const":
                for ref in args[node]:
                    mark[ref >> 1] = True
    return [node for node, needed in enumerate(mark) if needed]
