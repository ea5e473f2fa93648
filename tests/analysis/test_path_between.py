"""Paths between poses: what is returned passes a check a hundred times finer, what is refused has its reason."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from space_robots import planar_3rpr, study_hexapod

import flexapod as fp
from flexapod.analysis.poses.pose_jacobians import pose_jacobians
from flexapod.analysis.poses.pose_projection import TAKEN
from flexapod.analysis.poses.row_condition import type_2_distance
from flexapod.analysis.space.leg_distance import pairs_of, segment_distance
from flexapod.analysis.space.path_check import PathPoses, SampledCheck, between
from flexapod.analysis.space.path_check import distance as length_of
from flexapod.analysis.verbs.path_between import STEP
from flexapod.motions.rotations import rotvec_rotation

ROUNDING = 1e-12
"""Distance [m] of points of size 1."""
SAME_LENGTHS = 1e-9
"""Leg lengths [m] of 10 to 15 at poses found by Newton's method."""
APART = 1e-3
"""Poses [m] nearer to each other than this would be one."""
ONE_POSE = 1e-6
"""Poses [m, rad] nearer to each other than this are one: ends of Newton's method from many starts."""

OTHERS = (
    "gough-stewart", "hexaglide", "planar-3-rrr", "planar-3-rpr", "planar-3-prr", "five-bar", "delta", "tripteron", "3-upu",
    "3-puu", "4-ruu", "3-rps", "3-prs", "tricept", "exechon", "3-rsr", "agile-eye", "3-ups-s", "3-rrs-wrist",
    "spherical-five-bar",
)  # fmt: skip
"""Robots of the catalogue whose actuators determine the pose, besides those with a campaign of their own."""

FINER = 2000
"""Samples of every segment in the check: a hundred times those of the search for segments of 0.4."""


def finer_check(robot, path, clearance=None, limits=True, distance=1e-3) -> list[str]:
    """Everything wrong with a path at many samples."""
    check = SampledCheck(robot, limits, distance, clearance)
    wrong, signs = [], set()
    poses = PathPoses(p=path.position, R=path.rotation)
    for i in range(len(poses) - 1):
        samples = check.onto(between(poses[i], poses[i + 1], np.linspace(0, 1, FINER)))
        wrong += [w for w in check.reasons(samples) if w]
        signs |= set(check.signs(samples))
    return wrong + ([] if len(signs) == 1 else [f"signs {signs}"])


def random_pairs(robot, count, seed):
    """Pairs of poses that keep the limits, from a box about home."""
    rng = np.random.default_rng(seed)
    check, found = SampledCheck(robot, True, 1e-3, None), []
    size = 0.35 * robot.characteristic_length
    chosen = np.isin(range(6), robot.plan.platform_independent)  # what a robot of limited mobility cannot choose follows
    while len(found) < 2 * count:
        p = robot.home.position + rng.uniform(-size, size, (200, 3)) * chosen[:3]
        R = rotvec_rotation(rng.uniform(-0.5, 0.5, (200, 3)) * chosen[3:]) @ robot.home.rotation
        poses = check.onto(PathPoses(p=p, R=R))
        found += [poses[i] for i, reason in enumerate(check.reasons(poses)) if not reason]
    return [[fp.State(position=x.p[0], rotation=x.R[0]) for x in found[2 * k : 2 * k + 2]] for k in range(count)]


def campaign(robot, count, seed):
    """Paths found, refused with proof, not found; what is found passes the finer check. How many are certified is printed."""
    found = refused = missed = certified = 0
    for a, b in random_pairs(robot, count, seed):
        try:
            path = fp.path_between(robot, a, b, attempts=200)
        except fp.NoPathError as error:
            refused, missed = refused + (error.proven and error.reason != ""), missed + (not error.proven)
            continue
        found, certified = found + 1, certified + path.certified
        assert path.certified or any(form is None for form in robot.closed_forms)
        assert finer_check(robot, path) == []
        given = [k for k in range(3) if k in robot.plan.platform_independent]  # the others follow to what the constraints leave
        assert np.array_equal(path.position[[0, -1]][:, given], np.array([a.position, b.position])[:, given])
        assert np.allclose(path.position[[0, -1]], [a.position, b.position], rtol=0, atol=TAKEN)
    print(robot.name, "found", found, "certified", certified, "refused", refused, "not found", missed)
    return found, refused, missed


def test_random_pairs_of_a_hexapod():
    found, refused, missed = campaign(study_hexapod(), 6, 1)
    assert found >= 5
    assert found + refused + missed == 6


@pytest.mark.full
@pytest.mark.parametrize("name", ["study", "bench-6ups", "stewart-3-3", "hexapod", "hexaslide", "hexa"])
def test_a_thousand_random_pairs(name):
    robot = study_hexapod() if name == "study" else fp.load(name)
    assert campaign(robot, 1000, 2)[0] >= 900


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_a_thousand_random_pairs_of_other_robots(name):
    found, refused, missed = campaign(fp.load(name), 1000, 2)
    assert found + refused + missed == 1000
    assert found > 0


def test_the_way_around_is_found_where_the_straight_one_is_blocked():
    """Between two tilted poses the straight path leaves a joint limit; the search goes around."""
    robot = study_hexapod(cone=22.0)
    check = SampledCheck(robot, True, 1e-3, None)
    rng = np.random.default_rng(3)
    blocked = None
    for _ in range(300):
        a, b = (s for s in random_pairs(robot, 1, rng.integers(1 << 30))[0])
        pa, pb = (PathPoses(p=s.position[None], R=s.rotation[None]) for s in (a, b))
        if any(check.reasons(between(pa, pb, np.linspace(0, 1, 101)))):
            blocked = (a, b)
            break
    assert blocked, "the example has a blocked straight path"
    path = fp.path_between(robot, *blocked, attempts=400)
    assert len(path.position) > 2
    assert finer_check(robot, path) == []


def test_what_cannot_be_reached_is_refused_with_the_reason():
    robot = study_hexapod()
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    with pytest.raises(fp.NoPathError, match=r"pose b is invalid: actuator . is above its stroke") as error:
        fp.path_between(robot, home, fp.State(position=robot.home.position + np.array([0, 0, 1.0])))
    assert error.value.proven
    wide = study_hexapod(stroke=9.0, cone=170.0, shortest=0.2)
    beyond = rotvec_rotation(np.array([0.0, 0.0, np.radians(115)]))
    with pytest.raises(fp.NoPathError, match="different sides of the type 2 singularities") as error:
        fp.path_between(wide, home, fp.State(position=robot.home.position, rotation=beyond))
    assert error.value.proven


def test_legs_keep_their_distance():
    robot = study_hexapod()
    ((a, b),) = random_pairs(robot, 1, 5)
    path = fp.path_between(robot, a, b, clearance=0.05)
    assert finer_check(robot, path, clearance=0.05) == []
    with pytest.raises(fp.NoPathError):
        fp.path_between(robot, a, b, clearance=0.5)


def lowest(robot, a, b, count):
    """Smallest distance to type 2 singularities at samples of the straight path."""
    ends = (PathPoses(p=s.position[None], R=s.rotation[None]) for s in (a, b))
    poses = SampledCheck(robot, False, 0.0, None).onto(between(*ends, np.linspace(0, 1, count)))
    return float(type_2_distance(pose_jacobians(robot, poses.p, poses.R).rows, robot.characteristic_length).min())


def narrow_pair(name):
    """A robot, two poses, and a distance to singular poses that the samples of the search keep on the straight path, but not the
    poses between them."""
    robot = study_hexapod(stroke=9.0, cone=170.0, shortest=0.2) if name == "study" else fp.load(name)
    rng, size = np.random.default_rng(8), 0.8 * robot.characteristic_length
    chosen = np.isin(range(6), robot.plan.platform_independent)
    check = SampledCheck(robot, False, 1e-3, None)
    for _ in range(200):
        shift, rotation = rng.uniform(-size, size, (2, 3)) * chosen[:3], rng.uniform(-1.1, 1.1, (2, 3)) * chosen[3:]
        poses = check.onto(PathPoses(p=robot.home.position + shift, R=rotvec_rotation(rotation) @ robot.home.rotation))
        a, b = (fp.State(position=poses.p[k], rotation=poses.R[k]) for k in (0, 1))
        if any(check.reasons(poses)) or not check.good(poses[0], poses[1], check.signs(poses)[0], STEP / 10):
            continue
        step = STEP if name == "study" else STEP / 10
        count = max(2, int(np.ceil(length_of(poses[0], poses[1], robot.characteristic_length) / step)) + 1)
        rough, fine = lowest(robot, a, b, count), lowest(robot, a, b, 4001)
        if rough - fine > 1e-8:
            return robot, a, b, (rough + fine) / 2
    raise AssertionError("no pair has its smallest distance between two samples")


@pytest.mark.parametrize("name", ["study", "five-bar"])
def test_the_distance_from_singular_poses_is_kept_between_samples(name):
    robot, a, b, distance = narrow_pair(name)
    path = fp.path_between(robot, a, b, limits=False, distance=distance, attempts=100)
    states = [fp.State(position=p, rotation=R) for p, R in zip(path.position, path.rotation, strict=True)]
    assert path.certified == all(lowest(robot, *pair, 4001) >= distance for pair in pairwise(states))
    assert path.certified or name != "study"
    path = fp.path_between(robot, a, b, limits=False, distance=0.9 * distance, attempts=30)
    assert path.certified


def test_distance_of_segments():
    rng = np.random.default_rng(6)
    a0, a1, b0, b1 = rng.normal(size=(4, 300, 3))
    b1[:50] = b0[:50] + 0.7 * (a1 - a0)[:50]  # parallel
    grid = np.linspace(0, 1, 201)
    brute = np.full(300, np.inf)
    for s in grid:
        for t in grid[::4]:
            brute = np.minimum(brute, np.linalg.norm(a0 + s * (a1 - a0) - b0 - t * (b1 - b0), axis=1))
    exact = segment_distance(a0, a1, b0, b1)
    assert np.all(exact <= brute + ROUNDING)
    assert np.all(brute - exact < 0.05)
    assert len(pairs_of(fp.load("stewart-3-3"))) == 15 - 6  # neighbours share a joint


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"clearance": np.nan}, "clearance: every entry must be a finite number"),
        ({"clearance": -1.0}, "clearance: expected a number from 0 up, got -1"),
        ({"distance": np.nan}, "distance: every entry must be a finite number"),
        ({"distance": -1.0}, "distance: expected a number from 0 up, got -1"),
    ],
)
def test_numbers_that_ask_for_nothing_are_refused(given, message):
    robot = fp.load("bench-6ups")
    home, up = (fp.State(position=robot.home.position + np.array([0, 0, z])) for z in (0.0, 0.1))
    with pytest.raises(fp.InputError, match=message):
        fp.path_between(robot, home, up, **given)


def test_ends_are_one_finite_pose_each():
    robot = fp.load("bench-6ups")
    home = fp.State(position=robot.home.position)
    with pytest.raises(fp.InputError, match="b: every entry of position and rotation must be a finite number"):
        fp.path_between(robot, home, fp.State(position=[np.nan, 0.0, 4.0]))
    with pytest.raises(fp.InputError, match="b: expected a State of one pose, got 2 poses"):
        fp.path_between(robot, home, fp.State(position=np.array([robot.home.position] * 2)))


@pytest.mark.full
def test_a_cusp_lets_a_3rpr_change_its_assembly_mode():
    """Innocenti and Parenti-Castelli 1992, the example of McAree and Daniel 1999: two poses of the same leg lengths, joined
    without a singularity."""
    robot = planar_3rpr()
    lengths = np.array([14.98, 15.38, 12.0])
    found = planar_assemblies(lengths)
    same = [(i, j) for i in range(len(found)) for j in range(i) if found[i][3] * found[j][3] > 0]
    assert same, "two assembly modes have the same sign of the determinant"
    paths = []
    for i, j in same:
        a, b = (
            fp.State(position=[x, y, 0.0], rotation=rotvec_rotation(np.array([0, 0, t]))) for x, y, t, _ in (found[i], found[j])
        )
        try:
            paths.append((fp.path_between(robot, a, b, distance=1e-4, limits=False, attempts=300), a, b))
        except fp.NoPathError:
            continue
    assert paths
    path, a, b = paths[0]
    print("certified:", path.certified)
    q = [fp.inverse_kinematics(robot, s)["actuator_position"].values for s in (a, b)]
    assert np.allclose(q[0], q[1], rtol=0, atol=SAME_LENGTHS)
    assert not np.allclose(a.position, b.position, rtol=0, atol=APART)
    assert finer_check(robot, path, limits=False, distance=1e-4) == []


GEOMETRY = {"c2": 15.91, "c3": 0.0, "d3": 10.0, "l2": 17.04, "l3": 20.84, "theta": 0.8822}
"""Base (0, 0), (c2, 0), (c3, d3); platform: sides l2, l3 from the first joint with the angle theta between them."""


def planar_assemblies(lengths):
    """All poses (x, y, angle, determinant) of the planar 3-RPR, by a scan of the angle and Newton's method."""
    A = np.array([[0, 0], [GEOMETRY["c2"], 0], [GEOMETRY["c3"], GEOMETRY["d3"]]])
    B = np.array([[0, 0], [GEOMETRY["l2"], 0], GEOMETRY["l3"] * np.array([np.cos(GEOMETRY["theta"]), np.sin(GEOMETRY["theta"])])])

    def residual(z):
        c, s = np.cos(z[2]), np.sin(z[2])
        d = z[:2] + B @ np.array([[c, s], [-s, c]]) - A
        return np.sum(d * d, axis=1) - lengths**2, d, B @ np.array([[-s, c], [-c, -s]])

    found = []
    for angle in np.linspace(-np.pi, np.pi, 60, endpoint=False):
        for around in np.linspace(0, 2 * np.pi, 24, endpoint=False):
            z = np.array([lengths[0] * np.cos(around), lengths[0] * np.sin(around), angle])
            for _ in range(30):
                f, d, dB = residual(z)
                J = np.column_stack([2 * d, 2 * np.sum(d * dB, axis=1)])
                step = np.linalg.lstsq(J, -f, rcond=None)[0]
                z = z + step * min(1.0, 3.0 / np.linalg.norm(step))
            f, d, dB = residual(z)
            if np.abs(f).max() < 1e-9:
                z[2] = (z[2] + np.pi) % (2 * np.pi) - np.pi
                if not any(np.allclose(z, other[:3], rtol=0, atol=ONE_POSE) for other in found):
                    found.append((*z, np.linalg.det(np.column_stack([d, np.sum(d * dB, axis=1)]))))
    return found
