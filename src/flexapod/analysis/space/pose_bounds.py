r"""Bounds of a robot's limits over boxes of poses, in interval arithmetic: what holds everywhere in a box, and what nowhere.

A margin over a box is bounded by itself and by its mean value form

.. math:: g(p) \in g(m) + \nabla g(\text{box})\cdot(p-m)

whichever is tighter. The actuators hold the platform everywhere in a box where the lines' matrix, preconditioned by the inverse
at the middle, stays within 1 of the identity (row sums); the sign of its determinant is then that at the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.kernels import kernel, make_program
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.space.box_decision import Decision
from flexapod.analysis.space.cut_boxes import CutBoxes, Planes
from flexapod.analysis.space.distance_bounds import ROUNDING, least_distance
from flexapod.analysis.space.limits import limits_of
from flexapod.arrays import Array
from flexapod.equations.pose_limits import CHARTS, limit_texts
from flexapod.kernels.cache import cached_kernel
from flexapod.kernels.intervals.backend import Bounds, IntervalKernel

if TYPE_CHECKING:
    from flexapod.analysis.space.limits import RobotLimits
    from flexapod.robot.robot import Robot


SINGULAR = "the actuators may not hold the platform (singular, type 2)"

_TEXTS: dict[str, tuple[str, ...]] = {}
"""Names of the kernels -> what is wrong where each margin is negative."""

REGULAR = 1.0 - 1e-6
"""Row sum below which the preconditioned matrix is certainly regular: the inverse need not be exact, the sums are rounded."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Boxes (n,): proven inside, proven outside, and per limit (n, m) whether it is still open."""

    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    open: NDArray[np.bool_]
    singular: NDArray[np.bool_]
    middle: Bounds
    gradient_low: Array
    gradient_high: Array


class PoseBounds(CutBoxes):
    """Limits of a robot over boxes of one chart of poses.

    Args:
        chart: see `flexapod.equations.pose_limits`.
        position, rotation: the pose that the chart does not vary.
        strokes, angles: which limits of the file count.
        singularities: poses must be on the home pose's side of the type 2 singularities.
        clearance: smallest distance of the axes of two legs that do not share a joint [m]; None: not looked at.
        distance: smallest distance to type 2 singularities, as in `flexapod.singularities`.
    """

    def __init__(
        self, robot: Robot, chart: str, position: ArrayLike | None = None, rotation: ArrayLike | None = None, *,
        strokes: bool = True, angles: bool = True, singularities: bool = True, clearance: float | None = None,
        distance: float = 0.0,
    ) -> None:  # fmt: skip
        refuse(robot, "pave")
        self.robot, self.chart, self.singularities = robot, chart, singularities
        self.clearance, self.distance = clearance, distance
        options = {"chart": chart, "strokes": strokes, "angles": angles}
        self._position = np.asarray(robot.home.position if position is None else position, dtype=float)
        self._rotation = np.asarray(robot.home.rotation if rotation is None else rotation, dtype=float)
        limits = limits_of(robot)
        key = f"pose_limits({sorted(options.items())})|{robot.structure}|{_pattern(limits)}"
        kernel = cached_kernel(key, lambda: make_program(robot, "pose_limits", options), zeros=robot.zeros, bounds=True)
        known = self._numbers(limits)
        names = [p.name for p in kernel.signature.parameters]
        if any(known.get(name, 0.0) != 0.0 for name in kernel.zeros):
            kernel = cached_kernel(key, lambda: make_program(robot, "pose_limits", options), bounds=True)
            names = [p.name for p in kernel.signature.parameters]
        self.kernel = IntervalKernel(kernel)
        self.parameters = np.array([known[name] for name in names])
        if key not in _TEXTS:  # deriving them takes longer than all evaluations of a path
            _TEXTS[key] = (*limit_texts(robot, chart, strokes, angles), SINGULAR)
        self.texts = _TEXTS[key]
        self.axes = CHARTS[chart]

    def _numbers(self, limits: RobotLimits) -> dict[str, float]:
        robot = self.robot
        known = dict(robot.values)
        for i, a in enumerate("xyz"):
            known[f"pose.position.{a}"] = float(self._position[i])
            for j, c in enumerate("xyz"):
                known[f"pose.rotation.{a}{c}"] = float(self._rotation[i, j])
                known[f"home.rotation.{a}{c}"] = float(robot.home.rotation[i, j])
        for name, low, high in zip(robot.actuators, limits.low, limits.high, strict=True):
            known[f"limit.{name}.low"], known[f"limit.{name}.high"] = float(low), float(high)
        for name, angle in zip(limits.swivel_names, limits.angle, strict=True):
            known[f"limit.{name}.angle"] = float(angle)
        return known

    @cached_property
    def side(self) -> float:
        """Sign of the lines' determinant at home."""
        J = kernel(self.robot, "jacobian", joints=False).batch(
            {"position": self.robot.home.position[None], "rotation": self.robot.home.rotation[None]}
        )
        rows = J.outputs["jacobian"][0]
        at = self._lines(self.robot.home.position, self.robot.home.rotation)
        scale = np.prod(np.sign(np.einsum("ij,ij->i", rows, at)))  # rows of J are the lines over (n . u)
        return float(np.sign(np.linalg.det(rows)) * scale)

    def _lines(self, position: Array, rotation: Array) -> Array:
        """Lines at one pose, through the segment chart of length zero."""
        bounds = PoseBounds(self.robot, "segment", strokes=False, angles=False, singularities=False)
        given = segment_inputs(position[None], position[None], rotation[None], rotation[None])
        found = bounds.kernel.batch({"at": np.zeros((1, 1)), **given}, {"at": np.zeros((1, 1)), **given}, bounds.parameters)
        return np.asarray((found.low["lines"][0] + found.high["lines"][0]) / 2)

    def over(self, low: Array, high: Array, extra: dict[str, Array] | None = None) -> Bounds:
        """Bounds over boxes (n, k); `extra`: inputs that are points (segments)."""
        points = extra or {}
        return self.kernel.batch({"at": low, **points}, {"at": high, **points}, self.parameters)

    def judge(self, low: Array, high: Array, extra: dict[str, Array] | None = None) -> Judged:
        """Whether each box is inside or outside, and the limits that are undecided in the others."""
        middle = (low + high) / 2
        radius = np.nextafter(np.maximum(high - middle, middle - low), np.inf)
        box = self.over(low, high, extra)
        at = self.over(middle, middle, extra)
        G_low, G_high = box.low["gradient"], box.high["gradient"]
        with np.errstate(invalid="ignore"):
            reach = np.einsum("nmk,nk->nm", np.maximum(np.abs(G_low), np.abs(G_high)), radius) * (1 + 1e-14)
        reach = np.where(np.isnan(reach), np.inf, reach)
        g_low = np.maximum(box.low["margin"], _down(at.low["margin"] - reach))
        g_high = np.minimum(box.high["margin"], _up(at.high["margin"] + reach))
        out = np.any(g_high < 0.0, axis=1) | box.failing
        opened = ~(g_low >= 0.0)
        inside = ~np.any(opened, axis=1) & box.sound
        singular = np.zeros(len(low), dtype=bool)
        if self.singularities:
            regular, sign = self._regular(box, at)
            singular = ~regular
            out |= regular & (sign != self.side)
            inside &= regular
        if self.distance > 0.0:
            least, at_most = self._apart_from_singular(box, at)
            singular |= least < self.distance
            inside &= least >= self.distance
            out |= at_most < self.distance
        if self.clearance is not None:
            inside &= self.apart(box, at) > self.clearance
        return Judged(
            inside=inside & ~out, outside=out, open=opened, singular=singular, middle=at, gradient_low=G_low, gradient_high=G_high
        )

    def prepared(self, low: Array, high: Array) -> None:
        """No data: nothing is kept for the first box."""

    def decide(self, low: Array, high: Array, groups: NDArray[np.bool_]) -> Decision:
        """Decide boxes; open limits are evaluated again in parts of a box."""
        self._last = self.judge(low, high)
        self.whole = self._last.singular | (self.clearance is not None) | ~self._last.middle.sound
        opened = np.column_stack([self._last.open, self._last.singular])
        return Decision(inside=self._last.inside, outside=self._last.outside, groups=groups, open=opened)

    def planes(self, low: Array, high: Array, own: NDArray[np.int64]) -> Planes:
        """Limits of some boxes of the last decision: values and gradients at the middle, gradients, open ones, half widths."""
        last, at, radius = self._last, self._last.middle, (high - low) / 2
        return Planes(
            g_low=at.low["margin"][own], g_high=at.high["margin"][own], at_low=at.low["gradient"][own],
            at_high=at.high["gradient"][own], box_low=last.gradient_low[own], box_high=last.gradient_high[own],
            opened=last.open[own], radius=radius,
        )  # fmt: skip

    def _regular(self, box: Bounds, at: Bounds) -> tuple[NDArray[np.bool_], Array]:
        """Whether the lines are independent in the whole box, and the sign of their determinant there."""
        middle = (at.low["lines"] + at.high["lines"]) / 2
        good = np.all(np.isfinite(middle), axis=(1, 2))
        middle = np.where(good[:, None, None], middle, np.eye(6))
        sign, size = np.linalg.slogdet(middle)
        good &= np.isfinite(size) & (sign != 0)
        middle[~good] = np.eye(6)
        off = np.maximum(box.high["lines"] - middle, middle - box.low["lines"])
        with np.errstate(invalid="ignore", over="ignore"):
            inverse = np.linalg.inv(middle)
            own = np.abs(inverse @ middle - np.eye(6)).sum(axis=2)
            sums = (np.abs(inverse) @ off).sum(axis=2) + own
        return good & np.all(sums < REGULAR, axis=1), sign

    def _apart_from_singular(self, box: Bounds, at: Bounds) -> tuple[Array, Array]:
        """Lower bound of the distance to type 2 singularities in boxes, and its value at their middles, rounded up."""
        scale = np.array([self.robot.characteristic_length] * 3 + [1.0] * 3)
        middle = (at.low["lines"] + at.high["lines"]) / 2
        change = np.maximum(box.high["lines"] - middle, middle - box.low["lines"])
        least, value = least_distance(middle * scale, change * scale)
        return least, value + ROUNDING

    def apart(self, box: Bounds, at: Bounds) -> Array:
        """Lower bound of the distance of any two legs that do not share a joint."""
        from flexapod.analysis.space.leg_distance import pairs_of, segment_distance

        middle = (at.low["ends"] + at.high["ends"]) / 2
        moved = np.maximum(box.high["ends"] - middle, middle - box.low["ends"]).reshape(len(middle), -1, 2, 3)
        travel = np.linalg.norm(moved, axis=3).max(axis=2) * (1 + 1e-12)
        ends = middle.reshape(len(middle), -1, 2, 3)
        smallest = np.full(len(middle), np.inf)
        for i, j in pairs_of(self.robot):
            distance = segment_distance(ends[:, i, 0], ends[:, i, 1], ends[:, j, 0], ends[:, j, 1])
            smallest = np.minimum(smallest, distance - travel[:, i] - travel[:, j] - 1e-12)
        return smallest


def segment_inputs(p0: Array, p1: Array, R0: Array, R1: Array) -> dict[str, Array]:
    """Inputs of the segment chart from poses to poses, (n, 3) and (n, 3, 3) each."""
    from flexapod.motions.rotations import rotation_rotvec

    rotation = rotation_rotvec(R1 @ np.swapaxes(R0, 1, 2))
    angle = np.linalg.norm(rotation, axis=1)
    axis = np.where(angle[:, None] > 0, rotation / np.where(angle > 0, angle, 1.0)[:, None], [0.0, 0.0, 1.0])
    return {"start": p0, "way": p1 - p0, "base": np.ascontiguousarray(R0), "axis": axis, "angle": angle}


def _down(x: Array) -> Array:
    return np.nextafter(x, -np.inf)


def _up(x: Array) -> Array:
    return np.nextafter(x, np.inf)


def _pattern(limits: RobotLimits) -> str:
    return "".join("s" if np.isfinite(x) else "-" for x in limits.low) + "".join(
        "a" if np.isfinite(x) else "-" for x in limits.angle
    )
