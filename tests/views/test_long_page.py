"""The page of Long 2014: instability beside Figs. 4 to 7, Table 1 and the plate read back, closure at the deformed joints."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.papers import long as page
from flexapod.views.papers.items import AGREES, CONSTRUCTION, DIFFERS, INPUT

SAMPLES = 5


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("gough-stewart-flexible")


def test_tables_are_inputs_and_can_differ(robot: fp.Robot) -> None:
    assert page._table_1(robot).verdict == page._plate(robot).verdict == INPUT
    wrong = page._table_1(robot.with_parameters({"legs.3.1.d": 1.3}))
    assert wrong.verdict == DIFFERS
    assert "d_13" in wrong.ours
    thick = page._plate(robot.with_parameters({"platform.flexible.thickness": 0.016}))
    assert thick.verdict == DIFFERS
    assert "thickness" in thick.ours


def test_instability_is_said(robot: fp.Robot) -> None:
    """First omega^2 on locked actuators is -6.55 1/s^2; a plate of ten times the stiffness is stable, and called so."""
    assert "unstable at the start (first omega² = -6.55 1/s²" in page._stability(robot)
    stiff = robot.with_parameters({"platform.flexible.young": 2e11})
    assert "the robot is stable at the start" in page._stability(stiff)


def test_closure_can_fail(robot: fp.Robot) -> None:
    """Legs reach the deformed joints; a joint that is moved by a micrometre is noticed. Bending alone is construction."""
    motion = page.example_motion(robot)
    result = fp.simulate(
        robot, motion, drive="platform", method="dopri", rtol=1e-6, atol=1e-8, duration=0.1, output_step=0.02, friction=False,
        progress=False,
    )  # fmt: skip
    items = {item.where: item for item in page._deformation(robot, result)}
    assert (items["Fig. 6"].verdict, items["Fig. 7"].verdict) == (CONSTRUCTION, AGREES)
    moved = result.joint_displacement.copy()
    moved.values[:, 2] += 1e-6 * np.array([0.0, 0.0, 1.0])
    again = {item.where: item for item in page._deformation(robot, result.assign(joint_displacement=moved))}
    assert again["Fig. 7"].verdict == DIFFERS
