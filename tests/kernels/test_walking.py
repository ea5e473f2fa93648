"""A graph walked in exact fractions: operations, negatives and counted loops, against sums by hand."""

import operator
from fractions import Fraction

import pytest

from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.walking import walk, written_out

APPLY = {"add": operator.add, "mul": operator.mul, "div": operator.truediv}


def exact(graph: Graph, arguments: list[Fraction]) -> list[Fraction]:
    return walk(graph, arguments, const=Fraction, neg=operator.neg, apply=lambda op, args: APPLY[op](*args), loop=unrolled)


def unrolled(loop: LoopNode, operands: list[Fraction]) -> list[Fraction]:
    return written_out(loop, operands, Fraction, exact)


def summing() -> Graph:
    """-(1 + sum of i x_i / s) and the terms i x_i / s, i = 0, 1, 2, of arguments x_0, x_1, x_2, s."""
    body = Graph(arity=4, ops=["arg", "arg", "arg", "arg", "mul", "div", "add"],
                 args=[(0,), (1,), (2,), (3,), (0, 2), (8, 6), (4, 10)], outputs=[12, 10])  # fmt: skip
    loop = LoopNode(count=3, each=1, carry=1, shared=1, stacked=1, tolerance=None, body=body)
    ops = ["arg"] * 4 + ["const", "loop", *["result"] * 4]
    args = [(0,), (1,), (2,), (3,), (), (0, 2, 4, 8, 6), *[(5, k) for k in range(4)]]
    return Graph(arity=4, ops=ops, args=args, values={4: 1.0}, loops={5: loop}, outputs=[13, 14, 16, 18])


def test_a_loop_is_written_out_in_order() -> None:
    x = [Fraction(k, 7) for k in (3, 5, 11)]
    total, *terms = exact(summing(), [*x, Fraction(2, 3)])
    wanted = [i * x[i] * Fraction(3, 2) for i in range(3)]
    assert terms == wanted
    assert total == -(1 + sum(wanted))


def test_bodies_that_return_too_little_are_noticed() -> None:
    loop = summing().loops[5]
    with pytest.raises(ValueError, match="zip"):
        written_out(loop, [Fraction(1)] * 5, Fraction, lambda body, arguments: exact(body, arguments)[:1])
