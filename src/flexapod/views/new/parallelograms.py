"""Robots with parallelograms for `flexapod new`: Delta, Par4, Orthoglide.

A forearm is two rods side by side. Rods of Delta and Par4 have universal joints at the arm and ball joints at the far end, and z
along the rod; bars of the Orthoglide have four parallel hinges, x along the bar.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.new.file_parts import GRAVITY, Data, Sizes, degrees, disc, legs_around_z, rod, rounded


def delta(s: Sizes) -> dict[str, Any]:
    """Clavel's Delta: three arms, each with two rods to the platform."""
    _arm_angle(s, s.platform_radius)
    joints: dict[str, Any] = {"shoulder": _shoulder()}
    bodies: dict[str, Any] = {"arm": rod(s.arm, 2 * s.rod, s.arm / 2, 0)}
    for i, side in enumerate((0.5, -0.5)):
        number, across = str(i + 1), f"{side} * $spacing"
        joints[f"elbow{number}"] = {
            "type": "universal", "from": "arm", "to": f"rod{number}", "at": ["$arm", across, 0.0],
            "axis1": [0.0, 1.0, 0.0], "direction": "home",
        }  # fmt: skip
        joints[f"wrist{number}"] = {
            "type": "spherical", "from": f"rod{number}", "to": "platform", "at": [0.0, 0.0, "$link"],
            "on": ["$platform_radius", across, 0.0],
        }  # fmt: skip
        bodies[f"rod{number}"] = rod(s.link, s.rod, s.link / 2)
    return _document(s, {"branch": -1, "joints": joints, "bodies": bodies}, legs_around_z(3))


def par4(s: Sizes) -> dict[str, Any]:
    """Par4: four arms with two rods each; two halves of the platform, which bars join to a parallelogram. The tool's bar is the
    platform: three translations and a rotation about z."""
    angle, direction = _arm_angle(s, s.platform_radius)
    each: dict[str, Any] = {}
    for half, sign, seconds in (("A", 1.0, ("1", "2")), ("B", -1.0, ("3", "4"))):
        y = total(bar=0.5 * sign)
        joints: dict[str, Any] = {
            "float": {"type": "free", "from": "base", "to": "half", "at": [0.0, y, "-$height"]},
            "hinge": {"type": "revolute", "from": "half", "to": "platform", "on": [0.0, y, 0.0], "axis": [0.0, 0.0, 1.0]},
        }
        bodies: dict[str, Any] = {"half": disc(s.mass / 4, s.platform_radius / 2) | {"points": {}}}
        if half == "A":
            joints["pin"] = {
                "type": "revolute",
                "from": "half",
                "to": "bar",
                "at": ["0.5 * $bar", 0.0, 0.0],
                "axis": [0.0, 0.0, 1.0],
            }
            joints["pin2"] = {
                "type": "revolute", "from": "bar", "to": "halfB.half", "at": [0.0, "-$bar", 0.0], "on": ["0.5 * $bar", 0.0, 0.0],
                "axis": [0.0, 0.0, 1.0],
            }  # fmt: skip
            bodies["bar"] = rod(2 * s.platform_radius, s.rod, -s.platform_radius, 1)
        each[f"half{half}"] = {"joints": joints, "bodies": bodies}
        for name in seconds:
            azimuth = np.radians(45.0 + 90.0 * (int(name) - 1))
            each[f"leg{name}"] = _chain(s, azimuth, half, sign, angle, direction)
    made = _document(s, {}, {})
    made["parameters"]["bar"] = rounded(2 * s.platform_radius)
    made["sampling"] |= {"rotation": [0.0, 0.0, 0.3], "angular_velocity": 1.0}
    made["legs"] = {"each": each}
    made["platform"] = rod(2 * s.platform_radius, 2 * s.rod, 0.0, 1) | {"points": {"tool": [0.0, 0.0, -0.05]}}
    return made


def _chain(s: Sizes, azimuth: float, half: str, sign: float, angle: float, direction: list[float]) -> dict[str, Any]:
    """An arm of the Par4 with its two rods, whose balls are on a half of the platform."""
    joints: dict[str, Any] = {"shoulder": _shoulder() | {"start": degrees(angle)}}
    bodies: dict[str, Any] = {"arm": rod(s.arm, 2 * s.rod, s.arm / 2, 0)}
    out, along = np.array([np.cos(azimuth), np.sin(azimuth)]), np.array([-np.sin(azimuth), np.cos(azimuth)])
    for number, side in (("1", 0.5), ("2", -0.5)):
        joints[f"elbow{number}"] = {
            "type": "universal", "from": "arm", "to": f"rod{number}", "at": ["$arm", f"{side} * $spacing", 0.0],
            "axis1": [0.0, 1.0, 0.0], "direction": direction,
        }  # fmt: skip
        x = total(platform_radius=out[0], spacing=side * along[0])
        y = total(platform_radius=out[1], spacing=side * along[1], bar=-0.5 * sign)
        joints[f"wrist{number}"] = {
            "type": "spherical", "from": f"rod{number}", "to": f"half{half}.half", "at": [0.0, 0.0, "$link"],
            "on": [x, y, 0.0],
        }  # fmt: skip
        bodies[f"rod{number}"] = rod(s.link, s.rod, s.link / 2)
    return {"frame": {"rotation": {"Z": degrees(azimuth)}}, "joints": joints, "bodies": bodies}


def orthoglide(s: Sizes) -> dict[str, Any]:
    """Orthoglide: three rails at right angles, each with a parallelogram between two hinges; translations only."""
    hinge = {"type": "revolute", "axis": [0.0, 1.0, 0.0]}
    corner = {"type": "revolute", "axis": [0.0, 0.0, 1.0]}
    joints = {
        "rail": {
            "type": "prismatic", "from": "base", "to": "slider", "at": ["-$link", 0.0, 0.0], "axis": [1.0, 0.0, 0.0],
            "actuated": True, "limits": {"stroke": ["-0.5 * $stroke", "0.5 * $stroke"]},
        },
        "foot": {**hinge, "from": "slider", "to": "bracket"},
        "root1": {**corner, "from": "bracket", "to": "bar1", "at": [0.0, "0.5 * $spacing", 0.0]},
        "root2": {**corner, "from": "bracket", "to": "bar2", "at": [0.0, "-0.5 * $spacing", 0.0]},
        "tip1": {**corner, "from": "bar1", "to": "head", "at": ["$link", 0.0, 0.0]},
        "tip2": {**corner, "from": "bar2", "to": "head", "at": ["$link", 0.0, 0.0], "on": [0.0, "-$spacing", 0.0]},
        "wrist": {**hinge, "from": "head", "to": "platform", "at": [0.0, "-0.5 * $spacing", 0.0]},
    }  # fmt: skip
    bodies = {
        "slider": {"mass": 1.0}, "bracket": rod(2 * s.rod, s.rod, 0.0, 1), "bar1": rod(s.link, s.rod, s.link / 2, 0),
        "bar2": rod(s.link, s.rod, s.link / 2, 0), "head": rod(2 * s.rod, s.rod, -s.rod, 1),
    }  # fmt: skip
    first, second = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    each: dict[str, Any] = {"x": {}}
    for name, matrix in (("y", first), ("z", second)):
        each[name] = {key: {"rotation": {"matrix": matrix}} for key in ("frame", "platform_frame")}
    reach = rounded(0.3 * s.stroke)
    return {
        "parameters": {"link": s.link, "spacing": rounded(6 * s.rod), "stroke": s.stroke},
        "gravity": GRAVITY,
        "characteristic_length": s.link,
        "home": {"position": [0.0, 0.0, 0.0]},
        "sampling": _translations([reach] * 3),
        "platform": disc(s.mass, 2 * s.rod),
        "legs": {"template": {"joints": joints, "bodies": bodies}, "each": each},
    }


def total(**factors: float) -> str:
    """A sum of parameters with factors, as the robot file writes it."""
    text = "".join(f" {'-' if factor < 0 else '+'} {rounded(abs(factor))} * ${name}" for name, factor in factors.items())
    return text[3:] if text.startswith(" +") else f"-{text[3:]}"


def _shoulder() -> dict[str, Any]:
    return {
        "type": "revolute", "from": "base", "to": "arm", "at": ["$base_radius", 0.0, 0.0], "axis": [0.0, 1.0, 0.0],
        "actuated": True, "limits": {"stroke": ["-60 deg", "100 deg"]},
    }  # fmt: skip


def _arm_angle(s: Sizes, end: float) -> tuple[float, list[float]]:
    """Angle of an arm at home, elbow outwards, and the direction of its rods seen from it."""
    x, z = end - s.base_radius, -s.height
    reach, cosine = float(np.hypot(x, z)), float((x**2 + z**2 + s.arm**2 - s.link**2) / (2 * s.arm))
    if abs(cosine) >= reach:
        raise fp.InputError(
            f"--link {s.link}: arms of {s.arm:.3g} m and such rods do not reach {reach:.3g} m, shoulder to platform"
        )
    angle = float(np.arctan2(-z, x) - np.arccos(cosine / reach))
    rod_x, rod_z = x - s.arm * np.cos(angle), z + s.arm * np.sin(angle)
    c, sine = np.cos(angle), np.sin(angle)
    return angle, rounded([(c * rod_x - sine * rod_z) / s.link, 0.0, (sine * rod_x + c * rod_z) / s.link])


def _document(s: Sizes, template: Data, each: Data) -> dict[str, Any]:
    names = ("base_radius", "platform_radius", "arm", "link", "height")
    return {
        "parameters": {name: getattr(s, name) for name in names} | {"spacing": rounded(8 * s.rod)},
        "gravity": GRAVITY,
        "characteristic_length": s.arm,
        "home": {"position": [0.0, 0.0, "-$height"]},
        "sampling": _translations(rounded([0.3 * s.arm, 0.3 * s.arm, 0.2 * s.arm])),
        "platform": disc(s.mass, s.platform_radius),
        "legs": {"template": template, "each": each},
    }


def _translations(box: list[float]) -> dict[str, Any]:
    return {
        "position": box, "velocity": 1.0, "angular_velocity": 0.0, "acceleration": 10.0, "angular_acceleration": 0.0,
        "condition": 200.0,
    }  # fmt: skip


KINDS = {
    "delta": (
        "Delta with parallelograms, three translations", delta,
        {"base_radius": 0.2, "platform_radius": 0.05, "arm": 0.3, "link": 0.8, "height": 0.75, "mass": 0.8, "rod": 0.01},
    ),
    "par4": (
        "Par4, three translations and a rotation", par4,
        {"base_radius": 0.275, "platform_radius": 0.1, "arm": 0.375, "link": 0.825, "height": 0.8, "mass": 1.2, "rod": 0.01},
    ),
    "orthoglide": (
        "Orthoglide, three translations", orthoglide, {"link": 0.31, "stroke": 0.25, "mass": 0.93, "rod": 0.012},
    ),
}  # fmt: skip
