"""Static equilibrium of flexible legs at a held pose where locked actuators would not hold: found, or the true reason."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp

BALANCE = 1e-6
"""Force left over [N], of a weight of some 2000 N."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("gough-stewart-flexible-legs")


@pytest.mark.full
def test_pose_held(robot: fp.Robot) -> None:
    """The plate of `gough-stewart-flexible` on flexible rods: in balance at home, not stable, forces near those of rigid legs."""
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    with pytest.warns(fp.ValidityWarning, match="is unstable"):
        found = fp.static_deflection(robot, home)
    stiff = fp.static_deflection(fp.load("gough-stewart-flexible"), home)
    assert float(found.residual.max()) < BALANCE
    assert not bool(found.stable)
    assert np.abs(found.force.values - stiff.force.values).max() < 0.02 * np.abs(stiff.force.values).max()


@pytest.mark.full
def test_actuators_held(robot: fp.Robot) -> None:
    """The reason is the buckling of the plate, not a loop."""
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)][None]
    with pytest.raises(fp.FlexapodError, match="beyond a buckling load of the undeformed robot"):
        fp.static_deflection(robot, fp.ActuatorMotion(time=[0.0], position=q, velocity=0 * q, acceleration=0 * q))
