"""Flexible legs: the 25 s square of DualEMPS, models, frequencies, operator counts.

    python benchmarks/flexible_legs.py [--quick]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from random_inputs import random_inputs
from reporting import Effort, joined, print_section, shown, table, times

import flexapod as fp

STEPS, FINE = (2e-3, 1e-3), 2e-4
PAPER = 365.0
"""Seconds of the square by the model of Briot 2014 on its computer of 2013."""
GRID = 50
RIGID = "`stewart-3-3`, rigid inverse dynamics, minimal equations"


def square(robot: fp.Robot, effort: Effort) -> dict[str, dict[str, float]]:
    """Seconds and error of the square at some steps."""
    from flexapod.simulation.integrators.runner import Runner
    from flexapod.simulation.system.setup import make_setup
    from flexapod.simulation.system.signals import Span, row_table

    motion = fp.motions.dualemps_square()
    setup = make_setup(
        robot, motion, drive="actuators", controller=None, force=None, wrench=None, friction=True, method="implicit", events=(),
        watch=(), start=None, tolerance=(1e-9, 1e-11), step=STEPS[0],
    )  # fmt: skip
    runner = Runner(setup.layout, setup.values)
    result = {}
    fine = fp.simulate(
        robot, motion, drive="actuators", step=effort.size(FINE, STEPS[0]), output_step=0.01, progress=False
    ).force.values
    for step in STEPS[: effort.size(2, 1)]:

        def call(h: float = step) -> Any:
            return fp.simulate(robot, motion, drive="actuators", step=h, output_step=0.01, progress=False)

        count = round(motion.time[-1] / step)
        table = np.zeros((count + -count % setup.layout.rows, setup.layout.columns))
        table[:count] = row_table(setup.layout, setup.signals, Span(start=0.0, h=step, count=count))
        table[count:, 2:] = np.tile(table[count - 1, -setup.layout.width :], len(setup.layout.nodes))
        rows = np.zeros((len(table), runner.width))
        error = float(np.abs(call().force.values - fine).max() / np.abs(fine).max())

        def loop(table: np.ndarray = table, rows: np.ndarray = rows) -> Any:
            return runner.advance(setup.start, table, rows)

        result[f"`implicit`, {1e3 * step:g} ms"] = {
            "loop": effort.best(loop, 1.0),
            "call": effort.best(call, 1.0),
            "error": error,
        }
    return result


def models(robot: fp.Robot, effort: Effort) -> dict[str, dict[str, float]]:
    """Seconds per sample in batch and operations, rigid inverse dynamics beside."""
    stewart, samples = fp.load("stewart-3-3"), effort.size(100_000, 500)
    kernels = {
        f"`{robot.name}`, direct model with friction": (robot, "elastic_forward_dynamics", {"friction": True}),
        f"`{robot.name}`, inverse model with friction": (robot, "elastic_inverse_dynamics", {"friction": True}),
        f"`{robot.name}`, mass matrix and remaining forces": (robot, "elastic_mass_matrix", {}),
        RIGID: (stewart, "minimal_inverse_dynamics", {}),
        "`stewart-3-3`, rigid inverse dynamics, virtual power": (stewart, "virtual_power", {}),
    }
    result = {}
    for label, (own, quantity, options) in kernels.items():
        bound = fp.kernel(own, quantity, **options)
        given = random_inputs(bound, samples)
        out = bound.batch(given).outputs
        seconds = effort.best(lambda k=bound, g=given, o=out: k.batch(g, out=o, threads=1), 1.5) / samples
        result[label] = {"seconds": seconds, "operations": bound.operations.total}
    return result


def grid(robot: fp.Robot, effort: Effort) -> tuple[int, float]:
    """Slider positions along each axis, and seconds of natural frequencies at all of them."""
    count = effort.size(GRID, 3)
    at = np.linspace(-0.125, 0.125, count)
    q = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    poses = fp.ActuatorMotion(time=np.arange(float(len(q))), position=q, velocity=0.0 * q, acceleration=0.0 * q)
    return count, effort.best(lambda: fp.natural_frequencies(robot, poses), 1.0)


def counts(robot: fp.Robot) -> dict[str, dict[str, int]]:
    """Operators with constants as numbers, as Briot 2014 counts them."""
    result = {}
    for label, quantity, solve in (
        ("before the final solve", "forward_dynamics", False),
        ("inverse model", "inverse_dynamics", True),
        ("direct model", "forward_dynamics", True),
    ):
        found = fp.generate(robot, quantity, solve=solve, constants="numbers").operations
        result[label] = {
            "adds": found.adds, "multiplies": found.multiplies, "functions": found.functions, "variables": found.variables
        }  # fmt: skip
    return result


def section(effort: Effort) -> str:
    """Tables of the square, the models and the operators."""
    robot = fp.load("dualemps")
    runs, found, (count, seconds) = square(robot, effort), models(robot, effort), grid(robot, effort)
    rows = [(f"flexapod, {name}", shown(r["loop"]), shown(r["call"]), f"{r['error']:.1e}") for name, r in runs.items()]
    rows.append(("the paper's model, on its computer of 2013", None, f"{PAPER:g} s", None))
    rigid = found[RIGID]["seconds"]
    batch = [(label, r["operations"], shown(r["seconds"]), times(r["seconds"] / rigid)) for label, r in found.items()]
    operators = [(label, *row.values()) for label, row in counts(robot).items()]
    operators.append(("the paper (it does not say whether the solve is included)", 1287, 1555, None, 1041))
    return joined(
        HEAD,
        table(["the 25 s square", "compiled loop", "whole call of `simulate`", "error of the forces"], rows),
        table(["model, batch", "operations", "time per sample", "of rigid inverse dynamics, minimal"], batch),
        table(["operators, constants as numbers", "+ and -", "x and /", "functions", "variables"], operators),
        f"Natural frequencies at {count} x {count} poses take {shown(seconds)} in one call. {COUNTS}",
    )


HEAD = """## Flexible legs

`dualemps` with one element per flexible link, as in the paper. The 25 s square of Briot 2014, Fig. 7, is simulated with the
friction of the file and the actuators' motion given; the error of the forces is that against a simulation with steps of 0.2
ms, of the peak. It is largest where joints begin to stick, and there it does not fall with the step. Models are measured on
random closed states.
"""
COUNTS = "The models have parameters as inputs; the operators are counted as the paper counts them, with numbers put in."

if __name__ == "__main__":
    print_section(section, __doc__)
