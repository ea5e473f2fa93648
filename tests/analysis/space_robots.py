"""Robots of the tests of workspaces: a hexapod with limits of strokes and joint angles."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import flexapod as fp

TEMPLATE = """flexapod: 1
name: {name}
source: made for the tests of workspaces
gravity: [0, 0, -9.81]
characteristic_length: 0.4
home: {{position: [0, 0, {height!r}]}}
platform: {{mass: 10, inertia: {{diagonal: [0.3, 0.3, 0.5]}}}}
legs:
  template:
    joints:
      hip: {{type: universal, from: base, cross: cross, to: cylinder, direction: home, axis1: [1, 0, 0], limits: {{angle: {cone} deg}}}}
      slide: {{type: prismatic, from: cylinder, to: piston, axis: [0, 0, 1], actuated: true, limits: {{stroke: [{low!r}, {high!r}]}}}}
      ball: {{type: spherical, from: piston, to: platform, limits: {{angle: {cone} deg}}}}
    bodies:
      cross: {{}}
      cylinder: {{mass: 2, com: [0, 0, 0.2], inertia: {{diagonal: [0.02, 0.02, 0.001]}}}}
      piston: {{mass: 1, com: [0, 0, -0.2], inertia: {{diagonal: [0.01, 0.01, 0.0005]}}}}
  each:
"""


def study_hexapod(*, base=0.5, platform=0.3, half=15.0, shortest=0.6, stroke=0.3, cone=45.0) -> fp.Robot:
    """A 6-UPS with joints in pairs on two circles; strokes and deflections are limited."""
    at_base = np.radians([c + s * half for c in (0, 120, 240) for s in (-1, 1)])
    at_platform = np.radians([c + s * (60 - half) for c in (0, 120, 240) for s in (-1, 1)])
    A = np.c_[base * np.cos(at_base), base * np.sin(at_base), 0 * at_base]
    B = np.c_[platform * np.cos(at_platform), platform * np.sin(at_platform), 0 * at_platform]
    longest = shortest * (1 + stroke)
    middle = (shortest + longest) / 2
    height = float(np.sqrt(middle**2 - np.sum((A - B)[0, :2] ** 2)))
    text = TEMPLATE.format(name="study-hexapod", height=height, cone=cone, low=shortest, high=longest)
    for name, a, b in zip("ABCDEF", A.tolist(), B.tolist(), strict=True):
        text += f"    {name}: {{hip: {{at: {a}}}, ball: {{on: {b}}}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study-hexapod.yaml"
        file.write_text(text)
        return fp.load(file)
