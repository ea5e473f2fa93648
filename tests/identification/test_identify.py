"""`identify` as a whole: options, payloads, gains, physical consistency, files, validation, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measured import DATA, exact, noisy, series

import flexapod as fp
from flexapod.identification.physical_consistency import is_physical
from flexapod.identification.problem import payload_rows, window_starts

THIRD = 1 / 3
"""Of a period: windows at 32 random places leave less."""
SIGMAS = 4.0
"""Of a few dozen estimates none is that far away, but for one case in 300."""
NOISE = 0.1
"""Of the deviation of noise in the forces: of an estimate, and of what a prediction adds to it."""
PREDICTED = 0.2
"""[N]: four deviations of noise of 0.05 N, in forces by the file that was written."""
GAINS = 2e-3
"""Of gains of 2: products of gains and masses are not quite linear."""
SLACK = 0.05
"""[kg, N s/m] beside the standard errors of 95 kg and 204 N s/m."""
BLOCKS = 1e-6
"""Of the largest estimate, and of standard errors: sums block by block."""
OF_SIGMA = 1e-3
"""Of a standard error: the same."""


@pytest.fixture(scope="module")
def hexapod() -> tuple[fp.Robot, fp.ActuatorMotion, np.ndarray]:
    robot = fp.load("hexapod")
    motion = series(robot, 12.0, 100.0, size=0.01, seed=3, lowest=0.4)
    return robot, motion, exact(robot, motion)[1]


def test_alike_legs_with_error_bars(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray], tmp_path: Path) -> None:
    robot, motion, force = hexapod
    wrong = robot.with_parameters({"platform.mass": 5.0, "legs.link.mass": 0.3})
    other = series(robot, 5.0, 100.0, size=0.009, seed=8, lowest=0.4)
    check = noisy(other, exact(robot, other)[1], force_noise=0.05, seed=2)
    found = fp.identify(wrong, noisy(motion, force, force_noise=0.05), legs="alike", validate=check)
    true = fp.base_parameters(robot, legs="alike").values
    assert np.abs((found.estimate - true) / found.sigma).max() < SIGMAS
    assert "platform.mass" in found.essential
    assert found.noise == pytest.approx(0.05, rel=NOISE)
    assert found.validation is not None
    assert np.all(found.validation.rms < (1 + NOISE) * 0.05), "a new motion is predicted within the noise"
    assert np.all(found.validation.before > 3 * found.validation.rms), "and was not before"
    table = found.dataset()
    assert table.estimate.dims == ("parameter",)
    assert "legs.slider.mass" in found.table()
    written = fp.load(found.save(tmp_path / "found.yaml"))
    again = fp.inverse_dynamics(written, fp.platform_motion(written, other)).force.values
    assert np.abs(again - exact(robot, other)[1]).max() < PREDICTED, "the file has the numbers"
    assert "equations" in written.description.file.source


def loud_campaigns(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray], count: int) -> tuple[int, int]:
    """How many of the campaigns with loud noise give bodies that exist: by plain least squares, by the constrained estimate."""
    robot, motion, _force = hexapod
    sane = robot.with_parameters({"legs.link.inertia.xx": 0.04, "legs.link.inertia.yy": 0.04, "legs.link.inertia.zz": 0.001})
    short, force, base = slice(0, 300), exact(sane, motion)[1], fp.base_parameters(sane, legs="alike")
    exist = {False: 0, True: 0}
    for seed in range(1, count + 1):
        noise = 3.0 * np.random.default_rng(seed).normal(size=(300, 6))
        data = fp.Measurement(time=motion.time[short], position=motion.position[short], force=force[short] + noise)
        for physical in exist:
            found = fp.identify(sane, data, legs="alike", physical=physical, base=base)
            exist[physical] += all(bodies_exist(found))
            if physical:
                assert found.robot.parameter("platform.base_parameters.M") > 0
    return exist[False], exist[True]


def test_physical_where_least_squares_is_not(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray]) -> None:
    """Loud noise: plain least squares gives impossible bodies; the constrained estimate never does."""
    assert loud_campaigns(hexapod, 1) == (0, 1), "the case is hard enough, and solved"


@pytest.mark.full
def test_always_physical_in_200_campaigns(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray]) -> None:
    plain, physical = loud_campaigns(hexapod, 200)
    assert plain < 100, f"least squares is physical in {plain} of 200: the case is too easy"
    assert physical == 200


def bodies_exist(found: fp.Identification) -> list[bool]:
    names = list(found.parameter_names)
    starts = [k for k, name in enumerate(names) if name.endswith(".mass")]
    rest = [v >= -1e-9 for k, v in enumerate(found.theta) if not any(s <= k < s + 10 for s in starts)]
    return [is_physical(found.theta[k : k + 10]) for k in starts] + rest


def test_small_payload_is_found(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray]) -> None:
    """1 % of the platform's mass, from the difference of two identifications of the platform's mass."""
    robot, motion, _ = hexapod
    payload = 0.01 * 3.983
    loaded = robot.with_parameters({"platform.mass": 3.983 + payload})
    runs = [noisy(motion, exact(r, motion)[1], force_noise=0.2, seed=k) for k, r in enumerate((robot, loaded))]
    estimator = fp.PayloadEstimator(robot, noise=0.2)
    estimator.update(fp.platform_motion(robot, motion), runs[1].force)
    assert abs(estimator.mass - payload) < 3 * estimator.mass_sigma
    assert estimator.mass_sigma < 0.2 * payload


def test_gains_of_the_drives_from_a_known_payload(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray]) -> None:
    robot, motion, force = hexapod
    gains = np.array([2.0, 2.2, 1.9, 2.05, 2.1, 1.95])
    load = {"mass": 4.0, "com": [0.02, 0.0, 0.05]}
    from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
    from flexapod.identification.identify import payload_parameters
    from flexapod.identification.linear_model import model_inputs

    platform = fp.platform_motion(robot, motion)
    inputs, _ = model_inputs(robot, platform_inputs(platform))
    carried = payload_rows(robot, inputs) @ payload_parameters(load)
    random = np.random.default_rng(0)
    runs = [
        fp.Measurement(
            time=motion.time, position=motion.position, motion=platform, current=(f + 0.02 * random.normal(size=f.shape)) / gains
        )
        for f in (force, force + carried)
    ]
    found = fp.identify(robot, runs, legs="alike", gain="find", payload=[None, load])
    assert found.gain is not None
    assert found.gain_sigma is not None
    assert np.abs(found.gain - gains).max() < SIGMAS * found.gain_sigma.max() + GAINS * 2.0
    known = fp.identify(robot, runs[0], legs="alike", gain=gains)
    assert np.abs((known.estimate - known.prior) / known.sigma).max() < SIGMAS


def test_refusals(hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray]) -> None:
    robot, motion, force = hexapod
    data = noisy(motion, force, force_noise=0.1)
    with pytest.raises(fp.InputError, match="give them together with method='iv'"):
        fp.identify(robot, data, method="iv")
    with pytest.raises(fp.InputError, match="expected a whole number above 0"):
        fp.identify(robot, data, decimate=0)
    with pytest.raises(fp.InputError, match="the data have forces; gains belong to currents only"):
        fp.identify(robot, data, gain=2.0)
    with pytest.raises(fp.InputError, match="physical: not available with named parameters"):
        fp.identify(robot, data, parameters=["platform.mass"], physical=True)
    with pytest.raises(fp.InputError, match="have no reference"):
        fp.identify(
            robot, fp.Measurement(time=data.time, position=data.position, force=data.force), method="iv", instruments="reference"
        )
    with pytest.raises(fp.InputError, match="expected a Measurement, a dataset or the path of a table"):
        fp.identify(robot, 3)
    with pytest.raises(fp.InputError, match="hexapod has 6 actuators, the data has 2"):
        fp.identify(robot, fp.Measurement(time=data.time, position=data.position[:, :2], force=data.force[:, :2]))


def test_named_parameters_of_a_rigid_robot() -> None:
    robot = fp.load(DATA / "emps.yaml")
    motion = series(robot, 3.0, 200.0, size=0.01, seed=5)
    force = exact(robot, motion)[1]
    names = ["legs.1.carriage.mass", "legs.1.screw.friction.viscous"]
    guess = robot.with_parameters({names[0]: 60.0, names[1]: 120.0})
    found = fp.identify(guess, noisy(motion, force, force_noise=0.5), parameters=names)
    true = [robot.parameter(name) for name in names]
    assert np.all(np.abs(found.estimate - true) < SIGMAS * found.sigma + SLACK)
    assert found.robot.parameter(names[0]) == pytest.approx(found.estimate[0])


def test_long_data_are_taken_in_blocks(
    hexapod: tuple[fp.Robot, fp.ActuatorMotion, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Poses and regressor block by block, sums by compiled code: the same estimate as at once, to rounding of its error bars."""
    from flexapod.identification import pose_track, problem
    from flexapod.kernels import gram

    robot, motion, force = hexapod
    data, base = noisy(motion, force, force_noise=0.05), fp.base_parameters(robot, legs="alike")
    whole = fp.identify(robot, data, legs="alike", base=base, decimate=3)
    for module in (problem, pose_track):
        monkeypatch.setattr(module, "LONG", 100)
    monkeypatch.setattr(problem, "HELD", 0)
    monkeypatch.setattr(problem, "BLOCK", 250)
    monkeypatch.setattr(problem, "ROWS", 90)
    monkeypatch.setattr(gram, "WORTH", 0)
    parts = fp.identify(robot, data, legs="alike", base=base, decimate=3)
    assert parts.rows == whole.rows
    assert np.abs(parts.estimate - whole.estimate).max() < BLOCKS * np.abs(whole.estimate).max()
    assert np.abs((parts.estimate - whole.estimate) / whole.sigma).max() < OF_SIGMA
    np.testing.assert_allclose(parts.sigma, whole.sigma, rtol=BLOCKS)


def test_windows_see_all_of_a_repeated_motion() -> None:
    """Phases of the windows leave no large gap in a period, however many periods the data have; even steps would."""
    for periods in range(1, 200):
        phase = np.sort(np.array(window_starts(300_000)) * periods / 300_000 % 1.0)
        gap = np.diff(np.append(phase, phase[0] + 1.0)).max()
        assert gap < THIRD, f"{periods} periods: {gap:.2f} of a period is never looked at"


@pytest.mark.full
def test_a_million_samples() -> None:
    """Of a 6-UPS, every leg by itself: estimates within their errors, memory of the data and one block."""
    import resource

    robot = fp.load("bench-6ups")
    parts = [series(robot, 50.0, 1000.0, size=0.1, seed=3, lowest=0.4)]
    force = np.tile(exact(robot, parts[0])[1], (20, 1))
    position = np.tile(parts[0].position, (20, 1))
    data = fp.Measurement(
        time=np.arange(len(position)) / 1000.0, position=position,
        force=force + 0.2 * np.random.default_rng(1).normal(size=force.shape),
    )  # fmt: skip
    base = fp.base_parameters(robot)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = fp.identify(robot, data, base=base)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert np.mean(np.abs(found.estimate - base.values) < 3 * found.sigma) > 0.95
    assert grown < 400, f"{grown:.0f} MB beside 104 MB of data: rates, accelerations and one block"
