"""Results between their samples: dense output of a simulation, by quintic Hermite interpolation of pose, twist and
acceleration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexapod.calls import check_dataset, checked
from flexapod.motions.combine import resample
from flexapod.simulation.simulate import as_motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.motions.motion import Motion


@checked(result=check_dataset)
def run_at(result: xr.Dataset, time: Any) -> Motion:
    """The platform's motion in a result at other times within it.

    The error falls with the sixth power of the output step, faster than that of both integrators; between samples of a
    sampled controller, whose acceleration jumps, with its third.

    Args:
        result: of `simulate`.
        time: (n,) [s], rising.

    Checked by: tests/simulation/test_orders.py.
    """
    return resample(as_motion(result), time=time)
