"""Which motors does a motion need? Forces, powers and joint loads of the 3-3 Stewart platform, with a load at the tool.

Run: python examples/03_forces_and_powers.py. It writes out/forces.html and out/reactions.html.
"""

from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("stewart-3-3")
motion = fp.motions.staicu_motion("rotation-z")  # or fp.motions.motion_from_file("way.csv")
load = [0.0, 0.0, -200.0, 0.0, 0.0, 0.0]  # force [N] and moment [N m] on the platform, world axes

drive = fp.inverse_dynamics(robot, motion, wrench=load, point="tool", reactions=True)
size = fp.actuator_sizing(drive)
print("actuator   peak force   RMS force   peak power   RMS power")
for name in robot.actuators:
    s = size.sel(actuator=name)
    print(f"{name:8}{float(s.peak_force):11.1f} N{float(s.rms_force):10.1f} N", end="")
    print(f"{float(s.peak_power):11.1f} W{float(s.rms_power):10.1f} W")

# What the joints carry: exerted by the base-side body on the next one, world axes.
for joint in ("A.hip.1", "A.slide", "A.ball"):
    largest = float(np.linalg.norm(drive.reaction_force.sel(joint=joint), axis=-1).max())
    print(f"joint {joint}: up to {largest:.1f} N")

# Three formulations, derived without each other, give the same forces.
for formulation in ("virtual_power", "virtual_work", "newton_euler"):
    other = fp.inverse_dynamics(robot, motion, wrench=load, point="tool", formulation=formulation)
    print(f"{formulation:14} differs by {float(abs(other.force - drive.force).max()):.1e} N")

fp.figures.save_figure(fp.figures.force_figure(robot, drive), OUT / "forces.html")
balls = [f"{leg}.ball" for leg in robot.actuators]
fp.figures.save_figure(fp.figures.reaction_figure(drive, balls, "Loads of the platform joints"), OUT / "reactions.html")
print("wrote out/forces.html and out/reactions.html")
