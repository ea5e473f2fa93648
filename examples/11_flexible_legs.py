"""Legs that bend: the DualEMPS of Briot and Khalil 2014. Frequencies against the paper, stiffer beams, forces along a motion.

Run: python examples/11_flexible_legs.py. It writes out/elastic.html.
"""

from pathlib import Path

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("dualemps")  # three beams, one element each
home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
print(f"{len(robot.elastic_names)} elastic coordinates: {', '.join(robot.elastic_names)}")

modes = fp.natural_frequencies(robot, home, prestress=False)
paper = (14.22, 25.09, 48.22, 92.37, 109.08)  # Table 3, the paper's model
for k, printed in enumerate(paper):
    print(f"mode {k + 1}: {float(modes.frequency[k]):7.2f} Hz, the paper {printed:7.2f} Hz")

# Thicker beams: the numbers are parameters like any other.
paths = [path for path in robot.parameters if path.endswith("section.width")]
stiff = robot.with_parameters({path: 1.5 * robot.parameter(path) for path in paths})
first = float(fp.natural_frequencies(stiff, home, prestress=False).frequency[0])
print(f"beams of {1e3 * stiff.parameter(paths[0]):.1f} mm instead of {1e3 * robot.parameter(paths[0]):.1f} mm: ", end="")
print(f"first mode {first:.2f} Hz instead of {float(modes.frequency[0]):.2f} Hz")

# Forces of the sliders along the paper's square, beams bent as they would be at rest at every moment.
motion = fp.motions.named_motion("dualemps-square")
drive = fp.inverse_dynamics(robot, motion)
for name in robot.actuators:
    print(f"slider {name}: up to {float(abs(drive.force.sel(actuator=name)).max()):.1f} N")
bent = abs(drive.elastic).max("time")
most = str(bent.elastic_coordinate.values[bent.values.argmax()])
print(f"largest elastic coordinate along the way: {most}, {float(bent.max()):.2e}")

figure = fp.figures.force_figure(robot, drive)
print("wrote", fp.figures.save_figure(figure, OUT / "elastic.html"))
