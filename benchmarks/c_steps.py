"""One Runge-Kutta 4 step of rigid robots in C: the sources of an FMU and a small driver, compiled with -O2.

Usage: python benchmarks/c_steps.py [robots] [results.json]

Each robot starts at home under the forces that hold it there, `hexaslide` in motion, so that its joints slide.
The time is CPU time per step of one thread, best of many runs.
Nothing of Python or FMI takes part. Every rigid robot is measured.
The aim is 5 us; robots with friction by joint loads iterate it in each of the four stages, robots with loops inside or between
their legs close all loops together there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import flexapod as fp
from flexapod.simulation.stepper import home_start

AIM = 5.0  # us per step
ROBOTS = [n for n in fp.catalogue() if "flexible" not in n and not n.startswith("dualemps")]
FLOATING = "hexapod-floating"
"""Its base falls: a pose of the platform alone is no start."""
MOVING = {"hexaslide": (0.1, 0.2, 0.1)}  # velocity at the start [m/s]
DRIVER = """
#include "core.h"
#include <stdio.h>
#include <time.h>
static Model m;
int main(void)
{
    static const double force[] = {%s};
    double best = 1e9;
    for (int run = 0; run < 20; ++run) {
        model_start(&m);
        for (int k = 0; k < MODEL_INPUTS; ++k) m.input[k] = force[k];
        if (model_settle(&m) != 0) return 1;
        const clock_t begin = clock();
        for (int k = 0; k < 1000; ++k)
            if (model_advance(&m, 1e-4) != 0) return 2;
        const double us = 1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (us < best) best = us;
    }
    printf("%%.3f", best);
    return 0;
}
"""


def per_step(name: str, folder: Path) -> float:
    """Microseconds per step of a robot."""
    robot = fp.load(name)
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation, velocity=MOVING.get(name, (0.0, 0.0, 0.0)))
    if name == FLOATING:
        home = home_start(robot)
    force = np.atleast_2d(fp.inverse_dynamics(robot, home, friction=False).force.values)[0]
    options = {"start": home, "step": 1e-4, "method": "rk4", "watch": False, "binary": False}
    fmu = fp.export_fmu(robot, folder / "robot.fmu", version="2.0", **options)
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    sources = folder / "sources"
    (sources / "driver.c").write_text(DRIVER % ", ".join(repr(float(x)) for x in force))
    files = [p.name for p in sorted(sources.glob("*.c")) if p.name != "fmi2.c"]
    for file in files:  # derivatives take no part, and minutes to optimise
        level = "-O0" if file.startswith("tangent") else "-O2"
        subprocess.run([os.environ.get("CC", "cc"), "-std=c99", level, "-c", file], cwd=sources, check=True)
    objects = [Path(file).with_suffix(".o").name for file in files]
    subprocess.run([os.environ.get("CC", "cc"), *objects, "-o", "driver", "-lm"], cwd=sources, check=True)
    return float(subprocess.run(["./driver"], cwd=sources, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print the figures, and write them where a file is given."""
    found = {}
    for name in [a for a in sys.argv[1:] if a in ROBOTS] or ROBOTS:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = per_step(name, Path(folder))
        print(f"{name:14} {found[name]:8.2f} us per step{'' if found[name] <= AIM else f'   above {AIM:g} us'}", flush=True)
    if sys.argv[-1].endswith(".json"):
        Path(sys.argv[-1]).write_text(json.dumps({"us_per_rk4_step": found}, indent=1))


if __name__ == "__main__":
    main()
