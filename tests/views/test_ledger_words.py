"""Ledgers of runs with flexible legs and of other runs read by the same words."""

import numpy as np
import pytest
import xarray as xr

from flexapod.views.ledger import exchanged, ledger_entries, ledger_residual

TIMES = np.linspace(0.0, 1.0, 5)
ROUNDING = 1e-12
"""Sums of a handful of numbers near one."""


def legs_run() -> xr.Dataset:
    """A made-up run of flexible legs that balances: potential counts the elastic part."""
    elastic, kinetic, lost, work = 0.1 + 0.2 * TIMES, TIMES**2, 0.5 * TIMES, 2.0 * TIMES
    lifted = work - lost - kinetic - 0.2 * TIMES
    values = {
        "kinetic_energy": kinetic, "potential_energy": lifted + elastic, "elastic_energy": elastic, "work": work,
        "dissipated": lost, "ledger": 0.0 * TIMES,
    }  # fmt: skip
    return xr.Dataset({name: (("time",), v, {"units": "J"}) for name, v in values.items()}, coords={"time": TIMES})


def test_entries_of_flexible_legs_balance() -> None:
    """Kinetic + potential + elastic - their start = supplied - dissipated: the elastic part is counted once."""
    run = legs_run()
    e = ledger_entries(run)
    stored = e["kinetic"] + e["potential, from start"] + e["elastic"]
    left = stored - stored[0] - e["supplied by actuators"] + e["dissipated"]
    assert float(np.abs(left).max()) < ROUNDING
    assert float(np.abs(ledger_residual(run)).max()) == 0.0
    assert exchanged(run) == pytest.approx(2.0)


def test_entries_of_other_runs() -> None:
    """Works of all actuators are summed; their sizes count for what was exchanged."""
    run = legs_run().drop_vars(["work", "dissipated", "ledger"])
    both = np.stack([TIMES, -3.0 * TIMES], axis=1)
    run = run.assign(
        supplied_work=(("time", "actuator"), both), external_work=("time", TIMES), dissipated_energy=("time", TIMES),
        ledger_residual=("time", 1e-3 * TIMES),
    )  # fmt: skip
    assert float(ledger_entries(run)["supplied by actuators"][-1]) == -2.0
    assert exchanged(run) == pytest.approx(4.0)
    assert float(ledger_residual(run)[-1]) == 1e-3
