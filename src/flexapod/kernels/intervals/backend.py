"""Interval backend: the tape of a kernel turned into one that bounds every output over boxes of its inputs.

The result is a tape as any other: LLVM, NumPy and C run it. Inputs `x` become `x_low` and `x_high`, outputs likewise, and there
are `status_low`, `status_high` (0 and 0: no check fails anywhere in the box) and `defined` (1: no root of a negative number, no
division by zero, ... anywhere in the box, branches not taken included). Parameters stay single numbers, and the set-up part is
bounded too. Bounds hold for the exact value of the tape's formulas. Infinite bounds leave and enter a kernel as the largest
double.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.kernels.errors import ProgramError
from flexapod.kernels.intervals.functions import operations
from flexapod.kernels.intervals.operations import Intervals, Pair
from flexapod.kernels.kernel import Kernel, choose_backend
from flexapod.kernels.packing import kernel_from_tape
from flexapod.kernels.passes.scheduling import schedule
from flexapod.kernels.passes.value_numbering import Numbering
from flexapod.kernels.tape.graph import Graph, LoopNode
from flexapod.kernels.tape.signature import Input, Output, Signature
from flexapod.kernels.tape.tape import Tape
from flexapod.kernels.tape.walking import walk

LARGEST = sys.float_info.max


def interval_tape(tape: Tape) -> Tape:
    """The tape that bounds a tape. Checked by: tests/kernels/test_intervals.py."""
    setup = _setup(tape.setup)
    inputs = tape.inputs
    i = Intervals(Numbering())
    arguments = _interleaved(i, tape)
    i.n.graph.arity = 2 * (inputs + tape.constants)
    pairs = _bounded(i, tape.main, [*arguments, *_constants(i, 2 * inputs, tape.constants)])
    *results, status = pairs
    outputs: list[int] = []
    at = 0
    for output in tape.signature.outputs:
        own = results[at : at + output.size]
        outputs += [_finite(i, low) for low, _ in own] + [_finite(i, high) for _, high in own]
        at += output.size
    i.n.graph.outputs = [*outputs, *(_finite(i, ref) for ref in status), i.defined, i.n.const(0.0)]
    return Tape(signature=_signature(tape.signature), zeros=tape.zeros, setup=schedule(setup), main=schedule(i.n.graph))


def _finite(i: Intervals, ref: int) -> int:
    n = i.n
    return n.make("min", n.make("max", ref, n.const(-LARGEST)), n.const(LARGEST))


def _interleaved(i: Intervals, tape: Tape) -> list[Pair]:
    """Arguments of the inputs: per array all low bounds, then all high ones; the largest double is infinity."""
    n, pairs, at = i.n, [], 0
    for given in tape.signature.inputs:
        for k in range(given.size):
            low, high = n.arg(at + k), n.arg(at + given.size + k)
            low = n.select(n.make("le", low, n.const(-LARGEST)), n.const(-math.inf), low)
            high = n.select(n.make("le", n.const(LARGEST), high), n.const(math.inf), high)
            pairs.append((low, high))
        at += 2 * given.size
    return pairs


def _constants(i: Intervals, first: int, count: int) -> list[Pair]:
    return [(i.n.arg(first + 2 * k), i.n.arg(first + 2 * k + 1)) for k in range(count)]


def _setup(graph: Graph) -> Graph:
    """Set-up part: parameters are exact, constants are pairs."""
    i = Intervals(Numbering())
    i.n.graph.arity = graph.arity
    points = [i.n.arg(k) for k in range(graph.arity)]
    pairs = _bounded(i, graph, [(ref, ref) for ref in points])
    i.n.graph.outputs = [ref for pair in pairs for ref in pair]
    return i.n.graph


def _bounded(i: Intervals, graph: Graph, arguments: Sequence[Pair]) -> list[Pair]:
    """Pairs of a graph's outputs."""
    table = operations(i)
    return walk(
        graph, arguments, const=i.point, neg=i.neg, apply=lambda op, args: table[op](*args),
        loop=lambda loop, operands: _loop(i, loop, operands),
    )  # fmt: skip


def _loop(i: Intervals, loop: LoopNode, operands: list[Pair]) -> list[Pair]:
    """A counted loop with twice its variables, and one more for whether they are defined."""
    if loop.tolerance is not None:
        raise ProgramError("interval bounds: an iteration has no bounds of its own; only legs in closed form can be bounded")
    body = Intervals(Numbering())
    n = body.n
    index = n.arg(0)
    each = [(n.arg(1 + 2 * j), n.arg(2 + 2 * j)) for j in range(loop.each)]
    at = 1 + 2 * loop.each
    carry = [(n.arg(at + 2 * j), n.arg(at + 2 * j + 1)) for j in range(loop.carry)]
    body.defined = n.make("ne", n.arg(at + 2 * loop.carry), n.const(0.0))
    at += 2 * loop.carry + 1
    shared = [(n.arg(at + 2 * j), n.arg(at + 2 * j + 1)) for j in range(loop.shared)]
    n.graph.arity = at + 2 * loop.shared
    results = _bounded(body, loop.body, [(index, index), *each, *carry, *shared])
    following, stacked = results[: loop.carry], results[loop.carry :]
    flat = [ref for pair in following for ref in pair]
    n.graph.outputs = [*flat, body.defined, *(ref for pair in stacked for ref in pair)]
    groups = [loop.each_operands(operands, j) for j in range(loop.each)]
    given = [pair[side] for group in groups for side in (0, 1) for pair in group]
    given += [ref for pair in loop.carry_operands(operands) for ref in pair] + [i.defined]
    given += [ref for pair in loop.shared_operands(operands) for ref in pair]
    bounded = replace(
        loop, each=2 * loop.each, carry=2 * loop.carry + 1, shared=2 * loop.shared, stacked=2 * loop.stacked, body=n.graph
    )
    node = i.n.loop(bounded, given)
    i.defined = i.n.make("ne", i.n.result(node, 2 * loop.carry), i.n.const(0.0))
    found = [(i.n.result(node, 2 * j), i.n.result(node, 2 * j + 1)) for j in range(loop.carry)]
    first = 2 * loop.carry + 1
    for j in range(loop.stacked):
        low = first + 2 * j * loop.count
        found += [(i.n.result(node, low + k), i.n.result(node, low + loop.count + k)) for k in range(loop.count)]
    return found


def _signature(s: Signature) -> Signature:
    inputs = [Input(name=f"{x.name}_{side}", shape=x.shape, unit=x.unit) for x in s.inputs for side in ("low", "high")]
    outputs = [
        Output(name=f"{y.name}_{side}", shape=y.shape, unit=y.unit, dims=y.dims) for y in s.outputs for side in ("low", "high")
    ]
    extra = [Output(name=name) for name in ("status_low", "status_high", "defined")]
    return replace(s, name=f"{s.name}_bounds", inputs=tuple(inputs), outputs=(*outputs, *extra))


class IntervalKernel:
    """Bounds of a kernel over boxes of its inputs.

    Args:
        kernel: whose tape is the result of `interval_tape`.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.parameters = kernel.signature.parameters

    @staticmethod
    def of(kernel: Kernel, backend: str | None = None) -> IntervalKernel:
        """The one that bounds a kernel, compiled now."""
        return IntervalKernel(kernel_from_tape(interval_tape(kernel.tape), choose_backend(backend))[0])

    def batch(
        self, low: Mapping[str, ArrayLike], high: Mapping[str, ArrayLike], parameters: ArrayLike | None = None, threads: int = 1
    ) -> Bounds:
        """Bounds over boxes.

        Args:
            low, high: arrays (n, *shape) by name.
            parameters: (P,), exact.
        """
        given = {f"{k}_low": np.maximum(v, -LARGEST) for k, v in low.items()}
        given |= {f"{k}_high": np.minimum(v, LARGEST) for k, v in high.items()}
        found = self.kernel.batch(given, parameters, threads=threads).outputs
        for name, values in found.items():
            if name.endswith(("_low", "_high")):
                values[values <= -LARGEST], values[values >= LARGEST] = -np.inf, np.inf
        return Bounds(found)


class Bounds:
    """Bounds of outputs: `low[name]`, `high[name]` (n, *shape); `defined` and `sound` (n,).

    `sound`: everything is defined and no check of the kernel fails, anywhere in the box.
    """

    def __init__(self, found: Mapping[str, Array]) -> None:
        self.low = {k.removesuffix("_low"): v for k, v in found.items() if k.endswith("_low")}
        self.high = {k.removesuffix("_high"): v for k, v in found.items() if k.endswith("_high")}
        self.defined = found["defined"] != 0.0
        self.sound = self.defined & (self.low["status"] == 0.0) & (self.high["status"] == 0.0)
        self.failing = self.low["status"] > 0.0
