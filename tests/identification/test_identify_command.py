"""The command `flexapod identify`: table, page, robot file, JSON, and bad data as a message."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from measured import DATA, exact, noisy, series
from typer.testing import CliRunner

import flexapod as fp
from flexapod.views.cli import app

NOISY = 0.02
"""Of friction coefficients, from simulated data with noise."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    robot = fp.load(DATA / "emps.yaml")
    motion = series(robot, 4.0, 200.0, size=0.01, seed=5)
    data = noisy(motion, exact(robot, motion)[1], force_noise=0.5)
    path = tmp_path_factory.mktemp("data") / "axis.csv"
    columns = np.column_stack([data.time, data.position, data.force])
    np.savetxt(path, columns, delimiter=",", header="t,q_1,f_1", comments="", fmt="%.17g")
    return path


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["identify", *map(str, words)])
    return result.exit_code, result.output


def test_table_page_and_robot_file(table: Path, tmp_path: Path) -> None:
    page, out = tmp_path / "page.html", tmp_path / "found.yaml"
    code, text = run(table, "--robot", DATA / "emps.yaml", "--offset", "--page", page, "--out", out)
    assert code == 0, text
    assert "legs.1.screw.friction.viscous" in text
    assert "residuals [N or N m]: 1 0." in text
    assert "Residuals" in page.read_text(encoding="utf-8")
    assert fp.load(out).parameter("legs.1.screw.friction.viscous") == pytest.approx(203.5, rel=NOISY)


def test_measured_data_in_the_report(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["report", str(DATA / "emps.yaml"), "--measured", str(table), "--out", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "Measured: parameters" in text
    assert "legs.1.screw.friction.viscous" in text
    assert "Measured: residuals" in text


def test_json_and_bad_data(table: Path, tmp_path: Path) -> None:
    code, text = run(table, "--robot", DATA / "emps.yaml", "--json")
    assert code == 0
    assert json.loads(text)["parameters"]["legs.1.screw.friction.coulomb"]["estimate"] == pytest.approx(20.4, rel=NOISY)
    values = np.loadtxt(table, delimiter=",", skiprows=1)
    values[:, 2] /= 1000.0
    wrong = tmp_path / "kilo.csv"
    np.savetxt(wrong, values, delimiter=",", header="t,q_1,f_1", comments="")
    code, text = run(wrong, "--robot", DATA / "emps.yaml")
    assert code == 1
    assert "given in kN instead of N?" in text
    assert "use --force" in text
