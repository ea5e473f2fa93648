"""LLVM module of a kernel: for each part a function over 4 samples and a function over a batch.

The function over 4 samples gets the row of the first one; see `llvm_batch` for the function over a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from .llvm_batch import batch_text
from .llvm_layout import Rows, store_rows
from .llvm_text import GraphWriter
from .llvm_writer import LANES, M, V, Writer, splat
from .signature import NONFINITE_INPUT, NONFINITE_RESULT
from .tape import Tape

_MEMCPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
_ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }'


def module_text(tape: Tape, *, per_sample: bool) -> str:
    """Module with the functions `main` and, unless `per_sample`, `setup`."""
    inputs = [i.size for i in tape.signature.inputs]
    outputs = [o.size for o in tape.signature.outputs]
    parts = [_main(tape, inputs, outputs, per_sample=per_sample)]
    arrays = [*inputs, tape.constants] if per_sample else inputs
    text = batch_text("main", arrays, outputs, per_sample=per_sample)
    if not per_sample:
        parts.append(_setup(tape))
        text += batch_text("setup", [len(tape.signature.parameters)], [tape.constants], per_sample=False)
    declared = set[str]().union(*(part.declared for part in parts))
    lines = [line for part in parts for line in part.globals] + sorted(declared | {_MEMCPY})
    for part in parts:
        lines += part.lines
    return "\n".join([*lines, text, _ATTRIBUTES, ""])


def _main(tape: Tape, inputs: list[int], outputs: list[int], *, per_sample: bool) -> Writer:
    w = Writer()
    rows = _input_rows(w, [*inputs, tape.constants] if per_sample else inputs)
    places = [(rows[a], k) for a, size in enumerate(inputs) for k in range(size)]

    def load_constant(index: str) -> str:
        if not per_sample:
            place = w.let(f"getelementptr inbounds double, ptr %constants, i64 {index}")
            return w.broadcast(w.let(f"load double, ptr {place}, align 8"))
        return _gather(w, _row_base(w, "%inputs", len(inputs), tape.constants), index, tape.constants)

    def argument(i: int) -> str:
        if i < len(places):
            row, k = places[i]
            return row.column(k)
        return rows[-1].column(i - len(places)) if per_sample else load_constant(str(i - len(places)))

    graph = GraphWriter(w, tape.main, argument, len(places), load_constant)
    *results, code = graph.emit()
    bad = _not_finite(w, [row.column(k) for row, k in places])
    code = w.let(f"select {M} {bad}, {V} {splat(NONFINITE_INPUT)}, {V} {code}")
    bad = _not_finite(w, results)
    clear = w.let(f"fcmp oeq {V} {code}, {splat(0.0)}")
    bad = w.let(f"and {M} {bad}, {clear}")
    code = w.let(f"select {M} {bad}, {V} {splat(NONFINITE_RESULT)}, {V} {code}")
    clear = w.let(f"fcmp oeq {V} {code}, {splat(0.0)}")
    nan = splat(float("nan"))
    results = [w.let(f"select {M} {clear}, {V} {x}, {V} {nan}") for x in results]
    _store_outputs(w, outputs, results)
    codes = w.let(f"fptosi {V} {code} to <{LANES} x i32>")
    place = w.let("getelementptr inbounds i32, ptr %status, i64 %row")
    w.do(f"store <{LANES} x i32> {codes}, ptr {place}, align 4")
    return _close(w, "main")


def _setup(tape: Tape) -> Writer:
    w = Writer()
    (parameters,) = _input_rows(w, [len(tape.signature.parameters)])
    results = GraphWriter(w, tape.setup, parameters.column).emit()
    _store_outputs(w, [tape.constants], results)
    return _close(w, "setup")


def _close(w: Writer, name: str) -> Writer:
    arguments = "ptr %inputs, ptr %constants, ptr %outputs, ptr %status, i64 %row"
    head = f"define internal void @{name}4({arguments}) noinline #0 {{"
    w.lines = [head, "entry:", *w.entry, *w.lines, "  ret void", "}"]
    return w


def _row_base(w: Writer, arrays: str, k: int, size: int) -> str:
    """Address of the first of the four rows of array number k."""
    place = w.let(f"getelementptr inbounds ptr, ptr {arrays}, i64 {k}")
    base = w.let(f"load ptr, ptr {place}, align 8")
    offset = w.let(f"mul i64 %row, {size}")
    return w.let(f"getelementptr inbounds double, ptr {base}, i64 {offset}")


def _input_rows(w: Writer, sizes: Sequence[int]) -> list[Rows]:
    return [Rows(w, _row_base(w, "%inputs", k, size), size) for k, size in enumerate(sizes)]


def _gather(w: Writer, base: str, index: str, size: int) -> str:
    """Entry `index` of four rows."""
    value = "poison"
    for lane in range(LANES):
        offset = w.let(f"add i64 {index}, {lane * size}")
        place = w.let(f"getelementptr inbounds double, ptr {base}, i64 {offset}")
        value = w.let(f"insertelement {V} {value}, double {w.let(f'load double, ptr {place}, align 8')}, i32 {lane}")
    return value


def _store_outputs(w: Writer, sizes: Sequence[int], values: list[str]) -> None:
    start = 0
    for k, size in enumerate(sizes):
        if size:
            store_rows(w, _row_base(w, "%outputs", k, size), values[start : start + size])
        start += size


def _not_finite(w: Writer, values: Sequence[str]) -> str:
    """Lanes in which some value is infinite or not a number: 0 times it is not 0."""
    sums = [splat(0.0), splat(0.0)]
    for k, value in enumerate(values):
        product = w.let(f"fmul contract {V} {value}, {splat(0.0)}")
        sums[k % 2] = w.let(f"fadd contract {V} {sums[k % 2]}, {product}")
    return w.let(f"fcmp uno {V} {sums[0]}, {sums[1]}")
