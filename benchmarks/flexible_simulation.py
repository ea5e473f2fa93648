"""Simulation of a flexible platform: inverse and direct model in a loop, implicit steps.

    python benchmarks/flexible_simulation.py [--quick]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from reporting import Effort, joined, print_section, shown, table

import flexapod as fp
from flexapod.simulation.integrators.runner import Runner
from flexapod.simulation.system.setup import make_setup
from flexapod.simulation.system.signals import Span, row_table

GOAL = 20.0
"""Milliseconds of the compiled loop per simulated second at a tolerance of 1e-6: at most."""


def trajectory(robot: fp.Robot) -> fp.Motion:
    """Three poses around home and back, with rests."""
    positions = robot.home.position + np.array([[0, 0, 0], [0.05, 0, 0.05], [0, 0.05, -0.02], [0, 0, 0]])
    rotations = fp.motions.rotvec_rotation(np.array([[0, 0, 0], [0.1, 0, 0.05], [0, -0.1, 0], [0, 0, 0]], dtype=np.float64))
    return fp.motions.through_poses(positions=positions, orientations=rotations, durations=0.7, rests=0.2, samples=271)


def loop_alone(robot: fp.Robot, motion: Any, row: float, **options: Any) -> Callable[[], object]:
    """A function that runs the compiled loop over the whole motion."""
    setup = make_setup(
        robot, motion, wrench=None, force=None, friction=False, events=(), watch=("stroke", "singular"), start=None, step=1e-3,
        **{"drive": "force", "controller": None, "tolerance": (1e-9, 1e-11), **options},
    )  # fmt: skip
    runner, n = Runner(setup.layout, setup.values), round(options.pop("duration", motion.time[-1]) / row)
    table = np.zeros((n + -n % setup.layout.rows, setup.layout.columns))
    table[:n] = row_table(setup.layout, setup.signals, Span(start=0.0, h=row, count=n))
    rows = np.empty((len(table), runner.width))
    return lambda: runner.advance(setup.start, table, rows)


def in_the_loop(effort: Effort) -> dict[str, dict[str, float]]:
    """Adaptive and fixed steps of the loop of Long 2014, Fig. 3."""
    robot = fp.load("gough-stewart-flexible")
    motion, report = trajectory(robot), {}
    length = float(motion.time[-1])
    shared: dict[str, Any] = {"drive": "platform", "friction": False, "output_step": 0.01, "progress": False}
    truth = fp.simulate(robot, motion, **shared, method="dopri", rtol=1e-12, atol=1e-14)
    ways = {
        "`dopri`, rtol 1e-6": {"method": "dopri", "rtol": 1e-6, "atol": 1e-8},
        "`dopri`, rtol 1e-9": {"method": "dopri", "rtol": 1e-9, "atol": 1e-11},
        "`rk4`, 0.5 ms": {"method": "rk4", "step": 5e-4},
    }
    for name, way in ways.items():
        result = fp.simulate(robot, motion, **shared, **way)
        tolerance = (way.get("rtol", 1e-9), way.get("atol", 1e-11))
        row = 0.01 if way["method"] == "dopri" else way["step"]
        loop = loop_alone(robot, motion, row, drive="platform", method=way["method"], tolerance=tolerance)
        report[name] = {
            "loop": effort.best(loop, 0.7) / length,
            "call": effort.best(lambda way=way: fp.simulate(robot, motion, **shared, **way, duration=1.0), 0.7),
            "error": float(np.abs(result.elastic - truth.elastic).max() / np.abs(truth.elastic).max()),
            "pose": float(np.abs(result.position - motion.formula(result.time.values).position).max()),
            "energy": float(np.abs(result.energy_residual).max()),
        }
    return report


def ringing(effort: Effort) -> dict[str, dict[str, float]]:
    """An undamped plate on springs: implicit steps against explicit ones of equal cost."""
    robot = fp.load("gough-stewart-flexible")
    body = robot.flexible_platform
    assert body is not None
    robot = robot.with_flexible_body("platform", replace(body, D_ee=0.0 * body.D_ee))
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    still, k = fp.static_deflection(robot, home), 2e6
    q = fp.inverse_kinematics(robot, home, joints=False).actuator_position.values
    springs = fp.Springs(stiffness=k, free=q + still.force.values / k)
    start = fp.State(position=home.position, rotation=home.rotation, elastic=1.3 * still.elastic.values)
    shared: dict[str, Any] = {"controller": springs, "duration": 1.0, "friction": False, "output_step": 0.01, "watch": ()}
    truth = fp.simulate(robot, start, **shared, method="dopri", rtol=1e-13, atol=1e-15)
    report = {}
    for name, way in {
        "`implicit`, 2 ms": {"method": "implicit", "step": 2e-3},
        "`implicit`, 1 ms": {"method": "implicit", "step": 1e-3},
        "`rk4`, 0.25 ms": {"method": "rk4", "step": 2.5e-4},
        "`dopri`, rtol 1e-9": {"method": "dopri", "rtol": 1e-9, "atol": 1e-11},
    }.items():
        result = fp.simulate(robot, start, **shared, **way)
        report[name] = {
            "call": effort.best(lambda way=way: fp.simulate(robot, start, **shared, **way), 0.7),
            "error": float(np.abs(result.elastic - truth.elastic).max() / np.abs(truth.elastic).max()),
            "energy": float(np.abs(result.energy_residual).max()),
        }
    return report


def section(effort: Effort) -> str:
    """Tables of both."""
    driven, free = in_the_loop(effort), ringing(effort)
    head = ["method", "compiled loop, per simulated second", "whole call of `simulate` for one second", 
            "error of the elastic coordinates", "error of the pose", "energy left over"]  # fmt: skip
    rows = [
        (name, shown(r["loop"]), shown(r["call"]), f"{r['error']:.1e}", f"{r['pose']:.1e} m", f"{r['energy']:.1e} J")
        for name, r in driven.items()
    ]
    ring = [(name, shown(r["call"]), f"{r['error']:.1e}", f"{r['energy']:.1e} J") for name, r in free.items()]
    reached = 1e3 * next(iter(driven.values()))["loop"]
    said = f"A simulated second at a tolerance of 1e-6 takes {reached:.3g} ms in the loop; the limit set for it is {GOAL:g} ms."
    return joined(HEAD, table(head, rows), said, RINGING, table([head[0], "whole call", head[3], head[5]], ring))


HEAD = """## Simulation of the flexible platform

`gough-stewart-flexible` with its ten damped modes, driven through several poses with rests (2.7 s of fifth-order polynomials)
by the loop of inverse and direct model (`drive="platform"`). Errors of the elastic coordinates are those against a simulation
at tolerances of 1e-12, of the largest coordinate; the error of the pose is that against the trajectory.
"""
RINGING = "The same plate without damping, ringing for one second on springs:"

if __name__ == "__main__":
    print_section(section, __doc__)
