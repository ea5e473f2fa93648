"""Briot, Khalil 2014, DualEMPS: Tables 1-3, Figs. 7-14, operator counts and the time of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.papers.briot_runs import (
    PaperRun,
    accelerations,
    circle_items,
    frictionless,
    simulated,
    timing,
    torques,
)
from flexapod.views.papers.briot_tables import operators, over_the_workspace, table_1, table_2, table_3
from flexapod.views.papers.items import DIFFERS, INPUT, Item, Paper
from flexapod.views.plot import line_style, styled
from flexapod.views.plot_time import Panel, time_figure

MOVING = 1.8
"""Time of an edge of the square [s]."""


def briot() -> Paper:
    """Everything that the paper prints about DualEMPS."""
    robot = fp.load("dualemps")
    square = simulated(robot, fp.motions.dualemps_square())
    free = simulated(frictionless(robot), fp.motions.dualemps_square())
    circle = simulated(robot, fp.motions.dualemps_circle())
    items = [
        table_1(robot),
        table_2(robot),
        table_3(robot),
        over_the_workspace(robot),
        operators(robot),
        _square(),
        _paths(square, circle),
        accelerations(square, free),
        torques(square, 0, "Fig. 10"),
        torques(square, 1, "Fig. 11"),
        *circle_items(circle),
        timing(robot),
    ]
    return Paper(key="briot", source=robot.source, robot=robot.name, items=items, readings=READINGS, errata=ERRATA)


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


def _paths(square: PaperRun, circle: PaperRun) -> Item:
    """Fig. 8: both ways of point P; the circle as commanded to the rigid robot is the input."""
    import plotly.graph_objects as go

    tip, sliders = fp.motions.dualemps_circle_tip(), fp.motions.dualemps_circle()
    radius = np.hypot(tip.position[:, 0] - 0.28, tip.position[:, 2] - 0.90)
    speed = np.linalg.norm(tip.velocity, axis=1)
    figure = go.Figure()
    for k, (found, name) in enumerate(((square, "square in joint space"), (circle, "circle"))):
        figure.add_scatter(x=found.tip[:, 0], y=found.tip[:, 2], mode="lines", line=line_style(k), name=name)
    figure.update_layout(xaxis_title="x [m]", yaxis_title="z [m]", yaxis_scaleanchor="x")
    off = max(np.abs(radius - 0.1).max(), np.abs(speed - 0.2).max())
    reach = np.ptp(sliders.position, axis=0).max()
    return Item(
        where="Fig. 8",
        title="both trajectories of point P",
        says="The square leads along the boundary of the workspace. The circle has a radius of 0.1 m around (0.28, 0.90) m and a "
        "constant speed of 0.20 m/s; the sliders have a stroke of 25 cm.",
        ours=f"Drawn as simulated, beams bent. As commanded, radius and speed of the circle are kept to {off:.1e}; the sliders "
        f"use up to {reach:.3f} m of their stroke.",
        verdict=INPUT if off < 1e-12 and reach < 0.25 else DIFFERS,
        parts=[styled(figure, "Briot Fig. 8: trajectories of point P", 480)],
    )


READINGS = (
    "Rows 13, 23, 16 of Table 2 are the beams themselves (4 x 50 mm, 2800 kg/m^3, 74 GPa): not added again as rigid bodies.",
    "Table 3: actuators locked, consistent mass, one element per elastic link, no gravity in the plane.",
    "Elastic end rotations enter the following bodies as true rotations; energy is then conserved.",
    "Point P is the origin of frame 17. The low-pass filter is a Butterworth filter of order 4, run forwards and backwards.",
    "Runs have steps of 0.5 ms: samples farther apart would fold modes above 400 Hz into what lies below 100 Hz.",
    "Chosen: edges of 0.2 m, the first after 1 s, one every 6 s; the circle starts at angle 0, counter-clockwise, at full speed "
    "with straight beams, which makes them vibrate. The paper feeds measured actuator motions to its models instead.",
    "Friction of the passive joints is smoothed by tanh at 1e-3 rad/s; sliders have the sign of the rate.",
)
ERRATA = (
    "Table 1: rows 23, 24 are fixed joints (sigma = 2); their d are d_23, d_24, d_25.",
    "'Gravity along z0' contradicts the horizontal test plane.",
    "The operator count does not say whether the final solve is included: ours is given both ways.",
)
