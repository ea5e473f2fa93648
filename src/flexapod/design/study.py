"""`study`: criteria of thousands to billions of designs, streamed into a Parquet dataset, with front and statistics.

Designs are cut into blocks of a fixed size. A block is computed from its number alone, written as one file, and merged in order;
the record `study.json` says how far the merging is. A study that was killed at any moment goes on from the record.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.function_key import UnknownContentError, function_key
from flexapod.analysis.requests.sample_blocks import progress_bar
from flexapod.description.write import robot_text
from flexapod.design import study_blocks
from flexapod.design.criteria import Criterion, make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.plans import DesignPlan
from flexapod.design.study_blocks import BlockTask, ComputedBlock
from flexapod.design.study_files import StudyFiles
from flexapod.design.study_result import Study
from flexapod.design.summary import Summary
from flexapod.design.variables import make_axes
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


IN_MEMORY = 2_000_000
"""Rows kept in memory at most, where no folder is given."""

PROBE = 64
"""Designs tried first: where none of them is valid, more are tried before the study starts in earnest."""


@checked
def study(
    robot: Robot,
    variables: Mapping[str, object],
    criteria: object,
    *,
    at: State | Motion | None = None,
    plan: str | ArrayLike | Mapping[str, ArrayLike] = "sobol",
    count: object = 1024,
    seed: int = 1,
    save: str | Path | None = None,
    keep: bool = True,
    threads: int | None = None,
    scheduler: object = None,
    progress: bool | None = None,
) -> Study:
    """Evaluate criteria over many designs.

    Args:
        robot: the nominal robot, whose parameters the designs vary.
        variables: parameter path -> (low, high), a list of choices, or a `Variable`; see `make_axes`.
        criteria: names of built-in criteria, or `Criterion`s.
        at: `Motion` or poses (`State`) that every design must follow; home if left out.
        plan: ``"grid"``, ``"random"``, ``"latin"`` (hypercube), ``"sobol"``, or a table of designs.
        count: number of designs; of a grid points per variable, one number or by name.
        seed: of the plan.
        save: folder of the dataset; an interrupted study of the same request (functions of criteria included) goes on there.
        keep: False keeps statistics and front only.
        threads: all processors if left out; the result does not depend on it.
        scheduler: of a Dask cluster, ``"tcp://host:port"`` or a client; left out: this machine.
        progress: a bar; None shows one at a terminal for long studies.
    Returns:
        `Study`: `statistics`, `front`, `rows`, and `robot(index)` of a design.

    Checked by: tests/design/test_study_rows.py, tests/design/test_study_killed.py.
    """
    axes, wanted = make_axes(robot, variables), make_criteria(criteria)
    designs = DesignPlan(axes, plan, count, _seed(seed))
    if keep and save is None and designs.count > IN_MEMORY:
        raise InputError(
            f"save: {designs.count} rows do not stay in memory; give a folder, or keep=False for statistics and front only"
        )
    refuse(robot, "study", threads=threads, scheduler=scheduler)
    where = "none" if not keep else "memory" if save is None else "file"
    task = BlockTask(robot=robot, axes=axes, criteria=wanted, at=at, plan=designs, rows=where, samples=study_blocks.BLOCK)
    key, unknown_content = ("", "") if save is None else (_key(task), _unknown_content(wanted))
    _probe(task.evaluator, designs)
    files = StudyFiles(save, key, unknown_content)
    total = Summary(signs=task.signs, width=1 + len(axes) + len(wanted))
    first = files.restore(total)
    numbers, kept = range(first, task.count), list[dict[str, Any]]()
    started = time.perf_counter()
    with progress_bar("study", designs.count, progress, done=total.designs) as show:
        for block in _in_order(task, numbers, scheduler, threads or os.cpu_count() or 1):
            total.add(block.summary)
            files.add(block.number, block.data, total)
            if block.rows is not None:
                kept.append(block.rows)
            show(total.designs)
    files.finish(total)
    return Study(
        robot_file=robot, axes=axes, criteria=wanted, summary=total, folder=files.folder, kept=kept if keep else None,
        seconds=time.perf_counter() - started,
    )  # fmt: skip


def _in_order(task: BlockTask, numbers: range, scheduler: object, threads: int) -> Iterator[ComputedBlock]:
    if scheduler is None:
        return ordered(task, numbers, threads)
    from flexapod.design.cluster import Cluster

    return Cluster(scheduler).ordered(task, numbers)


def ordered(work: Callable[[int], ComputedBlock], numbers: range, threads: int) -> Iterator[ComputedBlock]:
    """Results in the order of their numbers, computed by several threads a few blocks ahead."""
    if threads == 1 or len(numbers) == 1:
        yield from map(work, numbers)
        return
    waiting: deque[Future[ComputedBlock]] = deque()
    with ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            for number in numbers:
                waiting.append(pool.submit(work, number))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise InputError(f"seed: expected a whole number from 0, got {seed!r}")
    return int(seed)


def _probe(evaluator: Evaluator, designs: DesignPlan) -> None:
    """A request that no design can meet ends here, not after hours."""
    step = max(1, designs.count // PROBE)
    x = np.concatenate([designs.designs(k * step, 1) for k in range(min(PROBE, designs.count))])
    found = evaluator(x[:4] if not evaluator.by_kernels else x)
    if not np.any(found.code == 0) and evaluator.by_kernels:
        found = evaluator(designs.designs(0, min(4096, designs.count)))
    if not np.any(found.code == 0):
        texts, counts = np.unique([evaluator.reasons[c] for c in found.code], return_counts=True)
        reason = texts[counts.argmax()]
        raise InputError(
            f"none of {len(found.code)} designs tried is valid; most often: {reason}. "
            "Choose other limits of the variables or other poses"
        )


def _key(task: BlockTask) -> str:
    """Identity of the study: a folder of another one is refused."""
    evaluator, designs = task.evaluator, task.plan
    digest = hashlib.sha256(robot_text(task.robot.description).encode())
    digest.update(json.dumps([task.robot.structure, sorted(task.robot.values.items())]).encode())
    for name in sorted(evaluator.inputs):
        digest.update(name.encode() + np.ascontiguousarray(evaluator.inputs[name]).tobytes())
    if designs.table is not None:
        digest.update(designs.table.tobytes())
    request = {
        "variables": [repr(axis) for axis in evaluator.axes],
        "criteria": [f"{c.name} {c.kind} {c.unit} {c.better} {sorted(c.options.items())!r}" for c in evaluator.criteria],
        "functions": [_function(c)[0] for c in evaluator.criteria],
        "plan": [designs.kind, designs.count, designs.levels, designs.seed, task.size, task.rows != "none"],
    }
    digest.update(json.dumps(request).encode())
    return digest.hexdigest()


def _function(criterion: Criterion) -> tuple[str, str]:
    """Digest of a criterion's function, and why there is none."""
    if criterion.function is None:
        return "", ""
    try:
        return function_key(criterion.function), ""
    except UnknownContentError as error:
        return "", f"the function of {criterion.name!r}: {error}"


def _unknown_content(criteria: tuple[Criterion, ...]) -> str:
    """The reason why it is unknown whether a saved study has the same functions; empty where it is known."""
    return next((why for _, why in map(_function, criteria) if why), "")
