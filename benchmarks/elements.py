"""Growth with the number of beam elements: cold start to a first result, and one evaluation of the equation.

    python benchmarks/elements.py [--most 64]

Each line is a process of its own with an empty kernel cache: DualEMPS with n elements in each of its three flexible links, and
the 6-UPS with a flexible platform and eight spatial elements in each of its legs, from `import flexapod` to the accelerations
under zero forces. Wall time; run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORK = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
start = time.perf_counter()
import numpy as np
import flexapod as fp
robot = fp.load(sys.argv[1])
fp.forward_dynamics(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation), np.zeros(len(robot.actuators)))
first = time.perf_counter() - start
from flexapod.analysis.model.closed_legs import home, evaluate
words, given = np.full(1, "", dtype=object), {**home(robot, 1).inputs(), "wrench": np.zeros((1, 6))}
found = []
for _ in range(20):
    begin = time.perf_counter()
    evaluate(robot, "elastic_terms", given, words, friction=False)
    found.append(time.perf_counter() - begin)
print(json.dumps([len(robot.elastic_plan.columns), first, min(found)]))
"""


def measured(folder: Path, robot: str, old: str, new: str) -> tuple[int, float, float]:
    """Coordinates, seconds to the first result, seconds of one evaluation of mass matrix, forces and closing rows."""
    import flexapod as fp

    path, text = folder / "robot.yaml", fp.catalogue()[robot].read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new))
    with tempfile.TemporaryDirectory() as cache:
        found = subprocess.run([sys.executable, "-c", WORK, str(path)], check=True, capture_output=True, text=True,
                               env={**os.environ, "FLEXAPOD_CACHE": cache})  # fmt: skip
    coordinates, first, once = json.loads(found.stdout)
    return coordinates, first, once


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=64)
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n <= parser.parse_args().most]
    print("| elements per link | coordinates | first result, cold | one evaluation |\n|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in counts:
            rows.append((n, *measured(Path(folder), "dualemps-8", "elements: 8", f"elements: {n}")))
            print(f"| {n} | {rows[-1][1]} | {rows[-1][2]:.1f} s | {1e3 * rows[-1][3]:.2f} ms |", flush=True)
        size, cold, once = measured(Path(folder), "gough-stewart-flexible-legs", "type: beam", "type: beam, elements: 8")
        print(f"| 8 in each of six legs | {size} | {cold:.1f} s | {1e3 * once:.2f} ms |", flush=True)
    n, _, first, each = np.array(rows, dtype=float).T
    for what, values in (("first result", first), ("one evaluation", each)):
        slopes = np.diff(np.log(values)) / np.diff(np.log(n))
        print(f"{what}: exponents " + ", ".join(f"{slope:.2f}" for slope in slopes))


if __name__ == "__main__":
    main()
