"""`Calibration`, the result of a calibration: the robot, its parameters with standard deviations, residuals, commands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """Result of `calibrate`; `fixed`: parameters that were kept, because the measurements do not determine them."""

    drawing: Robot
    paths: tuple[str, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    correction: Array
    covariance: Array
    residual: Array
    weight: Array
    labels: tuple[str, ...]
    rank: int
    scale: float
    fixed: tuple[str, ...]
    validation: Array | None

    @cached_property
    def robot(self) -> Robot:
        """The calibrated robot; `write_robot_file` saves its description."""
        return self.drawing.with_parameters(dict(zip(self.paths, map(float, self.values), strict=True)))

    @property
    def values(self) -> Array:
        """Calibrated values (d,) of the file's parameters."""
        drawn = np.array([float(self.drawing.parameter(p)) for p in self.paths])  # type: ignore[arg-type]
        return drawn + self.correction[: len(self.paths)]

    @property
    def compliance(self) -> Array:
        """Compliance of the actuators (a,) [m/N or rad/(N m)]; empty without loads."""
        return self.correction[len(self.paths) :]

    @cached_property
    def table(self) -> xr.Dataset:
        """`value`, `correction`, `sigma` (parameter) and `correlation` (parameter, parameter_)."""
        import xarray as xr

        sigma = np.sqrt(np.diag(self.covariance))
        over = np.where(sigma > 0, sigma, np.inf)
        data = {
            "value": ("parameter", np.append(self.values, self.compliance)),
            "correction": ("parameter", self.correction),
            "sigma": ("parameter", sigma),
            "correlation": (("parameter", "parameter_"), self.covariance / np.outer(over, over)),
        }
        coords = {"parameter": list(self.names), "unit": ("parameter", list(self.units))}
        return xr.Dataset(data, coords=coords, attrs={"robot": self.drawing.name, "rank": self.rank})

    @cached_property
    def residuals(self) -> xr.Dataset:
        """`residual` and, where validated, `predicted_residual` (measurement, row) in m or rad, and `standardised`."""
        import xarray as xr

        dims = ("measurement", "row")
        data = {"residual": (dims, self.residual / self.weight), "standardised": (dims, self.residual)}
        if self.validation is not None:
            data["predicted_residual"] = (dims, self.validation / self.weight)
        return xr.Dataset(data, coords={"row": list(self.labels)}, attrs={"robot": self.drawing.name})

    def commands(self, at: State | Motion, wrench: ArrayLike | None = None) -> xr.Dataset:
        """Actuator coordinates that bring the real robot to poses: `actuator_position`, and `compensation` of the drawing's.

        Args:
            wrench: load (6,) or (n, 6) on the platform, where the actuators' compliance was calibrated; its weight always counts.
        """
        real = inverse_kinematics(self.robot, at, joints=False)
        drawn = inverse_kinematics(self.drawing, at, joints=False)
        if len(self.compliance):
            force = inverse_dynamics(self.robot, at, wrench=np.zeros(6) if wrench is None else wrench, friction=False).force
            real = real.assign(actuator_position=real.actuator_position + force * self.compliance)
        elif wrench is not None:
            raise InputError(
                "wrench: the actuators' compliance was not calibrated; give `wrench` with the measurements, or leave it out"
            )
        return real.assign(compensation=real.actuator_position - drawn.actuator_position)
