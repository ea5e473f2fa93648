"""Calibration: exact recovery, statistics of the estimates, what cannot be seen, best poses, outliers, distances."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.design.select_poses import information_rows
from flexapod.design.variables import scalars

ALL = ["legs.*.hip.at", "legs.*.ball.on", "legs.*.slide.zero"]
EXACT = 1e-9
"""[m] Newton's method to rounding of metres, times the condition of the parameters (1e3 to 1e5)."""

SIGMA = {"position": 1e-5, "rotation": 1e-5}
ONE, THREE = 0.466, 0.052
"""Deviation of a draw that is within one or three standard deviations: sqrt(p (1 - p))."""
BIAS = 1e-3
"""Of a probability: estimates are linear in the noise but for this."""


@pytest.fixture(scope="module")
def drawing() -> fp.Robot:
    return fp.load("stewart-3-3")


def states(robot: fp.Robot, n: int, seed: int) -> fp.State:
    found = random_states(robot, n, seed=seed)
    return fp.State(position=found["position"], rotation=found["rotation"])


@pytest.fixture(scope="module")
def real(drawing: fp.Robot) -> fp.Robot:
    random = np.random.default_rng(7)
    paths = [f"legs.{leg.name}.{part}" for leg in drawing.legs for part in ("hip.at", "ball.on")]
    changes = {p: (np.array(drawing.parameter(p)) + random.uniform(-2e-3, 2e-3, 3)).tolist() for p in paths}
    zeros = {f"legs.{leg.name}.slide.zero": 5.0 + random.uniform(-2e-3, 2e-3) for leg in drawing.legs}
    return drawing.with_parameters({**changes, **zeros})


def measured(real: fp.Robot, at: fp.State) -> dict:
    q = fp.inverse_kinematics(real, at, joints=False).actuator_position.values
    return {"actuator_position": q, "position": at.position, "rotation": at.rotation}


@pytest.fixture(scope="module")
def exact(drawing: fp.Robot, real: fp.Robot) -> fp.Calibration:
    return fp.calibrate(drawing, measured(real, states(drawing, 20, 3)), ALL)


def truth(real: fp.Robot, found: fp.Calibration) -> np.ndarray:
    return np.array([float(real.parameter(p)) for p in found.paths])


def test_exact_data_give_all_42_parameters(real: fp.Robot, exact: fp.Calibration) -> None:
    assert len(exact.paths) == exact.rank == 42
    assert np.abs(exact.values - truth(real, exact)).max() < EXACT
    assert np.abs(exact.residuals.predicted_residual).max() < EXACT


def test_commands_bring_the_real_robot_to_the_pose(drawing: fp.Robot, real: fp.Robot, exact: fp.Calibration) -> None:
    at = states(drawing, 3, 11)
    commands = exact.commands(at)
    reached = fp.forward_kinematics(real, commands.actuator_position.values, guess=at)
    assert np.abs(reached.position.values - at.position).max() < EXACT
    assert np.abs(commands.compensation).max() > 1e-4


def noisy(data: dict, random: np.random.Generator) -> dict:
    from flexapod.motions.rotations import rotvec_rotation

    n = len(data["position"])
    rotation = np.stack([rotvec_rotation(v) for v in random.normal(size=(n, 3)) * SIGMA["rotation"]])
    return {
        **data,
        "position": data["position"] + random.normal(size=(n, 3)) * SIGMA["position"],
        "rotation": rotation @ data["rotation"],
    }


def test_estimates_scatter_as_their_covariance_says(drawing: fp.Robot, real: fp.Robot) -> None:
    _within(drawing, real, 4)


@pytest.mark.full
def test_estimates_scatter_as_their_covariance_says_in_1000_trials(drawing: fp.Robot, real: fp.Robot) -> None:
    _within(drawing, real, 1000)


def _within(drawing: fp.Robot, real: fp.Robot, trials: int) -> None:
    """Errors over standard deviations are normal: 68.3 % below 1, 99.73 % below 3."""
    data, random, errors = measured(real, states(drawing, 15, 5)), np.random.default_rng(1), []
    for _ in range(trials):
        found = fp.calibrate(drawing, noisy(data, random), ALL, sigma=SIGMA, validate=False)
        errors.append((found.values - truth(real, found)) / found.table.sigma.values)
    z = np.abs(np.array(errors))
    scatter = 4.0 / np.sqrt(trials * 6)  # parameters of a trial are correlated: six of 42 count
    assert (z < 1).mean() == pytest.approx(0.6827, abs=ONE * scatter)
    assert (z < 3).mean() == pytest.approx(0.9973, abs=THREE * scatter + BIAS)


def test_chosen_poses_halve_the_worst_error(drawing: fp.Robot) -> None:
    candidates = states(drawing, 150, 21)
    chosen = fp.select_poses(drawing, candidates, ALL, 14)
    paths = [path for text in ALL for path in scalars(drawing, text)]
    J = information_rows(drawing, candidates, paths)

    def worst(index: np.ndarray) -> float:
        rows = J[index].reshape(-1, len(paths))
        return float(np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)).max()))

    random = np.random.default_rng(2)
    draws = [worst(random.choice(150, 14, replace=False)) for _ in range(100)]
    assert worst(chosen) < 0.5 * np.median(draws)


def test_what_cannot_be_seen_is_named(drawing: fp.Robot, real: fp.Robot) -> None:
    at = states(drawing, 20, 3)
    flat = fp.State(position=at.position, rotation=np.tile(np.eye(3), (20, 1, 1)))
    with pytest.raises(fp.NotIdentifiableError, match=r"parameters are determined .* other orientations") as caught:
        fp.calibrate(drawing, measured(real, flat), ALL)
    assert {f"legs.A.{p}" for p in ("hip.at.x", "ball.on.x")} <= set(caught.value.names)
    assert caught.value.rank == 24  # base and platform joints act alike: 18 differences and 6 offsets
    with pytest.raises(fp.NotIdentifiableError, match="30 numbers cannot give 42 parameters"):
        fp.calibrate(drawing, measured(real, states(drawing, 5, 3)), ALL)
    fixed = fp.calibrate(drawing, measured(real, flat), ALL, unidentifiable="fix")
    assert len(fixed.fixed) == 42 - 24
    assert np.abs(fixed.residuals.residual).max() < EXACT


def test_outliers_do_not_move_huber_far(drawing: fp.Robot) -> None:
    real = drawing.with_parameters({"legs.A.slide.zero": 5.001, "legs.D.slide.zero": 4.998})
    data = noisy(measured(real, states(drawing, 30, 8)), np.random.default_rng(4))
    data["position"][3] += 5e-3
    error = {}
    for loss in ("squares", "huber"):
        found = fp.calibrate(drawing, data, ["legs.*.slide.zero", "legs.*.hip.at"], sigma=SIGMA, loss=loss, validate=False)
        error[loss] = found.residuals.standardised.values[np.arange(30) != 3].std()
    assert error["huber"] < 0.2 * error["squares"]


def test_distances_give_offsets(drawing: fp.Robot) -> None:
    real = drawing.with_parameters({"legs.A.slide.zero": 5.001, "legs.D.slide.zero": 4.998})
    at = states(drawing, 8, 13)
    base, plate = np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, -1.0, 0]]), np.array([[0.3, 0, 0], [0, 0.3, 0.1], [0, 0, 0.0]])
    points = at.position[:, None] + np.einsum("nij,kj->nki", at.rotation, plate)
    data = {
        "actuator_position": measured(real, at)["actuator_position"],
        "distance": np.linalg.norm(points - base, axis=2), "base_points": base, "platform_points": plate,
    }  # fmt: skip
    found = fp.calibrate(drawing, data, ["legs.*.slide.zero"])
    assert found.values == pytest.approx(truth(real, found), abs=EXACT)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"position": np.zeros((2, 3))}, "actuator_position is missing"),
        ({"actuator_position": np.zeros((2, 6))}, "give one of `position`"),
        ({"actuator_position": np.zeros((2, 5)), "position": np.zeros((2, 3))}, "expected shape \\(n, 6\\)"),
        ({"actuator_position": np.zeros((2, 6)), "pose": 1}, "there is no 'pose'"),
        ([1], "expected a mapping"),
    ],
)
def test_bad_measurements(drawing: fp.Robot, data: object, message: str) -> None:
    with pytest.raises(fp.InputError, match=message):
        fp.calibrate(drawing, data, ["legs.*.slide.zero"])


def test_a_pose_beside_which_none_is_reached_is_named() -> None:
    """Distal links of a five-bar nearly in line: a crank moved outwards by the step of differences pulls them apart."""
    robot = fp.load("five-bar")
    cranks = np.array([[np.arccos(-c), np.arccos(c)] for c in (0.46, 0.52, 0.59992)])  # elbows up to 0.49996 m apart
    at = fp.forward_kinematics(robot, cranks)
    measurements = {"actuator_position": cranks, "position": at.position.values}
    path = "legs.right.crank.at.x"
    with pytest.raises(fp.InputError, match=rf"five-bar: measurement 2: with {path} changed by 6.3e-05 m it cannot be reached"):
        fp.calibrate(robot, measurements, [path], validate=False)
    state = fp.State(position=at.position.values, rotation=at.rotation.values)
    with pytest.raises(fp.InputError, match="pose 2"):
        fp.tolerance(robot, {path: "20 um"}, at=state)
