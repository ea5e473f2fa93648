"""A hexapod as a robot file from a few sizes: extending legs (6-UPS) or legs of constant length on vertical rails (6-PUS).

Joints come in three pairs, 120 deg apart; base pairs and platform pairs are turned by 60 deg against each other. Links are solid
steel rods, the platform is a disc: numbers to start from, meant to be edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import flexapod as fp

KINDS = ("6-ups", "6-pus")
STEEL = 7850.0
"""Density of the legs [kg/m^3]."""

LEGS = "ABCDEF"


@dataclass(frozen=True, kw_only=True)
class HexapodSizes:
    """Sizes of a hexapod.

    Args:
        name: of the robot.
        kind: ``6-ups`` or ``6-pus``.
        base_radius, platform_radius: circles of the joints [m].
        pair: distance between the two joints of a pair on the base, of the radius; the platform's pairs have the same.
        height: of the platform above the base at home (6-UPS) [m].
        link: length of the legs (6-PUS) [m].
        stroke: of the actuators, home in its middle [m].
        mass: of the platform [kg].
        rod: diameter of the legs [m].
        plate: thickness of a flexible steel platform [m]; None: rigid.
    """

    name: str
    kind: str = "6-ups"
    base_radius: float = 0.5
    platform_radius: float = 0.3
    pair: float = 0.4
    height: float = 0.7
    link: float = 0.8
    stroke: float = 0.3
    mass: float = 20.0
    rod: float = 0.03
    plate: float | None = None


def hexapod_document(sizes: HexapodSizes) -> dict[str, Any]:
    """What the robot file says, as plain data.

    Raises:
        InputError: sizes that do not make a robot.
    """
    _check(sizes)
    base, platform = _circle(sizes.base_radius, sizes.pair, 0.0), _circle(sizes.platform_radius, sizes.pair, np.pi / 3)
    platform = np.roll(platform, 1, axis=0)  # neighbours across pairs: leg A from base pair 1 to the platform pair beside it
    make = _ups if sizes.kind == "6-ups" else _pus
    height, template, each = make(sizes, base, platform)
    size = min(sizes.platform_radius, sizes.stroke)
    plate = {"platform": _platform(sizes, platform)}
    return {
        "flexapod": 1,
        "name": sizes.name,
        "title": f"{sizes.kind.upper()} hexapod",
        "source": "made by `flexapod new`; masses from solid steel rods and a disc",
        "gravity": [0.0, 0.0, -9.81],
        "characteristic_length": sizes.platform_radius,
        "home": {"position": [0.0, 0.0, height]},
        "sampling": {"position": [0.2 * size] * 3, "rotation": [0.1] * 3, "velocity": 0.5, "condition": 500.0},
        **plate,
        "legs": {"template": template, "each": each},
    }


def hexapod_text(sizes: HexapodSizes) -> str:
    """The robot file, checked."""
    head = (
        f"# {sizes.kind.upper()} hexapod, made by `flexapod new`. Edit freely: SI units, or text with a unit such as 30 mm.\n"
        "# Leg frames have z along the leg and y along the second universal axis. `flexapod check` tells what is wrong.\n"
    )
    return head + fp.robot_text(fp.description_from_document(hexapod_document(sizes), name=sizes.name))


def _check(s: HexapodSizes) -> None:
    if s.kind not in KINDS:
        raise fp.InputError(f"--kind {s.kind}: expected {' or '.join(KINDS)}")
    for name in ("base_radius", "platform_radius", "height", "link", "stroke", "mass", "rod", "plate"):
        value = getattr(s, name)
        if value is not None and not (np.isfinite(value) and value > 0):
            raise fp.InputError(f"--{name.replace('_', '-')} {value}: expected a number above 0")
    if not 0 < s.pair < 1:
        raise fp.InputError(f"--pair {s.pair}: expected a share of the radius between 0 and 1")


def _circle(radius: float, pair: float, turn: float) -> Any:
    """Six joint centres (6, 3): pairs around turn, turn + 120 deg, turn + 240 deg."""
    half = np.arcsin(pair / 2)
    angles = np.array([turn + k * 2 * np.pi / 3 + sign * half for k in range(3) for sign in (-1, 1)])
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def _platform(s: HexapodSizes, joints: Any) -> dict[str, Any]:
    if s.plate is not None:
        order = np.argsort(np.arctan2(joints[:, 1], joints[:, 0]))
        plate = {
            "type": "plate", "outline": _rounded(joints[order, :2]), "thickness": s.plate, "young": 2.1e11, "poisson": 0.3,
            "density": STEEL, "theory": "mindlin", "modes": 6, "damping": 0.01,
        }  # fmt: skip
        return {"points": {"tool": [0.0, 0.0, 0.0]}, "flexible": plate}
    disc = s.mass * s.platform_radius**2 / 4
    return {"mass": s.mass, "inertia": {"diagonal": _rounded([disc, disc, 2 * disc])}, "points": {"tool": [0.0, 0.0, 0.05]}}


def _rod(length: float, diameter: float, com: float) -> dict[str, Any]:
    """A solid rod along z."""
    mass = STEEL * np.pi * diameter**2 / 4 * length
    across = mass * (3 * diameter**2 / 4 + length**2) / 12
    return {
        "mass": _rounded(mass),
        "com": [0.0, 0.0, _rounded(com)],
        "inertia": {"diagonal": _rounded([across, across, mass * diameter**2 / 8])},
    }


def _axis1(across: Any, up: Any) -> list[float]:
    """First universal axis: horizontal, at right angles to the leg at home."""
    axis = np.cross(up, across)
    return [_rounded(x) for x in axis / np.linalg.norm(axis)]


def _ups(s: HexapodSizes, base: Any, platform: Any) -> tuple[float, dict[str, Any], dict[str, Any]]:
    lines = platform + np.array([0.0, 0.0, s.height]) - base
    length = float(np.linalg.norm(lines[0]))
    if s.stroke >= 2 * length / 3:
        raise fp.InputError(f"--stroke {s.stroke}: a leg of {length:.3g} m at home cannot be that much shorter and longer")
    low, high = length - s.stroke / 2, length + s.stroke / 2
    outer, inner = 0.9 * low, 0.9 * low
    template = {
        "joints": {
            "hip": {"type": "universal", "from": "base", "cross": "cross", "to": "cylinder", "direction": "home"},
            "slide": {
                "type": "prismatic", "from": "cylinder", "to": "piston", "axis": [0.0, 0.0, 1.0], "actuated": True,
                "limits": {"stroke": _rounded([low, high])},
            },
            "ball": {"type": "spherical", "from": "piston", "to": "platform"},
        },
        "bodies": {
            "cross": {},
            "cylinder": _rod(outer, 1.5 * s.rod, outer / 2),
            "piston": _rod(inner, s.rod, -inner / 2),
        },
    }  # fmt: skip
    each = {
        name: {
            "hip": {"at": _rounded(base[k]), "axis1": _axis1(lines[k] * [1, 1, 0], np.array([0.0, 0.0, 1.0]))},
            "ball": {"on": _rounded(platform[k])},
        }
        for k, name in enumerate(LEGS)
    }
    return s.height, template, each


def _pus(s: HexapodSizes, base: Any, platform: Any) -> tuple[float, dict[str, Any], dict[str, Any]]:
    across = float(np.linalg.norm((platform - base)[0]))
    if s.link <= 1.05 * across:
        raise fp.InputError(f"--link {s.link}: the legs must be clearly longer than {across:.3g} m, from rail to platform joint")
    rise = float(np.sqrt(s.link**2 - across**2))
    template = {
        "branch": -1,
        "joints": {
            "rail": {
                "type": "prismatic", "from": "base", "to": "slider", "axis": [0.0, 0.0, 1.0], "actuated": True,
                "limits": {"stroke": _rounded([0.0, s.stroke])},
            },
            "hip": {"type": "universal", "from": "slider", "cross": "cross", "to": "link", "direction": "home"},
            "ball": {"type": "spherical", "from": "link", "at": [0.0, 0.0, _rounded(s.link)], "to": "platform"},
        },
        "bodies": {"slider": {"mass": 2.0}, "cross": {}, "link": _rod(s.link, s.rod, s.link / 2)},
    }  # fmt: skip
    each = {
        name: {
            "rail": {"at": _rounded(base[k])},
            "hip": {"axis1": _axis1((platform - base)[k], np.array([0.0, 0.0, 1.0]))},
            "ball": {"on": _rounded(platform[k])},
        }
        for k, name in enumerate(LEGS)
    }
    return s.stroke / 2 + rise, template, each


def _rounded(value: Any) -> Any:
    """Numbers with twelve digits: short in the file, exact enough for directions."""
    if np.ndim(value) == 0:
        return float(f"{float(value):.12g}") + 0.0
    return [_rounded(x) for x in np.asarray(value)]
