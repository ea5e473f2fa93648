"""Poses of robots whose numbers differ, at held actuators: forward kinematics with parameters per sample.

Rows (n): numbers of one robot each; poses (m): held actuator coordinates. Errors are displacement (3) and small rotation
vector (3) of the platform, world axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.requests.design_values import DesignValues, design_values
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array
from flexapod.design.design_kernels import ANGLE_ZEROS
from flexapod.design.variables import Axis, number, scalars, unit_at
from flexapod.errors import InputError
from flexapod.rotation_arrays import rotation_vector

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


CHUNK = 2048
"""Samples at a time."""

REACH = 1e-3
"""Half-width, in characteristic lengths or parts of the value, of the box in which the numbers' polynomials are found."""

STENCIL = (1.0, -1.0, 2.0, -2.0)
"""Steps of fourth-order central differences."""

ALL = slice(None)


def offset_axes(robot: Robot, paths: Sequence[str]) -> tuple[Axis, ...]:
    """Scalar paths as offsets from the file, over a small box."""
    axes = []
    for path in paths:
        value = robot.parameter(path)
        if isinstance(value, tuple):
            raise InputError(f"{path}: is a vector; name a component")
        size = REACH * max(abs(value), robot.characteristic_length if unit_at(robot, path) == "m" else 0.0) or REACH
        axes.append(
            Axis(
                name=path,
                unit=unit_at(robot, path),
                low=-size,
                high=size,
                choices=None,
                paths=(path,),
                how="offset",
                nominal=(value,),
            )
        )
    return tuple(axes)


def expand(robot: Robot, what: str, amounts: object) -> dict[str, float]:
    """Scalar path -> amount, from a mapping of paths with `*` and of vectors."""
    if not isinstance(amounts, dict) or not amounts:
        raise InputError(f"{what}: give a mapping of parameter paths to amounts, e.g. {{'legs.*.hip.at': '20 um'}}")
    found: dict[str, float] = {}
    for text, amount in amounts.items():
        paths = scalars(robot, str(text))
        value = number(f"{what}: {text}", amount, unit_at(robot, paths[0]) if paths else "")
        if value <= 0.0:
            raise InputError(f"{what}: {text}: expected an amount above 0, got {value:g}")
        found |= dict.fromkeys(paths, value)
    return found


class PerturbedPoses:
    """Platform poses under offsets of file parameters, actuators held.

    Args:
        robot: any rigid robot.
        paths: scalar parameters (d).
        at: nominal poses (m).
        actuators: held coordinates (m, a); those of the poses if left out.
        forces: (m, a) of the actuators: offsets then have a further columns, the actuators' compliances [m/N or rad/(N m)],
            and an actuator is at its reading less compliance times force.

    Checked by: tests/design/test_tolerance.py, tests/design/test_calibrate_under_load.py.
    """

    def __init__(
        self,
        robot: Robot,
        paths: Sequence[str],
        at: State | Motion,
        actuators: Array | None = None,
        forces: Array | None = None,
    ) -> None:
        self.robot, self.paths = robot, tuple(paths)
        self.axes = offset_axes(robot, paths)
        self.position = np.ascontiguousarray(at.position.reshape(-1, 3))
        self.rotation = np.ascontiguousarray(at.rotation.reshape(-1, 3, 3))
        if actuators is None:
            actuators = np.atleast_2d(inverse_kinematics(robot, at).actuator_position.values)
        self.actuators, self.forces = np.ascontiguousarray(actuators), forces
        generic = design_values(robot, self.axes, ()).robots[1]
        self.kernel: RobotKernel = kernel(generic, "forward_kinematics")
        names = [p.name for p in self.kernel.signature.parameters]
        needed = [n for n in names if not any(part in n for part in ANGLE_ZEROS) and not n.endswith(".home")]
        self.values: DesignValues = design_values(robot, self.axes, needed)
        if self.values.unfitted:
            name = min(self.values.unfitted)
            raise InputError(f"{name} is not a polynomial of the parameters; leave out parameters that rotate axes")
        middle = self.values.robots[0].values
        own = dict(zip(names, self.kernel.parameters, strict=True))
        self.base = np.array([middle.get(name, own[name]) for name in names])
        self._names = names
        home = np.concatenate([leg.home for leg in robot.legs])
        self._guess = home

    @property
    def count(self) -> int:
        """Number of poses."""
        return len(self.position)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of offsets: paths of the file, then compliances."""
        extra = () if self.forces is None else tuple(f"{name}.compliance" for name in self.robot.actuators)
        return self.paths + extra

    @property
    def units(self) -> tuple[str, ...]:
        """Units of offsets."""
        extra = [{"m": "m/N", "rad": "rad/(N m)"}[unit] for unit in self.robot.actuator_units]
        return (*(axis.unit for axis in self.axes), *(extra if self.forces is not None else ()))

    @property
    def steps(self) -> Array:
        """Steps of differences (d,), of compliances those that move an actuator as far as a length."""
        own = np.array([axis.high for axis in self.axes]) / 4
        if self.forces is None:
            return own
        length = REACH * self.robot.characteristic_length / 4
        return np.append(own, length / np.maximum(np.abs(self.forces).max(axis=0), 1e-300))

    def poses(self, offsets: Array, threads: int = 1) -> tuple[Array, Array]:
        """Positions (n, m, 3) and rotations (n, m, 3, 3) under offsets (n, d); NaN where the robot cannot be assembled."""
        n, m = len(offsets), self.count
        position, rotation = np.empty((n, m, 3)), np.empty((n, m, 3, 3))
        step = max(1, CHUNK // m)

        def work(start: int) -> None:
            part = slice(start, min(start + step, n))
            position[part], rotation[part] = self._chunk(offsets[part])

        if threads == 1:
            for start in range(0, n, step):
                work(start)
        else:
            with ThreadPoolExecutor(max_workers=threads) as pool:
                list(pool.map(work, range(0, n, step)))
        return position, rotation

    def _chunk(self, offsets: Array) -> tuple[Array, Array]:
        n, m, d = len(offsets), self.count, len(self.axes)
        parameters = self.values.parameters(offsets[:, :d], self._names, self.base, m)
        known = {
            "actuator_position": self._held(offsets[:, d:]),
            "guess_position": np.tile(self.position, (n, 1)),
            "guess_rotation": np.tile(self.rotation, (n, 1, 1)),
            "guess": np.tile(self._guess, (n * m, 1)),
        }
        batch = self.kernel.batch({i.name: known[i.name] for i in self.kernel.signature.inputs}, parameters)
        bad = (batch.status != 0) | (batch.outputs["converged"] == 0.0)
        p, R = batch.outputs["position"], batch.outputs["rotation"]
        p[bad], R[bad] = np.nan, np.nan
        return p.reshape(n, m, 3), R.reshape(n, m, 3, 3)

    def _held(self, compliance: Array) -> Array:
        """Actuator coordinates (n m, a)."""
        held = np.tile(self.actuators, (len(compliance), 1))
        if self.forces is None:
            return held
        return np.asarray(held - (compliance[:, None, :] * self.forces).reshape(held.shape))

    def errors(self, offsets: Array, threads: int = 1) -> Array:
        """Pose errors (n, m, 6) against the nominal poses, to second order in the rotation."""
        return self._errors(*self.poses(offsets, threads))

    def _errors(self, p: Array, R: Array) -> Array:
        rotation = R @ np.swapaxes(self.rotation, 1, 2)
        return np.concatenate([p - self.position, rotation_vector(rotation)], axis=2)

    def neighbours(self, offset: Array, which: NDArray[np.int64] | slice = ALL, noun: str = "pose") -> tuple[Array, Array]:
        """Positions (4 d, m, 3) and rotations one and two steps to both sides of an offset (d,), as `slope` takes them.

        Raises:
            InputError: a pose (of `which`) cannot be reached: names it, by the `noun`, and the parameter.
        """
        h = self.steps
        p, R = self.poses(np.concatenate([offset + s * np.diag(h) for s in STENCIL]))
        lost = np.argwhere(np.isnan(p[:, which, 0]))
        if len(lost):
            row, pose = lost[0][0], np.arange(self.count)[which][lost[0][1]]
            k = int(row) % len(h)
            change = f"{self.names[k]} changed by {STENCIL[row // len(h)] * h[k]:.2g} {self.units[k]}"
            raise InputError(
                f"{self.robot.name}: {noun} {pose}: with {change} it cannot be reached: it is next to a singular pose or the end "
                "of the reach; leave it out or change it"
            )
        return p, R

    def slope(self, values: Array) -> Array:
        """Derivative (d, ...) of values (4 d, ...) at `neighbours`, by fourth-order central differences."""
        h = self.steps
        v = values.reshape(4, len(h), *values.shape[1:])
        return np.asarray((8 * (v[0] - v[1]) - (v[2] - v[3])) / (12 * h.reshape(-1, *[1] * (v.ndim - 2))))

    def derivative(self) -> Array:
        """d error / d offset (m, 6, d): exact to about 1e-10."""
        return np.asarray(np.moveaxis(self.slope(self._errors(*self.neighbours(np.zeros(len(self.steps))))), 0, 2))
