"""A million samples of a 6-UPS identified on one core: CPU time by part and memory.

Run: python benchmarks/identification.py [samples]. Data are simulated first and not counted; kernels are compiled before.
"""

from __future__ import annotations

import os
import resource
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

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


def main() -> None:
    """Print the figures."""
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    robot = fp.load("bench-6ups")
    data, base = measured(robot, count), fp.base_parameters(robot)
    fp.identify(robot, measured(robot, 60_000), base=base)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    found = fp.identify(robot, data, base=base)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    z = np.abs(found.estimate - base.values) / found.sigma
    print(f"{count} samples, {base.rank} base parameters: CPU {cpu:.2f} s, wall {wall:.2f} s, memory +{grown:.0f} MB")
    print(f"{100 * np.mean(z < 3):.1f} % within three standard errors, condition {found.condition:.3g}")


if __name__ == "__main__":
    main()
