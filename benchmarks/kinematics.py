"""Times of kinematics on stewart-3-3: batch inverse, forward along a motion, and a workspace of a million poses.

Usage: python benchmarks/kinematics.py [results.json]
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

import flexapod as fp
from flexapod.analysis.poses.pose_along import search_along
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_search import PoseSearch
from flexapod.analysis.verbs.sampling import random_states

SAMPLES = 100_000
STEPS = 10_000
GRID = {"x": (-2.0, 2.0, 100), "y": (-2.0, 2.0, 100), "z": (3.0, 6.0, 100)}


def best(work, repeat=5):
    """Shortest time of a call [s], and the time of this process spent in it."""
    times = []
    for _ in range(repeat):
        start, own = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - start, time.process_time() - own))
    return min(t[0] for t in times), min(t[1] for t in times)


def inverse(robot):
    """Actuators with rates and accelerations: the kernel, and the verb with its labelled result [s per sample]."""
    states = random_states(robot, SAMPLES, seed=1)
    bound = fp.kernel(robot, "inverse_kinematics", detail="actuators")
    motion = fp.Motion(time=np.arange(SAMPLES, dtype=float), **states)
    names = ("inverse_kinematics_kernel", "inverse_kinematics_verb")
    works = (lambda: bound.batch(states), lambda: fp.inverse_kinematics(robot, motion, joints=False))
    return {name: [t / SAMPLES for t in best(work)] for name, work in zip(names, works, strict=True)}


def forward(robot):
    """Poses along a motion by continuation; the verb adds twist, acceleration and the result [s per sample]."""
    t = np.linspace(0.0, 10.0, STEPS)
    angle = t[:, None] + 0.7 * np.arange(6)
    q, qd = 0.2 * np.sin(angle), 0.2 * np.cos(angle)
    motion = fp.ActuatorMotion(time=t, position=q, velocity=qd, acceleration=-q)
    search = PoseSearch(robot)
    start, own, _ = start_poses(search, None, 1)
    far = np.zeros(STEPS, dtype=int)
    works = {
        "forward_kinematics_along": lambda: search_along(search, motion.position, start, own),
        "forward_kinematics_along_verb": lambda: fp.forward_kinematics(robot, motion),
        "forward_kinematics_batch_from_home": lambda: search.search(motion.position, start.at(far), own[far]),
    }
    return {name: [t / STEPS for t in best(work, 3)] for name, work in works.items()}


def main() -> None:
    """Print a table; write it as JSON if a path is given."""
    robot = fp.load("stewart-3-3")
    results = inverse(robot) | forward(robot)
    for threads in (1, os.cpu_count() or 1):
        times = best(lambda n=threads: fp.workspace(robot, GRID, threads=n), 3)
        results[f"workspace_million_poses_{threads}_threads"] = list(times)
    units = {name: (1.0, "s") if name.startswith("workspace") else (1e9, "ns per sample") for name in results}
    print(f"{'stewart-3-3':<40} {'wall':>12} {'process':>12}")
    for name, (wall, process) in results.items():
        factor, unit = units[name]
        print(f"{name:<40} {wall * factor:12.4g} {process * factor:12.4g} {unit}")
    if len(sys.argv) > 1:
        data = {name: {"wall": wall, "process": process, "unit": "s"} for name, (wall, process) in results.items()}
        about = {"machine": platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg()[0], "results": data}
        Path(sys.argv[1]).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
