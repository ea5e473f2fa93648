"""Robots written by a function: n UPS legs between two circles, also with bodies, points and gravity that lie in no plane."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp

JOINTS = {
    "hip": {"type": "universal", "from": "base", "cross": "cross", "to": "cylinder", "direction": "home"},
    "slide": {
        "type": "prismatic", "from": "cylinder", "to": "piston", "axis": [0, 0, 1], "actuated": True,
        "limits": {"stroke": [1, 10]},
    },
    "ball": {"type": "spherical", "from": "piston", "to": "platform"},
}  # fmt: skip
SAMPLING = {
    "position": [0.3, 0.3, 0.3], "rotation": ["10 deg", "10 deg", "10 deg"], "velocity": 1, "angular_velocity": 1,
    "acceleration": 5, "angular_acceleration": 5, "condition": 1000,
}  # fmt: skip


def ups_robot(legs: int, *, general: bool = False) -> fp.Robot:
    """A platform on UPS legs between circles of 2.5 m and 1.5 m, redundantly driven beyond six.

    Args:
        legs: three or more; no two of them are in line or parallel.
        general: centres of mass, tensors, points, first axes of the hips and gravity have no component that is zero.
    """
    random = np.random.default_rng(7)

    def vector(*values: float) -> list[float]:
        return [float(v + general * random.uniform(0.02, 0.05)) for v in values]

    def body(mass: float, com: list[float], moment: float) -> dict[str, Any]:
        tensor: dict[str, Any] = {"diagonal": [moment, moment, 1.3 * moment]}
        if general:
            names = ("xx", "yy", "zz", "xy", "xz", "yz")
            tensor = {k: moment * f for k, f in zip(names, (1, 1.1, 1.3, 0.1, 0.07, 0.05), strict=True)}
        return {"mass": mass, "com": com, "inertia": tensor}

    def leg(k: int) -> dict[str, Any]:
        base, plate = 2 * np.pi * (k + 0.3 * (k % 2)) / legs, 2 * np.pi * (k + 0.6 - 0.25 * (k % 2)) / legs
        at, on = (r * np.array([np.cos(angle), np.sin(angle), 0.0]) for r, angle in ((2.5, base), (1.5, plate)))
        axis = [float(np.sin(base)), -float(np.cos(base)), 0.2 * general]
        return {"hip": {"at": vector(*at), "axis1": axis}, "ball": {"on": vector(*on)}}

    bodies = {
        "cross": body(1.5, vector(0, 0, 0), 0.1),
        "cylinder": body(15, vector(0, 0, 0.75), 7.5),
        "piston": body(10, vector(0, 0, -1.5), 7.5),
    }
    name = f"ups-{legs}" + "-general" * general
    file = {
        "flexapod": 1, "name": name, "source": "benchmarks/ups_robots.py", "home": {"position": [0, 0, 4.3]},
        "sampling": SAMPLING, "gravity": [0.4, -0.3, -9.79] if general else [0, 0, -9.81],
        "platform": body(50, vector(0, 0, 0), 40),
        "legs": {"template": {"joints": JOINTS, "bodies": bodies}, "each": {f"L{k + 1}": leg(k) for k in range(legs)}},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(json.dumps(file), encoding="utf-8")
        return fp.load(path)
