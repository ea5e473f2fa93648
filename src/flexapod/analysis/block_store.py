"""Where results of a long run go: arrays in memory, or files of a folder from which an interrupted run goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.errors import InputError

STATE = "progress.json"


class BlockStore:
    """Arrays (count, ...) filled block by block.

    Args:
        arrays: name -> (shape after the count, dtype).
        folder: where to keep them as `.npy` files with a record of what is done; None for memory only.
        key: what the run is; a folder of another run is refused.
    """

    def __init__(self, count: int, arrays: dict[str, tuple[tuple[int, ...], Any]], folder: str | Path | None, key: str) -> None:
        self.count, self.done = count, 0
        self._key, self._folder = key, None if folder is None else Path(folder)
        if self._folder is None:
            self.arrays: dict[str, NDArray[Any]] = {k: np.empty((count, *shape), dtype) for k, (shape, dtype) in arrays.items()}
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        if (self._folder / STATE).is_file():
            self._resume(arrays)
            return
        if any(self._folder.iterdir()):
            raise InputError(f"save: the folder {self._folder} is not empty and holds no run of its own; choose another")
        self.arrays = {
            name: np.lib.format.open_memmap(self._folder / f"{name}.npy", mode="w+", dtype=dtype, shape=(count, *shape))
            for name, (shape, dtype) in arrays.items()
        }
        self._record()

    def write(self, start: int, block: dict[str, NDArray[Any]]) -> None:
        """Store a block; it counts as done only when all its arrays are written."""
        size = 0
        for name, values in block.items():
            size = len(values)
            self.arrays[name][start : start + size] = values
        self.done = start + size
        if self._folder is not None:
            for array in self.arrays.values():
                array.flush()  # type: ignore[attr-defined]
            self._record()

    def _resume(self, arrays: dict[str, tuple[tuple[int, ...], Any]]) -> None:
        assert self._folder is not None
        state = json.loads((self._folder / STATE).read_text(encoding="utf-8"))
        if state.get("key") != self._key:
            raise InputError(f"save: the folder {self._folder} holds another run (robot, grid or options differ); choose another")
        self.arrays = {name: np.lib.format.open_memmap(self._folder / f"{name}.npy", mode="r+") for name in arrays}
        self.done = int(state["done"])

    def _record(self) -> None:
        """Replace the record whole, so that it is never half-written."""
        assert self._folder is not None
        fresh = self._folder / (STATE + ".new")
        fresh.write_text(json.dumps({"key": self._key, "done": self.done, "count": self.count}), encoding="utf-8")
        os.replace(fresh, self._folder / STATE)
