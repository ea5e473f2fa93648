"""Motion of the platform and of points fixed to it, from the inputs of a kernel.

Letters: W world, P platform; R_WP, p position of the platform frame, v, w its velocity and angular velocity, a, alpha
their derivatives, all in world axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flexapod.arrays import SX
from flexapod.kernels.tape.program import Program
from flexapod.spatial import Rot, Vec, cross
from flexapod.spatial.vector import zero

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class FrameMotion:
    """Pose, twist and acceleration of a frame, in world axes; R rotates frame axes to world axes."""

    R: Rot
    p: Vec
    v: Vec
    w: Vec
    a: Vec
    alpha: Vec

    def point(self, r_B: Vec) -> PointMotion:
        r"""Motion of a point fixed in the frame.

        .. math:: \ddot p = a + \alpha\times r + \omega\times(\omega\times r)
        """
        r = self.R @ r_B
        spin = cross(self.w, r)
        return PointMotion(p=self.p + r, v=self.v + spin, a=self.a + cross(self.alpha, r) + cross(self.w, spin))


@dataclass(frozen=True, kw_only=True)
class PointMotion:
    """Position, velocity and acceleration of a point, world axes."""

    p: Vec
    v: Vec
    a: Vec


def pose_inputs(b: Program) -> tuple[SX, SX]:
    """Declare the inputs of a pose: `position` (3,), `rotation` (3, 3)."""
    p = b.input("position", (3,), unit="m", doc="platform frame origin, world")
    return p, b.input("rotation", (3, 3), doc="world-from-platform")


def twist_inputs(b: Program) -> tuple[SX, SX]:
    """Declare the inputs of a twist: `velocity` (3,), `angular_velocity` (3,)."""
    v = b.input("velocity", (3,), unit="m/s", doc="of the platform frame origin, world")
    return v, b.input("angular_velocity", (3,), unit="rad/s", doc="of the platform, world")


def platform_motion_inputs(b: Program) -> FrameMotion:
    """Declare the inputs of a platform motion: pose, twist, acceleration."""
    (p, R), (v, w) = pose_inputs(b), twist_inputs(b)
    a = b.input("acceleration", (3,), unit="m/s^2", doc="of the platform frame origin, world")
    alpha = b.input("angular_acceleration", (3,), unit="rad/s^2", doc="of the platform, world")
    return frame_motion(p, R, v, w, a, alpha)


def platform_state(b: Program, acceleration: SX | None = None) -> FrameMotion:
    """Declare the inputs of a platform state; its `acceleration` (6,) is given, or zero."""
    (p, R), (v, w) = pose_inputs(b), twist_inputs(b)
    return frame_motion(p, R, v, w, *(() if acceleration is None else (acceleration[:3], acceleration[3:])))


def frame_motion(p: SX, R: SX, v: SX, w: SX, a: SX | None = None, alpha: SX | None = None) -> FrameMotion:
    """The platform's motion from expressions in world axes, `R` (3, 3); accelerations left out are zero."""
    linear, angular = (zero("W") if x is None else Vec(x, "W") for x in (a, alpha))
    return FrameMotion(p=Vec(p, "W"), R=Rot(R, "W", "P"), v=Vec(v, "W"), w=Vec(w, "W"), a=linear, alpha=angular)


def wrench_input(b: Program) -> SX:
    """Declare the input `wrench` (6,)."""
    return b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform frame at its origin, world")


def guess_input(b: Program, robot: Robot, needed: bool | None = None) -> SX | None:
    """Declare the input `guess` (joints,) where `needed`, left out: of robots with general legs; else None."""
    if not (any(form is None for form in robot.closed_forms) if needed is None else needed):
        return None
    return b.input("guess", (len(robot.coordinates),), unit="m or rad", doc="joint coordinates to start from")
