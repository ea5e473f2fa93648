"""Key figures of a robot on a motion: strokes, forces, speeds, powers, joint angles, margins, first frequency, mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.drives import Drives
from flexapod.views.output import number, without_noise
from flexapod.views.plots.time_figures import actuator_limits, largest
from flexapod.views.sizing import rms

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class KeyFigure:
    """One line: what it is, its value and unit, the actuator or joint it comes from, the margin to its limit in percent of it."""

    name: str
    value: float
    unit: str
    owner: str = ""
    margin: float = np.nan

    @property
    def text(self) -> str:
        """Value with unit."""
        return f"{number(self.value, 4)} {self.unit}".strip()

    @property
    def margin_text(self) -> str:
        """The margin, or a dash."""
        return f"{self.margin:.0f} %" if np.isfinite(self.margin) else "-"


HEAD = ("key figure", "value", "at", "margin to the limit")


def validity(result: xr.Dataset) -> list[str]:
    """Remarks on the range of the theory, from a result of a flexible robot."""
    return [text for text in str(result.attrs.get("validity", "")).split("\n") if text]


def key_figures(robot: fp.Robot, legs: xr.Dataset, drive: xr.Dataset, margins: xr.Dataset, modes: xr.Dataset | str | None = None,
                drives: Drives | None = None) -> list[KeyFigure]:  # fmt: skip
    """The list for a motion.

    Args:
        legs, drive, margins: of inverse kinematics, inverse dynamics and `check_motion` along the same motion.
        modes, drives: natural frequencies at home, where there are any, and what holds the actuators in them.

    Checked by: tests/views/test_report_parts.py.
    """
    found: list[KeyFigure] = []
    for unit in dict.fromkeys(robot.actuator_units):
        found += _actuators(robot, legs, drive, unit)
    power = drive.power.values
    limit = np.array(actuator_limits(robot, "power")[1])
    found.append(_figure("peak power, one actuator", np.abs(power).max(axis=0), limit, "W", robot.actuators))
    total = power.sum(axis=1)
    found.append(KeyFigure(name="peak power, all actuators", value=float(max(total.max(), 0.0)), unit="W"))
    found.append(KeyFigure(name="peak braking power, all actuators", value=float(max(-total.min(), 0.0)), unit="W"))
    if "deflection" in margins and np.isfinite(margins.deflection).any():
        found.append(_angle(margins))
    found.append(KeyFigure(name="largest condition number", value=float(np.nanmax(margins.condition_number)), unit=""))
    return found + home_figures(robot, modes, drives)


def home_figures(robot: fp.Robot, modes: xr.Dataset | str | None = None, drives: Drives | None = None) -> list[KeyFigure]:
    """Figures that need no motion: first frequency at home, if there is any, and moving mass; an assumed stiffness is noted."""
    mass = KeyFigure(name="moving mass", value=moving_mass(robot), unit="kg")
    if modes is None or isinstance(modes, str):
        return [mass]
    name = "first frequency at home" + (", stiffness assumed" if drives is not None and drives.assumed else "")
    name += "" if bool(modes.stable.values[0]) else " (unstable)"
    return [KeyFigure(name=name, value=float(modes.frequency.values[0]), unit="Hz"), mass]


def _actuators(robot: fp.Robot, legs: xr.Dataset, drive: xr.Dataset, unit: str) -> list[KeyFigure]:
    """Strokes, speeds and forces of the actuators of one unit."""
    own = [k for k, u in enumerate(robot.actuator_units) if u == unit]
    names = [robot.actuators[k] for k in own]
    degrees = np.degrees(1.0) if unit == "rad" else 1.0
    shown, push = ("deg", "N m") if unit == "rad" else (unit, "N")
    q, v = legs.actuator_position.values[:, own], np.abs(legs.actuator_velocity.values[:, own])
    f = drive.force.values[:, own]
    low, high = (np.array(side)[own] for side in actuator_limits(robot, "stroke"))
    room = np.minimum(q - low, high - q).min(axis=0)
    travel = np.ptp(q, axis=0)
    tight = largest(np.where(np.isfinite(room), -room, -np.inf)) if np.isfinite(room).any() else 0
    margin = 100.0 * room[tight] / (high - low)[tight] if np.isfinite(room[tight]) else np.nan
    most = largest(travel)
    mean = rms(drive.time.values, f)
    speed, force = (np.array(actuator_limits(robot, kind)[1])[own] for kind in ("speed", "force"))
    return [
        KeyFigure(name="largest travel", value=float(degrees * travel[most]), unit=shown, owner=names[most]),
        KeyFigure(name="nearest to an end of its stroke", value=float(degrees * room[tight]), unit=shown, owner=names[tight],
                  margin=float(margin)),
        _figure("peak speed", v.max(axis=0), speed, f"{shown}/s", names, degrees),
        _figure("peak force" if unit == "m" else "peak torque", np.abs(f).max(axis=0), force, push, names),
        KeyFigure(name="RMS force" if unit == "m" else "RMS torque", value=float(mean.max()), unit=push,
                  owner=names[largest(mean)]),
    ]  # fmt: skip


def _figure(name: str, peaks: Array, limits: Array, unit: str, names: Sequence[str], factor: float = 1.0) -> KeyFigure:
    """The largest of some peaks; the margin is that of the actuator nearest to its own limit."""
    k = largest(peaks)
    bounded = np.isfinite(limits)
    margin = float((100.0 * (1.0 - peaks[bounded] / limits[bounded])).min()) if bounded.any() else np.nan
    return KeyFigure(name=name, value=float(factor * peaks[k]), unit=unit, owner=str(names[k]), margin=margin)


def _angle(margins: xr.Dataset) -> KeyFigure:
    deflected = np.nanmax(margins.deflection.values, axis=0)
    k = largest(deflected)
    limit = np.nanmax(margins.deflection.values + margins.angle_margin.values, axis=0)
    known = np.isfinite(limit) & (limit > 0)
    margin = float((100.0 * (1.0 - deflected[known] / limit[known])).min()) if known.any() else np.nan
    angle = float(without_noise(np.degrees(deflected[k]), 1.0))
    return KeyFigure(name="largest joint angle from home", value=angle, unit="deg",
                     owner=str(margins.swivel.values[k]), margin=margin)  # fmt: skip


def moving_mass(robot: fp.Robot) -> float:
    """Platform and all bodies of the legs [kg]."""
    own = 0.0 if (robot.description.file.platform.body or "") else robot.platform.mass
    return float(own + sum(link.body.mass for leg in robot.legs for link in leg.links if link.body is not None))


def rows(found: list[KeyFigure]) -> list[list[str]]:
    """Rows of text under `HEAD`."""
    return [[figure.name, figure.text, figure.owner, figure.margin_text] for figure in found]
