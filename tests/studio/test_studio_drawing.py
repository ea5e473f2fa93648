"""Drawings: frames against the kernels' bodies, closed legs, lengths of rods, meshes that face outwards."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.leg_curves import home_joints
from flexapod.views.scene.arrows import ARC, ASIDE, LONGEST, actuator_arrows, joint_places, reaction_arrows
from flexapod.views.scene.beam_curve import beam_curve
from flexapod.views.scene.colours import RED
from flexapod.views.scene.frames import drawn_pose, leg_ends, link_frames
from flexapod.views.scene.meshes import cylinder, cylinder_placements, plate, sphere
from flexapod.views.scene.shapes import (
    Drawing,
    arc,
    base_points,
    drawing,
    extent,
    floats,
    platform_corners,
    platform_surface,
    rails,
    spherical_centre,
)
from flexapod.views.studio.camera import ASIDE as SCALE_ASIDE
from flexapod.views.studio.camera import (
    EDGE,
    FIELD,
    FILLED,
    camera_place,
    level,
    oblique,
    scale_place,
    seen_points,
    tilt,
    upward_direction,
)
from flexapod.views.studio.flat_arrows import HEAD_LENGTH, RING, RING_RADIUS, SHAFT, arrow_lines
from flexapod.views.studio.numbers import numbers_of
from flexapod.views.studio.scene import HANDLE
from flexapod.views.studio.shown import linear

ROBOTS = [name for name in fp.catalogue() if name != "dualemps-8"]
"""The catalogue, but for a robot that is another one with more beam elements: its equations take long to compile."""
CLOSED = 1e-9
"""Distance between a leg's end and the platform, of the robot's size: Newton's tolerance of general legs."""
AT_HOME = 1e-6
"""Of the robot's size: joints at home are those of the file, to its digits."""
WITHIN = 1e-9
"""Relative: a length that may be the size itself."""
CHORDS = 0.01
"""Of an arc, by its chords."""
ROUNDING = 1e-12
"""Relative, and [m]: sums of lengths."""
SMALL_ANGLES = 1e-5
"""Of a deflection of 1e-6 of the length: second order of its angles."""
ROTATED = 1e-8
"""[m] of lengths of some metres: a quaternion along a line that may be straight down."""
BITS = 5
"""Of 255: eight bits of linear light are coarse in the dark."""


@pytest.mark.parametrize("name", ROBOTS)
def test_frames_are_where_the_kernels_have_the_bodies(name: str) -> None:
    robot = fp.load(name)
    state = fp.State.at_home(robot)
    elastic = numbers_of(robot, state).elastic
    joints = drawn_pose(robot, state, elastic)[1]
    frames = link_frames(robot, joints)
    corners = platform_corners(robot, state, elastic)
    for leg, end, corner in zip(robot.legs, leg_ends(robot, frames), corners, strict=True):
        there = leg.closing.to
        if there is not None:  # a leg that ends on a body of another
            other = frames[there[0]][there[1]]
            corner = other.origin + other.rotation @ leg.closing.on_platform.position
        assert np.abs(end - corner).max() < CLOSED * robot.size, leg.name
    if robot.elastic_legs:
        return  # the verb has no bodies of legs that bend
    bent = elastic if len(elastic) else None
    bodies = fp.inverse_kinematics(robot, state, joints=False, bodies=True, elastic=bent)
    places = dict(zip(bodies.body.values, bodies.body_position.values, strict=True))
    for leg, own in zip(robot.legs, frames, strict=True):
        for link, frame in zip(leg.links, own, strict=True):
            if link.body:
                place = places[f"{leg.name}.{link.body.name}"]
                assert np.allclose(frame.origin, place, rtol=0, atol=CLOSED * robot.size), link.coordinate


@pytest.mark.parametrize("name", fp.catalogue())
def test_home_is_drawn_from_the_file_alone(name: str) -> None:
    """The picture ahead of all numbers: legs that the file has at home end at the platform, or on each other."""
    robot = fp.load(name)
    frames = link_frames(robot, home_joints(robot))
    corners = platform_corners(robot, fp.State.at_home(robot), np.zeros(0))
    for leg, end, corner in zip(robot.legs, leg_ends(robot, frames), corners, strict=True):
        there = leg.closing.to
        if there is not None:
            other = frames[there[0]][there[1]]
            corner = other.origin + other.rotation @ leg.closing.on_platform.position
        assert np.abs(end - corner).max() < AT_HOME * robot.size, leg.name


@pytest.mark.parametrize("name", ROBOTS)
def test_everything_has_a_size_and_a_place(name: str) -> None:
    robot = fp.load(name)
    numbers = numbers_of(robot, fp.State.at_home(robot))
    size = extent(robot)
    corners = platform_corners(robot, numbers.state, numbers.elastic)
    shown = drawing(robot, drawn_pose(robot, numbers.state, numbers.elastic)[1], corners, size, set())
    lengths = np.linalg.norm(np.array(shown.rods.end) - np.array(shown.rods.start), axis=1)
    assert np.all(np.isfinite(lengths))
    assert lengths.max() > 0.02 * size  # a beam of several elements is drawn in short pieces
    assert np.all(lengths <= size * (1 + WITHIN))
    assert len(shown.balls) == len(shown.ball_radius) == len(shown.ball_colour)
    found = actuator_arrows(robot, shown, numbers.force, size)
    assert len(found.points) == len(found.leg) == len(found.push)
    straight = [k for k, leg in enumerate(found.leg) if any(x.actuated and x.kind == "P" for x in robot.legs[leg].links)]
    if straight:
        lengths = np.linalg.norm(found.points[straight, 1] - found.points[straight, 0], axis=1)
        assert np.isclose(lengths.max(), LONGEST * size)
        away = np.linalg.norm(np.array(found.points[straight, 0]) - _nearest(shown, found.points[straight, 0]), axis=1)
        assert np.all(away > 0.5 * ASIDE * size), "an arrow lies on its leg"
    torques = numbers.force[np.array(robot.actuator_units) == "rad"]
    if len(torques) and np.abs(torques).max() > 1e-9:
        assert len(found.arcs), "torques are arcs round their axis"
    points, shapes, triangles = platform_surface(robot)
    assert triangles is None or triangles.max() < len(points)
    assert shapes is None or len(shapes) == len(points)
    standing = sum(not floats(leg) for leg in robot.legs) or len(robot.legs)
    assert base_points(robot).shape == (standing, 3)


def _nearest(shown: Drawing, points: np.ndarray) -> np.ndarray:
    """The nearest point of all rods to each point (n, 3)."""
    a, b = np.array(shown.rods.start), np.array(shown.rods.end)
    way = b - a
    length = np.maximum((way**2).sum(axis=1), 1e-30)
    s = np.clip(np.einsum("nrk,rk->nr", points[:, None] - a, way) / length, 0.0, 1.0)
    places = a + s[..., None] * way
    best = np.linalg.norm(places - points[:, None], axis=2).argmin(axis=1)
    return np.asarray(places[np.arange(len(points)), best])


def test_torques_turn_by_the_right_hand() -> None:
    """The arc of a positive torque goes counter-clockwise round its axis, longer for a larger torque."""
    robot = fp.load("five-bar")
    state = fp.State.at_home(robot)
    shown = drawing(robot, drawn_pose(robot, state, np.zeros(0))[1], platform_corners(robot, state, np.zeros(0)), 1.0, set())
    found = actuator_arrows(robot, shown, np.array([2.0, -1.0]), 1.0)
    for k, (sign, part) in enumerate(((1.0, 1.0), (-1.0, 0.5))):
        frame = shown.frames[k][0]
        line = found.arcs[found.arc_push == (sign > 0)]
        rotation = np.cross(line[:, 0] - frame.origin, line[:, 1] - frame.origin) @ frame.rotation[:, 2]
        assert np.all(sign * rotation > 0)
        assert np.isclose(
            np.linalg.norm(line[:, 1] - line[:, 0], axis=1).sum(), 8 / 9 * 1.5 * np.pi * ARC * part, rtol=CHORDS, atol=0
        )


def test_rods_of_a_telescopic_leg_add_up_to_its_length() -> None:
    robot = fp.load("stewart-3-3")
    state = fp.State(position=robot.home.position + np.array([0.2, 0.1, -0.3]), rotation=robot.home.rotation)
    shown = drawing(robot, drawn_pose(robot, state, np.zeros(0))[1], platform_corners(robot, state, np.zeros(0)), 1.0, {"C"})
    starts, ends = np.array(shown.rods.start), np.array(shown.rods.end)
    total = np.linalg.norm(ends - starts, axis=1).reshape(len(robot.legs), -1).sum(axis=1)
    position = fp.inverse_kinematics(robot, state, joints=False).actuator_position.values
    assert np.allclose(total, position + 5.0, rtol=ROUNDING, atol=0)  # this robot counts its actuators from 5 m
    red = {tuple(c) for c in np.array(shown.rods.colour).reshape(len(robot.legs), -1, 3)[2]}
    assert RED in red


def test_beams_are_drawn_as_they_bend() -> None:
    """A tip that turns and shifts like a clamped beam under a force at its end: the drawn line is that beam's cubic."""
    robot = fp.load("dualemps")
    k, element = next((k, e) for k, leg in enumerate(robot.legs) for e in robot.beams.get(leg.name, ())[:1])
    leg = robot.legs[k]
    joints = np.concatenate([leg.home for leg in robot.legs])
    at = sum(len(other.moving) for other in robot.legs[:k])
    where = {leg.links[i].coordinate.rsplit(".", 1)[-1]: at + n for n, i in enumerate(leg.moving) if i in element.links}
    straight = beam_curve(link_frames(robot, joints)[k], link_frames(robot, joints)[k], element, element.tip)
    length = float(np.linalg.norm(straight[-1] - straight[0]))
    assert np.allclose(np.linalg.norm(np.diff(straight, axis=0), axis=1), length / (len(straight) - 1))
    bent = joints.copy()
    v = 1e-6 * length
    bent[where["v"]], bent[where["theta"]] = v, 1.5 * v / length
    line = beam_curve(link_frames(robot, bent)[k], link_frames(robot, joints)[k], element, element.tip)
    s = np.linspace(0.0, 1.0, len(line))
    cantilever = v * (3 * s**2 - s**3) / 2
    assert np.allclose(np.linalg.norm(line - straight, axis=1), cantilever, rtol=0, atol=SMALL_ANGLES * v)


def test_arrows_push_where_the_force_is_positive() -> None:
    robot = fp.load("stewart-3-3")
    state = fp.State.at_home(robot)
    shown = drawing(robot, drawn_pose(robot, state, np.zeros(0))[1], platform_corners(robot, state, np.zeros(0)), 1.0, set())
    force = np.array([100.0, -50.0, 100.0, 0.0, 100.0, 100.0])
    found = actuator_arrows(robot, shown, force, 1.0)
    arrows = found.points
    assert list(found.leg) == [0, 1, 2, 4, 5]
    assert list(found.push) == [True, False, True, True, True]
    up = arrows[:, 1, 2] - arrows[:, 0, 2]
    assert up[0] > 0 > up[1]
    assert np.isclose(np.linalg.norm(arrows[1, 1] - arrows[1, 0]), 0.5 * LONGEST)


def test_arrows_are_bundles_of_lines() -> None:
    """Tip and tail to half a thickness; no gap between neighbouring lines of a head; a short arrow is a small head."""
    thick = 0.01
    for way in ((0.0, 0.0, 0.3), (0.1, -0.2, 0.05), (0.0, -0.01, 0.0)):
        points = np.array([[[1.0, 2.0, 3.0], np.add((1.0, 2.0, 3.0), way)]])
        lines, length = arrow_lines(points, thick), float(np.linalg.norm(way))
        assert lines.shape == (SHAFT + RING, 2, 3)
        along = (lines - points[0, 0]) @ np.array(way) / length
        across = np.linalg.norm(lines - points[0, 0] - along[..., None] * np.array(way) / length, axis=2)
        assert np.isclose(along.min(), 0.0, rtol=0, atol=ROUNDING)
        assert np.isclose(along.max() + 0.5 * thick, length), "lines end in half a circle"
        ring = lines[SHAFT:, 1]
        assert np.linalg.norm(np.roll(ring, 1, axis=0) - ring, axis=1).max() < thick
        assert np.isclose(across.max(), RING_RADIUS * thick * min(1.0, length / (HEAD_LENGTH * thick)))
    assert arrow_lines(np.zeros((0, 2, 3)), thick).shape == (0, 2, 3)


@pytest.mark.parametrize("name", ["8-ups", "stewart-3-3", "planar-3-prr"])
def test_arrows_stand_beside_their_legs_as_they_are_seen(name: str) -> None:
    """The arrow of a leg that points at the camera stood before it."""
    robot = fp.load(name)
    state, size, up = fp.State.at_home(robot), extent(robot), upward_direction(robot)
    seen = oblique(robot, up, level(robot, up))
    shown = drawing(robot, drawn_pose(robot, state, np.zeros(0))[1], platform_corners(robot, state, np.zeros(0)), size, set())
    found = actuator_arrows(robot, shown, np.full(len(robot.actuators), 10.0), size, 1.0, seen)
    for leg, (start, end) in zip(found.leg, found.points, strict=True):
        slide = next(k for k, link in enumerate(robot.legs[leg].links) if link.actuated)
        across = np.cross(end - start, seen)
        gap = (start - shown.frames[leg][slide].origin) @ across / np.linalg.norm(across)
        assert abs(gap) == pytest.approx(ASIDE * size), "as seen, the arrow is on the leg"


@pytest.mark.parametrize("name", ["stewart-3-3", "hexaglide", "8-ups", "planar-3-prr", "dualemps"])
def test_the_scale_bar_is_before_the_robot_and_on_no_leg(name: str) -> None:
    robot = fp.load(name)
    size, up = extent(robot), upward_direction(robot)
    start, right = scale_place(robot, size)
    seen = oblique(robot, up, level(robot, up))
    assert abs(right @ seen) < ROUNDING * np.linalg.norm(seen), "it is seen in its full length"
    points = seen_points(robot, size)
    own = points[:-3]
    bar = start + np.linspace(0.0, LONGEST * size, 9)[:, None] * right
    assert np.linalg.norm(bar[:, None] - own[None], axis=2).min() > 0.9 * SCALE_ASIDE * size
    position, middle = camera_place(points, up, seen, FIELD, 1.3)
    d = (position - middle) / np.linalg.norm(position - middle)
    above = np.cross(d, right)
    part = np.abs((bar - position) @ above) / -((bar - position) @ d) / np.tan(0.5 * FIELD)
    assert part.max() <= FILLED * (1 + WITHIN), "it is in the view"


def test_reactions_have_places() -> None:
    robot = fp.load("hexaslide")
    numbers = numbers_of(robot, fp.State.at_home(robot), reactions=True)
    corners = platform_corners(robot, numbers.state, np.zeros(0))
    shown = drawing(robot, drawn_pose(robot, numbers.state, np.zeros(0))[1], corners, 1.0, set())
    assert numbers.reaction
    assert set(numbers.reaction) <= set(joint_places(robot, shown))
    assert len(reaction_arrows(robot, shown, numbers.reaction, 1.0)) > 6
    assert len(rails(robot)) == 6


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_meshes_face_outwards_and_have_their_volume() -> None:
    n = 18
    prism = 0.5 * n * np.sin(2 * np.pi / n)  # of the polygon that represents the circle
    assert np.isclose(volume(*cylinder()), prism)
    assert 0.9 * 4 / 3 * np.pi < volume(*sphere()) < 4 / 3 * np.pi
    outline = np.array([[0.0, 0, 1], [2, 0, 1], [2, 1, 1], [0, 1, 1]])
    for corners in (outline, outline[::-1]):
        assert np.isclose(volume(*plate(corners, 0.1)), 0.2)


def test_cylinders_reach_from_start_to_end() -> None:
    random = np.random.default_rng(1)
    start, end = random.normal(size=(2, 20, 3))
    end[0] = start[0] + [0.0, 0.0, -1.0]  # straight down
    end[1] = start[1]  # no length
    quat, middle, scale = cylinder_placements(start, end, np.full(20, 0.1))
    R = fp.motions.quat_wxyz_rotation(quat)
    tip = middle + np.einsum("nij,nj->ni", R, np.column_stack([np.zeros((20, 2)), 0.5 * scale[:, 2]]))
    assert np.allclose(tip, end, rtol=0, atol=ROTATED)


def test_colours_survive_the_renderer() -> None:
    """Linear light, encoded again by the renderer's curve, is the colour that was meant."""
    meant = np.array([[0, 114, 178], [230, 159, 0], [255, 255, 255], [0, 0, 0]])
    light = linear(meant) / 255.0
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    assert np.abs(255 * shown - meant).max() < BITS


@pytest.mark.parametrize("name", fp.catalogue())
def test_cameras_see_the_points_of_the_platform(name: str) -> None:
    """A tool far from the joints, as that of `spherical-five-bar`, is within the view, and so is the handle of a planar robot."""
    robot = fp.load(name)
    seen = seen_points(robot, extent(robot))
    handle = [HANDLE * extent(robot) * np.eye(3)["xyz".index(a)] for a in robot.description.file.plane or ()]
    for point in (*robot.platform.points.values(), *(robot.home.rotation.T @ arrow for arrow in handle)):
        place = robot.home.position + robot.home.rotation @ point
        assert np.all(seen.min(axis=0) <= place)
        assert np.all(place <= seen.max(axis=0))


@pytest.mark.parametrize("name", ["8-ups", "stewart-3-3", "hexaglide", "planar-3-prr"])
def test_cameras_see_the_longest_arrows(name: str) -> None:
    """Pushing and pulling with the same force, at every drive: no arrow leaves the view at home."""
    robot = fp.load(name)
    up, size, state = upward_direction(robot), extent(robot), fp.State.at_home(robot)
    direction, corners = oblique(robot, up, level(robot, up)), platform_corners(robot, state, np.zeros(0))
    shown = drawing(robot, home_joints(robot), corners, size, set())
    for sign in (1.0, -1.0):
        arrows = actuator_arrows(robot, shown, sign * np.ones(len(robot.actuators)), size, seen=direction)
        position, target = camera_place(seen_points(robot, size), up, direction, FIELD, 1.0)
        d = (position - target) / np.linalg.norm(position - target)
        right = np.cross(up, d) / np.linalg.norm(np.cross(up, d))
        rays = arrows.points.reshape(-1, 3) - position
        depth = -rays @ d
        for axis in (right, np.cross(d, right)):
            assert np.abs(rays @ axis / depth).max() < np.tan(0.5 * FIELD)


@pytest.mark.parametrize("name", fp.catalogue())
def test_no_platform_is_seen_edge_on(name: str) -> None:
    robot = fp.load(name)
    up = upward_direction(robot)
    assert robot.planar or tilt(robot, oblique(robot, up, level(robot, up))) > EDGE


def test_links_of_spherical_robots_are_arcs() -> None:
    """About the point that all hinges point to; robots of another kind have straight links."""
    found = {name for name in fp.catalogue() if spherical_centre(fp.load(name)) is not None}
    assert found == {"agile-eye", "spherical-five-bar", "3-rrs-wrist"}
    robot = fp.load("agile-eye")
    state = fp.State.at_home(robot)
    shown = drawing(robot, home_joints(robot), platform_corners(robot, state, np.zeros(0)), extent(robot), set())
    centre = spherical_centre(robot)
    assert centre is not None
    long = [k for k, leg in enumerate(shown.rods.leg) if np.linalg.norm(shown.rods.end[k] - shown.rods.start[k]) > 1e-9]
    apart = np.linalg.norm(np.array(shown.rods.start)[long] - centre, axis=1)
    assert apart.min() > 0.099, "a straight bar would come nearer to the centre"
    assert apart.max() < 0.141
    assert len(set(shown.named)) == len(robot.legs)
    points = arc(np.array([2.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.zeros(3))
    assert np.allclose(points[[0, -1]], [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert np.linalg.norm(points[6]) == pytest.approx(1.5)
