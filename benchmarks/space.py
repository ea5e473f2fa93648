"""Times of proven workspaces and fastest timings.

Usage: python benchmarks/space.py [results.json]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import flexapod as fp
from flexapod.analysis.timing.path_terms import FINER, PathDynamics
from flexapod.analysis.timing.timing_limits import timing_limits
from flexapod.analysis.timing.timing_passes import fastest
from flexapod.motions.motion import Motion, with_formula

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "analysis"))
from space_robots import edited_bench, study_hexapod

FORCE = 600.0


def best(work, repeat=7):
    """Shortest time of a call, and of this process in it [s]."""
    times = []
    for _ in range(repeat):
        start, own = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - start, time.process_time() - own))
    return min(t[0] for t in times), min(t[1] for t in times)


def curve() -> Motion:
    """A closed curve of bench-6ups; its parameter goes from 0 to 1."""

    def formula(s):
        w, size, phase = 2 * np.pi * np.array([1.0, 2.0, 1.0]), np.array([0.5, 0.3, 0.25]), np.array([0.0, 0.4, 1.1])
        angle, still = np.outer(s, w) + phase, np.zeros((len(s), 3))
        p = np.array([0.0, 0.0, 4.330127018922192]) + size * np.sin(angle)
        return Motion(
            time=s, position=p, rotation=np.tile(np.eye(3), (len(s), 1, 1)), velocity=size * w * np.cos(angle),
            angular_velocity=still, acceleration=-size * w**2 * np.sin(angle), angular_acceleration=still,
        )  # fmt: skip

    return with_formula(formula(np.linspace(0, 1, 101)), formula)


def passes(robot, force):
    """Both passes and the slowing over 500 intervals, coefficients apart [s]."""
    dynamics, s = PathDynamics(robot, curve(), True, None), np.linspace(0, 1, 500 * FINER + 1)
    terms, limits = dynamics.terms(s), timing_limits(robot, {"force": force})
    return best(lambda: fastest(dynamics, terms, limits), 60)


def timing():
    """Fastest timings without friction and with viscous friction, and the coefficients [s]."""
    robot = fp.load("bench-6ups")
    dynamics, s = PathDynamics(robot, curve(), True, None), np.linspace(0, 1, 500 * FINER + 1)
    return {
        "time_optimal_500_intervals": passes(robot, FORCE),
        "time_optimal_viscous": passes(edited_bench("{viscous: 150}"), 700.0),
        "time_optimal_coefficients": best(lambda: dynamics.terms(s)),
        "time_optimal_verb": best(lambda: fp.time_optimal(robot, curve(), {"force": FORCE})),
    }


def pavings():
    """Proven bounds of a hexapod's workspace with strokes, joint angles and singularities [s, boxes, distance of the bounds]."""
    robot, found = study_hexapod(), {}
    for part in (0.01, 0.001):
        paving = fp.pave(robot, undecided=part)
        wall, own = best(lambda part=part: fp.pave(robot, undecided=part), 5)
        apart = paving.volume_high / paving.volume_low - 1
        found[f"pave_{part:g}"] = [wall, own, paving.boxes, apart]
    boxes = fp.pave(robot, undecided=0.01, cut=False)
    wall, own = best(lambda: fp.pave(robot, undecided=0.01, cut=False), 2)
    found["pave_boxes_0.01"] = [wall, own, boxes.boxes, boxes.volume_undecided / boxes.volume_low]
    return found


def main():
    """Measure and print."""
    result = {**timing(), **pavings()}
    for name, values in result.items():
        print(name, " ".join(f"{v:.4g}" for v in values))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
