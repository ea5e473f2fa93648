"""Workspace maps: against brute force pose by pose, whatever the blocks; resumed, interrupted, refused in words."""

import json
import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs import workspace as module
from flexapod.equations.singular_values import singular_values
from flexapod.kernels.tape.program import Program
from flexapod.motions.rotations import euler_rotation, rotvec_rotation
from support.plain import compile_kernel

CONDITION = 1e-10  # relative, more near singular poses; LAPACK against Jacobi rotations in the kernel, measured 1e-14
SINGULAR_VALUES = 1e-13
"""Of the largest: LAPACK against Jacobi rotations; found 8e-16."""
NEAR_SINGULAR = 1e-5
"""Growth of that tolerance with the condition number, which counts from 1e5 on."""
ROUNDING = 1e-12
"""Strokes [m], angles [rad], singular values of unit rows, condition numbers (relative): kernels of different verbs."""


@pytest.mark.parametrize("shape", [(6, 6), (7, 6), (3, 3), (4, 2), (6, 1)])
def test_singular_values_are_those_of_lapack(shape):
    b = Program("values")
    A = b.input("A", shape)
    b.output("s", singular_values(b, ca.densify(A)), shape=(shape[1],))
    compiled = compile_kernel(b, backend="numpy")
    random = np.random.default_rng(1)
    matrices = random.normal(size=(200, *shape))
    matrices[0] = 0.0
    matrices[1] = np.ones(shape)
    matrices[2] = np.eye(*shape)
    matrices[3:20] *= 10.0 ** random.uniform(-6, 0, (17, 1, shape[1]))  # columns of very different size
    matrices[20:40, :, 0] = matrices[20:40, :, -1] * 2.0  # rank deficient
    found = np.sort(compiled.batch({"A": matrices}).outputs["s"], axis=1)[:, ::-1]
    exact = np.linalg.svd(matrices, compute_uv=False)
    assert np.abs(found - exact).max() < SINGULAR_VALUES * exact.max()


GRIDS = {
    "stewart-3-3": {"x": (-2, 2, 5), "y": [0.3], "z": (3, 6.5, 6)},
    "hexapod": {"x": (-0.3, 0.3, 5), "z": (0.5, 0.7, 3), "rz": [-0.3, 0.0, 0.4]},
    "hexa": {"x": (-0.3, 0.3, 4), "z": (-0.8, -0.3, 4)},
    "delta": {"x": (-0.5, 0.5, 5), "y": (-0.5, 0.5, 3), "z": (-1.0, -0.5, 3)},
    "planar-4-prr": {"x": (-0.2, 0.2, 5), "y": [0.0, 0.1], "rz": [-0.1, 0.0, 0.1]},
    "tripteron": {"x": (-0.4, 0.4, 5), "y": [0.0], "z": (-0.3, 0.3, 3)},
}


@pytest.mark.parametrize("name", GRIDS)
def test_map_agrees_with_single_poses(name):
    """Every pose by itself: inverse kinematics for reach and strokes, LAPACK for conditioning."""
    robot = fp.load(name)
    area = fp.workspace(robot, GRIDS[name], details=True)
    known = robot.legs[0].links
    stroke = np.array(next(k.limits.stroke if k.limits else (-np.inf, np.inf) for k in known if k.actuated))
    seen = {True: 0, False: 0}
    for index in np.ndindex(*area["valid"].shape):
        axes = {d: float(area[d][i]) for d, i in zip(area["valid"].dims, index, strict=True)}
        position = np.array([axes.get(k, robot.home.position["xyz".index(k)]) for k in "xyz"])
        rotation = rotvec_rotation(np.array([axes.get(k, 0.0) for k in ("rx", "ry", "rz")]))
        at = fp.State(position=position, rotation=rotation @ robot.home.rotation)
        legs = fp.inverse_kinematics(robot, at, joints=False, on_error="mask")
        reached = bool(legs["valid"])
        q = legs["actuator_position"].values
        one = area.isel(dict(zip(area["valid"].dims, index, strict=True)))
        good = reached and bool(np.all((q >= stroke[0]) & (q <= stroke[1])))
        assert bool(one["valid"]) == good, (axes, str(area["reason_text"].values[int(one["reason"])]))
        assert np.isfinite(float(one["condition_number"])) == reached
        if reached:
            judged = fp.conditioning(robot, at)
            condition = float(judged["condition_number"])
            assert float(one["condition_number"]) == pytest.approx(condition, rel=CONDITION * (1.0 + NEAR_SINGULAR * condition))
            assert float(one["type_2"]) == pytest.approx(float(judged["type_2"]), abs=ROUNDING)
            assert float(one["type_1"]) == pytest.approx(float(judged["type_1"].min()), abs=ROUNDING)
            np.testing.assert_allclose(one["actuator_position"].values, q, rtol=0, atol=ROUNDING)
            assert float(one["stroke_margin"]) == pytest.approx(np.minimum(q - stroke[0], stroke[1] - q).min(), abs=ROUNDING)
            assert float(one["deflection"]) == float(one["joint_deflection"].max())
        seen[good] += 1
    assert min(seen.values()) > 0, "the grid has good and bad poses"


def test_reasons_in_words():
    robot = fp.load("hexapod")
    area = fp.workspace(robot, {"x": [0.0, 0.3, 3.0]})
    words = area["reason_text"].values[area["reason"].values]
    assert words.tolist() == [
        "",
        "leg A cannot reach: its platform joint is too far from the rail",
        "leg A cannot reach: its platform joint is too far from the rail",
    ]
    robot = fp.load("stewart-3-3")
    flat = fp.workspace(robot, {"z": [0.0, 4.33, 9.0]}, limits=False)
    words = flat["reason_text"].values[flat["reason"].values].tolist()
    assert re.fullmatch(r"leg [A-F] is singular \(type 1\)", words[0])
    assert words[1:] == ["", ""]
    rotated = fp.workspace(robot, {"z": [4.0], "rz": [0.0, np.pi / 2]}, limits=False)
    held = "the platform is not held by the actuators (singular, type 2)"
    assert rotated["reason_text"].values[rotated["reason"].values].tolist() == [["", held]]
    strict = fp.workspace(robot, {"z": [4.33], "rz": [0.0, 1.0]}, limits=False, max_condition=4.0)
    assert strict["reason_text"].values[strict["reason"].values].tolist() == [["", "the condition number is above 4.0"]]
    delta = fp.workspace(fp.load("delta"), {"rx": [0.0, 0.1]})
    assert delta["reason_text"].values[delta["reason"].values].tolist() == [
        "",
        "the robot cannot reach this pose: its mobility does not allow it",
    ]


def test_joint_angles_are_a_reason(tmp_path):
    text = fp.catalogue()["stewart-3-3"].read_text(encoding="utf-8")
    path = tmp_path / "robot.yaml"
    path.write_text(text.replace("hip: {type", "hip: {limits: {angle: 5 deg}, type"), encoding="utf-8")
    area = fp.workspace(fp.load(path), {"x": [0.0, 1.0]})
    assert area["valid"].values.tolist() == [True, False]
    word = str(area["reason_text"].values[area["reason"].values[1]])
    assert word.endswith("is beyond its angle limit of 5 deg")
    assert area["angle_margin"].values[0] == pytest.approx(np.radians(5), abs=ROUNDING)
    assert area["angle_margin"].values[1] < 0


def test_orientation_sweep():
    """Tilt and torsion angles: R = Rz(azimuth) Ry(tilt) Rz(torsion - azimuth)."""
    robot = fp.load("gough-stewart")
    sweep = {"tilt": (0.0, 0.5, 3), "azimuth": (0.0, 2 * np.pi, 5), "torsion": [0.1]}
    area = fp.workspace(robot, orientation=sweep, details=True)
    assert area["valid"].dims == ("tilt", "azimuth", "torsion")
    np.testing.assert_allclose(area["condition_number"].values[:, 0], area["condition_number"].values[:, -1], rtol=ROUNDING)
    np.testing.assert_allclose(area["condition_number"].values[0], area["condition_number"].values[0, 0, 0], rtol=ROUNDING)
    R = euler_rotation("ZYZ", np.array([np.pi / 2, 0.25, 0.1 - np.pi / 2]))
    q = fp.inverse_kinematics(robot, fp.State(position=robot.home.position, rotation=R))["actuator_position"].values
    np.testing.assert_allclose(area["actuator_position"].values[1, 1, 0], q, rtol=0, atol=ROUNDING)
    fixed = fp.workspace(robot, {"z": [1.0, 1.1]}, orientation=R, details=True)
    np.testing.assert_allclose(fixed["actuator_position"].values[0], q, rtol=0, atol=ROUNDING)


def test_components_that_mobility_fixes_follow():
    """The platform of the five-bar is a link: its angle follows from x and y, and every pose returns its cranks."""
    robot = fp.load("five-bar")
    area = fp.workspace(robot, {"x": (-0.3, 0.3, 9), "y": (0.22, 0.5, 8)}, details=True)
    assert 20 < int(area["valid"].sum()) < 72
    cranks = area["actuator_position"].values[area["valid"].values]
    poses = fp.forward_kinematics(robot, cranks)["position"].values
    x, y = np.meshgrid(area["x"], area["y"], indexing="ij")
    wanted = np.column_stack([x[area["valid"].values], y[area["valid"].values]])
    np.testing.assert_allclose(poses[:, :2], wanted, rtol=0, atol=ROUNDING)


def test_blocks_and_threads_do_not_change_the_result(tmp_path):
    robot = fp.load("stewart-3-3")
    grid = {"x": (-2, 2, 11), "y": (-2, 2, 11), "z": (3, 6, 9)}
    whole = fp.workspace(robot, grid)
    for options in ({"block": 100}, {"threads": 2}, {"save": tmp_path / "run", "block": 250}):
        assert whole.identical(fp.workspace(robot, grid, **options)), options


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    robot = fp.load("stewart-3-3")
    grid = {"x": (-2, 2, 20), "z": (3, 6, 20)}
    whole = fp.workspace(robot, grid)
    original, calls = module._block, []

    def interrupted(*given):
        calls.append(given[2])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*given)

    monkeypatch.setattr(module, "_block", interrupted)
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        fp.workspace(robot, grid, block=64, save=folder)
    assert json.loads((folder / "progress.json").read_text(encoding="utf-8"))["done"] == 128
    assert not list(folder.glob("*.new"))
    again = fp.workspace(robot, grid, block=64, save=folder)
    assert calls[3] == 128, "blocks that are done are not computed again"
    assert whole.identical(again)
    with pytest.raises(fp.InputError, match=r"holds another result \(robot, grid or options differ\); choose another folder$"):
        fp.workspace(robot, {"x": (-2, 2, 21)}, save=folder)
    with pytest.raises(fp.InputError, match=r"holds another result"):
        fp.workspace(robot.with_parameters({"legs.A.slide.limits.stroke": [-1.0, 1.0]}), grid, save=folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(fp.InputError, match=r"is not empty and holds no saved result; choose an empty folder$"):
        fp.workspace(robot, grid, save=tmp_path / "full")


def test_progress_bar_only_when_wanted(capsys):
    robot = fp.load("stewart-3-3")
    fp.workspace(robot, {"x": (-1, 1, 50)})
    assert capsys.readouterr().err == ""
    fp.workspace(robot, {"x": (-1, 1, 50)}, progress=True)
    assert "workspace of stewart-3-3" in capsys.readouterr().err


def test_memory_is_bounded(monkeypatch):
    """Poses exist one block at a time."""
    robot = fp.load("stewart-3-3")
    sizes = []
    original = module.PoseGrid.block

    def watched(self, start, stop):
        sizes.append(stop - start)
        return original(self, start, stop)

    monkeypatch.setattr(module.PoseGrid, "block", watched)
    fp.workspace(robot, {"x": (-1, 1, 100), "y": (-1, 1, 100)}, block=1024)
    assert max(sizes) <= 1024
    assert sum(sizes) == 10_000


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "give grid (axes x, y, z, rx, ry, rz), orientation (tilt, azimuth, torsion), or both"),
        ({"grid": {"a": [0]}}, "grid: no axis 'a'; there are x, y, z, rx, ry, rz"),
        ({"grid": {}}, "grid: there is no axis; give values of at least one of x, y, z, rx, ry, rz, tilt, azimuth, torsion"),
        (
            {"orientation": np.eye(3)},
            "grid: there is no axis; give values of at least one of x, y, z, rx, ry, rz, tilt, azimuth, torsion",
        ),
        ({"grid": {"x": (0, 1)}}, "x: a tuple is (smallest, largest, count), got (0, 1); give other values as a list"),
        ({"grid": {"x": (0, 1, 2.5)}}, "x: a tuple is (smallest, largest, count), got (0, 1, 2.5); give other values as a list"),
        ({"grid": {"x": [[0.0]]}}, "x: expected one number, a list of numbers, or (smallest, largest, count), got shape (1, 1)"),
        ({"grid": {"x": [np.nan]}}, "x: every entry must be a finite number; found nan at (0,)"),
        ({"orientation": {"roll": [0]}}, "orientation: no axis 'roll'; there are tilt, azimuth, torsion"),
        (
            {"grid": {"rx": [0]}, "orientation": {"tilt": [0]}},
            "orientation: the grid turns the platform already (rx, ry, rz); give one of the two",
        ),
        ({"grid": {"x": [0]}, "block": 0}, "block: expected a whole number above 0, got 0"),
    ],
)
def test_messages(options, text):
    with pytest.raises(fp.InputError) as error:
        fp.workspace(fp.load("stewart-3-3"), **options)
    assert str(error.value) == text


IDLE = """flexapod: 1
name: lever
source: written for this test
gravity: [0, 0, -9.81]
characteristic_length: 0.5
home: {position: [0, 0, 0]}
platform: {body: A.lever}
legs:
  each:
    A:
      joints:
        pin: {type: revolute, from: base, to: lever, axis: [0, 1, 0], actuated: true, limits: {stroke: [-0.3, 0.4]}}
        wheel: {type: revolute, from: base, to: rotor, axis: [1, 0, 0], actuated: true, at: [0, 3, 0]}
      bodies: {lever: {mass: 4, com: [0.25, 0, 0]}, rotor: {mass: 1, inertia: {diagonal: [1, 1, 1]}}}
"""


def test_an_idle_actuator_is_no_singularity(tmp_path: Path) -> None:
    """A wheel beside the lever: it does not hold the platform, the pin does; limits of the pin remain."""
    (tmp_path / "lever.yaml").write_text(IDLE, encoding="utf-8")
    robot = fp.load(tmp_path / "lever.yaml")
    area = fp.workspace(robot, grid={"ry": (-0.4, 0.4, 5)})
    assert area.valid.values.tolist() == [False, True, True, True, True]
    at = fp.State(position=[0, 0, 0])
    assert float(fp.check_pose(robot, at).margins.type_2) == pytest.approx(float(fp.conditioning(robot, at).type_2))
