"""Reciprocals: a denominator that divides more than once becomes one reciprocal and multiplications.

The same holds where the reciprocal can leave the loop or the main part: denominators that a loop shares,
and denominators made of parameters alone under a varying numerator. A denominator that divides once stays
a division.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from flexapod.kernels.passes.dependence import body_arguments, classify
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph


def share_reciprocals(graph: Graph, arguments: Sequence[int], first_shared: int | None = None) -> Graph:
    """Equivalent graph with shared reciprocals.

    Args:
        graph: without dead nodes.
        arguments: dependence classes of its arguments.
        first_shared: for the body of a loop, number of the first argument that the loop shares.
    """
    classes = classify(graph, arguments)
    divisors = Counter(graph.args[n][1] >> 1 for n, op in enumerate(graph.ops) if op == "div")
    n = Numbering()
    refs = n.arguments([index for (index,) in graph.args[: graph.front]])

    def worth_it(node: int, divisor: int) -> bool:
        invariant = first_shared is not None and graph.ops[divisor] == "arg" and graph.args[divisor][0] >= first_shared
        return divisors[divisor] > 1 or classes[divisor] < classes[node] or invariant

    for node in range(len(refs), len(graph.ops)):
        op, args = graph.ops[node], graph.args[node]
        if op == "const":
            refs.append(n.const(graph.values[node]))
        elif op == "arg":
            refs.append(n.arg(args[0]))
        elif op == "result":
            refs.append(n.result(refs[args[0]], args[1]))
        elif op == "loop":
            loop = graph.loops[node]
            inside = body_arguments(loop, [classes[ref >> 1] for ref in args])
            body = share_reciprocals(loop.body, inside, 1 + loop.each + loop.carry)
            refs.append(n.loop(replace(loop, body=body), n.renumbered(refs, args)))
        elif op == "div" and worth_it(node, args[1] >> 1):
            numerator, denominator = n.renumbered(refs, args)
            refs.append(n.make("mul", numerator, n.make("div", n.const(1.0), denominator)))
        else:
            refs.append(n.remake(op, refs, args))
    n.graph.outputs = n.renumbered(refs, graph.outputs)
    n.graph.arity = graph.arity
    return n.graph
