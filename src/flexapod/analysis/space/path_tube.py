r"""Proof that a straight segment of poses keeps the limits and is regular, for legs without a closed form.

The segment is cut into parts; each is a region of `flexapod.analysis.space.contraction`, whose boxes hold one branch of the legs.
Branches of two neighbouring parts are one where the box of one lies in the box of uniqueness of the other. The dependent
components of the pose of a robot of limited mobility follow from the others.

Checked by: tests/analysis/test_path_tube.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.space.contraction import Balls, Contraction
from flexapod.analysis.space.distance_bounds import tube_distance
from flexapod.analysis.space.limits import RobotLimits, limits_of
from flexapod.analysis.space.path_check import PathPoses, Proof, between
from flexapod.analysis.space.pose_map import PoseMap
from flexapod.arrays import Array, Rows
from flexapod.motions.rotations import rotation_rotvec

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


FIRST = 32
"""Parts of a segment to begin with."""

SMALLEST = 2.0**-13
"""Part of a segment below which it is given up as undecided."""

MOST = 256
"""Parts that are cut at a time, from the first one that is not proven on."""


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Parts of a segment: t from `low`, `width`; coordinates z (n, joints and what follows) at the middle, half widths."""

    low: Array
    width: Array
    proven: NDArray[np.bool_]
    z: Array
    radius: Array
    unique: Array

    def at(self, index: Rows) -> _Parts:
        return _Parts(**{name: values[index] for name, values in vars(self).items()})


class TubeCheck:
    """Proofs for one robot; see the module."""

    def __init__(self, robot: Robot, limits: bool, distance: float = 0.0) -> None:
        self.robot, self.limits, self.distance = robot, limits_of(robot) if limits else None, distance
        self.balls = Contraction(robot)

    def prove(self, a: PathPoses, b: PathPoses, sign: float) -> Proof:
        """Cut the segment until every part is proven and joined to its neighbours."""
        low, width, boxes = np.linspace(0.0, 1.0, FIRST + 1)[:-1], np.full(FIRST, 1.0 / FIRST), 0
        parts = self._evaluated(a, b, low, width)
        while True:
            boxes += len(parts.low)
            bad = ~parts.proven
            apart = ~self._joined(parts)
            bad[:-1] |= apart
            bad[1:] |= apart
            if not bad.any():
                return Proof(True, np.nan, "", boxes)
            at = int(np.flatnonzero(bad)[0])
            if parts.width[at] < SMALLEST:
                text = "cannot be proven: a limit, a singular pose or the distance from one lies on the segment or near to it"
                return Proof(False, float(parts.low[at]), text, boxes)
            bad[np.flatnonzero(bad)[MOST:]] = False
            low, width = parts.low[bad], parts.width[bad] / 2
            halves = self._evaluated(a, b, np.concatenate([low, low + width]), np.concatenate([width, width]))
            kept = parts.at(~bad)
            parts = _Parts(**{k: np.concatenate([v, getattr(halves, k)]) for k, v in vars(kept).items()})
            parts = parts.at(np.argsort(parts.low, kind="stable"))

    def _evaluated(self, a: PathPoses, b: PathPoses, low: Array, width: Array) -> _Parts:
        """Boxes and limits of parts."""
        h = width / 2
        poses = between(a, b, low + h)
        twist = np.concatenate([(b.p[0] - a.p[0]) / self.balls.length, rotation_rotvec(b.R[0] @ a.R[0].T)])
        found = self.balls.over(poses.p, poses.R, h[:, None, None] * twist)
        good = found.proven & self._within(found)
        if self.distance > 0.0:
            good &= tube_distance(self.balls, found) >= self.distance
        return _Parts(low=low, width=width, proven=good, z=found.z, radius=found.radius, unique=found.unique)

    def _joined(self, parts: _Parts) -> NDArray[np.bool_]:
        """Whether neighbours (n - 1,) follow one branch: the box of one lies in the box of uniqueness of the other."""
        gap = np.abs(np.diff(parts.z, axis=0))
        joints = len(self.balls.scale)
        gap[:, joints:] *= 2.0  # rotations about three axes do not add up: their angle does, at most sqrt 3 times the largest
        one, other = gap + parts.radius[1:] <= parts.unique[:-1], gap + parts.radius[:-1] <= parts.unique[1:]
        return np.asarray(np.all(one, axis=1) | np.all(other, axis=1))

    def _within(self, found: Balls) -> NDArray[np.bool_]:
        """Strokes and joint angles of the file are kept in the whole part."""
        if self.limits is None:
            return np.ones(len(found.q), dtype=bool)
        low, _ = margins(self.limits, found, self.balls)
        return np.asarray(np.all(low >= 0.0, axis=1))


def margins(limits: RobotLimits, found: Balls, balls: Contraction) -> tuple[Array, Array]:
    """Least and largest margins (n, m) of strokes, strokes of passive joints and deflections, in whole regions."""
    with np.errstate(invalid="ignore"):
        reach = np.nan_to_num(np.abs(found.slope).sum(axis=2) + found.rest, nan=np.inf)
    driven = list(limits.robot.driven)
    at, moved = [limits.stroke_margin(found.q[:, driven])], [reach[:, driven]]
    if len(limits.joints):
        at.append(limits.joint_margin(found.q))
        moved.append(reach[:, limits.joints])
    if np.any(np.isfinite(limits.angle)):
        deflection = PoseMap(limits).evaluate(found.p, np.ascontiguousarray(found.R)).deflection
        at.append(limits.angle_margin(deflection))
        moved.append(np.stack([reach[:, balls.columns[s.leg]].sum(axis=1) + found.rotated for s in limits.swivels], axis=1))
    middle, size = np.concatenate(at, axis=1), np.concatenate(moved, axis=1)
    with np.errstate(invalid="ignore"):
        low, high = middle - size, middle + size
    return np.where(np.isnan(low), np.where(np.isposinf(middle), np.inf, -np.inf), low), np.where(np.isnan(high), np.inf, high)
