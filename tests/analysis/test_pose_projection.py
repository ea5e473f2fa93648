"""Poses of limited-mobility robots: given components are kept, the others follow."""

import numpy as np

import flexapod as fp
from flexapod.analysis.poses.pose_projection import left_jacobian, onto_constraints
from flexapod.motions.rotations import euler_rotation, rotation_rotvec, rotvec_rotation

STEP = 1e-6
"""Step of central differences [rad]: their error is its square, 1e-12, and rounding over it, 1e-10."""
DIFFERENCES = 1e-9
"""Of entries of size 1: ten times that rounding."""
KEPT = 1e-14
"""Given components are set, not solved for: a rounding of the rotation vector is left."""
FOLLOWED = 1e-9
"""Residual with which a pose is taken (TAKEN of `pose_projection`)."""


def test_left_jacobian_is_the_derivative_of_the_rotation() -> None:
    """R(tau + dtau) R(tau)^T rotates by J dtau, for angles from 0 to nearly pi."""
    rng = np.random.default_rng(4)
    for angle in (0.0, 1e-5, 0.3, 2.0, 3.1):
        axis = rng.normal(size=3)
        tau = angle * axis / np.linalg.norm(axis)
        found = left_jacobian(tau[None])[0]
        for k in range(3):
            ahead, behind = (rotvec_rotation((tau + sign * STEP * np.eye(3)[k])[None])[0] for sign in (1.0, -1.0))
            rate = rotation_rotvec((ahead @ behind.T)[None])[0] / (2.0 * STEP)
            np.testing.assert_allclose(found[:, k], rate, rtol=0, atol=DIFFERENCES)


def test_rotations_that_a_robot_cannot_choose_follow() -> None:
    """The first leg of the spherical five-bar rotates about x, then y: R = Rx(a) Ry(b), with a rotation vector not in xy."""
    robot = fp.load("spherical-five-bar")
    wanted = np.array([[0.3, 0.2, 0.0], [-0.1, 0.25, 0.0], [0.2, 0.0, 0.0]])
    p, R, _ = onto_constraints(robot, np.zeros((3, 3)), rotvec_rotation(wanted), [0, 1, 2, 5])
    rotation = rotation_rotvec(R)
    np.testing.assert_allclose(rotation[:, :2], wanted[:, :2], rtol=0, atol=KEPT)
    a, b = np.arctan2(R[:, 2, 1], R[:, 1, 1]), np.arctan2(R[:, 0, 2], R[:, 0, 0])
    np.testing.assert_allclose(R, euler_rotation("XYZ", np.column_stack([a, b, np.zeros(3)])), rtol=0, atol=FOLLOWED)
    np.testing.assert_allclose(p, 0.0, rtol=0, atol=FOLLOWED)
    assert np.all(np.abs(rotation[:2, 2]) > 0.01), "the third component follows"
    area = fp.workspace(robot, grid={"rx": [-0.3, 0.3], "ry": [-0.2, 0.2]}, progress=False)
    assert area.valid.values.all()
