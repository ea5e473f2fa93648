"""Linear solves of the verbs: rank is distinguished from rounding, and singular requests are refused."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.linear_solve import inverted, regular, solved
from support.kinds import document_of, robot_of, robot_of_kind

ROUNDING = 1e-12
"""Of a solution of 8 unknowns with condition number 100."""
PRINTED = 0.01
"""Forces [N] written with two decimals."""


def test_solutions_and_singular_samples() -> None:
    random = np.random.default_rng(1)
    A, b = random.normal(size=(5, 8, 8)), random.normal(size=(5, 8))
    A[1, 3] = A[1, 2] * (1 + 1e-16)  # repeated rows
    A[2, :, 4] = A[2, :, 5] + A[2, :, 6]  # a dependent column
    A[3, 0, 0] = np.nan
    x = solved(A, b)
    assert list(np.isfinite(x).all(axis=1)) == [True, False, False, False, True]
    np.testing.assert_allclose(np.einsum("nij,nj->ni", A, x)[[0, 4]], b[[0, 4]], rtol=ROUNDING, atol=ROUNDING)
    assert np.isnan(inverted(np.zeros((1, 3, 3)))).all()


def test_units_do_not_make_a_matrix_singular() -> None:
    """Stiffnesses of 1e9 N/m beside 1e-3 N m/rad are a matter of units, not of rank."""
    scale = np.diag([1e9, 1e-3, 1.0])
    M = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
    assert regular((scale @ M @ scale)[None]).all()
    assert regular(np.zeros((2, 0, 0))).all()


def soft_prr() -> fp.Robot:
    """`planar-4-prr` without its west leg, rails driven through springs, weight in its plane."""
    document = document_of("planar-4-prr")
    document["name"] = "soft-prr"
    document["gravity"] = [0, -9.81, 0]
    document["legs"]["template"]["joints"]["rail"] |= {"stiffness": 1e6, "inertia": 2}
    del document["legs"]["each"]["west"]
    return robot_of(document)


MOTOR = "actuator rail of soft-prr drives through a spring: its force does not act on the platform's acceleration directly"


@pytest.mark.parametrize("verb", ["inverse_kinematics", "point_motion"])
def test_platform_motion_of_elastic_drives_is_refused(verb: str) -> None:
    """`inverse_dynamics` carries the springs along (tests/analysis/test_elastic_drives.py); where they move is not chosen."""
    robot = soft_prr()
    none = np.zeros((1, 3))
    home = fp.Motion(
        time=[0.0], position=robot.home.position[None], rotation=robot.home.rotation[None], velocity=none, angular_velocity=none,
        acceleration=none, angular_acceleration=none,
    )  # fmt: skip
    more = ("tool",) if verb == "point_motion" else ()
    with pytest.raises(fp.InputError, match=MOTOR):
        getattr(fp, verb)(robot, home, *more)


def test_holding_forces_of_elastic_drives() -> None:
    """Statics of the rigid robot: the springs carry the same forces."""
    robot = soft_prr()
    held = fp.static_deflection(robot, fp.State(position=robot.home.position)).force.values
    np.testing.assert_allclose(held, [2.144, 20.99, -10.81], rtol=0, atol=PRINTED)


def test_actuator_coordinates_at_a_singular_pose() -> None:
    """A five-bar with its distal links in line cannot choose the platform's motion by its cranks."""
    robot = robot_of_kind("rigid, mobility below 6")
    height = np.sqrt(0.5**2 - 0.1**2)
    at = fp.State(position=[0.0, height, 0.0])
    with pytest.raises(fp.FlexapodError, match=r"singular|cannot|turning point"):
        fp.mass_matrix(robot, at, coordinates="actuator")


def test_stiffness_of_a_robot_that_can_move_freely() -> None:
    robot = robot_of_kind("under-actuated")
    at = fp.State(position=robot.home.position)
    with pytest.raises(fp.FlexapodError, match="the robot can move without any force"):
        fp.cartesian_stiffness(robot, at, actuators=[1e5], prestress=False)
