r"""Legs with massless motions: attachments to other bodies, springs and drives at closing joints, bodies without mass.

The mass matrix of such a leg alone, :math:`\sum_b J_b^T I_b J_b` over its bodies, is singular, though the loops give the robot's
own equations a mass. Elimination leg by leg would divide by what rounding leaves of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.robot.leg_positions import ancestors, link_poses
from flexapod.robot.model import Leg, Link
from flexapod.robot.robot import Robot
from flexapod.rotation_arrays import skew

MASSLESS = 1e-11
"""Smallest eigenvalue of a leg's mass matrix with a unit diagonal: rounding is 1e-16, slender bodies have 1e-6."""


def has_massless_motion(robot: Robot) -> bool:
    """Whether some leg moves without mass; found once and kept with the robot.

    Checked by: tests/robot/test_massless_motion.py.
    """
    if "massless" not in robot.kept:
        robot.kept["massless"] = any(_is_singular(leg_mass(leg)) for leg in robot.legs)
    found: bool = robot.kept["massless"]
    return found


def _is_singular(M: NDArray[np.float64]) -> bool:
    diagonal = np.sqrt(np.diag(M))
    if not len(M) or np.any(diagonal == 0.0):
        return bool(len(M))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = M / diagonal / diagonal[:, None]
    return not np.isfinite(scaled).all() or bool(np.linalg.eigvalsh(scaled)[0] < MASSLESS)


def leg_mass(leg: Leg) -> NDArray[np.float64]:
    """Mass matrix (moving, moving) of a leg alone, at home; deformable links count as bodies of unit mass.

    About one point unit twists S and inertias add up along the tree: M_jk = S_j . J_k S_k where j carries k.
    """
    poses, places, n = link_poses(leg, leg.home), {k: i for i, k in enumerate(leg.moving)}, len(leg.moving)
    J, S, carries = np.zeros((len(leg.links) + 1, 6, 6)), np.zeros((6, n)), np.zeros((n, n))
    for k, link in enumerate(leg.links):
        R, p = poses[k]
        if link.body is not None or link.elastic:
            X = np.block([[np.eye(3), -skew(p)], [np.zeros((3, 3)), np.eye(3)]])
            J[k] = X.T @ _inertia(link, R) @ X
        if k in places:
            z = R[:, 2]
            S[:, places[k]] = np.concatenate([np.cross(p, z), z]) if link.kind == "R" else np.concatenate([z, np.zeros(3)])
            carries[[places[i] for i in ancestors(leg, k) if i in places], places[k]] = 1.0
    for k in reversed(range(len(leg.links))):
        J[leg.links[k].parent] += J[k]
    F = np.einsum("kij,jk->ik", J[list(leg.moving)], S)
    half = (S.T @ F) * carries
    return np.asarray(half + half.T - np.diag(np.diag(half)) + np.diag([leg.links[k].inertia for k in leg.moving]))


def _inertia(link: Link, R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spatial inertia (6, 6) about the link's origin, linear part first, in world axes."""
    if link.body is None or link.elastic:
        return np.eye(6)
    S = skew(R @ link.body.first_moment)
    return np.block([[link.body.mass * np.eye(3), -S], [S, R @ link.body.inertia @ R.T]])
