"""LLVM text of the set-up part over 4 parameter sets: parameters to constants.

Runs of parameters that are handed on unchanged, and of values that a loop stacked, are copied in loops; the rest is computed,
four sets at a time.
"""

from __future__ import annotations

from flexapod.kernels.llvm.boundary_rows import Rows, RowStores, gather, row_base, store_indexed
from flexapod.kernels.llvm.loops import counted
from flexapod.kernels.llvm.text import Constants, GraphWriter
from flexapod.kernels.llvm.writer import COPY, LANES, Writer
from flexapod.kernels.tape.strides import Run, copied_runs, ranges_outside_runs, stacked_runs
from flexapod.kernels.tape.tape import Tape


def setup_lines(tape: Tape) -> Writer:
    """Body of the function; the caller closes it."""
    w, size, count = Writer(), len(tape.signature.parameters), tape.constants
    source, target = row_base(w, "%inputs", 0, size), row_base(w, "%outputs", 0, count)
    runs = copied_runs(tape.setup)
    for run in runs:
        for lane in range(LANES):
            from_ = w.let(f"getelementptr inbounds double, ptr {source}, i64 {lane * size + run.argument}")
            to = w.let(f"getelementptr inbounds double, ptr {target}, i64 {lane * count + run.output}")
            _copy(w, run, from_, to)
    stores: dict[int, RowStores] = {}
    stacked = stacked_runs(tape.setup, [count])
    for columns in ranges_outside_runs([*runs, *stacked], count):
        stores |= dict.fromkeys(columns, RowStores(w, target, count, columns))
    first = {run.start: run for run in stacked}
    constants = Constants(numbers=lambda i: i, load=lambda index: gather(w, source, index, size), reload=False)
    graph = GraphWriter(w, tape.setup, Rows(w, source, size).column, constants)

    def ready(k: int) -> None:
        if k in stores:
            stores[k].put(k, graph.output(k))
        elif k in first:
            place = graph.stacked(tape.setup.outputs[k])
            assert place is not None
            array, start = place

            def copy(index: str) -> None:
                store_indexed(w, array, start, index, (target, count, k))

            counted(w, len(first[k]), copy)

    graph.emit(ready)
    return w


def _copy(w: Writer, run: Run, from_: str, to: str) -> None:
    """Copy the run of one parameter set."""
    if run.stride == 1:
        w.do(f"{COPY}(ptr {to}, ptr {from_}, i64 {8 * run.length}, i1 0)")
        return
    before, label, after = w.label, w.name("copy"), w.name("copied")
    w.do(f"br label %{label}")
    w.start_block(label)
    index, following = "%" + w.name("i"), "%" + w.name("i")
    w.do(f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{label} ]")
    offset = w.let(f"mul i64 {index}, {run.stride}")
    value = w.let(f"load double, ptr {w.let(f'getelementptr inbounds double, ptr {from_}, i64 {offset}')}, align 8")
    place = w.let(f"getelementptr inbounds double, ptr {to}, i64 {index}")
    w.do(f"store double {value}, ptr {place}, align 8")
    w.do(f"{following} = add i64 {index}, 1")
    w.do(f"br i1 {w.let(f'icmp slt i64 {following}, {run.length}')}, label %{label}, label %{after}")
    w.start_block(after)
