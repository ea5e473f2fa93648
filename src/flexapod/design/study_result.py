"""`Study`, the result of a study: labelled tables, and its designs as robots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.design_values import variant
from flexapod.design.criteria import Criterion
from flexapod.design.study_files import read_rows
from flexapod.design.summary import Summary
from flexapod.design.variables import Axis
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Result of `study`; `seconds` is what evaluating took."""

    robot_file: Robot
    axes: tuple[Axis, ...]
    criteria: tuple[Criterion, ...]
    summary: Summary
    folder: Path | None
    kept: list[dict[str, Any]] | None
    seconds: float

    @property
    def designs(self) -> int:
        """Number of designs evaluated."""
        return self.summary.designs

    @property
    def valid(self) -> int:
        """Number of designs that every pose could be evaluated at."""
        return self.summary.valid

    @property
    def reasons(self) -> dict[str, int]:
        """Reasons why designs are invalid, each with the number of designs."""
        return dict(sorted(self.summary.reasons.items()))

    @property
    def units(self) -> dict[str, str]:
        """Unit of every variable and criterion."""
        return {a.name: a.unit for a in self.axes} | {c.name: c.unit for c in self.criteria}

    @cached_property
    def statistics(self) -> xr.Dataset:
        """`mean`, `deviation`, `lowest`, `highest`, `lowest_design`, `highest_design` (criterion)."""
        import xarray as xr

        s = self.summary
        if s.valid == 0:
            raise InputError("no design is valid, so that there are no statistics; `reasons` says why")
        numbers = {"mean": s.mean, "deviation": np.sqrt(s.square / max(s.valid - 1, 1)), "lowest": s.lowest, "highest": s.highest}
        data = {name: ("criterion", values) for name, values in numbers.items()}
        data |= {"lowest_design": ("criterion", np.array(s.lowest_at)), "highest_design": ("criterion", np.array(s.highest_at))}
        names, units = [c.name for c in self.criteria], [c.unit for c in self.criteria]
        coords = {"criterion": names, "unit": ("criterion", units)}
        return xr.Dataset(data, coords=coords, attrs={"robot": self.robot_file.name, "designs": s.designs, "valid": s.valid})

    @cached_property
    def front(self) -> xr.Dataset:
        """Designs that no other one beats in all criteria: variables and criteria over `design`."""
        index = self.summary.front[:, 0].astype(np.int64)
        names = list(self.units)
        columns = dict(zip(names, self.summary.front[:, 1:].T, strict=True))
        return self._table(index, columns).assign_attrs(complete=int(self.summary.complete))

    @cached_property
    def rows(self) -> xr.Dataset:
        """Every design: variables, criteria (NaN where invalid) and `reason` over `design`."""
        if self.kept is None:
            raise InputError("rows were not kept (keep=False); statistics and front are there")
        if self.folder is not None:
            columns = read_rows(self.folder)
        else:
            columns = {name: np.concatenate([np.asarray(b[name]) for b in self.kept]) for name in self.kept[0]}
        index = columns.pop("design")
        return self._table(index, columns)

    def _table(self, index: ArrayLike, columns: dict[str, object]) -> xr.Dataset:
        import xarray as xr

        data = {
            name: ("design", values, {"units": self.units[name]} if name in self.units else {})
            for name, values in columns.items()
        }
        return xr.Dataset(data, coords={"design": index}, attrs={"robot": self.robot_file.name})

    def best(self, criterion: str) -> int:
        """Index of the design that is best by one criterion."""
        names = [c.name for c in self.criteria]
        if criterion not in names:
            raise InputError(f"there is no criterion {criterion!r}; there are: {', '.join(names)}")
        k = names.index(criterion)
        return int((self.summary.lowest_at if self.criteria[k].better == "low" else self.summary.highest_at)[k])

    def robot(self, design: int) -> Robot:
        """The robot of a design of the front, or of the rows where they are kept."""
        front = self.summary.front
        found = np.flatnonzero(front[:, 0] == design) if len(front) else np.zeros(0, dtype=np.int64)
        if len(found):
            x = front[found[0], 1 : 1 + len(self.axes)]
        else:
            rows = self.rows
            if design not in rows.design.values:
                raise InputError(f"there is no design {design}; designs are 0 to {self.designs - 1}")
            x = np.array([float(rows[axis.name].sel(design=design)) for axis in self.axes])
        return variant(self.robot_file, self.axes, [float(v) for v in x])
