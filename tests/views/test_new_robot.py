"""`flexapod new`: files that every command accepts without editing, with the geometry that was asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.new.robot_file import MAKERS, RobotSizes, new_document, usual_sizes

Run = Callable[..., Any]

KINDS = {"6-ups": [], "plate": ["--plate", "0.01"], "five-bar": ["--kind", "five-bar"]}
MOBILITY = {
    "6-ups": 6, "6-pus": 6, "6-rus": 6, "3-rps": 3, "3-prs": 3, "tricept": 3, "planar-3-rrr": 3, "planar-3-rpr": 3, "five-bar": 2,
    "delta": 3, "par4": 4, "orthoglide": 3,
}  # fmt: skip
CONDITION = 10.0
"""A hexapod with its pairs turned by 60 deg is well conditioned at home (3 to 4 here; pairs facing each other: singular)."""

DIGITS = 1e-10
"""Numbers in the file have twelve digits."""
SAME = 1e-9
"""Relative: another formulation of the same."""


@pytest.mark.parametrize("kind", list(KINDS))
def test_accepted_without_editing(run: Run, kind: str) -> None:
    assert run("new", "a.yaml", "--no-ask", *KINDS[kind]).exit_code == 0
    for command in (["check", "a.yaml"], ["inverse-dynamics", "a.yaml"], ["kinematics", "a.yaml"]):
        result = run(*command)
        assert result.exit_code == 0, result.stderr
        assert "warning" not in result.stderr


@pytest.mark.parametrize("kind", ["6-ups", "6-pus"])
def test_geometry(kind: str) -> None:
    own = {"height": 0.8} if kind == "6-ups" else {"link": 1.0}
    sizes = RobotSizes(name="a", kind=kind, base_radius=0.6, platform_radius=0.2, stroke=0.4, mass=12.0, **own)
    robot = fp.load(_written(sizes))
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    legs = fp.inverse_kinematics(robot, home)
    q = legs.actuator_position.values
    bodies = fp.inverse_kinematics(robot, home, joints=False, bodies=True)
    joints = np.array([leg.closing.on_platform.position for leg in robot.legs])
    np.testing.assert_allclose(np.linalg.norm(joints, axis=1), 0.2, rtol=0, atol=DIGITS)
    if kind == "6-ups":
        hips = bodies.body_position.sel(body=[f"{name}.cylinder" for name in "ABCDEF"]).values
        np.testing.assert_allclose(np.linalg.norm(hips, axis=1), 0.6, rtol=0, atol=DIGITS)
        np.testing.assert_allclose(q, np.linalg.norm(joints + robot.home.position - hips, axis=1), rtol=0, atol=DIGITS)
        assert robot.home.position[2] == 0.8
    else:
        np.testing.assert_allclose(q, 0.2, rtol=0, atol=DIGITS)  # in the middle of the stroke
        hips = bodies.body_position.sel(body=[f"{name}.link" for name in "ABCDEF"]).values
        np.testing.assert_allclose(np.linalg.norm(joints + robot.home.position - hips, axis=1), 1.0, rtol=0, atol=DIGITS)
    assert float(fp.conditioning(robot, home).condition_number) < CONDITION
    assert fp.check_pose(robot, home).ok
    assert robot.platform.mass == 12.0


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The published mobility, well conditioned at home, within its limits, and its sizes are parameters of variants."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    robot = fp.load(_written(RobotSizes(name="a", kind=kind)))
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    assert robot.mobility.platform == robot.mobility.rank == MOBILITY[kind] == len(robot.actuators)
    assert float(fp.conditioning(robot, home).condition_number) < CONDITION
    assert fp.check_pose(robot, home).ok
    for name in ("base_radius", "half_base", "arm", "link"):
        path = f"parameters.{name}"
        if path in robot.parameters:
            wider = robot.with_parameters({path: 1.02 * robot.parameter(path)})
            assert wider.parameter(path) == pytest.approx(1.02 * robot.parameter(path))
            assert wider.mobility.rank == MOBILITY[kind]
            assert wider.values != robot.values
    with pytest.raises(fp.InputError, match=f"a {kind} has no such size; it has "):
        new_document(RobotSizes(name="a", kind=kind, **_foreign(kind)))


def test_sizes_that_let_joints_fall_together() -> None:
    with pytest.raises(fp.InputError, match="--platform-radius 1e-09: below 1e-06 of the largest size"):
        new_document(RobotSizes(name="a", kind="3-rps", platform_radius=1e-9))


def _foreign(kind: str) -> dict[str, float]:
    """A size that the kind does not have."""
    return next({name: 1.0} for name in ("link", "stroke", "height", "arm") if name not in usual_sizes(kind))


def test_radii_are_variables_of_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """A radius and an angle of the file against robots that are built with them."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    robot = fp.load(_written(RobotSizes(name="a")))
    variables = {"parameters.platform_radius": (0.25, 0.35), "parameters.pair_angle": (0.1, 0.3)}
    found = fp.study(robot, variables, ["worst_condition"], count=4, seed=1).rows
    assert found.sizes["design"] == 4
    for k in range(4):
        values = {name: float(found[name][k]) for name in variables}
        own = robot.with_parameters(values)
        home = fp.State(position=own.home.position, rotation=own.home.rotation)
        assert float(found.worst_condition[k]) == pytest.approx(float(fp.conditioning(own, home).condition_number), rel=SAME)


def test_kinds_that_are_not_made(run: Run) -> None:
    result = run("new", "a.yaml", "--kind", "7-ups")
    assert result.exit_code == 1
    assert "expected one of 6-ups" in " ".join(result.stderr.split())


def test_weight_is_held() -> None:
    """Vertical parts of the leg forces at home carry platform and pistons: sum of virtual work of a lift."""
    robot = fp.load(_written(RobotSizes(name="a", kind="6-pus")))
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    force = fp.inverse_dynamics(robot, home).force.values
    weight = 9.81 * (robot.platform.mass + sum(leg_mass(robot, name) for name in "ABCDEF"))
    assert force.sum() == pytest.approx(weight, rel=SAME)  # all sliders lift everything together


def leg_mass(robot: fp.Robot, leg: str) -> float:
    return sum(body.mass for name, body in robot.bodies_by_name.items() if name.startswith(f"{leg}."))


def test_questions(run: Run, tmp_path: Path) -> None:
    result = run("new", "a.yaml", "--ask", input="6-pus\n0.6\n0.25\n1.1\n0.5\n15\n")
    assert result.exit_code == 0, result.stderr
    assert "Length of the legs [m]" in result.stderr
    assert "Height of the platform" not in result.stderr
    robot = fp.load(tmp_path / "a.yaml")
    assert robot.platform.mass == 15.0
    assert robot.parameter("legs.ball.at") == (0.0, 0.0, 1.1)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"pair": 1.5}, "--pair 1.5"),
        ({"mass": -1.0}, "--mass -1.0"),
        ({"stroke": 5.0}, "--stroke 5.0"),
        ({"rod": float("nan")}, "--rod"),
        (
            {"base_radius": 0.01, "platform_radius": 0.01, "height": 0.1},
            "--stroke 0.3: a leg of 0.1 m .* usual --stroke of a 6-ups, which does not fit --base-radius 0.01, .* give --stroke",
        ),
    ],
)
def test_sizes_that_make_no_robot(changes: dict[str, float], text: str) -> None:
    with pytest.raises(fp.InputError, match=text):
        new_document(RobotSizes(name="a", **changes))


def _written(sizes: RobotSizes) -> Path:
    import tempfile

    from flexapod.views.new.robot_file import new_text

    path = Path(tempfile.mkdtemp()) / "a.yaml"
    path.write_text(new_text(sizes))
    return path


def test_help_names_every_kind(run: Run) -> None:
    text = " ".join(run("new", "--help").stdout.replace("│", " ").split())
    assert [kind for kind in MAKERS if kind not in text] == []
