"""Whole calls of verbs against the kernels behind them: time and memory.

    python benchmarks/whole_calls.py [--quick]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
from reporting import Effort, counted, joined, print_section, shown, table, times

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states

ROBOT = "stewart-3-3"
Verbs = dict[str, tuple[Callable[[], object], str, dict[str, object]]]


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


def alone(effort: Effort, robot: fp.Robot, many: fp.Motion, quantity: str, options: dict[str, object]) -> float:
    """Seconds per sample of the kernel behind a verb, arrays given."""
    kernel, count = fp.kernel(robot, quantity, **options), len(many)
    beside = {"force": np.zeros((count, 6)), "wrench": np.zeros((count, 6))}
    given = {i.name: beside[i.name] if i.name in beside else getattr(many, i.name) for i in kernel.signature.inputs}
    out = {o.name: np.empty((count, *o.shape)) for o in kernel.signature.outputs}
    return effort.best(lambda: kernel.batch(given, out=out), 0.5) / count


def designs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Masses of the platform and places of a hip, one per design."""
    random = np.random.default_rng(1)
    hip = np.array(fp.load(ROBOT).parameter("legs.A.hip.at")) + random.uniform(-0.05, 0.05, (count, 3)) * [1, 1, 0]
    return random.uniform(40, 60, count), hip


def verbs(robot: fp.Robot, many: fp.Motion, state: fp.State) -> Verbs:
    """Calls on many samples or designs, the kernel behind each, and its options."""
    mass, hip = designs(len(many))
    return {
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


def section(effort: Effort) -> str:
    """Verbs against kernels; single calls and commands."""
    os.environ["FLEXAPOD_THREADS"] = "1"
    robot, count = fp.load(ROBOT), effort.size(1_000_000, 200)
    state = fp.State(**{k: v[0] for k, v in random_states(robot, 1, seed=1).items() if "acceleration" not in k})
    many = motion(robot, count)
    rows, ratios = [], []
    for label, (call, quantity, options) in verbs(robot, many, state).items():
        own, found = alone(effort, robot, many, quantity, options), effort.best(call, 1.0, 2) / count
        ratios.append(found / own)
        rows.append((label, shown(found), shown(own), times(found / own), f"{memory(call, count):.0f}"))
    single = [
        ("`inverse_dynamics`, one sample", effort.best(lambda: fp.inverse_dynamics(robot, state), 0.5, 20)),
        ("`with_parameters`", effort.best(lambda: robot.with_parameters({"platform.mass": 60.0}), 0.5, 20)),
        ("`load`, warm", effort.best(lambda: fp.load(ROBOT), 0.5, 20)),
        ("`flexapod --help`, the whole process", started("-m", "flexapod", "--help")),
        ("`flexapod show`, the whole process", started("-m", "flexapod", "show", ROBOT)),
    ]
    said = f"Whole calls take {times(min(ratios))} to {times(max(ratios))} times as long as their kernels."
    head = ["verb", "call, per sample", "kernel alone", "ratio", "bytes per sample"]
    return joined(HEAD.format(count=counted(count)), table(head, rows), said,
                  table(["", "CPU time"], [(name, shown(t)) for name, t in single]))  # fmt: skip


HEAD = """## Whole calls

Verbs on {count} samples or designs of `stewart-3-3`, one core: the verb against the kernel behind it with its arrays
given. Memory is what a call allocates at its peak beyond its input, its labelled result included.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
