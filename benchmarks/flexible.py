"""Flexible platform: cost of direct and inverse dynamics over the number of modes, against the rigid robot, and compile times.

    python benchmarks/flexible.py [--modes 0 5 10 20 40] [--samples 20000] [--json out/flexible.json]

One core, batch. 0 modes is the rigid robot of the same legs. Compile times are processor seconds without any cache, so that other
work on the machine counts less. Nothing is asserted; ratios and times are printed beside what they should be.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RATIO = 3.5
"""Direct dynamics with ten modes, of the rigid robot's: at most."""
COMPILE = {10: 3.0, 40: 10.0}
"""Seconds to compile, by modes: at most."""


def robot_with(modes: int) -> Any:
    """`gough-stewart` with so many modes of the plate of `gough-stewart-flexible`; rigid for none."""
    import flexapod as fp

    rigid = fp.load("gough-stewart")
    if modes == 0:
        return rigid
    body = fp.flexible.plate(
        outline=fp.flexible.regular_outline(6, 0.5), thickness=0.015, young=2e10, poisson=0.3, density=7500.0, modes=modes,
        interfaces={leg.name: tuple(leg.closing.on_platform.position) for leg in rigid.legs}, damping=0.4,
    )  # fmt: skip
    return rigid.with_flexible_body("platform", body)


def inputs_of(bound: Any, samples: int) -> dict[str, np.ndarray]:
    """Random states, forces and small deflections."""
    import flexapod as fp
    from flexapod.analysis.sampling import random_states

    random, N = np.random.default_rng(1), len(bound.robot.elastic_names)
    states = random_states(fp.load("gough-stewart"), 500, 1)
    rows = np.arange(samples) % 500
    known = {name: values[rows] for name, values in states.items()}
    known |= {"force": random.normal(size=(samples, 6)) * 100.0, "wrench": np.zeros((samples, 6))}
    known |= {"elastic": random.normal(size=(samples, N)) * 0.01, "elastic_velocity": random.normal(size=(samples, N)) * 0.1}
    known["elastic_load"] = np.zeros((samples, N))
    return {i.name: np.ascontiguousarray(known[i.name]) for i in bound.signature.inputs}


def measure(robot: Any, quantity: str, samples: int, rounds: int = 9) -> dict[str, float]:
    """Nanoseconds per sample (best of the rounds), operations, processor seconds to compile."""
    import flexapod as fp

    start = time.process_time()
    bound = fp.kernel(robot, quantity)
    compiled = time.process_time() - start
    inputs = inputs_of(bound, samples)
    out = bound.batch(inputs).outputs
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        bound.batch(inputs, out=out)
        best = min(best, time.perf_counter() - start)
    return {"ns": best / samples * 1e9, "operations": bound.operations.total, "compile_s": compiled}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", type=int, nargs="+", default=[0, 5, 10, 20, 40])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: dict[int, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLEXAPOD_CACHE"] = cache
        for modes in sorted({0, *options.modes}):
            robot = robot_with(modes)
            names = {"forward": "flexible_forward_dynamics", "inverse": "flexible_inverse_dynamics"}
            if modes == 0:
                names = {"forward": "forward_dynamics", "inverse": "virtual_power"}
            rows[modes] = {key: measure(robot, quantity, options.samples) for key, quantity in names.items()}
            shown = "{} {:7.0f} ns {:6.0f} ops {:6.2f} s"
            line = "  ".join(shown.format(k, v["ns"], v["operations"], v["compile_s"]) for k, v in rows[modes].items())
            ratio = rows[modes]["forward"]["ns"] / rows[0]["forward"]["ns"]
            limit = f"  (at most {RATIO})" if modes == 10 else ""
            wanted = f"  compile at most {COMPILE[modes]:g} s" if modes in COMPILE else ""
            print(f"{modes:3d} modes: {line}  direct / rigid {ratio:5.2f}{limit}{wanted}", flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({str(k): v for k, v in rows.items()}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
