"""The order of machine code: short waits, every result as before, LLVM's own scheduling off only for it."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.kernels.llvm.backend import LlvmExecutable, compile_shared
from flexapod.kernels.llvm.jit import compile_text
from flexapod.kernels.llvm.module import module_text
from flexapod.kernels.passes.basic_blocks import places
from flexapod.kernels.passes.interleaving import FUSED, LATENCY, OTHERS, interleave
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.tape import Tape

SHORTER = 0.6
"""Cycles of a processor that issues in order, of those of the order depth first: 0.39 and 0.46 of these robots."""


def tape_of(name: str, quantity: str) -> Tape:
    return fp.kernel(fp.load(name), quantity).compiled.tape


def cycles(graph: Graph) -> int:
    """Of a processor that issues two operations a cycle, in their order, each when its operands are known."""
    known, cycle, issued = [0] * len(graph.ops), 0, 0
    for node, op in enumerate(graph.ops):
        if op in ("const", "arg"):
            continue
        start = max((known[k] for k in graph.operands(node)), default=0)
        fuses = op == "add" and any(graph.ops[k] == "mul" for k in graph.operands(node))
        if start > cycle or issued == 2:
            cycle, issued = max(start, cycle + 1), 0
        issued += 1
        known[node] = cycle + (FUSED if fuses else LATENCY.get(op, OTHERS))
    return max(known)


@pytest.mark.parametrize("quantity", ["minimal_inverse_dynamics", "virtual_power"])
def test_waits_are_short(quantity: str) -> None:
    main = tape_of("bench-6ups", quantity).main
    ordered = interleave(main)
    assert sorted(main.ops) == sorted(ordered.ops)
    assert cycles(ordered) < SHORTER * cycles(main)
    assert len(places(ordered)) > len(places(main))  # products are beside their sums: code may be cut in more places


@pytest.mark.parametrize(("name", "quantity"), [("bench-6ups", "minimal_inverse_dynamics"), ("3-rps", "inverse_kinematics")])
def test_results_are_the_same_to_the_last_bit(name: str, quantity: str) -> None:
    """Fused or not is decided by who reads a product, not by the order; loops of Newton's method as well."""
    robot = fp.load(name)
    kernel = fp.kernel(robot, quantity)
    tape = kernel.compiled.tape
    random = np.random.default_rng(1)
    given = {i.name: random.normal(size=(40, *i.shape)) for i in tape.signature.inputs}
    plain = compile_text(module_text(tape, per_sample=False))
    found = []
    for code in (plain, compile_shared(tape, 2)):
        executable = LlvmExecutable(tape.constants, {"shared": code}.__getitem__, single=tape.single)
        outputs = [np.empty((40, o.size)) for o in tape.signature.outputs]
        status = np.empty(40, dtype=np.int32)
        inputs = [given[i.name].reshape(40, -1) for i in tape.signature.inputs]
        executable.run(inputs, kernel.compiled.constants(kernel.parameters), outputs, status)
        found.append([*outputs, status])
    for before, after in zip(*found, strict=True):
        np.testing.assert_array_equal(before, after)


def test_the_order_of_loops_inside() -> None:
    """Bodies are ordered too."""
    tape = tape_of("3-rps", "inverse_kinematics")
    assert tape.main.loops
    before, after = (next(iter(graph.loops.values())).body for graph in (tape.main, interleave(tape.main)))
    assert before.ops != after.ops
    assert sorted(before.ops) == sorted(after.ops)


def test_other_code_of_the_process_is_scheduled_by_llvm() -> None:
    text = module_text(tape_of("bench-6ups", "minimal_inverse_dynamics"), per_sample=False)
    before = compile_text(text, 2)
    in_order = compile_text(text, 2, in_order=True)
    assert in_order != before
    assert compile_text(text, 2) == before
