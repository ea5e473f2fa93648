"""One size of one growing thing, measured in a process of its own: beam elements, modes, legs or samples.

    python benchmarks/growth_cases.py elements 8 [--quick]

Prints a JSON object: seconds (CPU), operations, peak memory of the process [MB]. With an empty cache everything is derived and
compiled here (benchmarks/growth.py calls it so).
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

START = time.process_time()

import numpy as np  # noqa: E402
from reporting import Effort  # noqa: E402

import flexapod as fp  # noqa: E402

BLOCK = 1_000_000
"""Samples evaluated at once."""


def elements(count: int, effort: Effort) -> dict[str, float]:
    """DualEMPS with so many elements in each flexible link: first accelerations, one evaluation of its equation."""
    from flexapod.analysis.model.closed_legs import evaluate, home

    return _from_file("dualemps-8", "elements: 8", f"elements: {count}", effort, evaluate, home)


def leg_elements(count: int, effort: Effort) -> dict[str, float]:
    """A 6-UPS on a flexible platform with so many spatial elements in each leg: the same."""
    from flexapod.analysis.model.closed_legs import evaluate, home

    return _from_file("gough-stewart-flexible-legs", "type: beam", f"type: beam, elements: {count}", effort, evaluate, home)


def _from_file(name: str, old: str, new: str, effort: Effort, evaluate: Any, home: Any) -> dict[str, float]:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path, text = Path(folder) / "robot.yaml", fp.catalogue()[name].read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        robot = fp.load(path)
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    fp.forward_dynamics(robot, state, np.zeros(len(robot.actuators)))
    first = time.process_time() - START
    reasons, given = np.full(1, "", dtype=object), {**home(robot, 1).inputs(), "wrench": np.zeros((1, 6))}
    once = effort.best(lambda: evaluate(robot, "elastic_terms", given, reasons, friction=False), 0.5, 5)
    return {"coordinates": len(robot.elastic_plan.columns), "first": first, "once": once}


def robot_with(modes: int) -> fp.Robot:
    """`gough-stewart` with so many modes of the plate of `gough-stewart-flexible`; rigid for none."""
    rigid = fp.load("gough-stewart")
    if modes == 0:
        return rigid
    body = fp.flexible.plate(
        outline=fp.flexible.regular_outline(6, 0.5), thickness=0.015, young=2e10, poisson=0.3, density=7500.0, modes=modes,
        interfaces={leg.name: tuple(leg.closing.on_platform.position) for leg in rigid.legs}, damping=0.4,
    )  # fmt: skip
    return rigid.with_flexible_body("platform", body)


def modes(count: int, effort: Effort) -> dict[str, float]:
    """Direct and inverse dynamics with so many modes of a plate; virtual power of the rigid robot for none."""
    robot = robot_with(count)
    built = time.process_time() - START
    flexible = {"direct": "flexible_forward_dynamics", "inverse": "flexible_inverse_dynamics"}
    rigid = {"direct": "forward_dynamics", "inverse": "virtual_power"}
    return {"built": built} | _kernels(robot, flexible if count else rigid, effort, fp.load("gough-stewart"))


def first_modes(count: int, effort: Effort) -> dict[str, float]:
    """From import to the first accelerations with so many modes of a plate, the static deflection before them included."""
    robot = robot_with(count)
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    fp.forward_dynamics(robot, state, np.zeros(len(robot.actuators)))
    return {"first": time.process_time() - START}


def legs(count: int, effort: Effort) -> dict[str, float]:
    """Virtual power of a platform on so many UPS legs; inverse dynamics from six, where the motion can be chosen."""
    return _legs(count, {"direct": "forward_dynamics"} | ({"inverse": "virtual_power"} if count >= 6 else {}), effort)


def link_legs(count: int, effort: Effort) -> dict[str, float]:
    """The same robot in axes of its links, from six legs."""
    return _legs(count, {"direct": "link_forward_dynamics", "inverse": "link_inverse_dynamics"}, effort)


def _legs(count: int, quantities: dict[str, str], effort: Effort) -> dict[str, float]:
    from ups_robots import ups_robot

    robot = ups_robot(count)
    built = time.process_time() - START
    return {"built": built} | _kernels(robot, quantities, effort, ups_robot(6))


def _kernels(robot: fp.Robot, quantities: dict[str, str], effort: Effort, states: fp.Robot) -> dict[str, float]:
    """Operations, seconds to derive and compile, seconds per sample of kernels."""
    from random_inputs import random_inputs

    found, samples = {}, effort.size(10_000, 64)
    for label, quantity in quantities.items():
        start = time.process_time()
        kernel = fp.kernel(robot, quantity)
        compiled = time.process_time() - start
        given = random_inputs(kernel, samples, states)
        out = kernel.batch(given).outputs
        seconds = effort.best(lambda k=kernel, g=given, o=out: k.batch(g, out=o, threads=1), 1.0) / samples
        found |= {f"{label} operations": kernel.operations.total, f"{label} compiled": compiled, f"{label} sample": seconds}
    return found


def samples(count: int, effort: Effort) -> dict[str, float]:
    """Inverse dynamics of `bench-6ups` at so many samples, in blocks: the kernel alone, and the verb."""
    from random_inputs import random_inputs

    robot = fp.load("bench-6ups")
    kernel, size, blocks = fp.kernel(robot, "minimal_inverse_dynamics"), min(count, BLOCK), -(-count // BLOCK)
    given = random_inputs(kernel, size)
    motion = fp.Motion(time=np.arange(float(size)), **given)
    out = {o.name: np.empty((size, *o.shape)) for o in kernel.signature.outputs}

    def alone() -> None:
        for _ in range(blocks):
            kernel.batch(given, out=out, threads=1)

    def verb() -> None:
        for _ in range(blocks):
            fp.inverse_dynamics(robot, motion)

    if blocks > 1:  # once is long enough, after a first block
        fp.inverse_dynamics(robot, motion)
        kernel.batch(given, out=out, threads=1)
        verb_seconds, alone_seconds = _once(verb), _once(alone)
    else:
        verb_seconds, alone_seconds = effort.best(verb, 0.5), effort.best(alone, 0.5)
    return {"kernel": alone_seconds, "verb": verb_seconds}


def _once(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


CASES = {
    "elements": elements, "leg_elements": leg_elements, "modes": modes, "first_modes": first_modes, "legs": legs,
    "link_legs": link_legs, "samples": samples,
}  # fmt: skip

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("size", type=int)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    result = CASES[options.case](options.size, Effort(quick=options.quick))
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))
