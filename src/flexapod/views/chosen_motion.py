"""A motion from the user's input: a named one placed at the robot's home, a file, or a small default motion."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.errors import did_you_mean
from flexapod.views.motion_options import options_in_si

FILES = (".csv", ".parquet", ".pq", ".mat")
PLACES = ("start", "center")
"""Options that place a named motion; where none is given, it is placed at the robot's home."""

CENTRED, STARTED = ("circle", "harmonic"), ("cosine-", "rotation-", "line", "constant-acceleration")
"""Named motions that are centred at home, and that start there, unless their place is given."""

FRACTIONS, WAY = (1.0, 0.25, 0.0625, 0.015625), 9
"""Shares of the default motion of actuators that are tried, and positions on its way that are looked at."""

SMALL = 0.05
"""Amplitude of the default motion, of the robot's characteristic length; radians for actuators that turn."""


def chosen_motion(robot: fp.Robot, name: str | None, options: Mapping[str, object], slowed: float = 1.0) -> fp.Motion:
    """The motion that a user asked for, as one of the platform; see `followed_motion`."""
    return platform_of(robot, followed_motion(robot, name, options, slowed))


def followed_motion(
    robot: fp.Robot, name: str | None, options: Mapping[str, object], slowed: float = 1.0
) -> fp.Motion | fp.ActuatorMotion:
    """The motion that a user asked for: of the platform, or of the actuators where legs are flexible and it is given so.

    Deformation decides where a platform on flexible legs goes; its actuators follow exactly.

    Args:
        name: named motion or file; None for `small_motion`.
        options: of the motion. Where neither `start` nor `center` is among them, the motion is placed at home, see `place_text`.
        slowed: factor on the time.
    """
    if not (np.isfinite(slowed) and slowed > 0.0):
        raise fp.InputError(f"--slowed {slowed:g}: expected a finite number above 0")
    if name is None:
        if options:
            raise fp.InputError("--option: belongs to a motion; give --motion as well")
        motion: Any = small_actuator_motion(robot) if robot.moved_by == "actuators" else small_motion(robot)
    elif Path(name).suffix.lower() in FILES:
        if not Path(name).is_file():
            raise fp.InputError(
                f"there is no motion file {name}; give a .csv, .parquet or .mat file, or a name of `flexapod motions`"
            )
        _check_options(name, options)
        motion = fp.motions.motion_from_file(name, **options_in_si(name, options))
    else:
        motion = _named(robot, name, options_in_si(name, options))
    if robot.moved_by == "platform":
        motion = platform_of(robot, motion)
    followed: fp.Motion | fp.ActuatorMotion = motion if slowed == 1.0 else fp.motions.slowed(motion, slowed)
    return followed


def platform_of(robot: fp.Robot, motion: fp.Motion | fp.ActuatorMotion) -> fp.Motion:
    """The platform's motion; legs count as straight where the actuators' motion is given."""
    return motion if isinstance(motion, fp.Motion) else fp.platform_motion(robot, motion)


def _check_options(name: str, options: Mapping[str, object]) -> None:
    """Refuse options that a motion file does not take."""
    known = list(signature(fp.motions.motion_from_file).parameters)[1:]  # without the path
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known, f"a motion file takes {', '.join(known)}")
            raise fp.InputError(f"{name}: there is no option {option!r}; {hint}")


def _named(robot: fp.Robot, name: str, options: dict[str, object]) -> fp.Motion | fp.ActuatorMotion:
    if "name" in options:  # that of the motion itself, not an option of it
        raise fp.InputError(f"{name}: there is no option 'name'; --motion names the motion")
    if name == "line" and "end" in options and "start" not in options:
        options["start"] = tuple(robot.home.position)
    motion = fp.motions.named_motion(name, **options)
    if isinstance(motion, fp.ActuatorMotion) or not name.startswith(CENTRED + STARTED) or any(key in options for key in PLACES):
        return motion
    return at_home(robot, motion)


def place_text(name: str) -> str:
    """Place of a named motion if none is given, in words; empty where its numbers are absolute."""
    if name.startswith(CENTRED):
        return "Unless center is given, the command line centres it at the robot's home, in world axes."
    if name.startswith(STARTED):
        return "Unless start is given, the command line starts it at the robot's home, in world axes."
    return ""


def at_home(robot: fp.Robot, motion: fp.Motion) -> fp.Motion:
    """A motion around the origin, moved to the robot's home: p + p_home, R R_home."""
    if np.array_equal(robot.home.rotation, np.eye(3)):
        return fp.motions.offset(motion, translation=robot.home.position)
    names = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(
        time=motion.time, position=motion.position + robot.home.position, rotation=motion.rotation @ robot.home.rotation,
        **{name: getattr(motion, name) for name in names},
    )  # fmt: skip


def small_motion(robot: fp.Robot, samples: int = 301) -> fp.Motion:
    """A cosine from home, there and back in 3 s, in the first of z, x, y that the robot can follow, else of its actuators."""
    if robot.moved_by == "actuators":
        return fp.platform_motion(robot, small_actuator_motion(robot, samples))
    size = SMALL * robot.characteristic_length
    for axis in "zxy":
        motion = small_cosine(robot, axis, size, samples)
        if can_follow(robot, motion):
            return motion
    return fp.platform_motion(robot, small_actuator_motion(robot, samples))


def small_cosine(robot: fp.Robot, axis: str, size: float, samples: int = 301) -> fp.Motion:
    """A cosine along a world axis from home, by twice the size [m] and back in 3 s."""
    return at_home(robot, _cosine(axis, size, samples))


def can_follow(robot: fp.Robot, motion: fp.Motion) -> bool:
    """The legs reach the platform at every moment."""
    return bool(fp.inverse_kinematics(robot, motion, joints=False, on_error="mask").valid.all())


def small_actuator_motion(robot: fp.Robot, samples: int = 301) -> fp.ActuatorMotion:
    """A cosine of all actuators from home, there and back in 3 s; smaller where the loops do not allow that much."""
    size = SMALL * robot.characteristic_length
    if robot.moved_by == "actuators":
        home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    else:
        at = fp.State.at_home(robot)
        home = fp.inverse_kinematics(robot, at, joints=False).actuator_position.values
    t, omega = np.linspace(0.0, 3.0, samples)[:, None], 2.0 * np.pi / 3.0
    change = np.where(np.array(robot.actuator_units) == "m", size, SMALL)
    change = change * _followed_share(robot, home, change)
    return fp.ActuatorMotion(
        time=t[:, 0],
        position=home + change * (1.0 - np.cos(omega * t)),
        velocity=change * omega * np.sin(omega * t),
        acceleration=change * omega**2 * np.cos(omega * t),
    )


def _followed_share(robot: fp.Robot, home: np.ndarray, change: np.ndarray) -> float:
    """The largest of `FRACTIONS` of a change (actuators,) that rigid loops can make twice, all together; 1 where none is."""
    if robot.moved_by == "platform" or robot.elastic_names:
        return 1.0
    for share in FRACTIONS:
        try:
            way = home + share * change * np.linspace(0.0, 2.0, WAY)[1:, None]
            if bool(fp.forward_kinematics(robot, way, on_error="mask").valid.all()):
                return share
        except fp.FlexapodError:  # under-actuated: its verbs report that
            break
    return 1.0


def _cosine(axis: str, size: float, samples: int) -> fp.Motion:
    motion = fp.motions.named_motion(f"cosine-{axis}", amplitude=size, samples=samples)
    assert isinstance(motion, fp.Motion)
    return motion
