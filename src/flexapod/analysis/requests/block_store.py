"""Storage of the results of a long computation: arrays in memory, or a folder of files from which an interrupted one continues.

The folder holds one `.npy` file per array and a record, `progress.json`: what is computed, how far it is, and the sha256 of every
finished block. A folder whose files were cut off or altered is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.errors import FileError
from flexapod.files import not_written, read_whole, remove_left_over, write_whole

STATE = "progress.json"
Arrays = dict[str, tuple[tuple[int, ...], Any]]


class BlockStore:
    """Arrays (count, ...) filled block by block.

    Args:
        arrays: name -> (shape after the count, dtype).
        folder: where to keep them as `.npy` files with a record of what is done; None for memory only.
        key: what is computed; a folder of another computation is refused.

    Checked by: tests/analysis/test_block_store.py.
    """

    def __init__(self, count: int, arrays: Arrays, folder: str | Path | None, key: str) -> None:
        self.count, self.done = count, 0
        self._key, self._folder = key, None if folder is None else Path(folder)
        self._blocks: list[tuple[int, int, str]] = []  # start, end, digest
        if self._folder is None:
            self.arrays: dict[str, NDArray[Any]] = {k: np.empty((count, *shape), dtype) for k, (shape, dtype) in arrays.items()}
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if (self._folder / STATE).exists():
                self._resume(arrays)
            else:
                self._start(arrays)
        except OSError as error:
            raise not_written(self._folder, error) from error

    def write(self, start: int, block: dict[str, NDArray[Any]]) -> None:
        """Store a block; it counts as done only when all its arrays are written."""
        size = 0
        for name, values in block.items():
            size = len(values)
            self.arrays[name][start : start + size] = values
        self.done = start + size
        if self._folder is not None:
            try:
                for array in self.arrays.values():
                    array.flush()  # type: ignore[attr-defined]
            except OSError as error:
                raise not_written(self._folder, error) from error
            self._blocks.append((start, self.done, self._digest(start, self.done)))
            self._record()

    def _start(self, arrays: Arrays) -> None:
        """Make the files; the record comes first, so that a computation killed here is known as ours."""
        assert self._folder is not None
        remove_left_over(self._folder / STATE)
        if any(self._folder.iterdir()):
            raise FileError(f"save: the folder {self._folder} is not empty and holds no saved result; choose an empty folder")
        self._record()
        self._make(arrays)

    def _make(self, arrays: Arrays) -> None:
        assert self._folder is not None
        self.arrays = {}
        for name, (shape, dtype) in arrays.items():
            path, full = self._folder / f"{name}.npy", (self.count, *shape)
            array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=full)
            _reserve(path)
            self.arrays[name] = array

    def _resume(self, arrays: Arrays) -> None:
        assert self._folder is not None
        again = "remove the folder to start again, or choose another"
        try:
            state = json.loads(read_whole(self._folder / STATE))
            key, done, blocks = state["key"], int(state["done"]), [(int(a), int(b), str(d)) for a, b, d in state["blocks"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(f"save: {self._folder / STATE} is damaged; {again}") from error
        if key != self._key:
            raise FileError(
                f"save: the folder {self._folder} holds another result (robot, grid or options differ); choose another folder"
            )
        if not done:
            self._make(arrays)
            return
        self.arrays, self.done, self._blocks = {}, done, blocks
        for name, (shape, dtype) in arrays.items():
            path = self._folder / f"{name}.npy"
            try:
                array = np.lib.format.open_memmap(path, mode="r+")
            except (ValueError, OSError, EOFError) as error:
                raise FileError(f"save: {path} is missing, cut off or damaged; {again}") from error
            if array.shape != (self.count, *shape) or array.dtype != np.dtype(dtype):
                raise FileError(f"save: {path} was altered: it does not hold the arrays of this computation; {again}")
            self.arrays[name] = array
        if any(self._digest(start, end) != digest for start, end, digest in blocks):
            raise FileError(f"save: the arrays in {self._folder} were altered (a digest differs); {again}")

    def _digest(self, start: int, end: int) -> str:
        digest = hashlib.sha256()
        for name in sorted(self.arrays):
            digest.update(np.ascontiguousarray(self.arrays[name][start:end]).tobytes())
        return digest.hexdigest()

    def _record(self) -> None:
        """Replace the record whole, so that it is never half-written."""
        assert self._folder is not None
        state = {"key": self._key, "done": self.done, "count": self.count, "blocks": self._blocks}
        write_whole({self._folder / STATE: json.dumps(state).encode()})


def _reserve(path: Path) -> None:
    """Take the space on the disk now: a full disk under a mapped file would end the process without a word."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
