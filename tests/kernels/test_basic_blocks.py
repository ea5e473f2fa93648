"""Long code is cut into basic blocks: where, and that nothing changes by it."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_programs import ALL, PARAMETERS, inputs_for

from flexapod.kernels.llvm.module import module_text
from flexapod.kernels.passes import basic_blocks
from flexapod.kernels.passes.basic_blocks import places
from flexapod.kernels.tape.graph import COMPARISONS, Graph
from flexapod.kernels.tape.tape import make_tape
from support.plain import compile_kernel


def chain(length):
    """Products and the sums that read them, each product once: x_k+1 = x_k + a x_k."""
    graph = Graph(arity=2, ops=["arg", "arg"], args=[(0,), (1,)])
    value = 0
    for _ in range(length):
        graph.ops += ["mul", "add"]
        graph.args += [(2, value), (value, 2 * len(graph.ops) - 4)]
        value = 2 * len(graph.ops) - 2
    graph.outputs = [value]
    return graph


def crossing(graph, cut):
    """Nodes that must stay on one side and do not."""
    readers: dict[int, list[int]] = {}
    for node in range(len(graph.ops)):
        for k in graph.operands(node):
            readers.setdefault(k, []).append(node)
    found = []
    for node, users in readers.items():
        fuses = graph.ops[node] == "mul" and len(users) == 1 and graph.ops[users[0]] == "add"
        if (fuses or graph.ops[node] in COMPARISONS) and node < cut <= max(users):
            found.append(node)
    return found


def test_a_product_stays_with_its_sum():
    graph = chain(50)
    found = places(graph)
    assert sorted(found) == [0, 1, *range(2, 103, 2)]  # products are even, their sums odd
    assert not any(crossing(graph, cut) for cut in found)
    assert crossing(graph, 11) == [10]


@pytest.mark.parametrize("make", ALL)
def test_cuts_keep_together_what_fuses(make):
    tape = make_tape(make())
    for graph in (tape.main, tape.setup, *(loop.body for loop in tape.main.loops.values())):
        found = places(graph)
        for cut in range(len(graph.ops) + 1):
            assert (cut in found) != bool(crossing(graph, cut))


@pytest.mark.parametrize("make", ALL)
def test_parts_compute_the_same_to_the_last_bit(make, monkeypatch):
    inputs = inputs_for(make().signature)

    def parts():
        return module_text(make_tape(make()), per_sample=False).count("label %leave, label %part")

    whole, none = compile_kernel(make(), backend="llvm").batch(inputs, PARAMETERS), parts()
    monkeypatch.setattr(basic_blocks, "PART", 4)
    assert none == 0 < parts()
    got = compile_kernel(make(), backend="llvm").batch(inputs, PARAMETERS)
    np.testing.assert_array_equal(got.status, whole.status)
    for name, expected in whole.outputs.items():
        np.testing.assert_array_equal(got.outputs[name], expected, err_msg=name)
