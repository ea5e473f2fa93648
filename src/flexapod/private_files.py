"""The cache on disk: one private folder, whose files are read and written without a race.

Files of the cache hold machine code, so they are taken only from a folder and a file that this user (or root) owns and nobody
else can write. Folder and file are opened once, links are not followed, and what is checked is what was opened: nobody can
exchange a file between the check and the reading. Pipes and devices are not waited for. A folder that does not fit means no
cache, never an error.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from flexapod.calls import checked
from flexapod.files import part_name, remove_left_over

_POSIX = hasattr(os, "getuid") and os.open in os.supports_dir_fd


@checked
def cache_folder() -> Path | None:
    """FLEXAPOD_CACHE, else the user's cache folder of the platform; None where the user has no home, and so no private place."""
    given = os.environ.get("FLEXAPOD_CACHE")
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "flexapod" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "flexapod"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "flexapod"


def files_in_cache(suffix: str) -> int:
    """Number of files of the cache with a suffix, without reading them."""
    folder = cache_folder()
    if folder is None:
        return 0
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return sum(entry.name.endswith(suffix) for entry in found)
    return 0


def read_private(folder: Path | None, name: str) -> bytes | None:
    """A file of the folder, or None where it is not there or not ours. Checked by: tests/kernels/test_cache_safety.py."""
    if folder is None:
        return None
    try:
        with _opened_folder(folder) as directory:
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            handle = os.open(name, flags, dir_fd=directory) if directory is not None else os.open(folder / name, flags)
            try:
                facts = os.fstat(handle)
                if not (stat.S_ISREG(facts.st_mode) and _ours(facts)):
                    return None
                with os.fdopen(handle, "rb", closefd=False) as file:
                    return file.read()
            finally:
                os.close(handle)
    except (OSError, ValueError):
        return None


def write_private(folder: Path | None, name: str, data: bytes | memoryview) -> bool:
    """Write a file of the folder whole, readable by this user alone; False where that cannot be."""
    if folder is None:
        return False
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_left_over(folder / name)
        part = part_name(folder / name)
        with _opened_folder(folder) as directory:
            where = {} if directory is None else {"dir_fd": directory}
            first, last = (part.name, name) if where else (str(part), str(folder / name))
            handle = os.open(first, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600, **where)
            try:
                try:
                    view = memoryview(data)
                    while view:
                        view = view[os.write(handle, view) :]
                finally:
                    os.close(handle)
                os.replace(first, last, **({} if directory is None else {"src_dir_fd": directory, "dst_dir_fd": directory}))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(first, **where)
                raise
    except (OSError, ValueError):
        return False
    return True


@contextlib.contextmanager
def _opened_folder(folder: Path) -> Iterator[int | None]:
    """A descriptor of the folder that was checked; None where the system has none."""
    if not _POSIX:
        yield None
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not _ours(os.fstat(handle)):
            raise PermissionError(f"{folder} can be written by others")
        yield handle
    finally:
        os.close(handle)


def _ours(facts: os.stat_result) -> bool:
    """Owned by this user or root, and nobody else can write."""
    return not _POSIX or (facts.st_uid in (os.getuid(), 0) and not facts.st_mode & 0o022)
