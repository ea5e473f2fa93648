"""Residual vibration for report and studio: a standard move, the effect of shapers and controllers, its table and figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.plots.robot_figures import styled
from flexapod.views.reports.html import HtmlTable, paragraph
from flexapod.views.scene.colours import DASHES, colour

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

DISTANCE = 0.02
"""Way of every actuator in the standard move, of the characteristic length, or in rad."""
WRONG = 0.1
"""Error of the frequencies that the table shows beside exact ones."""
MODES = 3
"""Modes that shapers are made for."""
PERIODS = 1.7
"""Duration of the standard move, in periods of the first mode: two would leave nothing of it, one the most."""
BANDWIDTH, DAMPING = 0.25, 0.2
"""Bandwidth of the shown controllers, of the first frequency, and the damping that accelerometers shall give its mode."""
HEAD = (
    "method", "peak [m]", "reduction [%]", "late peak [m]", "reduction [%]", "reduction of the level [%]", "ends later by [s]",
)  # fmt: skip


def standard_move(robot: fp.Robot) -> fp.ActuatorMotion:
    """All actuators from home by bang-bang acceleration in 1.7 periods of the first mode.

    Checked by: tests/views/test_residual_figures.py.
    """
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    still = fp.ActuatorMotion(time=np.zeros(1), position=home[None], velocity=0 * home[None], acceleration=0 * home[None])
    at: Any = still if robot.moved_by == "actuators" else fp.State.at_home(robot)
    modes = fp.natural_frequencies(robot, at).squeeze()
    first = float(modes.frequency.values[0])
    if not bool(modes.stable.values[0]) or first <= 0:
        raise fp.InputError(
            f"{robot.name} is unstable at home with locked actuators (growth {number(-2 * np.pi * first, 3)} 1/s): its vibration "
            "grows whatever the shaper or controller; make it stiffer or lighter"
        )
    way = DISTANCE * np.where([unit == "m" for unit in robot.actuator_units], robot.characteristic_length, 1.0)
    corners = [home, home + way]
    return fp.motions.actuator_polygon(corners=corners, durations=PERIODS / first, law="constant-acceleration", samples=201)


def watched_point(robot: fp.Robot) -> str | None:
    """The first named point of the platform or of a leg; None for the platform's frame."""
    named = [f"{body}.{key}" for body, data in robot.bodies_by_name.items() for key in data.points]
    return named[0] if named else None


def shaped_residuals(robot: fp.Robot, report: Callable[[float], object] | None = None) -> list[tuple[str, xr.Dataset]]:
    """Residual vibration with shapers, for exact frequencies and wrong ones; each with its label.

    Args:
        report: called with the part that is done.
    """
    move, point, found = standard_move(robot), watched_point(robot), []
    for k, error in enumerate((0.0, WRONG, -WRONG)):
        label = "exact frequencies" if not error else f"frequencies {100 * abs(error):.0f} % too {'high' if error > 0 else 'low'}"
        found.append((label, fp.residual_vibration(robot, move, modes=MODES, error=error, point=point)))
        if report is not None:
            report((k + 1) / 3)
    return found


def controlled_residuals(robot: fp.Robot) -> xr.Dataset:
    """Residual vibration under computed torque, without and with accelerometers."""
    move = standard_move(robot)
    omega = 2.0 * np.pi * BANDWIDTH * PERIODS / float(move.time[-1])
    start: Any = fp.ActuatorMotion(
        time=np.zeros(1), position=move.position[:1], velocity=0 * move.position[:1], acceleration=0 * move.position[:1]
    )
    followed: Any = move
    if robot.moved_by == "platform":
        start, followed = fp.State.at_home(robot), fp.platform_motion(robot, move)
    gains: dict[str, Any] = {"kp": omega**2, "kd": 1.4 * omega, "corner": omega / (2.0 * np.pi)}
    ka = fp.damping_gain(robot, start, DAMPING)
    ways = {"computed torque": fp.JointTorque(**gains, ka=0.0), "with accelerometers": fp.JointTorque(**gains, ka=ka)}
    return fp.residual_vibration(robot, followed, ways, modes=MODES, after=5.0 * float(move.time[-1]), point=watched_point(robot))


def residual_rows(found: xr.Dataset, label: str = "") -> list[list[str]]:
    """Rows of a table, one per way."""
    rows = []
    for name in found.way.values:
        one = found.sel(way=name)
        peaks = [number(float(one.peak), 3), f"{100 * float(one.reduction):.1f}"]
        late = [number(float(one.late_peak), 3), f"{100 * float(one.late_reduction):.1f}"]
        level = [f"{100 * float(one.level_reduction):.1f}", number(float(one.delay), 3)]
        rows.append([f"{name}{', ' + label if label else ''}", *peaks, *late, *level])
    return rows


def vibration_figure(found: xr.Dataset, title: str = "After the move") -> go.Figure:
    """Displacement after the end of a move along the axis that moves most, one line per way of `flexapod.residual_vibration`.

    Args:
        found: result of `flexapod.residual_vibration`.

    Checked by: tests/views/test_residual_figures.py.
    """
    import plotly.graph_objects as go

    axis = int(np.abs(found.displacement.values).max(axis=(0, 1)).argmax())
    figure = go.Figure()
    for k, name in enumerate(found.way.values):
        y = found.displacement.sel(way=name).values[:, axis]
        line = {"color": colour(k), "dash": DASHES[k % len(DASHES)]}
        figure.add_scatter(x=found.since_end.values, y=y, mode="lines", line=line, name=str(name))
    figure.update_xaxes(title_text="time after the end of the move [s]")
    figure.update_yaxes(title_text=f"displacement along {'xyz'[axis]} [m]")
    return styled(figure, title, 400)


def vibration_blocks(robot: fp.Robot) -> list[Any]:
    """The section of a report: table, figures, what was moved."""
    try:
        shaped = shaped_residuals(robot)
    except fp.FlexapodError as error:
        return [paragraph(f"Not computed: {error}", "note")]
    exact = shaped[0][1]
    rows = [
        row for label, found in shaped for row in residual_rows(found, label if found is not exact else "")[found is not exact :]
    ]
    point = watched_point(robot) or "platform"
    lead = (
        f"Every actuator moves by {100 * DISTANCE:g} % of the robot's size (or {DISTANCE:g} rad) from home and stops, by "
        f"bang-bang acceleration in {number(float(exact.attrs['move']), 3)} s, without friction. Shown is the point {point} "
        "after the end, late: in the last third; level is the root of the mean kinetic energy. Shapers are made for the first "
        f"{MODES} modes, tuned along the move: {', '.join(number(float(f), 4) for f in exact.frequency.mean('pose'))} Hz."
    )
    shown = [paragraph(lead), HtmlTable(head=HEAD, rows=rows), vibration_figure(exact, "Shaped moves, exact frequencies")]
    return [*shown, *_controlled_blocks(robot)]


def _controlled_blocks(robot: fp.Robot) -> list[Any]:
    """Blocks about the move driven by forces; a slow controller that cannot hold the weight is reported."""
    try:
        found = controlled_residuals(robot)
    except fp.FlexapodError as error:
        return [paragraph(f"Not driven by forces: {error}", "note")]
    driven = (
        f"The same move under computed torque with the deflection fed forward, bandwidth {100 * BANDWIDTH:g} % of the first "
        f"frequency; accelerometers are to damp its mode to {100 * DAMPING:g} % of critical."
    )
    return [paragraph(driven), HtmlTable(head=HEAD, rows=residual_rows(found)), vibration_figure(found, "Driven by forces")]
