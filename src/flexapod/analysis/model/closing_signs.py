"""Poses at which a closing joint would be reversed: the closing equations also vanish where its axes are opposite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.newton_starts import joint_positions
from flexapod.analysis.poses.complex_loops import SIGNED, closing_at, frame_of, link_frames
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

ROTATED = 2.0
"""Trace of the rotation from home, 60 degrees, up to which no joint is tested: legs that are solved from home keep their axes."""


def reversed_joints(
    robot: Robot, inputs: dict[str, Array], joints: NDArray[np.float64] | None = None, first: int = 0
) -> NDArray[Any]:
    """Reason (n,) where a closing joint of a leg would be reversed, else empty.

    Args:
        inputs: `position` (n, 3), `rotation` (n, 3, 3), and `guess` (n, joints) of general legs.
        joints: (n, joints) coordinates; solved for where left out.
        first: number of the first sample among all of a verb.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    p, R = inputs["position"], inputs["rotation"]
    reasons = np.full(len(p), "", dtype=object)
    far = np.flatnonzero(np.einsum("nij,ij->n", R, robot.home.rotation) < ROTATED)
    if len(far) == 0 or not any(closing.type in SIGNED for leg in robot.legs for closing in leg.closings):
        return reasons
    if joints is None:
        q = joint_positions(robot, {name: values[far] for name, values in inputs.items()}, first + far)
    else:
        q = joints[far]
    reasons[far] = wrong_way(robot, q, p[far], R[far])
    return reasons


def wrong_way(robot: Robot, q: NDArray[np.float64], p: NDArray[np.float64], R: NDArray[np.float64]) -> NDArray[Any]:
    """Reason (n,) where a joint that closes a loop is reversed at joint coordinates q (n, joints), else empty; loops inside and
    between legs included."""
    reasons, cut = np.full(len(q), "", dtype=object), np.cumsum([0, *(len(leg.moving) for leg in robot.legs)])
    known = np.all(np.isfinite(q), axis=1)
    frames = [link_frames(leg, np.nan_to_num(q[:, a:b])) for leg, a, b in zip(robot.legs, cut[:-1], cut[1:], strict=True)]
    for i, leg in enumerate(robot.legs):
        for closing in leg.closings:
            far = (R, p) if closing.to is None else frame_of(frames[closing.to[0]], closing.to[1], len(q))
            aligned = closing_at(closing, frame_of(frames[i], closing.link, len(q)), far, robot.characteristic_length).aligned
            wrong = ~aligned & known & (reasons == "")
            reasons[wrong] = f"the robot cannot reach this pose: joint {closing.joint} of leg {leg.name} would be reversed"
    return reasons
