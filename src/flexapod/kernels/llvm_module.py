"""LLVM module of a kernel: for each part a function over 4 samples and a function over a batch.

`void batch(i64 n, ptr inputs, ptr constants, ptr outputs, ptr status)`; `inputs` and `outputs` are arrays
of pointers to (n, size) doubles, `constants` is (S,) or, in the variant with constants per sample, (n,
S). The last 4 samples of a batch are evaluated again where n is not a multiple of 4; fewer than 4 samples
are padded with the last one.
"""

from __future__ import annotations

from collections.abc import Sequence

from .llvm_layout import Rows, store_rows
from .llvm_text import GraphWriter
from .llvm_writer import LANES, M, V, Writer, splat
from .signature import NONFINITE_INPUT, NONFINITE_RESULT
from .tape import Tape

_ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="256" }'


def module_text(tape: Tape, *, per_sample: bool) -> str:
    """Module with the functions `main` and, unless `per_sample`, `setup`."""
    inputs = [i.size for i in tape.signature.inputs]
    outputs = [o.size for o in tape.signature.outputs]
    parts = [_main(tape, inputs, outputs, per_sample=per_sample)]
    arrays = [*inputs, tape.constants] if per_sample else inputs
    text = _batch("main", arrays, outputs, constants_last=per_sample)
    if not per_sample:
        parts.append(_setup(tape))
        text += _batch("setup", [len(tape.signature.parameters)], [tape.constants], constants_last=False)
    declared = set[str]().union(*(part.declared for part in parts))
    lines = [line for part in parts for line in part.globals] + sorted(declared)
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


def _batch(name: str, inputs: list[int], outputs: list[int], *, constants_last: bool) -> str:
    """Function over a batch; `constants_last` takes the constants as the last, per-sample input."""
    rows = [
        *((size, "in", k) for k, size in enumerate(inputs)),
        *((size, "out", k) for k, size in enumerate(outputs)),
    ]
    count_in, count_out = max(len(inputs), 1), max(len(outputs), 1)
    entry = [
        f"  %in4 = alloca [{count_in} x ptr], align 16",
        f"  %out4 = alloca [{count_out} x ptr], align 16",
        "  %status4 = alloca [4 x i32], align 16",
    ]
    w = Writer()
    w.entry = entry
    if constants_last:
        w.do(f"%all = alloca [{count_in} x ptr], align 16")
        for k in range(len(inputs) - 1):
            w.do(f"store ptr {_entry(w, '%inputs', k)}, ptr {_place(w, '%all', k)}, align 8")
        w.do(f"store ptr %constants, ptr {_place(w, '%all', len(inputs) - 1)}, align 8")
    source = "%all" if constants_last else "%inputs"
    buffers = [w.stack(f"[{max(LANES * size, 1)} x double]") for size, _, _ in rows]
    w.do("%few = icmp slt i64 %n, 4")
    w.do("br i1 %few, label %small, label %many")
    w.start_block("small")
    w.do("%some = icmp sgt i64 %n, 0")
    w.do("br i1 %some, label %pad, label %end")
    w.start_block("pad")
    w.do("%last = add i64 %n, -1")
    for (size, side, k), buffer in zip(rows, buffers, strict=True):
        w.do(f"store ptr {buffer}, ptr {_place(w, f'%{side}4', k)}, align 8")
        if side == "in" and size:
            _copy_rows(w, _entry(w, source, k), buffer, size, clamp="%last")
    w.do(f"call void @{name}4(ptr %in4, ptr %constants, ptr %out4, ptr %status4, i64 0)")
    for (size, side, k), buffer in zip(rows, buffers, strict=True):
        if side == "out" and size:
            bytes_ = w.let(f"mul i64 %n, {8 * size}")
            to = _entry(w, "%outputs", k)
            w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {buffer}, i64 {bytes_}, i1 0)")
    if name == "main":
        w.do("%bytes = mul i64 %n, 4")
        w.do("call void @llvm.memcpy.p0.p0.i64(ptr %status, ptr %status4, i64 %bytes, i1 0)")
    w.do("br label %end")
    w.start_block("many")
    w.do("%final = add i64 %n, -4")
    w.do("br label %next")
    w.start_block("next")
    w.do("%row = phi i64 [ 0, %many ], [ %following, %next ]")
    w.do("%over = icmp sgt i64 %row, %final")
    w.do("%here = select i1 %over, i64 %final, i64 %row")
    w.do(f"call void @{name}4(ptr {source}, ptr %constants, ptr %outputs, ptr %status, i64 %here)")
    w.do("%following = add i64 %row, 4")
    w.do("%again = icmp slt i64 %following, %n")
    w.do("br i1 %again, label %next, label %end")
    w.start_block("end")
    head = f"define void @{name}(i64 %n, ptr %inputs, ptr %constants, ptr %outputs, ptr %status) #0 {{"
    declare = [] if name == "setup" else ["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"]
    return "\n".join([*declare, head, "entry:", *w.entry, *w.lines, "  ret void", "}", ""])


def _place(w: Writer, arrays: str, k: int) -> str:
    return w.let(f"getelementptr inbounds ptr, ptr {arrays}, i64 {k}")


def _entry(w: Writer, arrays: str, k: int) -> str:
    return w.let(f"load ptr, ptr {_place(w, arrays, k)}, align 8")


def _copy_rows(w: Writer, source: str, buffer: str, size: int, clamp: str) -> None:
    for r in range(LANES):
        below = w.let(f"icmp slt i64 {r}, {clamp}")
        row = w.let(f"select i1 {below}, i64 {r}, i64 {clamp}")
        start = w.let(f"mul i64 {row}, {size}")
        from_ = w.let(f"getelementptr inbounds double, ptr {source}, i64 {start}")
        to = w.let(f"getelementptr inbounds double, ptr {buffer}, i64 {r * size}")
        w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {from_}, i64 {8 * size}, i1 0)")
