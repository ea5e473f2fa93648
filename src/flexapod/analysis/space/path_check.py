"""Checks of straight segments between poses: at samples for the search, in interval arithmetic for the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.pose_jacobians import pose_jacobians
from flexapod.analysis.poses.pose_projection import onto_constraints
from flexapod.analysis.poses.row_condition import row_normalised
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.pose_bounds import PoseBounds, segment_inputs
from flexapod.analysis.space.pose_map import PoseMap
from flexapod.arrays import Array
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


SMALLEST = 2.0**-22
"""Part of a segment below which it is given up as undecided."""

FIRST = 8
"""Parts of a segment to begin with."""


@dataclass(frozen=True, kw_only=True)
class PathPoses:
    """Positions (n, 3) and rotations (n, 3, 3)."""

    p: Array
    R: Array

    def __getitem__(self, i: int) -> PathPoses:
        return PathPoses(p=self.p[i : i + 1], R=self.R[i : i + 1])

    def __len__(self) -> int:
        return len(self.p)


def between(a: PathPoses, b: PathPoses, t: Array) -> PathPoses:
    """Poses at fractions t of the segment from the one pose of a to the one of b: straight, with a rotation about one axis."""
    rotation = rotation_rotvec(b.R[0] @ a.R[0].T)
    return PathPoses(p=a.p[0] + t[:, None] * (b.p[0] - a.p[0]), R=rotvec_rotation(t[:, None] * rotation) @ a.R[0])


class SampledCheck:
    """Check of the poses of a path, by the map of `workspace`, the side of the singularities and the distance to them."""

    def __init__(self, robot: Robot, limits: bool, distance: float, clearance: float | None) -> None:
        self.robot, self.distance, self.clearance = robot, distance, clearance
        self.length = robot.characteristic_length
        self._map = PoseMap(limits_of(robot), keep_limits=limits)
        self._points = (
            None if clearance is None else PoseBounds(robot, "segment", strokes=False, angles=False, singularities=False)
        )
        self.followed = bool(robot.plan.constraints)

    def onto(self, poses: PathPoses) -> PathPoses:
        """Poses that a robot of limited mobility can reach: the dependent components follow from the others."""
        if not self.followed:
            return poses
        held = [k for k in range(6) if k in self.robot.plan.platform_dependents]
        p, R, _ = onto_constraints(self.robot, poses.p, poses.R, held)
        return PathPoses(p=p, R=R)

    def signs(self, poses: PathPoses) -> Array:
        """Sign of the determinant of [J; G] (n,); 1 with redundant actuators, NaN where a pose cannot be reached."""
        found = pose_jacobians(self.robot, poses.p, poses.R)
        rows = found.rows
        good = (found.reasons == "") & np.all(np.isfinite(rows), axis=(1, 2))
        if rows.shape[1] != 6:
            return np.where(good, 1.0, np.nan)
        rows = np.where(good[:, None, None], rows, np.eye(6))
        return np.where(good, np.sign(np.linalg.det(row_normalised(rows, self.length))), np.nan)

    def reasons(self, poses: PathPoses) -> list[str]:
        """Reason why each pose cannot be part of a path; empty where it can."""
        facts = self._map.evaluate(np.ascontiguousarray(poses.p), np.ascontiguousarray(poses.R))
        reasons = [self._map.reasons.texts[code] for code in facts.code]
        near = [f"the distance {d:.3g} to a type 2 singularity is below {self.distance:g}" for d in facts.type_2]
        reasons = [w or (near[i] if facts.type_2[i] < self.distance else "") for i, w in enumerate(reasons)]
        if self._points is None:
            return reasons
        gaps = self.gaps(poses)
        small = [f"two legs are {g:.4g} m apart" if g < (self.clearance or 0.0) else "" for g in gaps]
        return [w or s for w, s in zip(reasons, small, strict=True)]

    def gaps(self, poses: PathPoses) -> Array:
        """Smallest distance (n,) of two legs without a common joint [m]."""
        assert self._points is not None
        given = segment_inputs(poses.p, poses.p, poses.R, poses.R)
        at = self._points.over(np.zeros((len(poses), 1)), np.zeros((len(poses), 1)), given)
        return self._points.apart(at, at)

    def good(self, a: PathPoses, b: PathPoses, sign: float, step: float) -> bool:
        """Whether all samples of a segment may be part of a path."""
        count = max(2, int(np.ceil(distance(a, b, self.length) / step)) + 1)
        poses = self.onto(between(a, b, np.linspace(0.0, 1.0, count)))
        return not any(self.reasons(poses)) and bool(np.all(self.signs(poses) == sign))


def distance(a: PathPoses, b: PathPoses, length: float) -> float:
    """Distance of two poses: metres over the characteristic length, and the angle between them."""
    return float(np.linalg.norm(b.p[0] - a.p[0]) / length + np.linalg.norm(rotation_rotvec(b.R[0] @ a.R[0].T)))


@dataclass(frozen=True)
class Proof:
    """Result of a proof for a segment: `holds`, or where and why not; boxes of the parameter that were examined."""

    holds: bool
    at: float
    text: str
    boxes: int


class IntervalCheck:
    """Proof that every pose of a segment keeps the limits, is regular and keeps its distance from singular ones."""

    def __init__(self, robot: Robot, limits: bool, clearance: float | None, distance: float = 0.0) -> None:
        self.bounds = PoseBounds(robot, "segment", strokes=limits, angles=limits, clearance=clearance, distance=distance)

    def prove(self, a: PathPoses, b: PathPoses, sign: float) -> Proof:
        """Halve parts of the segment until each is proven.

        Args:
            sign: of the lines' determinant on the segment's side, relative to home's.

        Checked by: tests/analysis/test_path_between.py.
        """
        given = segment_inputs(a.p, b.p, a.R, b.R)
        low, width, boxes = np.linspace(0.0, 1.0, FIRST + 1)[:-1, None], 1.0 / FIRST, 0
        bounds = self.bounds
        home = bounds.side
        while len(low):
            extra = {name: np.repeat(values, len(low), axis=0) for name, values in given.items()}
            try:
                bounds.__dict__["side"] = home * sign
                judged = bounds.judge(low, low + width, extra)
            finally:
                bounds.__dict__["side"] = home
            boxes += len(low)
            if np.any(judged.outside):
                i = int(np.flatnonzero(judged.outside)[0])
                return Proof(False, float(low[i, 0] + width / 2), self._open(judged.open[i], judged.singular[i]), boxes)
            rest = ~judged.inside
            if np.any(rest) and width < SMALLEST:
                i = int(np.flatnonzero(rest)[0])
                return Proof(
                    False, float(low[i, 0]), "cannot be proven: " + self._open(judged.open[i], judged.singular[i]), boxes
                )
            width /= 2
            low = np.concatenate([low[rest], low[rest] + width])
        return Proof(True, np.nan, "", boxes)

    def _open(self, opened: NDArray[np.bool_], singular: bool) -> str:
        texts = [self.bounds.texts[k] for k in np.flatnonzero(opened)]
        return "; ".join(texts[:2]) or (self.bounds.texts[-1] if singular else "legs come too close")
