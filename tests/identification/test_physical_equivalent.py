"""Bodies that can exist in place of regrouped base parameters: the same forces, and what no bodies can do is refused."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.identification.identified_robot import identified_robot
from flexapod.identification.physical_consistency import is_physical

SAME = 1e-12
"""Of the largest force: sums of a few dozen products."""
MOVING = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def tens(body: Any) -> np.ndarray:
    i = np.asarray(body.inertia)
    return np.array([body.mass, *body.first_moment, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])


def test_gough_stewart_gets_bodies_that_exist_and_keeps_its_forces() -> None:
    robot = fp.load("gough-stewart")
    found = fp.physical_equivalent(robot)
    before, after = ([link.body for leg in r.legs for link in leg.links if link.body is not None] for r in (robot, found))
    assert not all(is_physical(tens(body)) for body in before)
    assert all(is_physical(tens(body)) for body in (*after, found.platform))
    states = random_states(robot, 20, seed=2)
    motion = fp.Motion(time=np.arange(20.0), **{name: states[name] for name in MOVING})
    first, second = (fp.inverse_dynamics(r, motion).force.values for r in (robot, found))
    assert np.abs(first - second).max() <= SAME * np.abs(first).max()
    assert abs(found.platform.mass - robot.platform.mass) > 1.0  # other bodies, not the same numbers


def test_bodies_that_exist_stay_as_they_are() -> None:
    robot = fp.load("five-bar")
    assert fp.physical_equivalent(robot) is robot


@pytest.mark.full
def test_what_no_bodies_can_do_is_refused() -> None:
    """zz of the platform beyond xx + yy: the loops' masses add to all three alike, so that nothing can make up for it."""
    robot = fp.load("gough-stewart")
    model = fp.base_parameters(robot, friction=False).model
    theta = np.array(model.values)
    theta[list(model.names).index("platform.inertia.zz")] += 5.0
    flat = identified_robot(robot, model.names, theta, "test")
    with pytest.raises(fp.NotPhysicalError, match="no physically possible bodies have the dynamics of gough-stewart"):
        fp.physical_equivalent(flat)
