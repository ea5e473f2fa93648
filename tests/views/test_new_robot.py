"""`flexapod new`: files that every command accepts without editing, with the geometry that was asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.new_robot import HexapodSizes, hexapod_document

Run = Callable[..., Any]

KINDS = {"6-ups": [], "6-pus": ["--kind", "6-pus"], "plate": ["--plate", "0.01"]}
CONDITION = 10.0
"""A hexapod with its pairs turned by 60 deg is well conditioned at home (3 to 4 here; pairs facing each other: singular)."""

DIGITS = 1e-10
"""Numbers in the file have twelve digits."""


@pytest.mark.parametrize("kind", list(KINDS))
def test_accepted_without_editing(run: Run, kind: str) -> None:
    assert run("new", "a.yaml", "--no-ask", *KINDS[kind]).exit_code == 0
    for command in (["check", "a.yaml"], ["inverse-dynamics", "a.yaml"], ["kinematics", "a.yaml"]):
        result = run(*command)
        assert result.exit_code == 0, result.stderr
        assert "warning" not in result.stderr


@pytest.mark.parametrize("kind", ["6-ups", "6-pus"])
def test_geometry(kind: str) -> None:
    sizes = HexapodSizes(name="a", kind=kind, base_radius=0.6, platform_radius=0.2, height=0.8, link=1.0, stroke=0.4, mass=12.0)
    robot = fp.load(_written(sizes))
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    legs = fp.inverse_kinematics(robot, home)
    q = legs.actuator_position.values
    bodies = fp.inverse_kinematics(robot, home, joints=False, bodies=True)
    joints = np.array([leg.closing.on_platform.position for leg in robot.legs])
    np.testing.assert_allclose(np.linalg.norm(joints, axis=1), 0.2, atol=DIGITS)
    if kind == "6-ups":
        hips = bodies.body_position.sel(body=[f"{name}.cylinder" for name in "ABCDEF"]).values
        np.testing.assert_allclose(np.linalg.norm(hips, axis=1), 0.6, atol=DIGITS)
        np.testing.assert_allclose(q, np.linalg.norm(joints + robot.home.position - hips, axis=1), atol=DIGITS)
        assert robot.home.position[2] == 0.8
    else:
        np.testing.assert_allclose(q, 0.2, atol=DIGITS)  # in the middle of the stroke
        hips = bodies.body_position.sel(body=[f"{name}.link" for name in "ABCDEF"]).values
        np.testing.assert_allclose(np.linalg.norm(joints + robot.home.position - hips, axis=1), 1.0, atol=DIGITS)
    assert float(fp.conditioning(robot, home).condition_number) < CONDITION
    assert fp.check_pose(robot, home).ok
    assert robot.platform.mass == 12.0


def test_weight_is_held() -> None:
    """Vertical parts of the leg forces at home carry platform and pistons: sum of virtual work of a lift."""
    robot = fp.load(_written(HexapodSizes(name="a", kind="6-pus")))
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    force = fp.inverse_dynamics(robot, home).force.values
    weight = 9.81 * (robot.platform.mass + sum(leg_mass(robot, name) for name in "ABCDEF"))
    assert force.sum() == pytest.approx(weight, rel=1e-9)  # all sliders lift everything together


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
    ],
)
def test_sizes_that_make_no_robot(changes: dict[str, float], text: str) -> None:
    with pytest.raises(fp.InputError, match=text):
        hexapod_document(HexapodSizes(name="a", **changes))


def _written(sizes: HexapodSizes) -> Path:
    import tempfile

    from flexapod.views.new_robot import hexapod_text

    path = Path(tempfile.mkdtemp()) / "a.yaml"
    path.write_text(hexapod_text(sizes))
    return path
