"""Search of the pose that belongs to actuator coordinates: Newton in a batch, small steps where Newton leaves the branch.

A pose counts as reached on the branch of the guess when Newton converges, the determinant of [J; G] keeps its sign and the
way to the result stays near the first Newton step. Otherwise the actuators are moved straight from the guess's own
coordinates to the wanted ones in steps that each keep these three. Where that way is blocked by a singular pose, a result
still counts if the straight path of the platform to it is free of singular poses (`same_region`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closing_signs import reversed_joints
from flexapod.analysis.model.kernels import kernel
from flexapod.arrays import Array, Mask, Rows
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


RESIDUAL = 1e-9
"""Largest residual of a pose that is found [rad, or characteristic lengths]: Newton ends near 1e-15."""

DEPARTURE = 0.5
"""Largest departure from the first Newton step on one branch: a regular step bends by a part of itself."""

SINGULAR = 1e-10
"""Determinant at a result, relative to that at the guess, below which the pose is not determined: rounding leaves 1e-14."""

SMALLEST_STEP = 2.0**-12
"""Part of the way below which a step towards the wanted coordinates is given up: a singular pose lies there."""


STATIONS = 65
"""Poses at which the straight path of the platform is examined."""


@dataclass(frozen=True, kw_only=True)
class Poses:
    """Assembled poses: position (n, 3), rotation (n, 3, 3), joint coordinates (n, joints)."""

    position: Array
    rotation: Array
    joints: Array

    def __len__(self) -> int:
        return len(self.position)

    def at(self, index: Rows) -> Poses:
        """Some of the samples."""
        return Poses(position=self.position[index], rotation=self.rotation[index], joints=self.joints[index])

    def put(self, index: Rows, others: Poses) -> None:
        """Replace some of them."""
        self.position[index], self.rotation[index], self.joints[index] = others.position, others.rotation, others.joints

    def copy(self) -> Poses:
        """A copy that may be changed."""
        return Poses(position=self.position.copy(), rotation=self.rotation.copy(), joints=self.joints.copy())


@dataclass(frozen=True, kw_only=True)
class Search:
    """Result of a search, per sample.

    Args:
        poses: the pose, or the nearest one.
        residual: (n, actuators) actuator coordinates there less the wanted ones.
        constraint: (n,) largest residual of the platform's constraints.
        solved: residuals vanish.
        same: on the branch of the guess.
        kept: the determinant has the sign that it has at the guess (always, for redundant robots).
        singular: the determinant vanishes at the result: the actuators do not determine the pose.
        passes: Newton passes, those of small steps included.
        reached: part of the way from the guess that could be gone; 1 where Newton needed no steps.
        status: of the kernel.
    """

    poses: Poses
    residual: Array
    constraint: Array
    solved: Mask
    same: Mask
    kept: Mask
    singular: Mask
    passes: NDArray[np.int64]
    reached: Array
    status: NDArray[np.int32]


class PoseSearch:
    """Newton on the pose of one robot, in a batch or for one sample at a time.

    Args:
        joints: False leaves joint coordinates empty where legs have closed forms: for `newton` alone, in half of the time.
    """

    def __init__(self, robot: Robot, joints: bool = True) -> None:
        self.robot = robot
        joints = joints or any(form is None for form in robot.closed_forms)
        self.kernel = kernel(robot, "forward_kinematics", **({} if joints else {"joints": False}))
        self.signed = len(robot.actuators) + len(robot.plan.constraints) == 6
        units = np.array(robot.actuator_units)
        self.scale = np.where(units == "rad", 1.0, 1.0 / robot.characteristic_length)
        self._general = "guess" in {i.name for i in self.kernel.signature.inputs}

    def newton(self, target: Array, start: Poses) -> Search:
        """Newton from every start."""
        inputs = {"actuator_position": target, "guess_position": start.position, "guess_rotation": start.rotation}
        if self._general:
            inputs["guess"] = start.joints
        batch = self.kernel.batch(inputs)
        out = batch.outputs
        constraint = largest(out["constraint"]) if "constraint" in out else np.zeros(len(target))
        good = (batch.status == 0) & (out["converged"] == 1.0)
        small = largest(out["residual"], self.scale) < RESIDUAL
        small &= constraint < RESIDUAL * max(1.0, self.robot.characteristic_length)
        small &= reversed_joints(self.robot, out, out.get("joint_position")) == ""
        sign, size = np.sign(out["determinant"]), np.abs(out["determinant"])
        same = (sign[:, 0] == sign[:, 1]) if self.signed else np.ones(len(target), dtype=bool)
        singular = size[:, 1] < SINGULAR * size[:, 0] if self.signed else np.zeros(len(target), dtype=bool)
        return Search(
            poses=Poses(
                position=out["position"], rotation=out["rotation"], joints=out.get("joint_position", np.zeros((len(target), 0)))
            ),
            residual=out["residual"],
            constraint=constraint,
            solved=good & small,
            same=same & (out["departure"] < DEPARTURE) & ~singular,
            kept=same,
            singular=singular,
            passes=np.nan_to_num(out["passes"]).astype(np.int64),
            reached=np.ones(len(target)),
            status=batch.status,
        )

    def search(self, target: Array, start: Poses, own: Array) -> Search:
        """Newton, and small steps in actuator space where that fails or leaves the branch.

        Args:
            target: (n, actuators) wanted coordinates.
            start: assembled poses to start from.
            own: (n, actuators) actuator coordinates of the start.
        """
        found = self.newton(target, start)
        rest = np.flatnonzero(~(found.solved & found.same) & (found.status != -1))
        if len(rest):
            self._steps(found, rest, target[rest], start.at(rest).copy(), own[rest])
        unsure = np.flatnonzero(found.solved & found.kept & ~found.same & ~found.singular)
        if len(unsure) and self.signed:
            found.same[unsure] = same_region(self.robot, start.at(unsure), found.poses.at(unsure))
        return found

    def _steps(self, found: Search, rest: NDArray[np.int64], target: Array, at: Poses, own: Array) -> None:
        """Move the actuators straight from `own` to `target`; results go into `found`."""
        way = self._shortest(target - own)
        done, step = np.zeros(len(rest)), np.full(len(rest), 0.5)
        while True:
            active = np.flatnonzero((done < 1.0) & (step >= SMALLEST_STEP))
            if len(active) == 0:
                break
            aim = np.minimum(1.0, done[active] + step[active])
            trial = self.newton(own[active] + aim[:, None] * way[active], at.at(active))
            found.passes[rest[active]] += trial.passes
            good = trial.solved & trial.same
            at.put(active[good], trial.poses.at(good))
            done[active[good]] = aim[good]
            step[active] = np.where(good, 2.0 * step[active], 0.5 * step[active])
        found.reached[rest] = done
        ended = done >= 1.0
        last = self.newton(target[ended], at.at(ended))
        found.poses.put(rest[ended], last.poses)
        found.residual[rest[ended]], found.constraint[rest[ended]] = last.residual, last.constraint
        found.solved[rest[ended]], found.same[rest[ended]], found.kept[rest[ended]] = last.solved, last.same, last.kept
        found.status[rest[ended]], found.singular[rest[ended]] = last.status, last.singular
        found.same[rest[~ended]] = False

    def _shortest(self, way: Array) -> Array:
        """Changes of the actuators, revolute ones by the smaller angle."""
        rotating = np.array(self.robot.actuator_units) == "rad"
        return np.where(rotating, np.arctan2(np.sin(way), np.cos(way)), way)


def largest(values: Array, scale: Array | float = 1.0) -> Array:
    """(n,) largest size of each row of (n, k) times (k,); along long columns, which is four times as fast as along short rows."""
    return np.asarray(np.ascontiguousarray(np.abs(values * scale).T).max(axis=0))


def same_region(robot: Robot, start: Poses, end: Poses) -> Mask:
    """Whether the determinant of [J; G] keeps its sign on the platform's straight path, with no leg out of reach or flipped."""
    bound = kernel(robot, "jacobian")
    general = "guess" in {i.name for i in bound.signature.inputs}
    rotation = rotation_rotvec(end.rotation @ np.swapaxes(start.rotation, 1, 2))
    joints, sign = start.joints.copy(), np.zeros(len(start))
    good = np.ones(len(start), dtype=bool)
    for part in np.linspace(0.0, 1.0, STATIONS):
        inputs = {
            "position": start.position + part * (end.position - start.position),
            "rotation": rotvec_rotation(part * rotation) @ start.rotation,
        }
        batch = bound.batch({**inputs, "guess": joints} if general else inputs)
        rows = batch.outputs["jacobian"]
        if "constraint_jacobian" in batch.outputs:
            rows = np.concatenate([rows, batch.outputs["constraint_jacobian"][:, list(robot.plan.constraints)]], axis=1)
        now = np.sign(np.linalg.det(rows))
        good &= (batch.status == 0) & (now != 0.0) & ((sign == 0.0) | (now == sign))
        sign = now
        joints = np.where(good[:, None], batch.outputs["joint_position"], joints)
    return np.asarray(good & (np.abs(np.sin((joints - end.joints) / 2.0)).max(axis=1) < RESIDUAL**0.5))
