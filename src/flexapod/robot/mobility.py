"""Mobility: the degrees of freedom of a robot, by the rank of its closing equations and by the count formula.

All loops at once: sum of leg coordinates plus the six of the platform, less the rank of the closing rows. The formula of
Kutzbach counts bodies and degrees of freedom only, and is wrong where constraints repeat (over-constrained robots).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from flexapod.arrays import Array
from flexapod.description.joint_types import DOF
from flexapod.errors import amount
from flexapod.robot.geometry import Pose, pose, rotation_from_vector
from flexapod.robot.leg_positions import closures, leg_rows
from flexapod.robot.model import Leg

RANK = 1e-8
"""Singular values below this times the largest are zero: rounding sits near 1e-15, real ones far above 1e-6."""


TALL = 2
"""Rows per column from which on a matrix is made square before its singular values are taken: loops beside loops repeat rows."""

ROTATED = 1e-6
"""Change of a projector from which directions differ: rounding is 1e-12, the way between configurations 1e-2."""


@dataclass(frozen=True, kw_only=True)
class Mobility:
    """Mobility by rank and by formula.

    Args:
        rank: degrees of freedom at a generic pose (platform and idle ones together).
        formula: 6 (bodies - joints) + degrees of freedom (3 instead of 6 for a planar robot).
        platform: degrees of freedom of the platform itself.
        actuators: number of actuated joints.
    """

    rank: int
    formula: int
    platform: int
    actuators: int

    def __str__(self) -> str:
        remarks = [f"mobility {self.rank} by rank, {self.formula} by the count formula"]
        if self.rank != self.formula:
            remarks.append("over-constrained: some constraints repeat" if self.rank > self.formula else "degenerate")
        if self.rank > self.platform:
            remarks.append(f"{self.rank - self.platform} idle")
        if self.actuators > self.rank:
            remarks.append(f"redundantly actuated ({self.actuators} actuators)")
        elif self.actuators < self.platform:
            remarks.append(f"under-actuated ({amount(self.actuators, 'actuator')})")
        return "; ".join(remarks)


def loop_jacobian(legs: tuple[Leg, ...], coordinates: list[Array], platform: Pose) -> tuple[Array, Array]:
    """Residuals (m,) and derivatives (m, n + 6) of all closing joints; columns: legs in order, then v, omega.

    Elastic coordinates are held: their columns are zero.
    """
    parts = closures(legs, coordinates, platform)
    J = np.concatenate([np.concatenate([by_legs, by_platform], axis=1) for _, by_legs, by_platform in parts])
    J[:, :-6] *= np.concatenate([_rigid(leg) for leg in legs])
    return np.concatenate([r for r, _, _ in parts]), J


def _rigid(leg: Leg) -> Array:
    """1 for joint coordinates, 0 for elastic ones."""
    return np.array([0.0 if leg.links[i].elastic else 1.0 for i in leg.moving])


def move(coordinates: list[Array], platform: Pose, step: Array) -> tuple[list[Array], Pose]:
    """Leg coordinates and platform pose after a step in all of them."""
    moved, at = [], 0
    for q in coordinates:
        moved.append(q + step[at : at + len(q)])
        at += len(q)
    R = rotation_from_vector(step[-3:]) @ platform.rotation
    return moved, pose(platform.position + step[-6:-3], R)


def generic_configuration(legs: tuple[Leg, ...], platform: Pose, size: float, seed: int) -> tuple[list[Array], Pose]:
    """A random assembled configuration a little away from home: random steps in the null space, closed again by Newton."""
    random = np.random.default_rng(seed)
    q = [leg.home.copy() for leg in legs]
    for _ in range(3):
        _, J = loop_jacobian(legs, q, platform)
        _, s, vt = np.linalg.svd(np.linalg.qr(J, mode="r") if len(J) > TALL * J.shape[1] else J)
        null = vt[int(np.sum(s > RANK * s[0])) :]
        direction = null.T @ (null @ random.normal(size=J.shape[1]))  # projected: does not follow the basis of the null space
        direction[:-6] *= np.concatenate([_rigid(leg) for leg in legs])
        step = 0.03 * direction / max(1e-12, float(np.abs(direction).max(initial=0.0))) * min(size, 1.0)
        q_new, p_new = move(q, platform, step)
        for _ in range(20):
            r, J = loop_jacobian(legs, q_new, p_new)
            if float(np.linalg.norm(r)) < 1e-13 * max(size, 1.0):
                break
            q_new, p_new = move(q_new, p_new, -np.linalg.pinv(J, rcond=RANK) @ r)
        q, platform = q_new, p_new
    return q, platform


def floats(legs: tuple[Leg, ...], platform: Pose, size: float) -> bool:
    """Whether actuators can move while the platform is at rest, as on a base that floats: its pose does not determine the
    state."""
    if all(len(leg.moving) <= len(leg_rows(leg)) for leg in legs):
        return False
    q, p = generic_configuration(legs, platform, size, 0)
    _, J = loop_jacobian(legs, q, p)
    _, s, vt = np.linalg.svd(J[:, :-6])
    idle = vt[int(np.sum(s > RANK * max(s.max(initial=0.0), 1e-300))) :]
    driven = [leg.links[i].actuated for leg in legs for i in leg.moving]
    return bool(np.abs(idle[:, driven]).max(initial=0.0) > RANK)


def winds(legs: tuple[Leg, ...], platform: Pose, size: float, dof: int) -> bool:
    """Whether no fixed choice among the components of the platform's twist describes its whole motion, as that of a coupler: the
    platform hangs on a crank or a rod, or has one degree of freedom, and its directions of motion change.

    Checked by: tests/robot/test_whole_revolution.py.
    """
    if dof != 1 and not any(_cranked(leg) for leg in legs):
        return False
    ways = [_ways(legs, *generic_configuration(legs, platform, size, seed), size) for seed in range(3)]
    return any(float(np.abs(way - ways[0]).max()) > ROTATED for way in ways[1:])


def _cranked(leg: Leg) -> bool:
    """Leg of one revolute or universal joint that holds a point of the platform at a distance."""
    moving = [leg.links[i] for i in leg.moving]
    one = 0 < len(moving) <= 2 and len({link.joint for link in moving}) == 1 and all(link.kind == "R" for link in moving)
    return one and leg.closing.type in ("revolute", "universal", "spherical")


def _ways(legs: tuple[Leg, ...], coordinates: list[Array], platform: Pose, size: float) -> Array:
    """(6, 6) projector on the twists that the platform can have, lengths in units of `size`."""
    _, J = loop_jacobian(legs, coordinates, platform)
    _, s, vt = np.linalg.svd(J * np.concatenate([np.ones(J.shape[1] - 6), np.full(3, size), np.ones(3)]))
    twists = vt[int(np.sum(s > RANK * s[0])) :, -6:]
    u, s, _ = np.linalg.svd(twists.T)
    basis = u[:, : int(np.sum(s > RANK))]
    return np.asarray(basis @ basis.T)


def _out_of_plane(legs: tuple[Leg, ...]) -> int:
    """Degrees of freedom of free joints that leave a plane: three of each six. A leg that begins on another leg's body has such a
    joint."""
    links = [(leg.name, leg.links[i]) for leg in legs for i in leg.moving]
    return 3 * list(Counter((leg, link.joint) for leg, link in links if not link.elastic).values()).count(DOF["free"])


def mobility(legs: tuple[Leg, ...], platform: Pose, *, planar: bool, size: float, has_platform: bool) -> Mobility:
    """Mobility of a robot; the rank is the largest over a few generic configurations."""
    elastic = sum(link.elastic for leg in legs for link in leg.links)
    columns = sum(len(leg.moving) for leg in legs) + 6 - elastic
    ranks, idle = [], []
    for seed in range(4):
        q, p = generic_configuration(legs, platform, size, seed)
        _, J = loop_jacobian(legs, q, p)
        ranks.append(int(np.linalg.matrix_rank(J, tol=RANK * np.linalg.norm(J, 2))))
        inner = J[:, :-6]
        idle.append(
            inner.shape[1] - elastic - int(np.linalg.matrix_rank(inner, tol=RANK * max(1e-300, float(np.linalg.norm(inner, 2)))))
        )
    # a universal or cylindrical joint is one joint with two degrees of freedom: its inner frame is not a body
    dof = sum(len(leg.moving) + sum(DOF[c.type] for c in leg.closings) for leg in legs) - elastic
    dof -= _out_of_plane(legs) if planar else 0
    dof -= sum(len(leg.couplings) for leg in legs)  # threads of screws included
    inside = sum(len({link.joint for link in leg.links if not link.elastic}) for leg in legs)
    bodies = inside + (1 if has_platform else 0)
    joints = inside + sum(len(leg.closings) for leg in legs) - (0 if has_platform else 1)
    rank = columns - max(ranks)
    return Mobility(
        rank=rank,
        formula=(3 if planar else 6) * (bodies - joints) + dof,
        platform=rank - min(idle),
        actuators=sum(link.actuated for leg in legs for link in leg.links),
    )
