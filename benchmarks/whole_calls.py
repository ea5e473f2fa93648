"""Whole calls of verbs against the kernels behind them, in one run: only ratios mean anything.

    python benchmarks/whole_calls.py [--samples 1000000]

Times are CPU seconds, best of several; memory is what a call allocates beyond its input, its result included.
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
from flexapod.analysis.verbs.sampling import random_states

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


def memory(call: Callable[[], object], count: int) -> float:
    """Bytes per sample that a call takes beyond its input, at its peak."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / count


def alone(robot: fp.Robot, many: fp.Motion, count: int, quantity: str, options: dict[str, object]) -> float:
    """Seconds per sample of the kernel behind a verb, arrays given."""
    kernel = fp.kernel(robot, quantity, **options)
    beside = {"force": np.zeros((count, 6)), "wrench": np.zeros((count, 6))}
    given = {i.name: beside[i.name] if i.name in beside else getattr(many, i.name) for i in kernel.signature.inputs}
    out = {o.name: np.empty((count, *o.shape)) for o in kernel.signature.outputs}
    return best(lambda: kernel.batch(given, out=out), 5) / count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    count = parser.parse_args().samples
    os.environ["FLEXAPOD_THREADS"] = "1"
    robot = fp.load(ROBOT)
    state = fp.State(**{k: v[0] for k, v in random_states(robot, 1, seed=1).items() if "acceleration" not in k})
    many = motion(robot, count)
    rng = np.random.default_rng(1)
    mass = rng.uniform(40, 60, count)
    hip = np.array(robot.parameter("legs.A.hip.at")) + rng.uniform(-0.05, 0.05, (count, 3)) * [1, 1, 0]
    rows = [("inverse_dynamics, 1 sample", 1e3 * best(lambda: fp.inverse_dynamics(robot, state), 50), "ms", "")]
    verbs: dict[str, tuple[Callable[[], object], str, dict[str, object]]] = {
        "inverse_dynamics": (lambda: fp.inverse_dynamics(robot, many), "inverse_dynamics", {}),
        "forward_dynamics": (lambda: fp.forward_dynamics(robot, many, np.zeros(6)), "minimal_forward_dynamics", {}),
        "inverse_kinematics, joints=False": (
            lambda: fp.inverse_kinematics(robot, many, joints=False), "inverse_kinematics", {"detail": "actuators"}
        ),
        "inverse_kinematics": (lambda: fp.inverse_kinematics(robot, many), "inverse_kinematics", {"detail": "joints"}),
        "jacobian": (lambda: fp.jacobian(robot, many), "jacobian", {"joints": False}),
        "mass_matrix": (lambda: fp.mass_matrix(robot, many), "mass_matrix", {}),
        "gravity_force": (lambda: fp.gravity_force(robot, many), "mass_matrix", {}),
        "coriolis_force": (lambda: fp.coriolis_force(robot, many), "mass_matrix", {}),
        "designs: platform.mass": (
            lambda: fp.inverse_dynamics(robot, state, parameters={"platform.mass": mass}), "inverse_dynamics", {}
        ),
        "designs: platform.mass, legs.A.hip.at": (
            lambda: fp.inverse_dynamics(robot, state, parameters={"platform.mass": mass, "legs.A.hip.at": hip}),
            "inverse_dynamics", {},
        ),
    }  # fmt: skip
    for label, (call, quantity, options) in verbs.items():
        own, found = alone(robot, many, count, quantity, options), best(call, 5) / count
        note = f"{found / own:5.1f} times its kernel ({1e9 * own:.0f} ns), {memory(call, count):.0f} bytes per sample"
        rows.append((label, 1e9 * found, "ns per sample", note))
    rows += [
        ("with_parameters", 1e3 * best(lambda: robot.with_parameters({"platform.mass": 60.0}), 50), "ms", ""),
        ("load, warm", 1e3 * best(lambda: fp.load(ROBOT), 20), "ms", ""),
        ("flexapod --help", started("-m", "flexapod", "--help"), "s", ""),
        ("flexapod show", started("-m", "flexapod", "show", ROBOT), "s", ""),
    ]
    for label, value, unit, note in rows:
        print(f"{label:40s} {value:10.3f} {unit:16s} {note}")


if __name__ == "__main__":
    main()
