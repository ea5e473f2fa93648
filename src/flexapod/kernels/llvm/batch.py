"""LLVM text of the function over a batch, which calls the function over 4 samples.

`void batch(i64 n, ptr inputs, ptr constants, ptr outputs, ptr status)`; `inputs` and `outputs` are arrays of pointers
to (n, size) doubles, `constants` is (S,) or, in the variant with constants per sample, (n, S). The last 4 samples of
a batch are evaluated again where n is not a multiple of 4; fewer than 4 samples are padded with the last one. The set-up
part wants 4 parameter sets at least: padding thousands of constants needs more memory than a thread's stack may have.
"""

from __future__ import annotations

from flexapod.kernels.llvm.writer import COPY, LANES, Writer


def setup_text() -> str:
    """The set-up part over a batch."""
    w = Writer()
    _many(w, "setup", "%inputs")
    return _function("setup", w)


def main_text(inputs: list[int], outputs: list[int], *, per_sample: bool) -> str:
    """The main part over a batch, for arrays of the given row sizes; `per_sample` takes the constants as the last input."""
    w = Writer()
    arrays = "%inputs"
    if per_sample:
        arrays = w.stack(f"[{len(inputs)} x ptr]", 16)
        for k in range(len(inputs) - 1):
            w.do(f"store ptr {_entry(w, '%inputs', k)}, ptr {_place(w, arrays, k)}, align 8")
        w.do(f"store ptr %constants, ptr {_place(w, arrays, len(inputs) - 1)}, align 8")
    w.do("%few = icmp slt i64 %n, 4")
    w.do("br i1 %few, label %small, label %many")
    _few(w, arrays, inputs, outputs)
    w.start_block("many")
    _many(w, "main", arrays)
    return _function("main", w)


def steps_text() -> str:
    """The main part over rows one after the other, each call on its own: the row after may read what a row gave.

    A call evaluates 4 rows of which the first counts; the others are evaluated again, so that arrays have 3 rows more than n.
    """
    w = Writer()
    w.do("%some = icmp sgt i64 %n, 0")
    w.do("br i1 %some, label %next, label %end")
    w.start_block("next")
    w.do("%row = phi i64 [ 0, %entry ], [ %following, %next ]")
    w.do("call void @main4(ptr %inputs, ptr %constants, ptr %outputs, ptr %status, i64 %row)")
    w.do("%following = add i64 %row, 1")
    w.do("%again = icmp slt i64 %following, %n")
    w.do("br i1 %again, label %next, label %end")
    return _function("steps", w)


def _function(name: str, w: Writer) -> str:
    head = f"define void @{name}(i64 %n, ptr %inputs, ptr %constants, ptr %outputs, ptr %status) #0 {{"
    return "\n".join([head, "entry:", *w.entry, *w.lines, "end:", "  ret void", "}", ""])


def _few(w: Writer, arrays: str, inputs: list[int], outputs: list[int]) -> None:
    """Evaluate fewer than 4 samples, as padded copies."""
    w.start_block("small")
    w.do("%some = icmp sgt i64 %n, 0")
    w.do("br i1 %some, label %pad, label %end")
    w.start_block("pad")
    w.do("%last = add i64 %n, -1")
    given, gives = (w.stack(f"[{max(len(sizes), 1)} x ptr]", 16) for sizes in (inputs, outputs))
    status = w.stack(f"[{LANES} x i32]", 16)
    for k, size in enumerate(inputs):
        buffer = w.stack(f"[{max(LANES * size, 1)} x double]")
        w.do(f"store ptr {buffer}, ptr {_place(w, given, k)}, align 8")
        if size:
            _copy_rows(w, _entry(w, arrays, k), buffer, size)
    buffers = [w.stack(f"[{max(LANES * size, 1)} x double]") for size in outputs]
    for k, buffer in enumerate(buffers):
        w.do(f"store ptr {buffer}, ptr {_place(w, gives, k)}, align 8")
    w.do(f"call void @main4(ptr {given}, ptr %constants, ptr {gives}, ptr {status}, i64 0)")
    for k, (size, buffer) in enumerate(zip(outputs, buffers, strict=True)):
        if size:
            length = w.let(f"mul i64 %n, {8 * size}")
            w.do(f"{COPY}(ptr {_entry(w, '%outputs', k)}, ptr {buffer}, i64 {length}, i1 0)")
    length = w.let("mul i64 %n, 4")
    w.do(f"{COPY}(ptr %status, ptr {status}, i64 {length}, i1 0)")
    w.do("br label %end")


def _many(w: Writer, name: str, arrays: str) -> None:
    """Rows 0, 4, 8, ... and at last n - 4."""
    before = w.label
    w.do("%final = add i64 %n, -4")
    w.do("br label %next")
    w.start_block("next")
    w.do(f"%row = phi i64 [ 0, %{before} ], [ %following, %next ]")
    w.do("%over = icmp sgt i64 %row, %final")
    w.do("%here = select i1 %over, i64 %final, i64 %row")
    w.do(f"call void @{name}4(ptr {arrays}, ptr %constants, ptr %outputs, ptr %status, i64 %here)")
    w.do("%following = add i64 %row, 4")
    w.do("%again = icmp slt i64 %following, %n")
    w.do("br i1 %again, label %next, label %end")


def _copy_rows(w: Writer, source: str, buffer: str, size: int) -> None:
    """Copy four rows, the last one again where there are fewer."""
    for r in range(LANES):
        below = w.let(f"icmp slt i64 {r}, %last")
        row = w.let(f"select i1 {below}, i64 {r}, i64 %last")
        start = w.let(f"mul i64 {row}, {size}")
        from_ = w.let(f"getelementptr inbounds double, ptr {source}, i64 {start}")
        to = w.let(f"getelementptr inbounds double, ptr {buffer}, i64 {r * size}")
        w.do(f"{COPY}(ptr {to}, ptr {from_}, i64 {8 * size}, i1 0)")


def _place(w: Writer, arrays: str, k: int) -> str:
    return w.let(f"getelementptr inbounds ptr, ptr {arrays}, i64 {k}")


def _entry(w: Writer, arrays: str, k: int) -> str:
    return w.let(f"load ptr, ptr {_place(w, arrays, k)}, align 8")
