"""Planar robots for `flexapod new`: 3-RRR, 3-RPR and the five-bar, in the xy plane. Links have x from joint to joint."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.new.file_parts import GRAVITY, Data, Sizes, circles, degrees, disc, legs_around_z, rod, rounded, tube_length

Z = [0.0, 0.0, 1.0]
ALL_ROUND = ["-180 deg", "180 deg"]


def cranks(s: Sizes) -> dict[str, Any]:
    """3-RRR with the elbows on one side."""
    crank, elbow = _two_links("--link", s.arm, s.link, complex(s.platform_radius - s.base_radius))
    joints = {
        "crank": {
            "type": "revolute", "from": "base", "to": "proximal", "at": {"radius": "$base_radius"}, "axis": Z, "actuated": True,
            "start": degrees(crank), "limits": {"stroke": [degrees(crank - np.pi / 3), degrees(crank + np.pi / 3)]},
        },
        "elbow": {
            "type": "revolute", "from": "proximal", "to": "distal", "at": ["$arm", 0.0, 0.0], "axis": Z, "start": degrees(elbow),
        },
        "pin": {
            "type": "revolute", "from": "distal", "to": "platform", "at": ["$link", 0.0, 0.0], "axis": Z,
            "on": {"radius": "$platform_radius"},
        },
    }  # fmt: skip
    bodies = {"proximal": rod(s.arm, s.rod, s.arm / 2, axis=0), "distal": rod(s.link, s.rod, s.link / 2, axis=0)}
    parameters = {**circles(s), "arm": s.arm, "link": s.link}
    return _planar(s, parameters, {"joints": joints, "bodies": bodies})


def extending(s: Sizes) -> dict[str, Any]:
    """3-RPR; the platform's joints are 60 deg ahead of the base's, away from the singular pose of similar triangles."""
    line = s.platform_radius * np.exp(1j * np.pi / 3) - s.base_radius
    length = float(abs(line))
    tube = tube_length(s, length)
    joints = {
        "root": {
            "type": "revolute", "from": "base", "to": "cylinder", "at": {"radius": "$base_radius"}, "axis": Z,
            "start": degrees(float(np.angle(line))),
        },
        "slide": {
            "type": "prismatic", "from": "cylinder", "to": "piston", "axis": [1.0, 0.0, 0.0], "actuated": True, "start": "$leg",
            "limits": {"stroke": ["$leg - 0.5 * $stroke", "$leg + 0.5 * $stroke"]},
        },
        "pin": {
            "type": "revolute", "from": "piston", "to": "platform", "axis": Z,
            "on": {"radius": "$platform_radius", "angle": "60 deg"},
        },
    }  # fmt: skip
    bodies = {"cylinder": rod(tube, 1.5 * s.rod, tube / 2, axis=0), "piston": rod(tube, s.rod, -tube / 2, axis=0)}
    parameters = {**circles(s), "leg": rounded(length), "stroke": s.stroke}
    return _planar(s, parameters, {"joints": joints, "bodies": bodies})


def five_bar(s: Sizes) -> dict[str, Any]:
    """Two cranks, two distal links; the platform is a tool at the end of the left one, parallel to the world at home."""
    crank, elbow = _two_links("--height", s.arm, s.link, complex(s.base_radius, s.height))
    template = {
        "joints": {
            "crank": {
                "type": "revolute",
                "from": "base",
                "to": "proximal",
                "axis": Z,
                "actuated": True,
                "limits": {"stroke": ALL_ROUND},
            },
            "elbow": {"type": "revolute", "from": "proximal", "to": "distal", "at": ["$arm", 0.0, 0.0], "axis": Z},
        },
        "bodies": {"proximal": rod(s.arm, s.rod, s.arm / 2, axis=0), "distal": rod(s.link, s.rod, s.link / 2, axis=0)},
    }
    end = ["$link", 0.0, 0.0]
    left = {
        "crank": {"at": ["-$half_base", 0.0, 0.0], "start": degrees(crank)},
        "elbow": {"start": degrees(elbow)},
        "joints": {
            "tip": {"type": "fixed", "from": "distal", "to": "tool", "at": end, "rotation": {"Z": degrees(-crank - elbow)}}
        },
        "bodies": {"tool": {"mass": s.mass}},
    }
    right = {
        "crank": {"at": ["$half_base", 0.0, 0.0], "start": degrees(np.pi - crank)},
        "elbow": {"start": degrees(-elbow)},
        "joints": {"pin": {"type": "revolute", "from": "distal", "to": "platform", "at": end, "axis": Z}},
    }
    reach = s.arm + s.link
    return {
        "parameters": {"half_base": s.base_radius, "arm": s.arm, "link": s.link, "height": s.height},
        "gravity": [0.0, -9.81, 0.0],
        "plane": "xy",
        "characteristic_length": s.arm,
        "home": {"position": [0.0, "$height", 0.0]},
        "sampling": {"position": [rounded(0.1 * reach), rounded(0.1 * reach), 0.0], "velocity": 0.5, "condition": 500.0},
        "platform": {"body": "left.tool", "points": {"tool": [0.0, 0.0, 0.0]}},
        "legs": {"template": template, "each": {"left": left, "right": right}},
    }


def _two_links(option: str, arm: float, link: float, target: complex) -> tuple[float, float]:
    """Angles [rad] of a crank and of the elbow behind it that reach a point, the elbow outwards (to the left of the line)."""
    distance = abs(target)
    if not abs(arm - link) * 1.02 < distance < 0.98 * (arm + link):
        raise fp.InputError(f"{option}: links of {arm:g} and {link:g} m do not reach {distance:.3g} m with some room left")
    inner = np.arccos((arm**2 + distance**2 - link**2) / (2 * arm * distance))
    bend = np.arccos((arm**2 + link**2 - distance**2) / (2 * arm * link))
    return float(np.angle(target) + inner), float(bend - np.pi)


def _planar(s: Sizes, parameters: Data, template: Data) -> dict[str, Any]:
    size = (
        rounded(0.1 * (s.base_radius - s.platform_radius))
        if s.base_radius > s.platform_radius
        else rounded(0.1 * s.platform_radius)
    )
    return {
        "parameters": parameters,
        "gravity": GRAVITY,
        "plane": "xy",
        "characteristic_length": s.platform_radius,
        "home": {"position": [0.0, 0.0, 0.0]},
        "sampling": {"position": [size, size, 0.0], "rotation": [0.0, 0.0, 0.1], "velocity": 0.5, "condition": 500.0},
        "platform": {**disc(s.mass, s.platform_radius), "points": {"tool": [0.0, 0.0, 0.0]}},
        "legs": {"template": template, "each": legs_around_z(3)},
    }


KINDS = {
    "planar-3-rrr": (
        "Planar 3-RRR", cranks,
        {"base_radius": 0.4, "platform_radius": 0.1, "arm": 0.25, "link": 0.25, "mass": 1.0, "rod": 0.015},
    ),
    "planar-3-rpr": (
        "Planar 3-RPR", extending,
        {"base_radius": 0.6, "platform_radius": 0.2, "stroke": 0.3, "mass": 2.0, "rod": 0.015},
    ),
    "five-bar": (
        "Planar five-bar", five_bar,
        {"base_radius": 0.1, "arm": 0.25, "link": 0.25, "height": 0.35, "mass": 0.2, "rod": 0.015},
    ),
}  # fmt: skip
