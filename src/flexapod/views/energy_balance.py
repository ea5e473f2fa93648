"""The energy balance of a simulation: its entries by the labels of figures.

Kinetic, potential and elastic energy grow by what actuators and the world supply, less what friction and damping take.
Checked by: tests/views/test_energy_entries.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def energy_entries(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """Entries over time [J], by the labels of figures."""
    return {
        "kinetic": run.kinetic_energy,
        "potential, from start": run.potential_energy - run.potential_energy[0],
        "elastic": run.elastic_energy,
        "supplied by actuators": run.supplied_work.sum("actuator"),
        "from outside": run.external_work,
        "dissipated": run.dissipated_energy,
    }


def energy_residual(run: xr.Dataset) -> xr.DataArray:
    """What the energy balance leaves over time [J]."""
    return run["energy_residual"] if "energy_residual" in run else run["ledger_residual"]  # a file of the last version


def exchanged(run: xr.Dataset) -> float:
    """Largest energy in the energy balance [J]: supplied, dissipated, from outside, kinetic or potential."""
    entries = {**energy_entries(run), "supplied by actuators": abs(run.supplied_work).sum("actuator")}
    return max(float(abs(part).max()) for name, part in entries.items() if name != "elastic")
