r"""Whether a robot with grouped inertial parameters (Khalil's tables) has a positive mass matrix.

Grouped parameters need not belong to any body: single ones may be negative. What moves must still have mass:

.. math:: M = N^T\Big(\sum_b G_b^T\,\mathcal{M}_b\,G_b + \mathrm{diag}(I_A)\Big)N \ge 0,\qquad J\,N = 0

with J the closing rows of all loops, G_b the twist of body b per coordinate, at home and at configurations near it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import ancestors, link_poses
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.mobility import RANK, generic_configuration, loop_jacobian
from flexapod.robot.model import Leg, RigidBody
from flexapod.rotation_arrays import skew

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

NEGATIVE = 1e-9
"""Negative eigenvalue, of the largest one, that counts: rounding of the sums over bodies is 1e-15."""


def check_grouped(robot: Robot) -> None:
    """Refuse grouped parameters that let something move with negative inertia.

    Checked by: tests/robot/test_unphysical.py.
    """
    if not has_grouped(robot) or robot.flexible_platform is not None or robot.elastic_legs:
        return
    at = [([leg.home for leg in robot.legs], robot.home)]
    at += [generic_configuration(robot.legs, robot.home, robot.characteristic_length, seed) for seed in range(2)]
    for q, pose in at:
        values = np.linalg.eigvalsh(free_mass_matrix(robot, q, pose))
        if len(values) and values[0] < -NEGATIVE * np.abs(values).max():
            raise RobotBuildError(
                f"{robot.name}: the mass matrix is not positive definite (smallest eigenvalue {values[0]:.4g}), so that its "
                "grouped parameters belong to no robot. Check the signs of the table; `allow_unphysical: true` at the top of "
                "the file accepts it"
            )


def has_grouped(robot: Robot) -> bool:
    """Whether some body has grouped parameters that must make a positive mass matrix."""
    file, legs = robot.description.file, robot.description.legs.values()
    grouped = [file.platform.base_parameters is not None, *(bool(leg.table) for leg in legs)]
    grouped += [body.base_parameters is not None for leg in legs for body in leg.bodies.values()]
    return not file.allow_unphysical and any(grouped)


def free_mass_matrix(robot: Robot, q: list[Array], pose: Pose) -> Array:
    """Mass matrix (m, m) over an orthonormal basis of the motions that the loops allow; lengths over the characteristic one."""
    _, J = loop_jacobian(robot.legs, q, pose)
    size = J.shape[1]
    M = np.zeros((size, size))
    first = 0
    for leg, own in zip(robot.legs, q, strict=True):
        M[first : first + len(own), first : first + len(own)] = _leg_mass(leg, own)
        first += len(own)
    G = np.kron(np.eye(2), pose.rotation.T)
    M[-6:, -6:] = G.T @ body_mass(robot.platform) @ G
    units = [robot.characteristic_length if unit == "m" else 1.0 for unit in robot.coordinate_units]
    scale = np.array([*units, *[robot.characteristic_length] * 3, 1.0, 1.0, 1.0])
    _, s, Vt = np.linalg.svd(J * scale)
    N = scale[:, None] * Vt[int(np.sum(s > RANK * s[0])) :].T
    return np.asarray(N.T @ M @ N)


def body_mass(body: RigidBody) -> Array:
    """(6, 6) of a body about its frame origin, in its axes: m v.v + 2 v.(w x s) + w.I w is twice its kinetic energy."""
    S = skew(np.asarray(body.first_moment))
    return np.block([[body.mass * np.eye(3), -S], [S, np.asarray(body.inertia)]])


def _leg_mass(leg: Leg, q: Array) -> Array:
    """(n, n) kinetic energy of a leg's bodies and rotors per rate of its coordinates."""
    poses, moving = link_poses(leg, q), leg.moving
    M = np.diag([leg.links[index].inertia for index in moving]).astype(float)
    for k, link in enumerate(leg.links):
        if link.body is None:
            continue
        R, p = poses[k]
        G = np.zeros((6, len(moving)))
        for index in ancestors(leg, k):
            if leg.links[index].kind == "fixed":
                continue
            z, at = poses[index][0][:, 2], poses[index][1]
            slides = leg.links[index].kind == "P"
            twist = np.concatenate([z, np.zeros(3)]) if slides else np.concatenate([np.cross(z, p - at), z])
            G[:, moving.index(index)] = np.kron(np.eye(2), R.T) @ twist
        M += G.T @ body_mass(link.body) @ G
    return M
