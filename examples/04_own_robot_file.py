"""A robot of one's own, from a text: a planar 3-PRR. Problems are reported with their line; a correct file can be used at once.

Run: python examples/04_own_robot_file.py. It writes out/own.yaml.
"""

from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

TEXT = """
flexapod: 1
name: own
title: planar 3-PRR
source: an example, numbers chosen
plane: xy
gravity: [0, 0, 0]
home: {position: [0, 0, 0]}
platform: {mass: 2 kg, inertia: {diagonal: [0.005, 0.005, 0.01]}}
legs:
  template:
    joints:
      rail: {type: prismatic, from: base, to: slider, at: [0.5, -0.3, 0], axis: [0, 1, 0], actuated: true}
      pin: {type: revolute, from: slider, to: link, axis: [0, 0, 1]}
      hook: {type: revolute, from: link, at: [550 mm, 0, 0], to: platform, on: [100 mm, 0, 0], axis: [0, 0, 1]}
    bodies:
      slider: {mass: 1.2}
      link: {mass: 0.6, com: [0.275, 0, 0], inertia: {diagonal: [0, 0.0151, 0.0151]}}
  each:
    a: {frame: {rotation: {Z: 0 deg}}, platform_frame: {rotation: {Z: 0 deg}}}
    b: {frame: {rotation: {Z: 120 deg}}, platform_frame: {rotation: {Z: 120 deg}}}
    c: {frame: {rotation: {Z: 240 deg}}, platform_frame: {rotation: {Z: 240 deg}}}
"""

file = OUT / "own.yaml"
file.write_text(TEXT.replace("type: revolute, from: slider", "type: revolut, from: slider"))
try:
    fp.load(file)
except fp.RobotFileError as error:
    print(f"a misspelt key: {error}\n")

file.write_text(TEXT)
robot = fp.load(file)
print(robot.mobility)
t = np.linspace(0.0, 2.0, 201)
motion = fp.Motion.planar(x=0.05 * np.cos(np.pi * t), y=0.05 * np.sin(np.pi * t), angle=0.1 * np.sin(np.pi * t), time=t)
drive = fp.inverse_dynamics(robot, motion)
for name in robot.actuators:
    print(f"slider {name}: up to {float(abs(drive.force.sel(actuator=name)).max()):.2f} N")
