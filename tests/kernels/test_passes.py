"""Every pass keeps the values of random graphs and does not add operations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import assume, given, settings
from kernel_programs import ALL
from random_graphs import EXACT, POSITIVE, graphs

from flexapod.kernels.numpy_backend import evaluate
from flexapod.kernels.passes.dependence import UNIFORM, VARYING, body_arguments, classify
from flexapod.kernels.passes.hoisting import hoist
from flexapod.kernels.passes.invariants import simplify
from flexapod.kernels.passes.reciprocals import share_reciprocals
from flexapod.kernels.passes.scheduling import schedule
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.operations import count_operations
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Parameter
from flexapod.kernels.tape.tape import improve, make_tape
from support.plain import compile_kernel

REORDERED = 1e-10
"""Relative: positive numbers, products in another order, powers of powers."""

WHOLE = np.random.default_rng(0).integers(-4, 5, size=(4, 50)).astype(float)
ABOVE_ZERO = np.random.default_rng(0).uniform(0.5, 2, size=(4, 50))


def values(graph, arguments):
    with np.errstate(all="ignore"):
        return [np.broadcast_to(v, arguments[0].shape) for v in evaluate(graph, list(arguments))]


def everything(graph, arguments):
    """Values of all nodes, to leave out graphs that overflow exact arithmetic."""
    return values(Graph(**{**vars(graph), "outputs": [2 * k for k in range(len(graph.ops))]}), arguments)


def alive(graph):
    return count_operations(schedule(graph))


@settings(max_examples=300, deadline=None)
@given(graphs(EXACT))
def test_value_numbering_and_folding_are_exact(graph):
    assume(all((np.abs(v) < 2**50).all() for v in everything(graph, WHOLE)))
    new = simplify(graph)
    for before, after in zip(values(graph, WHOLE), values(new, WHOLE), strict=True):
        np.testing.assert_array_equal(before, after)
    assert alive(new).total <= alive(graph).total


@settings(max_examples=300, deadline=None)
@given(graphs(EXACT))
def test_scheduling_keeps_values_and_operations(graph):
    assume(all((np.abs(v) < 2**50).all() for v in everything(graph, WHOLE)))
    new = schedule(graph)
    for before, after in zip(values(graph, WHOLE), values(new, WHOLE), strict=True):
        np.testing.assert_array_equal(before, after)
    assert len(new.ops) <= len(graph.ops)


@settings(max_examples=300, deadline=None)
@given(graphs(POSITIVE, signed=False))
def test_shared_reciprocals_keep_values_and_add_no_division(graph):
    expected = values(graph, ABOVE_ZERO)
    assume(all(np.isfinite(v).all() and (v > 1e-200).all() for v in everything(graph, ABOVE_ZERO)))
    graph = simplify(graph)
    new = share_reciprocals(graph, [VARYING] * 4)
    for before, after in zip(expected, values(new, ABOVE_ZERO), strict=True):
        np.testing.assert_allclose(after, before, rtol=REORDERED)
    divisors = {graph.args[k][1] for k, op in enumerate(graph.ops) if op == "div"}
    assert alive(new).divide <= alive(graph).divide
    assert alive(new).total <= alive(graph).total + len(divisors)  # one reciprocal more per shared divisor


@settings(max_examples=300, deadline=None)
@given(graphs(POSITIVE, signed=False))
def test_hoisting_keeps_values_and_adds_nothing(graph):
    assume(all(np.isfinite(v).all() and (v > 1e-200).all() for v in everything(graph, ABOVE_ZERO)))
    expected = values(graph, ABOVE_ZERO)
    new = improve(graph, [VARYING, VARYING, UNIFORM, UNIFORM])
    setup, main = hoist(new, 2, 2)
    constants = values(setup, ABOVE_ZERO[2:])
    for before, after in zip(expected, values(main, np.vstack([ABOVE_ZERO[:2], *constants])), strict=True):
        np.testing.assert_allclose(after, before, rtol=REORDERED)
    assert alive(setup).total + alive(main).total <= alive(new).total
    assert_no_parameter_only_operation(main, [VARYING] * 2 + [UNIFORM] * len(constants))


def assert_no_parameter_only_operation(graph, arguments):
    classes = classify(graph, arguments)
    for node, op in enumerate(graph.ops):
        assert classes[node] != UNIFORM or op in ("arg", "const"), op
        if op == "loop":
            given_classes = [classes[ref >> 1] for ref in graph.args[node]]
            assert_no_parameter_only_operation(graph.loops[node].body, body_arguments(graph.loops[node], given_classes))


@pytest.mark.parametrize("make", ALL)
def test_main_part_has_no_parameter_only_operation(make):
    tape = make_tape(make())
    assert_no_parameter_only_operation(tape.main, [VARYING] * tape.inputs + [UNIFORM] * tape.constants)


def test_the_sign_of_zero_is_not_kept():
    """A stated limit: negation is free because -0 and 0 are one constant, so copysign(x, -0) is |x|."""
    b = Program("zero")
    b.output("y", ca.copysign(b.input("x"), -ca.SX(0.0)))
    for backend in ("numpy", "llvm"):
        assert compile_kernel(b, backend=backend)(x=-3.0)["y"] == 3.0


# -- counts ---------------------------------------------------------------------------------------------------------
def operations(write, zeros=()):
    b = Program("counted")
    p = b.parameters([Parameter(name=f"p{k}") for k in range(4)])
    x = b.input("x", (4,))
    b.output("y", write(b, x, p))
    tape = make_tape(b, zeros)
    return tape.operations, tape.setup_operations


@pytest.mark.parametrize(
    ("write", "total"),
    [
        (lambda b, x, p: ca.vertcat(x[0] - x[1], x[1] - x[0]), 1),
        (lambda b, x, p: ca.vertcat(x[0] * x[1], x[1] * -x[0]), 1),
        (lambda b, x, p: ca.vertcat(-(x[0] + x[1]), -x[1] - x[0]), 1),
        (lambda b, x, p: x[0] ** 2 + x[0] * x[0], 2),
        (lambda b, x, p: 2 * x[0] + (x[0] + x[0]), 1),
        (lambda b, x, p: ca.vertcat(ca.sin(x[0] - x[1]), ca.sin(x[1] - x[0])), 2),
        (lambda b, x, p: ca.vertcat(x[0] - x[0], x[0] * 1, x[0] + 0, x[0] / 1, 0 / x[1]), 0),
        (lambda b, x, p: x[0] / 4, 1),
        (lambda b, x, p: x[0] ** 4, 2),
        (lambda b, x, p: -x[0], 0),
    ],
)
def test_operations_are_counted_once(write, total):
    assert operations(write)[0].total == total


def test_a_divisor_that_divides_three_times_is_one_reciprocal():
    main, _ = operations(lambda b, x, p: x[0:3] / x[3])
    assert (main.divide, main.multiply, main.total) == (1, 3, 4)


def test_unit_vector_is_one_root_and_one_division():
    main, _ = operations(lambda b, x, p: x[0:3] / ca.norm_2(x[0:3]))
    assert (main.root, main.divide, main.multiply, main.add) == (1, 1, 6, 2)


def test_a_divisor_that_divides_once_stays():
    main, _ = operations(lambda b, x, p: x[0] / x[1])
    assert (main.divide, main.total) == (1, 1)


def test_if_else_is_one_selection():
    main, _ = operations(lambda b, x, p: ca.if_else(x[0] < x[1], x[2], x[3]))
    assert (main.total, main.select) == (0, 2)


def test_parameters_alone_go_to_the_setup():
    main, setup = operations(lambda b, x, p: ca.vertcat(x[0] / p[0], x[1] * (p[1] + ca.sin(p[2])), x[2] / p[0], p[3]))
    assert (main.multiply, main.total) == (3, 3)
    assert (setup.divide, setup.add, setup.function, setup.total) == (1, 1, 1, 3)


def test_a_parameter_in_the_zero_pattern_disappears():
    def write(b, x, p):
        return x[0] * p[0] + x[1] * p[1] + ca.sin(p[0] * x[2])

    assert operations(write)[0].total == 6
    assert operations(write, zeros=["p0"])[0].total == 1


def test_zero_pattern_reaches_into_loops():
    def write(b, x, p):
        (y,) = b.map(lambda b, u, q: (u * q + ca.cos(u) * p[1],), 4, each=[x.T, p[0] * ca.SX([[1, 2, 3, 4]])], unroll=False)
        return y.T

    assert operations(write)[0].total == 16
    assert operations(write, zeros=["p0"])[0].total == 8
    assert operations(write, zeros=["p0", "p1"])[0].total == 0


def test_what_a_loop_repeats_leaves_it():
    def write(b, x, p):
        (y,) = b.map(lambda b, u: (u / x[0] + ca.sin(x[1]),), 4, each=[x.T], unroll=False)
        return y.T

    main, _ = operations(write)
    assert (main.divide, main.function, main.multiply, main.add) == (1, 1, 4, 4)


def test_an_iteration_is_counted_once():
    def write(b, x, p):
        (y,), _, _ = b.iterate(lambda b, y: ([y - ca.sin(y)], ca.fabs(y)), start=[x[0]], limit=9, tolerance=1e-9)
        return y + 1

    main, _ = operations(write)
    assert (main.iterations, main.total) == (3, 4)
