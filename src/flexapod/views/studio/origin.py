"""What a number belongs to: robot, changes of its parameters, pose, and when it was computed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

import flexapod as fp

FILE = "as in its file"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Robot, variant (its changes in text), position [m] and rotation vector from home [deg], time of day [s since 1970]."""

    robot: str
    variant: str = FILE
    pose: tuple[float, ...] = ()
    made: float = field(default_factory=time.time, compare=False)

    @staticmethod
    def of(robot: fp.Robot, state: fp.State, variant: str = FILE) -> Origin:
        """The origin of numbers of a robot at a pose."""
        turn = np.degrees(fp.motions.rotation_rotvec(state.rotation @ robot.home.rotation.T))
        pose = np.round(np.concatenate([state.position, turn]), 9) + 0.0
        return Origin(robot=robot.name, variant=variant, pose=tuple(float(x) for x in pose))

    @property
    def text(self) -> str:
        """One line: `delta, platform.mass = 2, at (0, 0, -0.75) m, (0, 0, 0) deg`."""
        place, turn = (", ".join(f"{x:.4g}" for x in part) for part in (self.pose[:3], self.pose[3:]))
        at = f", at ({place}) m, ({turn}) deg" if self.pose else ""
        return f"{self.robot}, {self.variant}{at}"
