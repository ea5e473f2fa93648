"""Pictures of robots with flexible legs: beams bent as the elastic coordinates say, legs that meet, shapes of modes."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.leg_curves import PIECES, home_joints, leg_curves, mode_curves, state_joints
from flexapod.views.plots.mode_figures import SHOWN_LEGS
from flexapod.views.scene.meshes import cylinder

ROUNDING = 1e-12
"""Chains of a dozen frames of length one [m]."""

CLOSED = 1e-12
"""Newton's method on the loops ends below 1e-12; frames add rounding [m]."""

DIFFERENCE = 1e-7
"""Central differences of a step of 1e-5 leave its square in curvature, 1e-15 / 1e-5 in rounding; of the largest displacement."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("dualemps")


@pytest.fixture(scope="module")
def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


@pytest.fixture(scope="module")
def modes(robot: fp.Robot, home: fp.State) -> Any:
    return fp.natural_frequencies(robot, home)


def test_straight_at_home(robot: fp.Robot) -> None:
    """The legs are straight lines of 0.805 m and 0.6 m that meet at the joint between them."""
    first, second = leg_curves(robot, home_joints(robot))
    for curve, length in ((first, 0.805), (second, 0.6)):
        chord = curve.points[-1] - curve.points[0]
        assert np.linalg.norm(chord) == pytest.approx(length, abs=ROUNDING)
        off = np.cross(curve.points - curve.points[0], chord / length)
        assert np.abs(off).max() < ROUNDING
    np.testing.assert_allclose(second.points[-1], robot.home.position, rtol=0, atol=ROUNDING)
    assert any(np.linalg.norm(node - robot.home.position) < ROUNDING for node in first.nodes)


def test_beam_is_the_cubic_of_its_end(robot: fp.Robot) -> None:
    """v(s) = v (3 s^2 - 2 s^3) + theta L (s^3 - s^2) across the beam, s + u s along it, in the beam's own axes."""
    names = list(robot.elastic_names)
    u, v, theta, length = 1e-4, 2e-3, 5e-3, 0.4505
    joints = home_joints(robot)
    for name, value in (("13.u", u), ("13.v", v), ("13.theta", theta)):
        joints[robot.elastic_indices[names.index(name)]] = value
    start, angle = np.array([0.0, 0.0, 0.0]), np.arccos(0.2 / 0.6)
    along, across = np.array([np.cos(angle), 0, np.sin(angle)]), np.array([-np.sin(angle), 0, np.cos(angle)])
    root = start + 0.0675 * along
    points = leg_curves(robot, joints)[0].points
    k = int(np.argmin(np.linalg.norm(points - root, axis=1)))
    own = points[k + 1 : k + 1 + PIECES] - root
    s = np.linspace(0, 1, PIECES + 1)[1:]
    wanted = v * (3 * s**2 - 2 * s**3) + theta * length * (s**3 - s**2)
    np.testing.assert_allclose(own @ across, wanted, rtol=0, atol=theta**2 * theta * length)  # sin against theta
    np.testing.assert_allclose((own @ along)[-1], length + u, rtol=0, atol=ROUNDING)


def test_bent_legs_meet_where_the_verbs_say(robot: fp.Robot) -> None:
    """The lines of a deformed state end at the tip and the platform of `point_motion`: frames by another way."""
    elastic = np.array([0, 4e-3, 2e-2, 0, 1e-3, 1e-2, 0, -3e-3, -2e-2])
    state = fp.State.from_actuators(robot, [0.02, -0.03], elastic=elastic)
    first, second = leg_curves(robot, state_joints(robot, state))
    tip = fp.point_motion(robot, state, "1.17.tip").position.values
    np.testing.assert_allclose(first.points[-1], tip, rtol=0, atol=CLOSED)
    np.testing.assert_allclose(second.points[-1], state.position, rtol=0, atol=CLOSED)


def test_exaggerated(robot: fp.Robot) -> None:
    """Twice the deflection at the same sliders."""
    state = fp.State.from_actuators(robot, [0.0, 0.0], elastic=np.array([0, 1e-4, 0, 0, 0, 0, 0, 0, 0]))
    joints = state_joints(robot, state, exaggerated=2.0)
    names = list(robot.elastic_names)
    assert joints[robot.elastic_indices[names.index("13.v")]] == pytest.approx(2e-4, rel=CLOSED)
    assert joints[list(robot.driven)] == pytest.approx([0.0, 0.0], abs=ROUNDING)


def test_mode_moves_points_as_the_jacobian_says(robot: fp.Robot, home: fp.State, modes: Any) -> None:
    """The drawn displacement of the tip is its velocity when the elastic rates are the shape."""
    bend = modes["shape"].sel(mode=1).values[[list(modes.coordinate.values).index(n) for n in robot.elastic_names]]
    rate = 1e-3 / np.abs(bend).max()
    state = fp.State.from_actuators(robot, [0.0, 0.0], [0.0, 0.0], elastic=0.0 * bend, elastic_velocity=rate * bend)
    wanted = fp.point_motion(robot, state, "1.17.tip").velocity.values / rate
    _, (first, _) = mode_curves(robot, modes, 1, home)
    np.testing.assert_allclose(first[-1], wanted, rtol=0, atol=DIFFERENCE * np.abs(wanted).max())


def test_mode_figure(robot: fp.Robot, home: fp.State, modes: Any) -> None:
    """One scene per mode, legs at rest and displaced; the sliders stay; the largest displacement is the stated share."""
    figure = fp.figures.mode_figure(robot, modes, [1, 2], home)
    lines = [t for t in figure.data if t.type == "scatter3d"]
    assert len(lines) == 2 * 2 * 2
    for n in (0, 1):
        own = lines[4 * n : 4 * n + 4]
        pairs = [np.array([t.x, t.y, t.z], dtype=float).T for t in own]
        moved = [np.linalg.norm(b - a, axis=1) for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
        assert max(m.max() for m in moved) == pytest.approx(SHOWN_LEGS * robot.characteristic_length, rel=CLOSED)
        assert max(m[0] for m in moved) < ROUNDING
    assert [a.text for a in figure.layout.annotations] == ["mode 1: 14.21 Hz", "mode 2: 25.04 Hz"]


def test_robot_figure_draws_the_state(robot: fp.Robot) -> None:
    state = fp.State.from_actuators(robot, [0.05, 0.0])
    figure = fp.figures.robot_figure(robot, state)
    first = next(t for t in figure.data if t.name == "leg 1")
    carriage = np.array(first.z[: len(cylinder()[0])], dtype=float)
    assert float(carriage.mean()) == pytest.approx(0.05, abs=CLOSED)  # the slider on its rail
