"""`flexapod solid`: demands of the command line are those of the verb; what a robot cannot be asked has its reason."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

import flexapod as fp

Run = Callable[..., Any]
SAME = 1e-12
"""Relative: the same verb, printed with all digits."""


def test_demands_reach_the_verb(run: Run) -> None:
    result = run("solid", "bench-6ups", "--resolution", "8", "--mounting", "0.7", "--json")
    assert result.exit_code == 0
    expected = fp.workspace_solid(fp.load("bench-6ups"), resolution=8, mounting=0.7)
    assert json.loads(result.stdout)["volume"] == pytest.approx(expected.volume, rel=SAME)


def test_the_region_of_a_solid_is_said(run: Run) -> None:
    result = run("solid", "bench-6ups", "--resolution", "8")
    assert result.exit_code == 0
    assert "region: x -" in result.stdout
    assert "one number for a slice" not in run("solid", "--help").stdout


@pytest.mark.parametrize("demand", ["stiffness", "frequency"])
def test_a_rigid_robot_has_neither_stiffness_nor_frequency(run: Run, demand: str) -> None:
    result = run("solid", "bench-6ups", "--resolution", "8", f"--{demand}", "5")
    assert result.exit_code == 1
    assert f"{demand}: bench-6ups is rigid" in " ".join(result.stderr.split())


def test_a_paving_that_misses_its_target_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[fp.pave.__module__], "MOST", (2000, 2000))
    result = run("certify", "five-bar", "--undecided", "0.5")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "--undecided 0.5 was not reached within the largest number of boxes" in text
    assert "a smaller --region decides more" in text
    found = json.loads(run("certify", "bench-6ups", "--region", "z=4.4", "--undecided", "0.5", "--json").stdout)
    assert found["reached"]
