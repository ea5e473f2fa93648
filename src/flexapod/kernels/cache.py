"""Disk cache of compiled kernels, by content hash.

One file per kernel: magic, sha256 of the payload, payload (a JSON header, then the tape and the object
code as raw bytes). Files appear whole by an atomic rename, so that any number of processes may start at
once. A file that is damaged, foreign or not ours is rebuilt; a folder that cannot be written means no
cache, never an error.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .kernel import Kernel, choose_backend
from .packing import Pieces, kernel_from_pieces, kernel_from_tape
from .tape import make_tape

if TYPE_CHECKING:
    from .program import Program

FORMAT = 1
MAGIC = b"flexapod kernel\n"
SUFFIX = ".kernel"
_memory: dict[str, Kernel] = {}
_lock = threading.RLock()


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
) -> Kernel:
    """Kernel from memory, from disk, or compiled and stored.

    Args:
        key: content hash of everything that `make_program` depends on, besides the source of this package.
        make_program: called only if the kernel is nowhere.
        zeros: parameters that are structural zeros; names that the program does not have are passed over, so that one
            pattern serves all kernels of a robot.
        backend: llvm or numpy; by default as `choose_backend` says.
        bounds: the kernel that bounds the program's outputs over boxes of its inputs; see `interval`.
    """
    backend = choose_backend(backend)
    identity = _identity(key + "|bounds" * bounds, zeros, backend)
    with _lock:
        kernel = _memory.get(identity)
        if kernel is None:
            kernel = _memory[identity] = _load_or_build(identity, make_program, zeros, backend, bounds)
        return kernel


def _load_or_build(
    identity: str, make_program: Callable[[], Program], zeros: Collection[str] | None, backend: str, bounds: bool
) -> Kernel:
    path = cache_folder() / (identity + SUFFIX)

    def keep(pieces: Pieces) -> None:
        _write(path, pack(pieces, identity))

    pieces = _read(path, identity)
    if pieces is not None:
        try:
            return kernel_from_pieces(pieces, keep)
        except Exception:  # a well-formed file with impossible content is rebuilt like a damaged one
            pieces = None
    program = make_program()
    used = {p.name for p in program.signature.parameters} & set(zeros or ())
    tape = make_tape(program, used)
    if bounds:
        from .interval import interval_tape

        tape = interval_tape(tape)
    kernel, pieces = kernel_from_tape(tape, backend, keep)
    keep(pieces)
    return kernel


def forget() -> None:
    """Empty the cache in memory; the files stay."""
    with _lock:
        _memory.clear()


# -- identity ----------------------------------------------------------------------------------------
@functools.cache
def source_fingerprint() -> str:
    """Hash of the source of the whole package."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _identity(key: str, zeros: Collection[str] | None, backend: str) -> str:
    parts = [str(FORMAT), key, source_fingerprint(), backend, *sorted(zeros or ())]
    if backend == "llvm":
        from .jit import target_identity

        parts.append(target_identity())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


# -- files -------------------------------------------------------------------------------------------
def cache_folder() -> Path:
    """FLEXAPOD_CACHE, else the user's cache folder of the platform."""
    given = os.environ.get("FLEXAPOD_CACHE")
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "flexapod-cache"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "flexapod" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "flexapod"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "flexapod"


def pack(pieces: Pieces, identity: str) -> bytes:
    """Bytes of a cache file."""
    blobs = {"tape": pieces.tape, **{f"code.{name}": code for name, code in pieces.code.items()}}
    sizes = {name: len(blob) for name, blob in blobs.items()}
    head = json.dumps({"identity": identity, "header": pieces.header, "sizes": sizes}).encode()
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
    return Pieces(header=head["header"], tape=blobs["tape"], code=code)


def _read(path: Path, identity: str) -> Pieces | None:
    try:
        if not _ours(path):
            return None
        return unpack(path.read_bytes(), identity)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _ours(path: Path) -> bool:
    """Machine code is run only from files that this user (or root) owns and others cannot write."""
    if not hasattr(os, "getuid"):
        return True
    facts = path.stat()
    return facts.st_uid in (os.getuid(), 0) and not facts.st_mode & 0o022


def _write(path: Path, data: bytes) -> None:
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def cache_entries() -> list[CacheEntry]:
    """The kernels on disk."""
    entries = []
    for path in sorted(cache_folder().glob("*" + SUFFIX)):
        try:
            data = path.read_bytes()
            name = unpack(data).header["signature"]["name"]
        except (OSError, ValueError, LookupError, TypeError):
            name, data = "(damaged)", b""
        try:
            entries.append(CacheEntry(path=path, name=name, size=len(data) or path.stat().st_size))
        except OSError:
            continue
    return entries


def clear_cache() -> int:
    """Remove all kernels from disk; returns how many. Left-over temporary files go too."""
    removed = 0
    forget()
    for path in [*cache_folder().glob("*" + SUFFIX), *cache_folder().glob(".new-*")]:
        try:
            path.unlink()
            removed += path.suffix == SUFFIX
        except OSError:
            continue
    return removed
