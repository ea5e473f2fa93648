"""Kernels that loop over beam elements give the numbers of those that are written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.closed_legs import ActuatorState, ClosedLegs, close, evaluate, home
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.long_places import has_looped_elements
from flexapod.robot.element_runs import element_runs

DATA = Path(__file__).parents[1] / "data"

SAME = 1e-12
"""Relative to the largest entry: both ways round differently, 1e-15 was measured."""
SAME_MASS = 1e-14
"""Of an entry of the mass matrix to the root of its diagonal entries' product: neighbouring elements keep their digits too, on
which forward dynamics depend; 2e-15 was measured, 7.5e-14 with all about one point."""
BALANCE = 1e-9
"""Energy left over, of the kinetic energy; 3e-11 was measured at steps of 1 ms, which do not resolve axial waves."""
MOVES = 1e-4
"""Kinetic energy [J] that shows motion: the springs hold 0.1 J."""
QUANTITIES: dict[str, dict[str, Any]] = {
    "elastic_terms": {"friction": True}, "elastic_point": {}, "elastic_statics": {}, "elastic_potential": {},
    "elastic_control": {}, "elastic_sliding": {"friction": "smooth"},
}  # fmt: skip


def elements(folder: Path, name: str, old: str, new: str) -> fp.Robot:
    """A robot of the test data with other words in its file."""
    text = (DATA / "elastodynamics" / f"{name}.yaml").read_text()
    assert old in text
    path = folder / f"{name}.yaml"
    path.write_text(text.replace(old, new))
    return fp.load(path)


def planar(folder: Path) -> fp.Robot:
    return fp.load(DATA / "elastodynamics" / "dualemps-4.yaml")


def tapered(folder: Path) -> fp.Robot:
    """Every element has numbers of its own."""
    section = "section: {shape: rectangle, width: 0.004, height: 0.05}"
    return elements(folder, "dualemps-4", section, f"{section}, tip_section: {{shape: rectangle, width: 0.003, height: 0.04}}")


def spatial(folder: Path) -> fp.Robot:
    """Stiffened spatial beams in three legs, over-constrained, one of them of several elements."""
    return elements(folder, "tripteron-flexible", "stiffening: false, length: 0.4, section: {shape: tube",
                    "elements: 3, length: 0.4, section: {shape: tube")  # fmt: skip


def alike(folder: Path) -> fp.Robot:
    """Three equal legs with two flexible links each, whose code is a loop over legs."""
    text = fp.catalogue()["planar-3-rrr-flexible"].read_text(encoding="utf-8")
    path = folder / "alike.yaml"
    path.write_text(text.replace("type: beam", "type: beam, elements: 4"))
    return fp.load(path)


def states(robot: fp.Robot, count: int = 3) -> ClosedLegs:
    """Random closed states near home."""
    random, start, words = np.random.default_rng(3), home(robot, count), np.full(count, "", dtype=object)
    e = 1e-4 * random.normal(size=(count, len(robot.elastic_names)))
    q = start.actuators(robot)[0] + 1e-3 * random.normal(size=(count, len(robot.actuators)))
    rates = {"qd": 0.1 * random.normal(size=q.shape), "ed": 1e-3 * random.normal(size=e.shape)}
    found = close(robot, start, ActuatorState(q=q, e=e, **rates), words)
    assert set(words) == {""}
    return found


def looping(robot: fp.Robot, loops: bool) -> fp.Robot:
    robot.kept["long chains"] = loops
    return robot


def off(found: Any, wanted: Any) -> float:
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))


@pytest.mark.parametrize("make", [planar, *(pytest.param(each, marks=pytest.mark.full) for each in (tapered, spatial, alike))])
def test_loops_over_elements_agree_with_what_is_written_out(make, tmp_path):
    robot = make(tmp_path)
    assert element_runs(robot)
    assert has_looped_elements(robot)
    state = states(robot)
    written = states(looping(robot, False))
    for name, values in written.inputs().items():
        assert np.abs(values - state.inputs()[name]).max(initial=0.0) < SAME, name
    random, count = np.random.default_rng(5), len(state.position)
    rows = max(1, sum(len({*leg.rows, *leg.leftover}) for leg in robot.elastic_plan.legs))
    given = {
        **state.inputs(), "wrench": random.normal(size=(count, 6)), "point": random.normal(size=(count, 3)),
        "multiplier": random.normal(size=(count, rows)),
    }  # fmt: skip
    for quantity, options in QUANTITIES.items():
        words = np.full(count, "", dtype=object)
        wanted = evaluate(looping(robot, False), quantity, given, words, **options)
        found = evaluate(looping(robot, True), quantity, given, words, **options)
        assert set(words) == {""}
        assert set(found) == set(wanted)
        for name, values in wanted.items():
            if quantity == "elastic_control":  # up to a factor of rows that repeat
                continue
            assert off(found[name], values) < SAME, (quantity, name)
            if name == "mass":
                size = np.sqrt(np.einsum("nii->ni", values))
                assert (np.abs(found[name] - values) / (size[:, :, None] * size[:, None, :])).max() < SAME_MASS


def test_code_does_not_grow_with_the_number_of_elements(tmp_path):
    """Operations in the bodies of loops are counted once per element, code is not: 8 and 16 elements share its length."""
    from flexapod.kernels.llvm.module import module_text

    lengths = []
    for count in (8, 16):
        robot = elements(tmp_path, "dualemps-8", "elements: 8", f"elements: {count}")
        lengths.append(len(module_text(kernel(robot, "long_rows").compiled.tape, per_sample=False).splitlines()))
    assert lengths[1] < 1.05 * lengths[0], lengths


def test_a_state_that_cannot_be_closed_has_its_reason(tmp_path):
    robot = planar(tmp_path)
    start, words = home(robot, 2), np.full(2, "", dtype=object)
    q, e = start.actuators(robot)[0].copy(), np.zeros((2, len(robot.elastic_names)))
    q[1, 0] += 5.0
    found = close(robot, start, ActuatorState(q=q, e=e, qd=0.0 * q, ed=e), words)
    assert words[0] == ""
    assert "the loops cannot be closed from here" in words[1]
    assert np.isfinite(found.joint_position[0]).all()
    assert np.isnan(found.joint_position[1]).all()


@pytest.mark.full
def test_sixty_four_elements_per_link_are_simulated(tmp_path):
    """580 coordinates pulled by springs that are 1 mm off: they move, and the energy balance closes."""
    robot = elements(tmp_path, "dualemps-8", "elements: 8", "elements: 64")
    q = home(robot, 1).actuators(robot)[0][0]
    at = fp.State.from_actuators(robot, q)
    result = fp.simulate(robot, at, duration=5e-3, step=1e-3, controller=fp.Springs(stiffness=1e5, free=q + 1e-3))
    kinetic = float(result.kinetic_energy.values.max())
    assert kinetic > MOVES
    assert float(np.abs(result.energy_residual.values).max()) < BALANCE * kinetic
