"""Commands of design: requests as YAML files, and what is wrong with them in one paragraph."""

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

import flexapod as fp

Run = Callable[..., Any]

REQUEST = """\
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
        ("--vary", "platform.mass"): "expected NAME=VALUE, e.g. --vary platform.mass=20:100",
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


def test_requests_are_checked_by_name_before_work_starts(run: Run, tmp_path: Path) -> None:
    """Arguments that a verb does not have, keys and options given twice, files that could not be written."""
    (tmp_path / "robot.yaml").write_text(REQUEST + "robot: hexapod\n")
    (tmp_path / "near.yaml").write_text(REQUEST + "counts: 3\n")
    (tmp_path / "twice.yaml").write_text(REQUEST + "count: 4\n")
    (tmp_path / "variables.yaml").write_text("variables: [platform.mass]\ncriteria: [mass]\n")
    limits, mass = ("--vary", "platform.mass=20:100"), ("--criterion", "mass")
    cases = {
        ("study", "--request", "robot.yaml"): "robot.yaml: study has no argument 'robot'; there are: variables, criteria, at,",
        ("study", "--request", "near.yaml"): "near.yaml: study has no argument 'counts'; did you mean 'count'? There are:",
        ("study", "--request", "twice.yaml"): "twice.yaml, line 6: the key 'count' is written twice",
        ("study", "--request", "variables.yaml", *limits): "variables: the request file has no mapping of paths to limits",
        ("study", "--vary", "platform.mass=20", *mass): "--vary platform.mass=20: expected PATH=LOW:HIGH",
        ("study", *limits, *limits, *mass): "--vary platform.mass: is given twice; give it once",
        ("study", *limits, "--criterion", "stiffness"): "{name: stiffness, stiffness: ...} in a request file",
        ("study", *limits, *mass, "--plot", "front.html"): "--plot front.html: draws the front of two or more criteria",
        ("optimise", *limits, *mass, "--plot", "front.html"): "--plot front.html: draws the front of two or more criteria",
        ("optimise", *limits, *mass, "--write", "none/best.yaml"): "--write none/best.yaml: there is no folder none",
        ("calibrate", "--request", "near.yaml", "--write", "none/real.yaml"): "--write none/real.yaml: there is no folder none",
        ("tolerance",): "tolerances: missing; give --source, or a --request file with tolerances",
        ("tolerance", "--source", "a=1 um", "--source", "a=2 um"): "--source a: is given twice; give it once",
    }
    for (verb, *arguments), message in cases.items():
        result = run(verb, "stewart-3-3", *arguments)
        assert result.exit_code == 1
        assert message in " ".join(result.stderr.split()), result.stderr
        assert result.stdout == ""  # nothing was computed


def test_numbers_of_a_request_are_those_of_robot_files(run: Run, tmp_path: Path) -> None:
    """1e-2 is a number, which YAML 1.1 takes for a text."""
    (tmp_path / "request.yaml").write_text(REQUEST + "at: [[0, 0, 1e-2], [0, 0, -1E-2]]\n")
    result = run("study", "stewart-3-3", "--request", "request.yaml")
    assert result.exit_code == 0, result.stderr


def test_tolerances_that_do_not_move_the_platform(run: Run) -> None:
    """Nothing is to be tightened where nothing matters."""
    result = run("tolerance", "stewart-3-3", "--source", "platform.mass=1")
    assert result.exit_code == 0
    assert "none of these tolerances changes the pose" in result.stderr


def test_an_interrupted_study_says_where_its_designs_are(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @wraps(fp.study)
    def interrupted(*_: object, save: Path | None = None, **__: object) -> None:
        if save is not None:
            save.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(fp, "study", interrupted)
    words = ("study", "stewart-3-3", "--vary", "platform.mass=20:100", "--criterion", "mass")
    kept = run(*words, "--save", "designs")
    assert kept.exit_code == 130
    assert "designs holds the designs computed so far; the same command goes on from there" in " ".join(kept.stderr.split())
    assert "nothing was written" in run(*words).stderr
