r"""`path_between`: a path from pose to pose that keeps limits and stays away from singularities, or the reason why there is none.

A straight segment is tried first, then two trees of poses that grow towards each other (RRT-Connect), shortened at the end. The
search looks at samples; what it finds is returned only after a proof in interval arithmetic that holds between them.

Source: Kuffner & LaValle 2000 for the search.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.properties import PROPERTIES
from flexapod.analysis.requests.state import State
from flexapod.analysis.space.contraction import contracts
from flexapod.analysis.space.path_check import IntervalCheck, PathPoses, SampledCheck, between, distance
from flexapod.analysis.space.path_tube import TubeCheck
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.argument_checks import number
from flexapod.motions.motion import Motion
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


STEP = 0.02
"""Distance of samples of a segment in the search: a fiftieth of the characteristic length, or of a radian."""

STRIDE = 0.3
"""Longest segment by which a tree grows."""

SHORTCUTS = 60


class NoPathError(FlexapodError):
    """Raised if no path was found; `reason` says why, `proven` whether none can exist."""

    def __init__(self, text: str, reason: str, proven: bool) -> None:
        super().__init__(text)
        self.reason, self.proven = reason, proven


@dataclass(frozen=True, kw_only=True)
class PosePath:
    """A path through poses, straight between them with a rotation about one axis each.

    Args:
        position: (k, 3) of the poses [m], rotation: (k, 3, 3) of the poses.
        certified: every pose between them is proven to keep the limits and the distance from singular poses; else they were
            checked at samples only.
        boxes: parts of the path that the proof examined.
        tried: segments that the search looked at.
    """

    position: Array
    rotation: Array
    certified: bool
    boxes: int
    tried: int

    def motion(self, duration: float, samples: int = 301) -> Motion:
        """Along the path, at rest at its poses; `time_optimal` finds faster ones segment by segment."""
        from flexapod.motions.pose_path import through_poses

        p, R = PathPoses(p=self.position, R=self.rotation), self.rotation
        lengths = np.array([max(distance(p[i], p[i + 1], 1.0), 1e-9) for i in range(len(p) - 1)])
        durations = duration * lengths / lengths.sum()
        return through_poses(positions=self.position, orientations=R, durations=durations.tolist(), samples=samples)


@checked
def path_between(
    robot: Robot,
    a: State,
    b: State,
    *,
    limits: bool = True,
    distance: float = 1e-3,
    clearance: float | None = None,
    attempts: int = 2000,
    seed: int = 0,
) -> PosePath:
    """A path from pose a to pose b.

    Args:
        a, b: poses.
        limits: strokes and joint angles of the file are kept.
        distance: smallest distance to type 2 singularities, as in `singularities`; the proof holds for every pose.
        clearance: smallest distance between the axes of two legs without a common joint [m].
        attempts: random poses of the search before it gives up.
        seed: of the search; the same seed gives the same path.
    Returns:
        `PosePath`: poses from a to b; straight lines between them are valid.
    Raises:
        NoPathError: a or b itself is invalid; they lie on different sides of the singularities (then no path exists); or none
            was found.

    Six legs in closed form are proven in interval arithmetic: no other path is returned. Other legs are proven by contraction
    where that is possible, those of robots of limited mobility included: the components of the pose that they cannot control
    follow. Else `certified` is False, and the path was checked at samples only.

    Checked by: tests/analysis/test_path_between.py, tests/analysis/test_path_tube.py.
    """
    refuse(robot, "path_between", limits=limits, distance=distance, clearance=clearance, attempts=attempts, seed=seed)
    distance = _not_negative("distance", distance)
    clearance = None if clearance is None else _not_negative("clearance", clearance)
    sampled = SampledCheck(robot, limits, distance, clearance)
    ends = [sampled.onto(_pose(name, s)) for name, s in (("a", a), ("b", b))]
    sign = _refuse_ends(robot, sampled, ends)
    proof: IntervalCheck | TubeCheck | None = None
    if not PROPERTIES["legs without bounds"](robot):
        proof = IntervalCheck(robot, limits, clearance, distance)
    elif contracts(robot):
        proof = TubeCheck(robot, limits, distance)
    home = PathPoses(p=robot.home.position[None], R=robot.home.rotation[None])
    search = _Search(sampled, proof, sign, float(sampled.signs(sampled.onto(home))[0]), np.random.default_rng(seed))
    return search.run(robot, ends[0], ends[1], attempts)


def _not_negative(name: str, value: object) -> float:
    result = number(name, value)
    if result < 0.0:
        raise InputError(f"{name}: expected a number from 0 up, got {result:g}")
    return result


def _pose(name: str, state: StateOrMotion) -> PathPoses:
    if not isinstance(state, State):
        raise InputError(f"{name}: expected one State, got {type(state).__name__}")
    if not state.single:
        raise InputError(f"{name}: expected a State of one pose, got {len(state)} poses; give one of them, e.g. position[0]")
    if not np.all(np.isfinite(state.position)) or not np.all(np.isfinite(state.rotation)):
        raise InputError(f"{name}: every entry of position and rotation must be a finite number")
    return PathPoses(p=state.position[None], R=state.rotation[None])


def _refuse_ends(robot: Robot, sampled: SampledCheck, ends: list[PathPoses]) -> float:
    """The sign of both ends, or the reason why no path can exist."""
    signs = []
    for name, pose in zip("ab", ends, strict=True):
        reason = sampled.reasons(pose)[0]
        if reason:
            raise NoPathError(f"path_between of {robot.name}: pose {name} is invalid: {reason}", f"{name}: {reason}", True)
        signs.append(float(sampled.signs(pose)[0]))
    if signs[0] != signs[1]:
        reason = "the poses lie on different sides of the type 2 singularities, so that every path meets one"
        raise NoPathError(f"path_between of {robot.name}: {reason}", reason, True)
    return signs[0]


class _Search:
    """Straight segment, then two trees; every segment of the result is proven."""

    def __init__(
        self, sampled: SampledCheck, proof: IntervalCheck | TubeCheck | None, sign: float, home: float, rng: np.random.Generator
    ) -> None:
        self.sampled, self.proof, self.sign, self.rng = sampled, proof, sign, rng
        self.relative = sign * home
        self.length, self.tried, self.boxes = sampled.length, 0, 0
        self.last = ""

    def run(self, robot: Robot, a: PathPoses, b: PathPoses, attempts: int) -> PosePath:
        """The path, or the reason."""
        if self._joined(a, b):
            return self._path([a, b])
        found = self._trees(a, b, attempts)
        if found is None:
            reason = f"no path was found in {attempts} attempts"
            reason += f"; the straight path fails: {self.last}" if self.last else ""
            raise NoPathError(f"path_between of {robot.name}: {reason}", reason, False)
        return self._path(self._shortened(found))

    def _joined(self, a: PathPoses, b: PathPoses) -> bool:
        """A segment is good at samples and, where possible, proven."""
        self.tried += 1
        if not self.sampled.good(a, b, self.sign, STEP):
            self.last = self.last or self._why(a, b)
            return False
        if not isinstance(self.proof, IntervalCheck):  # the proof by contraction follows when the path is found
            return self.sampled.good(a, b, self.sign, STEP / 10)
        proof = self.proof.prove(a, b, self.relative)
        self.boxes += proof.boxes
        self.last = self.last or proof.text
        return proof.holds

    def _why(self, a: PathPoses, b: PathPoses) -> str:
        poses = self.sampled.onto(between(a, b, np.linspace(0.0, 1.0, 51)))
        reasons = [w for w in self.sampled.reasons(poses) if w]
        return reasons[0] if reasons else "it meets a type 2 singularity"

    def _random(self, a: PathPoses, b: PathPoses) -> PathPoses:
        """A pose in a ball about the middle of both."""
        middle = between(a, b, np.array([0.5]))
        size = max(float(np.linalg.norm(b.p - a.p)), 0.5 * self.length) * self.rng.uniform(0.3, 1.5)
        shift = self.rng.normal(size=3)
        shift *= size * self.rng.random() ** (1 / 3) / np.linalg.norm(shift)
        angle = np.linalg.norm(rotation_rotvec(b.R[0] @ a.R[0].T))
        axis = self.rng.normal(size=3)
        axis *= max(float(angle), 0.5) * self.rng.random() ** (1 / 3) / np.linalg.norm(axis)
        return self.sampled.onto(PathPoses(p=middle.p + shift, R=rotvec_rotation(axis[None]) @ middle.R))

    def _trees(self, a: PathPoses, b: PathPoses, attempts: int) -> list[PathPoses] | None:
        trees = [_Tree(a), _Tree(b)]
        for _ in range(attempts):
            goal = self._random(a, b)
            if not np.all(np.isfinite(goal.p)):
                continue
            new = self._grow(trees[0], goal, once=True)
            if new is not None:
                met = self._grow(trees[1], trees[0].poses[new], once=False)
                if met is not None and distance(trees[1].poses[met], trees[0].poses[new], self.length) < 1e-12:
                    first, second = trees[0].way(new), trees[1].way(met)
                    way = first + second[::-1][1:]
                    return way if distance(way[0], a, self.length) == 0.0 else way[::-1]
            trees.reverse()
        return None

    def _grow(self, tree: _Tree, goal: PathPoses, once: bool) -> int | None:
        """Grow a tree towards a pose: one stride, or as far as it goes; the number of its last new pose."""
        near, new = tree.nearest(goal, self.length), None
        while True:
            here = tree.poses[near]
            far = distance(here, goal, self.length)
            if far == 0.0:
                return near
            there = goal if far <= STRIDE else self.sampled.onto(between(here, goal, np.array([STRIDE / far])))
            if not np.all(np.isfinite(there.p)) or not self._joined(here, there):
                return new
            near = new = tree.add(there, near)
            if once or far <= STRIDE:
                return new

    def _shortened(self, way: list[PathPoses]) -> list[PathPoses]:
        for _ in range(SHORTCUTS):
            if len(way) < 3:
                break
            i, j = sorted(self.rng.choice(len(way), 2, replace=False))
            if j - i > 1 and self._joined(way[i], way[j]):
                way = way[: i + 1] + way[j:]
        return way

    def _path(self, way: list[PathPoses]) -> PosePath:
        certified = self.proof is not None
        if isinstance(self.proof, TubeCheck):
            proofs = [self.proof.prove(a, b, self.relative) for a, b in pairwise(way)]
            certified, self.boxes = all(p.holds for p in proofs), sum(p.boxes for p in proofs)
        return PosePath(
            position=np.concatenate([w.p for w in way]), rotation=np.concatenate([w.R for w in way]),
            certified=certified, boxes=self.boxes, tried=self.tried,
        )  # fmt: skip


class _Tree:
    """Poses with the number of the one that each grew from."""

    def __init__(self, root: PathPoses) -> None:
        self.poses, self.parent = [root], [-1]

    def add(self, pose: PathPoses, parent: int) -> int:
        """A new pose; its number."""
        self.poses.append(pose)
        self.parent.append(parent)
        return len(self.poses) - 1

    def nearest(self, goal: PathPoses, length: float) -> int:
        """The pose that is nearest to another one."""
        p = np.concatenate([x.p for x in self.poses])
        R = np.concatenate([x.R for x in self.poses])
        angle = np.linalg.norm(rotation_rotvec(goal.R[0] @ np.swapaxes(R, 1, 2)), axis=1)
        return int(np.argmin(np.linalg.norm(p - goal.p[0], axis=1) / length + angle))

    def way(self, k: int) -> list[PathPoses]:
        """Poses from the root to one."""
        found = []
        while k >= 0:
            found.append(self.poses[k])
            k = self.parent[k]
        return found[::-1]
