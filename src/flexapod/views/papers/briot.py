"""Briot, Khalil 2014, DualEMPS: test motions of Figs. 7 and 8; frequencies of Table 3 where the catalogue has the robot."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.html import HtmlTable
from flexapod.views.papers.items import DIFFERS, INPUT, Item, Paper, judged
from flexapod.views.plot import COLOURS, line_style, styled
from flexapod.views.plot_time import Panel, time_figure

SOURCE = "Briot, Khalil, Recursive and symbolic calculation of the elastodynamic model of flexible parallel robots (2014)"
MODEL = (14.22, 25.09, 48.22, 92.37, 109.08, 423.39)
"""Table 3, model of the paper [Hz]."""

MEASURED = (14.0, 25.0, 48.0, 93.0, 108.0, 163.0)
FIRST, CLOSE = 5, 0.02
"""The first five frequencies within 2 %: Table 2 is printed to three digits."""

MOVING = 1.8
"""Time of an edge of the square [s]."""


def briot() -> Paper:
    """What can be computed now."""
    items = [_square(), _circle()]
    missing = [
        "Figs. 9-14: accelerations and torques along these motions, and the operator count, need beams in the legs of a robot."
    ]
    if "dualemps" in fp.catalogue():
        try:
            items.insert(0, _frequencies())
        except fp.FlexapodError as error:
            missing.insert(0, f"Table 3: {error}")
    else:
        missing.insert(0, "Tables 1-3: the catalogue has no robot with flexible legs.")
    return Paper(key="briot", source=SOURCE, robot="dualemps", items=items, readings=READINGS, errata=ERRATA, missing=missing)


def _frequencies() -> Item:
    robot = fp.load("dualemps")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    found = fp.natural_frequencies(robot, home, prestress=False).frequency.values[: len(MODEL)]
    error = np.abs(found / np.array(MODEL) - 1.0)
    rows = [[f"f{k + 1}", f"{MODEL[k]:g}", f"{MEASURED[k]:g}", f"{found[k]:.3f}"] for k in range(len(found))]
    return Item(
        where="Table 3",
        title="natural frequencies with the actuators locked",
        says="14.22, 25.09, 48.22, 92.37, 109.08 Hz by the model; the sixth is not correct with one element per beam.",
        ours=f"The first five differ by at most {100 * error[:FIRST].max():.2f} % from the paper's model.",
        verdict=judged(bool(error[:FIRST].max() < CLOSE)),
        parts=[HtmlTable(head=("frequency [Hz]", "paper, model", "paper, measured", "ours"), rows=rows)],
    )


def _square() -> Item:
    import plotly.graph_objects as go

    motion = fp.motions.dualemps_square()
    q, v = motion.position, motion.velocity
    figure = go.Figure()
    figure.add_scatter(x=q[:, 0], y=q[:, 1], mode="lines", line=line_style(0), name="square")
    figure.update_layout(xaxis_title="q11 [m]", yaxis_title="q21 [m]", yaxis_scaleanchor="x")
    moving = np.any(np.abs(v) > 0, axis=1)
    edges = int(np.sum(np.diff(moving.astype(int)) == 1))
    step = motion.time[1] - motion.time[0]
    length = float((moving.sum() / max(edges, 1) + 1) * step)  # rests at both ends of an edge
    return Item(
        where="Fig. 7",
        title="square in joint space and its velocity profile",
        says="A square in joint space; each edge takes 1.8 s, then the robot stops so that its free vibration can be seen.",
        ours=f"{edges} edges of {np.ptp(q[:, 0]):g} m in {length:.2f} s each, "
        f"{motion.time[-1]:g} s in all (side and pauses chosen).",
        verdict=INPUT if edges == 4 and abs(length - MOVING) < step / 2 else DIFFERS,
        parts=[styled(figure, "Briot Fig. 7 (a): square in joint space", 420), _profile(motion)],
    )


def _profile(motion: Any) -> Any:
    import xarray as xr

    data = {"rate": (("time", "actuator"), motion.velocity, {"units": "m/s"})}
    run = xr.Dataset(data, coords={"time": motion.time, "actuator": ["q11", "q21"]})
    return time_figure(run, [Panel(variable="rate", label="rate")], "Briot Fig. 7 (b): velocity profile", "slider")


def _circle() -> Item:
    import plotly.graph_objects as go

    tip, sliders = fp.motions.dualemps_circle_tip(), fp.motions.dualemps_circle()
    x, z = tip.position[:, 0], tip.position[:, 2]
    radius = np.hypot(x - 0.28, z - 0.90)
    speed = np.linalg.norm(tip.velocity, axis=1)
    figure = go.Figure()
    figure.add_scatter(x=x, y=z, mode="lines", line={"color": COLOURS[0], "width": 2.5}, name="circle of P")
    figure.update_layout(xaxis_title="x [m]", yaxis_title="z [m]", yaxis_scaleanchor="x")
    off = max(np.abs(radius - 0.1).max(), np.abs(speed - 0.2).max())
    reach = np.ptp(sliders.position, axis=0).max()
    return Item(
        where="Fig. 8",
        title="circle of point P",
        says="Radius 0.1 m around (0.28, 0.90) m at a constant 0.20 m/s; the sliders have a stroke of 25 cm.",
        ours=f"Radius and speed kept to {off:.1e}; the sliders use up to {reach:.3f} m of their stroke.",
        verdict=INPUT if off < 1e-12 and reach < 0.25 else DIFFERS,
        parts=[styled(figure, "Briot Fig. 8: circle of the end-effector", 460)],
    )


READINGS = (
    "Rows 13, 23, 16 of Table 2 are the beams themselves (4 x 50 mm, 2800 kg/m^3, 74 GPa): not added again as rigid bodies.",
    "Table 3: actuators locked, consistent mass, one element per elastic link, no gravity in the plane.",
    "Elastic end rotations enter the following bodies as true rotations; energy is then conserved.",
    "Chosen: edges of 0.2 m, the first after 1 s, one every 6 s; the circle starts at angle 0, counter-clockwise.",
)
ERRATA = (
    "Table 1: rows 23, 24 are fixed joints (sigma = 2); their d are d_23, d_24, d_25.",
    "'Gravity along z0' contradicts the horizontal test plane.",
    "The operator count does not say whether the solve is included.",
)
