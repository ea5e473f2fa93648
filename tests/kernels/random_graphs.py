"""Random graphs, written without value numbering so that the passes have something to do."""

from __future__ import annotations

from hypothesis import strategies as st

from flexapod.kernels.tape.graph import ARITY, Graph

# copysign is not among them: the sign of a zero is not kept (see value_numbering), and copysign would show it.
EXACT = ("add", "mul", "abs", "min", "max", "select", "lt", "le", "eq", "ne", "and", "or", "not", "sign")
POSITIVE = ("add", "mul", "div", "sqrt")


def graph_of(arity, constants, ops, picks, signs, outputs):
    """Graph whose operands are picked by number among the nodes before."""
    graph = Graph(arity=arity)
    for k in range(arity):
        graph.ops.append("arg")
        graph.args.append((k,))
    for value in constants:
        graph.values[len(graph.ops)] = value
        graph.ops.append("const")
        graph.args.append(())
    picks, signs = iter(picks), iter(signs)
    for op in ops:
        before = len(graph.ops)
        refs = tuple(2 * (next(picks) % before) + next(signs) for _ in range(ARITY[op]))
        graph.ops.append(op)
        graph.args.append(refs)
    graph.outputs = [2 * (k % len(graph.ops)) + s for k, s in outputs] or [2 * len(graph.ops) - 2]
    return graph


@st.composite
def graphs(draw, ops, *, arity=4, signed=True, size=25):
    """Random graphs over the given operations."""
    words = draw(st.lists(st.sampled_from(ops), min_size=1, max_size=size))
    slots = sum(ARITY[op] for op in words)
    picks = draw(st.lists(st.integers(0, 10_000), min_size=slots, max_size=slots))
    sign = st.integers(0, 1) if signed else st.just(0)
    signs = draw(st.lists(sign, min_size=slots, max_size=slots))
    outputs = draw(st.lists(st.tuples(st.integers(0, 10_000), sign), min_size=1, max_size=4))
    constants = [0.0, 1.0, 2.0, 3.0] if signed else [1.0, 2.0, 0.5]
    return graph_of(arity, constants, words, picks, signs, outputs)
