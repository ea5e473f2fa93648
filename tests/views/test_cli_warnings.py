"""What the command line says unasked: limits under a load at a point, simulations that cannot be trusted; tables that fit."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.simulation.integrators.cvode import NEXT
from flexapod.simulation.integrators.dopri import TOO_MANY
from flexapod.simulation.results.energy_guard import until_broken
from flexapod.views.commands.guard import guarded, in_words
from flexapod.views.output import print_table

Run = Callable[..., Any]
PRINTED = 1e-3
"""Relative: forces of four digits."""


def peak(stdout: str) -> float:
    return max(float(line.split()[7]) for line in stdout.splitlines() if re.match(r"[A-F] ", line))


def test_a_load_at_a_point_counts_for_limits(run: Run) -> None:
    """A sideways force at a tool far above the joints: its moment makes the largest forces, and the limits know it."""
    assert run("new", "a.yaml", "--no-ask").exit_code == 0
    words = ["inverse-dynamics", "a.yaml", "--set", "platform.points.tool=[0,0,0.6]", "--wrench", "400,0,0,0,0,0"]
    at_origin, at_tool = run(*words), run(*words, "--point", "tool")
    assert at_origin.exit_code == at_tool.exit_code == 0
    small, large = peak(at_origin.stdout), peak(at_tool.stdout)
    assert large > 1.2 * small
    limit = ["--set", f"legs.slide.limits.force={0.5 * (small + large)}"]
    assert "needs too much force" not in run(*words, *limit).stderr
    label = run(*words, "--point", "tool", *limit).stderr
    found = re.search(r"needs too much force: ([\d.]+) N", label)
    assert found
    assert max(float(x) for x in re.findall(r"needs too much force: ([\d.]+) N", label)) == pytest.approx(large, rel=PRINTED)


def test_a_simulation_that_explodes_is_reported(run: Run) -> None:
    """Gains that a step of 1 ms cannot follow; with shorter steps the same gains are fine."""
    assert run("new", "a.yaml", "--no-ask").exit_code == 0
    words = ["simulate", "a.yaml", "--controller", "pd", "--gain", "kp=1e6", "--gain", "kd=3e4", "--duration", "0.2"]
    wild = run(*words)
    assert wild.exit_code == 0, wild.stderr
    assert "the step is too long for these gains; try --step 0.00025" in wild.stderr
    assert "the step is too long" not in run(*words, "--step", "1e-5").stderr


@pytest.mark.parametrize("width", [200, 110, 80, 40])
def test_numbers_are_never_cut(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    head = ("name", "a long head [m]", "another long head [kg m^2]", "one more [N]")
    print_table("title", head, [["first one", "123.4567", "0.61823 .. 0.91823", "12345.6"], ["b", "1", "2", "3"]])
    label = capsys.readouterr().out
    for number in ("123.4567", "0.61823 .. 0.91823", "12345.6"):
        assert number in label
    for word in " ".join(head).split():
        assert word in label


def test_noise_of_a_measured_motion_is_reported(run: Run) -> None:
    """0.05 mm at 200 samples per second make forces fifty times too large; the advice is in words of the command line."""
    t, home = np.linspace(0.0, 1.0, 201), fp.load("stewart-3-3").home.position
    places = home + np.outer(np.sin(t), [0.1, 0.0, 0.0]) + 5e-5 * np.random.default_rng(2).normal(size=(201, 3))
    rows = np.column_stack([t, places, np.zeros((201, 3))])
    np.savetxt("noisy.csv", rows, delimiter=",", header="t,x,y,z,roll,pitch,yaw", comments="")
    done = run("kinematics", "stewart-3-3", "--motion", "noisy.csv", "--option", "euler=xyz")
    assert done.exit_code == 0, done.stderr
    assert "warning: noisy.csv: noise makes up about " in done.stderr
    assert " % of the accelerations of the position (rms) and " in done.stderr
    assert "Smooth it: --option derivatives='low-pass' with --option cutoff=..." in done.stderr


@pytest.mark.parametrize("kind", fp.FlexapodWarning.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_warning_of_flexapod_is_reported(kind: type[Warning], capsys: pytest.CaptureFixture[str]) -> None:
    guarded(lambda: warnings.warn(kind("look here"), stacklevel=1))()
    assert "warning: look here" in capsys.readouterr().err
    guarded(lambda: warnings.warn("of a library", stacklevel=1))()
    assert capsys.readouterr().err == ""


def test_warnings_of_flexapod_have_one_base() -> None:
    """A warning without it would be lost on the command line."""
    source = Path(fp.__file__).parent
    for file in source.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"class (?!FlexapodWarning)\w+\((User|Runtime)?Warning\)", text), file
        assert not re.search(r"warnings\.warn\((\w+|f?\"[^\"]*\"), stacklevel", text), file


def test_advice_names_options_that_the_command_has() -> None:
    """Tolerances and the output step are options of Python alone."""
    broken = {name: ((), np.array([0.0, 1.0]), "J") for name in ("kinetic_energy", "potential_energy", "elastic_energy")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing: Any = {**broken, "energy_residual": ((), np.array([0.0, 1.0]), "J")}
        energy = until_broken("robot", missing, np.arange(2.0), method="dopri")
    for text in (energy[2], TOO_MANY, NEXT):
        assert re.search("rtol|output_step", text)
        assert not re.search("rtol|output_step|method=", in_words(text))


def test_a_warning_is_said_once(run: Run) -> None:
    """The reason why a simulation stopped, in words of the command line; the shorter step is part of the simulated time."""
    stopped = run("simulate", "stewart-3-3", "--duration", "0.2", "--step", "1").stderr
    assert stopped.count("the energy balance is broken") == 1
    assert "or use --method dopri (friction) or --method implicit (vibrations)" in stopped
    assert "try --step 0.05" in stopped
