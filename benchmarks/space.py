"""Proven workspaces and fastest timings.

    python benchmarks/space.py [--quick]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from reporting import Effort, joined, print_section, shown, table

import flexapod as fp
from flexapod.analysis.timing.path_terms import FINER, PathDynamics
from flexapod.analysis.timing.timing_limits import timing_limits
from flexapod.analysis.timing.timing_passes import fastest
from flexapod.motions.motion import Motion, with_formula

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "analysis"))
from space_robots import edited_bench, study_hexapod

FORCE = 600.0


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


def passes(robot: fp.Robot, force: float, intervals: int, effort: Effort) -> float:
    """Both passes and the slowing, coefficients apart [s]."""
    dynamics, s = PathDynamics(robot, curve(), True, None), np.linspace(0, 1, intervals * FINER + 1)
    terms, limits = dynamics.terms(s), timing_limits(robot, {"force": force})
    return effort.best(lambda: fastest(dynamics, terms, limits), 0.5)


def timing(effort: Effort) -> list[tuple[str, str]]:
    """Fastest timings without friction and with viscous friction, and the coefficients."""
    robot, intervals = fp.load("bench-6ups"), effort.size(500, 20)
    dynamics, s = PathDynamics(robot, curve(), True, None), np.linspace(0, 1, intervals * FINER + 1)
    found = {
        f"passes over {intervals} intervals, no friction": passes(robot, FORCE, intervals, effort),
        f"passes over {intervals} intervals, viscous friction": passes(edited_bench("{viscous: 150}"), 700.0, intervals, effort),
        "coefficients of the path": effort.best(lambda: dynamics.terms(s), 0.5),
        "`time_optimal`, the whole call": effort.best(lambda: fp.time_optimal(robot, curve(), {"force": FORCE}), 0.5),
    }
    return [(name, shown(seconds)) for name, seconds in found.items()]


def pavings(effort: Effort) -> list[tuple[object, ...]]:
    """Proven bounds of a hexapod's workspace with strokes, joint angles and singularities."""
    robot, rows = study_hexapod(), []
    for part, cut in effort.size(((0.01, True), (0.001, True), (0.01, False)), ((0.05, True),)):
        paving = fp.pave(robot, undecided=part, cut=cut)
        seconds = effort.best(lambda part=part, cut=cut: fp.pave(robot, undecided=part, cut=cut), 0.5, 2)
        apart = paving.volume_high / paving.volume_low - 1
        label = f"{100 * part:g} % undecided" + ("" if cut else ", boxes alone")
        rows.append((label, shown(seconds), paving.boxes, f"{100 * apart:.2g} %"))
    return rows


def section(effort: Effort) -> str:
    """Tables of timings and pavings."""
    return joined(
        HEAD,
        table(["fastest timing of a closed curve of `bench-6ups`", "CPU time"], timing(effort)),
        table(["workspace of a hexapod", "CPU time", "boxes", "upper bound above the lower"], pavings(effort)),
    )


HEAD = """## Fastest timings and proven workspaces

The fastest motion along a path under force limits, and inner and outer bounds of a workspace (strokes, joint angles,
singularities) proven in interval arithmetic.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
