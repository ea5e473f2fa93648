"""Disk cache of compiled kernels, by content hash.

One file per kernel: magic, sha256 of the payload, payload (a JSON header, then the tape and the object code as raw bytes). A
file is named by its tape, then by what the code was made for: a kernel for another backend, processor or effort of the compiler
takes the tape from there. Files appear whole by an atomic rename, so that any number of processes may start at once. A file that
is damaged, foreign, not ours or without a valid seal is rebuilt; a folder that cannot be written, or that others can write,
means no cache, never an error.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flexapod.calls import checked
from flexapod.kernels.forking import FORK_LOCKS
from flexapod.kernels.kernel import Kernel, choose_backend
from flexapod.kernels.packing import Pieces, kernel_from_pieces, kernel_from_tape
from flexapod.kernels.tape.tape import Tape, make_tape
from flexapod.private_files import cache_folder as cache_folder
from flexapod.private_files import read_private, write_private

if TYPE_CHECKING:
    from flexapod.kernels.tape.program import Program

FORMAT = 4
MAGIC = b"flexapod kernel\n"
SUFFIX = ".kernel"
MOST_KEPT = 500
"""Kernels in memory, a few MB each with the compiler's: a process that meets thousands of structures does not grow for ever."""
_memory: dict[str, Kernel] = {}
_cleared: list[int] = []
_lock = FORK_LOCKS.kernels


Along = Literal["parameters", "inputs"]
"""Quantity along which derivatives are taken."""


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    """One file of the cache."""

    path: Path
    name: str
    size: int


def cached_kernel(
    key: str,
    make_program: Callable[[], Program],
    *,
    zeros: Collection[str] | None = None,
    backend: str | None = None,
    bounds: bool = False,
    slopes: Along | None = None,
    level: int | None = None,
) -> Kernel:
    """Kernel from memory, from disk, or compiled and stored.

    Args:
        key: content hash of everything that `make_program` depends on, besides the source of this package.
        make_program: called only if the kernel is nowhere.
        zeros: parameters that are structural zeros; names that the program does not have are passed over, so that one
            pattern is that of all kernels of a robot.
        backend: llvm or numpy; by default as `choose_backend` says.
        bounds: the kernel that bounds the program's outputs over boxes of its inputs; see `interval`.
        slopes: the kernel that also gives derivatives along a direction of the parameters or of the inputs; see `tangent`.
        level: effort of the code generator, where it is not the usual one.
    """
    backend = choose_backend(backend)
    tape, asked = _tape_identity(key, zeros), (bounds, slopes, level)
    kind = "b" * bounds + {None: "", "parameters": "s", "inputs": "i"}[slopes]
    identity = f"{tape}{kind}-{_code_identity(backend, level)}"
    with _lock:
        kernel = _memory.pop(identity, None) or _load_or_build(
            identity, lambda: _kept_tape(tape) or _made_tape(make_program, zeros), backend, asked
        )
        _memory[identity] = kernel  # files used last are removed last
        if len(_memory) > MOST_KEPT:
            del _memory[next(iter(_memory))]
        return kernel


def lookup_key() -> tuple[int, str, str]:
    """Key of a looked-up kernel besides its content: how often memory was cleared, backend, effort of the compiler."""
    return len(_cleared), choose_backend(None), os.environ.get("FLEXAPOD_CODE_LEVEL", "")


def _load_or_build(
    identity: str, find_tape: Callable[[], Tape], backend: str, asked: tuple[bool, Along | None, int | None]
) -> Kernel:
    name, (bounds, slopes, level) = identity + SUFFIX, asked

    def keep(pieces: Pieces) -> None:
        write_private(cache_folder(), name, pack(replace(pieces, seal=seal(pieces, identity)), identity))

    pieces = _read(name, identity)
    if pieces is not None:
        try:
            return kernel_from_pieces(pieces, keep)
        except Exception:  # a well-formed file with impossible content is rebuilt like a damaged one
            pieces = None
    with _no_collection():
        tape = find_tape()
        if bounds:
            from flexapod.kernels.intervals.backend import interval_tape

            tape = interval_tape(tape)
        if slopes:
            from flexapod.kernels.tape.tangent import parameter_tangent, tangent

            tape = tangent(tape) if slopes == "inputs" else parameter_tangent(tape)
        kernel, pieces = kernel_from_tape(tape, backend, keep, level)
    keep(pieces)
    return kernel


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Context without garbage collection. Graphs are tens of thousands of tuples without cycles: the search for cycles would
    walk all of them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _made_tape(make_program: Callable[[], Program], zeros: Collection[str] | None) -> Tape:
    from flexapod.kernels.tape.quick_operators import quick_operators

    with quick_operators():
        program = make_program()
    return make_tape(program, {p.name for p in program.signature.parameters} & set(zeros or ()))


def _kept_tape(identity: str) -> Tape | None:
    """The tape of a kernel on disk that was compiled for something else."""
    for path in _files(f"{identity}-*{SUFFIX}"):
        pieces = _read(path.name, path.stem)
        if pieces is not None:
            with contextlib.suppress(Exception):  # impossible content: derived again
                return Tape.from_data(json.loads(pieces.tape))
    return None


def forget() -> None:
    """Empty the cache in memory; the files stay."""
    with _lock:
        _memory.clear()
        _cleared.append(len(_cleared))


# -- identity ----------------------------------------------------------------------------------------
@functools.cache
def source_fingerprint() -> str:
    """Hash of the source of the whole package."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _tape_identity(key: str, zeros: Collection[str] | None) -> str:
    parts = [str(FORMAT), key, source_fingerprint(), *sorted(zeros or ())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _code_identity(backend: str, level: int | None) -> str:
    """Dependences of code besides its tape."""
    parts = [backend]
    if backend == "llvm":
        from flexapod.kernels.llvm.jit import code_level, target_identity

        parts += [target_identity(), str(code_level() if level is None else level)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


# -- files -------------------------------------------------------------------------------------------
def pack(pieces: Pieces, identity: str) -> bytes:
    """Bytes of a cache file."""
    blobs = {"tape": pieces.tape, **{f"code.{name}": code for name, code in pieces.code.items()}}
    sizes = {name: len(blob) for name, blob in blobs.items()}
    head = json.dumps({"identity": identity, "header": pieces.header, "sizes": sizes, "seal": pieces.seal}).encode()
    payload = len(head).to_bytes(8, "little") + head + b"".join(blobs.values())
    return MAGIC + hashlib.sha256(payload).digest() + payload


def unpack(data: bytes, identity: str | None = None) -> Pieces:
    """Pieces of a cache file; raises ValueError if it is damaged or belongs to something else."""
    start = len(MAGIC) + 32
    payload = data[start:]
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        raise ValueError("not an intact kernel file")
    end = 8 + int.from_bytes(payload[:8], "little")
    head: dict[str, Any] = json.loads(payload[8:end])
    if identity is not None and head["identity"] != identity:
        raise ValueError("kernel file of another kernel")
    blobs = {}
    for name, size in head["sizes"].items():
        blobs[name] = payload[end : end + size]
        end += size
    code = {name.removeprefix("code."): blob for name, blob in blobs.items() if name != "tape"}
    return Pieces(header=head["header"], tape=blobs["tape"], code=code, seal=head["seal"])


def seal(pieces: Pieces, identity: str) -> str:
    """Digest that binds header, tape and machine code to each other and to their kernel.

    It is made where a kernel is compiled, not where a file is written: a file put together from other pieces, whatever its own
    digest, has no valid seal. LLVM would end the process on object code that is none.

    Checked by: tests/kernels/test_cache_safety.py::test_garbage_with_a_valid_digest_is_rebuilt.
    """
    parts = [identity, pieces.header, *(hashlib.sha256(blob).hexdigest() for blob in (pieces.tape, *pieces.code.values()))]
    return hashlib.sha256(json.dumps([*parts, list(pieces.code)], sort_keys=True).encode()).hexdigest()


def _read(name: str, identity: str) -> Pieces | None:
    data = read_private(cache_folder(), name)
    try:
        pieces = None if data is None else unpack(data, identity)
        return pieces if pieces is not None and pieces.seal == seal(pieces, identity) else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


@checked
def cache_entries() -> list[CacheEntry]:
    """The kernels on disk."""
    entries = []
    for path in _files("*" + SUFFIX):
        data = read_private(path.parent, path.name) or b""
        try:
            name = str(unpack(data).header["signature"]["name"])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            name, data = "(damaged)", b""
        with contextlib.suppress(OSError):
            entries.append(CacheEntry(path=path, name=name, size=len(data) or path.lstat().st_size))
    return entries


def _files(pattern: str) -> list[Path]:
    folder = cache_folder()
    return [] if folder is None else sorted(folder.glob(pattern))


@checked
def clear_cache() -> int:
    """Remove all kernels from disk; returns how many. Left-over temporary files go too."""
    removed = 0
    forget()
    for path in [*_files("*" + SUFFIX), *_files(f".*{SUFFIX}-*.part")]:
        try:
            path.unlink()
            removed += path.suffix == SUFFIX
        except OSError:
            continue
    return removed
