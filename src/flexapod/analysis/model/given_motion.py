"""Components of a given platform motion that a robot with flexible parts does not follow: refused, or reported by a warning.

Three kinds of components: those that its actuators prescribe are followed; those that only deformation moves are decided by it,
and a given value is not used (a warning); those that no coordinate moves (out of the plane of a planar robot) are refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import SAME, ClosedLegs, home, pose_error
from flexapod.analysis.model.prescribed import impossible, twist_scale
from flexapod.analysis.verbs.inverse_kinematics import COMPONENTS, FOLLOW
from flexapod.arrays import Array
from flexapod.errors import FlexapodWarning, amount

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


UNUSED = np.array([1e-2] * 3 + [1e-3] * 3)
"""Difference of a given component from what deformation makes of it [of the characteristic length, rad] that is reported: smaller
ones may be the deflection itself. Also of rates, of 1 and the largest rate."""

ROTATED = 1e-2
"""Part of a motion in space that nothing makes, up to which it is taken: deflection rotates these directions by its own angle.
Those of a planar robot stay where they are, and are known to rounding."""

MAIN = 0.1
"""Part of the largest component from which others are named besides it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenMotion:
    """Motion that is given: poses (n, ...), twists (n, 6), accelerations (n, 6) less their part from the rates, None for
    states; `rows`: components that the actuators prescribe."""

    position: Array
    rotation: Array
    twist: Array
    acceleration: Array | None
    rows: list[int]


def check_given(robot: Robot, state: ClosedLegs, given: GivenMotion, J: Array, reasons: Reasons) -> None:
    """Refuse rates that nothing in the robot makes, and warn of components that deformation decides.

    Args:
        state: what the robot takes.
        J: (n, 6, u) platform twist per independent rate there.
        reasons: per sample, added to.

    Checked by: tests/analysis/test_out_of_plane.py.
    """
    scale, never = twist_scale(robot), impossible(robot, J)
    rate = given.twist / scale
    size = np.maximum(1.0, np.abs(rate).max(axis=1))
    refuse_impossible(robot, never, rate, size, "have this velocity", reasons)
    if given.acceleration is not None:
        second = given.acceleration / scale
        bound = np.maximum(size**2, np.abs(second).max(axis=1))
        refuse_impossible(robot, never, second, bound, "have this acceleration", reasons)
    _warn_unused(robot, state, given, never, reasons)


def refuse_impossible(robot: Robot, never: Array, motion: Array, size: Array, what: str, reasons: Reasons) -> None:
    """Reasons of samples that ask for a motion (n, 6), dimensionless, which no coordinate of the robot makes.

    Args:
        never: (n, 6, 6) projectors onto such motions (`impossible`).
        size: (n,) what the motion is compared with; in a plane poses are known to `SAME`, rates to `FOLLOW`.
    """
    part = np.abs(np.einsum("nij,nj->ni", never, motion))
    bound = ((SAME if "pose" in what else FOLLOW) if robot.planar else ROTATED) * size
    for k in np.flatnonzero((part.max(axis=1) > bound) & (reasons == "")):
        reasons[k] = f"the robot cannot {what}: it cannot follow {_named(part[k])}"


def _named(size: Array) -> str:
    return " and ".join(COMPONENTS[i] for i in np.argsort(-size, kind="stable") if size[i] > MAIN * size.max())


def _warn_unused(robot: Robot, state: ClosedLegs, given: GivenMotion, never: Array, reasons: Reasons) -> None:
    """Warn once if given components that the actuators do not prescribe differ from the robot's motion."""
    scale, others = twist_scale(robot), [i for i in range(6) if i not in given.rows]
    if not others:
        return
    possible = np.eye(6) - (never if robot.planar else 0.0 * never)
    off = pose_error(robot, state, given.position, given.rotation)
    rotation_error = pose_error(robot, home(robot, len(reasons)), given.position, given.rotation)[:, 3:]
    off[np.abs(rotation_error).max(axis=1) < SAME, 3:] = 0.0  # users give the orientation of home where they mean none
    rate = np.concatenate([state.velocity, state.angular_velocity], axis=1)
    missed = np.where(np.abs(given.twist) > 0.0, given.twist - rate, 0.0)
    size = np.maximum(1.0, np.abs(given.twist / scale).max(axis=1, keepdims=True))
    for what, error, bound in (("pose", off, 1.0), ("velocity", missed, size)):
        part = np.abs(np.einsum("nij,nj->ni", possible, error / scale))[:, others]
        seen = (part > UNUSED[others] * bound) & (reasons == "")[:, None]
        if seen.any():
            sample = int(seen.any(axis=1).argmax())
            names = " and ".join(COMPONENTS[i] for i, yes in zip(others, seen[sample], strict=True) if yes)
            where = f" (first in sample {sample})" if len(reasons) > 1 else ""
            warnings.warn(
                f"{robot.name}: {names} of the given {what} is not used{where}: "
                f"{amount(len(robot.actuators), 'actuator')} prescribe {', '.join(COMPONENTS[i] for i in given.rows)}, "
                "and deformation decides the others",
                FlexapodWarning, stacklevel=2,
            )  # fmt: skip
