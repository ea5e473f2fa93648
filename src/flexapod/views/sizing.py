r"""What actuators and joints have to bear along a motion: the numbers for choosing motors, guides and bearings.

RMS is over time, :math:`\sqrt{\int f^2\,dt / T}`, by the trapezoidal rule; at a single sample it is the value itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.plot_time import actuator_limits

if TYPE_CHECKING:
    import xarray as xr

HEAD = (
    "actuator", "from", "to", "stroke limits", "peak rate", "peak force", "RMS force", "peak power", "RMS power",
    "energy taken [J]",
)  # fmt: skip


def rms(time: Any, values: Any) -> Any:
    """Root mean square over time of columns (n, k)."""
    if len(time) < 2:
        return np.abs(values[0])
    return np.sqrt(np.trapezoid(values**2, time, axis=0) / (time[-1] - time[0]))


def actuator_sizing(robot: fp.Robot, legs: xr.Dataset, drive: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Per actuator: stroke used and allowed, peaks and RMS of rate, force and power, net energy; SI units.

    Args:
        legs: result of inverse kinematics along a motion.
        drive: result of inverse dynamics along the same motion.
    """
    time = drive.time.values
    q, v = legs.actuator_position.values, legs.actuator_velocity.values
    f, p = drive.force.values, drive.power.values
    low, high = actuator_limits(robot, "stroke")
    mean = {"force": rms(time, f), "power": rms(time, p)}
    energy = np.trapezoid(p, time, axis=0) if len(time) > 1 else np.zeros(p.shape[1])
    return {
        name: {
            "unit": robot.actuator_units[k],
            "from": q[:, k].min(),
            "to": q[:, k].max(),
            "stroke": [low[k], high[k]],
            "peak_rate": np.abs(v[:, k]).max(),
            "peak_force": np.abs(f[:, k]).max(),
            "rms_force": mean["force"][k],
            "peak_power": np.abs(p[:, k]).max(),
            "rms_power": mean["power"][k],
            "energy": energy[k],
        }
        for k, name in enumerate(robot.actuators)
    }


def sizing_rows(sizing: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Rows of text under `HEAD`, units beside the numbers."""
    rows = []
    for name, s in sizing.items():
        length = s["unit"]
        push = "N" if length == "m" else "N m"
        low, high = s["stroke"]
        limits = f"{number(low)} .. {number(high)} {length}" if np.isfinite(low) or np.isfinite(high) else "none"
        rows.append(
            [
                name,
                f"{number(s['from'])} {length}",
                f"{number(s['to'])} {length}",
                limits,
                f"{number(s['peak_rate'], 4)} {length}/s",
                f"{number(s['peak_force'])} {push}",
                f"{number(s['rms_force'])} {push}",
                f"{number(s['peak_power'], 4)} W",
                f"{number(s['rms_power'], 4)} W",
                number(s["energy"], 4),
            ]
        )
    return rows


JOINT_HEAD = ("joint", "peak force [N]", "RMS force [N]", "peak moment [N m]", "not determined")


def joint_rows(drive: xr.Dataset) -> list[list[str]]:
    """Rows of text under `JOINT_HEAD` from a result with reactions; NaN components are left out and named."""
    time = drive.time.values
    rows = []
    for name in drive.joint.values:
        force = drive.reaction_force.sel(joint=name).values
        moment = drive.reaction_moment.sel(joint=name).values
        size = np.sqrt(np.nansum(force**2, axis=1))
        lost = [f"{what} {axis}" for what, a in (("force", force), ("moment", moment)) for axis, c in zip("xyz", a.T, strict=True)
                if np.isnan(c).any()]  # fmt: skip
        peak = np.sqrt(np.nansum(moment**2, axis=1)).max()
        mean = float(rms(time, size[:, None])[0])
        rows.append([str(name), number(size.max()), number(mean), number(peak), ", ".join(lost)])
    return rows


def limit_warnings(robot: fp.Robot, motion: fp.Motion, sizing: dict[str, dict[str, Any]]) -> list[str]:
    """Limits that a motion does not keep: those of `check_motion`, and largest forces and powers of the file."""
    told = [str(v) for v in fp.check_motion(robot, motion).violations]
    for what in ("force", "power"):
        _, high = actuator_limits(robot, what)
        for limit, (name, s) in zip(high, sizing.items(), strict=True):
            if s[f"peak_{what}"] > limit:
                unit = "W" if what == "power" else "N" if s["unit"] == "m" else "N m"
                told.append(f"actuator {name} needs a {what} of {number(s[f'peak_{what}'])} {unit}, limit {number(limit)} {unit}")
    return told
