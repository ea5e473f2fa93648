"""Many samples in blocks: what a verb computes on the way stays in the cache, and blocks are shared between threads. Beside them
a progress bar, only at a terminal, or when asked for.

Reasons why samples have no result are texts only where some sample of a block has none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.results import reasons_of
from flexapod.arrays import Array, Texts
from flexapod.kernels.threads import ENOUGH, shared, thread_count

if TYPE_CHECKING:
    from flexapod.kernels.tape.signature import Signature

Reasons = NDArray[np.object_]
"""Reasons per sample (n,) as texts, empty where there is none; functions add to them."""
SampleReasons = Texts | None
"""Reasons per sample (n,), empty where there is none; None where no sample has one."""

BLOCK = 65_536
"""Samples of a block: some 20 MB of intermediate results, against 0.1 ms that a block costs by itself."""

Room = Mapping[str, Array]
"""Arrays by name that hold a block's outputs in the end; empty where they are not known yet."""

Work = Callable[[dict[str, Array], slice, Room], tuple[dict[str, Array], SampleReasons]]


def in_blocks(inputs: Mapping[str, Array], work: Work) -> tuple[dict[str, Array], NDArray[np.object_]]:
    """Outputs (n, ..) by name and reasons (n,) of a function of blocks.

    Args:
        inputs: arrays (n, ..) by name.
        work: of the inputs of a block, of its place among all samples and of the room for its outputs, gives outputs and reasons;
            what it has written there itself is not copied.

    Checked by: tests/analysis/test_sample_blocks.py.
    """
    count = len(inputs["position"])
    if count <= BLOCK:
        outputs, reasons = work(dict(inputs), slice(0, count), {})
        return outputs, no_reasons(count) if reasons is None else reasons.astype(str)
    whole: dict[str, Array] = {}
    by_start: dict[int, NDArray[Any]] = {}

    def one(part: slice) -> None:
        room = {name: values[part] for name, values in whole.items()}
        outputs, reasons = work({name: values[part] for name, values in inputs.items()}, part, room)
        if reasons is not None:
            by_start[part.start] = reasons
        if not whole:
            whole.update({name: np.empty((count, *values.shape[1:])) for name, values in outputs.items()})
        for name, values in outputs.items():
            if values is not room.get(name):
                whole[name][part] = values

    parts = [slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]
    one(parts[0])
    shared(one, parts[1:], thread_count() if count >= ENOUGH else 1)
    return whole, _joined(by_start, count)


def no_reasons(count: int) -> NDArray[np.object_]:
    """Reasons of samples that all have a result: read only, since it has no room for a text."""
    reasons = np.zeros(count, dtype="<U1")
    reasons.flags.writeable = False
    return reasons


def _joined(by_start: Mapping[int, Texts], count: int) -> NDArray[np.object_]:
    if not by_start:
        return no_reasons(count)
    reasons = np.full(count, "", dtype=object)
    for start, found in by_start.items():
        reasons[start : start + len(found)] = found
    return reasons.astype(str)


def room_for(signature: Signature, room: Room) -> Room | None:
    """The room of a kernel's outputs; None where some of them have none."""
    names = [o.name for o in signature.outputs]
    return {name: room[name] for name in names} if all(name in room for name in names) else None


def with_kernel_reasons(
    signature: Signature, status: NDArray[np.int32], reasons: SampleReasons, inputs: Mapping[str, ArrayLike]
) -> SampleReasons:
    """Reasons with those of a kernel's bad samples where there were none yet."""
    if not status.any():
        return reasons
    result = np.full(len(status), "", dtype=object) if reasons is None else reasons.astype(object)
    return np.where(result == "", reasons_of(signature, status, inputs).astype(object), result)


def without_bad(outputs: dict[str, Array], reasons: SampleReasons) -> dict[str, Array]:
    """NaN where a sample has a reason, in place."""
    if reasons is not None:
        bad = reasons != ""
        for values in outputs.values():
            values[bad] = np.nan
    return outputs


LONG = 300_000
"""Samples from which a bar is shown by itself."""


@contextmanager
def progress_bar(title: str, total: int, wanted: bool | None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A function that takes the number done so far.

    Args:
        wanted: True or False decide; None shows a bar at a terminal for long computations.
        done: where an earlier computation ended.
    """
    if wanted is False or (wanted is None and (total < LONG or not sys.stderr.isatty())):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda count: bar.update(task, completed=count)
