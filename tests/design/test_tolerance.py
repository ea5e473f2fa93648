"""Tolerances: the printed error analysis of the Linapod, built robots, Monte-Carlo against first order and its curvature."""

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.design.pose_errors import PerturbedPoses

PRINTED = np.array([
    [0.058, 0.617, 0.558, 0.010, 0.557, 0.567],
    [0.678, 0.289, 0.390, 0.649, 0.333, 0.316],
    [0.154, 0.154, 0.154, 0.230, 0.230, 0.230],
    [0.905, 2.130, 1.220, 0.103, 2.520, 2.410],
    [1.930, 0.181, 1.750, 2.840, 1.330, 1.510],
    [2.230, 2.230, 2.230, 2.020, 2.020, 2.020],
])  # fmt: skip
"""Pott, Hiller 2008, DOI 10.5772/5430: magnitudes, rows x, y, z [m/m], rotations about x, y, z [rad/m]."""

TRANSLATION, ROTATION, DISPLACEMENT = 0.0025, 0.011, 0.003e-6
"""Three printed digits of geometry that misses closure by 0.2 to 0.6 mm."""

BARS = {"legs.*.ball.at.z": "10 um"}
DIFFERENCES = 1e-8
"""[m/m]: differences of second order over 1e-5 m."""
ERRORS = 5.0
"""Standard errors of means of samples."""
CURVED = 0.1
"""Of the mean that curvature predicts: fourth order of errors of 20 mm."""
SECOND_ORDER = 1e-9
"""[m]: squares of 10 um over metres, with room."""


@pytest.fixture(scope="module")
def linapod() -> fp.Robot:
    return fp.load(Path(__file__).parent / "linapod.yaml")


@pytest.fixture(scope="module")
def budget(linapod: fp.Robot) -> object:
    return fp.tolerance(linapod, BARS, samples=4000, seed=2)


def test_printed_matrix_of_the_linapod(budget) -> None:  # type: ignore[no-untyped-def]
    D = budget.derivative.values[0]
    assert np.abs(np.abs(D) - PRINTED)[:3].max() < TRANSLATION
    assert np.abs(np.abs(D) - PRINTED)[3:].max() < ROTATION
    assert np.linalg.norm(D[:3].sum(axis=1) * 10e-6) == pytest.approx(11.53e-6, abs=DISPLACEMENT)


def test_derivative_agrees_with_built_robots(linapod: fp.Robot, budget) -> None:  # type: ignore[no-untyped-def]
    q = fp.inverse_kinematics(linapod, fp.State(position=np.zeros(3))).actuator_position.values
    h = 1e-5
    moved = [fp.forward_kinematics(linapod.with_parameters({"legs.L2.ball.at.z": 1.25 + s * h}), q) for s in (1, -1)]
    slope = (moved[0].position.values - moved[1].position.values) / (2 * h)
    assert budget.derivative.values[0, :3, 1] == pytest.approx(slope, abs=DIFFERENCES)


def test_monte_carlo_agrees_with_first_order(budget) -> None:  # type: ignore[no-untyped-def]
    scatter = 5.0 / np.sqrt(2 * 4000)  # five standard errors of a standard deviation
    assert budget.sampled_deviation.values == pytest.approx(budget.deviation.values, rel=scatter)
    assert np.all(np.abs(budget.sampled_mean.values) < ERRORS / np.sqrt(4000) * budget.deviation.values)
    assert int(budget.failed.sum()) == 0
    assert np.all(budget.worst_case.values >= 3.0 * budget.deviation.values)
    assert budget.attrs["tighten_first"] == str(
        budget.source.values[budget.contribution.values[0, :3].__pow__(2).sum(axis=0).argmax()]
    )


def test_monte_carlo_leaves_first_order_where_curvature_says(linapod: fp.Robot) -> None:
    found = fp.tolerance(linapod, {"legs.*.ball.at.z": "60 mm"}, samples=8000, seed=3)
    sigma = 0.02
    paths = [str(s) for s in found.source.values]
    problem = PerturbedPoses(linapod, paths, fp.State(position=np.zeros(3)))
    h = 2e-3 * np.eye(6)
    second = (problem.errors(h) + problem.errors(-h))[:, 0] / 4e-6
    predicted = 0.5 * sigma**2 * second.sum(axis=0)  # mean of a quadratic form
    error = found.deviation.values[0] / np.sqrt(8000)
    z = 2
    assert abs(predicted[z]) > 20 * error[z]  # first order, zero, is far off
    assert found.sampled_mean.values[0, z] == pytest.approx(predicted[z], abs=ERRORS * error[z] + CURVED * abs(predicted[z]))


def test_clearance_moves_the_joint_along_its_load(linapod: fp.Robot) -> None:
    c = 1e-5
    found = fp.tolerance(linapod, BARS, clearances={"legs.L1.ball": c}, wrench=[0, 0, -500, 0, 0, 0])
    load = fp.inverse_dynamics(
        linapod, fp.State(position=np.zeros(3)), reactions=True, friction=False, wrench=[0, 0, -500, 0, 0, 0]
    )
    f = load.reaction_force.sel(joint="L1.ball").values
    shifted = linapod.with_parameters({"legs.L1.ball.on": (np.array([-0.126, 0.18, 0.2]) + c * f / np.linalg.norm(f)).tolist()})
    q = fp.inverse_kinematics(linapod, fp.State(position=np.zeros(3))).actuator_position.values
    moved = fp.forward_kinematics(shifted, q).position.values
    assert found.clearance_shift.values[0, :3] == pytest.approx(moved, abs=SECOND_ORDER)
    assert np.abs(moved).max() > 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tolerances": {}}, "give a mapping"),
        ({"tolerances": {"legs.*.ball.att": 1e-5}}, "att"),
        ({"tolerances": {"legs.*.ball.on": "-5 um"}}, "expected an amount above 0"),
        ({"distribution": "flat"}, "'normal' or 'uniform'"),
        ({"samples": -1}, "samples"),
        ({"wrench": [0] * 6}, "give clearances as well"),
        ({"clearances": {"legs.L1.elbow": 1e-5}}, "there is no joint legs.L1.elbow"),
    ],
)
def test_bad_requests(linapod: fp.Robot, change: dict, message: str) -> None:
    with pytest.raises(fp.FlexapodError, match=message):
        fp.tolerance(linapod, **{"tolerances": BARS, **change})
