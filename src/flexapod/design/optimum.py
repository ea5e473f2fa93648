"""`Optimum`, the result of an optimisation: designs as a table, as robots, with sensitivities at the best one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.requests.design_values import variant
from flexapod.arrays import Array
from flexapod.design.criteria import Criterion
from flexapod.design.variables import Axis
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimum:
    """Result of `optimise`: designs `x` (n, d) with `values` (n, c), best by the first objective first."""

    drawing: Robot
    axes: tuple[Axis, ...]
    criteria: tuple[Criterion, ...]
    objectives: int
    x: Array
    values: Array
    slope: Array

    @cached_property
    def table(self) -> xr.Dataset:
        """Variables and criteria over `design`."""
        import xarray as xr

        data = {a.name: ("design", self.x[:, i], {"units": a.unit}) for i, a in enumerate(self.axes)}
        data |= {c.name: ("design", self.values[:, k], {"units": c.unit}) for k, c in enumerate(self.criteria)}
        return xr.Dataset(data, coords={"design": np.arange(len(self.x))}, attrs={"robot": self.drawing.name})

    @cached_property
    def sensitivities(self) -> xr.DataArray:
        """Derivatives (criterion, variable) at design 0."""
        import xarray as xr

        coords = {"criterion": [c.name for c in self.criteria], "variable": [a.name for a in self.axes]}
        return xr.DataArray(self.slope, dims=("criterion", "variable"), coords=coords, name="derivative")

    def robot(self, design: int = 0) -> Robot:
        """The robot of a design; `write_robot_file` saves its description."""
        if not 0 <= design < len(self.x):
            raise InputError(f"there is no design {design}; there are 0 to {len(self.x) - 1}")
        return variant(self.drawing, self.axes, self.x[design])
