"""Laws of every robot: rates and accelerations are the derivatives of the positions, at the order of the difference formula.

1000 random smooth motions p(t) = p + v t + a t^2/2, R(t) = exp(w t + alpha t^2/2) R; central differences of coordinates
that were found at neighbouring times. Halving the step divides the error by 4 (second order) or 16 (fourth order).
Robots of limited mobility are moved in all six directions here: rows that are left over have derivatives too.
"""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.geometry import rotation_from_vector
from support.robots import FILES, drawn_motion, home, robot_named, run

MOTIONS = 1000
SECOND = {-1: -0.5, 1: 0.5}
FOURTH = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}


def later(motion: dict[str, np.ndarray], t: float) -> dict[str, np.ndarray]:
    """The motion at time t; its velocities are those of p(t) and of the rotation only at t = 0."""
    rotation = motion["angular_velocity"] * t + motion["angular_acceleration"] * (t * t / 2)
    return {
        **motion,
        "position": motion["position"] + motion["velocity"] * t + motion["acceleration"] * (t * t / 2),
        "rotation": np.array([rotation_from_vector(v) for v in rotation]) @ motion["rotation"],
    }


@pytest.mark.parametrize("name", FILES)
def test_rates_and_accelerations_are_derivatives(name: str) -> None:
    robot = robot_named(name)
    bound = fp.kernel(robot, "inverse_kinematics", detail="joints")
    motion = drawn_motion(robot, MOTIONS, seed=3)
    exact, status = run(bound, motion)
    fast = np.abs(exact["joint_acceleration"]).max(axis=1)
    keep = (status == 0) & (fast < 10 * np.nanmedian(fast))  # not beside a singularity, where series converge slowly
    assert keep.mean() > 0.9
    # half a percent of the time in which the fastest joint turns one radian or travels the robot's size
    step = 0.01 / (1.0 + np.abs(exact["joint_velocity"][keep]).max())
    pairs = [("joint_position", "joint_velocity", "joint_acceleration")]
    if "constraint" in exact:
        pairs.append(("constraint", "constraint_rate", "constraint_acceleration"))
    motion = {key: values[keep] for key, values in motion.items()}
    motion["guess"] = exact["joint_position"][keep]
    assert motion["guess"].shape[1] == len(home(robot))
    found = {}
    for k in (-4, -2, -1, 0, 1, 2, 4):
        found[k], status = run(bound, later(motion, k * step / 2))
        assert np.all(status == 0)
    for positions, rates, accelerations in pairs:
        x = {k: values[positions] for k, values in found.items()}
        for formula, order in ((SECOND, 4.0), (FOURTH, 16.0)):
            errors = []
            for fine in (False, True):
                h, m = (step / 2, 1) if fine else (step, 2)
                rate = sum(c * x[k * m] for k, c in formula.items()) / h
                errors.append(np.abs(rate - exact[rates][keep]).max())
            agree(errors, order, 1e-15 / step * max(1.0, np.abs(x[0]).max()), f"{rates}, order {order}")
        errors = []
        for h, m in ((step, 2), (step / 2, 1)):
            second = (x[m] - 2 * x[0] + x[-m]) / h**2
            errors.append(np.abs(second - exact[accelerations][keep]).max())
        agree(errors, 4.0, 4e-15 / step**2 * max(1.0, np.abs(x[0]).max()), accelerations)


def agree(errors: list[float], order: float, rounding: float, what: str) -> None:
    """The error is small and falls at the expected rate, unless it is rounding."""
    if errors[1] < 20 * rounding:
        return
    ratio = errors[0] / errors[1]
    assert 0.7 * order < ratio < 1.4 * order, f"{what}: {errors}, ratio {ratio}"
