"""Derivatives of inverse dynamics agree with differences of the forces, at the expected order."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.sampling import random_states
from flexapod.robot.geometry import rotation_from_vector

ROBOTS = ["stewart-3-3", "hexaslide", "hexa"]
COUNT = 5
DIFFERENCES = 1e-7
"""Richardson's extrapolation of central differences with steps 1e-3 and 5e-4: truncation 1e-12, rounding 1e-13 / 1e-3."""


def _force(robot: fp.Robot, states: dict[str, np.ndarray], name: str, step: np.ndarray) -> np.ndarray:
    moved = dict(states)
    if name == "rotation":
        moved[name] = np.array([rotation_from_vector(step) @ R for R in states[name]])
    else:
        moved[name] = states[name] + step
    motion = fp.Motion(time=np.arange(float(COUNT)), **moved)
    return fp.inverse_dynamics(robot, motion, friction=False, formulation="virtual_power").force.values


@pytest.mark.parametrize("name", ROBOTS)
def test_by_the_motion(name: str) -> None:
    robot = fp.load(name)
    states = random_states(robot, COUNT, seed=4)
    found = fp.inverse_dynamics_derivatives(robot, fp.Motion(time=np.arange(float(COUNT)), **states))
    for key in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        exact = found[f"tau_D_{key}"].values
        unit = robot.characteristic_length if key in ("position", "velocity", "acceleration") else 1.0

        def slope(h: float, k: int, key: str = key) -> np.ndarray:
            e = np.eye(3)[k] * h
            return (_force(robot, states, key, e) - _force(robot, states, key, -e)) / (2 * h)

        for k in range(3):
            h = 1e-3 * unit
            expected = (4 * slope(h / 2, k) - slope(h, k)) / 3
            assert np.abs(exact[:, :, k] - expected).max() <= DIFFERENCES * max(np.abs(expected).max(), np.abs(exact).max())


@pytest.mark.parametrize("name", ["stewart-3-3", "delta"])
def test_by_parameters(name: str) -> None:
    robot = fp.load(name)
    motion = fp.Motion(time=np.arange(float(COUNT)), **random_states(robot, COUNT, seed=5))
    body = "cylinder" if name == "stewart-3-3" else "rod"
    paths = ["platform.mass", f"legs.{body}.mass", f"legs.{body}.com.z", "platform.inertia.zz"]
    exact = fp.inverse_dynamics_derivatives(robot, motion, parameters=paths).tau_D_parameter.values

    def force(path: str, value: float) -> np.ndarray:
        return fp.inverse_dynamics(robot.with_parameters({path: value}), motion, formulation="virtual_power").force.values

    for k, path in enumerate(paths):
        at = robot.parameter(path)
        h = 1e-3 * at
        # forces are polynomials of degree two in masses and centres of mass: central differences are exact to rounding
        expected = (force(path, at + h) - force(path, at - h)) / (2 * h)
        assert np.abs(exact[:, :, k] - expected).max() <= 1e-8 * max(np.abs(expected).max(), 1e-3)


def test_a_vector_is_refused_by_name() -> None:
    robot = fp.load("stewart-3-3")
    motion = fp.Motion(time=np.arange(2.0), **random_states(robot, 2, seed=1))
    with pytest.raises(fp.InputError, match=r"'platform.com' is a vector; name a component"):
        fp.inverse_dynamics_derivatives(robot, motion, parameters=["platform.com"])
