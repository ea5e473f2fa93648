"""How far and how fast must the actuators move? Strokes and rates along a circle, with the limits of the file.

Run: python examples/02_inverse_kinematics.py. It writes out/strokes.html and out/strokes.csv.
"""

from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("hexaslide")
motion = fp.motions.named_motion("circle", center=robot.home.position, radius=0.08, rpm=30.0)

legs = fp.inverse_kinematics(robot, motion)
q, v = legs.actuator_position, legs.actuator_velocity
for name in robot.actuators:
    travel = q.sel(actuator=name)
    print(f"slider {name}: {float(travel.min()):.4f} to {float(travel.max()):.4f} m, ", end="")
    print(f"at most {float(abs(v.sel(actuator=name)).max()):.3f} m/s")

# Does the motion keep every limit of the file? If not, this says which one breaks first, and when.
check = fp.check_motion(robot, motion)
print("limits:", "all kept" if check.ok else [str(violation) for violation in check.violations])

# And back: the pose of the platform from the actuators alone.
last = q.isel(time=-1).values
pose = fp.forward_kinematics(robot, last, guess=fp.State(position=robot.home.position))
print(f"pose from the sliders: {np.round(pose.position.values, 6)} m, given was {np.round(motion.position[-1], 6)} m")

# How well does it transmit? 1 would be perfect, a singular pose has an infinite condition number.
poses = fp.State(position=motion.position, rotation=motion.rotation)
print(f"condition number along the circle: up to {float(fp.conditioning(robot, poses).condition_number.max()):.2f}")

fp.figures.save_figure(fp.figures.stroke_figure(robot, legs), OUT / "strokes.html")
fp.save(legs, OUT / "strokes.csv")
print("wrote out/strokes.html and out/strokes.csv")
