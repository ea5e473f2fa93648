"""Parts of the files of `flexapod new`: rods, discs, rounded numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.errors import InputError

STEEL = 7850.0
"""Density of the legs [kg/m^3]."""

GRAVITY = [0.0, 0.0, -9.81]
Sizes = SimpleNamespace
"""Options of a family: a `SimpleNamespace` with the names of its sizes."""
Data = Mapping[str, object]
"""A part of a robot file."""


def rounded(value: ArrayLike) -> Any:
    """Numbers with twelve digits: short in the file, exact enough for directions."""
    given = np.asarray(value, dtype=np.float64)
    if given.ndim == 0:
        return float(f"{float(given):.12g}") + 0.0
    return [rounded(x) for x in given]


def degrees(angle: float) -> str:
    """An angle [rad] as text in degrees."""
    return f"{float(np.degrees(angle)):.12g} deg"


def rod(length: float, diameter: float, com: float, axis: int = 2) -> dict[str, Any]:
    """A solid rod along an axis of its frame, its centre at `com` there."""
    mass = STEEL * np.pi * diameter**2 / 4 * length
    across, along = mass * (3 * diameter**2 / 4 + length**2) / 12, mass * diameter**2 / 8
    place, moments = [0.0] * 3, [across] * 3
    place[axis], moments[axis] = com, along
    return {"mass": rounded(mass), "com": rounded(place), "inertia": {"diagonal": rounded(moments)}}


def tube_length(s: Sizes, length: float) -> float:
    """Length of cylinder and piston of a leg of some length at home, which must not meet the ends."""
    if s.stroke >= 2 * length / 3:
        raise InputError(f"--stroke {s.stroke}: a leg of {length:.3g} m at home cannot be that much shorter and longer")
    return 0.9 * (length - float(s.stroke) / 2)


def disc(mass: float, radius: float) -> dict[str, Any]:
    """A platform: a thin disc with a point for the tool."""
    flat = mass * radius**2 / 4
    return {"mass": mass, "inertia": {"diagonal": rounded([flat, flat, 2 * flat])}, "points": {"tool": [0.0, 0.0, 0.05]}}


def legs_around_z(count: int = 3) -> dict[str, Any]:
    """Legs `1`, `2`, ... that are one leg, rotated about z."""
    return {"1": {}, **{str(k + 1): {"rotated": f"{360 * k // count} deg"} for k in range(1, count)}}


def circles(s: Sizes) -> dict[str, Any]:
    """Radii of the joints' circles, as parameters of the file."""
    return {"base_radius": s.base_radius, "platform_radius": s.platform_radius}
