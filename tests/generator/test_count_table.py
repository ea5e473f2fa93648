"""Counts compared in one table, DualEMPS against the paper, and other choices of dependent coordinates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.equations.elastodynamics.dynamics import elastic_forward_dynamics
from flexapod.kernels.packing import interpreter
from flexapod.kernels.tape.tape import make_tape
from flexapod.robot.chosen_dependents import with_dependents

OTHER_ORDER = 1e-11
"""Of the largest acceleration: another elimination; found 5e-14."""

DUALEMPS = Path(__file__).parents[1] / "data" / "elastodynamics" / "dualemps.yaml"

PAPER = {"adds": 1287, "multiplies": 1555}
"""Briot 2014 section 5; the paper does not say whether the final solve is included."""

MASS, SOLVED = 1000, 1300
"""Bounds of ours [operations]; the table in docs/generator.md has what was measured, and is compared here."""


@cache
def dualemps() -> fp.Robot:
    return fp.load(DUALEMPS)


@cache
def table() -> fp.CountTable:
    return fp.count_table(dualemps())


@pytest.mark.parametrize("constants", ["inputs", "numbers"])
def test_dualemps_needs_fewer_operators_than_the_paper(constants: str) -> None:
    mass, solved = (table().least(q, constants=constants) for q in ("mass_matrix", "forward_dynamics"))
    assert mass.operations.total <= MASS
    assert solved.operations.total <= SOLVED
    for row in (mass, solved):
        assert row.operations.adds < PAPER["adds"] / 2
        assert row.operations.multiplies < PAPER["multiplies"] / 2
        assert (row.setup.total > 0) == (constants == "inputs")
    assert (mass.solve, solved.solve) == (False, True)


def test_table_prints_every_model() -> None:
    text, page = str(table()), table().markdown
    for row in table().rows:
        assert str(row.operations.total) in text
        assert f"| {row.operations.total} |" in page
    assert {r.formulation for r in table().rows} == {"link_axes", "articulated", "projected"}
    assert len(page.splitlines()) == 2 + len(table().rows)


def test_the_page_shows_what_is_measured() -> None:
    """Run `flexapod count dualemps --table` and put the rows into the page where this fails."""
    page = (Path(__file__).parents[2] / "docs" / "generator.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith(("| inverse_dynamics |", "| forward_", "| mass_matrix |"))]
    assert shown == table().markdown.splitlines()[2:]


def test_counts_are_those_of_the_written_model() -> None:
    row = table().least("forward_dynamics", constants="numbers")
    written = fp.generate(dualemps(), "forward_dynamics", constants="numbers", formulation=row.formulation)
    assert written.operations == row.operations


def test_refused_formulations_are_reported() -> None:
    found = fp.count_table(fp.load("five-bar"), ["forward_dynamics"], constants=["numbers"])
    assert [r.formulation for r in found.rows] == ["links", "virtual_power"]
    assert found.refused[0][0] == "forward_dynamics, minimal"
    with pytest.raises(fp.InputError, match="no counted model of mass_matrix for five-bar"):
        found.least("mass_matrix")


def test_other_dependents_give_the_same_accelerations() -> None:
    """Loops solved for a slider and a passive joint: another elimination, the same motion."""
    state: dict[str, np.ndarray] = {}
    random = np.random.default_rng(6)
    from flexapod.equations.elastodynamics.closing import elastic_closing

    closing = elastic_closing(dualemps())
    values = [dualemps().values[p.name] for p in closing.signature.parameters]
    start = np.concatenate([leg.home for leg in dualemps().legs]) + random.uniform(-1e-3, 1e-3, 13)
    closed = interpreter(make_tape(closing))(
        parameters=values, joint_position=start, independent_velocity=random.uniform(-0.5, 0.5, 11)
    )
    state = {"joint_position": closed["closed_position"], "joint_velocity": closed["closed_velocity"]}
    found = []
    for robot in (dualemps(), with_dependents(dualemps(), ("q11", "q22")), with_dependents(dualemps(), ("1.q12", "23.v"))):
        program = elastic_forward_dynamics(robot, axes="projected")
        values = [robot.values[p.name] for p in program.signature.parameters]
        result = interpreter(make_tape(program))(parameters=values, force=np.array([3.0, -5.0]), **state)
        found.append(result["coordinate_acceleration"])
    plans = {robot.elastic_plan.bound for robot in (dualemps(), with_dependents(dualemps(), ("q11", "q22")))}
    assert len(plans) == 2
    for other in found[1:]:
        assert np.abs(other - found[0]).max() <= OTHER_ORDER * np.abs(found[0]).max()


def test_dependents_are_counted() -> None:
    rows = fp.count_table(dualemps(), ["mass_matrix"], constants=["numbers"], dependents=[("q11", "q22")]).rows
    totals = {r.dependents: r.operations.total for r in rows if r.formulation == "link_axes"}
    assert set(totals) == {(), ("q11", "q22")}
    assert totals[()] != totals["q11", "q22"]


def test_refusals_of_dependents() -> None:
    with pytest.raises(fp.InputError, match="has rigid legs, whose coordinates all follow from the platform"):
        fp.generate(fp.load("five-bar"), "inverse_dynamics", dependents=("crank",))
    with pytest.raises(fp.InputError, match=r"tie down 2 coordinates, got 1; the usual ones are 2\.q22, 1\.q12"):
        with_dependents(dualemps(), ("q12",))
    with pytest.raises(fp.InputError, match=r"'q99' is not a coordinate of dualemps; there are: 1\.q11"):
        with_dependents(dualemps(), ("q12", "q99"))
    with pytest.raises(fp.InputError, match=r"cannot be solved for 1\.16\.u, 1\.16\.v"):
        with_dependents(dualemps(), ("16.u", "16.v"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("delta-parallelograms", "articulated: does not apply to delta-parallelograms: it takes legs that close once"),
        ("hexapod-floating", "no formulation 'articulated' of inverse_dynamics for hexapod-floating; there are: projected"),
    ],
)
def test_loops_inside_legs_refuse_articulated_bodies(name: str, reason: str) -> None:
    """Seats of legs on a body that moves have no mass of their own, by which articulated bodies divide."""
    with pytest.raises(fp.InputError, match=reason):
        fp.generate(fp.load(name), "inverse_dynamics", formulation="articulated", constants="numbers")


def test_robots_with_inner_loops_are_counted() -> None:
    found = fp.count_table(fp.load("delta-parallelograms"), ["forward_dynamics"], constants=["numbers"])
    assert "articulated" not in {r.formulation for r in found.rows}
    assert [name for name, _ in found.refused] == ["forward_dynamics, articulated"]
