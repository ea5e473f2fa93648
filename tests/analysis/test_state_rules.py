"""Elastic coordinates and velocities of a state are used or refused by every verb, never left aside."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp

SAME_REST = 1e-9
"""Relative: Newton's method from two starts."""
NO_DEFLECTION = 1e-12
"""Elastic coordinates that are zero but for rounding."""
SAME_FACTOR = 1e-6
"""Relative: a search for a singular stiffness from two starts."""

VERBS = (
    "inverse_kinematics", "inverse_dynamics", "energy", "mass_matrix", "gravity_force", "coriolis_force", "jacobian",
    "conditioning", "singularities", "check_pose", "working_modes", "natural_frequencies", "cartesian_stiffness", "linearize",
    "static_deflection", "internal_dynamics",
)  # fmt: skip
POSES = ("jacobian", "conditioning", "singularities", "check_pose", "working_modes")
EQUILIBRIA = ("natural_frequencies", "cartesian_stiffness", "linearize", "internal_dynamics")
AT_REST = ("natural_frequencies", "cartesian_stiffness", "static_deflection", "internal_dynamics")


def state(robot: fp.Robot, **more: object) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation, **more)


def test_home_is_a_state_at_rest(plate: fp.Robot) -> None:
    home = fp.State.at_home(plate)
    assert np.array_equal(home.position, plate.home.position)
    assert np.array_equal(home.rotation, plate.home.rotation)
    assert not home.velocity.any()
    assert not home.angular_velocity.any()
    assert home.elastic is None


@pytest.fixture(scope="module")
def plate() -> fp.Robot:
    return fp.load("gough-stewart-flexible")


@pytest.mark.parametrize("verb", VERBS)
def test_rigid_robots_refuse_elastic_coordinates(verb: str) -> None:
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.InputError, match="stewart-3-3 is rigid and has no elastic coordinates"):
        getattr(fp, verb)(robot, state(robot, elastic=[1.0, 2.0]))


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["delta-flexible", "gough-stewart-flexible"])
def test_wrong_numbers_are_refused(verb: str, name: str) -> None:
    robot = fp.load(name)
    count = len(robot.elastic_names)
    with pytest.raises(fp.InputError, match=f"elastic: expected {count} numbers, one entry per elastic coordinate"):
        getattr(fp, verb)(robot, state(robot, elastic=np.zeros(3)))
    with pytest.raises(fp.InputError, match="elastic: is not a finite number in sample 0"):
        getattr(fp, verb)(robot, state(robot, elastic=np.full(count, np.nan)))


@pytest.mark.parametrize("verb", POSES)
def test_verbs_of_the_undeformed_robot_refuse_a_deformation(plate: fp.Robot, verb: str) -> None:
    with pytest.raises(fp.InputError, match=f"elastic: {verb} is about the undeformed robot"):
        getattr(fp, verb)(plate, state(plate, elastic=np.full(10, 1e-3)))


@pytest.mark.filterwarnings("ignore::flexapod.ValidityWarning")
@pytest.mark.parametrize("verb", EQUILIBRIA)
def test_an_equilibrium_is_taken_and_nothing_else(plate: fp.Robot, verb: str) -> None:
    found = fp.static_deflection(plate, state(plate)).elastic.values
    getattr(fp, verb)(plate, state(plate, elastic=found))
    with pytest.raises(fp.FlexapodError, match="elastic coordinates of the state are not an equilibrium at this pose"):
        getattr(fp, verb)(plate, state(plate, elastic=np.full(10, 1e-3)))


@pytest.mark.parametrize("verb", EQUILIBRIA[:3])
def test_equilibria_of_flexible_legs(verb: str) -> None:
    robot = fp.load("dualemps")
    at = fp.State.from_actuators(robot, [0.02, -0.03])
    getattr(fp, verb)(robot, at)
    with pytest.raises(fp.FlexapodError, match="elastic coordinates of the state are not an equilibrium"):
        getattr(fp, verb)(robot, at, wrench=[5.0, 0, 0, 0, 0, 0])
    bent = fp.State.from_actuators(robot, [0.02, -0.03], elastic=np.eye(9)[1] * 1e-4)
    with pytest.raises(fp.FlexapodError, match="elastic coordinates of the state are not an equilibrium"):
        getattr(fp, verb)(robot, bent)


@pytest.mark.filterwarnings("ignore::flexapod.ValidityWarning")
@pytest.mark.parametrize("name", ["dualemps", "gough-stewart-flexible"])
def test_a_static_deflection_starts_from_given_coordinates(name: str) -> None:
    robot = fp.load(name)
    load = [5.0, 0, 0, 0, 0, 0]
    plain = fp.static_deflection(robot, state(robot), wrench=load)
    for start in (plain.elastic.values, 1.5 * plain.elastic.values):
        again = fp.static_deflection(robot, state(robot, elastic=start), wrench=load)
        np.testing.assert_allclose(again.elastic.values, plain.elastic.values, rtol=SAME_REST, atol=NO_DEFLECTION)


@pytest.mark.parametrize("verb", AT_REST)
def test_equilibria_are_at_rest(plate: fp.Robot, verb: str) -> None:
    moving = (
        state(plate, velocity=[0.1, 0, 0]), state(plate, angular_velocity=[0, 0.1, 0]),
        state(plate, elastic=np.zeros(10), elastic_velocity=np.full(10, 0.1)),
    )  # fmt: skip
    for at in moving:
        with pytest.raises(fp.InputError, match=f"velocity: {verb} is about an equilibrium at rest.*linearize"):
            getattr(fp, verb)(plate, at)


def test_buckling_starts_from_the_deflection_without_the_load() -> None:
    robot = fp.load("dualemps")
    load, at = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], fp.State.from_actuators(robot, [0.0, 0.0])
    plain = fp.buckling(robot, fp.State(position=at.position, rotation=at.rotation), load)
    assert float(fp.buckling(robot, at, load).factor) == pytest.approx(float(plain.factor), rel=SAME_FACTOR)


def test_buckling_is_about_rest() -> None:
    robot = fp.load("dualemps")
    with pytest.raises(fp.InputError, match="velocity: buckling is about an equilibrium at rest"):
        fp.buckling(robot, state(robot, velocity=[0.1, 0, 0]), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


@pytest.mark.filterwarnings("ignore::flexapod.ValidityWarning")
def test_poses_of_a_motion_are_taken(plate: fp.Robot) -> None:
    one = np.ones((2, 1))
    motion = fp.Motion(
        time=[0.0, 1.0], position=one * plate.home.position, rotation=np.tile(plate.home.rotation, (2, 1, 1)),
        velocity=one * [0.1, 0, 0], angular_velocity=np.zeros((2, 3)), acceleration=np.zeros((2, 3)),
        angular_acceleration=np.zeros((2, 3)),
    )  # fmt: skip
    along, there = fp.natural_frequencies(plate, motion), fp.natural_frequencies(plate, state(plate))
    np.testing.assert_allclose(along.omega_squared.values[0], there.omega_squared.values, rtol=SAME_REST)
