"""Poses at which a closing joint would be the wrong way round: its rows also vanish where its axes are opposite or exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.complex_loops import SIGNED, leg_closure
from flexapod.analysis.from_home import joint_positions

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

TURNED = 2.0
"""Trace of the rotation from home, 60 degrees, up to which no joint is tested: legs that are solved from home keep their axes."""


def reversed_joints(
    robot: Robot, inputs: dict[str, Any], joints: NDArray[np.float64] | None = None, first: int = 0
) -> NDArray[Any]:
    """Reason (n,) where a closing joint of a leg would be reversed, else empty.

    Args:
        inputs: `position` (n, 3), `rotation` (n, 3, 3), and `guess` (n, joints) of general legs.
        joints: (n, joints) coordinates; solved for where left out.
        first: number of the first sample among all of a verb.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    p, R = inputs["position"], inputs["rotation"]
    words = np.full(len(p), "", dtype=object)
    far = np.flatnonzero(np.einsum("nij,ij->n", R, robot.home.rotation) < TURNED)
    if len(far) == 0 or not any(leg.closing.type in SIGNED for leg in robot.legs):
        return words
    if joints is None:
        q = joint_positions(robot, {name: values[far] for name, values in inputs.items()}, first + far)
    else:
        q = joints[far]
    cut = np.cumsum([0, *(len(leg.moving) for leg in robot.legs)])
    for i, leg in enumerate(robot.legs):
        own = q[:, cut[i] : cut[i + 1]]
        aligned = leg_closure(leg, np.nan_to_num(own), p[far], R[far], robot.characteristic_length)[3]
        wrong = ~aligned & np.all(np.isfinite(own), axis=1) & (words[far] == "")
        words[far[wrong]] = f"the robot cannot take this pose: joint {leg.closing.joint} of leg {leg.name} would be reversed"
    return words
