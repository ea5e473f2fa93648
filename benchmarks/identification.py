"""A million samples of a 6-UPS identified on one core: CPU time and memory.

    python benchmarks/identification.py [--quick]

Data are simulated first and not counted; kernels are compiled before.
"""

from __future__ import annotations

import os
import resource
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from reporting import Effort, counted, joined, print_section, shown, table

import flexapod as fp

PERIOD = 50_000
"""Samples of the motion that is repeated."""


def measured(robot: fp.Robot, count: int) -> fp.Measurement:
    """A periodic motion at 1 kHz, forces of the model with 0.2 N of noise."""
    random = np.random.default_rng(3)
    n = len(robot.actuators)
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    t = np.arange(PERIOD) / 1000.0
    w = 2 * np.pi * 0.4 * np.arange(1, 6)
    a, phase = random.normal(size=(n, 5)) * 0.1 / np.sqrt(np.arange(1, 6)), random.uniform(0, 2 * np.pi, (n, 5))
    angle = t[:, None, None] * w + phase
    q, qd, qdd = ((a * x).sum(axis=2) for x in (np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)))
    motion = fp.platform_motion(robot, fp.ActuatorMotion(time=t, position=home + q, velocity=qd, acceleration=qdd))
    force = fp.inverse_dynamics(robot, motion).force.values
    times = -(-count // PERIOD)
    force = np.tile(force, (times, 1))[:count]
    return fp.Measurement(
        time=np.arange(count) / 1000.0,
        position=np.tile(home + q, (times, 1))[:count],
        force=force + 0.2 * random.normal(size=force.shape),
    )


def section(effort: Effort) -> str:
    """Time and memory of `identify`, and how its estimate compares with the true parameters."""
    robot, count = fp.load("bench-6ups"), effort.size(1_000_000, 2000)
    data, base = measured(robot, count), fp.base_parameters(robot)
    fp.identify(robot, measured(robot, effort.size(60_000, 2000)), base=base)  # compiles
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = fp.identify(robot, data, base=base)
    first = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    spent = min(first, effort.best(lambda: fp.identify(robot, data, base=base), 0.0, 1))
    z = np.abs(found.estimate - base.values) / found.sigma
    rows = [
        ("CPU time", shown(spent)),
        ("per sample", shown(spent / count)),
        ("memory beside the data", f"{grown:.0f} MB"),
        ("base parameters", base.rank),
        ("of them within three standard errors", f"{100 * np.mean(z < 3):.1f} %"),
        ("condition of the regressor", f"{found.condition:.3g}"),
    ]
    return joined(HEAD, table([f"{counted(count)} samples", ""], rows))


HEAD = """## Identification of long data

`bench-6ups`, every leg with its own parameters: positions differentiated, poses found, weighted least squares.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
