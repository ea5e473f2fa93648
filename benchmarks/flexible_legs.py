"""Flexible legs: the 25 s square of DualEMPS, its models in batch, frequencies over the workspace, operator counts.

    python benchmarks/flexible_legs.py [--samples 100000] [--json out/flexible_legs.json]

One core; CPU seconds, the best of several. The square (Briot 2014, Fig. 7) is simulated with the friction of the file: the
compiled loop with its start and table of signals, and the whole call with 100 samples per second. Its error is that of the
forces against a run with steps of 0.2 ms, of the peak; it is largest where joints begin to stick. The smooth part
is of order 6, so that a tenth of the step is a tolerance more than 100 times tighter. Models are measured on random closed states
beside the rigid inverse dynamics of `stewart-3-3` in the same run. Nothing is asserted; goals are printed beside.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp

STEPS, FINE = (2e-3, 1e-3), 2e-4
SQUARE, ERROR = 0.5, 1e-3
"""Goals: seconds for the square, error of its forces."""
DIRECT, TIMES_RIGID = 150.0, 3.0
"""Goal of the direct model: nanoseconds per sample, or so many times rigid inverse dynamics, whichever is larger."""
GRID, GRID_SECONDS = 50, 1.0


def best(work: Callable[[], object], seconds: float = 3.0, least: int = 3) -> float:
    """Best CPU seconds of a call, over at least `least` calls."""
    work()
    found, stop, calls = np.inf, time.perf_counter() + seconds, 0
    while calls < least or time.perf_counter() < stop:
        start = time.process_time()
        work()
        found, calls = min(found, time.process_time() - start), calls + 1
    return float(found)


def square(robot: fp.Robot) -> dict[str, dict[str, float]]:
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
    fine = fp.simulate(robot, motion, drive="actuators", step=FINE, output_step=0.01, progress=False).force.values
    for step in STEPS:

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

        rounds = [(best(loop, 0.5, 1), best(call, 0.5, 1)) for _ in range(5)]  # by turns: a busy machine disturbs both
        seconds = np.min(rounds, axis=0)
        result[f"{step:g}"] = {"loop [s]": float(seconds[0]), "call [s]": float(seconds[1]), "error": error}
    return result


def inputs_of(bound: Any, samples: int) -> dict[str, np.ndarray]:
    """Random states the robot can take, repeated; forces and accelerations are random numbers."""
    from flexapod.analysis.verbs.sampling import random_leg_states, random_states

    draw, random = random_leg_states if bound.robot.elastic_legs else random_states, np.random.default_rng(1)
    states, rows = draw(bound.robot, 500, 1), np.arange(samples) % 500
    known = {name: values[rows] for name, values in states.items()}
    given = {}
    for i in bound.signature.inputs:
        own = known.get(i.name)
        given[i.name] = np.ascontiguousarray(random.normal(size=(samples, *i.shape)) if own is None else own)
    return given


def models(robot: fp.Robot, samples: int) -> dict[str, dict[str, float]]:
    """Nanoseconds per sample in batch, operations and compile times, rigid inverse dynamics beside."""
    stewart = fp.load("stewart-3-3")
    kernels = {
        "stewart-3-3, rigid inverse, minimal": (stewart, "minimal_inverse_dynamics", {}),
        "stewart-3-3, rigid inverse, virtual power": (stewart, "virtual_power", {}),
        f"{robot.name}, direct": (robot, "elastic_forward_dynamics", {"friction": True}),
        f"{robot.name}, inverse": (robot, "elastic_inverse_dynamics", {"friction": True}),
        f"{robot.name}, mass matrix and remaining forces": (robot, "elastic_mass_matrix", {}),
    }
    result = {}
    for label, (own, quantity, options) in kernels.items():
        bound = fp.kernel(own, quantity, **options)
        given = inputs_of(bound, samples)
        out = bound.batch(given).outputs
        ns = 1e9 * best(lambda k=bound, g=given, o=out: k.batch(g, out=o, threads=1)) / samples
        result[label] = {"ns": ns, "operations": bound.operations.total}
    return result


def grid(robot: fp.Robot) -> float:
    """Seconds of natural frequencies at 50 x 50 slider positions."""
    at = np.linspace(-0.125, 0.125, GRID)
    q = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    poses = fp.ActuatorMotion(time=np.arange(float(len(q))), position=q, velocity=0.0 * q, acceleration=0.0 * q)
    return best(lambda: fp.natural_frequencies(robot, poses))


def counts(robot: fp.Robot) -> dict[str, dict[str, int]]:
    """Operators with constants as numbers, as Briot 2014 counts them."""
    result = {}
    for label, quantity, solve in (
        ("before the solve", "forward_dynamics", False),
        ("inverse", "inverse_dynamics", True),
        ("direct", "forward_dynamics", True),
    ):
        found = fp.generate(robot, quantity, solve=solve, constants="numbers").operations
        result[label] = {
            "adds": found.adds, "multiplies": found.multiplies, "functions": found.functions, "variables": found.variables
        }  # fmt: skip
    return result


def report(found: dict[str, Any]) -> None:
    """The figures as tables."""
    print("square, 25 s with friction    loop [s]  call [s]  error of forces")
    for step, row in found["square"].items():
        goals = f"(goals: {SQUARE:g} s, {ERROR:g})"
        print(
            f"  step {float(step):7.0e} s            {row['loop [s]']:8.3f}  {row['call [s]']:8.3f}  {row['error']:.1e}  {goals}"
        )
    print(f"\n{'model, batch':52} ns per sample  operations")
    for label, row in found["models"].items():
        print(f"  {label:50} {row['ns']:13.1f}  {row['operations']:10d}")
    rigid = found["models"]["stewart-3-3, rigid inverse, minimal"]["ns"]
    direct = next(row["ns"] for label, row in found["models"].items() if label.endswith("direct"))
    bound = max(DIRECT, TIMES_RIGID * rigid)
    print(f"  direct / rigid inverse (minimal): {direct / rigid:.2f}; direct model at most {bound:.0f} ns")
    print(f"\nfrequencies at {GRID} x {GRID} poses: {found['grid [s]']:.2f} s (at most {GRID_SECONDS:g} s)")
    print("\noperators (constants as numbers)   + -    x /  functions  variables   (Briot 2014: 1287, 1555, -, 1041)")
    for label, row in found["counts"].items():
        print(f"  {label:30} {row['adds']:6d} {row['multiplies']:6d} {row['functions']:10d} {row['variables']:10d}")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    robot = fp.load("dualemps")
    found = {"square": square(robot), "models": models(robot, options.samples), "grid [s]": grid(robot), "counts": counts(robot)}
    report(found)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
