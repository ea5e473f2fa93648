"""Robots whose poses are counted: written as files and loaded."""

from pathlib import Path

import numpy as np

import flexapod as fp

DIETMAIER_BASE = np.array(
    [
        [0, 0, 0],
        [1.107915, 0, 0],
        [0.549094, 0.756063, 0],
        [0.735077, -0.223935, 0.525991],
        [0.514188, -0.526063, -0.368418],
        [0.590473, 0.094733, -0.205018],
    ]
)
DIETMAIER_PLATFORM = np.array(
    [
        [0, 0, 0],
        [0.542805, 0, 0],
        [0.956919, -0.528915, 0],
        [0.665885, -0.353482, 1.402538],
        [0.478359, 1.158742, 0.107672],
        [-0.137087, -0.235121, 0.353913],
    ]
)
DIETMAIER_LENGTHS = np.array([1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071])
"""P. Dietmaier, The Stewart-Gough platform of general geometry can have 40 real postures (1998). Lengths in any unit."""

HEAD = """
flexapod: 1
name: {name}
title: {name}
source: made by a test
gravity: [0, 0, -9.81]
home: {{position: [{home[0]}, {home[1]}, {home[2]}]}}
platform: {{mass: 1, inertia: {{diagonal: [1, 1, 1]}}}}
"""

UPS = """
legs:
  template:
    joints:
      hip: {type: universal, from: base, to: cylinder, direction: home}
      slide: {type: prismatic, from: cylinder, to: piston, axis: [0, 0, 1], actuated: true}
      ball: {type: spherical, from: piston, to: platform}
    bodies:
      cylinder: {mass: 1}
      piston: {mass: 1}
  each:
"""


def hexapod_of(a: np.ndarray, b: np.ndarray, home: np.ndarray, folder: Path, name: str) -> fp.Robot:
    """A 6-UPS robot with base points a, platform points b (6, 3), at home unrotated at `home`."""
    text = HEAD.format(name=name, home=[float(x) for x in home]) + UPS
    for i in range(6):
        leg = home + b[i] - a[i]
        axis = np.cross(leg, [0.3, 0.5, -0.8])
        axis /= np.linalg.norm(axis)
        text += f"    L{i + 1}: {{hip: {{at: {a[i].tolist()}, axis1: {axis.tolist()}}}, ball: {{on: {b[i].tolist()}}}}}\n"
    file = folder / f"{name}.yaml"
    file.write_text(text)
    return fp.load(file)


def three_rps(folder: Path) -> fp.Robot:
    """3-RPS: each leg swings in a plane through the vertical axis."""
    text = HEAD.format(name="three-rps", home=(0.0, 0.0, 1.0)) + (
        """
legs:
  template:
    joints:
      hinge: {type: revolute, from: base, to: cylinder, at: [0.6, 0, 0], axis: [0, 1, 0], start: 0}
      slide: {type: prismatic, from: cylinder, to: piston, axis: [0, 0, 1], actuated: true, start: 1}
      ball: {type: spherical, from: piston, to: platform, on: [0.4, 0, 0]}
    bodies:
      cylinder: {mass: 1}
      piston: {mass: 1}
  each:
    A: {}
    B: {frame: {rotation: {z: 120 deg}}, platform_frame: {rotation: {z: 120 deg}}}
    C: {frame: {rotation: {z: -120 deg}}, platform_frame: {rotation: {z: -120 deg}}}
"""
    )
    file = folder / "three-rps.yaml"
    file.write_text(text)
    return fp.load(file)


def planar(kind: str, folder: Path) -> fp.Robot:
    """Planar 3-RRR or 3-RPR with unequal legs."""
    joints = {
        "rrr": """
      root: {type: revolute, from: base, to: proximal, at: [0.4, 0, 0], axis: [0, 0, 1], actuated: true, start: 130 deg}
      elbow: {type: revolute, from: proximal, to: distal, at: [0.25, 0, 0], axis: [0, 0, 1], start: 80 deg}
      pin: {type: revolute, from: distal, to: platform, at: [0.25, 0, 0], on: [0.1, 0, 0], axis: [0, 0, 1]}
    bodies: {proximal: {mass: 1}, distal: {mass: 1}}""",
        "rpr": """
      root: {type: revolute, from: base, to: cylinder, at: [0.4, 0, 0], axis: [0, 0, 1], start: 180 deg}
      slide: {type: prismatic, from: cylinder, to: piston, axis: [1, 0, 0], actuated: true, start: 0.3}
      pin: {type: revolute, from: piston, to: platform, on: [0.1, 0, 0], axis: [0, 0, 1]}
    bodies: {cylinder: {mass: 1}, piston: {mass: 1}}""",
    }[kind]
    head = HEAD.format(name=f"planar-3-{kind}", home=(0.0, 0.0, 0.0)).replace("gravity:", "plane: xy\ngravity:")
    text = head.replace("[0, 0, -9.81]", "[0, -9.81, 0]") + "legs:\n  template:\n    joints:" + joints
    text += """
  each:
    A: {}
    B: {frame: {rotation: {z: 120 deg}}, platform_frame: {rotation: {z: 120 deg}}}
    C: {frame: {rotation: {z: -110 deg}}, platform_frame: {rotation: {z: -130 deg}}}
"""
    file = folder / f"planar-3-{kind}.yaml"
    file.write_text(text)
    return fp.load(file)


def griffis_duffy() -> tuple[np.ndarray, np.ndarray]:
    """Base and platform points of a Griffis-Duffy platform: vertices of one triangle to midpoints of the other."""

    def hexagon(radius: float, phase: float) -> np.ndarray:
        angle = phase + 2.0 * np.pi * np.arange(3) / 3.0
        corner = radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
        return np.stack([corner, 0.5 * (corner + np.roll(corner, -1, axis=0))], axis=1).reshape(6, 3)

    return hexagon(1.5, 0.0), np.roll(hexagon(1.0, np.pi), 1, axis=0)


def random_platforms(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """General 6-6 platforms: joints in a cube, squared leg lengths of a random pose."""
    from flexapod.analysis.poses.quaternion_algebra import matrix, random_unit

    random = np.random.default_rng(seed)
    a, b = random.uniform(-1, 1, (count, 6, 3)), random.uniform(-1, 1, (count, 6, 3))
    R, p = matrix(random_unit(random, count)), random.uniform(-1, 1, (count, 3))
    return a, b, ((p[:, None] + b @ np.swapaxes(R, 1, 2) - a) ** 2).sum(axis=2)
