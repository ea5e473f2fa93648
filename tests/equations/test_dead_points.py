"""A leg at its turning point is named as such, one step further as one that cannot reach, on every kind of leg."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp

STEPS = 1e-15
"""A few roundings of a pose, times the characteristic length: on paper this is the turning point itself."""

BEYOND = 1e-9
"""Beyond reach, times the characteristic length; a thousand times the band in which a general leg counts as closed."""

DIRECTIONS = {"hexapod": (0.3, 1.0, -0.2), "hexa": (0.5, -1.0, 0.3), "delta": (0.2, 0.9, -0.1)}


def reasons(robot: fp.Robot, direction: np.ndarray, distances: list[float]) -> list[str]:
    position = robot.home.position + np.outer(distances, direction)
    poses = fp.State(position=position, rotation=np.tile(robot.home.rotation, (len(position), 1, 1)))
    return [str(text) for text in fp.inverse_kinematics(robot, poses, on_error="mask").reason.values]


def last_reachable(robot: fp.Robot, direction: np.ndarray) -> float:
    """Distance from home to the end of reach, to the last bit, by sections of 64 points."""
    low, high = 0.0, 10.0 * robot.characteristic_length
    while len(steps := np.unique(np.linspace(low, high, 65))) > 2:
        first = next((k for k, text in enumerate(reasons(robot, direction, list(steps))) if text), 0)
        if first == 0:  # within rounding of the end, samples of another batch fail
            return high
        low, high = float(steps[first - 1]), float(steps[first])
    return low


@pytest.mark.parametrize("name", DIRECTIONS)
def test_turning_points_are_named(name: str) -> None:
    """Legs solved by Newton's method may also be past the turning point by rounding, on their other branch."""
    robot = fp.load(name)
    along = np.array(DIRECTIONS[name]) / np.linalg.norm(DIRECTIONS[name])
    end, size = last_reachable(robot, along), robot.characteristic_length
    near = reasons(robot, along, [end + k * STEPS * size for k in range(-3, 4)])
    assert any(near)
    assert any("turning point" in text for text in near), near
    allowed = ("turning point",) if name != "delta" else ("turning point", "leave the branch")
    assert all(text == "" or any(words in text for words in allowed) for text in near), near
    far = reasons(robot, along, [end + BEYOND * size, end + 1e-3 * size])
    assert all("cannot reach" in text for text in far), far
