"""Many designs: a million written as a dataset, the kernel's part of it, and a million samples of a tolerance; CPU and wall time.

Run: python benchmarks/design.py [designs] [--rows-not-kept N]. Loading and compiling are not counted; two threads.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import flexapod as fp
from flexapod.design.criteria import make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.plans import Plan
from flexapod.design.variables import make_axes

THREADS = 2
REQUEST: dict[str, Any] = {
    "variables": {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80), "platform.com.2": (-0.1, 0.1)},
    "criteria": ["peak_force", "rms_force"],
}


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Print CPU and wall time of some work, and how far memory grew."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{what}: CPU {cpu:.2f} s, wall {wall:.2f} s, memory +{grown:.0f} MB", flush=True)
    return result


def criteria_alone(robot: fp.Robot, count: int) -> None:
    """Criteria of as many designs, without plan, statistics and files: kernels and their reduction."""
    axes, chunk = make_axes(robot, REQUEST["variables"]), 4096
    evaluator = Evaluator(robot, axes, make_criteria(REQUEST["criteria"]))
    x = Plan(axes, "random", count, 1).designs(0, chunk)
    evaluator(x)
    timed(f"criteria of {count} designs alone, one thread", lambda: [evaluator(x) for _ in range(count // chunk)])


def written(robot: fp.Robot, plan: str, count: int) -> None:
    """A study as a dataset on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        request = {**REQUEST, "count": count, "plan": plan, "save": folder, "threads": THREADS}
        timed(f"study of {count} designs, {plan}", lambda: fp.study(robot, **request))
        assert any(Path(folder).glob("block-*.parquet"))


def samples(robot: fp.Robot, count: int) -> None:
    """Monte-Carlo samples of 36 tolerances at one pose, with the exact kinematics."""
    at = fp.State(position=robot.home.position + np.array([0.1, 0.05, 0.0]))
    request = {"tolerances": {"legs.*.hip.at": "20 um", "legs.*.ball.on": "20 um"}, "at": at, "threads": THREADS}
    fp.tolerance(robot, **request, samples=1000)
    found = timed(f"tolerance, {count} samples", lambda: fp.tolerance(robot, **request, samples=count))
    apart = np.abs(found.sampled_deviation / found.deviation - 1).values.max()
    print(f"deviations of the samples over first order differ from 1 by {apart:.1e} at most")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", nargs="?", type=float, default=1e6)
    parser.add_argument(
        "--rows-not-kept", type=float, default=0.0, help="designs of a study that keeps statistics and front only"
    )
    given = parser.parse_args()
    robot, count = fp.load("stewart-3-3"), int(given.designs)
    fp.study(robot, **REQUEST, count=1000)
    for plan in ("random", "sobol"):
        written(robot, plan, count)
    criteria_alone(robot, count)
    samples(robot, count)
    if given.rows_not_kept:
        n = int(given.rows_not_kept)
        timed(
            f"study of {n} designs, rows not kept",
            lambda: fp.study(robot, **REQUEST, count=n, plan="random", keep=False, threads=THREADS),
        )


if __name__ == "__main__":
    main()
