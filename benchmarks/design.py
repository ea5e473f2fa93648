"""Many designs: a million as a dataset, a million samples of a tolerance.

    python benchmarks/design.py [--quick] [--all]

Loading and compiling are not counted; two threads. --all adds a hundred million designs of which rows are not kept.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from reporting import Effort, counted, joined, print_section, shown, table

import flexapod as fp
from flexapod.design.criteria import make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.plans import DesignPlan
from flexapod.design.variables import make_axes

THREADS = 2
REQUEST: dict[str, Any] = {
    "variables": {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80), "platform.com.2": (-0.1, 0.1)},
    "criteria": ["peak_force", "rms_force"],
}


Row = tuple[str, str, str, str]


def timed(what: str, count: int, work: Callable[[], Any]) -> tuple[Row, Any, float]:
    """CPU time, CPU time per design and wall time of some work; its result; its CPU seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return (what, shown(cpu), shown(cpu / count), shown(wall)), result, cpu


def criteria_alone(robot: fp.Robot, count: int) -> tuple[Row, float]:
    """Criteria of as many designs, without plan, statistics and files: kernels and their reduction."""
    axes, chunk = make_axes(robot, REQUEST["variables"]), min(4096, count)
    evaluator = Evaluator(robot, axes, make_criteria(REQUEST["criteria"]))
    x = DesignPlan(axes, "random", count, 1).designs(0, chunk)
    evaluator(x)
    row, _, cpu = timed(
        "criteria of these designs alone, one thread", count, lambda: [evaluator(x) for _ in range(count // chunk)]
    )
    return row, cpu


def written(robot: fp.Robot, plan: str, count: int) -> tuple[Row, float]:
    """A study as a dataset on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        request = {**REQUEST, "count": count, "plan": plan, "save": folder, "threads": THREADS}
        row, _, cpu = timed(f"{counted(count)} designs, {plan}, as a Parquet dataset", count, lambda: fp.study(robot, **request))
        assert any(Path(folder).glob("block-*.parquet"))
    return row, cpu


def samples(robot: fp.Robot, count: int) -> tuple[Row, float]:
    """Monte-Carlo samples of 36 tolerances at one pose, with the exact kinematics; difference from first order."""
    at = fp.State(position=robot.home.position + np.array([0.1, 0.05, 0.0]))
    request = {"tolerances": {"legs.*.hip.at": "20 um", "legs.*.ball.on": "20 um"}, "at": at, "threads": THREADS}
    fp.tolerance(robot, **request, samples=1000)
    what = f"tolerance, 36 sources, {counted(count)} Monte-Carlo samples"
    row, found, _ = timed(what, count, lambda: fp.tolerance(robot, **request, samples=count))
    return row, float(np.abs(found.sampled_deviation / found.deviation - 1).values.max())


def section(effort: Effort) -> str:
    """Table of studies and tolerances."""
    robot, count = fp.load("stewart-3-3"), effort.size(1_000_000, 1000)
    written(robot, "random", 1000)  # compiles
    studies = [written(robot, plan, count) for plan in ("random", "sobol")]
    alone, kernel = criteria_alone(robot, count)
    tolerance, apart = samples(robot, count)
    rows = [*(row for row, _ in studies), alone, tolerance]
    if effort.everything:
        many = {**REQUEST, "count": 100_000_000, "plan": "random", "keep": False, "threads": THREADS}
        rows.append(timed("100 000 000 designs, rows not kept", 100_000_000, lambda: fp.study(robot, **many))[0])
    above = [(cpu - kernel) / count for _, cpu in studies]
    said = (
        f"Beside the criteria, {shown(min(above))} to {shown(max(above))} per design go to drawing designs, their parameters, "
        f"statistics, front and file. Deviations of the samples differ from those of first order by {100 * apart:.2g} % at most."
    )
    return joined(HEAD, table(["", "CPU time, both threads together", "each", "wall time"], rows), said)


HEAD = """## Many designs

`stewart-3-3`, three variables, peak and RMS force at one pose, two threads.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
