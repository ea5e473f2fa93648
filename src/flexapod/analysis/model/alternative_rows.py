"""Alternative closing equations where those of a robot's plan, chosen at home, become singular.

Far from home a leg may be such that the rows that are solved for its joints do not move with these, though others do. There the
same coordinates are solved for by the rows that column pivoting chooses at that state: the robot is the same, its result too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.robot.chosen_dependents import with_plan
from flexapod.robot.elastic_plan import elastic_plan, loop_matrix, smallest_block
from flexapod.robot.geometry import pose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flexapod.robot.robot import Robot

BETTER = 10.0
"""Factor by which the smallest singular value of other rows must be larger: else the robot itself is singular. The state is that
from which the search for a closed one begins, a step away from it."""


def with_other_rows(robot: Robot, given: Mapping[str, NDArray[np.float64]], k: int) -> Robot | None:
    """The robot with rows that close its loops at sample k of given inputs, or None where its own are as good.

    Checked by: tests/robot/test_elastic_plan.py.
    """
    joints = given.get("joint_position")
    if joints is None or not np.all(np.isfinite(joints[k])):
        return None
    plan, counts = robot.elastic_plan, np.cumsum([len(leg.moving) for leg in robot.legs])[:-1]
    at: Any = (np.split(joints[k], counts), _pose(robot, given, k))
    if not plan.bound:
        return None
    A = np.vstack(loop_matrix(robot, plan.carrier, plan.first, len(plan.columns), at))
    other = elastic_plan(robot, [plan.columns[c] for c in plan.bound], at)
    same = set(other.bound) == set(plan.bound) and other.independent == plan.independent
    return with_plan(robot, other) if same and smallest_block(A, other) > BETTER * smallest_block(A, plan) else None


def _pose(robot: Robot, given: Mapping[str, NDArray[np.float64]], k: int) -> Any:
    """Pose of the platform of a sample; where a link is the platform, that of its joints."""
    if "position" in given and "rotation" in given:
        return pose(given["position"][k], given["rotation"][k])
    return robot.home
