"""Factoring keeps the function, never adds an operation, and finds what it should."""

from __future__ import annotations

import numpy as np
import pytest

from flexapod.kernels.numpy_backend import evaluate
from flexapod.kernels.passes.dependence import UNIFORM, VARYING
from flexapod.kernels.passes.factoring import factored
from flexapod.kernels.passes.hoisting import hoist
from flexapod.kernels.passes.invariants import simplify
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.operations import Operations, count_operations

SAME = 1e-12
"""Of the sum of absolute terms: other order of summation."""


def total(graph: Graph) -> int:
    return count_operations(graph).total


def built(make) -> Graph:
    """Graph of `make(numbering, arguments)` with six arguments."""
    n = Numbering()
    n.graph.outputs = make(n, [n.arg(i) for i in range(6)])
    n.graph.arity = 6
    return n.graph


def count(make) -> Operations:
    return count_operations(factored(built(make), [VARYING] * 6, total))


def test_common_factor() -> None:
    """x a + x b - x d is one product and two sums."""
    found = count(lambda n, x: [n.add(n.add(n.mul(x[0], x[1]), n.mul(x[2], x[0])), n.neg(n.mul(x[0], x[3])))])
    assert (found.add, found.multiply) == (2, 1)


def test_numbers_of_a_product_meet() -> None:
    """2 (x (3 (y 5))) is two products."""
    found = count(lambda n, x: [n.mul(n.const(2.0), n.mul(x[0], n.mul(n.const(3.0), n.mul(x[1], n.const(5.0)))))])
    assert (found.add, found.multiply) == (0, 2)


def test_equal_numbers_of_a_sum_meet() -> None:
    """3 x + 3 y - 3 z is one product and two sums."""
    three = 3.0

    def make(n, x):
        a, b, c = (n.mul(n.const(three), v) for v in x[:3])
        return [n.add(n.add(a, b), n.neg(c))]

    found = count(make)
    assert (found.add, found.multiply) == (2, 1)


def test_what_is_read_twice_stays_whole() -> None:
    """x a is an output as well: taking it apart would cost a product."""

    def make(n, x):
        shared = n.mul(x[0], x[1])
        return [shared, n.add(shared, n.mul(x[0], x[2]))]

    assert total(factored(built(make), [VARYING] * 6, total)) == total(built(make)) == 3


def test_terms_that_cancel_disappear() -> None:
    found = count(lambda n, x: [n.add(n.add(n.mul(x[0], x[1]), x[2]), n.neg(n.mul(x[1], n.mul(x[0], n.const(1.0)))))])
    assert found.total <= 1


def test_parameters_meet_and_leave() -> None:
    """(p x) (q y) is (p q) (x y): p q is computed once per parameter set."""
    graph = built(lambda n, x: [n.mul(n.mul(x[4], x[0]), n.mul(x[5], x[1]))])
    classes = [VARYING] * 4 + [UNIFORM] * 2

    def main(g: Graph) -> int:
        return count_operations(hoist(g, 4, 2)[1]).total

    assert main(graph) == 3
    assert main(factored(graph, classes, main)) == 2


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int) -> None:
    random = np.random.default_rng(seed)

    def make(n, x):
        refs = [*x, n.const(2.0), n.const(0.5), n.const(3.0)]
        for _ in range(60):
            a, b = (refs[k] for k in random.integers(0, len(refs), 2))
            a = n.neg(a) if random.random() < 0.3 else a
            op = random.choice(["add", "add", "mul", "mul", "sin"])
            refs.append(n.make(op, a) if op == "sin" else n.make(op, a, b))
        return [refs[k] for k in random.integers(len(refs) // 2, len(refs), 4)]

    graph = simplify(built(make))
    found = factored(graph, [VARYING] * 6, total)
    assert total(found) <= total(graph)
    x = list(random.uniform(-1, 1, (6, 30)))
    absolute = evaluate(_all_positive(graph), [np.abs(v) for v in x])
    for one, two, scale in zip(evaluate(graph, x), evaluate(found, x), absolute, strict=True):
        assert (np.abs(one - two) <= SAME * (1.0 + np.abs(scale)) * 10).all()


def _all_positive(graph: Graph) -> Graph:
    """The same sums of absolute values: a scale for rounding; sines are at most one."""
    new = Graph(arity=graph.arity, values=dict(graph.values))
    for op, args in zip(graph.ops, graph.args, strict=True):
        new.ops.append("abs" if op == "sin" else op)
        new.args.append(tuple(a & ~1 for a in args) if op not in ("arg", "const") else args)
    new.outputs = [ref & ~1 for ref in graph.outputs]
    return new
