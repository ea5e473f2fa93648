"""Robots with beams for these tests, their models with multipliers and random closed states."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from multipliers import ClosedState, Multipliers

import flexapod as fp

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
SIZES = {"u": 1e-6, "v": 1e-3, "w": 1e-3, "theta": 3e-3, "thx": 3e-3, "thy": 3e-3, "thz": 3e-3}
"""Elastic coordinates of random states [m, rad]: bending as a robot at work shows it, stretching a thousandth of it."""

RATE = 30.0
"""Elastic rates per elastic coordinate [1/s]."""

STEP = np.repeat([0.05, 0.1], 3)
"""Platform displacement from home [m, rad] to which the actuators of random states belong."""


REDUCED = 3
"""Modes of a reduced beam."""

MODES = 4
"""Modes of a flexible platform that are kept."""


@cache
def robot(name: str) -> fp.Robot:
    """A robot file by name; `name+platform` has a flexible platform with generic modes besides, `name+modes` reduced beams."""
    if name.endswith("+modes"):
        text = (DATA / f"{name.removesuffix('+modes')}.yaml").read_text(encoding="utf-8")
        path = Path(mkdtemp()) / f"{name}.yaml"
        path.write_text(
            text.replace("stiffening: false,", f"stiffening: false, elements: 4, modes: {REDUCED},"), encoding="utf-8"
        )
        return fp.load(path)
    file = DATA / f"{name.removesuffix('+platform')}.yaml"
    found = fp.load(file if file.exists() else name.removesuffix("+platform"))
    if not name.endswith("+platform"):
        return found
    path = DATA.parent / "flexible" / "gough-stewart-modes-generic.npz"
    with np.load(path) as modes:
        at = modes["attach_r"]
    found = found.with_parameters({f"legs.{leg.name}.ball.on": at[i].tolist() for i, leg in enumerate(found.legs)})
    return found.with_flexible_body("platform", fp.flexible.from_modes(path).truncated(MODES))


@cache
def model(name: str) -> Multipliers:
    return Multipliers(robot(name))


def sizes(name: str) -> np.ndarray:
    return np.array([SIZES.get(n.split(".")[-1], 1e-3) for n in robot(name).elastic_names])


@cache
def random_state(name: str, seed: int) -> tuple[ClosedState, np.ndarray]:
    """A closed state away from home and wanted actuator accelerations."""
    random, m = np.random.default_rng(seed), model(name)
    size, n = sizes(name), len(m.driven)
    steps, elastic = m.actuator_steps(random.uniform(-1, 1, 6) * STEP), random.uniform(-1, 1, len(size)) * size
    rates, elastic_rates = random.uniform(-0.5, 0.5, n), random.uniform(-1, 1, len(size)) * size * RATE
    return m.closed_state(steps, elastic, rates, elastic_rates, size), random.uniform(-2, 2, n)
