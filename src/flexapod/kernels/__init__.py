"""Kernels: programs in CasADi expressions become fast code (LLVM), arrays (NumPy) or portable C.

Names are loaded on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .c.export import export_c
    from .cache import CacheEntry, cache_entries, cache_folder, cached_kernel, clear_cache
    from .errors import (
        BackendError,
        ExportError,
        KernelError,
        KernelInputError,
        KernelStatusError,
        ProgramError,
    )
    from .family import KernelFamily
    from .kernel import Batch, Kernel, compilations, compile_kernel
    from .prepared import Prepared
    from .tape.operations import Operations
    from .tape.program import Program
    from .tape.signature import NONFINITE_INPUT, NONFINITE_RESULT, Input, Output, Parameter, Signature, Status
    from .tape.tape import Tape, make_tape

_HOME = {
    "c.export": ("export_c",),
    "cache": ("CacheEntry", "cache_entries", "cache_folder", "cached_kernel", "clear_cache"),
    "family": ("KernelFamily",),
    "errors": (
        "BackendError", "ExportError", "KernelError", "KernelInputError", "KernelStatusError", "ProgramError",
    ),
    "kernel": ("Batch", "Kernel", "compilations", "compile_kernel"),
    "tape.operations": ("Operations",),
    "prepared": ("Prepared",),
    "tape.program": ("Program",),
    "tape.signature": (
        "NONFINITE_INPUT", "NONFINITE_RESULT", "Input", "Output", "Parameter", "Signature", "Status",
    ),
    "tape.tape": ("Tape", "make_tape"),
}  # fmt: skip
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "NONFINITE_INPUT",
    "NONFINITE_RESULT",
    "BackendError",
    "Batch",
    "CacheEntry",
    "ExportError",
    "Input",
    "Kernel",
    "KernelError",
    "KernelFamily",
    "KernelInputError",
    "KernelStatusError",
    "Operations",
    "Output",
    "Parameter",
    "Prepared",
    "Program",
    "ProgramError",
    "Signature",
    "Status",
    "Tape",
    "cache_entries",
    "cache_folder",
    "cached_kernel",
    "clear_cache",
    "compilations",
    "compile_kernel",
    "export_c",
    "make_tape",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
