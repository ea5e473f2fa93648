"""Runs whose independent coordinates are components of the platform's own rotation: as exact as those of actuators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.chosen_dependents import with_plan
from flexapod.robot.elastic_plan import elastic_plan
from flexapod.simulation.integrators.crossing import configuration
from flexapod.simulation.stepper import step_setup

SAME = 1e-9
"""Angular velocities [rad/s] of up to 10 rad/s by two choices of coordinates at 2 ms: Gauss's method of order 6 leaves 1e-11. By
Cayley's vector as if it were the integral of the angular velocity, order 2, it was 1e-6."""

SPRUNG = {
    "planar-3-rpr": ("root: {type: revolute,", "root: {type: revolute, stiffness: 5,", [10.0, -20.0, 15.0], (0, 1, 5)),
    "3-rps": ("hinge: {type: revolute,", "hinge: {type: revolute, stiffness: 50,", [60.0, 10.0, 25.0], (2, 3, 4)),
}
"""Robot -> text of its file, the same with a spring, forces, and the twist components that may be independent."""
KEPT = 1e-10
"""[J] Gauss's method of order 6 at 1 ms; it was off by 1e-8 J and more."""
EXPLICIT = 1e-7
"""[m/s] RK4 at 1 ms against Gauss's method of order 6."""


def sprung(folder: Path, name: str) -> fp.Robot:
    plain, spring, _, _ = SPRUNG[name]
    text = fp.catalogue()[name].read_text(encoding="utf-8")
    assert plain in text
    (folder / "robot.yaml").write_text(text.replace(plain, spring), encoding="utf-8")
    return fp.load(folder / "robot.yaml")


def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


def spin(robot: fp.Robot, force: Any, step: float) -> Any:
    stepper = fp.stepper(robot, home(robot), step=step, watch=())
    stepper.force[:] = force
    assert stepper.advance(round(0.1 / step))
    return stepper.parts["angular_velocity"].copy()


@pytest.mark.parametrize("name", SPRUNG, ids=["plane", "space"])
def test_two_choices_of_coordinates_agree(tmp_path: Path, name: str) -> None:
    robot, (_, _, force, columns) = sprung(tmp_path, name), SPRUNG[name]
    setup = step_setup(robot, home(robot), step=2e-3, method="implicit", wrench=False, friction=True, watch=())
    other = elastic_plan(robot, robot.elastic_plan.columns, configuration(setup.layout, setup.start))
    assert other.independent == columns
    by_actuators, by_platform = (spin(r, force, 2e-3) for r in (robot, with_plan(robot, other)))
    assert np.abs(by_actuators).max() > 1.0
    assert np.abs(by_actuators - by_platform).max() < SAME


def test_a_run_that_changes_its_coordinates_keeps_its_energy(tmp_path: Path) -> None:
    """Its hinges are badly placed to move it: it takes the platform's own coordinates. The energy was off by 1e-8 J and more."""
    robot = fp.load(passive_slides(tmp_path))
    result = fp.simulate(robot, home(robot), force=[10.0, -20.0, 15.0], duration=0.15, step=1e-3, watch=("stroke",))
    assert float(result.time[-1]) == 0.15
    assert float(np.abs(result.energy_residual).max()) < KEPT


def test_explicit_steps_look_for_no_step_across(tmp_path: Path) -> None:
    """KeyError before: a step across is one of the implicit methods."""
    robot = fp.load(passive_slides(tmp_path))
    result = fp.simulate(robot, home(robot), force=[10.0, -20.0, 15.0], duration=0.02, step=1e-3, method="rk4", watch=("stroke",))
    other = fp.simulate(robot, home(robot), force=[10.0, -20.0, 15.0], duration=0.02, step=1e-3, watch=("stroke",))
    assert float(np.abs(result.velocity - other.velocity).max()) < EXPLICIT


def passive_slides(folder: Path) -> Path:
    """A 3-RPR whose hinges are driven and whose slides are sprung."""
    text = fp.catalogue()["planar-3-rpr"].read_text(encoding="utf-8")
    text = text.replace("axis: [0, 0, 1], start", "axis: [0, 0, 1], actuated: true, start")
    text = text.replace("actuated: true, start: 0.53, limits: {stroke: [0.35, 0.75]}", "stiffness: 500, preload: 4, start: 0.53")
    (folder / "passive.yaml").write_text(text, encoding="utf-8")
    return folder / "passive.yaml"
