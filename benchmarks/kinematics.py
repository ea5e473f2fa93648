"""Kinematics in batch and along motions; a workspace of a million poses; threads.

    python benchmarks/kinematics.py [--quick]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
from random_inputs import random_inputs
from reporting import Effort, counted, joined, print_section, shown, table, times

import flexapod as fp
from flexapod.analysis.poses.pose_along import search_along
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_search import PoseSearch
from flexapod.analysis.verbs.sampling import random_states

ROBOT = "stewart-3-3"
GRID = {"x": (-2.0, 2.0), "y": (-2.0, 2.0), "z": (3.0, 6.0)}
Row = tuple[str, float]


def inverse(robot: fp.Robot, effort: Effort) -> list[Row]:
    """Actuators with rates and accelerations: the kernel, and the verb with its labelled result [s per sample]."""
    count = effort.size(100_000, 100)
    states = random_states(robot, count, seed=1)
    kernel = fp.kernel(robot, "inverse_kinematics", detail="actuators")
    motion = fp.Motion(time=np.arange(float(count)), **states)
    return [
        ("actuators with rates and accelerations, kernel", effort.best(lambda: kernel.batch(states, threads=1), 0.5) / count),
        ("the same, `inverse_kinematics`", effort.best(lambda: fp.inverse_kinematics(robot, motion, joints=False), 0.5) / count),
    ]


def forward(robot: fp.Robot, effort: Effort) -> list[Row]:
    """Poses along a motion by continuation; the verb adds twist, acceleration and the result [s per sample]."""
    count = effort.size(10_000, 50)
    t = np.linspace(0.0, 10.0, count)
    angle = t[:, None] + 0.7 * np.arange(6)
    q, qd = 0.2 * np.sin(angle), 0.2 * np.cos(angle)
    motion = fp.ActuatorMotion(time=t, position=q, velocity=qd, acceleration=-q)
    search = PoseSearch(robot)
    start, own, _ = start_poses(search, None, 1)
    far = np.zeros(count, dtype=int)
    works = {
        "poses along a motion, search alone": lambda: search_along(search, motion.position, start, own),
        "the same with twist and acceleration, `forward_kinematics`": lambda: fp.forward_kinematics(robot, motion),
        "poses in batch, all from home, search alone": lambda: search.search(motion.position, start.at(far), own[far]),
    }
    return [(name, effort.best(work, 0.5) / count) for name, work in works.items()]


def wall(work: Callable[[], object], effort: Effort) -> float:
    """Shortest time of a call by the wall clock [s]."""
    found = []
    for _ in range(effort.size(9, 1)):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def threads(robot: fp.Robot, effort: Effort) -> list[tuple[str, str, str, str]]:
    """Batches on one thread and on all processors: wall time, and how many times shorter it becomes."""
    count, side = effort.size(1_000_000, 1000), effort.size(100, 5)
    grid = {name: (*ends, side) for name, ends in GRID.items()}
    kernel = fp.kernel(robot, "inverse_dynamics")
    given = random_inputs(kernel, count)
    out = {o.name: np.empty((count, *o.shape)) for o in kernel.signature.outputs}
    works: dict[str, Callable[[int], object]] = {
        f"inverse dynamics of {counted(count)} samples, kernel": lambda n: kernel.batch(given, out=out, threads=n),
        f"`workspace` of {counted(side**3)} poses": lambda n: fp.workspace(robot, grid, threads=n),
    }
    rows = []
    for name, work in works.items():
        work(1)
        one, all_of_them = (wall(lambda n=n, work=work: work(n), effort) for n in (1, os.cpu_count() or 1))
        rows.append((name, shown(one), shown(all_of_them), times(one / all_of_them)))
    return rows


def section(effort: Effort) -> str:
    """Tables of kinematics and of threads."""
    robot = fp.load(ROBOT)
    rows = [(name, shown(seconds)) for name, seconds in inverse(robot, effort) + forward(robot, effort)]
    head = ["wall time", "one thread", f"{os.cpu_count()} threads", "times shorter"]
    return joined(HEAD, table(["one core", "time per sample"], rows), table(head, threads(robot, effort)))


HEAD = f"""## Kinematics and threads

`{ROBOT}`: inverse kinematics in batch, forward kinematics by Newton's method from pose to pose, and what a second thread
gains.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
