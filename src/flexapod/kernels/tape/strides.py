"""Runs: values that lie at equal distances in memory, so that a loop can read or copy them by index.

The set-up part hands many parameters on unchanged. Flexible bodies have thousands (moments of every pair of modes), which
backends copy in loops instead of one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flexapod.kernels.tape.graph import Graph

SHORTEST = 4
"""Parameters from which a loop is worth it."""


LONG = 32
"""Results of a loop from which they are copied by a loop: transposed four by four, few are written faster."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Outputs from number `output` on are the arguments `argument + stride k`, k = 0, ..., length - 1."""

    output: int
    argument: int
    stride: int
    length: int


def copied_runs(graph: Graph) -> list[Run]:
    """Runs of outputs that are plain arguments, in order; those shorter than `SHORTEST` are left out.

    Checked by: tests/kernels/test_setup.py.
    """
    sources = [_argument(graph, ref) for ref in graph.outputs]
    runs: list[Run] = []
    start = 0
    while start < len(sources):
        length, stride = _reach(sources, start)
        first = sources[start]
        if first is not None and length >= SHORTEST:
            runs.append(Run(output=start, argument=first, stride=stride, length=length))
            start += length
        else:
            start += 1
    return runs


def stacked_runs(graph: Graph, sizes: Sequence[int]) -> list[range]:
    """Numbers of outputs, of arrays of the given sizes, that a loop has stacked one after the other, in runs that a loop copies.

    Checked by: tests/kernels/test_program.py.
    """
    found, at = [], 0
    for size in sizes:
        sources = [_stacked(graph, ref) for ref in graph.outputs[at : at + size]]
        start = 0
        while start < size:
            first, length = sources[start], 1
            while first is not None and start + length < size and sources[start + length] == (first[0], first[1] + length):
                length += 1
            if first is not None and length >= LONG:
                found.append(range(at + start, at + start + length))
            start += length
        at += size
    return found


def _stacked(graph: Graph, ref: int) -> tuple[int, int] | None:
    """Loop and place of what it stacked, if a reference is nothing else."""
    if ref & 1 or graph.ops[ref >> 1] != "result":
        return None
    loop, position = graph.args[ref >> 1]
    return (loop, position) if position >= graph.loops[loop].carry and graph.loops[loop].tolerance is None else None


def ranges_outside_runs(runs: Sequence[Run | range], count: int) -> list[range]:
    """Numbers of `count` outputs that no run has, as ranges."""
    taken = sorted((run.start, run.stop) if isinstance(run, range) else (run.output, run.output + run.length) for run in runs)
    edges = [0, *(edge for pair in taken for edge in pair), count]
    return [range(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


Source = tuple[tuple[str, int], int]
"""Place in memory and number there."""


def segments(sources: Sequence[Source | None]) -> Iterator[range]:
    """Parts of a sequence that lie at equal distances in one place of memory; others by themselves."""
    start = 0
    while start < len(sources):
        first, end = sources[start], start + 1
        following = sources[end] if end < len(sources) else None
        if first is not None and following is not None and following[0] == first[0] and following[1] != first[1]:
            stride = following[1] - first[1]
            while end < len(sources) and sources[end] == (first[0], first[1] + stride * (end - start)):
                end += 1
        yield range(start, end)
        start = end


def progression(numbers: Sequence[int | None]) -> tuple[int, int] | None:
    """First number and distance where all are numbers and all distances are alike, forward or backward."""
    known = [k for k in numbers if k is not None]
    if len(known) < len(numbers):
        return None
    stride = known[1] - known[0] if len(known) > 1 else 1
    alike = stride != 0 and all(b - a == stride for a, b in pairwise(known))
    return (known[0], stride) if alike else None


def _reach(sources: Sequence[int | None], start: int) -> tuple[int, int]:
    """Length and distance of the run that starts here."""
    first = sources[start]
    following = sources[start + 1] if start + 1 < len(sources) else None
    if first is None or following is None or following <= first:
        return 1, 1
    length, stride = 2, following - first
    while start + length < len(sources) and sources[start + length] == first + stride * length:
        length += 1
    return length, stride


def _argument(graph: Graph, ref: int) -> int | None:
    """Number of the argument behind a reference, if it is nothing else."""
    return None if ref & 1 or graph.ops[ref >> 1] != "arg" else graph.args[ref >> 1][0]
