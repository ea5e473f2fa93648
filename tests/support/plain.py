"""Kernels that interpret a program as it is written, without simplification, factoring or machine code.

Tests of equations evaluate a program a few times, and passes take most of the time of a kernel. Kernels with all passes are
compared with the same equations by the tests of verbs, and the passes with each other in tests/kernels and tests/generator.
"""

from __future__ import annotations

from collections.abc import Collection

from flexapod.kernels.kernel import Kernel, choose_backend
from flexapod.kernels.packing import interpreter, kernel_from_tape
from flexapod.kernels.passes.hoisting import hoist
from flexapod.kernels.passes.lowering import lower
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.tape import Tape, make_tape


def plain_kernel(program: Program, zeros: Collection[str] = ()) -> Kernel:
    """Kernel that interprets a program as it is; parameters of `zeros` that it has are structural zeros."""
    signature = program.signature
    known = sorted({p.name for p in signature.parameters} & set(zeros))
    setup, main = hoist(lower(program, known), sum(i.size for i in signature.inputs), len(signature.parameters))
    return interpreter(Tape(signature=signature, zeros=tuple(known), setup=setup, main=main, single=program.single))


def compile_kernel(program: Program, *, backend: str | None = None, zeros: Collection[str] | None = None) -> Kernel:
    """Compile a program, in memory only; `cached_kernel` keeps the result on disk."""
    return kernel_from_tape(make_tape(program, zeros), choose_backend(backend))[0]
