"""Motion of the platform and of points fixed to it, from the inputs of a kernel.

Letters: W world, P platform; R_WP, p position of the platform frame, v, w its velocity and angular velocity, a, alpha
their derivatives, all in world axes.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexapod.kernels.program import Program
from flexapod.spatial import Rot, Vec, cross


@dataclass(frozen=True, kw_only=True)
class FrameMotion:
    """Pose, twist and acceleration of a frame, in world axes; R turns frame axes to world."""

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


def platform_motion(b: Program) -> FrameMotion:
    """Declare the inputs of a platform motion: pose, twist, acceleration."""
    return FrameMotion(
        p=Vec(b.input("position", (3,), unit="m", doc="platform frame origin, world"), "W"),
        R=Rot(b.input("rotation", (3, 3), doc="world-from-platform"), "W", "P"),
        v=Vec(b.input("velocity", (3,), unit="m/s", doc="of the platform frame origin, world"), "W"),
        w=Vec(b.input("angular_velocity", (3,), unit="rad/s", doc="of the platform, world"), "W"),
        a=Vec(b.input("acceleration", (3,), unit="m/s^2", doc="of the platform frame origin, world"), "W"),
        alpha=Vec(b.input("angular_acceleration", (3,), unit="rad/s^2", doc="of the platform, world"), "W"),
    )
