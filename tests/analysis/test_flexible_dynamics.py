"""Verbs on flexible robots: reference values through the public surface, coordinates, formulations, messages."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.leg_tree import RobotBuildError
from support.flexible_robots import (
    at_home,
    off,
    plate_robot,
    random_flexible,
    reference_robot,
    reference_states,
    rigid,
)

REFERENCE = 1e-11
"""Relative: rounding through a system with condition 1e3."""
REST = 1e-7
"""Elastic acceleration [1/s^2] at the reference's equilibrium, where terms of 1e3 cancel."""
ENERGY = 1e-12
"""Relative."""
POWER = 1e-9
"""Of the largest force at rates of 1 m/s."""
AT_REST = 1e-12
"""Kinetic energy [J] of states of which some are at rest."""
GENERAL = 1e-10
"""Of the largest entry: the general model against the closed form; found 2e-11 near a singularity of the inverse model."""


def state_of(given: dict[str, Any]) -> fp.State:
    return fp.State(**{key: value for key, value in given.items() if "acceleration" not in key})


@pytest.mark.parametrize("kind", ["plate", "generic"])
def test_reference_states_through_the_verbs(kind: str) -> None:
    robot = reference_robot(kind)
    for name, given, entry in reference_states(kind):
        state = state_of(given)
        keys = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
        motion = fp.Motion(time=[0.0], **{key: given[key][None] for key in keys})
        inverse = fp.inverse_dynamics(robot, motion, elastic=given["elastic"], elastic_velocity=given["elastic_velocity"])
        assert off(inverse.force[0], entry["inverse"]["Gamma"]) < REFERENCE, name
        assert off(inverse.joint_force[0], entry["inverse"]["leg_force_on_platform_world"]) < REFERENCE, name
        rates = np.array(entry["legs"]["qdot"])[:, 2]
        assert np.abs(inverse.power[0] - rates * entry["inverse"]["Gamma"]).max() < POWER * max(1.0, np.abs(inverse.force).max())
        forward = fp.forward_dynamics(robot, state, entry["inverse"]["Gamma"])
        edd = np.array(entry["inverse"]["qe_ddot"])
        assert np.abs(forward.elastic_acceleration - edd).max() < max(REFERENCE * np.abs(edd).max(), REST), name
        M = fp.mass_matrix(robot, state)
        T = np.eye(len(M))
        T[3:6, 3:6] = given["rotation"].T  # world to platform axes for omega alone
        assert off(T @ M.values @ T.T, entry["mass_matrix"]) < REFERENCE, name
        bias = fp.gravity_force(robot, state).values + fp.coriolis_force(robot, state).values
        body = robot.flexible_platform
        assert body is not None
        bias[6:] += body.K_ee @ given["elastic"] + body.D_ee @ given["elastic_velocity"]
        assert off(T @ bias, entry["bias_incl_gravity_elastic_damping"]) < REFERENCE, name
        energy = fp.energy(robot, state)
        assert float(energy.potential) == pytest.approx(entry["potential_energy"], rel=ENERGY)
        assert float(energy.kinetic) == pytest.approx(entry["kinetic_energy"], rel=ENERGY, abs=AT_REST)


def test_names_and_axes_of_results() -> None:
    robot = plate_robot()
    found = fp.inverse_dynamics(robot, at_home(robot))
    assert list(found.elastic_coordinate.values) == list(robot.elastic_names)
    assert found.joint_force.dims == ("leg", "axis")
    M = fp.mass_matrix(robot, at_home(robot))
    assert list(M.coordinate.values) == ["vx", "vy", "vz", "wx", "wy", "wz", *robot.elastic_names]


def test_mass_matrix_in_actuator_coordinates() -> None:
    """The kinetic energy does not depend on the coordinates it is written in."""
    robot = plate_robot()
    given = {key: value[0] for key, value in random_flexible(robot, 1, seed=21).items()}
    keys = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    state = fp.State(**{key: given[key] for key in keys})
    rates = fp.inverse_kinematics(robot, state).actuator_velocity.values
    x = np.concatenate([rates, given["elastic_velocity"]])
    M = fp.mass_matrix(robot, state, coordinates="actuator")
    assert list(M.coordinate.values[:6]) == list(robot.actuators)
    assert x @ M.values @ x / 2 == pytest.approx(float(fp.energy(robot, state).kinetic), rel=REFERENCE)


def test_the_general_formulation_by_its_name() -> None:
    robot = reference_robot("generic")
    given = random_flexible(robot, 20, seed=23)
    keys = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    state = fp.State(**{key: given[key] for key in keys})
    closed = fp.inverse_dynamics(robot, state, wrench=given["wrench"])
    general = fp.inverse_dynamics(robot, state, wrench=given["wrench"], formulation="general")
    assert off(general.force, closed.force) < GENERAL
    assert off(general.elastic_acceleration, closed.elastic_acceleration) < GENERAL


def test_states_and_arrays_are_the_same_request() -> None:
    robot = plate_robot()
    e, ed = np.full(10, 1e-3), np.full(10, 0.02)
    by_state = fp.inverse_dynamics(robot, at_home(robot, elastic=e, elastic_velocity=ed))
    by_array = fp.inverse_dynamics(robot, at_home(robot), elastic=e, elastic_velocity=ed)
    np.testing.assert_array_equal(by_state.force, by_array.force)
    again = fp.inverse_dynamics(robot, at_home(robot, elastic=e, elastic_velocity=ed), elastic="zero")
    np.testing.assert_array_equal(again.elastic, np.zeros(10))


def test_masked_samples() -> None:
    robot = plate_robot()
    poses = np.array([robot.home.position, [np.nan, 0, 1]])
    found = fp.inverse_dynamics(robot, fp.State(position=poses), on_error="mask")
    assert found.valid.values.tolist() == [True, False]
    assert np.all(np.isnan(found.force.values[1]))
    assert np.all(np.isfinite(found.force.values[0]))


REFUSED = [
    ({"elastic": np.zeros(9)}, r"elastic: expected shape \(10,\) or \(1, 10\), one entry per elastic coordinate, got \(9,\)"),
    ({"elastic": np.zeros((3, 10))}, r"elastic: expected shape \(10,\) or \(1, 10\).*got \(3, 10\)"),
    ({"elastic": np.zeros(10), "elastic_velocity": np.zeros(4)}, r"elastic_velocity: expected shape .*got \(4,\)"),
    ({"elastic": "quasi"}, "elastic: expected an array or one of 'static', 'zero', 'simulate', got 'quasi'"),
    ({"elastic": "zero", "elastic_velocity": np.zeros(10)}, "elastic_velocity: elastic='zero' chooses the rates itself"),
    ({"formulation": "newton_euler"}, "formulation='newton_euler': is derived for rigid robots alone"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED, ids=lambda x: next(iter(x)) if isinstance(x, dict) else "")
def test_refused_requests(options: dict[str, Any], text: str) -> None:
    robot = plate_robot()
    with pytest.raises(fp.InputError, match=text):
        fp.inverse_dynamics(robot, at_home(robot), **options)


def test_rigid_robots_have_no_elastic_coordinates() -> None:
    state = at_home(rigid())
    text = "elastic: gough-stewart is rigid and has no elastic coordinates; leave it out"
    with pytest.raises(fp.InputError, match=text):
        fp.inverse_dynamics(rigid(), state, elastic="static")
    with pytest.raises(fp.InputError, match=text):
        fp.forward_dynamics(rigid(), at_home(rigid(), elastic=np.zeros(3)), np.zeros(6))
    with pytest.raises(fp.InputError, match="elastic_velocity: give elastic as well"):
        at_home(rigid(), elastic_velocity=np.zeros(3))
    with pytest.raises(fp.InputError, match=r"elastic_velocity: expected shape \(3,\), got \(2,\)"):
        at_home(rigid(), elastic=np.zeros(3), elastic_velocity=np.zeros(2))


def test_interfaces_must_match() -> None:
    """The modal file of made-up shapes attaches elsewhere than the catalogue's legs."""
    body = reference_robot("generic").flexible_platform
    assert body is not None
    text = r"no interface at the joint of leg 1 \(\[-0.25, -0.433013, 0.0\] m\); the nearest is 0.0075 m away"
    with pytest.raises(RobotBuildError, match=text):
        rigid().with_flexible_body("platform", body)
    with pytest.raises(fp.FlexapodError, match=r"only the platform can be made flexible this way, not 'A\.cylinder'"):
        rigid().with_flexible_body("A.cylinder", body)
