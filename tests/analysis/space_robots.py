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
      hip:
        {{type: universal, from: base, cross: cross, to: cylinder, direction: home, axis1: [1, 0, 0],
         limits: {{angle: {cone} deg}}}}
      slide:
        {{type: prismatic, from: cylinder, to: piston, axis: [0, 0, 1], actuated: true, limits: {{stroke: [{low!r}, {high!r}]}}}}
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


PLANAR = """flexapod: 1
name: planar-3-rpr
source: Innocenti and Parenti-Castelli 1992, the example of McAree and Daniel 1999
gravity: [0, 0, -9.81]
plane: xy
characteristic_length: 10
home: {position: [-5, 10, 0]}
platform: {mass: 1, inertia: {diagonal: [1, 1, 1]}}
legs:
  template:
    joints:
      hip: {type: revolute, from: base, to: cylinder, axis: [0, 0, 1]}
      slide: {type: prismatic, from: cylinder, to: piston, axis: [1, 0, 0], actuated: true}
      pin: {type: revolute, from: piston, to: platform, axis: [0, 0, 1]}
    bodies:
      cylinder: {mass: 1}
      piston: {mass: 1}
  each:
"""


def planar_3rpr() -> fp.Robot:
    """A planar 3-RPR whose leg lengths have a cusp: two assembly modes are joined without a singularity."""
    base = [[0.0, 0.0, 0.0], [15.91, 0.0, 0.0], [0.0, 10.0, 0.0]]
    platform = [[0.0, 0.0, 0.0], [17.04, 0.0, 0.0], [20.84 * np.cos(0.8822), 20.84 * np.sin(0.8822), 0.0]]
    return planar_3rpr_of(base, platform)


def planar_3rpr_of(base: list[list[float]], platform: list[list[float]]) -> fp.Robot:
    """A planar 3-RPR with given points, its platform at (-5, 10)."""
    text, home = PLANAR, np.array([-5.0, 10.0, 0.0])
    for name, a, b in zip("ABC", base, platform, strict=True):
        d = home + b - np.array(a)
        text += f"    {name}: {{hip: {{at: {a}, start: {float(np.arctan2(d[1], d[0]))!r}}}, "
        text += f"slide: {{start: {float(np.hypot(d[0], d[1]))!r}}}, pin: {{on: {[float(x) for x in b]}}}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "planar-3-rpr.yaml"
        file.write_text(text)
        return fp.load(file)


def edited_bench(friction: str) -> fp.Robot:
    """bench-6ups with friction of its actuators."""
    source = Path(fp.__file__).parent / "robots" / "bench-6ups.yaml"
    text = source.read_text().replace("actuated: true\n", f"actuated: true\n        friction: {friction}\n", 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.yaml"
        file.write_text(text)
        return fp.load(file)
