"""Robots of three legs for `flexapod new`: 3-RPS, 3-PRS, and the Tricept with its passive centre leg.

Legs are one leg, rotated by 120 deg. Cylinders, pistons and rods have z along the leg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.new.file_parts import GRAVITY, Data, Sizes, circles, degrees, disc, legs_around_z, rod, rounded, tube_length


def extending(s: Sizes) -> dict[str, Any]:
    """3-RPS."""
    inwards = s.base_radius - s.platform_radius
    length, lean = float(np.hypot(inwards, s.height)), float(np.arctan2(inwards, s.height))
    tube = tube_length(s, length)
    joints = {
        "hinge": {
            "type": "revolute", "from": "base", "to": "cylinder", "at": {"radius": "$base_radius"}, "axis": [0.0, 1.0, 0.0],
            "start": degrees(-lean),
        },
        "slide": {
            "type": "prismatic", "from": "cylinder", "to": "piston", "axis": [0.0, 0.0, 1.0], "actuated": True, "start": "$leg",
            "limits": {"stroke": ["$leg - 0.5 * $stroke", "$leg + 0.5 * $stroke"]},
        },
        "ball": {"type": "spherical", "from": "piston", "to": "platform", "on": {"radius": "$platform_radius"}},
    }  # fmt: skip
    bodies = {"cylinder": rod(tube, 1.5 * s.rod, tube / 2), "piston": rod(tube, s.rod, -tube / 2)}
    parameters = {**circles(s), "height": s.height, "leg": rounded(length), "stroke": s.stroke}
    return _tripod(s, parameters, "$height", {"joints": joints, "bodies": bodies})


def sliding(s: Sizes) -> dict[str, Any]:
    """3-PRS with vertical rails, the platform below the sliders."""
    inwards = s.base_radius - s.platform_radius
    if s.link <= 1.05 * abs(inwards):
        raise fp.InputError(
            f"--link {s.link}: the rods must be clearly longer than {abs(inwards):.3g} m, from rail to platform joint"
        )
    fall = float(np.sqrt(s.link**2 - inwards**2))
    joints = {
        "rail": {
            "type": "prismatic", "from": "base", "to": "slider", "at": {"radius": "$base_radius"}, "axis": [0.0, 0.0, 1.0],
            "actuated": True, "limits": {"stroke": ["-0.5 * $stroke", "0.5 * $stroke"]},
        },
        "hinge": {
            "type": "revolute", "from": "slider", "to": "rod", "axis": [0.0, 1.0, 0.0],
            "start": degrees(-np.pi + np.arctan2(inwards, fall)),
        },
        "ball": {
            "type": "spherical", "from": "rod", "to": "platform", "at": [0.0, 0.0, "$link"], "on": {"radius": "$platform_radius"},
        },
    }  # fmt: skip
    bodies = {"slider": {"mass": 2.0}, "rod": rod(s.link, s.rod, s.link / 2)}
    parameters = {**circles(s), "link": s.link, "stroke": s.stroke, "height": rounded(fall)}
    return _tripod(s, parameters, "-$height", {"joints": joints, "bodies": bodies})


def tricept(s: Sizes) -> dict[str, Any]:
    """Three U-P-S legs and a passive U-P leg fixed to the platform; it hangs from its base."""
    length = float(np.hypot(s.base_radius - s.platform_radius, s.height))
    tube, ram = tube_length(s, length), 0.4 * s.height
    joints = {
        "hip": {
            "type": "universal", "from": "base", "cross": "cross", "to": "cylinder", "at": {"radius": "$base_radius"},
            "axis1": [0.0, 1.0, 0.0], "direction": "home",
        },
        "slide": {
            "type": "prismatic", "from": "cylinder", "to": "piston", "axis": [0.0, 0.0, 1.0], "actuated": True,
            "limits": {"stroke": ["$leg - 0.5 * $stroke", "$leg + 0.5 * $stroke"]},
        },
        "ball": {"type": "spherical", "from": "piston", "to": "platform", "on": {"radius": "$platform_radius"}},
    }  # fmt: skip
    first = {
        "joints": joints,
        "bodies": {"cross": {}, "cylinder": rod(tube, 1.5 * s.rod, tube / 2), "piston": rod(tube, s.rod, -tube / 2)},
    }
    centre = {
        "joints": {
            "pivot": {
                "type": "universal",
                "from": "base",
                "cross": "gimbal",
                "to": "tube",
                "axis1": [1.0, 0.0, 0.0],
                "axis2": [0.0, 1.0, 0.0],
            },
            "guide": {"type": "prismatic", "from": "tube", "to": "ram", "axis": [0.0, 0.0, -1.0], "start": "$height - $ram"},
            "flange": {"type": "fixed", "from": "ram", "to": "platform", "at": [0.0, 0.0, "-$ram"]},
        },
        "bodies": {"gimbal": {"mass": 1.0}, "tube": rod(ram, 3 * s.rod, -ram / 2), "ram": rod(ram, 2 * s.rod, -ram / 2)},
    }  # fmt: skip
    parameters = {**circles(s), "height": s.height, "leg": rounded(length), "stroke": s.stroke, "ram": rounded(ram)}
    made = _tripod(s, parameters, "-$height", {})
    copies = {name: {"copy": "A", "rotated": angle} for name, angle in (("B", "120 deg"), ("C", "240 deg"))}
    made["legs"] = {"each": {"A": first, **copies, "centre": centre}}
    return made


def _tripod(s: Sizes, parameters: Data, height: str, template: Data) -> dict[str, Any]:
    return {
        "parameters": parameters,
        "gravity": GRAVITY,
        "characteristic_length": s.platform_radius,
        "home": {"position": [0.0, 0.0, height]},
        "sampling": {
            "position": [0.0, 0.0, rounded(0.2 * s.stroke)],
            "rotation": [0.1, 0.1, 0.0],
            "velocity": 0.5,
            "condition": 500.0,
        },
        "platform": disc(s.mass, s.platform_radius),
        "legs": {"template": template, "each": legs_around_z(3)},
    }


KINDS = {
    "3-rps": (
        "3-RPS, heave and two tilts", extending,
        {"base_radius": 0.3, "platform_radius": 0.2, "height": 0.6, "stroke": 0.25, "mass": 5.0, "rod": 0.02},
    ),
    "3-prs": (
        "3-PRS with vertical rails, heave and two tilts", sliding,
        {"base_radius": 0.35, "platform_radius": 0.25, "link": 0.6, "stroke": 0.4, "mass": 10.0, "rod": 0.02},
    ),
    "tricept": (
        "Tricept, three U-P-S legs and a passive centre leg", tricept,
        {"base_radius": 0.55, "platform_radius": 0.22, "height": 1.0, "stroke": 0.5, "mass": 25.0, "rod": 0.04},
    ),
}  # fmt: skip
