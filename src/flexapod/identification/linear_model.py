r"""The linear model of a rigid robot, :math:`\Gamma = Y\theta`: names, units and file values of theta, and Y of samples.

Letters: theta parameters in the axes of the robot file, Y (n, actuators, parameters). Parameters of legs may be tied
(`legs="alike"`): one column for the same part of all legs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.model.rigid_dynamics import note
from flexapod.analysis.requests.properties import depends_on_loads, holds
from flexapod.analysis.requests.results import check_option
from flexapod.analysis.verbs.inverse_kinematics import joint_rates
from flexapod.arrays import Array
from flexapod.description.friction import friction_unit
from flexapod.equations.friction_regressor import friction_columns
from flexapod.equations.regressor import Column, inertial_columns
from flexapod.errors import InputError
from flexapod.identification.loop_regressor import known_forces, loop_friction_regressor, loop_regressor, loop_request
from flexapod.robot.build import has_inner_loops

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot

Legs = Literal["each", "alike"]
UNITS = {"mass": "kg", "first_moment": "kg m"}


@dataclass(frozen=True, kw_only=True)
class RegressorModel:
    """A rigid robot as a matrix times parameters.

    Args:
        robot: whose numbers the geometry and joint loads come from.
        inertial: positions of the inertial parameters in `inertial_columns`.
        friction: names of friction coefficients.
        legs: ``"each"`` leg by itself, or ``"alike"``: the same part of all legs is one parameter.
    """

    robot: Robot
    inertial: tuple[int, ...]
    friction: tuple[str, ...]
    legs: Legs = "each"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Inertial parameters before legs are tied."""
        known = inertial_columns(self.robot)
        return tuple(known[i] for i in self.inertial)

    @cached_property
    def raw_names(self) -> tuple[str, ...]:
        """Names before legs are tied."""
        return (*(c.name for c in self.columns), *self.friction)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(dict.fromkeys(self._tied(name) for name in self.raw_names))

    @cached_property
    def tie(self) -> Array:
        """(raw, parameters) 0 or 1: theta_raw = tie theta."""
        place = {name: k for k, name in enumerate(self.names)}
        matrix = np.zeros((len(self.raw_names), len(self.names)))
        matrix[np.arange(len(self.raw_names)), [place[self._tied(name)] for name in self.raw_names]] = 1.0
        return matrix

    def _tied(self, name: str) -> str:
        parts = name.split(".")
        return ".".join([parts[0], *parts[2:]]) if self.legs == "alike" and parts[0] == "legs" else name

    @cached_property
    def raw_values(self) -> Array:
        """The robot's numbers before legs are tied."""
        return np.array([*file_values(self.robot, self.columns), *(self.robot.values[name] for name in self.friction)])

    @cached_property
    def values(self) -> Array:
        """The robot's numbers; of tied legs their mean."""
        return np.asarray(self.tie.T @ self.raw_values / self.tie.sum(axis=0))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Unit of every parameter."""
        return tuple(unit_of(name, self.robot) for name in self.names)

    @cached_property
    def _inertial_kernel(self) -> RobotKernel:
        return inertial_kernel(self.robot, self.inertial)

    def keeping(self, names: Sequence[str]) -> RegressorModel:
        """The same model with some parameters only."""
        wanted = set(names)
        return replace(
            self,
            inertial=tuple(i for i, c in zip(self.inertial, self.columns, strict=True) if self._tied(c.name) in wanted),
            friction=tuple(name for name in self.friction if self._tied(name) in wanted),
        )

    def loads(self, inputs: Mapping[str, Array], reasons: Reasons) -> Array | None:
        """(n, places) loads of the joints with friction for the robot's own numbers; None without friction, and where loops are
        closed together: friction there is that without loads."""
        if not self.friction or closed_together(self.robot):
            return None
        bound = kernel(self.robot, "joint_loads")
        batch = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs})
        note(bound, batch.status, reasons, inputs)
        return batch.outputs["load"]

    def rows(self, inputs: Mapping[str, Array], loads: Array | None, reasons: Reasons) -> Array:
        """Y (n, actuators, parameters) of prepared inputs."""
        parts = []
        if self.inertial and not self.robot.follows_platform:
            parts.append(loop_regressor(self.robot, inputs, self.columns, reasons))
        elif self.inertial:
            bound = self._inertial_kernel
            batch = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs})
            note(bound, batch.status, reasons, inputs)
            parts.append(batch.outputs["regressor"])
        if self.friction and closed_together(self.robot):
            parts.append(loop_friction_regressor(self.robot, inputs, self.friction, reasons))
        elif self.friction:
            bound = kernel(self.robot, "friction_regressor", columns=self.friction)
            known = inputs if loads is None else {**inputs, "load": loads}
            batch = bound.batch({i.name: known[i.name] for i in bound.signature.inputs})
            note(bound, batch.status, reasons, inputs)
            parts.append(batch.outputs["regressor"])
        Y = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return Y if self.legs == "each" else np.asarray(Y @ self.tie)

    def known(self, inputs: Mapping[str, Array], reasons: Reasons) -> Array | float:
        """(n, actuators) forces that have no columns: force elements, preloads, bump stops, dampers of drives; 0 without."""
        return known_forces(self.robot, inputs, reasons) if holds(self.robot, "forces outside the regressor") else 0.0


def inertial_kernel(robot: Robot, columns: tuple[int, ...]) -> RobotKernel:
    """The kernel of the inertial columns: in link axes, or by virtual power where these do not apply (springs)."""
    chosen = {} if len(columns) == len(inertial_columns(robot)) else {"columns": columns}
    if robot.no_link_plan is not None:
        return kernel(robot, "inertia_regressor", **chosen)
    axes = {name.rpartition(".")[0]: None for name in robot.values if ".axes." in name}
    rotated = tuple(
        a.removesuffix(".axes") for a in axes if any(robot.values[f"{a}.{i}{j}"] != (i == j) for i in "xyz" for j in "xyz")
    )
    return kernel(robot, "link_regressor", rotated=rotated, **chosen)


def closed_together(robot: Robot) -> bool:
    """Whether loops run inside legs, between them or through a crank: friction is that of the general model, without joint
    loads."""
    return not robot.follows_platform or has_inner_loops(robot.legs)


def linear_model(robot: Robot, *, friction: bool = True, legs: Legs = "each") -> RegressorModel:
    """The model with all parameters of a robot; verbs refuse robots whose forces depend on unmeasured deflections."""
    check_option("legs", legs, ("each", "alike"))
    known = inertial_columns(robot)
    carried = robot.description.file.platform.body is not None  # the platform is a leg's link and has no mass of its own
    inertial = tuple(i for i, c in enumerate(known) if not (carried and c.body == "platform"))
    coefficients = tuple(friction_columns(robot)) if friction else ()
    if coefficients and depends_on_loads(robot) and (closed_together(robot) or bool(robot.forces)):
        where = "where loops are closed together" if closed_together(robot) else "with force elements, which change them"
        raise InputError(
            f"friction: that of {robot.name} depends on the loads of its joints, which are no columns {where}; "
            "set friction=False, or name file parameters to fp.identify(robot, data, parameters=[...])"
        )
    return RegressorModel(robot=robot, inertial=inertial, friction=coefficients, legs=legs)


def model_inputs(robot: Robot, inputs: Mapping[str, Array]) -> tuple[dict[str, Any], NDArray[Any]]:
    """Platform inputs with what kernels need beside them, and the reason of each sample that cannot be reached."""
    if not robot.follows_platform:  # loops through several legs are closed together, where the rows are computed
        reasons = np.full(len(inputs["position"]), "", dtype=object)
        loop_request(robot, inputs, reasons)
        return {**inputs, "wrench": np.zeros((len(reasons), 6))}, reasons
    _, reasons, guess = joint_rates(robot, dict(inputs))
    return {**inputs, "guess": guess, "wrench": np.zeros((len(guess), 6))}, reasons


def file_values(robot: Robot, columns: Sequence[Column]) -> list[float]:
    """Numbers of inertial parameters in the axes of the file: v = R^T v', I = R^T I' R."""
    values, result = robot.values, []
    for column in columns:
        kind = column.value.removeprefix(f"{column.body}.")
        if not column.body or kind == "mass":
            result.append(values[column.value])
            continue
        R = np.array([[values[f"{column.body}.axes.{i}{j}"] for j in "xyz"] for i in "xyz"])
        if kind.startswith("first_moment"):
            v = np.array([values[f"{column.body}.first_moment.{i}"] for i in "xyz"])
            result.append(float((R.T @ v)["xyz".index(kind[-1])]))
        else:
            I = np.array([[values[f"{column.body}.inertia.{min(i, j)}{max(i, j)}"] for j in "xyz"] for i in "xyz"])
            result.append(float((R.T @ I @ R)["xyz".index(kind[-2]), "xyz".index(kind[-1])]))
    return result


def unit_of(name: str, robot: Robot) -> str:
    """Unit of a parameter by its name; rotary joints have N m for N."""
    parts = name.split(".")
    if "friction" in parts:
        return friction_unit(parts[-1], _linear(robot, parts))
    if parts[-1] in ("stiffness", "damping"):
        unit = "N/m" if _linear(robot, parts) else "N m/rad"
        return unit if parts[-1] == "stiffness" else unit.replace("N", "N s", 1)
    if parts[-1] == "inertia":
        return "kg" if _linear(robot, parts) else "kg m^2"
    return UNITS.get(parts[-1]) or UNITS.get(parts[-2]) or "kg m^2"


def _linear(robot: Robot, parts: Sequence[str]) -> bool:
    return any(link.kind == "P" and link.joint in parts for leg in robot.legs for link in leg.links)
