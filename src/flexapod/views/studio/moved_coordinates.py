"""The coordinates by which a robot is moved in the studio: components of the platform's pose, or its actuators.

A pose is written x, y, z [m, world] and a rotation vector rx, ry, rz [deg, world axes, from home]. A robot of limited mobility is
moved by its independent components; where there are none (a five-bar's tip turns as it goes), by its actuators.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.plots.time_figures import actuator_limits

AXES = ("x", "y", "z", "rx", "ry", "rz")
FREE = 1e-9
"""A component is free of constraints where its column of the row-normalised constraint Jacobian is below this (rounding)."""
TRIED = 1e-3
"""Size of the trial moves, of the characteristic length or in radians."""
LOOKED = 60
"""Steps from home to each side in which the reach along a coordinate is looked for."""
BEYOND = 1.15
"""Sliders go this much further than the reach: what is out of reach can be seen."""


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """One slider: name, unit, range and value at home."""

    name: str
    unit: str
    low: float
    high: float
    home: float

    @property
    def step(self) -> float:
        """Step of the slider: about a thousandth of its range, a round number."""
        return float(10.0 ** np.floor(np.log10((self.high - self.low) / 500.0)))


@dataclass(frozen=True, kw_only=True)
class PoseCoordinates:
    """Coordinates that move the robot: their kind, and each of them."""

    kind: Literal["pose", "actuator"]
    items: tuple[Coordinate, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(item.name for item in self.items)

    @property
    def home(self) -> tuple[float, ...]:
        """Values at home."""
        return tuple(item.home for item in self.items)


def coordinates_of(robot: fp.Robot) -> PoseCoordinates:
    """The coordinates of a robot with their ranges.

    Checked by: tests/studio/test_studio_model.py.
    """
    names = pose_components(robot)
    if names:
        return PoseCoordinates(kind="pose", items=tuple(_pose_item(robot, name) for name in names))
    home = fp.inverse_kinematics(robot, fp.State.at_home(robot), joints=False).actuator_position.values
    items = []
    for name, unit, stroke, q in zip(robot.actuators, robot.actuator_units, strokes(robot), home, strict=True):
        low, high = stroke if np.all(np.isfinite(stroke)) else (q - 0.5, q + 0.5)
        factor = np.degrees(1.0) if unit == "rad" else 1.0
        items.append(
            Coordinate(
                name=name, unit="deg" if unit == "rad" else unit, low=low * factor, high=high * factor, home=float(q * factor)
            )
        )
    return PoseCoordinates(kind="actuator", items=tuple(items))


def strokes(robot: fp.Robot) -> list[tuple[float, float]]:
    """Stroke of each actuator [m or rad]; infinite where the file has none."""
    return list(zip(*actuator_limits(robot, "stroke"), strict=True))


def pose_components(robot: fp.Robot) -> tuple[str, ...]:
    """Independent components of the pose, as many as its mobility; empty where there are none."""
    count = robot.mobility.platform
    if count >= 6:
        return AXES
    found = fp.jacobian(robot, fp.State.at_home(robot))
    if "constraint_jacobian" not in found:
        return ()
    G = found.constraint_jacobian.values * np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    G = G / np.linalg.norm(G, axis=1, keepdims=True)
    free = [name for k, name in enumerate(AXES) if np.abs(G[:, k]).max() < FREE]
    for names in itertools.combinations(free, count):
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=count)))
        sizes = np.array([TRIED * robot.characteristic_length if name in "xyz" else np.degrees(TRIED) for name in names])
        values = signs * sizes + np.array([_home_value(robot, name) for name in names])
        tried = pose_state(robot, names, values)
        if bool(fp.inverse_kinematics(robot, tried, joints=False, on_error="mask").valid.all()):
            return names
    return ()


def pose_state(robot: fp.Robot, names: tuple[str, ...], values: ArrayLike) -> fp.State:
    """The pose, or poses, that values (.., coordinates) of pose components mean."""
    given = np.asarray(values, dtype=np.float64)
    full = np.zeros((*given.shape[:-1], 6))
    full[..., :3] = robot.home.position
    for k, name in enumerate(names):
        full[..., AXES.index(name)] = given[..., k]
    relative = fp.motions.rotvec_rotation(np.radians(full[..., 3:]))
    return fp.State(position=full[..., :3], rotation=relative @ robot.home.rotation)


def pose_values(robot: fp.Robot, names: tuple[str, ...], position: Array, rotation: Array) -> tuple[float, ...]:
    """The values of pose components at a pose; components that are not among them are left out."""
    relative = np.degrees(fp.motions.rotation_rotvec(rotation @ robot.home.rotation.T))
    full = np.concatenate([position, relative])
    return tuple(float(full[AXES.index(name)]) for name in names)


def state_of(robot: fp.Robot, coordinates: PoseCoordinates, values: ArrayLike, guess: fp.State | None = None) -> fp.State:
    """The robot's state, at rest, at values of its coordinates."""
    if coordinates.kind == "pose":
        return pose_state(robot, coordinates.names, values)
    factor = np.array([np.radians(1.0) if item.unit == "deg" else 1.0 for item in coordinates.items])
    return state_near(robot, np.asarray(values) * factor, guess)


def _home_value(robot: fp.Robot, name: str) -> float:
    return float(robot.home.position["xyz".index(name)]) if name in "xyz" else 0.0


def _pose_item(robot: fp.Robot, name: str) -> Coordinate:
    """A pose component with the range that the robot reaches along it from home, and a little more."""
    linear = name in "xyz"
    home, most = _home_value(robot, name), 2.0 * robot.size if linear else 90.0
    offsets = np.linspace(-1.0, 1.0, 2 * LOOKED + 1) * most
    grid = {name: home + offsets if linear else np.radians(offsets)}
    try:
        valid = fp.workspace(robot, grid=grid, progress=False).valid.values
    except fp.InputError:  # a base that floats: no limit is known, and the legs follow
        poses = pose_state(robot, (name,), (home + offsets)[:, None])
        valid = fp.inverse_kinematics(robot, poses, joints=False, on_error="mask").valid.values
    sides = []
    for side in (valid[LOOKED - 1 :: -1], valid[LOOKED + 1 :]):
        reached = LOOKED if side.all() else int(np.argmin(side))
        sides.append(max(reached, 1) * most / LOOKED)
    room = [max(side, 0.2 * max(sides)) * BEYOND for side in sides]
    digits = 10.0 ** np.floor(np.log10(min(room)) - 1)
    low, high = home - np.ceil(room[0] / digits) * digits, home + np.ceil(room[1] / digits) * digits
    return Coordinate(name=name, unit="m" if linear else "deg", low=float(low), high=float(high), home=home)


def state_near(robot: fp.Robot, q: ArrayLike, guess: fp.State | None) -> fp.State:
    """The state of actuator coordinates, near a guess; robots that their actuators determine are closed from home."""
    return fp.State.from_actuators(robot, q, guess=guess if robot.moved_by == "platform" else None)


def undeformed(state: fp.State) -> fp.State:
    """The poses of a state, for verbs about the undeformed robot or that find its deflection."""
    return fp.State(position=state.position, rotation=state.rotation)
