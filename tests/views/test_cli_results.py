"""What commands print and write: JSON that parses, files that read back, numbers that are those of the verbs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.chosen_motion import chosen_motion, small_motion
from support.robots import RIGID

Run = Callable[..., Any]

JSON = {
    "robots": ["robots"],
    "motions": ["motions"],
    "one motion": ["motions", "circle"],
    "show": ["show", "five-bar"],
    "check": ["check", "hexapod"],
    "kinematics": ["kinematics", "hexapod"],
    "workspace": ["workspace", "hexapod", "--grid", "x=-0.2:0.2:5"],
    "inverse-dynamics": ["inverse-dynamics", "stewart-3-3", "--motion", "staicu"],
    "frequencies": ["frequencies", "stewart-3-3", "--stiffness", "1e7"],
    "simulate": ["simulate", "stewart-3-3", "--motion", "cosine-z", "--duration", "0.05"],
    "count": ["count", "stewart-3-3"],
    "bench": ["bench", "stewart-3-3", "--seconds", "0.01"],
    "cache": ["cache", "list"],
    "export-c": ["export-c", "stewart-3-3", "--out", "c"],
}

SAME = 1e-12
"""The command line runs the verbs with the same numbers; files keep every bit."""
VANISHES = 1e-12
"""[rad/s]: of frequencies of some hundred."""
ROUNDING = 1e-15
"""[m, m/s]: one sum or product of numbers of the size of 1."""


def strict(text: str) -> Any:
    """JSON without NaN and Infinity, which other readers refuse."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("command", list(JSON))
def test_json_parses(run: Run, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if command == "cache":  # what other tests compiled takes long to read
        monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "cache"))
    result = run(*JSON[command], "--json")
    assert result.exit_code == 0, result.stderr
    assert strict(result.stdout)


def test_json_has_the_numbers_of_the_verb(run: Run) -> None:
    found = strict(run("inverse-dynamics", "stewart-3-3", "--motion", "staicu", "--set", "platform.mass=60", "--json").stdout)
    robot = fp.load("stewart-3-3").with_parameters({"platform.mass": 60.0})
    expected = fp.inverse_dynamics(robot, fp.motions.staicu_motion())
    force = np.array(found["variables"]["force"]["values"])
    assert found["variables"]["force"] | {"values": None} == {"dims": ["time", "actuator"], "units": "N", "values": None}
    np.testing.assert_allclose(force, expected.force.values, rtol=SAME)
    assert found["sizing"]["A"]["peak_force"] == pytest.approx(float(abs(expected.force.sel(actuator="A")).max()), rel=SAME)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".nc"])
def test_files_read_back(run: Run, tmp_path: Path, suffix: str) -> None:
    assert run("inverse-dynamics", "stewart-3-3", "--motion", "staicu", "--out", f"a{suffix}").exit_code == 0
    expected = fp.inverse_dynamics(fp.load("stewart-3-3"), fp.motions.staicu_motion())
    found = fp.open(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(found.force.values, expected.force.values)
    assert found.force.attrs["units"] == "N"
    assert list(found.actuator.values) == list("ABCDEF")


def test_workspace_file_has_a_row_per_pose(run: Run, tmp_path: Path) -> None:
    import pandas as pd

    assert run("workspace", "hexapod", "--grid", "x=-0.3:0.3:5", "--grid", "y=-0.3:0.3:3", "--out", "a.csv").exit_code == 0
    table = pd.read_csv(tmp_path / "a.csv")
    assert len(table) == 15
    area = fp.workspace(fp.load("hexapod"), grid={"x": (-0.3, 0.3, 5), "y": (-0.3, 0.3, 3)})
    for _, row in table.iterrows():
        pose = area.sel(x=row["x"], y=row["y"], method="nearest")
        assert row["valid"] == bool(pose.valid)
        assert bool(pose.valid) or row["reason"] == str(area.reason_text.values[int(pose.reason)])


def test_frequencies_file_keeps_complex_numbers(run: Run, tmp_path: Path) -> None:
    assert run("frequencies", "stewart-3-3", "--stiffness", "1e7", "--out", "a.nc").exit_code == 0
    found = fp.open(tmp_path / "a.nc")
    robot = fp.load("stewart-3-3")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    modes = fp.natural_frequencies(robot, home, actuators=[1e7] * 6)
    np.testing.assert_allclose(found.eigenvalue.values.imag, modes.eigenvalue.values.imag, rtol=SAME, atol=VANISHES)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_pictures(run: Run, tmp_path: Path, suffix: str, browser: Any) -> None:
    assert run("kinematics", "hexapod", "--plot", f"a{suffix}").exit_code == 0
    start = {".png": b"\x89PNG", ".svg": b"<svg", ".html": b"<!doctype html>"}[suffix]
    assert (tmp_path / f"a{suffix}").read_bytes().startswith(start)


FIGURES = {
    "inverse-dynamics": (["stewart-3-3", "--motion", "staicu"], ("forces", "contributions", "reactions", "spectrum")),
    "simulate": (["stewart-3-3", "--motion", "cosine-z", "--duration", "0.1"], ("energy", "forces", "strokes", "spectrum")),
    "frequencies": (["stewart-3-3", "--stiffness", "1e7"], ("frequencies", "shapes")),
}


@pytest.mark.parametrize(("command", "figure"), [(command, name) for command, (_, names) in FIGURES.items() for name in names])
def test_figures_by_name(run: Run, tmp_path: Path, command: str, figure: str) -> None:
    result = run(command, *FIGURES[command][0], "--plot", "a.html", "--figure", figure)
    assert result.exit_code == 0, result.stderr
    assert "plotly-graph-div" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_limits_of_the_drives_are_reported(run: Run) -> None:
    result = run("inverse-dynamics", "hexapod", "--motion", "sinatra", "--set", "legs.rail.limits.force=5")
    assert result.exit_code == 0
    assert "warning: actuator A needs too much force: 15.0895 N, limit 5 N" in result.stderr


def test_motion_from_a_file(run: Run, tmp_path: Path) -> None:
    fp.motions.motion_to_file(fp.motions.staicu_motion(), tmp_path / "way.csv")
    by_file = strict(run("inverse-dynamics", "stewart-3-3", "--motion", "way.csv", "--json").stdout)
    by_name = strict(run("inverse-dynamics", "stewart-3-3", "--motion", "staicu", "--json").stdout)
    a, b = (np.array(found["variables"]["force"]["values"]) for found in (by_file, by_name))
    np.testing.assert_allclose(a, b, rtol=SAME)


def test_named_motions_start_at_home() -> None:
    robot = fp.load("stewart-3-3")
    placed = chosen_motion(robot, "cosine-z", {"amplitude": 0.1})
    np.testing.assert_allclose(placed.position[0], robot.home.position)
    given = chosen_motion(robot, "circle", {"center": [0.0, 0.0, 4.0], "radius": 0.1})
    np.testing.assert_allclose(given.position[:, 2], 4.0)
    ended = chosen_motion(robot, "line", {"end": [0.0, 0.0, 4.5]})
    np.testing.assert_allclose(ended.position[[0, -1]], [robot.home.position, [0.0, 0.0, 4.5]], rtol=0, atol=ROUNDING)
    slow = chosen_motion(robot, "cosine-z", {"amplitude": 0.1}, slowed=2.0)
    np.testing.assert_allclose(slow.velocity, placed.velocity / 2.0, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", RIGID)
def test_every_robot_has_a_small_motion(name: str) -> None:
    robot = fp.load(name)
    motion = small_motion(robot)
    legs = fp.inverse_kinematics(robot, motion, joints=False)
    assert np.ptp(legs.actuator_position.values, axis=0).max() > 0
    assert fp.check_motion(robot, motion).ok


def test_start_is_light() -> None:
    """`flexapod --help` must not pay for what commands need later."""
    code = (
        "import sys\nfrom flexapod.views.cli import app\n"
        "heavy = {'numpy', 'casadi', 'xarray', 'plotly', 'pandas', 'scipy', 'llvmlite', 'pydantic'} & set(sys.modules)\n"
        "print(sorted(heavy))\nsys.exit(bool(heavy))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    """Typer's completion script exists, and completes names of robots."""
    line = "flexapod show hexas"
    asked = {"_FLEXAPOD_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line, "COMP_WORDS": line, "COMP_CWORD": "2"}
    if shell == "fish":
        asked["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    command = [str(Path(sys.executable).parent / "flexapod")]
    found = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=False)
    assert "hexaslide" in found.stdout, found.stderr
