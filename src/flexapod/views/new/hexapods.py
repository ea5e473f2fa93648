"""Hexapods for `flexapod new`: legs that extend (6-UPS), slide on vertical rails (6-PUS) or hang from cranks (6-RUS).

Joints come in three pairs, 120 deg apart; base pairs and platform pairs are turned by 60 deg against each other. Leg A belongs to
the first pair, B is its mirror image; the others are those two, rotated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.new.file_parts import GRAVITY, STEEL, Data, Sizes, degrees, disc, rod, rounded, tube_length

PAIRS = {
    "B": {"copy": "A", "mirrored": "xz"},
    **{name: {"copy": of, "rotated": f"{angle} deg"} for name, of, angle in
       (("C", "A", 120), ("D", "B", 120), ("E", "A", 240), ("F", "B", 240))},
}  # fmt: skip
"""Legs B to F, from A."""


def extending(s: Sizes) -> dict[str, Any]:
    """6-UPS."""
    line = _line(s) + np.array([0.0, 0.0, s.height])
    length = float(np.linalg.norm(line))
    tube = tube_length(s, length)
    joints = {
        "hip": {"type": "universal", "from": "base", "cross": "cross", "to": "cylinder", "direction": "home"},
        "slide": {
            "type": "prismatic", "from": "cylinder", "to": "piston", "axis": [0.0, 0.0, 1.0], "actuated": True,
            "limits": {"stroke": ["$leg - 0.5 * $stroke", "$leg + 0.5 * $stroke"]},
        },
        "ball": {"type": "spherical", "from": "piston", "to": "platform"},
    }  # fmt: skip
    bodies = {"cross": {}, "cylinder": rod(tube, 1.5 * s.rod, tube / 2), "piston": rod(tube, s.rod, -tube / 2)}
    own = {"hip": {"at": _BASE, "axis1": _across(line)}, "ball": {"on": _TOP}}
    parameters = {**_circles(s), "height": s.height, "leg": rounded(length), "stroke": s.stroke}
    return _hexapod(s, parameters, "$height", {"joints": joints, "bodies": bodies}, own)


def sliding(s: Sizes) -> dict[str, Any]:
    """6-PUS: the sliders stay below the platform."""
    line = _line(s)
    across = float(np.linalg.norm(line))
    if s.link <= 1.05 * across:
        raise fp.InputError(f"--link {s.link}: the legs must be clearly longer than {across:.3g} m, from rail to platform joint")
    joints = {
        "rail": {
            "type": "prismatic", "from": "base", "to": "slider", "axis": [0.0, 0.0, 1.0], "actuated": True,
            "limits": {"stroke": [0.0, "$stroke"]},
        },
        "hip": {"type": "universal", "from": "slider", "cross": "cross", "to": "link", "direction": "home"},
        "ball": {"type": "spherical", "from": "link", "at": [0.0, 0.0, "$link"], "to": "platform"},
    }  # fmt: skip
    bodies = {"slider": {"mass": 2.0}, "cross": {}, "link": rod(s.link, s.rod, s.link / 2)}
    own = {"rail": {"at": _BASE}, "hip": {"axis1": _across(line)}, "ball": {"on": _TOP}}
    rise = rounded(np.sqrt(s.link**2 - across**2))
    parameters = {**_circles(s), "link": s.link, "stroke": s.stroke, "rise": rise}
    return _hexapod(s, parameters, "0.5 * $stroke + $rise", {"branch": -1, "joints": joints, "bodies": bodies}, own)


def hanging(s: Sizes) -> dict[str, Any]:
    """6-RUS: cranks horizontal at home, pointing outwards, the platform below."""
    line = _line(s) - np.array([s.arm, 0.0, 0.0])
    across = float(np.linalg.norm(line))
    if s.link <= 1.05 * across:
        raise fp.InputError(f"--link {s.link}: the rods must be clearly longer than {across:.3g} m, from crank to platform joint")
    joints = {
        "shoulder": {
            "type": "revolute", "from": "base", "to": "arm", "axis": [0.0, 1.0, 0.0], "actuated": True,
            "limits": {"stroke": ["-60 deg", "60 deg"]},
        },
        "elbow": {
            "type": "universal", "from": "arm", "cross": "cross", "to": "rod", "at": ["$arm", 0.0, 0.0],
            "axis1": [0.0, 1.0, 0.0], "direction": "home",
        },
        "ball": {"type": "spherical", "from": "rod", "to": "platform", "at": [0.0, 0.0, "$link"]},
    }  # fmt: skip
    bodies = {"arm": rod(s.arm, 1.5 * s.rod, s.arm / 2, axis=0), "cross": {}, "rod": rod(s.link, s.rod, s.link / 2)}
    own = {"shoulder": {"at": _BASE}, "ball": {"on": _TOP}}
    parameters = {**_circles(s), "arm": s.arm, "link": s.link, "height": rounded(np.sqrt(s.link**2 - across**2))}
    return _hexapod(s, parameters, "-$height", {"branch": -1, "joints": joints, "bodies": bodies}, own)


_BASE = {"radius": "$base_radius", "angle": "-$pair_angle"}
_TOP = {"radius": "$platform_radius", "angle": "$pair_angle - 60 deg"}


def _circles(s: Sizes) -> dict[str, Any]:
    return {"base_radius": s.base_radius, "platform_radius": s.platform_radius, "pair_angle": degrees(_half(s))}


def _half(s: Sizes) -> float:
    """Half the angle between the joints of a pair [rad]."""
    return float(np.arcsin(s.pair / 2))


def _line(s: Sizes) -> Any:
    """Vector of leg A from the base joint to the platform joint, in the plane of the base (3,)."""
    half = _half(s)
    base, top = s.base_radius * np.exp(-1j * half), s.platform_radius * np.exp(1j * (half - np.pi / 3))
    return np.array([(top - base).real, (top - base).imag, 0.0])


def _across(line: Array) -> dict[str, str]:
    """First universal axis: horizontal, at right angles to the leg at home."""
    return {"azimuth": degrees(float(np.arctan2(line[0], -line[1])))}


def _hexapod(s: Sizes, parameters: Data, height: str, template: Data, own: Data) -> dict[str, Any]:
    size = min(s.platform_radius, s.stroke or 0.5 * s.arm)
    return {
        "parameters": parameters,
        "gravity": GRAVITY,
        "characteristic_length": s.platform_radius,
        "home": {"position": [0.0, 0.0, height]},
        "sampling": {"position": [rounded(0.2 * size)] * 3, "rotation": [0.1] * 3, "velocity": 0.5, "condition": 500.0},
        "platform": _platform(s),
        "legs": {"template": template, "each": {"A": own, **PAIRS}},
    }


def _platform(s: Sizes) -> dict[str, Any]:
    if s.plate is None:
        return disc(s.mass, s.platform_radius)
    half = _half(s)
    angles = [np.pi / 3 + k * 2 * np.pi / 3 + sign * half for k in range(3) for sign in (-1, 1)]
    outline = [[s.platform_radius * np.cos(a), s.platform_radius * np.sin(a)] for a in angles]
    plate = {
        "type": "plate", "outline": rounded(outline), "thickness": s.plate, "young": 2.1e11, "poisson": 0.3,
        "density": STEEL, "theory": "mindlin", "modes": 6, "damping": 0.01,
    }  # fmt: skip
    return {"points": {"tool": [0.0, 0.0, 0.0]}, "flexible": plate}


_COMMON = {"base_radius": 0.5, "platform_radius": 0.3, "pair": 0.4, "stroke": 0.3, "mass": 20.0, "rod": 0.03}
KINDS = {
    "6-ups": ("6-UPS hexapod", extending, {**_COMMON, "height": 0.7}),
    "6-pus": ("6-PUS hexapod", sliding, {**_COMMON, "link": 0.8}),
    "6-rus": (
        "6-RUS hexapod", hanging,
        {"base_radius": 0.25, "platform_radius": 0.12, "pair": 0.4, "arm": 0.2, "link": 0.55, "mass": 3.0, "rod": 0.01},
    ),
}  # fmt: skip
