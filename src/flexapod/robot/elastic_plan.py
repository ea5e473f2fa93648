"""Independent coordinates of a robot with flexible legs: actuators first, then deformations, and what loops leave over.

All coordinates are in one row z: platform twist (unless a leg's link is the platform), modes of a flexible platform, joint
and elastic coordinates of the legs. Each leg solves some closing rows for its own passive joints; rows left over are solved
for the platform twist and passive joints of other legs, then (over-constrained robots) for deformations, last for actuators.
What is not solved for is independent (Briot 2014 Eqs. 28-40; section 4.3 for over-constrained robots).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import ROWS, ancestors, closures, free_joints, link_poses
from flexapod.robot.mobility import RANK, generic_configuration
from flexapod.robot.model import Closing
from flexapod.robot.plan import pivots
from flexapod.rotation_arrays import cross

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True, kw_only=True)
class LegLoop:
    """Choices of one leg.

    Args:
        rows: closing rows that are solved for `dependents`; one more than those where `crossed`.
        dependents: columns of z, passive joints of the leg.
        leftover: rows that remain, with the dependents eliminated.
        crossed: the combination of `rows` that the dependents cannot move remains too: no row is preferred, so that only a
            singular leg is singular.
    """

    rows: tuple[int, ...]
    dependents: tuple[int, ...]
    leftover: tuple[int, ...]
    crossed: bool = False


@dataclass(frozen=True, kw_only=True)
class ElasticPlan:
    """Choices of a robot.

    Args:
        carrier: leg whose link is the platform, or None.
        columns: names of all coordinates z.
        first: column at which each leg's coordinates start.
        legs: per leg.
        kept: which of all rows left over (legs in order) are independent of each other.
        dependents: columns that they are solved for.
        independent: columns that nothing is solved for: actuators, elastic ones, others.
    """

    carrier: int | None
    columns: tuple[str, ...]
    first: tuple[int, ...]
    legs: tuple[LegLoop, ...]
    kept: tuple[int, ...]
    dependents: tuple[int, ...]
    independent: tuple[int, ...]

    @property
    def bound(self) -> tuple[int, ...]:
        """All columns that are solved for: of the legs, then of the rows left over."""
        return tuple(k for leg in self.legs for k in leg.dependents) + self.dependents


Configuration = tuple[list[Array], Pose]
"""Coordinates of every leg, pose of the platform."""


def elastic_plan(
    robot: Robot, solved: Sequence[str] | None = None, at: Configuration | None = None, tied: str | None = None
) -> ElasticPlan:
    """The plan of a robot, by pivoting at a generic configuration near home.

    Args:
        solved: names of coordinates to solve for in place of the passive ones, as far as that is possible.
        at: an assembled configuration to pivot at instead.
        tied: what follows where actuators are redundant: ``"elastic"`` coordinates, or ``"driven"`` ones, which then push
            against each other. Left out: elastic ones where legs deform.

    Checked by: tests/robot/test_elastic_plan.py.
    """
    carrier = _carrier(robot)
    modes = 0 if robot.flexible_platform is None else len(robot.flexible_platform.names)
    head = (() if carrier is not None else TWIST) + robot.elastic_names[:modes]
    counts = [len(leg.moving) for leg in robot.legs]
    first = tuple(len(head) + sum(counts[:i]) for i in range(len(counts)))
    columns = head + robot.coordinates
    A = loop_matrix(robot, carrier, first, len(columns), at)
    kinds = _kinds(robot, len(head), modes)
    if solved is not None:
        others = ["driven" if kind in ("passive", "afloat") else kind for kind in kinds]
        kinds = ["passive" if name in solved else kind for name, kind in zip(columns, others, strict=True)]
    met = {c.to[0] for i, leg in enumerate(robot.legs) for c in leg.closings if c.to is not None and c.to[0] != i}
    met |= {k for i, leg in enumerate(robot.legs) for coupling in leg.couplings for k, _, _ in coupling.terms if k != i}
    if carrier is not None and any(c.to is None for i, leg in enumerate(robot.legs) if i != carrier for c in leg.closings):
        met.add(carrier)
    legs, rest = [], []
    for i, block in enumerate(A):  # joints of a leg that other legs end on are in their rows, too: solved for with the rest
        own = range(first[i], first[i] + counts[i])
        loop = _leg(block, [] if i in met else [k for k in own if kinds[k] == "passive"])
        legs.append(loop)
        rest.append(_leftover_rows(block, loop))
    G = np.vstack([*rest, np.zeros((0, len(columns)))])
    taken = {k for leg in legs for k in leg.dependents}
    left = [k for k in range(len(columns)) if k not in taken]
    first_tied = tied or ("elastic" if robot.elastic_indices else "driven")
    sequence = ("passive", "afloat", first_tied, "driven" if first_tied == "elastic" else "elastic")
    groups = [[k for k in left if kinds[k] == kind] for kind in sequence]
    dependents = pivots(G, groups)
    kept = pivots(G[:, dependents].T) if dependents else []
    free = [k for k in left if k not in dependents]
    order = [k for kind in ("driven", "elastic", "passive", "afloat") for k in free if kinds[k] == kind]
    return ElasticPlan(
        carrier=carrier, columns=columns, first=first, legs=tuple(legs), kept=tuple(kept),
        dependents=tuple(dependents), independent=tuple(order),
    )  # fmt: skip


def _leg(block: Array, passive: list[int]) -> LegLoop:
    """Rows of a leg that are solved, and the passive joints for which they are."""
    present = [k for k in range(len(block)) if np.abs(block[k]).max() > RANK]  # a planar robot has rows that are always zero
    dependents = [passive[k] for k in pivots(block[:, passive])]
    if dependents and len(present) == len(dependents) + 1 <= 3:
        return LegLoop(rows=tuple(present), dependents=tuple(dependents), leftover=(), crossed=True)
    rows = [present[k] for k in pivots(block[np.ix_(present, dependents)].T)] if dependents else []
    left = tuple(k for k in present if k not in rows)
    return LegLoop(rows=tuple(rows), dependents=tuple(dependents), leftover=left)


def _leftover_rows(block: Array, loop: LegLoop) -> Array:
    """Rows of a leg that remain when its passive joints are eliminated, in numbers; rows that repeat others leave zeros, no
    rounding."""
    B, rows, left = block[:, list(loop.dependents)], list(loop.rows), list(loop.leftover)
    if not rows:
        return block[left]
    if loop.crossed:
        found = np.linalg.svd(B[rows].T)[2][-1:] @ block[rows]
    else:
        found = block[left] - B[left] @ np.linalg.solve(B[rows], block[rows])
    return np.asarray(np.where(np.abs(found) > RANK * np.abs(block).max(initial=0.0), found, 0.0))


def _carrier(robot: Robot) -> int | None:
    """The leg one of whose links is the platform."""
    body = robot.description.file.platform.body
    return None if body is None else [leg.name for leg in robot.legs].index(body.partition(".")[0])


def cut_joints(robot: Robot, i: int) -> tuple[Closing, ...]:
    """The joints at which a leg is cut: its closing joints, without the one that says that its link is the platform."""
    return robot.legs[i].cuts if i == _carrier(robot) else robot.legs[i].closings


def _kinds(robot: Robot, head: int, modes: int) -> list[str]:
    """Kind of every column: passive (platform twist too), afloat (a free joint of the file that carries a body), elastic or
    driven."""
    kinds = ["passive"] * (head - modes) + ["elastic"] * modes
    for leg in robot.legs:
        floating = {k for last in free_joints(leg) if leg.links[last].body is not None for k in range(last - 5, last + 1)}
        for i in leg.moving:
            link, passive = leg.links[i], "afloat" if i in floating else "passive"
            kinds.append("elastic" if link.elastic else "driven" if link.actuated else passive)
    return kinds


def loop_matrix(
    robot: Robot, carrier: int | None, first: Sequence[int], size: int, at: Configuration | None = None
) -> list[Array]:
    """Closing rows of every leg by all coordinates, made dimensionless, at a configuration, or at a generic one."""
    length = robot.characteristic_length
    q, platform = at or generic_configuration(robot.legs, robot.home, length, seed=7)
    result = []
    Jp = np.zeros((6, size))
    if carrier is None:
        Jp[:, :6] = np.eye(6)
    else:
        n = len(q[carrier])
        Jp[:, first[carrier] : first[carrier] + n] = _carried(robot, carrier, q[carrier], platform)
    units = column_sizes(robot, carrier, first, size)
    modes = 0 if robot.flexible_platform is None else len(robot.flexible_platform.names)
    for leg, (_, J, P) in zip(robot.legs, closures(robot.legs, q, platform), strict=True):
        A = P @ Jp
        A[:, first[0] :] += J
        if carrier is not None and leg is robot.legs[carrier]:
            A = A[len(ROWS[leg.closing.type]) :]
        if modes:
            start = 0 if carrier is not None else 6
            A[:, start : start + modes] += P[:, :3] @ platform.rotation @ robot.joint_shapes[leg.name]
            if leg.name in robot.joint_rotations:
                arm = platform.rotation @ leg.closing.on_platform.position
                angular = P[:, 3:] - np.cross(arm, P[:, :3])  # about the joint, not the platform's origin
                A[:, start : start + modes] += angular @ platform.rotation @ robot.joint_rotations[leg.name]
        result.append(A * units)
    return result


def column_sizes(robot: Robot, carrier: int | None, first: Sequence[int], size: int) -> Array:
    """Sizes (z,) of all coordinates that move the robot about as far: its characteristic length, one radian; of the modes of the
    platform one size, so that the largest displacement of a joint by them is that length (per root of kg, modes of a plate of
    1 mg move a thousand times further than those of 1 kg).

    Checked by: tests/robot/test_elastic_plan.py.
    """
    length, sizes = robot.characteristic_length, np.ones(size)
    for i, leg in enumerate(robot.legs):
        sizes[first[i] : first[i] + len(leg.moving)] = [length if leg.links[k].kind == "P" else 1.0 for k in leg.moving]
    at = 0 if carrier is not None else 6
    sizes[:at] = [length] * (at // 2) + [1.0] * (at // 2)
    if robot.flexible_platform is not None:
        shapes = [*robot.joint_shapes.values(), *[length * each for each in robot.joint_rotations.values()]]
        largest = max((float(np.abs(each).max(initial=0.0)) for each in shapes), default=0.0)
        sizes[at : at + len(robot.flexible_platform.names)] = length / largest if largest > 0.0 else 1.0
    return sizes


def _carried(robot: Robot, carrier: int, q: Array, platform: Pose) -> Array:
    """(6, n) twist of the platform frame per coordinate of the leg that carries it."""
    leg = robot.legs[carrier]
    poses, J = link_poses(leg, q), np.zeros((6, len(q)))
    for i in ancestors(leg, leg.closing.link):
        R, p = poses[i]
        if leg.links[i].kind == "R":
            J[:, leg.moving.index(i)] = np.concatenate([cross(R[:, 2], platform.position - p), R[:, 2]])
        elif leg.links[i].kind == "P":
            J[:3, leg.moving.index(i)] = R[:, 2]
    return J



def independent_names(robot: Robot) -> tuple[str, ...]:
    """Names of the independent coordinates: actuators and elastic coordinates by their own names, others by joint."""
    plan = robot.elastic_plan
    names, modes = list(plan.columns), len(robot.elastic_names) - len(robot.elastic_indices)
    at = len(names) - len(robot.coordinates)
    for k, name in zip(robot.elastic_indices, robot.elastic_names[modes:], strict=True):
        names[at + k] = name
    for k, name in zip(robot.driven, robot.actuators, strict=True):
        names[at + k] = name
    return tuple(names[k] for k in plan.independent)


def driven_columns(robot: Robot) -> list[int]:
    """Columns of z that are actuators, in their order."""
    at = len(robot.elastic_plan.columns) - len(robot.coordinates)
    return [at + k for k in robot.driven]


def undriven(robot: Robot) -> list[int]:
    """Positions among the independent coordinates of those that are neither driven nor elastic."""
    at = len(robot.elastic_plan.columns) - len(robot.coordinates)
    modes = len(robot.elastic_names) - len(robot.elastic_indices)
    known = {*driven_columns(robot), *(at + k for k in robot.elastic_indices), *range(at - modes, at)}
    return [k for k, column in enumerate(robot.elastic_plan.independent) if column not in known]


def chosen_drives(robot: Robot) -> tuple[list[int], list[int]]:
    """Actuators that are independent, and their positions among the independent coordinates; others follow by the loops."""
    independent = robot.elastic_plan.independent
    own = [k for k, column in enumerate(driven_columns(robot)) if column in independent]
    return own, [independent.index(driven_columns(robot)[k]) for k in own]


def pose_columns(robot: Robot) -> list[int]:
    """Positions among the independent coordinates of those that the platform's pose determines: the actuators, and those that
    nothing drives where the platform moves in more components than there are actuators."""
    _, driven = chosen_drives(robot)
    return driven if len(driven) >= len(robot.plan.platform_independent) else [*driven, *undriven(robot)]


def smallest_block(A: Array, plan: ElasticPlan) -> float:
    """Smallest singular value of the blocks by which a plan solves the loops: those of legs, then all together."""
    blocks, rows, left, first = list[tuple[list[int], list[int]]](), list[int](), list[int](), 0
    for leg in plan.legs:
        own = [first + k for k in leg.rows]
        rows += own
        blocks += [(own, list(leg.dependents))] if leg.dependents else []
        left += own[-1:] if leg.crossed else [first + k for k in leg.leftover]
        first += len(leg.rows) + len(leg.leftover)
    blocks.append((sorted({*rows, *(left[k] for k in plan.kept)}), list(plan.bound)))
    return min(float(np.linalg.svd(A[np.ix_(*block)], compute_uv=False)[-1]) for block in blocks)
