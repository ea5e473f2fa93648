"""`actuator_sizing`: peak and RMS force and power that a motion needs of each actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import trapezoid

from flexapod.analysis.requests.arguments import checked
from flexapod.calls import unchecked
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr


@checked(result=unchecked)
def actuator_sizing(result: xr.Dataset) -> xr.Dataset:
    """Peak and RMS force and power per actuator, and the energy over the motion.

    Args:
        result: of `inverse_dynamics` on a Motion: `force`, `power` over `time`.
    Returns:
        Dataset over `actuator`: `peak_force` and `rms_force` [N or N m], `peak_power`, `peak_braking` (largest negative) and
        `rms_power` [W], `energy` (integral of power) and `energy_given` (of its positive part) [J]. Integrals are by the
        trapezoidal rule over the samples.
    """
    if type(result).__name__ != "Dataset":
        raise InputError(f"result: expected the result of inverse_dynamics on a Motion, got {type(result).__name__}")
    for name in ("force", "power"):
        if name not in result or "time" not in result[name].dims:
            raise InputError(f"result: needs `{name}` over `time`; give the result of inverse_dynamics on a Motion")
    time = result.time.values
    if len(time) < 2:
        raise InputError("result: needs at least two samples over time")
    force, power, unit = result.force, result.power, result.force.attrs.get("units", "")

    def integral(values: np.ndarray) -> np.ndarray:
        return np.asarray(trapezoid(values, time, axis=0))

    span = time[-1] - time[0]
    f, p = force.transpose("time", "actuator").values, power.transpose("time", "actuator").values
    columns = {
        "peak_force": (np.abs(f).max(axis=0), unit),
        "rms_force": (np.sqrt(integral(f**2) / span), unit),
        "peak_power": (np.maximum(p.max(axis=0), 0.0), "W"),
        "peak_braking": (np.minimum(p.min(axis=0), 0.0), "W"),
        "rms_power": (np.sqrt(integral(p**2) / span), "W"),
        "energy": (integral(p), "J"),
        "energy_given": (integral(np.maximum(p, 0.0)), "J"),
    }
    import xarray as xr

    data = {name: ("actuator", values, {"units": units}) for name, (values, units) in columns.items()}
    return xr.Dataset(data, coords={"actuator": result.actuator}, attrs={"robot": result.attrs.get("robot", "")})
