r"""Drives that can never move: loops that lock, couplings that contradict each other or the loops.

With J the closing rows of all loops, a drive is locked where its row of the null space of J vanishes, at home and at assembled
configurations about it. At home alone it may be a dead point, which is no mistake.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import RobotBuildError
from flexapod.robot.build import placed
from flexapod.robot.geometry import Pose
from flexapod.robot.mobility import RANK, generic_configuration, loop_jacobian
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

NEAR = 1e-6
"""Distance of joints on the platform, of the robot's size, from which on the rank of the loops is beyond doubt."""

SEEDS = range(3)
"""Configurations about home that are tried."""


def refuse_locked(robot: Robot) -> None:
    """Raise where a drive of a rigid robot cannot move in any configuration.

    Raises:
        RobotBuildError: names the joint, and the couplings where these hold it.

    Checked by: tests/robot/test_build_errors.py.
    """
    if robot.elastic_names:  # deformations let it move
        return
    held = _locked(robot.legs, robot.home, robot.characteristic_length)
    if not held:
        _refuse_unclear(robot)
        return
    leg, joint = held[0]
    free = tuple(replace(other, couplings=()) for other in robot.legs)
    couplings = list(robot.description.file.couplings)
    if couplings and (leg, joint) not in _locked(free, robot.home, robot.characteristic_length):
        with placed(robot.description, ("couplings",)):
            raise RobotBuildError(
                f"couplings {', '.join(couplings)}: together with the loops they hold the drive {leg}.{joint} still, so that "
                "they contradict each other. Check their factors, or remove one"
            )
    with placed(robot.description, ("legs", "each", leg)):
        raise RobotBuildError(
            f"legs.{leg}.{joint}: the loops lock, this drive cannot move, neither at home nor near it. Check the directions of "
            "the axes in its loop and the lengths of its bodies, or add a joint"
        )


def _refuse_unclear(robot: Robot) -> None:
    """Raise where rounding decides how the platform moves: joints on it lie next to each other, and the closing plan lets it make
    other motions than the rank of the loops does."""
    points = [closing.on_platform.position for leg in robot.legs for closing in leg.closings if closing.to is None]
    near = [d for k, p in enumerate(points) for q in points[:k] if 0.0 < (d := float(np.linalg.norm(p - q))) < NEAR * robot.size]
    if not near or len(robot.plan.platform_independent) == robot.mobility.platform:
        return
    with placed(robot.description, ("legs",)):
        raise RobotBuildError(
            f"legs: rounding decides how the platform of {robot.name} can move: joints on it are {min(near):.3g} m apart. Check "
            "the units of lengths, and let joints coincide or be apart"
        )


def _locked(legs: tuple[Leg, ...], home: Pose, size: float) -> list[tuple[str, str]]:
    """Drives (leg, joint) that move neither at home nor about it."""
    drives = [(leg.name, leg.links[i].joint) if leg.links[i].actuated else None for leg in legs for i in leg.moving]
    left = {k for k, drive in enumerate(drives) if drive is not None}
    left -= _moving(legs, [leg.home for leg in legs], home)
    for seed in SEEDS if left else ():
        left -= _moving(legs, *generic_configuration(legs, home, size, seed))
    return [drive for k, drive in enumerate(drives) if k in left and drive is not None]


def _moving(legs: tuple[Leg, ...], q: list[Array], platform: Pose) -> set[int]:
    """Coordinates that some motion of the loops moves."""
    _, J = loop_jacobian(legs, q, platform)
    if not np.isfinite(J).all():  # other checks report that
        return set(range(J.shape[1]))
    _, s, vt = np.linalg.svd(J)
    null = vt[int(np.sum(s > RANK * s.max(initial=0.0))) :]
    return set(np.flatnonzero(np.abs(null[:, :-6]).max(axis=0, initial=0.0) > RANK).tolist())
