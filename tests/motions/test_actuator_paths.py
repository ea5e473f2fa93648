"""Polygons and squares in actuator coordinates."""

import numpy as np
import pytest
from motion_checks import check_motion

from flexapod.errors import InputError
from flexapod.motions import ActuatorMotion, actuator_polygon, joint_square, resample

CORNERS = np.array([(0, 0.1, 0.2), (0.3, 0.1, -0.1), (0.2, 0.5, 0.0)])
ROUNDING = 1e-15
"""Corners [m]: one rounding of sums of lengths below a metre."""
AT_REST = 1e-13
"""[m/s]: roundings of a law whose speed is zero at its ends."""
SAMPLED = 1e-3
"""Of the peak speed: 601 samples over four edges need not meet the middle of an edge."""


def test_polygon_derivatives_and_corners() -> None:
    motion = actuator_polygon(corners=CORNERS, durations=(1.0, 0.5), rests=0.25)
    assert isinstance(motion, ActuatorMotion)
    check_motion(motion, np.concatenate([np.linspace(0.05, 0.95, 11), np.linspace(1.3, 1.7, 11)]), 1e-3)
    at = resample(motion, time=[0.0, 1.0, 1.25, 1.75, 2.0])
    np.testing.assert_allclose(at.position, CORNERS[[0, 1, 1, 2, 2]], rtol=0, atol=ROUNDING)
    assert np.abs(at.velocity).max() < AT_REST


def test_one_actuator_moves_on_each_edge() -> None:
    motion = joint_square(side=-0.3, corner=(0.1, 0.2), duration=1.0, rests=0.5, samples=601)
    edge = np.minimum((motion.time / 1.5).astype(int), 3)
    for i, still in enumerate((1, 0, 1, 0)):
        assert not motion.velocity[edge == i, still].any()
        assert np.abs(motion.velocity[edge == i, 1 - still]).max() == pytest.approx(0.3 * 15 / 8, rel=SAMPLED)
    np.testing.assert_allclose(motion.position[-1], (0.1, 0.2), rtol=0, atol=ROUNDING)
    assert np.ptp(motion.position, axis=0) == pytest.approx([0.3, 0.3])


def test_errors() -> None:
    with pytest.raises(InputError, match=r"^corners: expected shape \(corners, actuators\) with at least 2 corners, got \(3,\)$"):
        actuator_polygon(corners=[0.0, 1.0, 2.0], durations=1.0)
    with pytest.raises(InputError, match=r"^corner: expected shape \(2,\), got \(3,\)$"):
        joint_square(side=0.1, corner=(0, 0, 0))
