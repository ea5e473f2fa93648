"""Certified pavings: no contradiction with sampled poses, the fast way agrees with the general one, volumes are bounded."""

from __future__ import annotations

import numpy as np
import pytest
from space_robots import study_hexapod

import flexapod as fp
from flexapod.analysis.space.cut_boxes import half_space_share
from flexapod.analysis.space.pose_bounds import PoseBounds
from flexapod.analysis.space.shell_bounds import ShellBounds
from flexapod.motions.rotations import rotvec_rotation

VOLUMES = 1e-9
"""Rounding of 1e5 volumes, relative."""
FRACTIONS = 1e-8
"""Shares of boxes are rounded to 1e-9."""

TILTED = rotvec_rotation(np.array([0.12, -0.2, 0.17]))


def sampled(robot, points, rotation, singularities=True):
    """valid (n,) by fp.workspace's own map and, unless it does not count, the sign of det J, both without intervals."""
    from flexapod.analysis.space.limits import limits_of
    from flexapod.analysis.space.pose_map import PoseMap

    R = np.ascontiguousarray(np.broadcast_to(rotation, (len(points), 3, 3)))
    facts = PoseMap(limits_of(robot)).evaluate(points, R)
    bound = fp.kernel(robot, "jacobian", joints=False)
    J = bound.batch({"position": points, "rotation": R}).outputs["jacobian"]
    J0 = bound.batch({"position": robot.home.position[None], "rotation": robot.home.rotation[None]}).outputs["jacobian"]
    with np.errstate(invalid="ignore"):
        same = np.sign(np.linalg.det(np.nan_to_num(J))) == np.sign(np.linalg.det(J0[0]))
    return (facts.code == 0) & (same | (not singularities))


def contradictions(robot, rotation, count, seed, region=None, **options):
    paving = fp.pave(robot, region, orientation=rotation, **options)
    rng = np.random.default_rng(seed)
    points = rng.uniform(paving.low, paving.high, (count, 3))
    where = paving.where(points)
    R = robot.home.rotation if rotation is None else rotation
    valid = sampled(robot, points, R, options.get("singularities", True))
    assert np.any(where == 1)
    assert np.any(where == -1)
    boxes = paving.where(points, alone=False)
    assert np.array_equal(boxes[boxes != 0], where[boxes != 0])
    assert np.mean(where == 0) < 1e-3, "poses by themselves are decided, unless they lie at a limit"
    return int(np.sum((where == 1) & ~valid) + np.sum((where == -1) & valid)), paving


@pytest.mark.parametrize("rotation", [None, TILTED])
def test_a_paving_agrees_with_sampled_poses(rotation):
    wrong, paving = contradictions(study_hexapod(), rotation, 40_000, 1, undecided=0.02)
    assert wrong == 0
    assert paving.volume_low <= paving.volume_high <= paving.volume_low * 1.021


@pytest.mark.full
@pytest.mark.parametrize("rotation", [None, TILTED])
def test_a_paving_agrees_with_a_million_sampled_poses(rotation):
    robot = study_hexapod()
    assert contradictions(robot, rotation, 1_000_000, 2, undecided=0.001)[0] == 0


@pytest.mark.full
@pytest.mark.parametrize("name", ["hexapod", "hexaslide", "hexa"])
def test_pavings_of_sliders_and_cranks_agree_with_sampled_poses(name):
    robot = fp.load(name)
    size = 1.5 * robot.characteristic_length
    region = {axis: (x - size, x + size) for axis, x in zip("xyz", robot.home.position.tolist(), strict=True)}
    assert contradictions(robot, None, 100_000, 3, region, undecided=0.05, most=60_000, singularities=False)[0] == 0


def volumes(paving, which):
    """Corners of boxes and their volumes."""
    low, high = paving.corners(which)
    free = paving.high > paving.low
    return low, high, np.prod((high - low)[:, free], axis=1)


@pytest.mark.parametrize("general", [False, pytest.param(True, marks=pytest.mark.full)])
def test_boxes_alone_leave_little_undecided_and_do_not_contradict_sampled_poses(general, monkeypatch):
    """Without cuts by planes: every part is a box; random poses of boxes inside are good, those of no box at all are not."""
    robot = study_hexapod()
    if general:
        monkeypatch.setattr("flexapod.analysis.verbs.pave.applies", lambda *_: False)
    part = 0.2 if general else 0.05
    paving = fp.pave(robot, cut=False, undecided=part, progress=False)
    assert paving.volume_undecided <= part * paving.volume_low
    low, high, inside = volumes(paving, "inside")
    assert inside.sum() == pytest.approx(paving.volume_low, rel=VOLUMES)
    u_low, u_high, undecided = volumes(paving, "undecided")
    assert undecided.sum() == pytest.approx(paving.volume_undecided, rel=VOLUMES)
    rng = np.random.default_rng(11)
    chosen = rng.choice(len(low), 20_000, p=inside / inside.sum())
    good = low[chosen] + rng.random((len(chosen), 3)) * (high - low)[chosen]
    assert np.all(sampled(robot, good, robot.home.rotation))
    valid = rng.uniform(paving.low, paving.high, (40_000, 3))
    valid = valid[sampled(robot, valid, robot.home.rotation)][:400]
    corners = np.concatenate([low, u_low]), np.concatenate([high, u_high])
    assert all(np.any(np.all((p >= corners[0]) & (p <= corners[1]), axis=1)) for p in valid)


@pytest.mark.full
def test_one_percent_in_boxes_alone():
    """The count of the issue: no more than 1 % of the volume in undecided boxes."""
    paving = fp.pave(study_hexapod(), cut=False, undecided=0.01, progress=False)
    assert volumes(paving, "undecided")[2].sum() <= 0.01 * volumes(paving, "inside")[2].sum()


def test_volume_lies_between_its_bounds():
    robot = study_hexapod()
    paving = fp.pave(robot, undecided=0.003)
    rng = np.random.default_rng(5)
    n = 150_000
    hits = sampled(robot, rng.uniform(paving.low, paving.high, (n, 3)), robot.home.rotation).mean()
    volume, error = hits * np.prod(paving.high - paving.low), np.prod(paving.high - paving.low) * np.sqrt(hits / n)
    assert paving.volume_low - 4 * error < volume < paving.volume_high + 4 * error
    coarse = fp.pave(robot, undecided=0.03)
    assert coarse.volume_low <= paving.volume_high
    assert paving.volume_low <= coarse.volume_high


def test_a_ball_has_its_volume():
    """One leg: its stroke leaves a shell, whose volume is known."""
    from flexapod.analysis.verbs.pave import _Halving

    bounds = ShellBounds(study_hexapod(), None, strokes=True, angles=False, singularities=False)
    bounds.counts, bounds.centres[:] = (1, 0, False), 0.25
    bounds.numbers |= {f"centre.0.{k}": 0.25 for k in "xyz"} | {"shortest.0": 0.5**2, "longest.0": 1.0**2}
    paving = _Halving(bounds, np.full(3, -1.0), np.full(3, 1.5), 0.01, True, 10**6).run(False)
    exact = 4 / 3 * np.pi * (1 - 0.5**3)
    assert paving.volume_low <= exact <= paving.volume_high
    assert paving.volume_high - paving.volume_low < 0.011 * exact


def test_the_fast_way_and_intervals_never_contradict_each_other():
    robot = study_hexapod(cone=30.0)
    fast = ShellBounds(robot, TILTED, strokes=True, angles=True, singularities=True)
    general = PoseBounds(robot, "position", rotation=TILTED)
    rng = np.random.default_rng(6)
    decided = 0
    for size in (0.2, 0.02, 0.002):
        low = robot.home.position + rng.uniform(-0.3, 0.3, (4000, 3))
        low = np.round(low * 2**20) / 2**20
        fast.prepared(low.min(axis=0), low.max(axis=0) + size)
        a = fast.decide(low, low + size, np.ones((len(low), 3), dtype=bool))
        b = general.decide(low, low + size, np.ones((len(low), 3), dtype=bool))
        assert not np.any(a.inside & b.outside)
        assert not np.any(a.outside & b.inside)
        decided += np.sum((a.inside | a.outside) & (b.inside | b.outside))
        rest = ~(a.inside | a.outside | b.inside | b.outside)
        certain, possible = fast.cut(low[rest], low[rest] + size, a.groups[rest], a, rest)
        certain2, possible2 = general.cut(low[rest], low[rest] + size, a.groups[rest], b, rest)
        assert np.all(certain <= possible2 + FRACTIONS)
        assert np.all(certain2 <= possible + FRACTIONS)
        one, other = (bounds.trim(low[rest], low[rest] + size, a.groups[rest]) for bounds in (fast, general))
        for own, planes in ((one, possible), (other, possible2)):  # boxes prove no more than planes allow
            assert np.all(own.certain <= planes + FRACTIONS)
            assert np.all(own.certain <= own.possible)
    assert decided > 6000


def test_singular_poses_divide_the_workspace():
    """Without its other limits, poses beyond the singularity are outside, and the cubic has the sign of the Jacobian."""
    robot = study_hexapod(stroke=0.9, cone=170.0, shortest=0.35)
    R = rotvec_rotation(np.array([0.0, 0.2, 0.8]))
    wrong, paving = contradictions(robot, R, 30_000, 7, undecided=0.1, most=300_000)
    assert wrong == 0
    free = fp.pave(robot, orientation=R, singularities=False, undecided=0.1, most=300_000)
    assert free.volume_low > 1.2 * paving.volume_high, "the example has a part beyond its singularity"


def test_share_of_a_half_space():
    rng = np.random.default_rng(8)
    w, alpha = rng.uniform(0, 1, (200, 3)) * [1.0, 0.3, 0.05], rng.uniform(-1.2, 1.2, 200)
    t = rng.uniform(-1, 1, (20_000, 3))
    hits = (alpha[:, None] + w @ t.T >= 0).mean(axis=1)
    low, high = half_space_share(alpha, w, -1), half_space_share(alpha, w, 1)
    assert np.all(low <= high)
    assert np.all(low - 0.02 < hits)  # 4 standard deviations of 20 000 samples are 0.014
    assert np.all(hits < high + 0.02)
    assert np.all(high - low < 0.05)  # two components of 2 % each on either side


def test_a_slice_is_an_area_and_what_does_not_fit_is_refused():
    robot = study_hexapod()
    z = float(robot.home.position[2])
    paving = fp.pave(robot, {"z": z}, undecided=0.01)
    assert paving.axes == ("x", "y", "z")
    assert 0.02 < paving.volume_low < 0.2
    table = paving.table()
    assert table.sizes["box"] == sum(len(v) for v in (*paving.inside.values(), *paving.undecided.values()))
    with pytest.raises(fp.InputError, match="no axis 'rx'"):
        fp.pave(robot, {"rx": (0, 1)})
    with pytest.raises(fp.InputError, match="the first number must be the smaller one"):
        fp.pave(robot, {"x": (1, 0)})
