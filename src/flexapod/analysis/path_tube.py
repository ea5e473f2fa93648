r"""Proof that a straight segment of poses keeps the limits and is regular, for legs that are closed by iteration.

The segment is cut into parts |t - m| <= h. At the middle of a part a leg has coordinates x (angles, strokes over the
characteristic length L) with closing rows G(x, t) = 0. With A = G_x there, b the size of its inverse (row sums), K and K_t bounds
of the change of G_x with x and t, M a bound of |G_t|, the map x - A^{-1} G(x, t) contracts the ball of radius r about x, where

.. math:: b\,(K r + K_t h) \le \tfrac12,\qquad r = 2\,b\,(|G| + M h)

so that exactly one branch of the leg lies in the ball for every pose of the part, and it is regular. Bounds hold everywhere,
since joints only rotate and slide: second derivatives of a closing row are at most C = max(1, reach / L). Branches of two
neighbouring parts are one where the ball of one lies in the ball of uniqueness of the other. The actuators hold the platform in
the whole part where the rows of platform and passive joints change by less than the inverse at the middle allows. Rounding is
covered by `ROUNDING`.

Source: the theorem of Newton and Kantorovich in the form of a contraction. Checked by: tests/analysis/test_path_tube.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.complex_loops import leg_closure
from flexapod.analysis.from_home import solve_from_home
from flexapod.analysis.kernels import kernel
from flexapod.analysis.limits import limits_of
from flexapod.analysis.path_check import Poses, Proof, between
from flexapod.motions.rotations import rotation_rotvec

if TYPE_CHECKING:
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]

FIRST = 32
"""Parts of a segment to begin with."""

SMALLEST = 2.0**-13
"""Part of a segment below which it is given up as undecided."""

ROUNDING = 1e-11
"""Rounding of closing rows and inverses, relative to the robot's size: a thousand times that of double precision sums."""

MOST = 256
"""Parts that are cut at a time, from the first one that is not proven on."""

LOOSEST = 0.5
"""Contraction of the map that counts."""


def tube_applies(robot: Robot) -> bool:
    """Whether segments of a robot can be proven: its platform can follow straight ones, and actuators determine the pose."""
    free = len(robot.plan.platform_independent)
    straight = free == 6 or (robot.description.file.plane is not None and free == 3)
    return straight and not robot.elastic_legs and len(robot.actuators) == free


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Parts of a segment: t from `low`, `width`; coordinates x (n, joints) at the middle, radii r and of uniqueness (n, legs)."""

    low: Array
    width: Array
    proven: NDArray[np.bool_]
    x: Array
    radius: Array
    unique: Array

    def at(self, index: Any) -> _Parts:
        return _Parts(**{name: values[index] for name, values in vars(self).items()})


class TubeCheck:
    """Proofs for one robot; see the module."""

    def __init__(self, robot: Robot, limits: bool) -> None:
        self.robot, self.length, self.limits = robot, robot.characteristic_length, limits_of(robot) if limits else None
        links = [leg.links[i] for leg in robot.legs for i in leg.moving]
        self.scale = np.array([self.length if link.kind == "P" else 1.0 for link in links])
        self.passive = [k for k in range(len(links)) if k not in robot.driven]
        first = np.cumsum([0, *(len(leg.moving) for leg in robot.legs)])
        self.columns = [slice(int(a), int(b)) for a, b in pairwise(first)]
        home = robot.home.position[None], robot.home.rotation[None]
        self.rows = [_independent(leg_closure(leg, leg.home[None], *home, self.length)[1][0].real) for leg in robot.legs]
        self.arm = max(float(np.linalg.norm(leg.closing.on_platform.position)) for leg in robot.legs)

    def prove(self, a: Poses, b: Poses, sign: float) -> Proof:
        """Cut the segment until every part is proven and joined to its neighbours."""
        way = float(np.linalg.norm(b.p[0] - a.p[0])) / self.length
        turn = float(np.linalg.norm(rotation_rotvec(b.R[0] @ a.R[0].T)))
        low, width, boxes = np.linspace(0.0, 1.0, FIRST + 1)[:-1], np.full(FIRST, 1.0 / FIRST), 0
        parts = self._evaluated(a, b, low, width, way, turn)
        while True:
            boxes += len(parts.low)
            bad = ~parts.proven
            apart = ~self._joined(parts)
            bad[:-1] |= apart
            bad[1:] |= apart
            if not bad.any():
                return Proof(True, np.nan, "", boxes)
            at = int(np.flatnonzero(bad)[0])
            if parts.width[at] < SMALLEST:
                text = "cannot be proven: a limit or a singular pose lies on the segment or near to it"
                return Proof(False, float(parts.low[at]), text, boxes)
            bad[np.flatnonzero(bad)[MOST:]] = False
            low, width = parts.low[bad], parts.width[bad] / 2
            halves = self._evaluated(a, b, np.concatenate([low, low + width]), np.concatenate([width, width]), way, turn)
            kept = parts.at(~bad)
            parts = _Parts(**{k: np.concatenate([v, getattr(halves, k)]) for k, v in vars(kept).items()})
            parts = parts.at(np.argsort(parts.low, kind="stable"))

    def _evaluated(self, a: Poses, b: Poses, low: Array, width: Array, way: float, turn: float) -> _Parts:
        """Balls and regularity of parts; `way` over the length and `turn` are those of the whole segment."""
        robot, L, h = self.robot, self.length, width / 2
        poses = between(a, b, low + h)
        bound = kernel(robot, "jacobian")
        batch, _ = solve_from_home(bound, {"position": poses.p, "rotation": np.ascontiguousarray(poses.R)})
        q, good = batch.outputs["joint_position"].copy(), batch.status == 0
        n, legs = len(low), len(robot.legs)
        radius, unique = np.full((n, legs), np.inf), np.zeros((n, legs))
        W = np.zeros((n, 0, len(q[0]) + 6))
        change, M0 = np.zeros(n), way + turn * self.arm / L
        for i, leg in enumerate(robot.legs):
            cut, rows, m = self.columns[i], self.rows[i], len(leg.moving)
            for _ in range(3):
                G, J, P = self._leg(leg, q[:, cut], poses, rows, cut)
                inverse = _inverse(J)
                q[:, cut] -= (inverse @ G[..., None])[..., 0] * self.scale[cut]
            G, J, P = self._leg(leg, q[:, cut], poses, rows, cut)
            inverse = _inverse(J)
            size = np.abs(inverse).sum(axis=2).max(axis=1)
            C = np.maximum(1.0, self._reach(leg, q[:, cut]) / L)
            K, K_t = m * m * C, m * turn * C
            M = np.maximum(M0 * (1.0 + turn * h), turn)
            radius[:, i] = 2.0 * size * (np.abs(G).max(axis=1) + ROUNDING * C + M * h)
            with np.errstate(invalid="ignore"):
                good &= size * (K * radius[:, i] + K_t * h) <= LOOSEST
                unique[:, i] = np.clip(0.99 * (1.0 / size - K_t * h) / K, 0.0, 1.0)
            rest = (m + 6) * np.maximum(C, self.arm / L) * (m * radius[:, i] + h * (way + 2.0 * turn))
            change = np.maximum(change, rest)
            wide = np.zeros((n, len(rows), W.shape[2]))
            wide[:, :, cut], wide[:, :, -6:] = J, P
            W = np.concatenate([W, wide], axis=1)
        columns = [*self.passive, *(len(q[0]) + k for k in robot.plan.platform_independent)]
        held = np.abs(_inverse(W[:, :, columns])).sum(axis=2).max(axis=1)
        with np.errstate(invalid="ignore"):
            good &= held * (change + ROUNDING) < 1.0
        good &= self._within(poses, q, radius, turn * h) & np.all(unique >= radius, axis=1)
        return _Parts(low=low, width=width, proven=good, x=q / self.scale, radius=radius, unique=unique)

    def _leg(self, leg: Leg, q: Array, poses: Poses, rows: list[int], cut: slice) -> tuple[Array, Array, Array]:
        G, J, P, _ = leg_closure(leg, q, poses.p, poses.R, self.length)
        return G.real[:, rows], J.real[:, rows] * self.scale[cut], P.real[:, rows]

    def _reach(self, leg: Leg, q: Array) -> Array:
        """Largest distance of the closing joint from a joint of the leg, strokes a characteristic length longer than they are."""
        far = sum(float(np.linalg.norm(link.placement.position)) for link in leg.links)
        far += float(np.linalg.norm(leg.closing.on_link.position))
        found = np.full(len(q), far)
        for k, i in enumerate(leg.moving):
            if leg.links[i].kind == "P":
                found += np.abs(q[:, k] + leg.links[i].zero) + self.length
        return found

    def _joined(self, parts: _Parts) -> NDArray[np.bool_]:
        """Which neighbours (n - 1,) follow one branch: the ball of one lies in the ball of uniqueness of the other."""
        gap = np.abs(np.diff(parts.x, axis=0))
        near = np.stack([gap[:, cut].max(axis=1) for cut in self.columns], axis=1)
        one = near + parts.radius[1:] <= parts.unique[:-1]
        return np.asarray(np.all(one | (near + parts.radius[:-1] <= parts.unique[1:]), axis=1))

    def _within(self, poses: Poses, q: Array, radius: Array, turn: Array) -> NDArray[np.bool_]:
        """Strokes and joint angles of the file are kept in the whole part."""
        if self.limits is None:
            return np.ones(len(q), dtype=bool)
        reach = np.zeros_like(q)
        for i, cut in enumerate(self.columns):
            reach[:, cut] = radius[:, [i]] * self.scale[cut]
        driven = list(self.robot.driven)
        good = np.all(self.limits.stroke_margin(q[:, driven]) >= reach[:, driven], axis=1)
        if len(self.limits.joints):
            good &= np.all(self.limits.joint_margin(q) >= reach[:, self.limits.joints], axis=1)
        if np.any(np.isfinite(self.limits.angle)):
            from flexapod.analysis.pose_map import PoseMap

            bent = PoseMap(self.limits).evaluate(poses.p, np.ascontiguousarray(poses.R)).deflection
            moved = np.stack([reach[:, self.columns[s.leg]].sum(axis=1) + turn for s in self.limits.swivels], axis=1)
            good &= np.all(self.limits.angle_margin(bent) >= moved, axis=1)
        return np.asarray(good)


def _independent(J: Array) -> list[int]:
    """Numbers of as many independent rows of (m, n) as it has columns."""
    from scipy.linalg import qr

    pivots = qr(J.T, mode="r", pivoting=True)[1]
    return sorted(int(k) for k in pivots[: J.shape[1]])


def _inverse(A: Array) -> Array:
    """Inverses (n, k, k); infinite where there is none."""
    result = np.full(A.shape, np.inf)
    good = np.all(np.isfinite(A), axis=(1, 2))
    good[good] = np.linalg.matrix_rank(A[good]) == A.shape[1]
    result[good] = np.linalg.inv(A[good])
    return result
