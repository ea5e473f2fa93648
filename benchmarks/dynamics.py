"""Rigid dynamics against Pinocchio and MuJoCo, in C++ and from Python, on one thread.

    python benchmarks/dynamics.py [--quick]

The C++ peers are built into out/benchmarks/peers the first time, which takes a minute. --quick leaves them out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Effort, counted, joined, print_section, shown, table, times

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parent / "peers"))
PEERS = Path("out/benchmarks/peers")
SAMPLES, FEW = 100_000, 1000
WAYS = {
    "inverse dynamics": {"minimal equations": "minimal_inverse_dynamics", "link axes": "link_inverse_dynamics",
                         "virtual power": "virtual_power"},
    "forward dynamics": {"minimal equations": "minimal_forward_dynamics", "link axes": "link_forward_dynamics",
                         "virtual power": "forward_dynamics"},
}  # fmt: skip
NOTES = """
- Our batch evaluates several samples in one vector of the processor; the C++ peers evaluate one sample after the other, as
  their interfaces do. A prepared call of ours is the fair comparison for a loop that has one sample at a time.
- General engines solve any mechanism from the same code; our kernel is generated for the structure of one robot, its numbers
  being inputs. The peers' inverse dynamics has three parts: leg kinematics written for this robot, the engine's tree
  dynamics, and the loop forces. "Written by an expert" solves six equations with the legs' Jacobians in place of eighteen
  with the engine's own; the better of the two is shown.
- The peers' forward dynamics gets the joint coordinates and rates of the legs ready-made; ours computes them from the
  platform's pose and twist.
- "The complete path in Python" is the same through the engines' Python interfaces and NumPy.
- An operation is one addition, multiplication, division, root or function call on the final tape; what depends on parameters
  alone is computed once per parameter set and not counted.
"""


def ours(effort: Effort) -> dict[str, dict[str, dict[str, Any]]]:
    """Operations, seconds per sample in batch and seconds of a prepared call, by quantity and way."""
    from stewart import ROBOT, motion

    count = effort.size(SAMPLES, FEW)
    m = motion(np.linspace(0.05, 2.95, count))
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    inputs = {k: getattr(m, k) for k in names} | {"wrench": np.zeros((count, 6))}
    inputs["force"] = fp.inverse_dynamics(ROBOT, m, friction=False).force.values

    def measured(quantity: str) -> dict[str, Any]:
        kernel = fp.kernel(ROBOT, quantity)
        given = {i.name: inputs[i.name] for i in kernel.signature.inputs}
        out = {o.name: np.empty((count, *o.shape)) for o in kernel.signature.outputs}
        batch = effort.best(lambda: kernel.batch(given, out=out, threads=1), 3.0) / count
        call = kernel.prepare()
        for name, values in given.items():
            call.inputs[name][...] = values[count // 3]
        return {"operations": kernel.operations.total, "batch": batch, "call": effort.best(call, 1.0, calls=1000)}

    return {kind: {way: measured(quantity) for way, quantity in ways.items()} for kind, ways in WAYS.items()}


def cpp_peers() -> tuple[dict[str, dict[str, float]], list[str]]:
    """Seconds of the C++ peers by quantity and engine, and why some are missing."""
    from build import build

    found: dict[str, dict[str, float]] = {kind: {} for kind in WAYS}
    try:
        programs = build(PEERS)
    except (OSError, subprocess.CalledProcessError) as error:
        return found, [f"The C++ peers could not be built here ({type(error).__name__})."]
    missing = [
        f"{name} is not installed: its C++ rows are missing." for name in ("Pinocchio", "MuJoCo") if name.lower() not in programs
    ]
    for name, program in programs.items():
        arguments = []
        if name == "mujoco":
            from mujoco_model import mjcf

            arguments = [PEERS / "stewart.xml"]
            arguments[0].write_text(mjcf(), encoding="utf-8")
        text = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
        for label, value in re.findall(r"^(FD|ID) .*?([0-9.]+) us$", text, re.M):
            kind = "forward dynamics" if label == "FD" else "inverse dynamics"
            found[kind][name] = min(found[kind].get(name, np.inf), 1e-6 * float(value))
    return found, missing


def python_peers(effort: Effort) -> tuple[dict[str, float], list[str]]:
    """Seconds of the complete Python path of each engine (leg kinematics, engine, loop forces), and why some are missing."""
    import importlib

    from stewart import motion

    m, found, missing = motion(np.linspace(0.05, 2.95, 64)), {}, []
    for name in ("Pinocchio", "MuJoCo"):
        try:
            engine = getattr(importlib.import_module(f"{name.lower()}_model"), name)()
        except ImportError:
            missing.append(f"{name} is not installed: its Python row is missing.")
            continue
        k = iter(range(10**9))
        found[name] = effort.best(lambda e=engine, k=k: e.inverse(*e.state(m, next(k) % 64)), 1.0, calls=5)
    return found, missing


def section(effort: Effort) -> str:
    """Tables of inverse and forward dynamics, ratios, and what is compared with what."""
    own = ours(effort)
    cpp, no_cpp = ({kind: {} for kind in WAYS}, ["The C++ peers were left out."]) if effort.quick else cpp_peers()
    python, no_python = python_peers(effort)
    labels = {"pinocchio": "Pinocchio, C++, written by an expert", "mujoco": "MuJoCo, C++, the fastest of its methods"}
    parts = []
    for kind, ways in own.items():
        unit = ways["minimal equations"]["batch"]
        rows = [(f"flexapod, {way}, batch", r["operations"], r["batch"]) for way, r in ways.items()]
        one = ways["minimal equations"]
        rows.append(("flexapod, minimal equations, one prepared call from Python", one["operations"], one["call"]))
        forward = {"pinocchio": "Pinocchio, C++", "mujoco": "MuJoCo, C++"}
        rows += [((labels if kind == "inverse dynamics" else forward)[name], None, s) for name, s in cpp[kind].items()]
        if kind == "inverse dynamics":
            rows += [(f"{name}, the complete path in Python", None, s) for name, s in python.items()]
        rows.sort(key=lambda row: row[2])
        parts.append(table([kind, "operations", "time per sample", "of the first row"],
                           [(name, n, shown(s), times(s / unit)) for name, n, s in rows]))  # fmt: skip
    head = HEAD.format(samples=counted(effort.size(SAMPLES, FEW)))
    return joined(head, *parts, *no_cpp, *no_python, ratios(own, cpp, python), NOTES)


HEAD = """## Rigid dynamics

The robot is `bench-6ups` of the catalogue, an octahedral platform on six UPS legs whose cylinders and pistons have mass and
inertia; the motion goes down and round. Pinocchio and MuJoCo solve the same robot in the same run, from C++ and from Python,
one thread each. Their forces equal ours: tests/equations/test_peers.py compares them with both engines. Batches of {samples}
samples; compilation is not included.
"""


def ratios(own: dict[str, Any], cpp: dict[str, dict[str, float]], python: dict[str, float]) -> str:
    """How many times faster than the best peer, of this run."""
    rows = []
    for kind, peers in cpp.items():
        if peers:
            least = min(peers.values()) / own[kind]["minimal equations"]["batch"]
            rows.append((f"{kind}, batch, to the best C++ peer", f"{least:.0f} times faster"))
    if python:
        least = min(python.values()) / own["inverse dynamics"]["minimal equations"]["call"]
        rows.append(("one call of inverse dynamics from Python, to the best Python peer", f"{least:.0f} times faster"))
    return table(["ratios", ""], rows)


if __name__ == "__main__":
    print_section(section, __doc__)
