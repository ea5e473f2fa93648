r"""Boxes of joint coordinates that hold exactly one branch of the legs for every pose of a small region, by contraction.

A region of poses is a middle and moves of the platform, twists (v / L, omega) that each count from -1 to 1; L is the
characteristic length. At the middle the closing rows G(z) = 0 of a block are solved, z the coordinates of a leg (angles,
strokes over L). With A = G_z there, row i of G changes with two coordinates by second derivatives of at most H_ijk, and with a
coordinate and the region by at most T_ij. The map z - A^{-1} G sends the box of half widths r into itself, where

.. math:: \eta + |A^{-1}|\,(H(r, r) + T r) \le r,\qquad
          \eta = \sum_k |A^{-1} G_p\,\delta_k| + |A^{-1}|\,\big(|G| + \tfrac12 E\,|\omega|^2\big)

so that exactly one branch lies in the box, it is regular, and it stays near its tangent, by all terms but the first of these.
H, T and E hold everywhere, since joints only rotate and slide: a row that keeps a point changes with two rotations by the
distance from the later joint, a row of axes by 1. Robots of limited mobility have one block of all legs, in which the dependent
components of the pose are unknowns as well. Of over-constrained robots as many rows are taken as are independent
at home: where the others hold beside home they hold on the whole branch, since it is analytic. Rounding is covered by `ROUNDING`.

Source: the theorem of Newton and Kantorovich in the form of a contraction. Checked by: tests/analysis/test_path_tube.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.newton_starts import solve_from_starts
from flexapod.analysis.poses.closing_curvature import LONGER, Curvature
from flexapod.analysis.poses.complex_loops import leg_closure
from flexapod.analysis.poses.pose_projection import onto_constraints
from flexapod.arrays import Array
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation
from flexapod.robot.build import has_inner_loops
from flexapod.robot.leg_positions import ROWS

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


ROUNDING = 1e-11
"""Rounding of closing rows and inverses, relative to the robot's size: a thousand times that of double precision sums."""

LOOSEST = 0.8
"""Contraction of the map, over the half widths, that counts. Any number below 1 is a proof (Banach); a fifth is left for the
rounding of the number itself, of 1e-12 or so, and for boxes of which `unique` must be larger than the half widths."""

WIDENED = 1.1
"""Factor on the half widths that the map returns."""

PASSES = 4
"""Times that the half widths are computed again from the map."""

NARROWEST = 0.1
"""Smallest half width over the largest one."""

POLISHED = 3
"""Newton steps at the middle of a region, from the kernel's solution."""

ASIDE = 1e-9
"""Change of a component that a robot can choose [rad, characteristic lengths], which is none."""

INDEPENDENT = 1e-6
"""Smallest relative pivot of the rows that are taken, at home."""


def contracts(robot: Robot) -> bool:
    """Whether regions of a robot's poses can be proven: its legs are closed one by one, and actuators determine the pose."""
    square = len(robot.actuators) == len(robot.plan.platform_independent)
    if robot.moved_by == "actuators" or has_inner_loops(robot.legs) or not square:
        return False
    if any(row[0] == "along" for leg in robot.legs for row in ROWS[leg.closing.type]):
        return False  # a joint that slides along the platform's axes has no bound of its travel
    return straight(robot) or Contraction(robot).sound


def straight(robot: Robot) -> bool:
    """Whether legs are solved one by one for every pose near home: six degrees of freedom, or three in a plane."""
    free = len(robot.plan.platform_independent)
    return free == 6 or (robot.description.file.plane is not None and free == 3)


def _plane(robot: Robot) -> tuple[int, ...]:
    """Components of the platform's twist that a robot's plane leaves; all of a robot in space."""
    plane = robot.description.file.plane
    return tuple(range(6)) if plane is None else tuple(k for k in range(6) if ("xyz"[k % 3] in plane) == (k < 3))


@dataclass(frozen=True, kw_only=True)
class LoopBlock:
    """Closing rows of legs, solved together for their coordinates (columns) and the components of the pose that follow."""

    legs: tuple[int, ...]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    dependent: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Balls:
    """Boxes about n poses: p, R of the middles as the robot reaches them, joint coordinates q (n, joints), and half widths.

    Args:
        proven: (n,) the box of every block holds one regular branch, and the actuators hold the platform.
        z: (n, joints + dependent) coordinates over their scale, and the components that follow.
        radius, unique: (n, joints + dependent) half widths of the box, and of the box in which the branch is the only one.
        slope: (n, joints, k) change of the coordinates with each move; rest: (n, joints) what is beside the tangent at most.
        rotated: (n,) largest rotation of the platform in the region [rad].
        signs: (n, blocks + 1) of the determinants of the blocks (working mode) and of the platform held by the actuators.
    """

    p: Array
    R: Array
    q: Array
    proven: NDArray[np.bool_]
    z: Array
    radius: Array
    unique: Array
    slope: Array
    rest: Array
    rotated: Array
    signs: Array


class Contraction:
    """Boxes of one robot; see the module."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.length = robot, robot.characteristic_length
        links = [leg.links[i] for leg in robot.legs for i in leg.moving]
        self.scale = np.array([self.length if link.kind == "P" else 1.0 for link in links])
        self.passive = [k for k in range(len(links)) if k not in robot.driven]
        first = np.cumsum([0, *(len(leg.moving) for leg in robot.legs)])
        self.columns = [slice(int(a), int(b)) for a, b in pairwise(first)]
        self.arm = max(float(np.linalg.norm(leg.closing.on_platform.position)) for leg in robot.legs)
        legs, plane = range(len(robot.legs)), _plane(robot)
        dependent = tuple(k for k in plane if k in robot.plan.platform_dependents)
        apart = [((i,), ()) for i in legs] if straight(robot) else [(tuple(legs), dependent)]
        self.blocks, self.sound = [], True
        for own, components in apart:
            columns = np.concatenate([np.arange(c.start, c.stop) for c in (self.columns[i] for i in own)])
            self.blocks.append(self._block(own, columns, components))
        self.platform = list(plane) if not straight(robot) else list(robot.plan.platform_independent)

    def _block(self, legs: tuple[int, ...], columns: NDArray[np.int64], dependent: tuple[int, ...]) -> LoopBlock:
        """A block with as many rows as it has unknowns, independent at home."""
        from scipy.linalg import qr

        robot, every = self.robot, LoopBlock(legs=legs, rows=np.arange(0), columns=columns, dependent=dependent)
        home = np.concatenate([leg.home for leg in robot.legs])[None]
        _, A, _ = self._evaluate(every, home, robot.home.position[None], robot.home.rotation[None])
        size = A.shape[2]
        _, pivots, order = qr(A[0].T, mode="economic", pivoting=True)
        self.sound &= A.shape[1] >= size and abs(pivots[size - 1, size - 1]) > INDEPENDENT * abs(pivots[0, 0])
        return LoopBlock(legs=legs, rows=np.sort(order[:size]), columns=columns, dependent=dependent)

    def _evaluate(self, block: LoopBlock, q: Array, p: Array, R: Array) -> tuple[Array, Array, Array]:
        """Rows (n, N), derivatives by the unknowns (n, N, N) and by the platform's twist (n, N, 6); all rows without a choice."""
        n, G, J, P = len(q), [], [], []
        for i in block.legs:
            cut = self.columns[i]
            g, by_leg, by_platform, _ = leg_closure(self.robot.legs[i], q[:, cut], p, R, self.length)
            wide = np.zeros((n, g.shape[1], q.shape[1]))
            wide[:, :, cut] = by_leg.real * self.scale[cut]
            G.append(g.real)
            J.append(wide[:, :, block.columns])
            P.append(by_platform.real)
        residual, A, twist = (np.concatenate(parts, axis=1) for parts in (G, J, P))
        A = np.concatenate([A, twist[:, :, list(block.dependent)]], axis=2)
        rows = block.rows if len(block.rows) else np.arange(A.shape[1])
        return residual[:, rows], A[:, rows], twist[:, rows]

    def over(self, p: Array, R: Array, moves: Array) -> Balls:
        """Boxes of regions with middles p (n, 3), R (n, 3, 3) and moves (n, k, 6)."""
        p0, R0, (p, R, q, good) = p, R, self._solved(p, R)
        rotation0 = R @ np.swapaxes(R0, 1, 2)
        aside = np.concatenate([(p - p0) / self.length, rotation_rotvec(rotation0)], axis=1)
        dependent = list(self.blocks[0].dependent)
        rotating = [k for k in dependent if k > 2]
        kept = [k for k in range(6) if k not in dependent or (k in rotating and len(rotating) == 2)]  # two axes are no group
        good &= np.all(np.abs(aside[:, kept]) < ASIDE, axis=1)
        moves = np.concatenate([moves[..., :3], moves[..., 3:] @ np.swapaxes(rotation0, 1, 2)], axis=2)
        rotated = np.linalg.norm(moves[..., 3:], axis=2).sum(axis=1)
        n, size = len(p), self.scale.size + len(dependent)
        radius, unique, signs = np.full((n, size), np.inf), np.zeros((n, size)), np.zeros((n, len(self.blocks) + 1))
        slope, rest = np.zeros((n, len(self.scale), moves.shape[1])), np.full((n, len(self.scale)), np.inf)
        change, widest, W = [], rotated.copy(), []
        for j, block in enumerate(self.blocks):
            G, A, P = self._evaluate(block, q, p, R)
            inverse = inverses(A)
            joints, own = len(block.columns), np.concatenate([block.columns, len(self.scale) + np.arange(len(block.dependent))])
            with np.errstate(invalid="ignore", over="ignore"):
                second = Curvature(self, block, q)
                first = inverse @ P @ np.swapaxes(moves, 1, 2)
                error = np.abs(G) + ROUNDING * second.size + second.arms * rotated[:, None] ** 2 / 2
                r, beside, kappa = _box(np.abs(inverse), np.abs(first).sum(axis=2), error, second, rotated[:, None])
                good &= kappa <= LOOSEST
                radius[:, own], unique[:, own] = r, np.clip(0.99 * r / np.maximum(kappa, 1e-300)[:, None], 0.0, LONGER)
                slope[:, block.columns], rest[:, block.columns] = -first[:, :joints], beside[:, :joints]
                spin = rotated + np.linalg.norm(r[:, joints:][:, [k > 2 for k in block.dependent]], axis=1)
                widest = np.maximum(widest, spin)
                change.append(second.change(r, spin))
            signs[:, j] = np.linalg.slogdet(A)[0]
            wide = np.zeros((n, A.shape[1], q.shape[1] + 6))
            wide[:, :, block.columns], wide[:, :, -6:] = A[:, :, :joints], P
            W.append(wide)
        held = np.concatenate(W, axis=1)[:, :, [*self.passive, *(q.shape[1] + k for k in self.platform)]]
        signs[:, -1] = np.linalg.slogdet(held)[0]
        z = np.concatenate([q / self.scale, aside[:, dependent]], axis=1)
        with np.errstate(invalid="ignore"):
            hold = (np.abs(inverses(held)) @ (np.concatenate(change, axis=1) + ROUNDING)[..., None])[..., 0].max(axis=1)
        good &= (hold < 1.0) & np.all(unique >= radius, axis=1)
        return Balls(
            p=p, R=R, q=q, proven=good, z=z, radius=radius, unique=unique, slope=slope * self.scale[:, None],
            rest=rest * self.scale, rotated=widest, signs=signs,
        )  # fmt: skip

    def _solved(self, p: Array, R: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Poses as the robot takes them and its joints there, on the branch that is reached from home."""
        dependent = list(self.blocks[0].dependent)
        if dependent:
            p, R, _ = onto_constraints(self.robot, p, R, dependent)
        batch, _ = solve_from_starts(kernel(self.robot, "jacobian"), {"position": p, "rotation": np.ascontiguousarray(R)})
        q, good = batch.outputs["joint_position"].copy(), batch.status == 0
        q = np.where(np.isfinite(q), q, np.concatenate([leg.home for leg in self.robot.legs]))
        for _ in range(POLISHED):
            for block in self.blocks:
                G, A, _ = self._evaluate(block, q, p, R)
                with np.errstate(invalid="ignore"):
                    step = np.nan_to_num((inverses(A) @ G[..., None])[..., 0], posinf=0.0, neginf=0.0)
                joints = len(block.columns)
                q[:, block.columns] -= step[:, :joints] * self.scale[block.columns]
                if dependent:
                    twist = np.zeros((len(p), 6))
                    twist[:, dependent] = -step[:, joints:]
                    p, R = p + twist[:, :3] * self.length, rotvec_rotation(twist[:, 3:]) @ R
        return p, R, q, good


def _box(inverse: Array, first: Array, error: Array, second: Curvature, rotated: Array) -> tuple[Array, Array, Array]:
    """Half widths (n, unknowns) of a box that the map sends into itself, the remainder beside the tangent in it (n,
    unknowns), and how much the map contracts there (n,), infinite if it does not."""

    def times(rows: Array) -> Array:
        return np.asarray((inverse @ rows[..., None])[..., 0])

    eta = first + times(error)
    r = eta
    for _ in range(PASSES):
        r = np.minimum(WIDENED * (eta + times(second.product(r, r) + second.along(r) * rotated)), 1e6)
        r = np.maximum(r, NARROWEST * r.max(axis=1, keepdims=True))
    curved = times(second.product(r, r) + second.along(r) * rotated)
    kappa = np.where(np.all(eta + curved <= r, axis=1), (curved / r).max(axis=1), np.inf)
    return r, curved + times(error), np.where(np.isfinite(kappa), kappa, np.inf)


def inverses(A: Array) -> Array:
    """Inverses (n, k, k); infinite where there is none."""
    result = np.full(A.shape, np.inf)
    good = np.all(np.isfinite(A), axis=(1, 2))
    try:
        inverse = np.linalg.inv(A[good])
    except np.linalg.LinAlgError:
        good[good] = np.linalg.matrix_rank(A[good]) == A.shape[1]
        inverse = np.linalg.inv(A[good])
    size = np.abs(A[good]).sum(axis=2).max(axis=1) * np.abs(inverse).sum(axis=2).max(axis=1)
    whole = size * A.shape[1] * np.finfo(float).eps < 1.0
    good[good] = whole
    result[good] = inverse[whole]
    return result
