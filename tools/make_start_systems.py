"""Generic start systems of `flexapod.analysis.poses.monodromy`, by monodromy: `python tools/make_start_systems.py [name
...]`.

Each family is searched from one random complex pose with the parameters that fit it; several candidates are made and the one
whose paths to random targets take the fewest steps is kept. Robots without a proven bound are searched and trace-tested by
operation mode. Names are those of families and robots; all of them without a name.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import flexapod
from flexapod.analysis.poses import quaternion_algebra as quat
from flexapod.analysis.poses.monodromy import monodromy
from flexapod.analysis.poses.operation_modes import store
from flexapod.analysis.poses.path_tracking import TrackingControl
from flexapod.analysis.poses.platform_poses import parameters, six_leg_tracker
from flexapod.arrays import Complex

FOLDER = Path(flexapod.__file__).parent / "analysis" / "data"
COUNTS = {"six_legs": 40, "six_three": 16}
CANDIDATES = 8
STORED = (
    "five-bar", "tripteron", "dualemps", "spherical-five-bar", "agile-eye", "3-ups-s", "exechon", "4-ruu", "tricept", "delta",
    "orthoglide", "par4",
)  # fmt: skip
"""Robots of the catalogue without a proven bound: their generic poses and the trace test take seconds to minutes. Flexible ones
with the same joints share them."""


def joints(random: np.random.Generator, family: str) -> tuple[Complex, Complex]:
    """Random complex base and platform points (6, 3), centred."""

    def normal(*shape: int) -> Complex:
        return (random.normal(size=shape) + 1j * random.normal(size=shape)) / np.sqrt(2.0)

    a, b = normal(6, 3), normal(6, 3) if family == "six_legs" else np.repeat(normal(3, 3), 2, axis=0)
    return a - a.mean(axis=0), b - b.mean(axis=0)


def candidate(family: str, seed: int) -> tuple[Complex, Complex]:
    """A start system: parameters (42,) and solutions (n, 8)."""
    random = np.random.default_rng(seed)
    e, position = (random.normal(size=k) + 1j * random.normal(size=k) for k in (4, 3))
    g = quat.product(quat.pure(position), e)
    a, b = joints(random, family)
    D = g + quat.product(np.tile(e, (6, 1)), quat.pure(b)) - quat.product(quat.pure(a), np.tile(e, (6, 1)))
    p = parameters_of(a, b, (D * D).sum(axis=1) / (e * e).sum())

    def member() -> Complex:
        s = random.normal(size=6) + 1j * random.normal(size=6)
        return parameters_of(*joints(random, family), s)

    x, silent = monodromy(six_leg_tracker(), p, np.concatenate([e, g])[None], member, quiet=20)
    print(f"{family}, seed {seed}: {len(x)} solutions, {silent} loops without a new one")
    return p, x


def parameters_of(a: Complex, b: Complex, s: Complex) -> Complex:
    """Parameters (42,) of one member."""
    return parameters(a[None], b[None], s[None])[0]


def steps(family: str, p: Complex, x: Complex) -> float:
    """Mean number of steps to random real platforms."""
    random = np.random.default_rng(1)
    total = 0.0
    for _ in range(30):
        a, b = (points.real * np.sqrt(2.0) for points in joints(random, family))
        target = parameters_of(a, b, random.uniform(0.3, 3.0, 6))
        rows = np.zeros(len(x), dtype=np.int64)
        total += six_leg_tracker().track(x, p[None], target[None], TrackingControl(), rows=rows).steps.mean()
    return total / 30


def main() -> None:
    """Write the families and robots that are named."""
    FOLDER.mkdir(exist_ok=True)
    chosen = sys.argv[1:] or [*COUNTS, *STORED]
    for family, count in COUNTS.items():
        if family not in chosen:
            continue
        made = [candidate(family, seed) for seed in range(CANDIDATES)]
        whole = [(p, x) for p, x in made if len(x) == count]
        p, x = min(whole, key=lambda one: steps(family, *one))
        print(f"{family}: {steps(family, p, x):.1f} steps on average")
        np.savez(FOLDER / f"{family}.npz", p=p, x=x)
    for name in chosen:
        if name not in COUNTS:
            print(f"{name}: {store(flexapod.load(name), FOLDER).name}", flush=True)


if __name__ == "__main__":
    main()
