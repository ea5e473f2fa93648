"""Tests of the poses of a workspace: limits of the file, singularities, and demands on condition, force, stiffness, frequency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.state import State
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.path_check import PathPoses, SampledCheck
from flexapod.analysis.space.pose_bounds import PoseBounds, segment_inputs
from flexapod.analysis.space.pose_map import PoseMap
from flexapod.arrays import Array
from flexapod.motions.argument_checks import positive
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


RATES = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")

SAMPLES = 41
"""Samples of a motion at which forces are looked at."""


@dataclass(frozen=True, kw_only=True)
class Demands:
    """Demands on the poses of a workspace; None: not checked.

    Args:
        limits: strokes and joint angles of the file.
        singularities: poses are on home's side of the type 2 singularities.
        condition: largest condition number.
        clearance: smallest distance between the axes of two legs without a common joint [m].
        force: largest force that an actuator needs to hold the pose [N or N m]; `wrench` (6,) acts besides gravity.
        along: a motion that the robot must be able to begin at the pose: its displacements from its first sample, carried there,
            world axes. Limits are kept and forces, friction included, stay below `force` at samples of it.
        stiffness: smallest translational stiffness [N/m] with locked actuators.
        frequency: smallest natural frequency [Hz].
        mounting: largest angle of legs from the mounting axes [rad]; see `mounting_axes`.
        mounting_axes: (base, platform): (3,) each, the platform's in its own axes; the vertical ones if left out.
    """

    limits: bool = True
    singularities: bool = True
    condition: float | None = None
    clearance: float | None = None
    force: float | None = None
    wrench: Any = None
    along: Motion | None = None
    stiffness: float | None = None
    frequency: float | None = None
    mounting: float | None = None
    mounting_axes: Any = None


class PoseTests:
    """Decides poses of one robot, cheap demands first."""

    def __init__(self, robot: Robot, demands: Demands) -> None:
        self.robot, self.demands = robot, demands
        for name in ("condition", "clearance", "force", "stiffness", "frequency", "mounting"):
            value = getattr(demands, name)
            if value is not None:
                positive(name, value)
        self._map = PoseMap(limits_of(robot), keep_limits=demands.limits, max_condition=demands.condition)
        self._check = SampledCheck(robot, demands.limits, 0.0, demands.clearance)
        home = PathPoses(p=robot.home.position[None], R=robot.home.rotation[None])
        self._sign = float(self._check.signs(self._check.onto(home))[0])

    def __reduce__(self) -> Any:
        """Travels as robot and demands: kernels are made where it arrives."""
        return PoseTests, (self.robot, self.demands)

    def __call__(self, position: Array, rotation: Array) -> NDArray[np.bool_]:
        """Whether each pose (n, 3), (n, 3, 3) meets all demands. Checked by: tests/analysis/test_workspace_solid.py."""
        poses = self._check.onto(PathPoses(p=position, R=np.ascontiguousarray(rotation)))
        good = np.all(np.isfinite(poses.p), axis=1)
        good[good] = self._map.evaluate(np.ascontiguousarray(poses.p[good]), np.ascontiguousarray(poses.R[good])).code == 0
        d = self.demands
        tests: list[tuple[bool, Callable[[PathPoses], NDArray[np.bool_]]]] = [
            (d.singularities, lambda p: np.asarray(self._check.signs(p) == self._sign)),
            (d.mounting is not None, self._mounted),
            (d.clearance is not None, lambda p: np.asarray(self._check.gaps(p) >= (d.clearance or 0.0))),
            (d.force is not None, self._held),
            (d.along is not None, self._followed),
            (d.stiffness is not None, self._stiff),
            (d.frequency is not None, self._fast),
        ]
        for wanted, test in tests:
            left = np.flatnonzero(good)
            if wanted and len(left):
                good[left] = test(PathPoses(p=poses.p[left], R=poses.R[left]))
        return np.asarray(good)

    def _state(self, poses: PathPoses) -> State:
        return State(position=poses.p, rotation=poses.R)

    def _held(self, poses: PathPoses) -> NDArray[np.bool_]:
        from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

        load = self.demands.wrench
        return self._weak(inverse_dynamics(self.robot, self._state(poses), friction=False, wrench=load, on_error="mask"))

    def _weak(self, drive: xr.Dataset) -> NDArray[np.bool_]:
        """Whether each sample needs no more than the largest force."""
        size = np.nan_to_num(np.abs(drive["force"].values), nan=np.inf).max(axis=1)
        return np.asarray(size <= (self.demands.force or 0.0))

    def _followed(self, poses: PathPoses) -> NDArray[np.bool_]:
        """Poses from which the motion can be followed: its samples one after the other, while there are poses left."""
        from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

        way = self.demands.along
        assert way is not None
        good = np.ones(len(poses), dtype=bool)
        for j in np.unique(np.linspace(0, len(way) - 1, SAMPLES).round().astype(int)):
            left = np.flatnonzero(good)
            if len(left) == 0:
                break
            rotation = way.rotation[j] @ way.rotation[0].T
            p, R = poses.p[left] + (way.position[j] - way.position[0]), np.ascontiguousarray(rotation @ poses.R[left])
            good[left] = self._map.evaluate(p, R).code == 0
            own = good[left]
            left = left[own]
            if len(left):
                rates = {name: np.tile(getattr(way, name)[j], (len(left), 1)) for name in RATES}
                moving = Motion(time=np.arange(len(left), dtype=float), position=p[own], rotation=R[own], **rates)
                good[left] = self._weak(inverse_dynamics(self.robot, moving, wrench=self.demands.wrench, on_error="mask"))
        return good

    def _stiff(self, poses: PathPoses) -> NDArray[np.bool_]:
        from flexapod.analysis.verbs.cartesian_stiffness import cartesian_stiffness

        K = cartesian_stiffness(self.robot, self._state(poses))["stiffness"].values
        lowest = np.linalg.eigvalsh((K + np.swapaxes(K, 1, 2))[:, :3, :3] / 2)[:, 0]
        return np.asarray(lowest >= (self.demands.stiffness or 0.0))

    def _fast(self, poses: PathPoses) -> NDArray[np.bool_]:
        from flexapod.analysis.verbs.natural_frequencies import natural_frequencies

        found = natural_frequencies(self.robot, self._state(poses))["frequency"].values
        return np.asarray(np.nanmin(found, axis=-1) >= (self.demands.frequency or 0.0))

    def _mounted(self, poses: PathPoses) -> NDArray[np.bool_]:
        """Legs within the angle of the mounting axes at base and platform."""
        base, platform = self.demands.mounting_axes or ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
        bounds = PoseBounds(self.robot, "segment", strokes=False, angles=False, singularities=False)
        at = bounds.over(np.zeros((len(poses), 1)), np.zeros((len(poses), 1)), segment_inputs(poses.p, poses.p, poses.R, poses.R))
        ends = ((at.low["ends"] + at.high["ends"]) / 2).reshape(len(poses), -1, 2, 3)
        d = ends[:, :, 1] - ends[:, :, 0]
        d /= np.linalg.norm(d, axis=2, keepdims=True)
        cosine = np.cos(self.demands.mounting or 0.0)
        axes = (np.asarray(base, dtype=float), poses.R @ np.asarray(platform, dtype=float))
        good = np.ones(len(poses), dtype=bool)
        for axis in axes:
            unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
            along = np.einsum("nli,i->nl", d, unit) if unit.ndim == 1 else np.einsum("nli,ni->nl", d, unit)
            good &= along.min(axis=1) >= cosine
        return good
