"""Forces of rigid robots of the catalogue against the multiplier oracle of the tests: every link a free body.

The usual run keeps one robot of every kind (tests/support/usual_run.py); the nine of test_newton_euler.py are not repeated.
"""

from __future__ import annotations

from pathlib import Path

import maximal_coordinates as free_bodies
import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from support.robots import RIGID

ELSEWHERE = ("stewart-3-3", "gough-stewart", "hexapod", "hexaslide", "hexa", "delta", "five-bar", "tripteron", "planar-4-prr")
"""Robots of test_newton_euler.py, which compares every reaction with the same oracle."""

TRUTH = 1e-9
"""Of the largest force; measured below 1e-13: rounding times the condition of the full system of free bodies."""

STATES = 8


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few states of many robots: interpret their kernels, compiling takes longer."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")


@pytest.mark.parametrize("name", [name for name in RIGID if name not in ELSEWHERE])
def test_forces_balance_every_free_body(name: str) -> None:
    """All reactions unknown, one linear system per sample. Redundant drives: balanced, and of least norm."""
    robot = fp.load(name)
    states = random_states(robot, STATES, seed=5)
    load = np.random.default_rng(5).normal(size=(STATES, 6)) * 5.0
    motion = fp.Motion(time=np.arange(float(STATES)), **states)
    options = {"friction": False, "wrench": load}
    result = [fp.inverse_dynamics(robot, motion, formulation=f, **options).force.values for f in ("links", "virtual_power")]
    states["wrench"] = load
    found = free_bodies.kinematics(robot, states)
    redundant = len(robot.actuators) > robot.mobility.rank
    for k in range(STATES):
        truth = free_bodies.truth(robot, states, found, k)
        wanted, _, residual = truth.solve()
        size = np.abs(wanted).max()
        assert residual < TRUTH * np.abs(truth.b).max()
        for force in result:
            if not redundant:
                assert np.abs(force[k] - wanted).max() < TRUTH * size
                continue
            assert truth.solve(forces=force[k])[2] < TRUTH * np.abs(truth.b).max()
            strain = truth.null(fixed_forces=False)[:, : truth.actuators]
            assert np.abs(strain @ force[k]).max() < TRUTH * size


def test_every_robot_has_an_independent_check_of_its_forces() -> None:
    """Robots that this file and test_newton_euler.py leave out are compared elsewhere: with MuJoCo's matrices solved exactly
    (tests/bridges/test_mjcf.py), with maximal coordinates of flexible bodies, or with reference states."""
    mujoco = {"delta-parallelograms", "h4", "orthoglide", "par4", "hexapod-floating"}
    maximal = {"planar-3-rrr-flexible", "delta-flexible", "gough-stewart-flexible-legs"}  # test_catalogue_flexible.py
    references = {"dualemps", "dualemps-8", "gough-stewart-flexible"}  # test_multipliers.py, test_flexible_platform.py
    assert {*RIGID, *mujoco, *maximal, *references} == {*fp.catalogue()}
    assert len(fp.catalogue()) >= 30
    for name, path in fp.catalogue().items():
        text = path.read_text(encoding="utf-8")
        assert f"\nname: {name}\n" in text, f"{path.name}: `name:` is not that of the file"
        assert "\nsource:" in text, f"{path.name}: `source:` says where the numbers come from"
        assert "\nnotes:" in text, f"{path.name}: `notes:` say what was chosen"
    folder = Path(__file__).parents[1]
    for file, names in (("bridges/test_mjcf.py", mujoco), ("elastodynamics/test_catalogue_flexible.py", maximal)):
        text = (folder / file).read_text(encoding="utf-8")
        assert all(f'"{name}"' in text for name in names), file
