"""Checkpoints: a run that is killed goes on from its last saved block, to the same bits."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flexapod.errors import InputError
from flexapod.simulation.blocks import Clock, Progress

if TYPE_CHECKING:
    from flexapod.simulation.events import Event
    from flexapod.simulation.setup import Setup


def fingerprint(setup: Setup, clock: Clock, events: Sequence[Event]) -> str:
    """Hash of what decides about a run: structure, numbers, start, times, events, and its signals at a few moments."""
    digest = hashlib.sha256()
    times = np.linspace(0.0, clock.duration, 7)
    parts = [
        setup.layout.key, sorted(setup.values.items()), clock,
        [(e.time, sorted((e.parameters or {}).items()), e.failing, e.stop, e.label) for e in events],
    ]  # fmt: skip
    digest.update(json.dumps(parts, default=repr).encode())
    digest.update(setup.start.tobytes())
    for name in setup.layout.signals:
        digest.update(np.ascontiguousarray(setup.signals[name](times)).tobytes())
    return digest.hexdigest()


def write_checkpoint(path: Path, mark: str, progress: Progress, width: int) -> None:
    """Write a checkpoint; the file appears whole or not at all."""
    rows = np.concatenate(progress.rows) if progress.rows else np.empty((0, width))
    times = np.concatenate(progress.times) if progress.times else np.empty(0)
    progress.rows[:], progress.times[:] = [rows], [times]
    about = {"mark": mark, "index": progress.index, "segment": progress.segment, "happened": progress.happened}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, rows=rows, times=times, state=progress.state, about=np.array(json.dumps(about)))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_checkpoint(path: Path, mark: str) -> Progress | None:
    """The saved progress of the same run, or None where nothing is saved.

    Raises:
        InputError: the file is damaged, or belongs to another run.
    """
    if not path.exists():
        return None
    try:
        with np.load(path) as data:
            about = json.loads(str(data["about"]))
            rows, times, state = data["rows"], data["times"], data["state"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"save: {path} is not a checkpoint ({error}); remove it or choose another name") from error
    if about["mark"] != mark:
        raise InputError(f"save: {path} belongs to another run (robot, motion or options differ); remove it or rename")
    return Progress(
        state=state, rows=[rows], times=[times], segment=about["segment"], index=about["index"],
        happened=[(int(i), float(t), str(text)) for i, t, text in about["happened"]],
    )  # fmt: skip
