"""Trajectories of a study one by one, by the steps of `simulate`: flexible robots, or robots whose loops are closed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.contributions import with_values
from flexapod.arrays import Array
from flexapod.errors import FlexapodError
from flexapod.rotation_arrays import rotation_quaternion
from flexapod.simulation.simulate import finished, make_clock, simulate_blocks
from flexapod.simulation.system.setup import make_setup

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot

SHOWN = ("position", "quat_wxyz", "velocity", "angular_velocity", "force", "supplied_work", "elastic", "elastic_velocity")


def one_by_one(
    robots: Sequence[Robot], motion: Motion | ActuatorMotion | None, starts: Sequence[State | None], numbers: Mapping[str, Array],
    times: Mapping[str, Any], given: Mapping[str, object],
) -> xr.Dataset:  # fmt: skip
    """The result of `simulate_study`.

    Args:
        robots, starts: one per trajectory; a start may be None.
        numbers: (n,) of robot or controller by name, one per trajectory.
        times: duration, step and output_step.
        given: other arguments of `make_setup`.

    Checked by: tests/simulation/test_study.py.
    """
    import xarray as xr

    found: list[Any] = []
    reasons: list[str] = []
    failed: FlexapodError | None = None
    for k, (robot, start) in enumerate(zip(robots, starts, strict=True)):
        own = {name: float(column[k]) for name, column in numbers.items()}
        try:
            found.append(_trajectory(robot, motion, start, own, times, given))
            reasons.append(str(found[-1].attrs.get("stopped", "")))
        except FlexapodError as error:
            failed = error
            found.append(None)
            reasons.append(str(error))
    whole = [f for f in found if f is not None]
    if failed is not None and not whole:
        raise failed
    longest = max(whole, key=lambda f: f.sizes["time"])
    rows = [longest.where(False) if f is None else f.reindex(time=longest.time, method="ffill") for f in found]
    result = xr.concat([row.drop_attrs() for row in rows], dim="trajectory")
    named: xr.Dataset = result.assign(reason=("trajectory", np.array(reasons))).assign_attrs(robot=robots[0].name)
    return named


def _trajectory(
    robot: Robot,
    motion: Motion | ActuatorMotion | None,
    start: State | None,
    own: dict[str, float],
    times: Mapping[str, Any],
    given: Mapping[str, Any],
) -> xr.Dataset:
    """One run, with the variables of a study."""
    body = {name: value for name, value in own.items() if not name.startswith("controller.")}
    varied = with_values(robot, body) if body else robot
    setup = make_setup(varied, motion, start=start, step=times["step"], **given)
    setup = replace(setup, values={**setup.values, **own})
    done = simulate_blocks(setup, make_clock(setup, **times), (), False, None)
    result = finished(setup, done, (), {"step": times["step"]}, False, given["wrench"])
    rotated = (("time", "component"), rotation_quaternion(result.rotation.values), {"units": ""})
    result = result.assign(quat_wxyz=rotated).assign_coords(component=list("wxyz"))
    return result[[name for name in SHOWN if name in result]]
