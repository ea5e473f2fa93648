"""Dragging the platform and a force on it: the robot halts at limits, forces follow, arrows are to scale."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.scene.arrows import LONGEST, actuator_arrows, scale_bar
from flexapod.views.scene.shapes import drawing, extent, platform_corners
from flexapod.views.studio.drag import LOOKS, halted
from flexapod.views.studio.force_handle import ForceHandle
from flexapod.views.studio.moved_coordinates import coordinates_of, state_of
from flexapod.views.studio.scene import StudioScene
from flexapod.views.studio.session import Session

ROUNDING = 1e-12
"""A few roundings of sums of lengths."""
BALANCE = 1e-9
"""Of the force, and [N]: a solve of six unknowns, or a length that is drawn."""


def valid(robot: fp.Robot, state: fp.State) -> bool:
    return bool(fp.check_pose(robot, state).margins.valid)


@pytest.mark.parametrize(("name", "axis", "far"), [("stewart-3-3", 0, 9.0), ("hexaslide", 2, 3.0), ("planar-3-rrr", 1, 2.0)])
def test_a_drag_halts_at_the_first_limit(name: str, axis: int, far: float) -> None:
    """The place where it halts keeps all limits, and a 200th of the way further does not."""
    robot = fp.load(name)
    coordinates = coordinates_of(robot)
    target = tuple(v + far * (k == axis) for k, v in enumerate(coordinates.home))
    found = np.array(halted(robot, coordinates, coordinates.home, target))
    assert valid(robot, state_of(robot, coordinates, found))
    step = (np.array(target) - np.array(coordinates.home)) * 1.01 / LOOKS**2
    assert not valid(robot, state_of(robot, coordinates, found + step)), "it halts too early"
    assert found[axis] > coordinates.home[axis]


def test_a_drag_within_limits_goes_where_it_is_asked() -> None:
    robot = fp.load("stewart-3-3")
    coordinates = coordinates_of(robot)
    target = tuple(v + 0.05 for v in coordinates.home)
    assert halted(robot, coordinates, coordinates.home, target) == target


def test_the_session_halts_and_says_where_it_was_asked_to_be() -> None:
    session = Session.start(fp.load("stewart-3-3"))
    there = session.numbers.state.position + np.array([9.0, 0.0, 0.0])
    numbers = session.drag(there, session.numbers.state.rotation)
    assert numbers.good
    assert session.asked is not None
    assert np.allclose(session.asked.position, there)
    session.home()
    assert session.asked is None


@pytest.mark.parametrize("name", ["stewart-3-3", "gough-stewart-flexible", "planar-3-rrr"])
def test_a_force_on_the_platform_is_that_of_inverse_dynamics(name: str) -> None:
    robot = fp.load(name)
    session = Session.start(robot)
    at_rest = session.numbers.force.copy()
    force = (120.0, -40.0, 0.0)
    shown = session.push(force).force
    wanted = fp.inverse_dynamics(robot, fp.State.at_home(robot), wrench=np.array([*force, 0.0, 0.0, 0.0])).force.values
    assert np.array_equal(shown, wanted)
    assert np.abs(shown - at_rest).max() > 1.0
    if robot.elastic_names:
        assert np.abs(session.numbers.elastic - Session.start(robot).numbers.elastic).max() > 0, "the deflection follows"
    assert np.allclose(session.push((0.0, 0.0, 0.0)).force, at_rest, rtol=0, atol=ROUNDING)


def test_a_force_does_the_work_of_the_legs() -> None:
    """Statics by the principle of virtual work: J^T (tau - tau_0) = -F."""
    robot = fp.load("stewart-3-3")
    session = Session.start(robot)
    before = session.numbers.force.copy()
    force = np.array([120.0, -40.0, 75.0])
    after = session.push(tuple(force)).force
    J = fp.jacobian(robot, fp.State.at_home(robot)).jacobian.values
    assert np.allclose(J.T @ (after - before), -np.concatenate([force, np.zeros(3)]), rtol=0, atol=BALANCE * np.abs(force).max())


def test_wrong_forces_change_nothing() -> None:
    session = Session.start(fp.load("stewart-3-3"))
    for bad in ((1.0, 2.0), (np.nan, 0.0, 0.0), (np.inf, 0.0, 0.0)):
        with pytest.raises(fp.InputError, match="three finite numbers"):
            session.push(bad)
    assert session.force == ()


class Nodes:
    """Stands in for the scene: nodes with any attributes."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: type("Node", (), {"remove": lambda self: None})()


def test_the_handle_means_the_force_that_it_shows() -> None:
    state = fp.State.at_home(fp.load("stewart-3-3"))
    handle = ForceHandle(Nodes(), "/force", 5.0, 200.0, np.array([0.0, 0.0, 1.0]))
    handle.shown = True
    handle.draw(state, (30.0, -20.0, 10.0), move=True)
    assert np.allclose(handle.force_at(handle.handle.position, state), (30.0, -20.0, 10.0), rtol=0, atol=BALANCE)
    flat = ForceHandle(Nodes(), "/flat", 5.0, 200.0, np.array([0.0, 0.0, 1.0]), "xy")
    assert flat.force_at(state.position + 1.0, state)[2] == 0.0


def test_the_scale_bar_is_to_the_scale_of_the_arrows() -> None:
    robot = fp.load("stewart-3-3")
    size = extent(robot)
    joints = fp.inverse_kinematics(robot, fp.State.at_home(robot)).joint_position.values
    shown = drawing(robot, joints, platform_corners(robot, fp.State.at_home(robot), np.zeros(0)), size, set())
    force = np.array([205.0, -100.0, 50.0, 20.0, 80.0, 160.0])
    value, length = scale_bar(robot, force, size)
    assert value == 200.0
    assert length == pytest.approx(LONGEST * size * 200.0 / 205.0)
    drawn = actuator_arrows(robot, shown, force, size)
    per_newton = np.linalg.norm(drawn.points[:, 1] - drawn.points[:, 0], axis=1) / np.abs(force[drawn.actuator])
    assert np.allclose(per_newton, length / value)
    assert scale_bar(fp.load("delta"), np.ones(3), 1.0) == (0.0, 0.0), "torques are arcs"


def scene_with_handles(robot: fp.Robot) -> StudioScene:
    """A scene without a page: its handles are what it asked for."""
    nodes = SimpleNamespace(
        world_axes=SimpleNamespace(visible=True),
        configure_environment_map=lambda hdri: None,
        add_light_hemisphere=lambda name, **options: None,
        add_transform_controls=lambda name, **options: SimpleNamespace(name=name, remove=lambda: None, **options),
    )
    scene = StudioScene(SimpleNamespace(scene=nodes))
    scene.view = SimpleNamespace(robot=robot, size=1.0)  # type: ignore[assignment]
    scene._handles(robot, coordinates_of(robot))
    return scene


def test_handles_have_the_axes_of_the_sliders() -> None:
    """Those of a robot whose home is turned had the axes of its platform, one of them across its plane."""
    robot = fp.load("dualemps")
    scene = scene_with_handles(robot)
    scene.place_handle(fp.State.at_home(robot))
    assert [handle.name.rsplit("/", 1)[1] for handle in scene.handles] == ["arrows"]
    assert tuple(scene.handles[0].wxyz) == (1.0, 0.0, 0.0, 0.0), "x and z of the world"
    scene.handles[0].position = np.array([0.1, 0.0, 0.5])
    position, rotation = scene.dragged_to(scene.handles[0], fp.State.at_home(robot))
    assert np.allclose(position, (0.1, 0.0, 0.5))
    assert np.allclose(rotation, robot.home.rotation), "a translation turns nothing"


def test_rings_turn_the_platform_from_home() -> None:
    robot = fp.load("stewart-3-3")
    scene = scene_with_handles(robot)
    rotation = fp.motions.rotvec_rotation(np.array([0.1, -0.2, 0.3]))
    state = fp.State(position=robot.home.position, rotation=rotation @ robot.home.rotation)
    scene.place_handle(state)
    assert np.allclose(scene.dragged_to(scene.handles[1], fp.State.at_home(robot))[1], state.rotation)
