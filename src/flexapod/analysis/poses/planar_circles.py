r"""Planar robots whose platform points lie on three circles (3-RPR, 3-RRR, 3-PRR): certificates of their poses.

In the plane, Study's coordinates reduce to x = (e_0, e_3, g_1, g_2) in P^3 with the half angle (e_0 : e_3) of the rotation, and
three legs are three quadrics, which have at most 6 solutions with a rotation (e_0^2 + e_3^2 not zero).

Source: C. Gosselin, J. Merlet, The direct kinematics of planar parallel manipulators (1994), for the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.poses.chain_spheres import has_one_hinge, hinge_circle
from flexapod.analysis.poses.discs import Disc
from flexapod.analysis.poses.pose_certificate import Certificate, certify_quadrics, leg_quadrics
from flexapod.analysis.poses.sphere_legs import CHAIN_ERROR, actuators_of
from flexapod.arrays import Array
from flexapod.robot.geometry import frame_along

if TYPE_CHECKING:
    from flexapod.analysis.poses.loop_poses import LoopPoses
    from flexapod.robot.robot import Robot


CIRCLES = 6
"""Proven largest number of isolated complex poses."""

PLANE = [0, 3, 5, 6]
"""Study's coordinates that do not vanish in the plane."""


def is_on_circles(robot: Robot) -> bool:
    """Whether three circles in a plane determine the platform."""
    legs = robot.legs
    return robot.planar and len(legs) == 3 and all(leg.closing.type == "revolute" and has_one_hinge(leg) for leg in legs)


def certify_circles(robot: Robot, q: Array, poses: LoopPoses) -> Certificate:
    """Krawczyk's test of all complex poses of actuator coordinates q.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    found = [hinge_circle(leg, q[list(own)]) for leg, own in zip(robot.legs, actuators_of(robot), strict=True)]
    F = frame_along(found[0][2])  # z is normal to the plane
    a = np.array([centre for centre, _, _ in found]) @ F
    b = np.array([robot.home.rotation @ leg.closing.on_platform.position for leg in robot.legs]) @ F
    a[:, 2], b[:, 2] = 0.0, 0.0
    Q = leg_quadrics(a, b, np.array([r**2 for _, r, _ in found]), CHAIN_ERROR)
    chosen = np.ix_(range(3), PLANE, PLANE)
    x = poses.complex_poses
    R, p = F.T @ x.R @ robot.home.rotation.T @ F, x.p @ F
    cosine, sine = R[:, 0, 0], R[:, 1, 0]
    upright = np.abs(1.0 + cosine) > np.abs(1.0 - cosine)
    e0, e3 = np.where(upright, 1.0 + cosine, sine), np.where(upright, sine, 1.0 - cosine)
    points = np.stack([e0, e3, p[:, 0] * e0 + p[:, 1] * e3, p[:, 1] * e0 - p[:, 0] * e3], axis=1)
    real = np.isin(np.arange(len(points)), poses.index)
    return certify_quadrics(Disc(Q.mid[chosen], Q.rad[chosen]), points, real, quaternion=2)
