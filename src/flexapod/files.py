"""Files written as a whole or not at all, and read only where they are regular files; every failure is one `FileError`.

A file is written under a hidden name beside its target (`.NAME-...part`), brought to the disk and renamed. A process that is
killed meanwhile leaves the hidden file behind; the next write of the same target removes it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from flexapod.errors import FileError

OLD = 86400.0
"""Seconds after which a part file of another computer (a shared folder) counts as left over."""

_writing: set[Path] = set()
"""Part files that this process is writing."""

NEXT = {
    errno.ENOSPC: "free some space or choose another place",
    errno.EDQUOT: "free some space or choose another place",
    errno.EFBIG: "the file is too large for this place; choose another",
    errno.ENOENT: "create the folder first",
    errno.EISDIR: "it is a folder; give a file in it",
    errno.ENAMETOOLONG: "choose a shorter name",
}
OTHERWISE = "choose another place or check the permissions"
"""Advice for the user, by the system's reason."""


def write_whole(files: Mapping[Path, bytes]) -> None:
    """Write one file, or several that belong together, whole or not at all.

    Of several, the last ones describe the first: whatever happens in between, a reader finds the old files, the new ones, or a
    first file without its description; never a description beside a file that it does not describe.

    Raises:
        FileError: with the system's reason; the old files are unchanged.

    Checked by: tests/simulation/test_store.py, tests/simulation/test_killed_simulations.py.
    """
    parts: dict[Path, Path] = {}
    try:
        for target, data in files.items():
            _refuse_special(target)
            remove_left_over(target)
            parts[target] = _write_part(target, data)
        for target in list(files)[1:]:
            target.unlink(missing_ok=True)
        for target, part in parts.items():
            os.replace(part, target)
    except OSError as error:
        raise not_written(next(iter(files)), error) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
            _writing.discard(part)


def _refuse_special(target: Path) -> None:
    """Refuse to replace a pipe, a device or a socket: whoever waits there would wait for ever."""
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return  # there is no file, or writing will raise the reason
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise FileError(f"{target}: was not written: it is not a regular file; choose another name")


def not_written(path: Path, error: OSError) -> FileError:
    """The error for a file that cannot be written, with the system's reason and what to do."""
    reason = (error.strerror or str(error)).lower()
    advice = NEXT.get(error.errno or 0, OTHERWISE)
    return FileError(f"{path}: was not written: {reason}; {advice}")


def read_whole(path: Path, largest: int | None = None) -> bytes:
    """The bytes of a regular file; a pipe or a device is refused, not waited for.

    Args:
        largest: bytes above which the file is refused before it is read.

    Raises:
        FileError: it is not there, not a regular file, too large, or cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {_reason(error)}") from error
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise FileError(f"{path}: is not a regular file")
        if largest is not None and facts.st_size > largest:
            raise FileError(f"{path}: has {facts.st_size} bytes, more than the {largest} that are read")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {_reason(error)}") from error
    finally:
        os.close(handle)


def is_file(path: Path) -> bool:
    """Whether a regular file is there; False for names that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder is there; False for names that no folder can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def remove_left_over(target: Path) -> None:
    """Remove part files of a target whose process is gone."""
    with contextlib.suppress(OSError):
        for part in target.parent.glob(_prefix(target) + "*.part"):
            if _is_left_over(part):
                part.unlink(missing_ok=True)


def part_name(target: Path) -> Path:
    """A new hidden name beside a target; it says which process writes there."""
    return target.parent / f"{_prefix(target)}{_host()}-{os.getpid()}-{os.urandom(4).hex()}.part"


def _write_part(target: Path, data: bytes) -> Path:
    part = part_name(target)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    _writing.add(part)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    except BaseException:
        part.unlink(missing_ok=True)
        _writing.discard(part)
        raise
    finally:
        os.close(handle)
    return part


def _prefix(target: Path) -> str:
    """Start of the names of a target's part files; short enough for any file system, whatever the target is called."""
    shown = "".join(c if c.isalnum() or c in "._" else "_" for c in target.name[:30])
    return f".{shown}-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}-"


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _is_left_over(part: Path) -> bool:
    """Whether the process that a part file names is gone; part files of other computers are left over after a day."""
    host, _, process = part.name.removesuffix(".part").rpartition("-")[0].rpartition("-")
    host = host.rpartition("-")[2]
    if not process.isdecimal() or part in _writing:
        return False
    if host != _host() or sys.platform == "win32":
        return time.time() - part.stat().st_mtime > OLD
    if int(process) == os.getpid():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()


def is_number(word: str | float) -> bool:
    """Whether a field of a table is a number."""
    try:
        float(word)
    except (TypeError, ValueError):
        return False
    return True
