"""Which design is better? Forces over a range of base radii and platform masses; nothing is compiled twice.

Run: python examples/05_parameter_study.py. It writes out/study.html and out/change.html.
"""

from pathlib import Path

import numpy as np
import plotly.graph_objects as go

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("stewart-3-3")
motion = fp.motions.staicu_motion("vertical-z", samples=101)
hips = np.array([robot.parameter(f"legs.{leg}.hip.at") for leg in robot.actuators])


def wider(factor: float, mass: float) -> fp.Robot:
    """The robot with its base joints on a wider circle and another platform."""
    places = {f"legs.{leg}.hip.at": list(factor * at) for leg, at in zip(robot.actuators, hips, strict=True)}
    return robot.with_parameters({**places, "platform.mass": mass})


factors, masses = np.linspace(0.6, 1.4, 9), (30.0, 50.0, 70.0)
figure = go.Figure()
for mass in masses:
    peaks = [float(abs(fp.inverse_dynamics(wider(f, mass), motion).force).max()) for f in factors]
    best = factors[int(np.argmin(peaks))]
    print(f"platform of {mass:.0f} kg: peak force {min(peaks):.1f} N at {best:.1f} times the base radius", end="")
    print(f", {max(peaks):.1f} N at worst")
    figure.add_scatter(x=factors * 2.5, y=peaks, name=f"platform {mass:.0f} kg", mode="lines+markers")
figure.update_layout(title="Peak actuator force", xaxis_title="radius of the base joints [m]", yaxis_title="force [N]")
fp.figures.save_figure(figure, OUT / "study.html")

# Exact slopes instead of a sweep: how does each force change with a number of the file?
slope = fp.inverse_dynamics_derivatives(robot, motion, parameters=["platform.mass", "legs.cylinder.mass"])
for path in slope.parameter.values:
    print(f"one kilogram more in {path}: {float(abs(slope.tau_D_parameter.sel(parameter=path)).max()):.3f} N at most")

# Before and after in one figure.
before, after = (fp.inverse_dynamics(r, motion) for r in (robot, wider(1.0, 70.0)))
fp.figures.save_figure(fp.figures.change_figure(robot, before, after, "platform of 70 kg"), OUT / "change.html")
print("wrote out/study.html and out/change.html")
