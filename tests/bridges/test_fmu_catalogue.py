"""FMUs of the whole catalogue: co-simulation equal to `simulate`, exact derivatives; flexible and constrained robots included."""

from pathlib import Path

import numpy as np
import pytest
from fmpy.validation import validate_fmu
from fmu_tools import Importer

import flexapod as fp
from flexapod.simulation.stepper import home_start

SAME_STEPS = 1e-9
"""Rounding of twenty steps, the more the stiffer the robot."""
DIFFERENCES = 1e-5
"""Central differences with a step of 1e-6, across the steep friction law of some robots."""
QUICK = "five-bar"
"""The smallest one is also part of the short run."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == QUICK else pytest.mark.full) for n in fp.catalogue()])
def test_robot(name: str, tmp_path: Path) -> None:
    robot = fp.load(name)
    if name == "dualemps-8":
        with pytest.raises(fp.InputError, match="coordinates; runs with flexible legs are compiled for"):
            fp.export_fmu(robot, tmp_path / "robot.fmu")
        return
    path = fp.export_fmu(robot, tmp_path / "robot.fmu", version="2.0")
    assert validate_fmu(str(path)) == []
    if robot.elastic_legs:
        force = np.linspace(0.5, 1.0, len(robot.actuators))
        run = fp.simulate(robot, home_start(robot), drive="force", force=force, duration=0.02, step=1e-3, output_step=1e-3)
    else:
        home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
        force = fp.inverse_dynamics(robot, home, friction=False).force.values
        force = np.linspace(1.1, 1.4, len(force)) * force + 0.1 * np.arange(1.0, len(force) + 1)  # no symmetry, out of stiction
        run = fp.simulate(robot, home, force=force, duration=0.02, step=1e-3, output_step=1e-3, watch=("stroke",))
    at = Importer(path, "cs")
    inputs = [f"force.{a}" for a in robot.actuators]
    at.set(inputs, force)
    for k in range(20):
        at.fmu.doStep(k * 1e-3, 1e-3)
    for quantity in ("position", "velocity", "angular_velocity"):
        ours = run[quantity].values
        found = at.get([f"{quantity}.{k}" for k in "xyz"])
        assert np.abs(found - ours[-1]).max() <= SAME_STEPS * max(1e-3, np.abs(ours).max())
    assert np.abs(run.velocity.values[-1]).max() > 1e-6  # it moved
    at.close()
    _check_derivatives(path, inputs, force)


def _check_derivatives(path: Path, inputs: list[str], force: np.ndarray) -> None:
    at, random = Importer(path, "me"), np.random.default_rng(3)
    at.continuous()
    names, n = [s.name for s in at.states], len(at.states)
    x = at.get(names) + 1e-4 * random.normal(size=n)
    seed = random.normal(size=n + len(inputs))

    def rates(s: float) -> np.ndarray:
        at.set_states(x + s * seed[:n])
        at.set(inputs, force + s * seed[n:])
        return at.rates()

    differences = (rates(1e-6) - rates(-1e-6)) / 2e-6
    rates(0.0)
    exact = at.directional([v.valueReference for v in at.derivatives], [at.vr[k] for k in (*names, *inputs)], seed)
    assert np.abs(exact - differences).max() <= DIFFERENCES * np.abs(differences).max()
    at.close()
