"""The result of an identification: estimates with error bars, what they predict, and the robot with the new numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import FlexapodError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.identification.bad_data import Suspicion
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Validation:
    """Prediction of forces that were not used for the estimate.

    Args:
        rms: (actuators,) of measured less predicted force; before: the same with the numbers of the file.
        noise: (actuators,) residual of the estimate itself.
    """

    rms: Array
    before: Array
    noise: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """Estimated parameters.

    Args:
        start: the robot whose numbers were the prior.
        parameter_names, theta: all parameters of the robot that go with the estimate: nearest to the file's.
        names: of the estimated parameters; combinations: each written out.
        units: of each.
        estimate, sigma: values and standard errors.
        covariance: (parameters, parameters).
        prior: values of the robot file.
        offset, offset_sigma: (actuators,) of the force, where asked for; likewise `backlash` and `gain` from current to force.
        noise: (actuators,) standard deviation of the residuals per (decimated) sample.
        condition: of the regressor with scaled columns.
        rows: equations used.
        method: of the estimate; physical: whether the estimate was made physically consistent.
        delay: [s] of the force channel that was undone.
        essential: names of the parameters that the data support (t-ratio above the bound).
        suspicions: about the data, where they did not stop the estimate.
        validation: on other data, where there was any.
    """

    start: Robot
    parameter_names: tuple[str, ...]
    theta: Array
    names: tuple[str, ...]
    combinations: tuple[str, ...]
    units: tuple[str, ...]
    estimate: Array
    sigma: Array
    covariance: Array
    prior: Array
    noise: Array
    condition: float
    rows: int
    method: str
    physical: bool = False
    offset: Array | None = None
    offset_sigma: Array | None = None
    backlash: Array | None = None
    backlash_sigma: Array | None = None
    gain: Array | None = None
    gain_sigma: Array | None = None
    delay: float = 0.0
    essential: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    validation: Validation | None = None
    source: str = ""
    residual: Any = field(default=None, repr=False)

    @cached_property
    def robot(self) -> Robot:
        """The robot with the estimated numbers. Friction and drive inertia below zero by less than three standard errors are
        zero there.

        Raises:
            FlexapodError: a number is impossible, such as a negative friction coefficient; ``physical=True`` avoids it.
        """
        from flexapod.description.problems import RobotFileError
        from flexapod.identification.identified_robot import identified_robot

        try:
            return identified_robot(self.start, self.parameter_names, self._possible(), self.source)
        except RobotFileError as error:
            first = str(error).splitlines()[0]
            raise FlexapodError(
                f"the estimate is not a physically possible robot ({first}); identify with physical=True, or leave out what the "
                f"data do not support"
            ) from None

    def _possible(self) -> Array:
        """Parameters with those set to zero that are negative within their error."""
        known = {name: (value, sigma) for name, value, sigma in zip(self.names, self.estimate, self.sigma, strict=True)}
        theta = self.theta.copy()
        for k, name in enumerate(self.parameter_names):
            parts = name.split(".")
            value, sigma = known.get(name) or known.get(".".join([parts[0], *parts[2:]])) or (0.0, 0.0)
            inertial = ".mass" in name or ".first_moment." in name or ".inertia." in name
            if not inertial and theta[k] < 0 and value > -3 * sigma:
                theta[k] = 0.0
            if (not inertial or name.endswith(".mass")) and abs(theta[k]) < 1e-9 * np.abs(theta).max():
                theta[k] = 0.0  # the data do not show it, and the file has zero
        return theta

    @property
    def t_ratio(self) -> Array:
        """Estimate over its standard error."""
        return np.abs(self.estimate) / np.maximum(self.sigma, 1e-300)

    def extras(self) -> list[tuple[str, Array, Array]]:
        """Name, values and standard errors (actuators,) of what was estimated beside the parameters."""
        found = [(name, getattr(self, name), getattr(self, f"{name}_sigma")) for name in ("offset", "backlash", "gain")]
        return [entry for entry in found if entry[1] is not None]

    def dataset(self) -> xr.Dataset:
        """Everything as a labelled dataset over `parameter` and `actuator`."""
        import xarray as xr

        data: dict[str, Any] = {
            "estimate": ("parameter", self.estimate), "sigma": ("parameter", self.sigma), "prior": ("parameter", self.prior),
            "t_ratio": ("parameter", self.t_ratio), "noise": ("actuator", self.noise),
        }  # fmt: skip
        for name, values, errors in self.extras():
            data |= {name: ("actuator", values), f"{name}_sigma": ("actuator", errors)}
        coords = {
            "parameter": list(self.names), "combination": ("parameter", list(self.combinations)),
            "parameter_unit": ("parameter", list(self.units)), "actuator": list(self.start.actuators),
        }  # fmt: skip
        attrs = {"method": self.method, "condition": self.condition, "rows": self.rows, "source": self.source}
        return xr.Dataset(data, coords=coords, attrs=attrs)

    def table(self) -> str:
        """The estimates as text: value, standard error, t-ratio, value of the file."""
        width = max([len(name) for name in self.names] + [9])
        lines = [f"{'parameter':{width}}  {'estimate':>12}  {'sigma':>10}  {'t':>8}  {'file':>12}  unit"]
        rows = zip(self.names, self.estimate, self.sigma, self.t_ratio, self.prior, self.units, strict=True)
        lines += [f"{n:{width}}  {e:12.6g}  {s:10.3g}  {t:8.1f}  {p:12.6g}  {u}" for n, e, s, t, p, u in rows]
        for name, *columns in self.extras():
            each = zip(self.start.actuators, *columns, strict=True)
            lines += [f"{name + ' ' + a:{width}}  {v:12.6g}  {e:10.3g}  {abs(v) / max(e, 1e-300):8.1f}" for a, v, e in each]
        return "\n".join(lines)

    def save(self, path: str | Path) -> Path:
        """Write the identified robot as a robot file; its `source` says how it was found."""
        from flexapod.description.write import write_robot_file

        write_robot_file(self.robot.description, path)
        return Path(path)
