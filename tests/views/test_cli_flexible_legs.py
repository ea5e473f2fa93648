"""Every command on DualEMPS, whose legs are flexible: right numbers, or one sentence that says what to do."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp

Run = Callable[..., Any]

PRINTED = 1e-4
"""Five printed digits."""
BALANCE = 1e-9
"""[J]: the beams hold millijoules; rounding is 1e-15."""
TABLE_3 = 0.02
"""Of the frequencies that the paper calculates; the fifth is 1.1 % away."""
CONSTANT = 1e-3
"""[Hz]: the same over a grid, printed with four digits."""


def done(result: Any) -> str:
    assert result.exit_code == 0, f"{result.stdout}{result.stderr}"
    return str(result.stdout)


def test_show_and_check(run: Run) -> None:
    text = done(run("show", "dualemps"))
    assert "elastic coordinates: 13.u, 13.v, 13.theta, 16.u" in text
    assert "mobility 2 by rank" in done(run("check", "dualemps"))


def test_check_takes_a_base_that_floats(run: Run) -> None:
    """No pose of the platform says where its actuators are, and that is no problem of the file."""
    assert "mobility 12 by rank" in done(run("check", "hexapod-floating"))


def test_kinematics_keeps_the_actuators_motion(run: Run) -> None:
    """Along the square each slider goes from 0 to 0.2 m, as commanded; the small motion left out moves both."""
    found = json.loads(done(run("kinematics", "dualemps", "--motion", "dualemps-square", "--option", "samples=101", "--json")))
    q = np.array(found["variables"]["actuator_position"]["values"])
    np.testing.assert_array_equal(q, fp.motions.dualemps_square(samples=101).position)
    rows = [line.split() for line in done(run("kinematics", "dualemps")).splitlines()[2:4]]
    assert [row[3] for row in rows] == ["0.06", "0.06"]  # 2 x 5 % of 0.6 m


def test_inverse_dynamics_against_the_verb(run: Run) -> None:
    motion = fp.motions.dualemps_square(samples=101)
    wanted = np.abs(fp.inverse_dynamics(fp.load("dualemps"), motion).force.values).max(axis=0)  # type: ignore[arg-type]
    text = done(run("inverse-dynamics", "dualemps", "--motion", "dualemps-square", "--option", "samples=101", "--json"))
    sizing = json.loads(text)["sizing"]
    assert [sizing[name]["peak_force"] for name in "12"] == pytest.approx(list(wanted), rel=PRINTED)


@pytest.mark.parametrize("option", ["--reactions", "--contributions"])
def test_reactions_and_contributions(run: Run, option: str) -> None:
    """Joint loads and parts of the forces of flexible legs come from the general model."""
    assert done(run("inverse-dynamics", "dualemps", option))


def test_simulate(run: Run, tmp_path: Path) -> None:
    """Actuators follow exactly without a controller; the energy balance closes and is drawn."""
    text = done(run("simulate", "dualemps", "--duration", "0.1", "--plot", "energy.html", "--out", "run.csv"))
    assert "0.1 s simulated, no controller, implicit" in text
    left = re.search(r"energy balance: (\S+) J left over", text)
    assert left is not None
    assert float(left[1]) < BALANCE
    assert "supplied by actuators" in (tmp_path / "energy.html").read_text()
    assert fp.open(tmp_path / "run.csv").force.shape[1] == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--motion", "cosine-z"], "--motion cosine-z: dualemps is simulated along"),
        (["--method", "euler"], "method: expected 'rk4' or 'dopri'"),
    ],
)
def test_simulate_refuses(run: Run, options: list[str], sentence: str) -> None:
    result = run("simulate", "dualemps", *options)
    assert result.exit_code == 1
    assert sentence in result.stderr


def test_explicit_steps_that_are_too_long(run: Run) -> None:
    """Beams of dualemps vibrate faster than steps of 1 ms resolve: the simulation ends with the reason."""
    result = run("simulate", "dualemps", "--method", "rk4")
    assert "the energy balance is broken" in result.stderr + result.stdout
    assert "Shorten the step, or use method='dopri'" in result.stderr + result.stdout


def test_frequencies(run: Run, tmp_path: Path) -> None:
    """Table 3 of the paper to 2 %; near constant over a grid; shapes are drawn."""
    text = done(run("frequencies", "dualemps", "--figure", "shapes", "--plot", "shapes.html", "--modes", "5"))
    found = [float(line.split()[1]) for line in text.splitlines()[2:7]]
    assert found == pytest.approx([14.22, 25.09, 48.22, 92.37, 109.08], rel=TABLE_3)
    assert "mode 5: 110.3 Hz" in (tmp_path / "shapes.html").read_text()
    grid = done(run("frequencies", "dualemps", "--grid", "x=0.15:0.25:3", "--grid", "z=0.5:0.6:3"))
    low, high = (float(x) for x in grid.splitlines()[2].split()[1:])
    assert low == pytest.approx(high, abs=CONSTANT)


def test_workspace(run: Run) -> None:
    text = done(run("workspace", "dualemps", "--grid", "x=0:0.4:5", "--grid", "z=0.4:0.6:3"))
    assert re.search(r"dualemps: \d+ of 15 poses over x \(5\) x z \(3\) can be reached", text)


def test_count_bench_and_export(run: Run, tmp_path: Path) -> None:
    table = json.loads(done(run("count", "dualemps", "--json")))
    assert set(table) == {"inverse dynamics", "forward dynamics", "mass matrix and remaining forces"}
    assert all(0 < row["total"] < 2842 for row in table.values())  # the paper's model
    times = json.loads(done(run("bench", "dualemps", "--samples", "64", "--seconds", "0.01", "--json")))["nanoseconds"]
    assert set(times) == set(table)
    done(run("export-c", "dualemps", "--out", "c"))
    assert (tmp_path / "c" / "dualemps_inverse_dynamics.c").exists()


def test_report(run: Run, tmp_path: Path) -> None:
    result = run("report", "dualemps", "--motion", "dualemps-square", "--option", "samples=101", "--out", "r.html")
    done(result)
    page = (tmp_path / "r.html").read_text()
    for words in ("Largest quasi-static deflection", "16.theta", "Mode shapes of dualemps", "14.2068", "peak force [N]"):
        assert words in page
    assert "No slice" not in page
    assert "No frequencies" not in page


@pytest.mark.parametrize("command", [("count",), ("bench",), ("export-c", "--out", "c")])
def test_many_elements_are_refused_at_once(run: Run, command: tuple[str, ...]) -> None:
    """Eight elements per link would compile for minutes."""
    result = run(command[0], "dualemps-8", *command[1:])
    assert result.exit_code == 1
    assert re.search(r"dualemps-8 has \d+ coordinates; .* at most 24\. Use fewer elements per beam", result.stderr)
