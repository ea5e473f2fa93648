"""Choices of the link-axes model, made once per structure from numbers at a generic configuration.

Cut every leg at its platform joint and write the closing rows in axes of its last link. Per leg: which rows give its rates
(`rows`), which multipliers balance its passive joints (`balance`). Over all legs: which of the multipliers left (`columns`) the
platform's balance (`components`) is solved for, and which directions among the others strain the actuators (`strain`); for
forward dynamics, which leftover rows bind the platform (`kept`) and which twist components they are solved for (`bound`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.architecture import closes, reach, roots
from flexapod.robot.block_triangular import StructurallySingularError, blocks
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import ROWS, ancestors, link_poses
from flexapod.robot.mobility import RANK, generic_configuration
from flexapod.robot.model import Leg
from flexapod.robot.plan import WORKABLE, pivots
from flexapod.rotation_arrays import cross, skew

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

NEARLY_BEST = 0.2
"""Rows whose smallest singular value is at least this part of the best choice's are as good; the simplest of them is taken."""

PATTERN = 1e-9
"""Entries of dimensionless rows below this are zeros of the pattern."""


@dataclass(frozen=True, kw_only=True)
class LegChoice:
    """Choices of one leg.

    Args:
        rows: closing rows that its rates are solved from, as many as it has coordinates.
        balance: closing rows whose multipliers balance its passive joints.
        signs: `architecture.roots` of a closed-form leg; those of other legs are values, or Newton's method finds its way.
        constants: entries of its inner frames that are 0, 1 or -1 by construction: (path below the leg, value).
        closed: its positions have a closed form that meets just these rows.
        ball: for forward dynamics it is cut at its ball.
    """

    rows: tuple[int, ...]
    balance: tuple[int, ...]
    signs: tuple[int, ...]
    constants: tuple[tuple[str, int], ...]
    closed: bool
    ball: bool


@dataclass(frozen=True, kw_only=True)
class LinkPlan:
    """Choices of a robot; see the module."""

    legs: tuple[LegChoice, ...]
    columns: tuple[int, ...]
    components: tuple[int, ...]
    strain: tuple[int, ...]
    kept: tuple[int, ...]
    bound: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LegNumbers:
    """Closing rows of a leg in numbers: B (m, n) by its coordinates, P (m, 6) by the platform twist, dimensionless."""

    B: Array
    P: Array
    driven: tuple[int, ...]


def refused(robot: Robot) -> str | None:
    """Reason why the link-axes model has no plan for a robot yet; None where it has."""
    if robot.elastic_legs or robot.flexible_platform is not None:
        return "it has flexible bodies or springs"
    for leg in robot.legs:
        if leg.closing.link < 0:
            return f"leg {leg.name} has no link between base and platform joint"
        if len(leg.moving) > len(ROWS[leg.closing.type]):
            return f"leg {leg.name} can move while its ends are held"
    if len(robot.actuators) < len(robot.plan.platform_independent):
        return "it has fewer actuators than degrees of freedom"
    length, numbers = robot.characteristic_length, numbers_near_home(robot)
    for leg, found in zip(robot.legs, numbers, strict=True):
        n = found.B.shape[1]
        if n and np.linalg.svd(found.B, compute_uv=False)[n - 1] < WORKABLE * min(1.0, length):
            return f"leg {leg.name} can move while its ends are held"
    return None


def numbers_near_home(robot: Robot) -> list[LegNumbers]:
    """Every leg's rows at a generic configuration near home."""
    length = robot.characteristic_length
    coordinates, platform = generic_configuration(robot.legs, robot.home, length, seed=7)
    return [leg_numbers(leg, q, platform, length) for leg, q in zip(robot.legs, coordinates, strict=True)]


def link_plan(robot: Robot) -> LinkPlan:
    """The plan of a robot that `refused` lets pass.

    Checked by: tests/equations/test_link_model.py.
    """
    numbers = numbers_near_home(robot)
    choices = tuple(_leg_choice(leg, found) for leg, found in zip(robot.legs, numbers, strict=True))
    columns, components, strain = _core(robot, numbers, choices)
    G = np.vstack([_constraint_rows(found, choice) for found, choice in zip(numbers, choices, strict=True)])
    kept = pivots(G.T)
    return LinkPlan(
        legs=choices,
        columns=columns,
        components=components,
        strain=strain,
        kept=tuple(kept),
        bound=tuple(pivots(G[kept])) if kept else (),
    )


def plan_holds(robot: Robot, plan: LinkPlan) -> bool:
    """A plan made for other numbers holds for these: same branches and constants, blocks well conditioned at home."""
    length = robot.characteristic_length
    for leg, choice in zip(robot.legs, plan.legs, strict=True):
        found = leg_numbers(leg, leg.home, robot.home, length)
        passive = [k for k in range(found.B.shape[1]) if k not in found.driven]
        for part in (found.B[list(choice.rows)], found.B[np.ix_(choice.balance, passive)]):
            if part.size and np.linalg.svd(part, compute_uv=False)[-1] < WORKABLE:
                return False
        if (choice.signs and roots(leg) != choice.signs) or inner_constants(leg) != choice.constants:
            return False
        if choice.closed and not closes(leg, choice.rows, _last_axes(leg)):
            return False
        if choice.ball and not _at_ball(leg):
            return False
    return True


def leg_numbers(leg: Leg, q: Array, platform: Pose, length: float) -> LegNumbers:
    """Closing rows of a leg in axes of its last link, metres over `length`."""
    poses, last = link_poses(leg, np.asarray(q)), leg.closing.link
    R_l, p_l = poses[last]
    R_h, p_h = R_l @ leg.closing.on_link.rotation, p_l + R_l @ leg.closing.on_link.position
    R_p = platform.rotation @ leg.closing.on_platform.rotation
    rows = []
    for kind, i, *rest in ROWS[leg.closing.type]:
        if kind == "axes":
            rows.append(np.concatenate([np.zeros(3), cross(R_h[:, int(rest[0])], R_p[:, int(i)])]))
        else:
            rows.append(np.concatenate([(R_l if kind == "point" else R_h)[:, int(i)] / length, np.zeros(3)]))
    W = np.array(rows)
    B = np.zeros((len(W), len(leg.moving)))
    for j in ancestors(leg, last):
        kind, (R, p) = leg.links[j].kind, poses[j]
        if kind != "fixed":
            z = R[:, 2]
            twist = np.concatenate([z * length, np.zeros(3)] if kind == "P" else [cross(z, p_h - p), z])
            B[:, leg.moving.index(j)] = W @ twist
    arm = p_h - platform.position
    T = np.block([[np.eye(3) * length, -skew(arm)], [np.zeros((3, 3)), np.eye(3)]])
    driven = tuple(k for k, j in enumerate(leg.moving) if leg.links[j].actuated)
    return LegNumbers(B=B, P=-W @ T, driven=driven)


def _leg_choice(leg: Leg, found: LegNumbers) -> LegChoice:
    passive = [k for k in range(found.B.shape[1]) if k not in found.driven]
    rows = _simple_rows(found.B)
    return LegChoice(
        rows=rows,
        balance=_simple_rows(found.B[:, passive]),
        signs=roots(leg) if leg.architecture != "general" else (),
        constants=inner_constants(leg),
        closed=closes(leg, rows, _last_axes(leg)),
        ball=_at_ball(leg),
    )


def _at_ball(leg: Leg) -> bool:
    """A drive with a mass, a ball without, and a rod that a hinge holds on the platform: nothing else has inertia or a drive."""
    inner = leg.links[1:3]
    return (
        reach(leg) in ("PSR", "RSR")
        and len(leg.links) == 4
        and all(link.body is None for link in inner)
        and leg.links[0].actuated
        and not any(link.actuated or link.inertia for link in leg.links[1:])
    )


def closed_choice(leg: Leg) -> LegChoice:
    """Choices of a leg of three joints that ends in a spherical one and closes in closed form."""
    rows = (0, 1, 2)
    return LegChoice(rows=rows, balance=(), signs=roots(leg), constants=inner_constants(leg), closed=True, ball=False)


def _last_axes(leg: Leg) -> Array:
    """(3, 3) axes of the last link at home, in which the closing rows are written."""
    return link_poses(leg, leg.home)[leg.closing.link][0]


def _simple_rows(B: Array) -> tuple[int, ...]:
    """Rows that make a well-conditioned square block: of the good choices, that with the smallest blocks and fewest entries."""
    m, n = B.shape
    if n == 0:
        return ()
    found = {rows: float(np.linalg.svd(B[list(rows)], compute_uv=False)[-1]) for rows in combinations(range(m), n)}
    best, candidates = max(found.values()), []
    for rows, smallest in found.items():
        pattern = np.abs(B[list(rows)]) > PATTERN
        if smallest < NEARLY_BEST * best * (1.0 - 1e-6):
            continue
        try:
            largest = max(len(block[0]) for block in blocks(pattern.tolist()))
        except StructurallySingularError:
            continue
        candidates.append((largest, int(pattern.sum()), -round(smallest / best, 6), rows))
    return min(candidates)[3]


def _multipliers(found: LegNumbers, choice: LegChoice) -> tuple[Array, list[int]]:
    """D (m, k): multipliers of all rows per free one, with the passive joints balanced; and which rows are free."""
    m, n = found.B.shape
    passive = [k for k in range(n) if k not in found.driven]
    free = [r for r in range(m) if r not in choice.balance]
    D = np.zeros((m, len(free)))
    D[free] = np.eye(len(free))
    if passive and free:
        Bp = found.B[:, passive].T
        D[list(choice.balance)] = np.linalg.solve(Bp[:, list(choice.balance)], -Bp[:, free])
    return D, free


def _core(
    robot: Robot, numbers: list[LegNumbers], choices: tuple[LegChoice, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Columns and components of the platform's balance, and the null directions that strain the actuators."""
    D = [_multipliers(found, choice)[0] for found, choice in zip(numbers, choices, strict=True)]
    G = np.hstack([found.P.T @ d for found, d in zip(numbers, D, strict=True)])
    columns = pivots(G)
    components = pivots(G[:, columns].T)
    others = [k for k in range(G.shape[1]) if k not in columns]
    null = np.zeros((G.shape[1], len(others)))
    null[others] = np.eye(len(others))
    if others:
        null[columns] = -np.linalg.solve(G[np.ix_(components, columns)], G[np.ix_(components, others)])
    force, at = [], 0
    for found, d in zip(numbers, D, strict=True):
        force += [-found.B[:, k] @ d @ null[at : at + d.shape[1]] for k in found.driven]
        at += d.shape[1]
    strained = np.array(force)
    strained[np.abs(strained) < PATTERN] = 0.0  # repeated constraints load no actuator: what is left is rounding
    return tuple(columns), tuple(components), tuple(pivots(strained)) if others else ()


def _constraint_rows(found: LegNumbers, choice: LegChoice) -> Array:
    """Constraints of a leg on the platform: rows left over when its coordinates are eliminated, (k, 6)."""
    rows = list(choice.rows)
    left = [r for r in range(len(found.B)) if r not in rows]
    X = np.linalg.solve(found.B[rows], -found.P[rows]) if rows else np.zeros((0, 6))
    return np.asarray(found.P[left] + found.B[left] @ X)


def link_mode(robot: Robot, leg: Leg) -> int:
    """Sign of the determinant of the leg's rows at home: it distinguishes the leg's branches. 0 where home is singular."""
    choice = robot.link_plan.legs[robot.legs.index(leg)]
    B = leg_numbers(leg, leg.home, robot.home, robot.characteristic_length).B[list(choice.rows)]
    value, size = float(np.linalg.det(B)), float(np.prod(np.linalg.norm(B, axis=0)))
    return 0 if abs(value) <= RANK * size else int(np.sign(value))


def inner_constants(leg: Leg) -> tuple[tuple[str, int], ...]:
    """Entries of a leg's frames that are constants: of rotations with an axis along one of their parent's, zero offsets between
    the axes of one joint, and those of a tip that lies on an axis of its link."""
    result: list[tuple[str, int]] = []
    for link in leg.links:
        result += _constant_entries(f"{link.coordinate}.R", link.placement.rotation)
        if link.parent >= 0 and link.joint == leg.links[link.parent].joint:
            result += [(f"{link.coordinate}.p.{a}", 0) for a, x in zip("xyz", link.placement.position, strict=True) if x == 0.0]
    tip, name = leg.closing.on_link, f"{leg.closing.joint}.on_link"
    if np.count_nonzero(tip.position) <= 1:
        result += [(f"{name}.p.{a}", 0) for a, x in zip("xyz", tip.position, strict=True) if x == 0.0]
    return tuple(result + _constant_entries(f"{name}.R", tip.rotation))


def _constant_entries(name: str, R: Array) -> list[tuple[str, int]]:
    if not np.any(np.abs(R) == 1.0):
        return []
    pairs = [(i, j) for i in range(3) for j in range(3)]
    return [(f"{name}.{'xyz'[i]}{'xyz'[j]}", int(R[i, j])) for i, j in pairs if abs(R[i, j]) in (0.0, 1.0)]
