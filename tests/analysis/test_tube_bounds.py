"""Proofs by contraction over boxes of positions and along paths, for legs that are closed by iteration and fewer DOF than six."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.space.contraction import Contraction, contracts
from flexapod.analysis.space.path_check import PathPoses, SampledCheck, between
from flexapod.analysis.space.tube_bounds import TubeBounds

SAMPLES = 3000
"""Random poses against which a paving is checked."""

TANGENT = 1e-4
"""Relative half width of the boxes whose planes are compared with inverse kinematics; their distance is of its square."""


def judged(robot, points):
    """Whether poses keep all limits on home's side of the singularities, by the map of `workspace`."""
    check = SampledCheck(robot, True, 0.0, None)
    home = PathPoses(p=robot.home.position[None], R=robot.home.rotation[None])
    poses = check.onto(PathPoses(p=points, R=np.tile(robot.home.rotation, (len(points), 1, 1))))
    return np.array([r == "" for r in check.reasons(poses)]) & (check.signs(poses) == check.signs(home)[0])


SECOND_ORDER = 0.26
"""Distance of planes of half a box over that of the whole: a quarter, and the rounding of rows; measured 0.24998."""


def contradictions(robot, region, undecided, most, **options):
    """Poses that a paving and the map judge differently; the paving; and the shares of poses that it proves."""
    paving = fp.pave(robot, region, undecided=undecided, most=most, progress=False, **options)
    points = np.random.default_rng(1).uniform(paving.low, paving.high, (SAMPLES, 3))
    where, valid = paving.where(points, alone=False), judged(robot, points)
    wrong = int(np.sum((where == 1) & ~valid) + np.sum((where == -1) & valid))
    return wrong, paving, float(np.mean(where == 1)), float(np.mean(where == -1))


FIVE_BAR = {"x": (-0.12, 0.12), "y": (0.25, 0.55)}
"""Beyond the reach at the top: poses inside and outside."""


def test_a_paving_of_a_five_bar_agrees_with_sampled_poses():
    wrong, paving, inside, outside = contradictions(fp.load("five-bar"), FIVE_BAR, 0.1, 8000)
    assert wrong == 0
    assert inside > 0.2
    assert outside > 0.02
    assert paving.volume_low <= paving.volume_high <= 0.24 * 0.3 * 1.001


@pytest.mark.full
@pytest.mark.parametrize("name", ["five-bar", "planar-3-rrr", "planar-3-prr", "delta", "tripteron", "3-upu"])
def test_pavings_of_other_legs_agree_with_sampled_poses(name):
    robot = fp.load(name)
    size = 0.4 * robot.characteristic_length
    dependent = TubeBounds(robot, None, strokes=True, angles=True, singularities=True).dependent_axes
    free = [axis for k, axis in enumerate("xyz") if k not in dependent]
    region = {axis: (float(robot.home.position["xyz".index(axis)]) - size, float(robot.home.position["xyz".index(axis)]) + size)
              for axis in free[:2]}  # fmt: skip
    region |= {axis: float(robot.home.position["xyz".index(axis)]) for axis in free[2:]}
    wrong, paving, inside, outside = contradictions(robot, region, 0.05, 20_000)
    print(name, "inside", inside, "outside", outside, "boxes", paving.boxes, paving.volume_low, paving.volume_high)
    assert wrong == 0
    assert inside > 0


@pytest.mark.parametrize("name", ["five-bar", "delta"])
def test_planes_hold_the_actuators(name):
    """Actuators at random poses of small boxes lie between the planes, by inverse kinematics."""
    robot = fp.load(name)
    balls, rng = Contraction(robot), np.random.default_rng(2)
    n, h = 6, TANGENT * robot.characteristic_length
    free = [k for k in robot.plan.platform_independent if k < 3]
    p, moves = np.tile(robot.home.position, (n, 1)), np.zeros((n, 3, 6))
    p[:, free] += 0.05 * robot.characteristic_length * rng.uniform(-1, 1, (n, len(free)))
    for k in free:
        moves[:, k, k] = h / robot.characteristic_length
    found = balls.over(p, np.tile(robot.home.rotation, (n, 1, 1)), moves)
    assert found.proven.all()
    check, driven, largest = SampledCheck(robot, True, 0.0, None), list(robot.driven), 0.0
    for _ in range(5):
        t = rng.uniform(-1, 1, (n, 3)) * np.isin(range(3), free)
        at = check.onto(PathPoses(p=p + h * t, R=np.tile(robot.home.rotation, (n, 1, 1))))
        q = fp.inverse_kinematics(robot, fp.State(position=at.p, rotation=at.R), joints=False).actuator_position.values
        tangent = found.q[:, driven] + np.einsum("nmk,nk->nm", found.slope[:, driven], t)
        off = np.abs(q - tangent)
        assert np.all(off <= found.rest[:, driven])
        largest = max(largest, float((off / found.rest[:, driven]).max()))
    half = balls.over(p, np.tile(robot.home.rotation, (n, 1, 1)), 0.5 * moves)
    ratio = half.rest[:, driven] / found.rest[:, driven]
    assert np.all(ratio < SECOND_ORDER), "planes come together with the square of the box"
    assert 0.0 < largest <= 1.0


@pytest.mark.parametrize("name", ["delta", "3-rps"])
def test_paths_of_robots_of_limited_mobility_are_certified(name):
    robot = fp.load(name)
    assert contracts(robot)
    size = 0.1 * robot.characteristic_length
    free = [k for k in robot.plan.platform_independent if k < 3]
    shift = np.zeros((2, 3))
    shift[:, free] = [[size] * len(free), [-size] * len(free)]
    a, b = (fp.State(position=robot.home.position + d, rotation=robot.home.rotation) for d in shift)
    path = fp.path_between(robot, a, b)
    assert path.certified
    check, poses = SampledCheck(robot, True, 0.0, None), PathPoses(p=path.position, R=path.rotation)
    for i in range(len(poses) - 1):
        samples = check.onto(between(poses[i], poses[i + 1], np.linspace(0, 1, 400)))
        assert not any(check.reasons(samples))
        assert len(set(check.signs(samples))) == 1


def test_what_cannot_be_proven_is_refused_with_the_reason():
    with pytest.raises(fp.FlexapodError, match="as many actuators as degrees of freedom"):
        fp.pave(fp.load("planar-4-prr"))
    bar = fp.load("five-bar")
    with pytest.raises(fp.FlexapodError, match="only positions at one orientation can be proven"):
        fp.pave(bar, kind="orientation")
    with pytest.raises(fp.InputError, match="no axis 'z': five-bar cannot control it; there are x, y"):
        fp.pave(bar, {"z": (0.0, 1.0)})
    with pytest.raises(fp.FlexapodError, match="clearance: available for six legs in closed form"):
        fp.pave(bar, clearance=0.01)
