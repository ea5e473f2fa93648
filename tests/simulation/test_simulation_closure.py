"""Nothing drifts: constraints, rotation and actuator coordinates after long and coarse runs."""

import numpy as np
import pytest
from pd_simulations import at_home, robot_named, springs_near_home

import flexapod as fp
from flexapod.motions import harmonic_motion

ORTHOGONAL = 1e-13
"""Entries up to 1: quaternions are normalised in each step."""
CLOSED = 1e-11
"""[m, rad] Residual of constraint rows: rounding of a few lengths."""
PERIODIC = 1e-9
"""[m] Whole periods apart: the same pose again."""


@pytest.mark.parametrize("name", ["delta", "five-bar"])
def test_constraints_hold_after_coarse_steps(name: str) -> None:
    """Steps so coarse that the integrator errs by far more than the rows may."""
    robot = robot_named(name)
    fine = fp.simulate(robot, at_home(robot), controller=springs_near_home(robot), duration=0.5, step=1e-3, output_step=0.02)
    result = fp.simulate(robot, at_home(robot), controller=springs_near_home(robot), duration=0.5, step=1e-2, output_step=0.02)
    assert float(np.max(np.abs(result.position - fine.position))) > 1e3 * CLOSED
    bound = fp.kernel(robot, "inverse_kinematics", detail="actuators")
    given = {k: result[k].values for k in ("position", "rotation", "velocity", "angular_velocity")}
    given |= {k: np.zeros_like(given["velocity"]) for k in ("acceleration", "angular_acceleration")}
    given["guess"] = result.joint_position.values
    found = bound.batch({i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs})
    assert not np.any(found.status)
    assert np.max(np.abs(found.outputs["constraint"])) < CLOSED
    assert np.max(np.abs(found.outputs["constraint_rate"])) < 10 * CLOSED


def test_an_hour_of_controlled_motion_stays_closed() -> None:
    """3600 s at a step of 10 ms: rotation orthogonal; lengths integrated from their rates return at the measured order."""
    robot = robot_named("bench-6ups")
    period = 2.0
    size = [0.1, 0.05, 0.1, 0.1, -0.1, 0.15]
    motion = harmonic_motion(center=[*robot.home.position, 0, 0, 0], amplitude=size, omega=2 * np.pi / period, duration=period)
    soft = fp.PD(kp=2e4, kd=2e3)
    gaps = []
    for duration, step in ((3600.0, 1e-2), (360.0, 1e-2), (360.0, 5e-3)):
        result = fp.simulate(robot, motion, controller=soft, duration=duration, step=step, output_step=10.0, watch=())
        assert result.time.values[-1] == duration
        R = result.rotation.values
        assert np.max(np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3))) < ORTHOGONAL
        gaps.append(float(np.max(np.abs(result.actuator_travel - result.actuator_position))))
        late = result.isel(time=slice(len(result.time) // 2, None))
        assert float(np.ptp(late.position.values, axis=0).max()) < PERIODIC
    assert gaps[0] < 15 * gaps[1]  # ten times the time: the error of a quadrature grows with it, nothing faster
    assert np.log2(gaps[1] / gaps[2]) > 3.5, gaps  # order 4, and more where errors of a period cancel
