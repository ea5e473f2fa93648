"""LLVM module of a kernel: for each part a function over 4 samples and a function over a batch.

The function over 4 samples gets the row of the first one; see `llvm_batch` for the function over a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.kernels.llvm.batch import main_text, setup_text, steps_text
from flexapod.kernels.llvm.designs import designs_text, main_block, setup_block
from flexapod.kernels.llvm.main_part import SPOIL, main_lines
from flexapod.kernels.llvm.setup_part import setup_lines
from flexapod.kernels.llvm.writer import Writer
from flexapod.kernels.tape.tape import Tape

_MEMCPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
_WIDTH = '"prefer-vector-width"="256" "min-legal-vector-width"="256"'
_ATTRIBUTES = f'attributes #0 = {{ nounwind alignstack=64 "stackrealign" {_WIDTH} }}'
"""The stack is aligned to lines of the cache: a vector that is kept there and lies in two of them takes twice as long."""


def module_text(tape: Tape, *, per_sample: bool) -> str:
    """Module with the functions `main` and, unless `per_sample`, `setup` and `steps`."""
    inputs = [i.size for i in tape.signature.inputs]
    outputs = [o.size for o in tape.signature.outputs]
    parts = [main_lines(tape, per_sample=per_sample)]
    texts = [SPOIL, _function("main4", parts[0])]
    arrays = [*inputs, tape.constants] if per_sample else inputs
    texts.append(main_text(arrays, outputs, per_sample=per_sample))
    if not per_sample:
        parts.append(setup_lines(tape))
        texts += [_function("setup4", parts[1]), setup_text(), steps_text()]
    return _module(parts, texts)


def designs_module(tape: Tape) -> str:
    """Module with the function `designs`, whose parameters vary per sample."""
    parts = [setup_block(tape), main_block(tape)]
    texts = [SPOIL, *(_function(name, part) for name, part in zip(("setup4", "main4"), parts, strict=True)), designs_text(tape)]
    return _module(parts, texts)


def _module(parts: Sequence[Writer], texts: Sequence[str]) -> str:
    declared = set[str]().union(*(part.declared for part in parts))
    names = [line for part in parts for line in part.globals]
    return "\n".join([*names, *sorted(declared | {_MEMCPY}), *texts, _ATTRIBUTES, ""])


def _function(name: str, w: Writer) -> str:
    arguments = "ptr %inputs, ptr %constants, ptr %outputs, ptr %status, i64 %row"
    head = f"define internal void @{name}({arguments}) noinline #0 {{"
    never = "  %never = icmp eq ptr %outputs, null"  # see Writer.end_part
    return "\n".join([head, "entry:", *w.entry, never, *w.lines, "  br label %leave", "leave:", "  ret void", "}"])
