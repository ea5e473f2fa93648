"""Linear systems: eigenvalues are the natural frequencies, responses those of the nonlinear robot for small inputs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from support.kinds import robot_of_kind

DIFFERENCES = 1e-6
"""Central differences with steps of 1e-4, of the largest entry; measured 1e-8."""

TEXTBOOK = 1e-12
"""Of the largest eigenvalue: rounding of a model of two coordinates."""
STIFF = 1e-5
"""Of the free frequency: a cart on a spring of 1e7 N/m yields by m g / (1e7 N), 2e-6."""
AGREES = 1e-9
"""Relative, or of the largest entry: one linear system by other verbs, stiff beams in it; found 2e-12."""
SMALL = 1e-8
"""Of the change of acceleration, a difference of accelerations that themselves are given to 1e-14; found 1e-11."""


def test_locked_eigenvalues_are_the_natural_frequencies() -> None:
    robot = fp.load("dualemps")
    state = fp.State.from_actuators(robot, [0.0, 0.0])
    system = fp.linearize(robot, state, actuators="locked", inputs=("wrench",))
    values = np.sort(np.abs(np.linalg.eigvals(system.A).imag))[::2] / (2 * np.pi)
    assert np.allclose(values, fp.natural_frequencies(robot, state).frequency.values, rtol=AGREES, atol=0)
    assert system.B.shape == (18, 6)
    assert (len(system.states), len(system.outputs)) == (18, 8)


def test_acceleration_under_a_force_is_that_of_forward_dynamics() -> None:
    """At rest, q'' = C A B u: exact for linear systems, and at rest for the robot."""
    robot = fp.load("dualemps")
    state = fp.State.from_actuators(robot, [0.02, -0.03])
    system = fp.linearize(robot, state)
    force = np.array([3.0, -2.0])
    linear = system.C[:2] @ system.A @ system.B @ force
    found = fp.forward_dynamics(robot, state, force, friction=False)
    assert np.allclose(linear, found.actuator_acceleration.values, rtol=AGREES, atol=0)
    platform = system.C[2:5] @ system.A @ system.B @ force
    assert np.allclose(platform, found.acceleration.values, rtol=0, atol=AGREES * np.abs(platform).max())


@pytest.mark.parametrize("name", ["gough-stewart", "gough-stewart-flexible"])
def test_small_motion_follows_the_simulation(name: str) -> None:
    """A small extra force on the held robot: linear response against the difference of two nonlinear accelerations."""
    robot = fp.load(name)
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    system = fp.linearize(robot, state)
    extra = np.array([0.1, 0.0, -0.2, 0.0, 0.1, 0.3])
    if robot.flexible_platform is not None:
        held = fp.static_deflection(robot, state)
        start = fp.State(position=state.position, rotation=state.rotation, elastic=held.elastic.values)
        hold = held.force.values
    else:
        start, hold = state, fp.inverse_dynamics(robot, state).force.values
    moved = fp.forward_dynamics(robot, start, hold + extra)
    rest = fp.forward_dynamics(robot, start, hold)
    nonlinear = np.concatenate([(moved - rest)[k].values for k in ("acceleration", "angular_acceleration")])
    linear = system.C[6:] @ system.A @ system.B @ extra
    assert np.allclose(linear, nonlinear, rtol=0, atol=SMALL * np.abs(nonlinear).max())


def test_frequency_response_at_zero_is_the_compliance() -> None:
    robot = fp.load("dualemps")
    state = fp.State.from_actuators(robot, [0.0, 0.0])
    system = fp.linearize(robot, state, actuators="locked", inputs=("wrench",), outputs=("platform",))
    found = system.frequency_response(0.0)[0].real
    C = fp.cartesian_stiffness(robot, state).compliance.values
    known = np.isfinite(C)  # in the plane
    assert known.sum() == 9
    assert np.allclose(found[known], C[known], rtol=0, atol=AGREES * np.abs(C[known]).max())


def test_python_control_has_the_same_response_and_names() -> None:
    robot = fp.load("dualemps")
    system = fp.linearize(robot, fp.State.from_actuators(robot, [0.0, 0.0]))
    theirs = system.to_control()
    assert np.array_equal(theirs.A, system.A)
    assert tuple(theirs.input_labels) == system.inputs
    frequency = np.array([1.0, 7.0, 40.0])
    found = np.moveaxis(theirs(2j * np.pi * frequency), -1, 0)
    ours = system.frequency_response(frequency)
    assert np.abs(found - ours).max() <= AGREES * np.abs(ours).max()


def test_python_control_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = fp.load("dualemps")
    system = fp.linearize(robot, fp.State.from_actuators(robot, [0.0, 0.0]))
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(fp.InputError, match=r"flexapod\[control\]"):
        system.to_control()


def test_wrong_requests() -> None:
    robot = fp.load("dualemps")
    state = fp.State.from_actuators(robot, [0.0, 0.0])
    with pytest.raises(fp.InputError, match="take no forces"):
        fp.linearize(robot, state, actuators="locked")
    with pytest.raises(fp.InputError, match="expected one state"):
        fp.linearize(robot, fp.State.from_actuators(robot, np.zeros((3, 2))))
    with pytest.raises(fp.InputError, match="outputs"):
        fp.linearize(robot, state, outputs=("tool",))


@pytest.mark.parametrize(("name", "viscous"), [("five-bar", 0.0), ("stewart-3-3", 30.0)])
def test_about_a_motion_the_derivatives_are_those_of_forward_dynamics(name: str, viscous: float) -> None:
    """Differences of the actuators' accelerations under the motion's forces, by the rigid kernels, in coordinates and rates."""
    robot = fp.load(name)
    if viscous:
        robot = robot.with_parameters({"legs.slide.friction.viscous": viscous, "legs.slide.friction.coulomb": 0.0})
    home = fp.inverse_kinematics(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    q = home.actuator_position.values + 0.02
    v = np.linspace(-0.5, 1.0, len(q))
    still = np.zeros((1, len(q)))
    driven = fp.ActuatorMotion(time=np.zeros(1), position=q[None], velocity=v[None], acceleration=still)
    state = fp.platform_motion(robot, driven)
    force = fp.inverse_dynamics(robot, state).force.values[0]
    system = fp.linearize(robot, state, outputs=("platform_rates",))
    n, h = len(q), 1e-4

    def acceleration(dq: object, dv: object) -> object:
        at = fp.State.from_actuators(robot, q + dq, v + dv)
        found = fp.forward_dynamics(robot, at, force)
        moved = fp.Motion(
            time=np.zeros(1), position=at.position[None], rotation=at.rotation[None], velocity=at.velocity[None],
            angular_velocity=at.angular_velocity[None], acceleration=found.acceleration.values[None],
            angular_acceleration=found.angular_acceleration.values[None],
        )  # fmt: skip
        return fp.inverse_kinematics(robot, moved).actuator_acceleration.values[0]

    def twist(dq: object) -> object:
        there = fp.State.from_actuators(robot, q + dq, v)
        return np.concatenate([there.velocity, there.angular_velocity])

    none = np.zeros(n)
    for k, e in enumerate(np.eye(n) * h):
        by_position = (acceleration(e, none) - acceleration(-e, none)) / (2.0 * h)
        by_rate = (acceleration(none, e) - acceleration(none, -e)) / (2.0 * h)
        size = max(np.abs(system.A[n:, :n]).max(), np.abs(system.A[n:, n:]).max())
        np.testing.assert_allclose(system.A[n:, k], by_position, rtol=0, atol=DIFFERENCES * size)
        np.testing.assert_allclose(system.A[n:, n + k], by_rate, rtol=0, atol=DIFFERENCES * size)
        np.testing.assert_allclose(system.C[:, k], (twist(e) - twist(-e)) / (2.0 * h), rtol=0, atol=DIFFERENCES * size)
    assert np.abs(system.A[n:, n:]).max() > 1e-3  # velocity terms


def test_about_a_motion_a_light_plate_is_linear_as_well() -> None:
    """Acceleration of the mode of a plate on legs that pass moments to it, by its coordinate and rate."""
    robot = robot_of_kind("flexible platform on flexible legs")
    q = fp.inverse_kinematics(robot, fp.State.at_home(robot)).actuator_position.values
    v, still, h = np.array([0.5, -0.3, 0.4]), np.zeros((1, 3)), 3e-7
    driven = fp.ActuatorMotion(time=np.zeros(1), position=q[None], velocity=v[None], acceleration=still)
    found, system = fp.inverse_dynamics(robot, driven), fp.linearize(robot, driven)
    mode, mode_rate = found.elastic.values[0], found.elastic_velocity.values[0]

    def acceleration(de: float, dv: float) -> float:
        at = fp.State.from_actuators(robot, q, v, elastic=mode + de, elastic_velocity=mode_rate + dv)
        return fp.forward_dynamics(robot, at, found.force.values[0]).elastic_acceleration.item()

    row, k = system.A[system.states.index("platform.mode1_rate")], system.states.index("platform.mode1")
    by_mode, by_rate = ((acceleration(*d) - acceleration(*-d)) / (2.0 * h) for d in np.eye(2) * h)
    assert abs(row[k] - by_mode) < DIFFERENCES * abs(by_mode)
    assert abs(row[len(row) // 2 + k] - by_rate) < DIFFERENCES * np.abs(row).max()


def test_about_a_motion_locked_actuators_have_no_meaning() -> None:
    robot = fp.load("dualemps")
    state = fp.State.from_actuators(robot, [0.0, 0.0], [0.1, 0.2])
    with pytest.raises(fp.InputError, match="the state has a velocity, so that its actuators move"):
        fp.linearize(robot, state, actuators="locked")
    with pytest.raises(fp.InputError, match="a model about a motion always has the forces"):
        fp.linearize(robot, state, prestress=False)


def test_a_load_that_hangs_swings_under_its_weight() -> None:
    """A crane has fewer actuators than DOF: sqrt(g / l (1 + m / M)) with the cart free, sqrt(g / l) with the cart held."""
    robot = fp.load(Path(__file__).parents[1] / "data" / "mechanisms" / "crane.yaml")
    hanging, g = fp.State(position=[0, 0, -1]), 9.81
    free, held = np.sqrt(g * (1.0 + 2.0 / 3.0)), np.sqrt(g)
    values = np.sort(np.linalg.eigvals(fp.linearize(robot, hanging).A).imag)
    np.testing.assert_allclose(values, [-free, 0.0, 0.0, free], rtol=0, atol=TEXTBOOK * free)
    omega = 2.0 * np.pi * fp.natural_frequencies(robot, hanging, actuators="free").frequency.values
    np.testing.assert_allclose(omega, [0.0, free], rtol=0, atol=TEXTBOOK * free)
    omega = 2.0 * np.pi * fp.natural_frequencies(robot, hanging).frequency.values
    np.testing.assert_allclose(omega, [held], rtol=0, atol=TEXTBOOK * free)
    omega = 2.0 * np.pi * fp.natural_frequencies(robot, hanging, actuators=[1e7]).frequency.values
    assert abs(omega[0] - held) < STIFF * free
    c, s = np.cos(0.1), np.sin(0.1)
    with pytest.raises(fp.FlexapodError, match="this pose is not an equilibrium: the robot has fewer actuators than DOF"):
        fp.linearize(robot, fp.State(position=[s, 0, -c], rotation=[[c, 0, -s], [0, 1, 0], [s, 0, c]]))
