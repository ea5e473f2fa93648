"""One Runge-Kutta 4 step of rigid robots in C: the sources of an FMU and a small driver.

    python benchmarks/c_steps.py [--quick] [--all]

--all measures every rigid robot of the catalogue, which takes several minutes.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from reporting import Effort, joined, print_section, table

import flexapod as fp
from flexapod.simulation.stepper import home_start

AIM = 5.0  # us per step
ROBOTS = (
    "planar-3-rpr", "five-bar", "bench-6ups", "stewart-3-3", "hexaglide", "3-rps", "gough-stewart", "agile-eye", "tripteron",
    "delta", "hexa", "3-rsr", "hexaslide", "delta-parallelograms", "orthoglide", "h4", "par4",
    "hexapod-floating",
)  # fmt: skip
"""Robots of the page: planar and spatial, closed forms and general legs, friction by joint loads, loops inside legs and between
them, a base that floats."""
EVERY = [n for n in fp.catalogue() if "flexible" not in n and not n.startswith("dualemps")]
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
    force = np.zeros(len(robot.actuators))
    if name != FLOATING:  # which falls: no forces hold it
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


def section(effort: Effort) -> str:
    """Table of microseconds per step, shortest first."""
    found = {}
    for name in EVERY if effort.everything else ROBOTS[: effort.size(len(ROBOTS), 1)]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found[name] = per_step(name, Path(folder))
            except FileNotFoundError:
                return joined(HEAD, "There is no C compiler here: nothing was measured.")
    rows = sorted(found.items(), key=lambda row: row[1])
    above = ", ".join(f"`{name}`" for name, us in rows if us > AIM) or "none"
    return joined(
        HEAD, table(["robot", "us per step"], [(f"`{name}`", f"{us:.3g}") for name, us in rows]), f"Above {AIM:g} us: {above}."
    )


HEAD = f"""## Steps in C

One Runge-Kutta 4 step of the FMU's sources in a small C driver, cc -O2, best of 20 times 1000 steps; neither Python nor FMI
takes part. Each robot starts at home under the forces that hold it there, `hexaslide` in motion, so that its joints slide.
The aim is {AIM:g} us. `hexaslide`, whose friction depends on the joint loads, solves for it in every stage, from the loads of the
stages before; robots with loops inside or between their legs close all of them together there, predicted from the stage before.
Rods between a universal joint and a ball (`delta-parallelograms`, `h4`, `par4`) are masses at their ends and a distance.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
