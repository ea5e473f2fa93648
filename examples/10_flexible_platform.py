"""A platform that bends: frequencies, deflection under load, and what bending does to the forces (Long, Khalil, Martinet 2014).

Run: python examples/10_flexible_platform.py. It writes out/modes.html.
"""

import warnings
from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("gough-stewart-flexible")  # a steel plate on six legs, ten modes from its own finite elements
home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
print("elastic coordinates:", ", ".join(robot.elastic_names))

# The plate alone, free: the modes that the paper prints; on its legs, with locked actuators: those of the robot.
# Where the paper's motion starts, all legs are nearly parallel, so that the platform can sway: the first three are low.
plate = np.sqrt(np.diag(robot.flexible_platform.K_ee)) / (2 * np.pi)
modes = fp.natural_frequencies(robot, home, prestress=False)
print("free plate [Hz]:   ", np.round(plate[:6], 2))
print("on locked legs [Hz]:", np.round(modes.frequency.values[:6], 2))

# How much does it sag by its own weight, and with 500 N on the tool? Nearly by its thickness, where a linear plate is too soft,
# and its weight alone makes it sway away on locked legs: results warn of both. These are the paper's numbers all the same.
warnings.simplefilter("ignore", fp.ValidityWarning)
for load in (None, [0.0, 0.0, -500.0, 0.0, 0.0, 0.0]):
    rest = fp.static_deflection(robot, home, wrench=load)
    bent = fp.State(position=home.position, rotation=home.rotation, elastic=rest.elastic.values)
    centre = fp.point_motion(robot, bent, "tool")
    sag = 1e6 * (float(centre.position.sel(axis="z")) - home.position[2])
    down = 0.0 if load is None else load[2]
    print(f"load {down:6.0f} N: the tool moves by {sag:8.2f} micrometres, legs push {rest.force.values.round(1)} N")

# Thicker plate, same robot: finite elements are solved again, nothing is compiled.
thick = robot.with_parameters({"platform.flexible.thickness": 0.02})
f = fp.natural_frequencies(thick, home, prestress=False).frequency.values[0]
print(f"a plate of 20 mm: first frequency {f:.2f} Hz instead of {modes.frequency.values[0]:.2f} Hz")

fp.figures.save_figure(fp.figures.mode_figure(robot, modes, [1, 2, 3], home), OUT / "modes.html")
print("wrote out/modes.html")
