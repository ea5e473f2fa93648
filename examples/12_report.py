"""A page for the meeting: a hexapod from a few sizes, a motion of the task, and everything about both on one page.

Run: python examples/12_report.py. It writes out/mine.yaml, out/report.html and out/stiffness.html.
"""

from pathlib import Path

import flexapod as fp
from flexapod.views.new.robot_file import RobotSizes, new_text
from flexapod.views.reports.motion_report import robot_report

OUT = Path("out")
OUT.mkdir(exist_ok=True)

sizes = RobotSizes(name="mine", base_radius=0.45, platform_radius=0.22, height=0.6, stroke=0.25, mass=18.0)
file = OUT / "mine.yaml"
file.write_text(new_text(sizes))  # the same as: flexapod new mine.yaml --base-radius 0.45 ...
robot = fp.load(file)

motion = fp.motions.named_motion("circle", center=robot.home.position, radius=0.08, rpm=40.0)
page, warnings = robot_report(robot, motion, "circle of 80 mm at 40 rpm", stiffness=2e7)
(OUT / "report.html").write_text(page, encoding="utf-8")
print("wrote out/report.html:", warnings or "no warnings")

# Too fast? The motion slowed down until drives of 150 N can do it.
weak = robot.with_parameters({"legs.slide.limits.force": 150.0})
fast = fp.motions.named_motion("circle", center=robot.home.position, radius=0.08, rpm=90.0)
print([str(violation) for violation in fp.check_motion(weak, fast).violations][:1])
fitted, factor = fp.fit_motion(weak, fast)
print(f"slowed down {factor:.3f} times it fits: {fitted.time[-1] - fitted.time[0]:.2f} s")

# Where in the workspace is the robot soft?
soft = fp.figures.frequency_map(robot, {"x": (-0.15, 0.15, 13), "y": (-0.15, 0.15, 13)}, actuators=[2e7] * 6)
lowest = soft.frequency.sel(mode=1)
print(f"lowest frequency over the slice: {float(lowest.min()):.1f} to {float(lowest.max()):.1f} Hz")
fp.figures.save_figure(fp.figures.frequency_map_figure(soft, "Natural frequencies of mine"), OUT / "stiffness.html")
