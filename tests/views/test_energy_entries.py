"""Entries of the energy balance by the labels of figures."""

import numpy as np
import pytest
import xarray as xr

from flexapod.views.plots.time_figures import energy_entries, energy_residual, exchanged

TIMES = np.linspace(0.0, 1.0, 5)
ROUNDING = 1e-12
"""Sums of a handful of numbers near one."""


def run() -> xr.Dataset:
    """A made-up simulation that balances."""
    elastic, kinetic, lost, outside = 0.1 + 0.2 * TIMES, TIMES**2, 0.5 * TIMES, 0.25 * TIMES
    work = np.stack([3.0 * TIMES, -1.0 * TIMES], axis=1)
    lifted = work.sum(axis=1) + outside - lost - kinetic - 0.2 * TIMES
    values = {
        "kinetic_energy": kinetic, "potential_energy": 5.0 + lifted, "elastic_energy": elastic, "external_work": outside,
        "dissipated_energy": lost, "energy_residual": 1e-3 * TIMES,
    }  # fmt: skip
    data = {name: (("time",), v, {"units": "J"}) for name, v in values.items()}
    return xr.Dataset({**data, "supplied_work": (("time", "actuator"), work)}, coords={"time": TIMES})


def test_entries_balance() -> None:
    """Kinetic + potential + elastic - their start = supplied + outside - dissipated; sizes of all works count as exchanged."""
    e = energy_entries(run())
    stored = e["kinetic"] + e["potential, from start"] + e["elastic"]
    left = stored - stored[0] - e["supplied by actuators"] - e["from outside"] + e["dissipated"]
    assert float(np.abs(left).max()) < ROUNDING
    assert float(energy_residual(run())[-1]) == 1e-3
    assert exchanged(run()) == pytest.approx(4.0)
