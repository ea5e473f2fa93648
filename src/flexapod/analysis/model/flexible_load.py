"""External loads on a flexible platform (on its reference frame, or at a material point that deforms), and its displacements.

Without `point` the wrench acts on the reference frame at its origin and works no elastic coordinate. At a named point it acts
on the material there: moment about the deformed point, generalized forces Phi_d^T f + Phi_r^T m on the modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.loads import place_of, platform_wrench
from flexapod.arrays import Array, Rows
from flexapod.errors import InputError
from flexapod.robot.flexible_platform import SAME_POINT

if TYPE_CHECKING:
    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot

MODAL_UNIT = "sqrt(kg) m for mass-normalised modes"
"""Unit of the elastic coordinates of a flexible platform."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """A material point of the platform: r0 (3,), shapes Phi_d, Phi_r (3, N), platform axes; of a stiffened one Q (3, N, N)."""

    r0: Array
    Phi_d: Array
    Phi_r: Array
    Q: Array | None = None

    def shift(self, e: Array) -> Array:
        """Displacement (n, 3) for elastic coordinates (n, N)."""
        linear = e @ self.Phi_d.T
        return linear if self.Q is None else np.asarray(linear + np.einsum("aij,ni,nj->na", self.Q, e, e) / 2.0)

    def columns(self, e: Array) -> Array:
        """Displacement per elastic coordinate (n, 3, N) at e (n, N)."""
        linear = np.broadcast_to(self.Phi_d, (len(e), *self.Phi_d.shape))
        return linear if self.Q is None else np.asarray(linear + np.einsum("aij,nj->nai", self.Q, e))


@dataclass(frozen=True, kw_only=True, eq=False)
class FlexibleLoad:
    """Loads of n samples in world axes: `wrench` (n, 6) on the frame, `at_point` (n, 6) at `point`."""

    wrench: Array
    at_point: Array
    point: Point

    def at(self, rotation: Array, elastic: Array) -> tuple[Array, Array]:
        """Wrench (n, 6) on the frame, world, and generalized elastic force (n, N) of the whole load."""
        f, m = self.at_point[:, :3], self.at_point[:, 3:]
        r = np.einsum("nij,nj->ni", rotation, self.point.r0 + self.point.shift(elastic))
        total = self.wrench + np.concatenate([f, m + np.cross(r, f)], axis=1)
        local_f, local_m = np.einsum("nji,nj->ni", rotation, f), np.einsum("nji,nj->ni", rotation, m)
        return total, np.einsum("nai,na->ni", self.point.columns(elastic), local_f) + local_m @ self.point.Phi_r

    def inputs(self) -> dict[str, Array]:
        """Inputs of the tangent kernel, by name."""
        n = len(self.wrench)
        point = {"point_position": self.point.r0, "point_shape": self.point.Phi_d, "point_rotation": self.point.Phi_r}
        if self.point.Q is not None:
            point["point_curving"] = self.point.Q.reshape(-1, self.point.Q.shape[2])
        return {
            "wrench": self.wrench,
            "point_wrench": self.at_point,
            **{name: np.ascontiguousarray(np.broadcast_to(v, (n, *v.shape))) for name, v in point.items()},
        }

    def rows(self, chosen: Rows) -> FlexibleLoad:
        """The load of some samples."""
        wrench, at_point = np.ascontiguousarray(self.wrench[chosen]), np.ascontiguousarray(self.at_point[chosen])
        return FlexibleLoad(wrench=wrench, at_point=at_point, point=self.point)


def flexible_load(robot: Robot, inputs: dict[str, Array], wrench: ArrayLike | None, point: str | None, axes: str) -> FlexibleLoad:
    """The load of a request; arguments as for `platform_wrench`."""
    whole = platform_wrench(robot, inputs, wrench, None, axes)
    none, N = np.zeros_like(whole), len(robot.elastic_names)
    if point is None or wrench is None:
        Q = np.zeros((3, N, N)) if robot.joint_curving else None
        at = Point(r0=np.zeros(3), Phi_d=np.zeros((3, N)), Phi_r=np.zeros((3, N)), Q=Q)
        return FlexibleLoad(wrench=whole, at_point=none, point=at)
    return FlexibleLoad(wrench=none, at_point=whole, point=material_point(robot, point))


def material_point(robot: Robot, name: str) -> Point:
    """A named point of the platform with its shapes: an interface or a node of the flexible body at its position."""
    return shapes_at(robot, place_of(robot, name), f"point '{name}'")


def shapes_at(robot: Robot, place: Array, what: str) -> Point:
    """The material point at a place of the undeformed platform.

    Args:
        place: (3,), or of many designs of a rigid platform (n, 3), platform frame [m].
        what: named in the message.
    """
    body = robot.flexible_platform
    if body is None:  # a rigid platform has no shapes
        return Point(r0=np.asarray(place), Phi_d=np.zeros((3, 0)), Phi_r=np.zeros((3, 0)))
    N, place = len(body.names), place.reshape(-1, 3)[0]
    for interface in body.interfaces.values():
        if np.linalg.norm(interface.r0 - place) < SAME_POINT:
            rotations = np.zeros((3, N)) if interface.Phi_r is None else np.asarray(interface.Phi_r)
            return Point(r0=np.asarray(interface.r0), Phi_d=np.asarray(interface.Phi_d), Phi_r=rotations, Q=interface.Q)
    if body.nodes is not None and not body.stiffened:
        distance = np.linalg.norm(body.nodes.r0 - place, axis=1)
        k = int(distance.argmin())
        if distance[k] < SAME_POINT:
            rotations = np.zeros((3, N)) if body.nodes.Phi_r is None else np.asarray(body.nodes.Phi_r[k])
            return Point(r0=np.asarray(body.nodes.r0[k]), Phi_d=np.asarray(body.nodes.Phi_d[k]), Phi_r=rotations)
        near = f"; its nearest node is {distance[k]:.3g} m away"
    else:
        near = ""
    raise InputError(
        f"{what}: the flexible platform of {robot.name} has no mode shapes at {np.round(place, 6).tolist()} m{near}. "
        "Give the body an interface there"
    )


def displacements(robot: Robot, modes: Array) -> dict[str, Variable]:
    """`displacement`, `rotation_vector` (n, axis) and `joint_displacement` (n, leg, axis) by modes (n, N), platform axes.

    The first two are of the material at the platform's origin; a file of modes without a node there has none.

    Source: Long 2014 Eqs. (12), (14), Figs. 6, 7. Checked by: tests/analysis/test_flexible_kinematics.py.
    """
    found: dict[str, Variable] = {}
    try:
        origin = shapes_at(robot, np.zeros(3), "platform origin")
        found["displacement"] = (("axis",), origin.shift(modes), "m")
        found["rotation_vector"] = (("axis",), modes @ origin.Phi_r.T, "rad")
    except InputError:
        pass  # a file of modes without a node at the origin
    found["joint_displacement"] = (("leg", "axis"), robot.joint_displacements(modes), "m")
    return found
