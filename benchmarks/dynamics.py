"""Rigid dynamics against Pinocchio and MuJoCo on the same robot, in one run, single thread; only ratios mean anything.

    python benchmarks/dynamics.py [--out out/benchmarks] [--skip-peers]

Prints a table, writes dynamics.json and dynamics.md (the table of the docs) to the folder.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parent / "peers"))


def best(f: Callable[[], object], number: int, seconds: float = 2.0) -> float:
    """Best CPU seconds per call over many short chunks, so that a busy machine matters less."""
    f()
    result, stop = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < stop:
        start = time.process_time()
        for _ in range(number):
            f()
        result = min(result, (time.process_time() - start) / number)
    return float(result)


def ours(samples: int) -> dict[str, float]:
    """Nanoseconds per sample in batch, and microseconds per prepared call, of the benchmark robot."""
    from stewart import ROBOT, motion

    m = motion(np.linspace(0.05, 2.95, samples))
    inputs = {
        k: getattr(m, k) for k in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    }
    inputs["wrench"] = np.zeros((samples, 6))
    result: dict[str, float] = {}
    for label, quantity in (
        ("inverse dynamics, minimal", "minimal_inverse_dynamics"),
        ("inverse dynamics, virtual power", "virtual_power"),
        ("forward dynamics, minimal", "minimal_forward_dynamics"),
        ("forward dynamics, virtual power", "forward_dynamics"),
    ):
        kernel = fp.kernel(ROBOT, quantity)
        inputs["force"] = fp.inverse_dynamics(ROBOT, m, friction=False).force.values
        given = {i.name: inputs[i.name] for i in kernel.signature.inputs}
        out = {o.name: np.empty((samples, *o.shape)) for o in kernel.signature.outputs}
        result[f"{label} [ns]"] = 1e9 * best(lambda k=kernel, g=given, o=out: k.batch(g, out=o, threads=1), 1, 4.0) / samples
        call = kernel.prepare()
        for name, values in given.items():
            call.inputs[name][...] = values[samples // 3]
        result[f"{label}, one call [us]"] = 1e6 * best(call, 1000)
        result[f"{label}, operations"] = kernel.operations.total
    return result


def growth(sizes: list[int]) -> dict[str, float]:
    """Nanoseconds per sample over the batch size, in blocks that bound memory."""
    from stewart import ROBOT, motion

    kernel = fp.kernel(ROBOT, "minimal_inverse_dynamics")
    result = {}
    block = 1_000_000
    for n in sizes:
        m = motion(np.linspace(0.05, 2.95, min(n, block)))
        given = {i.name: getattr(m, i.name) for i in kernel.signature.inputs}
        out = {"force": np.empty((len(m), 6))}
        rounds = max(1, n // block)

        def run(given: dict = given, out: dict = out, rounds: int = rounds) -> None:
            for _ in range(rounds):
                kernel.batch(given, out=out, threads=1)

        result[f"{n}"] = 1e9 * best(run, 1, 3.0) / n
    return result


def fma_peak() -> float:
    """Double-precision operations per second of one core on 16 independent fused multiply-adds, measured by a kernel."""
    import casadi as ca

    from flexapod.kernels import Program, compile_kernel

    b = Program("peak")
    x = b.input("x", (16,))

    def step(_: object, __: object, y: object) -> tuple[list[object], list[object]]:
        for _ in range(16):
            y = y * 0.999999 + 1e-7
        return [y], []

    (y,), _ = b.scan(step, 200, carry=[x])
    b.output("y", ca.sum1(y))
    kernel = compile_kernel(b)
    data = np.random.default_rng(0).normal(size=(4096, 16))
    seconds = best(lambda: kernel.batch({"x": data}), 1)
    return 4096 * 16 * 16 * 200 * 2 / seconds


def cpp_peers(folder: Path) -> dict[str, float]:
    """Microseconds of the C++ peers."""
    from build import build
    from mujoco_model import mjcf

    programs = build(folder)
    model = folder / "stewart.xml"
    model.write_text(mjcf(), encoding="utf-8")
    result = {}
    for name, program in programs.items():
        text = subprocess.run(
            [program, *([model] if name == "mujoco" else [])], check=True, capture_output=True, text=True
        ).stdout
        for label, value in re.findall(r"^(FD|ID)(?: \w+| expert| general)? ?.*?([0-9.]+) us$", text, re.M):
            key = f"{name} C++ {'forward' if label == 'FD' else 'inverse'} [us]"
            result[key] = min(result.get(key, np.inf), float(value))
    return result


def python_peers() -> dict[str, float]:
    """Microseconds of the complete Python path of each peer: leg kinematics, engine, loop forces."""
    from stewart import motion

    m = motion(np.linspace(0.05, 2.95, 64))
    result, k = {}, [0]

    def following() -> int:
        k[0] = (k[0] + 1) % 64
        return k[0]

    from mujoco_model import MuJoCo
    from pinocchio_model import Pinocchio

    for name, engine in (("pinocchio", Pinocchio()), ("mujoco", MuJoCo())):
        run = lambda e=engine: e.inverse(*e.state(m, following()))  # noqa: E731
        result[f"{name} Python inverse [us]"] = 1e6 * best(run, 5)
    return result


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"))
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--skip-peers", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    figures: dict[str, float] = ours(options.samples)
    figures |= {
        f"minimal inverse dynamics, {n} samples [ns]": v for n, v in growth([10_000, 100_000, 1_000_000, 10_000_000]).items()
    }
    peak = fma_peak()
    figures["measured FMA peak [Gflop/s]"] = peak / 1e9
    share = figures["inverse dynamics, minimal, operations"] / (figures["inverse dynamics, minimal [ns]"] * 1e-9) / peak
    figures["share of the FMA peak"] = share
    if not options.skip_peers:
        figures |= cpp_peers(options.out / "peers") | python_peers()
        figures |= ratios(figures)
    (options.out / "dynamics.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    rows = "\n".join(f"| {name} | {value:.4g} |" for name, value in figures.items())
    (options.out / "dynamics.md").write_text(f"| figure | value |\n|---|---|\n{rows}\n", encoding="utf-8")
    print(rows)


def ratios(f: dict[str, float]) -> dict[str, float]:
    """How many times faster than the best peer."""

    def peers(*words: str) -> float:
        return min(v for k, v in f.items() if all(w in k for w in words))

    return {
        "times faster than the best C++ peer, inverse": 1e3 * peers("C++", "inverse") / f["inverse dynamics, minimal [ns]"],
        "times faster than the best C++ peer, forward": 1e3 * peers("C++", "forward") / f["forward dynamics, minimal [ns]"],
        "times faster than the best Python peer, one inverse call": peers("Python", "inverse")
        / f["inverse dynamics, minimal, one call [us]"],
    }


if __name__ == "__main__":
    main()
