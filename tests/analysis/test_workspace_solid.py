"""Workspaces as solids: closed forms of volume and area, order of convergence, kinds in each other, files read back."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from space_robots import study_hexapod

import flexapod as fp
from flexapod.analysis.space.pose_tests import RATES, Demands, PoseTests
from flexapod.analysis.space.tetrahedra import surface
from flexapod.analysis.verbs.workspace_solid import _surface

SINGLE = 1e-4
"""Of a volume by corners in single precision, which have 7 digits; found 3e-8."""


def ball(points):
    return np.linalg.norm(points - [0.1, 0.0, -0.2], axis=1) <= 0.7


def test_surface_of_a_ball_converges_with_second_order():
    errors = []
    for n in (10, 20, 40):
        mesh = _surface(ball, np.full(3, -1.0), np.full(3, 1.0), n)
        errors.append([abs(mesh.volume / (4 / 3 * np.pi * 0.7**3) - 1), abs(mesh.area / (4 * np.pi * 0.7**2) - 1)])
    assert np.all(np.array(errors[0]) / np.array(errors[1]) > 3)
    assert np.all(np.array(errors[1]) / np.array(errors[2]) > 3)
    assert errors[2][0] < 3e-3


def test_a_surface_is_closed_and_looks_outwards():
    axes = tuple(np.linspace(-1, 1, 15) for _ in range(3))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    mesh = surface(ball(grid.reshape(-1, 3)).reshape(15, 15, 15), axes, ball)
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    there = {tuple(e) for e in edges.tolist()}
    assert len(there) == len(edges), "every edge once in each direction"
    assert all((b, a) in there for a, b in there)
    assert mesh.volume > 0


def test_solid_and_paving_have_the_same_volume():
    robot = study_hexapod()
    solid = fp.workspace_solid(robot, resolution=24)
    paving = fp.pave(robot, undecided=0.01)
    middle = (paving.volume_low + paving.volume_high) / 2
    assert abs(solid.volume - middle) < solid.volume_error + 0.01 * middle
    centre, radius = solid.ball()
    rng = np.random.default_rng(1)
    d = rng.normal(size=(4000, 3))
    on = centre + 0.97 * radius * d / np.linalg.norm(d, axis=1)[:, None]  # the surface is made of flat faces
    assert np.all(solid.inside(on))
    assert radius > 0.5 * (middle * 3 / 4 / np.pi) ** (1 / 3) * 0.8
    low, high = solid.box()
    assert np.allclose(high - low, (high - low)[0])
    assert np.all(solid.inside(rng.uniform(low, high, (4000, 3))))
    flat = solid.box((2.0, 2.0, 1.0))
    assert np.isclose((flat[1] - flat[0])[0], 2 * (flat[1] - flat[0])[2])


def test_kinds_lie_in_each_other():
    robot = study_hexapod()
    options = {
        "resolution": 10,
        "orientations": (2, 4, 3),
        "region": {a: (-0.3 + 0.65 * (a == "z"), 0.3 + 0.65 * (a == "z")) for a in "xyz"},
    }
    constant = fp.workspace_solid(robot, resolution=16)
    total = fp.workspace_solid(robot, "total-orientation", tilt=0.1, torsion=0.1, **options)
    reachable = fp.workspace_solid(robot, "reachable", tilt=0.1, torsion=0.1, **options)
    points = np.random.default_rng(2).uniform(constant.low, constant.high, (3000, 3))
    a, b, c = (solid.inside(points) for solid in (total, constant, reachable))
    assert np.all(b[a])
    assert np.all(c[b])
    assert a.sum() < b.sum() < c.sum()
    with pytest.raises(fp.InputError, match="no pose of the grid is in the dexterous workspace"):
        fp.workspace_solid(robot, "dexterous", resolution=8, orientations=(2, 4, 2))


def test_orientation_workspace_agrees_with_the_sweep():
    robot = study_hexapod()
    solid = fp.workspace_solid(
        robot, "orientation", resolution=24, region={k: (-1.2, 1.2) for k in ("tilt_x", "tilt_y", "torsion")}
    )
    tilt, azimuth, torsion = np.random.default_rng(3).uniform([0, -np.pi, -1], [1, np.pi, 1], (200, 3)).T
    inside = solid.inside(np.column_stack([tilt * np.cos(azimuth), tilt * np.sin(azimuth), torsion]))
    for k in range(0, 200, 10):
        area = fp.workspace(robot, orientation={"tilt": tilt[k], "azimuth": azimuth[k], "torsion": torsion[k]}, progress=False)
        assert bool(area.valid.values.ravel()[0]) >= bool(inside[k])  # the solid also asks for the side of the singularities
    assert inside.any()


def test_demands_shrink_the_workspace():
    robot = study_hexapod()
    home = fp.State(position=robot.home.position)
    kappa = float(fp.conditioning(robot, home)["condition_number"])
    force = float(np.abs(fp.inverse_dynamics(robot, home)["force"].values).max())
    whole = fp.workspace_solid(robot, resolution=12)
    for demand in ({"condition": 1.02 * kappa}, {"force": 1.6 * force}, {"mounting": np.radians(40)}):
        part = fp.workspace_solid(robot, resolution=12, **demand)
        assert 0 < part.volume < whole.volume, demand
        points = part.vertices.mean(axis=0)[None]
        assert np.all(whole.inside(points) >= part.inside(points))


def test_forces_along_a_motion_count():
    """Pose by pose against the motion carried there: limits by check_motion, forces by inverse_dynamics."""
    robot, limit = study_hexapod(), 250.0
    home = robot.home.position
    way = fp.motions.line(start=home, end=home + np.array([0.02, 0.0, 0.01]), duration=0.15, samples=41)
    p = home + np.random.default_rng(4).uniform(-0.1, 0.1, (24, 3))
    R = np.tile(robot.home.rotation, (len(p), 1, 1))
    found, static = (PoseTests(robot, Demands(force=limit, along=along))(p, R) for along in (way, None))
    for k in range(len(p)):
        rates = {name: getattr(way, name) for name in RATES}
        moved = fp.Motion(time=way.time, position=way.position - way.position[0] + p[k], rotation=way.rotation, **rates)
        force = np.abs(fp.inverse_dynamics(robot, moved, on_error="mask")["force"].values).max()
        assert found[k] == (static[k] and force <= limit and not fp.check_motion(robot, moved).violations), k
    assert found.any()
    assert np.any(static & ~found)


def test_legs_that_cannot_keep_their_distance_leave_nothing():
    """Neighbouring joints of the platform are 2 r sin 15 deg = 0.155 m apart, so that no pose keeps more."""
    robot = study_hexapod()
    assert fp.workspace_solid(robot, resolution=8, clearance=0.15).volume > 0
    with pytest.raises(fp.InputError, match="no pose of the grid"):
        fp.workspace_solid(robot, resolution=8, clearance=0.16)


def test_files_of_the_surface_are_read_back(tmp_path):
    solid = fp.workspace_solid(study_hexapod(), resolution=12)
    stl = solid.save(tmp_path / "space.stl").read_bytes()
    count = int.from_bytes(stl[80:84], "little")
    assert count == len(solid.faces)
    assert len(stl) == 84 + 50 * count
    record = np.frombuffer(stl[84:], dtype=[("n", "<f4", 3), ("c", "<f4", (3, 3)), ("x", "<u2")])
    c = record["c"].astype(float)
    c = c - c.mean(axis=(0, 1))
    assert np.isclose(np.einsum("ni,ni->n", c[:, 0], np.cross(c[:, 1], c[:, 2])).sum() / 6, solid.volume, rtol=SINGLE, atol=0)
    ply = solid.save(tmp_path / "space.ply").read_text().splitlines()
    first = ply.index("end_header") + 1
    vertices = np.array([[float(x) for x in row.split()] for row in ply[first : first + len(solid.vertices)]])
    assert np.array_equal(vertices, solid.vertices)
    table = np.loadtxt(solid.save(tmp_path / "space.csv"), delimiter=",", skiprows=1)
    assert np.array_equal(table, solid.vertices)
    with pytest.raises(fp.InputError, match=r"written as .stl, .ply or .csv"):
        solid.save(tmp_path / "space.obj")


def test_what_does_not_fit_is_refused():
    robot = study_hexapod()
    with pytest.raises(fp.InputError, match="needs a range of orientations"):
        fp.workspace_solid(robot, "reachable")
    with pytest.raises(fp.InputError, match="a constant orientation has no range"):
        fp.workspace_solid(robot, tilt=0.3)
    with pytest.raises(fp.InputError, match="reaches the border of the region"):
        fp.workspace_solid(robot, resolution=8, region={"x": (-0.02, 0.02)})
    with pytest.raises(fp.InputError, match="expected one of constant-orientation"):
        fp.workspace_solid(robot, "all")


def test_a_region_that_was_not_given_grows_until_it_holds_the_workspace():
    """Two characteristic lengths about home do not hold the workspace of the Delta: its arms reach 1.1 m."""
    robot = fp.load("delta")
    solid = fp.workspace_solid(robot, resolution=8)
    assert np.any(np.abs(solid.vertices - robot.home.position) > 2 * robot.characteristic_length)
    assert np.all((solid.vertices > solid.low) & (solid.vertices < solid.high))


@pytest.mark.parametrize(("name", "axes"), [("planar-3-rpr", "z"), ("five-bar", "z"), ("3-rps", "x and y")])
def test_positions_that_cannot_be_chosen_are_no_solid(name, axes):
    with pytest.raises(fp.InputError, match=f"{name}: its platform cannot control {axes}, so that its positions are not a solid"):
        fp.workspace_solid(fp.load(name), resolution=8)


def test_regions_are_spans_and_are_said():
    robot = study_hexapod()
    with pytest.raises(fp.InputError, match="region: z is one number; a solid needs"):
        fp.workspace_solid(robot, resolution=8, region={"z": 0.0})
    with pytest.raises(fp.InputError, match=r"border of the region \(x -0.02 to 0.02, y .* to .*, z .*\); give a larger region"):
        fp.workspace_solid(robot, resolution=8, region={"x": (-0.02, 0.02)})


def test_a_solid_travels_and_unused_samples_are_refused() -> None:
    robot = fp.load("stewart-3-3")
    solid = fp.workspace_solid(robot, resolution=8)
    points = np.random.default_rng(1).uniform(solid.low, solid.high, (50, 3))
    again = pickle.loads(pickle.dumps(solid))
    assert np.array_equal(again.inside(points), solid.inside(points))
    assert again.volume == solid.volume
    with pytest.raises(fp.InputError, match="orientations: samples a range of orientations, and the kind constant-orientation"):
        fp.workspace_solid(robot, resolution=8, orientations=(9, 9, 9))
    with pytest.raises(fp.InputError, match="orientations: expected three whole numbers above 0"):
        fp.workspace_solid(robot, "reachable", tilt=0.1, resolution=8, orientations=3)  # type: ignore[arg-type]
