"""Derivatives of inverse dynamics agree with differences of the forces, at the expected order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import flexapod as fp
from flexapod.analysis.model.general_derivatives import general_derivatives
from flexapod.analysis.verbs.sampling import random_states
from flexapod.robot.geometry import rotation_from_vector
from support.kinds import robot_of_kind

ROBOTS = ["stewart-3-3", "hexaslide", "hexa"]
COUNT = 5
DIFFERENCES = 1e-7
"""Richardson's extrapolation of central differences with steps 1e-3 and 5e-4: truncation 1e-12, rounding 1e-13 / 1e-3."""

LOOPS = 1e-9
"""Of the largest: rounding of closed loops, 1e-14, divided by the step of 3e-3, and of a Jacobian's inverse."""
BY_PARAMETERS = 1e-9
"""Of the largest derivative, or of 1e-3: rounding of forces over steps of a thousandth; found 8e-12."""
NEAR_SINGULAR = 1e-7
"""Of the largest: rounding of closed loops, grown by twice the rate of the joints, over the step; found 1.3e-8."""
MECHANISMS = Path(__file__).parents[1] / "data" / "mechanisms"


def _force(robot: fp.Robot, states: dict[str, np.ndarray], name: str, step: np.ndarray) -> np.ndarray:
    moved = dict(states)
    if name == "rotation":
        moved[name] = np.array([rotation_from_vector(step) @ R for R in states[name]])
    else:
        moved[name] = states[name] + step
    motion = fp.Motion(time=np.arange(float(COUNT)), **moved)
    return fp.inverse_dynamics(robot, motion, friction=False, formulation="virtual_power").force.values


@pytest.mark.parametrize("name", ROBOTS)
def test_by_the_motion(name: str) -> None:
    robot = fp.load(name)
    states = random_states(robot, COUNT, seed=4)
    found = fp.inverse_dynamics_derivatives(robot, fp.Motion(time=np.arange(float(COUNT)), **states))
    for key in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        exact = found[f"tau_D_{key}"].values
        unit = robot.characteristic_length if key in ("position", "velocity", "acceleration") else 1.0

        def slope(h: float, k: int, key: str = key) -> np.ndarray:
            e = np.eye(3)[k] * h
            return (_force(robot, states, key, e) - _force(robot, states, key, -e)) / (2 * h)

        for k in range(3):
            h = 1e-3 * unit
            expected = (4 * slope(h / 2, k) - slope(h, k)) / 3
            assert np.abs(exact[:, :, k] - expected).max() <= DIFFERENCES * max(np.abs(expected).max(), np.abs(exact).max())


@pytest.mark.parametrize("name", ["stewart-3-3", "delta"])
def test_by_parameters(name: str) -> None:
    robot = fp.load(name)
    motion = fp.Motion(time=np.arange(float(COUNT)), **random_states(robot, COUNT, seed=5))
    body = "cylinder" if name == "stewart-3-3" else "rod"
    paths = ["platform.mass", f"legs.{body}.mass", f"legs.{body}.com.z", "platform.inertia.zz"]
    exact = fp.inverse_dynamics_derivatives(robot, motion, parameters=paths).tau_D_parameter.values

    def force(path: str, value: float) -> np.ndarray:
        return fp.inverse_dynamics(robot.with_parameters({path: value}), motion, formulation="virtual_power").force.values

    for k, path in enumerate(paths):
        at = robot.parameter(path)
        h = 1e-3 * at
        # forces are polynomials of degree two in masses and centres of mass: central differences are exact to rounding
        expected = (force(path, at + h) - force(path, at - h)) / (2 * h)
        assert np.abs(exact[:, :, k] - expected).max() <= BY_PARAMETERS * max(np.abs(expected).max(), 1e-3)


def test_a_vector_is_refused_by_name() -> None:
    robot = fp.load("stewart-3-3")
    motion = fp.Motion(time=np.arange(2.0), **random_states(robot, 2, seed=1))
    with pytest.raises(fp.InputError, match=r"'platform.com' is a vector; name a component"):
        fp.inverse_dynamics_derivatives(robot, motion, parameters=["platform.com"])


def _swinging(robot: fp.Robot) -> fp.ActuatorMotion:
    """Five states of the actuators about home."""
    random, n = np.random.default_rng(3), len(robot.actuators)
    at = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    home = fp.inverse_kinematics(robot, at, joints=False).actuator_position.values
    q, v, a = (scale * random.uniform(-1, 1, (COUNT, n)) for scale in (0.1, 0.5, 3.0))
    return fp.ActuatorMotion(time=np.arange(float(COUNT)), position=home + q, velocity=v, acceleration=a)


def test_loops_through_several_legs_by_a_closed_form() -> None:
    """Two four-bars are a pendulum, tau = 3 theta'' - 3.5 g sin(theta); its platform moves on a circle of 1 m."""
    robot = fp.load(MECHANISMS / "four-bars.yaml")
    motion = _swinging(robot)
    theta, rate, second = motion.position[:, 0], motion.velocity[:, 0], motion.acceleration[:, 0]
    found = fp.inverse_dynamics_derivatives(robot, fp.platform_motion(robot, motion))
    tangent = np.stack([-np.cos(theta), -np.sin(theta), 0 * theta], axis=1)  # p = (-sin, cos), home upright
    inward = np.stack([np.sin(theta), -np.cos(theta), 0 * theta], axis=1)
    by = {name: found[f"tau_D_{name}"].values[:, 0] for name in ("position", "velocity", "acceleration")}
    # V = t theta', V' = t theta'' + i theta'^2, with dt = i dtheta and di = -t dtheta
    by_second = np.einsum("ni,ni->n", by["acceleration"], tangent)
    by_rate = np.einsum("ni,ni->n", by["velocity"], tangent) + np.einsum(
        "ni,ni->n", by["acceleration"], 2 * rate[:, None] * inward
    )
    rotated = second[:, None] * inward - rate[:, None] ** 2 * tangent
    by_angle = np.einsum("ni,ni->n", by["position"], tangent) + np.einsum("ni,ni->n", by["velocity"], rate[:, None] * inward)
    by_angle = by_angle + np.einsum("ni,ni->n", by["acceleration"], rotated)
    np.testing.assert_allclose(by_second, 3.0, rtol=LOOPS)
    np.testing.assert_allclose(by_rate, 0.0, rtol=0, atol=LOOPS)
    np.testing.assert_allclose(by_angle, -3.5 * 9.81 * np.cos(theta), rtol=LOOPS)


def test_differences_near_a_singular_pose_move_the_robot_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """There shifts of single actuators, or of a parameter with the actuators held, move the platform far: 18 % were wrong."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    robot, pin = fp.load("planar-3-rrr"), "legs.pin.on.x"
    at, R = robot.home.position + np.array([0.01, 0.02, 0.0]), rotation_from_vector(np.array([0.0, 0.0, np.radians(30.0)]))
    state = fp.State(position=at, rotation=R @ robot.home.rotation, velocity=[0.1, 0.2, 0.0], angular_velocity=[0.0, 0.0, 0.3])
    kernels = fp.inverse_dynamics_derivatives(robot, state, parameters=[pin])
    other = general_derivatives(robot, state, np.zeros((1, 6)), [pin])
    for name, components in {"tau_D_position": [0, 1], "tau_D_rotation": [2], "tau_D_parameter": [0]}.items():
        exact, found = kernels[name].values[:, components], other[name][0][:, components]
        assert np.abs(found - exact).max() <= NEAR_SINGULAR * np.abs(exact).max(), name


@pytest.mark.full
@pytest.mark.parametrize("name", ["delta-parallelograms", "orthoglide"])
def test_differences_of_all_loops_agree_with_kernels_leg_by_leg(name: str) -> None:
    """Two derivations: expressions differentiated, and differences of the general model, along motions of the robot."""
    robot = fp.load(name)
    motion = fp.platform_motion(robot, _swinging(robot))
    kernels = fp.inverse_dynamics_derivatives(robot, motion)
    other = general_derivatives(robot, motion, np.zeros((COUNT, 6)))
    J = fp.jacobian(robot, fp.State(position=motion.position, rotation=motion.rotation))
    allowed = np.linalg.pinv(np.concatenate([J.jacobian.values, J.constraint_jacobian.values], axis=1))[
        :, :, : len(robot.actuators)
    ]
    for part in (("acceleration", "angular_acceleration"), ("velocity", "angular_velocity"), ("position", "rotation")):
        exact, found = (np.concatenate([source[f"tau_D_{key}"] for key in part], axis=2) @ allowed for source in (kernels, other))
        assert np.abs(exact - found).max() <= LOOPS * np.abs(exact).max()


@pytest.mark.full
@pytest.mark.parametrize("name", ["h4", "par4"])
def test_loops_through_several_legs_by_differences(name: str) -> None:
    """Along a random motion of the actuators, by extrapolated differences of their forces."""
    robot = fp.load(name)
    motion, random, h = _swinging(robot), np.random.default_rng(8), 1e-3
    found = fp.inverse_dynamics_derivatives(robot, fp.platform_motion(robot, motion))
    shift = [random.uniform(-1, 1, motion.position.shape) for _ in range(3)]

    def at(step: float) -> tuple[np.ndarray, fp.Motion]:
        position, velocity, acceleration = (
            values + step * d for values, d in zip((motion.position, motion.velocity, motion.acceleration), shift, strict=True)
        )
        moved = fp.ActuatorMotion(time=motion.time, position=position, velocity=velocity, acceleration=acceleration)
        return fp.inverse_dynamics(robot, moved, friction=False).force.values, fp.platform_motion(robot, moved)

    def slope(step: float) -> dict[str, np.ndarray]:
        (high, up), (low, down) = at(step), at(-step)
        names = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
        result = {key: (getattr(up, key) - getattr(down, key)) / (2 * step) for key in names}
        rotated = Rotation.from_matrix(up.rotation @ np.swapaxes(down.rotation, 1, 2)).as_rotvec()
        return {**result, "rotation": rotated / (2 * step), "force": (high - low) / (2 * step)}

    coarse, fine = slope(h), slope(h / 2)
    expected = {key: (4 * fine[key] - coarse[key]) / 3 for key in fine}
    total = sum(np.einsum("nai,ni->na", found[f"tau_D_{key}"], expected[key]) for key in expected if key != "force")
    assert np.abs(total - expected["force"]).max() <= DIFFERENCES * np.abs(expected["force"]).max()


FREE = {
    "planar-3-rrr-flexible": {"position": (0, 1), "rotation": (2,), "velocity": (0, 1), "angular_velocity": (2,),
                              "acceleration": (0, 1), "angular_acceleration": (2,)},
    "gough-stewart-flexible-legs": {"position": (0, 2), "rotation": (1,), "angular_velocity": (0,), "acceleration": (2,)},
}  # fmt: skip
"""Components of the platform's motion that are differentiated: all of the plane, some of space."""


@pytest.mark.parametrize("name", [n if n.startswith("planar") else pytest.param(n, marks=pytest.mark.full) for n in FREE])
def test_flexible_legs_by_the_motion(name: str) -> None:
    """Elastic coordinates held: by moving the actuators, against differences at moved poses of the platform."""
    robot, random = fp.load(name), np.random.default_rng(3)
    rows = {key: np.zeros((1, 3)) for key in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")}
    for key, axes in FREE[name].items():
        if key in rows:
            rows[key][0, list(axes)] = random.uniform(-1.0, 1.0, len(axes))
    at = {"position": robot.home.position[None], "rotation": robot.home.rotation[None], **rows}
    motion = fp.Motion(time=[0.0], **at)
    path = "platform.mass" if robot.flexible_platform is None else "gravity.z"
    found = fp.inverse_dynamics_derivatives(robot, motion, parameters=[path, "gravity.x"])
    own = fp.inverse_dynamics(robot, motion, friction=False)
    elastic = {key: own[key].values for key in ("elastic", "elastic_velocity")}

    def force(key: str, step: np.ndarray) -> np.ndarray:
        moved = {**at, key: rotation_from_vector(step) @ at[key] if key == "rotation" else at[key] + step}
        return fp.inverse_dynamics(robot, fp.Motion(time=[0.0], **moved), friction=False, **elastic).force.values[0]

    for key, axes in FREE[name].items():
        for k in axes:
            h = 1e-3 * np.eye(3)[k]
            coarse, fine = ((force(key, s * h) - force(key, -s * h)) / (2e-3 * s) for s in (1.0, 0.5))
            exact = found[f"tau_D_{key}"].values[0, :, k]
            assert np.abs(exact - (4 * fine - coarse) / 3).max() <= DIFFERENCES * np.abs(exact).max(), (key, k)
    heavy, light = (
        fp.inverse_dynamics(robot.with_parameters({path: robot.parameter(path) + step}), motion, friction=False, **elastic)
        for step in (0.5, -0.5)
    )
    exact = found.tau_D_parameter.values[0, :, 0]
    assert np.abs(exact - (heavy.force - light.force).values[0]).max() <= DIFFERENCES * np.abs(exact).max()  # linear in both
    tilted = fp.inverse_dynamics(robot.with_parameters({"gravity.x": 1.0}), motion, friction=False, **elastic)  # 0 in the file
    expected = tilted.force.values[0] - fp.inverse_dynamics(robot, motion, friction=False, **elastic).force.values[0]
    assert np.abs(found.tau_D_parameter.values[0, :, 1] - expected).max() <= DIFFERENCES * np.abs(expected).max()


def test_parameters_of_legs_whose_platform_follows_its_deformation() -> None:
    """DualEMPS at its static deflection: forces are linear in gravity and in a mass, and kinematics depends on neither."""
    robot = fp.load("dualemps")
    pose = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    paths = {"gravity.x": 1.0, "legs.1.17.inertial.M": 0.5}
    found = fp.inverse_dynamics_derivatives(robot, pose, parameters=list(paths))
    own = fp.inverse_dynamics(robot, pose, friction=False)
    state = fp.State(position=own.position.values, rotation=own.rotation.values, elastic=own.elastic.values)
    for k, (path, step) in enumerate(paths.items()):
        other = robot.with_parameters({path: robot.parameter(path) + step})
        expected = (fp.inverse_dynamics(other, state, friction=False).force - own.force).values / step
        assert np.abs(found.tau_D_parameter.values[:, k] - expected).max() <= DIFFERENCES * (np.abs(expected).max() + 1e-3), path
    assert np.abs(found.tau_D_parameter.values[:, 0]).max() > 10.0  # [kg]


def test_plate_on_legs_that_pass_moments() -> None:
    """A flexible platform on the legs of `delta`: by its motion, against differences of inverse dynamics."""
    robot = robot_of_kind("flexible platform on flexible legs")
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    state = fp.State.from_actuators(robot, q, elastic=np.full(1, 1e-5))
    found, h = fp.inverse_dynamics_derivatives(robot, state), 1e-3

    def force(at: np.ndarray) -> np.ndarray:
        moved = fp.State.from_actuators(robot, at, elastic=np.full(1, 1e-5))
        return fp.inverse_dynamics(robot, moved, friction=False).force.values

    for j in range(len(q)):
        d = np.eye(len(q))[j] * h
        slopes = [(force(q + s * d) - force(q - s * d)) / (2.0 * s * h) for s in (1.0, 0.5)]
        rate = fp.State.from_actuators(robot, q, velocity=np.eye(len(q))[j], elastic=np.full(1, 1e-5))
        expected = (4.0 * slopes[1] - slopes[0]) / 3.0
        by_q = found.tau_D_position.values @ rate.velocity + found.tau_D_rotation.values @ rate.angular_velocity
        assert np.abs(by_q - expected).max() <= DIFFERENCES * np.abs(found.tau_D_position).max().item()


def test_loops_inside_legs_are_differentiated_leg_by_leg() -> None:
    robot = fp.load("orthoglide")
    found = fp.inverse_dynamics_derivatives(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    assert np.all(np.isfinite(found.tau_D_position))
