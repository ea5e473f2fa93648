"""Kernels behind the criteria: their outputs, the poses at which they are evaluated, with parameters per design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.model.slope_kernels import slope_kernel
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.pose_map import PoseMap
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Batch
    from flexapod.robot.robot import Robot


ANGLE_ZEROS = (".n0.", ".y0.")
"""Numbers that fix the zeros of passive angles of closed-form legs: only deflections read those angles."""

MINIMAL = ("platform.mass", "platform.inertia", "platform.first_moment")
"""Numbers that may move without changing the choices of the minimal equations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelPart:
    """A kernel at its own poses.

    Args:
        name: of the part: forces, rates, angles, jacobian, mass, reactions, ends or volume.
        bound: the kernel.
        inputs: of its poses, (m, ..) by name.
        map: judges poses of a box, which may be out of reach; else every pose must be reachable.
        key: under which outputs are kept apart: the criterion of a box, empty else.
    """

    name: str
    bound: RobotKernel
    inputs: Mapping[str, Array]
    map: PoseMap | None = None
    key: str = ""

    @property
    def poses(self) -> int:
        """Number of poses."""
        return len(self.inputs["position"])

    def base(self, robot: Robot) -> Array:
        """Parameters of a robot, the kernel's own where it has none of that name."""
        own = dict(zip((p.name for p in self.bound.signature.parameters), self.bound.parameters, strict=True))
        return np.array([robot.values.get(name, value) for name, value in own.items()])

    @property
    def names(self) -> list[str]:
        """Names of the kernel's parameters."""
        return [p.name for p in self.bound.signature.parameters]

    def tiled(self, n: int) -> dict[str, Array]:
        """Inputs of n designs, pose after pose; one pose is one row in memory."""
        rows = {i.name: self.inputs[i.name] for i in self.bound.signature.inputs}
        if self.poses == 1:
            return {name: np.broadcast_to(row[0], (n, *row.shape[1:])) for name, row in rows.items()}
        return {name: np.tile(row, (n, *[1] * (row.ndim - 1))) for name, row in rows.items()}

    def outputs(self, batch: Batch, n: int) -> dict[str, Array]:
        """Outputs (n, m, ..) by name; of a box, which poses can be reached."""
        if self.map is not None:
            return {"reachable" + self.key: (self.map.facts(batch).code == 0).astype(np.float64).reshape(n, self.poses)}
        return {name: value.reshape(n, self.poses, *value.shape[1:]) for name, value in batch.outputs.items()}

    def slopes(self, row: Array, directions: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """Outputs (m, ..) of one design and their derivatives (d, m, ..) along directions (d, P) of its parameters."""
        d = len(directions)
        both = np.concatenate([np.tile(row, (d, 1)), directions], axis=1)
        batch = slope_kernel(self.bound).batch(self.tiled(d), np.repeat(both, self.poses, axis=0))
        every = {name: value.reshape(d, self.poses, *value.shape[1:]) for name, value in batch.outputs.items()}
        names = [o.name for o in self.bound.signature.outputs]
        return {name: every[name][0] for name in names}, {name: every[f"{name}_dot"] for name in names}


def make_part(name: str, robot: Robot, poses: Mapping[str, Array], minimal: bool) -> KernelPart:
    """A part at the poses of a request."""
    n = len(poses["position"])
    segment = {
        "at": np.zeros((n, 1)), "start": poses["position"], "way": np.zeros((n, 3)), "base": poses["rotation"],
        "axis": np.tile([0.0, 0.0, 1.0], (n, 1)), "angle": np.zeros(n),
    }  # fmt: skip
    return KernelPart(name=name, bound=_kernel(robot, name, minimal), inputs={**poses, **(segment if name == "ends" else {})})


def box_part(robot: Robot, key: str, poses: Mapping[str, Array], max_condition: float | None) -> KernelPart:
    """A part that judges the poses of a box by the limits of a robot's file."""
    chart = PoseMap(limits_of(robot), max_condition=max_condition)
    return KernelPart(name="volume", bound=chart.kernel, inputs=poses, map=chart, key=key)


def parameter_names(parts: Sequence[KernelPart]) -> set[str]:
    """Numbers that the parts read and that matter."""
    found = set()
    for part in parts:
        angles = part.name == "angles" or (part.map is not None and bool(np.any(np.isfinite(part.map.limits.angle))))
        found |= {p.name for p in part.bound.signature.parameters if angles or not any(z in p.name for z in ANGLE_ZEROS)}
    return found


def _kernel(robot: Robot, name: str, minimal: bool) -> RobotKernel:
    """The kernel behind some of the built-in criteria."""
    from flexapod.equations.minimal.planning import applies

    if name == "forces" and has_friction(robot):
        return kernel(robot, "newton_euler", friction=True)
    if name == "forces" and minimal and applies(robot) is None:
        return kernel(robot, "minimal_inverse_dynamics")
    makers: dict[str, Callable[[], Any]] = {
        "forces": lambda: kernel(robot, "virtual_power"),
        "rates": lambda: kernel(robot, "inverse_kinematics"),
        "angles": lambda: kernel(robot, "workspace"),
        "jacobian": lambda: kernel(robot, "jacobian", joints=False),
        "mass": lambda: kernel(robot, "mass_matrix"),
        "reactions": lambda: kernel(robot, "newton_euler", friction=has_friction(robot)),
        "ends": lambda: kernel(robot, "pose_limits", chart="segment", strokes=False, angles=False),
    }
    found: RobotKernel = makers[name]()
    return found
