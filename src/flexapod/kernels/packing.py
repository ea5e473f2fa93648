"""Packing: a kernel from a tape, and from the pieces that the cache keeps (header and object code)."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from flexapod.kernels.kernel import Executable, Kernel, count_compilation
from flexapod.kernels.tape.operations import Operations
from flexapod.kernels.tape.signature import Signature
from flexapod.kernels.tape.tape import Tape


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Parts from which a kernel is rebuilt: a header of plain data, the tape as text, object code by variant; the cache seals
    them."""

    header: Mapping[str, Any]
    tape: bytes
    code: Mapping[str, bytes]
    seal: str = ""


def kernel_from_tape(
    tape: Tape, backend: str, keep: Callable[[Pieces], None] | None = None, level: int | None = None
) -> tuple[Kernel, Pieces]:
    """Compile a tape; `keep` is called when a variant with constants or parameters per sample is compiled later."""
    code: dict[str, bytes] = {}
    if backend == "llvm":
        from flexapod.kernels.llvm.backend import compile_shared

        code["shared"] = compile_shared(tape, level)
    count_compilation()
    pieces = pack_tape(tape, backend, code)
    return kernel_from_pieces(pieces, keep, tape.signature), pieces


def interpreter(tape: Tape) -> Kernel:
    """Kernel that interprets a tape with NumPy; not counted as a compilation."""
    return kernel_from_pieces(pack_tape(tape, "numpy", {}))


def pack_tape(tape: Tape, backend: str, code: Mapping[str, bytes]) -> Pieces:
    """Pieces of a kernel."""
    header = {
        "backend": backend,
        "signature": tape.signature.to_data(),
        "operations": asdict(tape.operations),
        "setup_operations": asdict(tape.setup_operations),
        "zeros": list(tape.zeros),
        "constants": tape.constants,
        "single": tape.single,
    }
    text = json.dumps(tape.to_data(), separators=(",", ":")).encode()
    return Pieces(header=header, tape=text, code=code)


def kernel_from_pieces(
    pieces: Pieces, keep: Callable[[Pieces], None] | None = None, signature: Signature | None = None
) -> Kernel:
    """Build a kernel without compiling; the tape is read only when someone asks for it, the signature where it is not at hand."""
    header = pieces.header

    @functools.cache
    def tape() -> Tape:
        return Tape.from_data(json.loads(pieces.tape))

    found = dict(pieces.code)

    def code(variant: str) -> bytes:
        if variant not in found:
            from flexapod.kernels.llvm.backend import VARIANTS

            found[variant] = VARIANTS[variant](tape())
            count_compilation()
            if keep is not None:
                keep(Pieces(header=header, tape=pieces.tape, code=dict(found)))
        return found[variant]

    executable: Executable
    if header["backend"] == "llvm":
        from flexapod.kernels.llvm.backend import LlvmExecutable

        executable = LlvmExecutable(header["constants"], code, single=header["single"])
    else:
        from flexapod.kernels.numpy_backend import NumpyExecutable

        executable = NumpyExecutable(tape())
    return Kernel(
        signature=Signature.from_data(header["signature"]) if signature is None else signature,
        operations=Operations(**header["operations"]),
        setup_operations=Operations(**header["setup_operations"]),
        zeros=header["zeros"],
        executable=executable,
        tape=tape,
    )
