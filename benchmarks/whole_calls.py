"""Whole calls of verbs against the kernels behind them, in one run: only ratios mean anything.

    python benchmarks/whole_calls.py [--samples 1000000]

Times are CPU seconds, best of several; memory is what a call allocates beyond its input.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import flexapod as fp
from flexapod.analysis.sampling import random_states

ROBOT = "stewart-3-3"


def best(work: Callable[[], object], times: int = 9) -> float:
    """Best CPU time of some calls [s]."""
    work()
    found = np.inf
    for _ in range(times):
        start = time.process_time()
        work()
        found = min(found, time.process_time() - start)
    return float(found)


def motion(robot: fp.Robot, count: int) -> fp.Motion:
    arrays = random_states(robot, 64, seed=1)
    whole = {k: np.tile(v, (-(-count // 64), *[1] * (v.ndim - 1)))[:count] for k, v in arrays.items()}
    return fp.Motion(time=np.arange(float(count)), **whole)


def started(*command: str) -> float:
    """CPU seconds of a process, best of three."""
    found = np.inf
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = min(found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return found


def memory(count: int) -> float:
    """Bytes per sample that a call takes beyond its input, at its peak."""
    robot = fp.load(ROBOT)
    many = motion(robot, count)
    fp.inverse_dynamics(robot, many)
    tracemalloc.start()
    result = fp.inverse_dynamics(robot, many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(result.time) == count
    return peak / count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    count = parser.parse_args().samples
    os.environ["FLEXAPOD_THREADS"] = "1"
    robot = fp.load(ROBOT)
    state = fp.State(**{k: v[0] for k, v in random_states(robot, 1, seed=1).items() if "acceleration" not in k})
    many = motion(robot, count)
    kernel = fp.kernel(robot, "inverse_dynamics")
    given = {i.name: getattr(many, i.name) for i in kernel.signature.inputs}
    out = {o.name: np.empty((count, *o.shape)) for o in kernel.signature.outputs}
    own = best(lambda: kernel.batch(given, out=out)) / count
    rng = np.random.default_rng(1)
    mass = rng.uniform(40, 60, count)
    hip = np.array(robot.parameter("legs.A.hip.at")) + rng.uniform(-0.05, 0.05, (count, 3)) * [1, 1, 0]
    rows = [
        ("kernel of inverse dynamics", 1e9 * own, "ns per sample", ""),
        ("inverse_dynamics, 1 sample", 1e3 * best(lambda: fp.inverse_dynamics(robot, state), 50), "ms", ""),
    ]
    for label, call in {
        "inverse_dynamics": lambda: fp.inverse_dynamics(robot, many),
        "forward_dynamics": lambda: fp.forward_dynamics(robot, many, np.zeros(6)),
        "inverse_kinematics, joints=False": lambda: fp.inverse_kinematics(robot, many, joints=False),
        "jacobian": lambda: fp.jacobian(robot, many),
        "designs: platform.mass": lambda: fp.inverse_dynamics(robot, state, parameters={"platform.mass": mass}),
        "designs: platform.mass, legs.A.hip.at": lambda: fp.inverse_dynamics(
            robot, state, parameters={"platform.mass": mass, "legs.A.hip.at": hip}
        ),
    }.items():
        found = best(call, 5) / count
        rows.append((label, 1e9 * found, "ns per sample", f"{found / own:.1f} times the kernel"))
    rows += [
        ("with_parameters", 1e3 * best(lambda: robot.with_parameters({"platform.mass": 60.0}), 50), "ms", ""),
        ("load, warm", 1e3 * best(lambda: fp.load(ROBOT), 20), "ms", ""),
        ("memory of inverse_dynamics", memory(count), "bytes per sample", "beyond the input"),
        ("flexapod --help", started("-m", "flexapod", "--help"), "s", ""),
        ("flexapod show", started("-m", "flexapod", "show", ROBOT), "s", ""),
    ]
    for label, value, unit, note in rows:
        print(f"{label:40s} {value:10.3f} {unit:16s} {note}")


if __name__ == "__main__":
    main()
