"""Motions and loads that no coordinate of a flexible robot takes part in are refused; those that deformation decides are said."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import flexapod as fp

PLANAR = {"planar-3-rrr-flexible": 2, "dualemps": 1}
"""Planar robots with flexible legs, and the axis across their plane."""

POSES = (
    "inverse_kinematics", "inverse_dynamics", "static_deflection", "natural_frequencies", "cartesian_stiffness", "linearize",
    "energy", "mass_matrix", "gravity_force", "coriolis_force", "jacobian", "conditioning", "singularities",
)  # fmt: skip
MOVING = ("inverse_kinematics", "inverse_dynamics", "linearize", "energy", "mass_matrix", "coriolis_force")


def state(robot: fp.Robot, move: object = (0, 0, 0), relative: object = (0, 0, 0), **rates: object) -> fp.State:
    rotation = Rotation.from_rotvec(relative).as_matrix() @ robot.home.rotation
    return fp.State(position=np.array(robot.home.position) + move, rotation=rotation, **rates)


def ask(verb: str, robot: fp.Robot, at: fp.State, **options: object) -> object:
    terms = ("mass_matrix", "gravity_force", "coriolis_force")
    more = {"coordinates": "independent"} if verb in terms else {}
    return getattr(fp, verb)(robot, at, **more, **options)


@pytest.mark.parametrize("verb", POSES)
@pytest.mark.parametrize("name", PLANAR)
def test_poses_out_of_the_plane_are_refused(name: str, verb: str) -> None:
    robot, normal = fp.load(name), PLANAR[name]
    with pytest.raises(fp.FlexapodError, match=f"cannot reach this pose: it cannot follow translation along {'xyz'[normal]}"):
        ask(verb, robot, state(robot, 5.0 * np.eye(3)[normal]))
    for angle in (0.5, np.pi):  # half a revolution has no sine
        with pytest.raises(
            fp.FlexapodError, match=r"cannot reach this pose: (it cannot follow rotation about x|joint .* reversed)"
        ):
            ask(verb, robot, state(robot, relative=(angle, 0, 0)))


@pytest.mark.parametrize("verb", MOVING)
@pytest.mark.parametrize("name", PLANAR)
def test_velocities_out_of_the_plane_are_refused(name: str, verb: str) -> None:
    robot, normal = fp.load(name), PLANAR[name]
    with pytest.raises(fp.FlexapodError, match=f"cannot have this velocity: it cannot follow translation along {'xyz'[normal]}"):
        ask(verb, robot, state(robot, velocity=1e3 * np.eye(3)[normal]))
    with pytest.raises(fp.FlexapodError, match="cannot have this velocity: it cannot follow rotation about x"):
        ask(verb, robot, state(robot, angular_velocity=[1.0, 0, 0]))


def test_accelerations_out_of_the_plane_are_refused() -> None:
    robot = fp.load("dualemps")
    none, two = np.zeros((2, 3)), np.ones((2, 1))
    motion = fp.Motion(
        time=[0.0, 1.0], position=two * robot.home.position, rotation=np.tile(robot.home.rotation, (2, 1, 1)), velocity=none,
        angular_velocity=none, acceleration=two * [0.0, 1.0, 0.0], angular_acceleration=none,
    )  # fmt: skip
    with pytest.raises(fp.FlexapodError, match="cannot have this acceleration: it cannot follow translation along y"):
        fp.inverse_dynamics(robot, motion)


def test_a_rigid_planar_robot_is_not_linearised_about_such_a_velocity() -> None:
    robot = fp.load("planar-3-rrr")
    with pytest.raises(fp.FlexapodError, match="cannot have this velocity: it cannot follow translation along z"):
        fp.linearize(robot, state(robot, velocity=[0.0, 0.0, 1.0]))


def test_simulations_do_not_start_out_of_the_plane() -> None:
    robot = fp.load("dualemps")
    with pytest.raises(fp.FlexapodError, match="cannot reach this pose: it cannot follow rotation about x"):
        fp.simulate(robot, state(robot, relative=(0.5, 0, 0)), force=[0.0, 0.0], duration=0.01)


def test_what_deformation_decides_is_said() -> None:
    robot = fp.load("delta-flexible")
    still = fp.inverse_dynamics(robot, state(robot))
    for axis in range(3):
        text = f"rotation about {'xyz'[axis]} of the given velocity is not used.*deformation decides the others"
        with pytest.warns(fp.FlexapodWarning, match=text):
            found = fp.inverse_dynamics(robot, state(robot, angular_velocity=1000.0 * np.eye(3)[axis]))
        np.testing.assert_array_equal(found.force.values, still.force.values)
    with pytest.warns(fp.FlexapodWarning, match="rotation about x of the given pose is not used"):
        fp.inverse_dynamics(robot, state(robot, relative=(0.5, 0, 0)))


def test_nothing_is_said_of_what_is_followed_or_left_out() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("delta-flexible", "dualemps", "planar-3-rrr-flexible"):
            robot = fp.load(name)
            fp.inverse_dynamics(robot, state(robot))
            inside = np.where(np.arange(3) == PLANAR.get(name, 3), 0.0, 1e-3)
            fp.inverse_dynamics(robot, state(robot, inside, velocity=inside))
        fp.inverse_dynamics(fp.load("dualemps"), fp.State.from_actuators(fp.load("dualemps"), [0.02, -0.03], [0.1, 0.2]))


@pytest.mark.parametrize("verb", ["static_deflection", "natural_frequencies", "cartesian_stiffness", "linearize"])
@pytest.mark.parametrize("name", PLANAR)
def test_loads_out_of_the_plane_are_refused(name: str, verb: str) -> None:
    robot, normal = fp.load(name), PLANAR[name]
    text = re.escape(f"wrench: {name} is planar: its model does not deform out of its plane, and f{'xyz'[normal]}, ")
    with pytest.raises(fp.InputError, match=text):
        ask(verb, robot, state(robot), wrench=1e6 * np.eye(6)[normal])


def test_rigid_planar_robots_carry_such_loads_by_their_joints() -> None:
    """Which joints carry them is not determined: NaN."""
    robot, load = fp.load("planar-3-rrr"), np.array([0, 0, 1e3, 0, 0, 0])
    found = fp.inverse_dynamics(robot, state(robot), wrench=load, reactions=True)
    np.testing.assert_array_equal(found.force.values, fp.inverse_dynamics(robot, state(robot)).force.values)
    assert np.isnan(found.reaction_force.sel(axis="z").values).all()
