r"""`time_optimal`: the fastest timing of a path under limits of actuator force, speed, power and jerk.

With x = sd^2 and u = sdd constant within an interval, x is linear in s, and force limits are linear in (x, u) at every s.
They are asked at both ends of each interval (Hauser's interpolation), which leaves errors of second order between them; a
uniform slowing by the worst remaining ratio on a ten times finer grid removes those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import check_motion, checked
from flexapod.analysis.timing.path_terms import FINER, PathDynamics, path_at
from flexapod.analysis.timing.timing_jerk import Averaged, with_jerk
from flexapod.analysis.timing.timing_limits import TimingLimits, timing_limits
from flexapod.analysis.timing.timing_passes import Timing, exact_forces, fastest
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.calls import check_count
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion, with_formula

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class TimeOptimal:
    """The fastest timing of a path.

    Args:
        motion: the platform's motion, at the ends of the intervals; its formula gives every other time.
        duration: [s].
        table: Dataset over `node`: `path` (the path's own time), `time`, `speed`, `acceleration` of the path parameter, `force`
            and `rate` (node, actuator), `limit`: the limit that is active in the interval after the node.
    """

    motion: Motion
    duration: float
    table: xr.Dataset


@checked(path=check_motion, intervals=check_count)
def time_optimal(
    robot: Robot,
    path: Motion | ActuatorMotion,
    limits: Mapping[str, ArrayLike] | None = None,
    *,
    intervals: int = 500,
    friction: bool = True,
    wrench: ArrayLike | None = None,
) -> TimeOptimal:
    """The fastest motion along a path, from rest to rest.

    Args:
        path: a motion whose time is only the path's parameter: give it at constant speed. It must not stop or have corners.
        limits: mapping of `force` [N or N m], `speed` [m/s or rad/s], `power` [W], `jerk` [m/s^3 or rad/s^3] of the actuators:
            one number for all, or one each. What is left out is taken from the robot's file (jerk: none). Speeds alone bound
            no acceleration: the path is then left and reached within one interval.
        intervals: of constant acceleration of the path parameter.
        friction: of the file, at both ends that of the motion beside them; False leaves it out.
        wrench: constant load (6,) on the platform, world axes.
    Returns:
        `TimeOptimal`: the motion, its duration [s], and a table with the limit that is active in every interval.
    Raises:
        InputError: no limit bounds the motion, the static forces are beyond their limits, or the path stops.

    Checked by: tests/analysis/test_time_optimal.py.
    """
    if intervals < 4:
        raise InputError(f"intervals: expected a whole number of at least 4, got {intervals!r}")
    refuse(robot, "time_optimal", friction=friction, wrench=wrench)
    bounds = timing_limits(robot, limits)
    way = as_platform(robot, path)
    assert isinstance(way, Motion)
    dynamics = PathDynamics(robot, way, friction, wrench)
    s = np.linspace(way.time[0], way.time[-1], FINER * int(intervals) + 1)
    timing = fastest(dynamics, dynamics.terms(s), bounds)
    if np.isfinite(bounds.jerk).any():
        smooth = with_jerk(dynamics, timing, bounds)
        formula = partial(_smooth, way=way, timing=smooth)
        motion = with_formula(formula(np.linspace(0.0, smooth.duration, int(intervals) + 1)), formula)
        return TimeOptimal(motion=motion, duration=smooth.duration, table=_smooth_table(robot, dynamics, smooth, motion))
    formula = partial(_at, way=way, timing=timing)
    motion = with_formula(formula(timing.time), formula)
    return TimeOptimal(motion=motion, duration=float(timing.time[-1]), table=_table(robot, dynamics, timing, bounds))


def _at(t: Array, *, way: Motion, timing: Timing) -> Motion:
    """The path at times t: within an interval the parameter is a parabola."""
    i = np.clip(np.searchsorted(timing.time, t, side="right") - 1, 0, len(timing.u) - 1)
    since = np.clip(t - timing.time[i], 0.0, timing.time[i + 1] - timing.time[i])
    u, speed = timing.u[i], np.sqrt(timing.x[i])
    s = np.clip(timing.s[i] + since * (speed + since * u / 2), timing.s[0], timing.s[-1])
    return _moving(way, t, s, np.maximum(speed + u * since, 0.0), u)


def _smooth(t: Array, *, way: Motion, timing: Averaged) -> Motion:
    s, sd, sdd, _ = timing(t)
    return _moving(way, t, s, sd, sdd)


def _moving(way: Motion, t: Array, s: Array, sd: Array, sdd: Array) -> Motion:
    at, r, rr = path_at(way, s), sd[:, None], sdd[:, None]
    return Motion(
        time=t, position=at.position, rotation=at.rotation, velocity=at.velocity * r, angular_velocity=at.angular_velocity * r,
        acceleration=at.acceleration * r**2 + at.velocity * rr,
        angular_acceleration=at.angular_acceleration * r**2 + at.angular_velocity * rr,
    )  # fmt: skip


def _table(robot: Robot, dynamics: PathDynamics, timing: Timing, bounds: TimingLimits) -> xr.Dataset:
    u = np.append(timing.u, timing.u[-1])
    rows = FINER * np.arange(len(timing.x))
    if timing.terms.loaded:
        force = exact_forces(dynamics, dynamics.poses(timing.s), np.arange(len(u)), timing.x, u)
    else:
        force = timing.terms.force(rows, timing.x, u)
    speed = np.sqrt(timing.x)
    rate = timing.terms.dq[rows] * speed[:, None]
    notes = {"slowing": timing.slowing, "passes": timing.passes}
    return _dataset(
        robot, notes, s=timing.s, time=timing.time, sd=speed, sdd=u, force=force, rate=rate, limit=bounds.named(timing, robot)
    )  # fmt: skip


def _smooth_table(robot: Robot, dynamics: PathDynamics, timing: Averaged, motion: Motion) -> xr.Dataset:
    s, sd, sdd, _ = timing(motion.time)
    count = len(s)
    force = dynamics.forces(motion, np.ones(count), np.zeros(count), dynamics.friction)
    rate = inverse_kinematics(robot, motion, joints=False)["actuator_velocity"].values
    notes = {"slowing": timing.rate, "window": timing.window}
    return _dataset(robot, notes, s=s, time=motion.time, sd=sd, sdd=sdd, force=force, rate=rate, limit=[""] * count)


def _dataset(
    robot: Robot, notes: Mapping[str, object], *, s: Array, time: Array, sd: Array, sdd: Array, force: Array, rate: Array,
    limit: list[str],
) -> xr.Dataset:  # fmt: skip
    """The table over the nodes of a timing."""
    import xarray as xr

    unit = "N" if set(robot.actuator_units) == {"m"} else "N m" if set(robot.actuator_units) == {"rad"} else "N or N m"
    data = {
        "path": ("node", s, {"units": "s"}),
        "time": ("node", time, {"units": "s"}),
        "speed": ("node", sd, {"units": "1"}),
        "acceleration": ("node", sdd, {"units": "1/s"}),
        "force": (("node", "actuator"), force, {"units": unit}),
        "rate": (("node", "actuator"), rate, {"units": "m/s or rad/s"}),
        "limit": ("node", limit, {"units": ""}),
    }
    notes = {"robot": robot.name, "duration": float(time[-1]), **notes}
    return xr.Dataset(data, coords={"actuator": list(robot.actuators)}, attrs=notes)
