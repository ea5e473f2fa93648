"""LLVM text of a kernel whose parameters vary per sample: set-up and main part in turn, four samples at a time.

`void designs(i64 n, ptr inputs, ptr constants, ptr outputs, ptr status)`. Behind the inputs' pointers, `inputs` has those of

- steps (i64 per input): 1 where an input has a row per sample, 0 where four equal rows are read by all samples;
- block (P, 4): parameters of the four samples, in which those that do not vary stay as they are;
- places (i64): how many parameters vary, then the place of each in the block;
- columns (ptr): the values (n,) of each that varies.

`constants` is room for (S, 4) doubles, aligned to 32 bytes, which stays in the cache: constants of a design are used at once and
never leave it. n is 4 at least.
"""

from __future__ import annotations

from flexapod.kernels.llvm.main_part import finish_main
from flexapod.kernels.llvm.text import Constants, GraphWriter
from flexapod.kernels.llvm.writer import V, Writer
from flexapod.kernels.tape.strides import Run, copied_runs, ranges_outside_runs
from flexapod.kernels.tape.tape import Tape


def setup_block(tape: Tape) -> Writer:
    """Set-up part of four samples: from the block of parameters to the constants, vectors in both."""
    w = Writer()
    runs = copied_runs(tape.setup)
    for run in runs:
        _copy(w, run)
    own = {k for columns in ranges_outside_runs(runs, tape.constants) for k in columns}
    constants = Constants(numbers=lambda i: i, load=lambda index: w.load_vector("%inputs", index), reload=True)
    graph = GraphWriter(w, tape.setup, lambda i: w.load_vector("%inputs", str(i)), constants)

    def ready(k: int) -> None:
        if k in own:
            w.store_vector(graph.output(k), "%outputs", str(k))

    graph.emit(ready)
    return w


def main_block(tape: Tape) -> Writer:
    """Main part of four samples, with constants as vectors."""
    w = Writer()
    sizes = [i.size for i in tape.signature.inputs]
    steps = _entry(w, len(sizes))
    bases = []
    for k, size in enumerate(sizes):
        step = w.let(f"load i64, ptr {w.let(f'getelementptr inbounds i64, ptr {steps}, i64 {k}')}, align 8")
        offset = w.let(f"mul i64 {w.let(f'mul i64 %row, {step}')}, {size}")
        bases.append(w.let(f"getelementptr inbounds double, ptr {_entry(w, k)}, i64 {offset}"))
    return finish_main(w, tape, bases, lambda index: w.load_vector("%constants", index), reload=True)


def designs_text(tape: Tape) -> str:
    """The function over a batch."""
    w = Writer()
    arrays = len(tape.signature.inputs)
    block, places, columns = (_entry(w, arrays + k) for k in (1, 2, 3))
    w.do(f"%count = load i64, ptr {places}, align 8")
    w.do("%final = add i64 %n, -4")
    w.do("br label %next")
    w.start_block("next")
    w.do("%before = phi i64 [ 0, %entry ], [ %following, %work ]")
    w.do("%over = icmp sgt i64 %before, %final")
    w.do("%row = select i1 %over, i64 %final, i64 %before")
    w.do("%some = icmp sgt i64 %count, 0")
    w.do("br i1 %some, label %fill, label %work")
    w.start_block("fill")
    w.do("%j = phi i64 [ 0, %next ], [ %further, %fill ]")
    w.do("%further = add i64 %j, 1")
    place = w.let(f"load i64, ptr {w.let(f'getelementptr inbounds i64, ptr {places}, i64 %further')}, align 8")
    column = w.let(f"load ptr, ptr {w.let(f'getelementptr inbounds ptr, ptr {columns}, i64 %j')}, align 8")
    value = w.let(f"load {V}, ptr {w.let(f'getelementptr inbounds double, ptr {column}, i64 %row')}, align 8")
    w.store_vector(value, block, place)
    w.do("%rest = icmp slt i64 %further, %count")
    w.do("br i1 %rest, label %fill, label %work")
    w.start_block("work")
    w.do(f"call void @setup4(ptr {block}, ptr null, ptr %constants, ptr null, i64 0)")
    w.do("call void @main4(ptr %inputs, ptr %constants, ptr %outputs, ptr %status, i64 %row)")
    w.do("%following = add i64 %before, 4")
    w.do("%again = icmp slt i64 %following, %n")
    w.do("br i1 %again, label %next, label %end")
    head = "define void @designs(i64 %n, ptr %inputs, ptr %constants, ptr %outputs, ptr %status) #0 {"
    return "\n".join([head, "entry:", *w.entry, *w.lines, "end:", "  ret void", "}", ""])


def _entry(w: Writer, k: int) -> str:
    return w.let(f"load ptr, ptr {w.let(f'getelementptr inbounds ptr, ptr %inputs, i64 {k}')}, align 8")


def _copy(w: Writer, run: Run) -> None:
    """Hand a run of parameters on."""
    before, label, after = w.label, w.name("copy"), w.name("copied")
    w.do(f"br label %{label}")
    w.start_block(label)
    index, following = "%" + w.name("i"), "%" + w.name("i")
    w.do(f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{label} ]")
    source = w.let(f"add i64 {w.let(f'mul i64 {index}, {run.stride}')}, {run.argument}")
    w.store_vector(w.load_vector("%inputs", source), "%outputs", w.let(f"add i64 {index}, {run.output}"))
    w.do(f"{following} = add i64 {index}, 1")
    w.do(f"br i1 {w.let(f'icmp slt i64 {following}, {run.length}')}, label %{label}, label %{after}")
    w.start_block(after)
