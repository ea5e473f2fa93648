"""Commands of design: requests as YAML files, and what is wrong with them in one paragraph."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

REQUEST = """
variables:
  platform.mass: [20, 100]
criteria: [mass]
count: 3
plan: grid
"""
FOUND = 1e-9
"""[m]: an offset from exact data, solved by least squares."""


def test_a_request_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "request.yaml").write_text(REQUEST)
    result = run("study", "stewart-3-3", "--request", "request.yaml", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["reasons"] == {}
    assert "219" in result.stdout  # 60 kg and six legs of 26.5 kg


def test_bad_requests(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- 1")
    (tmp_path / "extra.yaml").write_text(REQUEST + "colour: red\n")
    cases = {
        ("--vary", "platform.mass=20:100"): "criteria: missing; give --criterion",
        ("--vary", "platform.mass"): "expected PATH=VALUE",
        ("--request", "list.yaml"): "expected a mapping of arguments",
        ("--request", "extra.yaml"): "colour",
        ("--request", "none.yaml"): "there is no file",
    }
    for arguments, message in cases.items():
        result = run("study", "stewart-3-3", *arguments)
        assert result.exit_code == 1
        assert message in " ".join(result.stderr.split()), result.stderr


def test_calibrate_from_a_request(run: Run, tmp_path: Path) -> None:
    """An offset of 1 mm is found from four measured positions, and the calibrated robot is written."""
    import numpy as np
    import yaml

    import flexapod as fp

    robot = fp.load("stewart-3-3")
    at = fp.State(position=robot.home.position + 0.2 * np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    readings = fp.inverse_kinematics(robot.with_parameters({"legs.A.slide.zero": 5.001}), at).actuator_position.values
    request = {
        "measurements": {"actuator_position": readings.tolist(), "position": at.position.tolist()},
        "parameters": ["legs.A.slide.zero"],
    }
    (tmp_path / "measured.yaml").write_text(yaml.safe_dump(request))
    result = run("calibrate", "stewart-3-3", "--request", "measured.yaml", "--write", "real.yaml", "--plot", "residuals.html")
    assert result.exit_code == 0, result.stderr
    assert abs(float(fp.load(tmp_path / "real.yaml").parameter("legs.A.slide.zero")) - 5.001) < FOUND
    assert (tmp_path / "residuals.html").exists()
    result = run("calibrate", "stewart-3-3")
    assert result.exit_code == 1
    assert "measurements: missing" in " ".join(result.stderr.split())
