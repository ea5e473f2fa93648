"""Poses of the platform along measured actuator positions: a few followed one after the other, the others found at once.

Every 100th sample is followed by continuation from the one before. The samples between start from the nearest of these, all
together, with the guards of forward kinematics (same branch, small steps where Newton leaves it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.poses.forward_poses import solve
from flexapod.analysis.poses.pose_search import PoseSearch
from flexapod.arrays import Array
from flexapod.errors import FlexapodError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

KNOTS = 100
"""Samples between poses that are followed one after the other."""
LONG = 50_000
"""Samples beyond which poses are found block by block, so that memory stays that of the data and one block, and by a kernel
without joint coordinates, which is then worth its compilation."""
RATES = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")


class PoseTrack:
    """The platform along a motion of the actuators; any part of it on demand, so that memory stays that of a part.

    Args:
        q, qd, qdd: (n, actuators) positions with their derivatives.

    Raises:
        FlexapodError: a pose is not found: says which sample.

    Checked by: tests/identification/test_signals.py.
    """

    def __init__(self, robot: Robot, q: Array, qd: Array, qdd: Array) -> None:
        self.robot, self.states = robot, (q, qd, qdd)
        self._knots = np.unique(np.append(np.arange(0, len(q), KNOTS), len(q) - 1))
        known = solve(robot, q[self._knots], None, True, "same")
        lost = np.flatnonzero(known.reasons != "")
        if len(lost):
            raise FlexapodError(f"data: sample {self._knots[lost[0]]} is no pose of {robot.name}: {known.reasons[lost[0]]}")
        self._poses, self._search = known.poses, PoseSearch(robot)
        self._newton = PoseSearch(robot, joints=False) if len(q) > LONG else self._search

    def __len__(self) -> int:
        return len(self.states[0])

    def inputs(self, part: slice = slice(None), offset: Array | None = None) -> dict[str, Array]:
        """Motion of the platform by the names of the kernels, for some samples.

        Args:
            offset: (actuators,) added to the positions, rates kept.
        """
        first = part.indices(len(self))[0]
        q, qd, qdd = (np.ascontiguousarray(x[part]) for x in self.states)
        q = q if offset is None else q + offset
        near = np.minimum((np.arange(first, first + len(q)) + KNOTS // 2) // KNOTS, len(self._knots) - 1)
        start = self._poses.at(near)
        found = self._newton.newton(q, start)
        if not np.all(found.solved & found.same):  # smaller steps, with another proof of the branch
            found = self._search.search(q, start, self.states[0][self._knots[near]])
        lost = np.flatnonzero(~(found.solved & found.same))
        if len(lost):
            raise FlexapodError(f"data: sample {first + lost[0]} is no pose of {self.robot.name} near the samples around it")
        rates = kernel(self.robot, "platform_from_actuators")
        pose = {"position": found.poses.position, "rotation": found.poses.rotation, "guess": found.poses.joints}
        inputs = {**pose, "actuator_velocity": qd, "actuator_acceleration": qdd}
        moved = rates.batch({i.name: inputs[i.name] for i in rates.signature.inputs}).outputs
        return {**pose, **{k: moved[k] for k in RATES}, "wrench": np.zeros((len(q), 6))}
