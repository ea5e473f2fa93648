"""Checkpoints: an interrupted simulation continues from its last saved block, to the same bits.

A checkpoint is a line that names it, the sha256 of what follows, and an npz file.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.requests.function_key import UnknownContentError, function_key
from flexapod.errors import FileError, FileWarning
from flexapod.files import read_whole, write_whole
from flexapod.simulation.integrators.blocks import Clock, Progress
from flexapod.simulation.integrators.replanning import plan_from

if TYPE_CHECKING:
    from flexapod.simulation.events import Event
    from flexapod.simulation.system.setup import Setup

MAGIC = b"flexapod checkpoint 1\n"

MOMENTS, GOLDEN = 500, 0.6180339887498949
"""Moments at which signals are compared, and their distance as a part of the duration: no period of a signal meets them all."""


def fingerprint(setup: Setup, clock: Clock, events: Sequence[Event]) -> str:
    """Hash of what decides about a simulation: structure, numbers, start, times, events, functions, its signals at many moments.

    Empty where a function cannot be distinguished from another one: such a simulation does not go on.
    """
    digest = hashlib.sha256()
    times = clock.duration * np.sort(np.arange(MOMENTS) * GOLDEN % 1.0)
    functions = [f for f in (setup.function, *(e.when for e in events)) if f is not None]
    try:
        digest.update(json.dumps([function_key(f) for f in functions]).encode())
    except UnknownContentError:
        return ""
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
    about["plans"] = [(time, asdict(plan)) for time, plan in progress.plans]
    stream = io.BytesIO()
    np.savez(stream, rows=rows, times=times, state=progress.state, about=np.array(json.dumps(about)))
    payload = stream.getvalue()
    write_whole({path: MAGIC + hashlib.sha256(payload).digest() + payload})


def try_checkpoint(path: Path, mark: str, progress: Progress, width: int) -> None:
    """Write a checkpoint; where that fails (no space left), the simulation goes on with a warning: its result is worth more."""
    try:
        write_checkpoint(path, mark, progress, width)
    except FileError as error:
        warnings.warn(f"save: {error}; the simulation goes on without this checkpoint", FileWarning, stacklevel=2)


def read_checkpoint(path: Path, mark: str) -> Progress | None:
    """The saved progress of the same simulation, or None where nothing is saved.

    Raises:
        FileError: the file is damaged, or belongs to another simulation.
    """
    if not path.exists():
        return None
    data = read_whole(path)
    start = len(MAGIC) + 32
    again = "remove it to start again, or choose another name"
    if data[: len(MAGIC)] != MAGIC:
        raise FileError(f"save: {path} is {'empty' if not data else 'not a checkpoint'}; {again}")
    if hashlib.sha256(data[start:]).digest() != data[len(MAGIC) : start]:
        raise FileError(f"save: {path} is cut off or was altered (its digest differs); {again}")
    with np.load(io.BytesIO(data[start:])) as found:
        about = json.loads(str(found["about"]))
        rows, times, state = found["rows"], found["times"], found["state"]
    if not mark:
        raise FileError(
            f"save: {path}: cannot check whether it belongs to this simulation: the content of a function is unknown; {again}"
        )
    if about["mark"] != mark:
        raise FileError(
            f"save: {path} belongs to another simulation (robot, motion or options differ); remove it or choose another name"
        )
    return Progress(
        state=state, rows=[rows], times=[times], segment=about["segment"], index=about["index"],
        happened=[(int(i), float(t), str(text)) for i, t, text in about["happened"]],
        plans=[(float(t), plan_from(plan)) for t, plan in about["plans"]],
    )  # fmt: skip
