"""Briot, Khalil 2014, DualEMPS: Tables 1-3, Figs. 7-14, operator counts and the time of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.papers.briot_friction import accelerations, smoothings
from flexapod.views.papers.briot_simulations import (
    STROKE,
    PaperSimulation,
    circle_items,
    frictionless,
    simulated,
    timing,
    torques,
)
from flexapod.views.papers.briot_tables import operators, over_the_workspace, table_1, table_2, table_3
from flexapod.views.papers.items import DIFFERS, READ, Item, Paper
from flexapod.views.papers.shared_items import parameter_item
from flexapod.views.plots.robot_figures import line_style, styled
from flexapod.views.plots.time_figures import PlotPanel, time_figure
from flexapod.views.reports.html import HtmlTable

MOVING = 1.8
"""Time of an edge of the square [s]."""


def briot() -> Paper:
    """Everything that the paper prints about DualEMPS."""
    robot = fp.load("dualemps")
    motion = fp.motions.dualemps_square(side=STROKE)
    square, free = simulated(robot, motion), simulated(frictionless(robot), motion)
    circle = simulated(robot, fp.motions.dualemps_circle())
    items = [
        _beams(robot),
        table_1(robot),
        table_2(robot),
        table_3(robot),
        over_the_workspace(robot),
        operators(robot),
        _square(),
        _paths(square, circle),
        accelerations(square, free, smoothings(robot)),
        torques(square, 0, "Fig. 10"),
        torques(square, 1, "Fig. 11"),
        *circle_items(circle),
        timing(robot),
    ]
    return Paper(
        key="briot", source=robot.source, robot=robot.name, items=items, readings=READINGS, errata=ERRATA, missing=MISSING
    )


def _beams(robot: fp.Robot) -> Item:
    """Section 5: what the text prints of beams and friction law; modulus and density are not printed."""
    links = ("1.13", "1.16", "2.23")
    printed = {f"width of beam {k[2:]} [m]": (0.004, f"legs.{k}.flexible.section.width") for k in links}
    printed |= {f"height of beam {k[2:]} [m]": (0.05, f"legs.{k}.flexible.section.height") for k in links}
    printed |= {
        f"length of beam {k[2:]} [m], from Table 1": (v, f"legs.{k}.flexible.length")
        for k, v in zip(links, (0.4505, 0.14, 0.4505), strict=True)
    }
    return parameter_item(
        robot, "Section 5", printed, says="Beams of Duralumin, 4 mm x 50 mm; modulus and density are not printed."
    )


def _square() -> Item:
    import plotly.graph_objects as go

    motion = fp.motions.dualemps_square(side=STROKE)
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
        says="A square in joint space whose path of point P follows the boundary of the workspace; each edge takes 1.8 s, then "
        "the robot stops so that its free vibration can be seen. No side is printed; the stroke is 25 cm.",
        ours=f"{edges} edges of {np.ptp(q[:, 0]):g} m in {length:.2f} s each, {motion.time[-1]:g} s in all: the whole stroke, "
        "from 0 (pauses chosen).",
        verdict=READ if edges == 4 and abs(length - MOVING) < step / 2 else DIFFERS,
        check="number and duration of the edges; the range of the sliders is the reading under Fig. 8",
        parts=[styled(figure, "Briot Fig. 7 (a): square in joint space", 420), _profile(motion)],
    )


def _profile(motion: fp.Motion | fp.ActuatorMotion) -> Any:
    import xarray as xr

    data = {"rate": (("time", "actuator"), motion.velocity, {"units": "m/s"})}
    result = xr.Dataset(data, coords={"time": motion.time, "actuator": ["q11", "q21"]})
    return time_figure(result, [PlotPanel(variable="rate", label="rate")], "Briot Fig. 7 (b): velocity profile", "slider")


def _paths(square: PaperSimulation, circle: PaperSimulation) -> Item:
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
    low, high = float(sliders.position.min()), float(sliders.position.max())
    beyond = 1e3 * _outside((low, high), (0.0, STROKE))
    return Item(
        where="Fig. 8",
        title="both trajectories of point P",
        says="The square leads along the boundary of the workspace. The circle has a radius of 0.1 m around (0.28, 0.90) m and a "
        "constant speed of 0.20 m/s; the sliders have a stroke of 25 cm; the nominal pose is q11 = q21 = 0.",
        ours=f"As commanded, radius and speed of the circle are kept to {off:.1e}; the sliders go from {low:.3f} to {high:.3f} "
        f"m, with q = 0 over {max(high, 0.0) - min(low, 0.0):.3f} m, more than the stroke. A stroke from 0 to 0.25 m fits best: "
        f"the circle leaves it by {beyond:.1f} mm; around (0.28, {NEARBY[1]:g}) m, which is printed as 0.90, it would not. Drawn "
        "as simulated, with deformed beams.",
        verdict=READ if off < 1e-12 and beyond < ROUNDED else DIFFERS,
        check="radius and speed of the circle; range of the sliders against the stroke, below",
        parts=[styled(figure, "Briot Fig. 8: trajectories of point P", 480), _ranges((low, high))],
    )


def _outside(needed: tuple[float, float], stroke: tuple[float, float]) -> float:
    """Distance by which a range leaves the stroke [m]."""
    return max(0.0, stroke[0] - needed[0], needed[1] - stroke[1])


def _ranges(circle: tuple[float, float]) -> HtmlTable:
    """Readings of the stroke against what has to lie in it."""
    moved = fp.motions.dualemps_circle(center=NEARBY).position
    needed = {
        "q = 0": (0.0, 0.0),
        "circle": circle,
        f"circle around (0.28, {NEARBY[1]:g})": (float(moved.min()), float(moved.max())),
    }
    rows = [
        [f"{low:g} to {high:g} m", why, *(f"{1e3 * _outside(n, (low, high)):.1f}" for n in needed.values())]
        for (low, high), why in STROKES.items()
    ]
    return HtmlTable(head=("stroke", "reading", *(f"{name}: outside by [mm]" for name in needed)), rows=rows, text=2)


NEARBY = (0.28, 0.896)
"""A centre that is printed as (0.28, 0.90) [m]."""

ROUNDED = 5.0
"""Half of the last digit of the printed centre [mm]."""

STROKES = {
    (0.0, 0.25): "q = 0 at one end: used here",
    (-0.125, 0.125): "q = 0 in the middle, as a nominal pose would be",
    (0.02, 0.27): "such that the circle as printed fits",
}
"""Ranges of the sliders [m] that sentences of the paper suggest."""


READINGS = (
    "Rows 13, 23, 16 of Table 2 are the beams themselves (4 x 50 mm, 2800 kg/m^3, 74 GPa): not added again as rigid bodies.",
    "Table 3: actuators locked, consistent mass, one element per elastic link, no gravity in the plane.",
    "Elastic end rotations enter the following bodies as true rotations; energy is then conserved.",
    "Point P is the origin of frame 17. The low-pass filter is a Butterworth filter of order 4, run forwards and backwards.",
    "Simulations have steps of 0.5 ms: samples farther apart would fold modes above 400 Hz into what lies below 100 Hz.",
    "Chosen: a stroke from 0 to 0.25 m and edges over the whole of it, the first after 1 s, one every 6 s; the circle starts at "
    "angle 0, counter-clockwise, at full speed with straight beams, which makes them vibrate. The paper feeds measured actuator "
    "motions to its models instead.",
    "Friction of the passive joints is smoothed by tanh at 1e-3 rad/s (chosen; Fig. 9 shows what follows from that); sliders "
    "have the sign of the rate.",
)
ERRATA = (
    "Table 1: rows 23, 24 are fixed joints (sigma = 2); their d are d_23, d_24, d_25.",
    "'Gravity along z0' contradicts the horizontal test plane.",
    "The operator count does not say whether the final solve is included: ours is given both ways.",
)
MISSING = (
    "Figs. 9 (b), 10 (b), 11 (b), Adams against measurement: Adams is not available, and measured curves are pictures. Exudyn, "
    "another program, gives our natural frequencies of Table 3 with the same numbers of elements "
    "(tests/elastodynamics/test_dualemps_exudyn.py); the square with friction was not run in it.",
    "The measured curves of Figs. 9 to 14, and measured actuator motions: not printed.",
    "Figs. 1 to 6: drawings and pictures of the setup.",
)
