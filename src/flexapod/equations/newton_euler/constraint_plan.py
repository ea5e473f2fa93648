"""Set-up choices of general robots, in numbers: which constraint wrenches are unknown, which can be distinguished.

At a generic configuration near home each leg's twists J (6, m) leave 6 - m constraint wrenches; those of all legs that
are independent on the platform are kept, and the platform's degrees of freedom are what they leave. Where they repeat
(over-constrained robots), rigid bodies do not say how the legs share them: the reactions they reach are undetermined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from flexapod.arrays import Array, Mask
from flexapod.equations.newton_euler.reactions import reaction_names
from flexapod.errors import InputError, amount
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import ancestors, link_poses
from flexapod.robot.mobility import generic_configuration
from flexapod.robot.model import Leg
from flexapod.robot.plan import pivots
from flexapod.robot.robot import Robot

SEEDS = (7, 17, 27)
"""Generic configurations: a component counts as determined if it is so in all of them."""

TOUCHED = 1e-7
"""Share of a unit constraint wrench above which a reaction component counts as undetermined (rounding: 1e-14)."""

KINDS = ("force", "moment")


@dataclass(frozen=True, kw_only=True)
class ConstraintPlan:
    """Choices of a robot.

    Args:
        complements: per leg, unit wrenches (0-2 forces, 3-5 moments) that complete its joint twists.
        kept: which of all constraint wrenches (legs in order) are independent.
        dof: components of the platform twist that are free.
    """

    complements: tuple[tuple[int, ...], ...]
    kept: tuple[int, ...]
    dof: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Undetermined:
    """Reactions that are statically indeterminate with rigid bodies.

    Args:
        names: components such as ``X.rail moment y``; empty for most robots.
        unknowns: actuator forces and constraint wrenches of all legs on the platform.
        rank: of the platform's equations, at most 6.
        redundant: actuator forces beyond those that the motion needs; the smallest forces are given.
        mask: (joints, 2, 3) true where a component of force or moment is undetermined.
    """

    names: tuple[str, ...]
    unknowns: int
    rank: int
    redundant: int
    mask: Mask

    def __str__(self) -> str:
        head = f"{self.unknowns} unknown wrenches on the platform, rank {self.rank}"
        if self.redundant:
            head += f"; {self.redundant} actuator force(s) free, the smallest are given"
        return f"{head}; undetermined: {', '.join(self.names) or 'nothing'}"


def plain(robot: Robot) -> bool:
    """Six closed-form legs: Kim's elimination applies."""
    return len(robot.legs) == 6 and all(form is not None for form in robot.closed_forms)


def constraint_plan(robot: Robot) -> ConstraintPlan:
    """The choices of a robot, at the first generic configuration."""
    twists, arms, _ = _configuration(robot, SEEDS[0])
    complements, wrenches = [], []
    for J, arm in zip(twists, arms, strict=True):
        projector, chosen = _complement(J)
        complements.append(tuple(chosen))
        wrenches += [_moved(projector[:, k], arm) for k in chosen]
    N = np.array(wrenches).T if wrenches else np.zeros((6, 0))
    kept = pivots(N)
    dof = _complement(N[:, kept])[1]
    return ConstraintPlan(complements=tuple(complements), kept=tuple(kept), dof=tuple(dof))


def _complement(J: Array) -> tuple[Array, list[int]]:
    """Projector onto the complement of J (6, m) of full rank, and the 6 - m unit vectors that span it best."""
    if J.shape[1] == 6:
        return np.zeros((6, 6)), []
    projector = np.eye(6) - J @ np.linalg.pinv(J)
    return projector, pivots(projector)


def undetermined(robot: Robot) -> Undetermined:
    """Rank of the platform's equations and the reaction components that they leave open.

    Redundant actuator forces are taken as chosen (smallest norm); what follows from them counts as determined.

    Checked by: tests/equations/test_newton_euler.py.
    """
    names = reaction_names(robot)
    mask = np.zeros((len(names), 2, 3), dtype=bool)
    if plain(robot):
        return Undetermined(names=(), unknowns=6, rank=6, redundant=0, mask=mask)
    plan = constraint_plan(robot)
    for seed in SEEDS:
        mask |= _touched(robot, seed)
    unknown_names = tuple(
        f"{name} {KINDS[k]} {'xyz'[c]}" for i, name in enumerate(names) for k in range(2) for c in range(3) if mask[i, k, c]
    )
    count, actuators, dof = sum(map(len, plan.complements)), len(robot.actuators), len(plan.dof)
    rank = len(plan.kept) + min(actuators, dof)
    return Undetermined(names=unknown_names, unknowns=actuators + count, rank=rank, redundant=max(0, actuators - dof), mask=mask)


def mark_undetermined(robot: Robot, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Results of the kernel with NaN in `reaction_force`, `reaction_moment` (.., joints, 3) where they are undetermined."""
    mask, result = undetermined(robot).mask, dict(outputs)
    for k, kind in enumerate(KINDS):
        name = f"reaction_{kind}"
        if name in result:
            result[name] = np.where(mask[:, k], np.nan, result[name])
    return result


def check_structure(robot: Robot) -> None:
    """Refuse robots that the general formulation does not cover.

    Raises:
        InputError: a leg with idle joints, or fewer actuators than degrees of freedom.
    """
    for leg in robot.legs:
        path = ancestors(leg, leg.closing.link)
        for i in leg.moving:
            if i not in path:
                raise InputError(
                    f"newton_euler: joint {leg.name}.{leg.links[i].coordinate} is not on the path to the platform, so the "
                    "platform's motion does not determine it; fix it in the robot file"
                )
    for leg, J in zip(robot.legs, _configuration(robot, SEEDS[0])[0], strict=True):
        if np.linalg.matrix_rank(J, tol=1e-8) < J.shape[1]:
            raise InputError(f"newton_euler: leg {leg.name} has idle joints that the platform's motion does not determine")
    dof = len(constraint_plan(robot).dof)
    if len(robot.actuators) < dof:
        raise InputError(
            f"newton_euler: {robot.name} has {amount(len(robot.actuators), 'actuator')} for {dof} DOF; inverse dynamics needs "
            "at least as many actuators"
        )


def _touched(robot: Robot, seed: int) -> Mask:
    """Reaction components that some share of repeated constraint wrenches reaches, at one configuration."""
    twists, arms, centres = _configuration(robot, seed)
    length = robot.characteristic_length
    spans = [_null(J.T) for J in twists]
    columns = [_moved(c, arm) for span, arm in zip(spans, arms, strict=True) for c in span.T]
    loads = _null(np.array(columns).T) if columns else np.zeros((0, 0))
    rows: list[Any] = []
    at = 0
    for leg, span, points in zip(robot.legs, spans, centres, strict=True):
        own = span @ loads[at : at + span.shape[1]] if loads.size else np.zeros((6, 0))
        at += span.shape[1]
        path = ancestors(leg, leg.closing.link)
        for i in (*range(len(leg.links)), None):
            held = own if i is None or i in path else np.zeros_like(own)
            arm = (points[-1] - points[i]) / length if i is not None else np.zeros(3)
            moment = held[3:] + np.cross(arm, held[:3], axisb=0, axisc=0) if held.shape[1] else held[3:]
            rows.append([np.linalg.norm(held[:3], axis=1) > TOUCHED, np.linalg.norm(moment, axis=1) > TOUCHED])
    return np.array(rows)


@lru_cache(maxsize=64)
def _configuration(robot: Robot, seed: int) -> tuple[list[Array], list[Array], list[list[Array]]]:
    """Twists per leg, arms from platform origin to closing centres (over the length), joint centres per leg."""
    length = robot.characteristic_length
    coordinates, platform = generic_configuration(robot.legs, robot.home, length, seed=seed)
    twists, arms, centres = [], [], []
    for leg, q in zip(robot.legs, coordinates, strict=True):
        J, points = leg_twists(leg, q, platform, length)
        twists.append(J)
        centres.append(points)
        arms.append((points[-1] - platform.position) / length)
    return twists, arms, centres


def leg_twists(leg: Leg, q: Array, platform: Pose, length: float) -> tuple[Array, list[Array]]:
    """Unit twists (v; omega times length) at the closing centre, and the joint centres with the closing one last."""
    poses = link_poses(leg, q)
    closing = leg.closing
    E = platform.point(closing.on_platform.position)
    R_p = platform.rotation @ closing.on_platform.rotation
    R_l = (poses[closing.link][0] if closing.link >= 0 else np.eye(3)) @ closing.on_link.rotation
    columns = []
    for i in reversed(ancestors(leg, closing.link)):
        R, p = poses[i]
        z = R[:, 2]
        if leg.links[i].kind == "R":
            columns.append(np.concatenate([np.cross(z, E - p), z * length]))
        elif leg.links[i].kind == "P":
            columns.append(np.concatenate([z, np.zeros(3)]))
    columns += _closing_twists(closing.type, R_l, R_p, length)
    return np.array(columns).T, [p for _, p in poses] + [E]


def _closing_twists(kind: str, R_l: Array, R_p: Array, length: float) -> list[Array]:
    rotation = [np.concatenate([np.zeros(3), axis * length]) for axis in (R_l[:, 2], R_p[:, 2])]
    slide = np.concatenate([R_l[:, 2], np.zeros(3)])
    spherical = [np.concatenate([np.zeros(3), axis * length]) for axis in np.eye(3)]
    return {
        "fixed": [],
        "revolute": rotation[:1],
        "prismatic": [slide],
        "cylindrical": [slide, rotation[0]],
        "universal": rotation,
        "spherical": spherical,
    }[kind]


def _moved(wrench: Array, arm: Array) -> Array:
    """A scaled wrench (F; M/length) about the platform origin."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])


def _null(matrix: Array) -> Array:
    """Orthonormal basis of the null space, as columns."""
    _, s, Vt = np.linalg.svd(matrix)
    rank = int(np.sum(s > 1e-8 * max(float(s.max(initial=0.0)), 1e-300)))
    return np.asarray(Vt[rank:].T)
