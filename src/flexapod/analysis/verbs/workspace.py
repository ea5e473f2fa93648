"""`workspace`: which poses a robot can reach, and how well, over a grid; streamed in blocks of bounded memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.poses.pose_projection import onto_constraints
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.block_store import BlockStore
from flexapod.analysis.requests.sample_blocks import progress_bar
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.pose_grid import PoseGrid, pose_grid
from flexapod.analysis.space.pose_map import PoseFacts, PoseMap
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

UNITS = {"x": "m", "y": "m", "z": "m", "rx": "rad", "ry": "rad", "rz": "rad", "tilt": "rad", "azimuth": "rad", "torsion": "rad"}


MOST_POSES = 200_000_000
"""Poses of a map in memory at most: 6 GB."""


@checked
def workspace(
    robot: Robot,
    grid: Mapping[str, ArrayLike] | None = None,
    orientation: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    limits: bool = True,
    max_condition: float | None = None,
    details: bool = False,
    block: int = 16_384,
    threads: int = 1,
    progress: bool | None = None,
    save: str | Path | None = None,
) -> xr.Dataset:
    """Reachability, strokes, joint angles and conditioning over a grid of poses.

    Args:
        robot: any robot. Components of the pose that a robot of limited mobility cannot control follow from the others.
        grid: axis -> values: x, y, z [m, world], rx, ry, rz [rad, rotation vector from home, world axes]; arrays, single
            numbers, or tuples (smallest, largest, count). Axes not given stay at home.
        orientation: a rotation matrix for the whole grid, or a sweep: axes tilt, azimuth, torsion [rad],
            R = Rz(azimuth) Ry(tilt) Rz(torsion - azimuth) R_home.
        limits: strokes and joint angles of the file count.
        max_condition: largest condition number of a valid pose.
        details: keep values per actuator, joint and leg, not only the worst.
        block: poses computed at a time.
        threads: that share a block (closed-form legs).
        progress: a bar; by default at a terminal for long computations.
        save: folder that holds the result; an interrupted computation goes on from there.
    Returns:
        Dataset over the axes: `valid`, `reason` (code of `reason_text`), `stroke_margin` and `angle_margin` (smallest,
        negative beyond a limit), `deflection` (largest), `condition_number`, `type_1` (smallest), `type_2`; with
        `details` also `actuator_position` (.., actuator), `joint_deflection` (.., swivel), `leg_type_1` (.., leg).

    Interrupted without `save` nothing is returned. Checked by: tests/analysis/test_workspace.py.
    """
    if isinstance(block, bool) or int(block) != block or block < 1:
        raise InputError(f"block: expected a whole number of poses, got {block!r}")
    poses, known = pose_grid(robot, grid, orientation), limits_of(robot)
    chart = PoseMap(known, keep_limits=limits, max_condition=max_condition)
    if save is None and poses.count > MOST_POSES:
        raise InputError(
            f"grid: {poses.count:.3g} poses do not fit into memory (30 bytes each, at most {MOST_POSES:g}); take fewer, or "
            "keep them in a folder by `save`"
        )
    store = BlockStore(poses.count, _arrays(robot, chart, details), save, _key(robot, poses, limits, max_condition, details))
    with progress_bar(f"workspace of {robot.name}", poses.count, progress, store.done) as report:
        for start in range(store.done, poses.count, block):
            stop = min(start + block, poses.count)
            store.write(start, _block(chart, poses, start, stop, details, threads))
            report(stop)
    return _dataset(robot, poses, chart, store)


def _arrays(robot: Robot, chart: PoseMap, details: bool) -> dict[str, tuple[tuple[int, ...], Any]]:
    arrays: dict[str, tuple[tuple[int, ...], Any]] = {"reason": ((), np.int16)}
    for name in ("stroke_margin", "angle_margin", "deflection", "condition_number", "type_1", "type_2"):
        arrays[name] = ((), np.float64)
    if details:
        arrays["actuator_position"] = ((len(robot.actuators),), np.float64)
        arrays["joint_deflection"] = ((len(chart.limits.swivels),), np.float64)
        arrays["leg_type_1"] = ((len(robot.legs),), np.float64)
    return arrays


def _block(chart: PoseMap, poses: PoseGrid, start: int, stop: int, details: bool, threads: int) -> dict[str, NDArray[Any]]:
    position, rotation = poses.block(start, stop)
    guess = None
    if chart.robot.plan.constraints and not chart.together:
        position, rotation, joints = onto_constraints(chart.robot, position, rotation, poses.free)
        home = np.concatenate([leg.home for leg in chart.robot.legs])
        guess = None if np.all(joints == home) else joints
    facts = chart.evaluate(position, rotation, guess, threads)
    result = _summary(chart, facts)
    if details:
        result["actuator_position"], result["leg_type_1"] = facts.actuators, facts.type_1
        result["joint_deflection"] = facts.deflection
    return result


def _summary(chart: PoseMap, facts: PoseFacts) -> dict[str, NDArray[Any]]:
    margin = chart.limits.stroke_margin(facts.actuators).min(axis=1)
    if facts.joints is not None:
        margin = np.minimum(margin, chart.limits.joint_margin(facts.joints).min(axis=1))
    bends = facts.deflection.shape[1] > 0
    none = np.full(len(margin), np.nan)
    return {
        "reason": facts.code,
        "stroke_margin": margin,
        "angle_margin": chart.limits.angle_margin(facts.deflection).min(axis=1) if bends else none,
        "deflection": facts.deflection.max(axis=1) if bends else none,
        "condition_number": facts.condition,
        "type_1": facts.type_1.min(axis=1),
        "type_2": facts.type_2,
    }


def _dataset(robot: Robot, poses: PoseGrid, chart: PoseMap, store: BlockStore) -> xr.Dataset:
    import xarray as xr

    dims, shape = tuple(poses.axes), poses.shape
    tails = {"actuator_position": "actuator", "joint_deflection": "swivel", "leg_type_1": "leg"}
    mixed, angles = ("stroke_margin", "actuator_position"), ("angle_margin", "deflection", "joint_deflection")
    units = dict.fromkeys(mixed, "m or rad") | dict.fromkeys(angles, "rad")
    data: dict[str, Any] = {"valid": (dims, (store.arrays["reason"] == 0).reshape(shape))}
    for name, array in store.arrays.items():
        tail = (tails[name],) if name in tails else ()
        data[name] = ((*dims, *tail), array.reshape(*shape, *array.shape[1:]), {"units": units.get(name, "")})
    data["reason_text"] = (("code",), chart.reasons.texts)
    data["words"] = (("code",), chart.reasons.texts, {"deprecated": "called reason_text now"})
    coordinates: dict[str, Any] = {name: ((name,), values, {"units": UNITS[name]}) for name, values in poses.axes.items()}
    if "actuator_position" in data:
        coordinates["actuator"] = list(robot.actuators)
        coordinates["swivel"] = chart.limits.swivel_names
        coordinates["leg"] = [leg.name for leg in robot.legs]
    return xr.Dataset(data, coords=coordinates, attrs={"robot": robot.name, "poses": poses.count})


def _key(robot: Robot, poses: PoseGrid, *options: object) -> str:
    """Identity of a computation: robot, its numbers and limits, grid, options."""
    digest = hashlib.sha256(robot.structure.encode())
    numbers = [robot.home.position, robot.home.rotation, poses.home_position, poses.base, *poses.axes.values()]
    digest.update(json.dumps([sorted(robot.values.items()), list(poses.axes), poses.following, options]).encode())
    known = limits_of(robot)
    for array in [*numbers, known.low, known.high, known.angle, known.joint_low, known.joint_high]:
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()
