"""One scene for studio, report, gallery and `show --plot`: what is drawn of a robot is where the robot is, and shows its kind."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.leg_curves import home_joints
from flexapod.views.plots.robot_figures import FILL
from flexapod.views.scene.colours import DARK
from flexapod.views.scene.frames import drawn_pose, leg_ends, link_frames
from flexapod.views.scene.framing import place_in_picture
from flexapod.views.scene.labels import APART, COVERED, name_parts, name_place
from flexapod.views.scene.shapes import BALL, drawing, extent, ground_parts, payload_balls, platform_corners, rails
from flexapod.views.studio.camera import ASPECT, FIELD, camera_place, level, oblique, seen_points, upward_direction

ROBOTS = ["stewart-3-3", "hexaslide", "delta", "five-bar", "planar-4-prr"]
NEAR = 0.06
"""Largest distance of a drawn surface from the robot's joints and rails, of its extent: the thickest part is a motor."""
FILLS = 1e-3
"""Of the picture: a search for the distance of the camera."""
SAME = 1e-12
"""[m]: middles of the ends of rails."""


def shown(name: str):  # type: ignore[no-untyped-def]
    robot = fp.load(name)
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    rest = np.zeros(len(robot.elastic_names))
    joints = drawn_pose(robot, state, rest)[1]
    return robot, joints, drawing(robot, joints, platform_corners(robot, state, rest), extent(robot), set())


@pytest.mark.parametrize("name", ROBOTS)
def test_the_figure_has_every_leg_where_it_is(name: str) -> None:
    robot, joints, _ = shown(name)
    figure, size = fp.figures.robot_figure(robot), extent(robot)
    traces = {trace.name: trace for trace in figure.data}
    assert {f"leg {leg.name}" for leg in robot.legs} | {"joints and motors"} <= set(traces)
    assert ("platform" in traces) == (name != "five-bar"), "the platform of a five-bar is a point"
    ends = leg_ends(robot, link_frames(robot, joints))
    for k, leg in enumerate(robot.legs):
        trace = traces[f"leg {leg.name}"]
        points = np.column_stack([trace.x, trace.y, trace.z]).astype(float)
        assert np.linalg.norm(points - ends[k], axis=1).min() < NEAR * size, "a leg does not reach its end"
        assert max(trace.i.max(), trace.j.max(), trace.k.max()) < len(points)
        assert len(trace.facecolor) == len(trace.i)
    sides = figure.layout.scene.aspectratio
    every = np.hstack([[t.x, t.y, t.z] for t in figure.data]).astype(float)
    span = np.ptp(every, axis=1)
    assert np.allclose(np.array([sides.x, sides.y, sides.z]) / span, sides.x / span[0]), "to scale"


@pytest.mark.parametrize("name", ["3-prs", "stewart-3-3", "exechon", "tricept", "hexaglide", "spherical-five-bar"])
def test_the_whole_robot_is_in_the_picture(name: str) -> None:
    """Long robots are not cut off at the border, and none is lost in the middle."""
    figure = fp.figures.robot_figure(fp.load(name))
    every = np.hstack([[t.x, t.y, t.z] for t in figure.data]).astype(float).T
    low, high = every.min(axis=0), every.max(axis=0)
    view = figure.layout.scene
    sides = np.array([view.aspectratio.x, view.aspectratio.y, view.aspectratio.z])
    camera = [np.array([at.x, at.y, at.z], dtype=float) for at in (view.camera.eye, view.camera.up)]
    assert place_in_picture(sides * (every - 0.5 * (low + high)) / (high - low), *camera) == pytest.approx(FILL, rel=FILLS)
    eye, up = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    assert place_in_picture(np.array([[0.0, 0.0, np.tan(np.radians(22.5))]]), eye, up) == pytest.approx(1)
    assert place_in_picture(np.array([[1.0, 0.0, 0.0]]), eye, up) == np.inf


def test_joints_differ_by_kind() -> None:
    _, _, stewart = shown("stewart-3-3")
    assert len(stewart.balls) == 6, "spherical joints are balls"
    assert np.allclose(stewart.ball_radius, BALL * extent(fp.load("stewart-3-3")))
    robot, _, delta = shown("delta")
    assert len(delta.balls) == 0, "universal joints are crosses"
    assert [c for c in delta.hardware.colour].count(DARK) == 3, "one motor for each driven hinge"
    lengths = np.linalg.norm(np.array(delta.rods.end) - np.array(delta.rods.start), axis=1)
    assert np.isclose(lengths, 0.8).sum() == 6, "the forearms of a delta are pairs of rods"
    _, _, planar = shown("planar-4-prr")
    assert len(planar.balls) == 0
    assert robot.legs[0].closing.type == "universal"


@pytest.mark.parametrize("name", ["dualemps", "planar-3-rrr-flexible"])
def test_names_of_bending_legs_are_apart(name: str) -> None:
    """They are on the beams, which are drawn in many pieces, not where legs meet."""
    robot, _, drawn = shown(name)
    apart = np.linalg.norm(drawn.middle[:, None] - drawn.middle[None], axis=2)
    assert apart[np.triu_indices(len(apart), 1)].min() > 0.15 * extent(robot)


@pytest.mark.parametrize("name", ["hexaglide", "stewart-3-3", "8-ups", "par4"])
def test_names_of_legs_do_not_cover_each_other(name: str) -> None:
    """As the robot is seen: legs that cross in the view had one name on the other (`hexaglide`)."""
    robot, _, drawn = shown(name)
    up = upward_direction(robot)
    seen = oblique(robot, up, level(robot, up))
    d, size = seen / np.linalg.norm(seen), extent(robot)

    def nearest(parts: Any) -> float:
        places = np.array([name_place(drawn, k, part) for k, part in enumerate(parts)])
        flat = places - np.outer(places @ d, d)
        return float(np.linalg.norm(flat[:, None] - flat[None], axis=2)[np.triu_indices(len(flat), 1)].min())

    assert nearest(name_parts(drawn, robot.home.position + 100.0 * size * d, size)) > APART * size
    assert (nearest(np.full(len(robot.legs), 0.5)) < APART * size) == (name == "hexaglide"), "only there they are moved"


def test_names_are_not_on_legs_in_front() -> None:
    """The name of leg 1 of `h4` was on leg 2, which crosses it in the view."""
    robot, _, drawn = shown("h4")
    up, size = upward_direction(robot), extent(robot)
    eye = camera_place(seen_points(robot, size), up, oblique(robot, up, level(robot, up)), FIELD, ASPECT)[0]
    middle = np.array([name_place(drawn, k, 0.5) for k in range(4)])
    chosen = np.array([name_place(drawn, k, part) for k, part in enumerate(name_parts(drawn, eye, size))])
    start, end, owner = (np.array(a) for a in (drawn.rods.start, drawn.rods.end, drawn.rods.leg))

    def covered(places: np.ndarray) -> list[int]:
        """Legs whose name has a finely sampled rod of another leg before it."""
        t = np.linspace(0.0, 1.0, 201)[:, None]
        found = []
        for k, place in enumerate(places):
            d = (eye - place) / np.linalg.norm(eye - place)
            points = np.concatenate([a + t * (b - a) for a, b, leg in zip(start, end, owner, strict=True) if leg != k]) - place
            away = np.linalg.norm(points - np.outer(points @ d, d), axis=1)
            if np.any((points @ d > 0.0) & (away < 0.9 * COVERED * size)):
                found.append(k)
        return found

    assert covered(middle) == [0]
    assert covered(chosen) == []


def test_rails_have_end_stops_and_feet_a_base_plate() -> None:
    robot = fp.load("hexaslide")
    fixed, outline = ground_parts(robot, extent(robot))
    assert outline is None
    assert len(fixed.start) == 3 * len(rails(robot)) == 18
    middles = 0.5 * (np.array(fixed.start) + np.array(fixed.end))
    for low, high in rails(robot):
        assert np.linalg.norm(middles - low, axis=1).min() < SAME
        assert np.linalg.norm(middles - high, axis=1).min() < SAME
    stewart = fp.load("stewart-3-3")
    fixed, outline = ground_parts(stewart, extent(stewart))
    assert not fixed.start
    assert outline is not None
    assert len(outline) == 3


@pytest.mark.parametrize(("name", "feet"), [("par4", 4), ("delta-flexible", 3)])
def test_only_feet_make_a_base_plate(name: str, feet: int) -> None:
    """Halves of a platform, which are held by their loops alone, stand on no base; beams are no free joints."""
    robot = fp.load(name)
    outline = ground_parts(robot, extent(robot))[1]
    assert outline is not None
    assert len(outline) == feet


def test_a_base_that_floats_is_drawn_where_it_is() -> None:
    robot = fp.load("hexapod-floating")
    assert ground_parts(robot, extent(robot))[1] is None, "nothing stays on the ground"
    drawn = drawing(robot, home_joints(robot), np.zeros((6, 3)), extent(robot), set())
    rods = [k for k, leg in enumerate(drawn.hardware.leg) if leg == -1]
    assert len(rods) == 6, "from foot to foot"
    moved = home_joints(robot)
    for k in range(6):  # every leg sits on the hull: its first coordinate is the hull's x
        moved[np.cumsum([0, *[len(leg.home) for leg in robot.legs]])[k]] += 0.1
    other = drawing(robot, moved, np.zeros((6, 3)), extent(robot), set())
    for k in rods:
        assert np.allclose(other.hardware.start[k] - drawn.hardware.start[k], (0.1, 0.0, 0.0))


def test_modes_of_planar_robots_are_seen_in_plan() -> None:
    robot = fp.load("planar-3-rrr")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    modes = fp.natural_frequencies(robot, home, actuators=[1e5] * 3, prestress=False)
    figure = fp.figures.mode_figure(robot, modes, [1, 2], home)
    for view in (figure.layout.scene, figure.layout.scene2):
        assert view.camera.projection.type == "orthographic"
        assert (view.camera.eye.x, view.camera.eye.y) == (0.0, 0.0)
        assert view.aspectratio.x / view.aspectratio.y == pytest.approx(_span(figure, "x") / _span(figure, "y"))


def _span(figure: Any, axis: str) -> float:
    return float(np.ptp(np.concatenate([np.asarray(trace[axis], dtype=float) for trace in figure.data])))


def test_planar_robots_are_seen_along_their_normal() -> None:
    camera = fp.figures.robot_figure(fp.load("five-bar")).layout.scene.camera
    assert camera.projection.type == "orthographic"
    assert (camera.eye.x, camera.eye.y) == (0.0, 0.0)


def test_payloads_are_balls_where_they_are_fixed() -> None:
    robot = fp.load("stewart-3-3").with_payload(mass=100.0, com=(0.1, 0.2, 0.4))
    R = fp.motions.rotvec_rotation(np.array([0.0, 0.0, 0.5 * np.pi]))
    centre, radius = payload_balls(robot, fp.State(position=np.array([1.0, 2.0, 3.0]), rotation=R))
    assert np.allclose(centre, [[0.8, 2.1, 3.4]])
    assert np.allclose(4.0 / 3.0 * np.pi * radius**3 * 2700.0, 100.0)
    assert len(payload_balls(fp.load("delta"), fp.State(position=np.zeros(3), rotation=np.eye(3)))[1]) == 0
    platform = next(t for t in fp.figures.robot_figure(robot).data if t.name == "platform")
    bare = next(t for t in fp.figures.robot_figure(fp.load("stewart-3-3")).data if t.name == "platform")
    assert len(platform.x) > len(bare.x)
