"""Robots that deform and whose joints have friction by their loads: few coordinates, and more than one kernel takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import flexapod as fp

HINGE = "friction: {viscous: 0.1, reaction: 0.02, speed: 0.05}"
SLIDE = "stiffness: 2e5, damping: 20, inertia: 3, friction: {coulomb: 1, normal: 0.1, speed: 0.05}"
BALL = "friction: {reaction: 0.01, speed: 0.05}"
BEARING = "friction: {viscous: 0.02, reaction: 0.01, speed: 0.05}"
SMALL = (
    ("start: -9.5 deg}", f"start: -9.5 deg, {HINGE}}}"),
    ("on: [0.2, 0, 0]}", f"on: [0.2, 0, 0], {BALL}}}"),
    ("limits: {stroke: [0.45, 0.8]}}", f"limits: {{stroke: [0.45, 0.8]}}, {SLIDE}}}"),
)
LARGE = (
    ("limits: {stroke: [-60 deg, 100 deg]}}", f"limits: {{stroke: [-60 deg, 100 deg]}}, {BEARING}}}"),
    ("direction: [-0.29890625, 0, -0.95428248]}", f"direction: [-0.29890625, 0, -0.95428248], {BEARING}}}"),
    ("axis2: [0, 1, 0]}", f"axis2: [0, 1, 0], {BEARING}}}"),
)


def _changed(name: str, changes: tuple[tuple[str, str], ...], folder: Path) -> fp.Robot:
    text = fp.catalogue()[name].read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return fp.load(path)


def soft_tripod(folder: Path) -> fp.Robot:
    """The 3-RPS with elastic drives, 18 coordinates."""
    return _changed("3-rps", SMALL, folder)


def soft_delta(folder: Path) -> fp.Robot:
    """The Delta with flexible arms, 33 coordinates."""
    return _changed("delta-flexible", LARGE, folder)


def home(robot: fp.Robot) -> np.ndarray:
    """Actuators at home."""
    return np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]


def moving(robot: fp.Robot, velocity: list[float]) -> fp.State:
    """Home, in static deflection, with velocities of the actuators."""
    return fp.State.from_actuators(robot, home(robot), velocity=velocity)
