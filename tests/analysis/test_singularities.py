"""Singularities: closed forms of planar robots, finite motions along gained twists, curves against signs on a grid."""

from __future__ import annotations

import numpy as np
import pytest
from space_robots import study_hexapod

import flexapod as fp
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.requests.results import reasons_of
from flexapod.analysis.space.continuation import zero_curves
from flexapod.motions.rotations import rotvec_rotation

ON_CURVE = 1e-9
"""Distance of points from a curve that is known: the corrector's tolerance with its differences."""
POLYGON = 1e-3
"""Relative: the length of a circle by its chords; found 2e-5."""
SINGULAR = 1e-12
"""Smallest singular value at a pose that is singular to the last digit; found 7e-17."""


def test_curves_of_known_functions():
    """A circle and a line that cross the square, a lemniscate-free pair of ovals, and nothing."""
    circle = zero_curves(lambda p: np.sum((p - 0.5) ** 2, axis=1) - 0.09)
    assert len(circle) == 1
    assert circle[0].closed
    assert np.abs(np.linalg.norm(circle[0].points - 0.5, axis=1) - 0.3).max() < ON_CURVE
    length = np.linalg.norm(np.diff(circle[0].points, axis=0), axis=1).sum()
    assert np.isclose(length, 0.6 * np.pi, rtol=POLYGON, atol=0)
    lines = zero_curves(lambda p: (p[:, 0] - 0.31) * (p[:, 1] - 0.77) * 3)
    assert sum(len(line.points) > 100 for line in lines) >= 2
    both = zero_curves(lambda p: np.minimum(np.hypot(*(p - 0.3).T) - 0.1, np.hypot(*(p - 0.7).T) - 0.15))
    assert [c.closed for c in both] == [True, True]
    assert zero_curves(lambda p: 1 + p[:, 0]) == []


def test_a_quarter_of_a_rotation_is_a_straight_line_of_singular_poses():
    """On its axis an octahedral platform is singular at 90 degrees from home, at every height (Fichter 1986)."""
    robot = fp.load("stewart-3-3")
    locus = fp.singularity_locus(robot, {"rz": (1.0, 2.0), "z": (3.5, 5.5)}, cells=12)
    assert len(locus.curves) == 1
    assert np.abs(locus.curves[0][:, 0] - np.pi / 2).max() < ON_CURVE
    assert np.isclose(np.ptp(locus.curves[0][:, 1]), 2.0)
    assert set(locus.table().data_vars) == {"curve", "rz", "z"}


def test_points_of_the_locus_divide_signs():
    robot = study_hexapod(stroke=0.9, cone=170.0, shortest=0.35)
    R = rotvec_rotation(np.array([0.0, 0.2, 0.8]))
    window = {"x": (-0.4, 0.4), "z": (-0.6, 0.6)}
    locus = fp.singularity_locus(robot, window, orientation=R)
    assert locus.curves
    curve = max(locus.curves, key=len)
    middle, tangent = curve[2:-2], curve[3:-1] - curve[1:-3]
    normal = np.column_stack([-tangent[:, 1], tangent[:, 0]]) / np.linalg.norm(tangent, axis=1)[:, None]
    both = []
    for shift in (-1e-4, 1e-4):
        points = middle + shift * normal
        position = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])
        found = fp.singularities(robot, fp.State(position=position, rotation=np.tile(R, (len(points), 1, 1))))
        both.append(found["side"].values)
    assert np.mean(both[0] * both[1] == -1) > 0.98  # all but points next to a crossing


def test_a_gained_twist_moves_the_platform_with_locked_actuators():
    """Along the gained twist the leg lengths change only to second order."""
    robot = fp.load("stewart-3-3")
    R = rotvec_rotation(np.array([0.0, 0.0, np.pi / 2]))  # a quarter of a rotation about the axis: Fichter's singularity
    position = robot.home.position
    found = fp.singularities(robot, fp.State(position=position, rotation=R @ robot.home.rotation))
    assert found["type_2"] < SINGULAR
    assert found["side"] == 0
    assert "type 2: the actuators do not hold" in str(found["text"].values)
    twist = found["gained_twist"].values
    changes = []
    for h in (1e-3, 1e-4):
        moved = fp.State(position=position + h * twist[:3], rotation=rotvec_rotation(h * twist[3:]) @ R @ robot.home.rotation)
        still = fp.State(position=position, rotation=R @ robot.home.rotation)
        q = [fp.inverse_kinematics(robot, s)["actuator_position"].values for s in (moved, still)]
        changes.append(np.abs(q[0] - q[1]).max())
    assert changes[1] < 2e-2 * changes[0], "second order: a hundredth for a tenth of the way"


def test_regular_poses_and_sides():
    robot = fp.load("stewart-3-3")
    home = fp.singularities(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    assert home["side"] == 1
    assert str(home["text"].values).startswith("regular; nearest:")
    assert np.isnan(home["constraint"])
    beyond = rotvec_rotation(np.array([0.0, 0.0, 2.0])) @ robot.home.rotation
    assert fp.singularities(robot, fp.State(position=robot.home.position, rotation=beyond))["side"] == -1
    assert np.isclose(home["type_2"], fp.conditioning(robot, fp.State(position=robot.home.position))["type_2"])


def test_constraints_of_limited_mobility_have_a_distance():
    robot = fp.load("tripteron")
    found = fp.singularities(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    assert 0 < found["constraint"] <= 1
    assert np.all(np.isfinite(found["constraint_twist"]))


def test_aspects_are_the_two_sides_of_the_singularity():
    robot = fp.load("five-bar")
    found = fp.aspects(robot, {"x": (-0.2, 0.2, 25), "y": (0.05, 0.4, 25)})
    valid = found["valid"].values & np.isfinite(found["side"].values)
    assert np.all((found["aspect"].values > 0) == (valid & (found["side"].values != 0)))
    sizes = np.bincount(found["aspect"].values.ravel())[1:]
    assert np.all(np.diff(sizes) <= 0)


def test_windows_that_do_not_fit_are_refused():
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.InputError, match="give two axes as"):
        fp.singularity_locus(robot, {"x": (0, 1)})
    with pytest.raises(fp.InputError, match="redundant"):
        fp.singularity_locus(fp.load("planar-4-prr"), {"x": (0, 1), "y": (0, 1)})


def test_windows_and_steps_without_a_size_are_refused():
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.InputError, match="window: x: every entry must be a finite number"):
        fp.singularity_locus(robot, {"x": (np.nan, 1.0), "y": (0.0, 1.0)})
    with pytest.raises(fp.InputError, match="window: z: every entry must be a finite number"):
        fp.singularity_locus(robot, {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": np.inf})
    with pytest.raises(fp.InputError, match="step: must be positive, got 0"):
        fp.singularity_locus(robot, {"x": (-0.1, 0.1), "y": (0.0, 0.1)}, cells=4, step=0)


@pytest.mark.filterwarnings("ignore:overflow")
def test_components_far_away_have_their_names():
    robot = fp.load("five-bar")
    far = fp.State(position=robot.home.position + np.array([0.0, 0.0, 1e308]), rotation=robot.home.rotation)
    for verb in (fp.inverse_kinematics, fp.singularities):
        with pytest.raises(fp.FlexapodError, match=r"it cannot follow .*translation along z"):
            verb(robot, far)


def test_a_value_on_the_way_that_is_not_finite_is_no_input():
    """The kernel's check of inputs (status -1) also sees values that were computed before it."""
    text = reasons_of(
        kernel(fp.load("five-bar"), "inverse_kinematics").signature, np.array([-1], dtype=np.int32), {"a": np.zeros(1)}
    )
    assert str(text[0]).startswith("an intermediate value is not a finite number, though the inputs are")
