"""LLVM text of the main part over 4 samples: inputs and constants to outputs and status.

Outputs are written as soon as they are known, so that few values are alive at a time. What is not finite is noted on the way,
and the rows of samples with a status are overwritten with NaN at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from flexapod.kernels.llvm.boundary_rows import Rows, RowStores, gather, row_base, store_indexed
from flexapod.kernels.llvm.loops import counted
from flexapod.kernels.llvm.text import Constants, GraphWriter, MemoryPlace
from flexapod.kernels.llvm.writer import LANES, M, V, Writer, number, splat
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.signature import NONFINITE_INPUT, NONFINITE_RESULT
from flexapod.kernels.tape.strides import stacked_runs
from flexapod.kernels.tape.tape import Tape

MANY = 128
"""Entries of an input from which a loop looks for those that are not finite."""

SPOIL = f"""define internal void @spoil(ptr %row, i64 %count) noinline #0 {{
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %following, %next ]
  %place = getelementptr inbounds double, ptr %row, i64 %k
  store double {number(float("nan"))}, ptr %place, align 8
  %following = add i64 %k, 1
  %again = icmp slt i64 %following, %count
  br i1 %again, label %next, label %end
end:
  ret void
}}"""
"""Function that fills a row with NaN."""


def main_lines(tape: Tape, *, per_sample: bool) -> Writer:
    """Body of the function; the caller closes it."""
    w = Writer()
    sizes = [i.size for i in tape.signature.inputs]
    bases = [row_base(w, "%inputs", k, size) for k, size in enumerate([*sizes, tape.constants] if per_sample else sizes)]
    own = Rows(w, bases[-1], tape.constants) if per_sample else None

    def load_constant(index: str) -> str:
        if per_sample:
            return gather(w, bases[-1], index, tape.constants)
        place = w.let(f"getelementptr inbounds double, ptr %constants, i64 {index}")
        return w.broadcast(w.let(f"load double, ptr {place}, align 8"))

    return finish_main(w, tape, bases[: len(sizes)], load_constant, reload=not per_sample, constants=own)


def finish_main(
    w: Writer, tape: Tape, bases: Sequence[str], load: Callable[[str], str], *, reload: bool, constants: Rows | None = None
) -> Writer:
    """The part behind the addresses of the inputs.

    Args:
        bases: addresses of the first of four rows of every input.
        load: a constant by its number; `reload`: as in `Constants`.
        constants: those known by name, where they are rows; else by `load`.
    """
    sizes = [i.size for i in tape.signature.inputs]
    rows = [Rows(w, base, size) for base, size in zip(bases, sizes, strict=True)]
    places = [(rows[a], k) for a, size in enumerate(sizes) for k in range(size)]

    def argument(i: int) -> str:
        if i < len(places):
            row, k = places[i]
            return row.column(k)
        return load(str(i - len(places))) if constants is None else constants.column(i - len(places))

    def number_of(i: int) -> int | None:
        return i - len(places) if i >= len(places) else None

    inside = [MemoryPlace(base=base, size=size, column=k) for base, size in zip(bases, sizes, strict=True) for k in range(size)]
    graph = GraphWriter(
        w, tape.main, argument, Constants(numbers=number_of, load=load, reload=reload), dict(enumerate(inside)).get,
        alike=tape.single,
    )  # fmt: skip
    finite = _Finite(w)
    targets = [(row_base(w, "%outputs", k, o.size), o.size) for k, o in enumerate(tape.signature.outputs)]
    rows_out = [(base, size, k) for base, size in targets for k in range(size)]
    stacked = [] if tape.single else stacked_runs(tape.main, [size for _, size in targets])
    runs = {k: run for run in stacked for k in run}
    stores = _stores(w, rows_out, runs)

    def ready(k: int) -> None:
        if k >= len(rows_out):  # the last one is the status
            return
        if k in runs:
            run = runs[k]
            if k == run.start:
                array, first = _known(graph.stacked(tape.main.outputs[k]))
                finite.add_all(lambda index: store_indexed(w, array, first, index, rows_out[k]), len(run))
            return
        value = graph.output(k)
        finite.watch(tape.main, k, value)
        stores[k].put(rows_out[k][2], value)

    graph.emit(ready)
    inputs = _Finite(w)
    for base, size, row in zip(bases, sizes, rows, strict=True):
        if size < MANY:
            for k in range(size):
                inputs.add(row.column(k))
        else:
            inputs.add_all(lambda index, base=base, size=size: gather(w, base, index, size), size)  # type: ignore[misc]
    _status(w, graph.output(len(rows_out)), inputs.failed(), finite.failed(), targets)
    return w


def _stores(w: Writer, columns: Sequence[tuple[str, int, int]], runs: Mapping[int, range]) -> dict[int, RowStores]:
    """Writer of each output that no run has; consecutive columns of one array share theirs."""
    found: dict[int, RowStores] = {}
    first = 0
    for k, (base, size, column) in enumerate(columns):
        if k in runs:
            first = k + 1
            continue
        last = k + 1 == len(columns) or k + 1 in runs or columns[k + 1][0] != base
        if last:
            start = column - (k - first)
            found |= dict.fromkeys(range(first, k + 1), RowStores(w, base, size, range(start, column + 1)))
            first = k + 1
    return found


def _known(place: tuple[str, int] | None) -> tuple[str, int]:
    assert place is not None
    return place


class _Finite:
    """Lanes in which some value is infinite or not a number: 0 times it is not 0."""

    def __init__(self, writer: Writer) -> None:
        self._w = writer
        self._sums = [splat(0.0), splat(0.0)]
        self._known: set[int] = set()

    def watch(self, graph: Graph, k: int, value: str) -> None:
        """Note an output, once for all that are the same or its negative; a finite number needs no watch."""
        node = graph.outputs[k] >> 1
        if node not in self._known and not math.isfinite(graph.values.get(node, math.nan)):
            self.add(value)
        self._known.add(node)

    def add(self, value: str) -> None:
        """Note a value."""
        product = self._w.let(f"fmul contract {V} {value}, {splat(0.0)}")
        self._sums.append(self._w.let(f"fadd contract {V} {self._sums.pop(0)}, {product}"))

    def add_all(self, value: Callable[[str], str], count: int) -> None:
        """Note the values that a loop over 0 ... count - 1 gives."""
        total = self._w.stack(V)
        self._w.store_vector(self._sums.pop(0), total, "0")

        def noted(index: str) -> None:
            product = self._w.let(f"fmul contract {V} {value(index)}, {splat(0.0)}")
            sum_ = self._w.let(f"fadd contract {V} {self._w.load_vector(total, '0')}, {product}")
            self._w.store_vector(sum_, total, "0")

        counted(self._w, count, noted)
        self._sums.append(self._w.load_vector(total, "0"))

    def failed(self) -> str:
        """Mask of the lanes."""
        return self._w.let(f"fcmp uno {V} {self._sums[0]}, {self._sums[1]}")


def _status(w: Writer, code: str, bad_input: str, bad_result: str, targets: Sequence[tuple[str, int]]) -> None:
    """Write the status; samples that have one lose their outputs."""
    code = w.let(f"select {M} {bad_input}, {V} {splat(NONFINITE_INPUT)}, {V} {code}")
    clear = w.let(f"fcmp oeq {V} {code}, {splat(0.0)}")
    bad = w.let(f"and {M} {bad_result}, {clear}")
    code = w.let(f"select {M} {bad}, {V} {splat(NONFINITE_RESULT)}, {V} {code}")
    codes = w.let(f"fptosi {V} {code} to <{LANES} x i32>")
    place = w.let("getelementptr inbounds i32, ptr %status, i64 %row")
    w.do(f"store <{LANES} x i32> {codes}, ptr {place}, align 4")
    failed = w.let(f"fcmp une {V} {code}, {splat(0.0)}")
    some = w.let(f"icmp ne i{LANES} {w.let(f'bitcast {M} {failed} to i{LANES}')}, 0")
    w.do(f"br i1 {some}, label %spoil0, label %end")
    for lane in range(LANES):
        w.start_block(f"spoil{lane}")
        following = f"spoil{lane + 1}" if lane + 1 < LANES else "end"
        w.do(f"br i1 {w.let(f'extractelement {M} {failed}, i32 {lane}')}, label %rows{lane}, label %{following}")
        w.start_block(f"rows{lane}")
        for base, size in targets:
            row = w.let(f"getelementptr inbounds double, ptr {base}, i64 {lane * size}")
            w.do(f"call void @spoil(ptr {row}, i64 {size})")
        w.do(f"br label %{following}")
    w.start_block("end")
