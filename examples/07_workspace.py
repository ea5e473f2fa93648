"""Where can the platform go, how well, and what stops it? A slice, a volume and the tilt at the centre.

Run: python examples/07_workspace.py. It writes out/slice.html.
"""

from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("hexaslide")
home = robot.home.position

# A slice through home: every pose with its condition number, or the reason why it is invalid.
area = fp.workspace(robot, grid={"x": (-0.7, 0.7, 61), "y": (-0.7, 0.7, 61)})
print(f"slice: {100 * float(area.valid.mean()):.0f} % of the poses are usable")
codes, counts = np.unique(area.reason, return_counts=True)
for code, count in sorted(zip(codes, counts, strict=True), key=lambda pair: -pair[1])[:4]:
    print(f"  {count:5} poses: {area.reason_text.values[code] if code else 'usable'}")

# A volume: the same with one more axis; only the table is kept.
cell = 0.04
span = np.arange(-0.6, 0.6 + cell / 2, cell)
volume = fp.workspace(robot, grid={"x": span, "y": span, "z": home[2] + np.arange(-0.4, 0.4 + cell / 2, cell)})
print(f"volume: {float(volume.valid.sum()) * cell**3 * 1e3:.1f} litres of {volume.valid.size * cell**3 * 1e3:.1f}")

# How far can it tilt in every direction at home?
tilts = np.radians(np.arange(0, 91))
sweep = fp.workspace(robot, orientation={"tilt": tilts, "azimuth": np.radians(np.arange(0, 360, 10))})
good = sweep.valid.transpose("azimuth", "tilt").values
reach = [int(np.argmin(row)) - 1 if not row.all() else 90 for row in good]
print(f"tilt at home: {min(reach)} deg in the worst direction, {max(reach)} deg in the best")

fp.figures.save_figure(fp.figures.workspace_figure(area, "Workspace of hexaslide, home orientation"), OUT / "slice.html")
print("wrote out/slice.html")
