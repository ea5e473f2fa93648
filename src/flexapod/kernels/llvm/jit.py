"""Machine code through llvmlite: LLVM text to object code, and object code to callable addresses."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from flexapod.kernels.errors import KernelInputError
from flexapod.kernels.forking import FORK_LOCKS
from flexapod.kernels.llvm.text import LIBM

CODE_LEVEL = 2
"""Effort of LLVM's code generator, unless FLEXAPOD_CODE_LEVEL says otherwise."""
BESIDE = ("xarray",)
"""Modules that labelled results need next, a third of a second to import."""
LARGE_TEXT = 800_000
"""Characters of a text that LLVM works on for longer than that."""
Function = Callable[[int, Any, Any, Any, Any], None]
_PROTOTYPE = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)  # a CFUNCTYPE call releases the GIL
_LOCK = FORK_LOCKS.llvm  # LLVM's global context is not safe for concurrent use


@functools.cache
def _binding() -> Any:
    """llvmlite, initialised, with the mathematical functions known by address."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in _mathematical_functions().items():
        llvm.add_symbol(name, address)
    return llvm


def _mathematical_functions() -> dict[str, int | None]:
    """Addresses in the C library that this process already uses, or else in the one of the system."""

    def of(library: ctypes.CDLL) -> dict[str, int | None]:
        return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in LIBM}

    if sys.platform == "win32":
        return of(ctypes.CDLL("ucrtbase"))
    try:
        return of(ctypes.CDLL(None))
    except AttributeError:
        return of(ctypes.CDLL(ctypes.util.find_library("m")))


@functools.cache
def target_identity() -> str:
    """Dependences of compiled code besides its text: llvmlite, CPU and its features."""
    llvm = _binding()
    import llvmlite

    return hashlib.sha256("|".join([llvmlite.__version__, llvm.get_process_triple(), *processor()]).encode()).hexdigest()


def processor() -> tuple[str, str]:
    """Name and features of the processor that code is made for: this one, or that which FLEXAPOD_CPU names (`generic`: any)."""
    named = os.environ.get("FLEXAPOD_CPU")
    if named:
        return named, ""
    llvm = _binding()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def code_level() -> int:
    """Effort of the code generator: 2, or FLEXAPOD_CODE_LEVEL (0: compiled in a quarter of the time, evaluated more slowly)."""
    text = os.environ.get("FLEXAPOD_CODE_LEVEL", "").strip()
    if text not in ("", "0", "1", "2", "3"):
        raise KernelInputError(f"FLEXAPOD_CODE_LEVEL: expected 0, 1, 2 or 3, got {text!r}")
    return int(text) if text else CODE_LEVEL


def _machine(level: int | None = None) -> Any:
    llvm = _binding()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    cpu, features = processor()
    return target.create_target_machine(
        cpu=cpu,
        features=features,
        opt=code_level() if level is None else level,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


def compile_text(text: str, level: int | None = None, *, in_order: bool = False) -> bytes:
    """Object code of an LLVM module, by the usual effort of the code generator or a given one; `in_order`: that of the text."""
    with _LOCK:
        llvm = _binding()
        module = llvm.parse_assembly(text)
        module.verify()
        with imported_beside(len(text)), _order_kept(llvm) if in_order else contextlib.nullcontext():
            return bytes(_machine(level).emit_object(module))


@contextlib.contextmanager
def imported_beside(size: int) -> Iterator[None]:
    """Import what results need next on another core, while LLVM, which needs no interpreter, works on a large text.

    Within the lock of compilations, which a fork waits for: no import is left half done in a child.

    Checked by: tests/kernels/test_imported_beside.py.
    """
    missing = [name for name in BESIDE if name not in sys.modules] if size > LARGE_TEXT else []
    threads = [threading.Thread(target=_imported, args=(name,), daemon=True) for name in missing]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def _imported(name: str) -> None:
    with contextlib.suppress(ImportError):  # reported where it is needed
        importlib.import_module(name)


@contextlib.contextmanager
def _order_kept(llvm: ModuleType) -> Iterator[None]:
    """LLVM's own scheduling is switched off meanwhile; the switch is one of the process, in which others may compile."""
    llvm.set_option("flexapod", "-enable-misched=false")
    try:
        yield
    finally:
        llvm.set_option("flexapod", "-enable-misched=true")


class Library:
    """Loaded object code; keeps it alive as long as its functions may be called."""

    def __init__(self, code: bytes) -> None:
        with _LOCK:
            llvm = _binding()
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def function(self, name: str) -> Function:
        """A function over a batch."""
        with _LOCK:
            address = self._engine.get_function_address(name)
        if not address:
            raise LookupError(name)
        return _PROTOTYPE(address)
