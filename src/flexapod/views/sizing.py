r"""Loads of actuators and joints along a motion: the numbers for choosing motors, guides and bearings.

RMS is over time, :math:`\sqrt{\int f^2\,dt / T}`, by the trapezoidal rule; at a single sample it is the value itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from scipy.integrate import trapezoid

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.plots.time_figures import actuator_limits

if TYPE_CHECKING:
    import xarray as xr

ROUNDING = 1e-9
"""Share of the largest value below which a number is shown as zero: what is left of sums that cancel."""

NOTHING = 1e-6
"""Moments below this, of the largest force times the robot's length, are what is left of sums that cancel: no bearing is chosen
by them."""

Sizing = TypedDict(
    "Sizing",
    {
        "unit": str, "from": float, "to": float, "stroke": list[float], "peak_rate": float, "peak_force": float,
        "rms_force": float, "peak_power": float, "rms_power": float, "energy": float,
    },
)  # fmt: skip
"""Requirements of an actuator along a motion; SI units."""


def under_actuated(robot: fp.Robot) -> bool:
    """Whether there are fewer actuators than degrees of freedom, so that a motion determines no actuator forces."""
    return robot.floats or len(robot.actuators) < robot.mobility.platform


def rms(time: Array, values: Array) -> Any:
    """Root mean square over time of columns (n, k)."""
    if len(time) < 2:
        return np.abs(values[0])
    return np.sqrt(trapezoid(values**2, time, axis=0) / (time[-1] - time[0]))


def motion_sizing(robot: fp.Robot, legs: xr.Dataset, drive: xr.Dataset) -> dict[str, Sizing]:
    """Per actuator: stroke used and allowed, peaks and RMS of rate, force and power, net energy; SI units.

    Args:
        legs: result of inverse kinematics along a motion.
        drive: result of inverse dynamics along the same motion.
    """
    q, v = legs.actuator_position.values, legs.actuator_velocity.values
    low, high = actuator_limits(robot, "stroke")
    effort = _effort(drive)
    return {
        name: {
            "unit": robot.actuator_units[k],
            "from": q[:, k].min(),
            "to": q[:, k].max(),
            "stroke": [low[k], high[k]],
            "peak_rate": np.abs(v[:, k]).max(),
            "peak_force": effort["peak_force"][k],
            "rms_force": effort["rms_force"][k],
            "peak_power": effort["peak_power"][k],
            "rms_power": effort["rms_power"][k],
            "energy": effort["energy"][k],
        }
        for k, name in enumerate(robot.actuators)
    }


def _effort(drive: xr.Dataset) -> dict[str, Array]:
    """Forces, powers and energy (actuators,): those of `fp.actuator_sizing`, of a single sample its own; power of either sign."""
    if drive.sizes["time"] < 2:
        f, p = np.abs(drive.force.values[0]), np.abs(drive.power.values[0])
        return {"peak_force": f, "rms_force": f, "peak_power": p, "rms_power": p, "energy": np.zeros(len(p))}
    size = fp.actuator_sizing(drive)
    found: dict[str, Array] = {name: size[name].values for name in ("peak_force", "rms_force", "rms_power", "energy")}
    return found | {"peak_power": np.maximum(size.peak_power.values, -size.peak_braking.values)}


def sizing_table(sizing: dict[str, Sizing]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of text, angles in degrees; mixed units are beside the names, else in the head."""
    units = {s["unit"] for s in sizing.values()}
    mixed = len(units) > 1
    shared = "m or deg" if mixed else "deg" if "rad" in units else "m"
    what = "force or torque [N or N m]" if mixed else "torque [N m]" if "rad" in units else "force [N]"
    head = [
        "actuator", f"from [{shared}]", f"to [{shared}]", f"stroke limits [{shared}]", f"peak rate [{shared}/s]",
        f"peak {what}", f"RMS {what}", "peak power [W]", "RMS power [W]", "net energy [J]",
    ]  # fmt: skip
    rows, travel = [], max(max(abs(s["from"]), abs(s["to"])) for s in sizing.values())
    for name, s in sizing.items():
        size, unit = (np.degrees(1.0), "deg") if s["unit"] == "rad" else (1.0, "m")
        ends = [number(size * x if abs(x) > ROUNDING * travel else 0.0) for x in (s["from"], s["to"])]
        low, high = s["stroke"]
        limits = f"{number(size * low)} .. {number(size * high)}" if np.isfinite(low) or np.isfinite(high) else "none"
        energy = s["energy"] if abs(s["energy"]) > ROUNDING * s["peak_power"] else 0.0
        numbers = [size * s["peak_rate"], s["peak_force"], s["rms_force"], s["peak_power"], s["rms_power"], energy]
        rows.append([f"{name} ({unit})" if mixed else name, *ends, limits, *(number(x, 4) for x in numbers)])
    return head, rows


JOINT_HEAD = ("joint", "peak force [N]", "RMS force [N]", "peak moment [N m]", "not determined")


def joint_rows(drive: xr.Dataset, length: float = 1.0) -> list[list[str]]:
    """Rows of text under `JOINT_HEAD` from a result with reactions; NaN components are left out and named.

    Args:
        length: of the robot [m]; moments that are nothing against the largest force at this arm are shown as zero.

    A force or moment of which no component is determined is called so: it may have any size.
    """
    time = drive.time.values
    most = float(np.nanmax(np.abs(drive.reaction_force.values)))
    rows = []
    for name in drive.joint.values:
        force = drive.reaction_force.sel(joint=name).values
        moment = drive.reaction_moment.sel(joint=name).values
        size = np.sqrt(np.nansum(force**2, axis=1))
        lost = [f"{what} {axis}" for what, a in (("force", force), ("moment", moment)) for axis, c in zip("xyz", a.T, strict=True)
                if np.isnan(c).any()]  # fmt: skip
        sizes = (size.max(), float(rms(time, size[:, None])[0]))
        shown = [_known(force, x, ROUNDING * most) for x in sizes]
        shown.append(_known(moment, np.sqrt(np.nansum(moment**2, axis=1)).max(), NOTHING * length * most))
        rows.append([str(name), *shown, ", ".join(lost)])
    return rows


def _known(components: Array, value: float, nothing: float) -> str:
    """The size of a vector (n, 3) as text: rounding as zero, one without any determined component as such."""
    if np.isnan(components).any(axis=0).all():
        return "not determined"
    return number(value if value > nothing else 0.0)
