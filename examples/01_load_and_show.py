"""Load robots from the catalogue, see what they are made of, and draw one.

Run: python examples/01_load_and_show.py. It writes out/stewart-3-3.html.
"""

from pathlib import Path

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

print("robot                   mobility  actuators")
for name in fp.catalogue():
    robot = fp.load(name)
    print(f"{name:24}{robot.mobility.rank:8}{len(robot.actuators):11}")

robot = fp.load("stewart-3-3")  # or the path of your own file
print(f"\n{robot}\n")  # legs, loops, bodies, mobility

# Every number of the file has a path, a value and a unit; a path without a leg's name means all legs.
for path in ("platform.mass", "legs.cylinder.mass", "legs.A.hip.at"):
    parameter = robot.parameters[path]
    print(f"{path:20} {parameter.value} {parameter.unit}")

# A robot never changes: a variant is a new one. Values may carry units.
heavy = robot.with_parameters({"platform.mass": "60 kg", "legs.A.cylinder.mass": 16.0})
print(f"\nplatform: {robot.parameter('platform.mass')} kg, in the variant {heavy.parameter('platform.mass')} kg")

file = fp.figures.save_figure(fp.figures.robot_figure(robot), OUT / "stewart-3-3.html")
print(f"picture: {file}")
