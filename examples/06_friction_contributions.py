"""Where does the force go? Gravity, inertia and every source of friction of the HexaSlide on its circle (Kim, Ryu 2002).

Run: python examples/06_friction_contributions.py. It writes out/contributions.html.
"""

from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("hexaslide")
motion = fp.motions.kim_circle(samples=121)

with_friction = fp.inverse_dynamics(robot, motion, contributions="frozen")  # contributions add up to the force
without = fp.inverse_dynamics(robot, motion, friction=False)
peaks = [float(abs(drive.force).max()) for drive in (with_friction, without)]
print(f"peak force: {peaks[0]:.2f} N with friction, {peaks[1]:.2f} N without\n")

size = np.sqrt((with_friction.force_contribution**2).mean(("time", "actuator")))
print("contribution             RMS over all sliders")
for name in sorted(size.contribution.values, key=lambda n: -float(size.sel(contribution=n))):
    value = float(size.sel(contribution=name))
    if value > 0:
        print(f"{name.replace('_', ' '):24} {value:8.3f} N  {'#' * round(2 * value)}")

total = with_friction.force_contribution.sum("contribution")
print(f"\nthe contributions add up to the force within {float(abs(total - with_friction.force).max()):.1e} N")

# How much would better guides bring? Half the friction of the guides, everything else as it is.
paths = [path for path in robot.parameters if path.startswith("legs.rail.friction")]
print("friction of the guides in the file:", {path: robot.parameter(path) for path in paths})
better = robot.with_parameters({path: 0.5 * robot.parameter(path) for path in paths if "speed" not in path})
print(f"with half of it: {float(abs(fp.inverse_dynamics(better, motion).force).max()):.2f} N")

fp.figures.save_figure(
    fp.figures.contribution_figure(with_friction, "Parts of the forces of hexaslide"), OUT / "contributions.html"
)
print("wrote out/contributions.html")
