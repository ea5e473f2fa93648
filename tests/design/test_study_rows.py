"""Criteria of studies against the verbs on robots built one by one."""

import numpy as np
import pytest

import flexapod as fp

ROUNDING = 1e-9
"""Relative: another formulation (virtual power against minimal equations), conditioned by a few units of the Jacobian."""

STIFFNESS = 2e7
VARIABLES = {
    "platform.mass": (20, 100),
    "base": fp.Variable(0.8, 1.2, paths="legs.*.hip.at", how="factor"),
    "legs.cylinder.com.z": ("50 cm", 0.9),  # beyond 0.91 m no body has the inertia about the origin
}


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("stewart-3-3")


@pytest.fixture(scope="module")
def motion(robot: fp.Robot) -> fp.Motion:
    t = np.linspace(0.0, 1.0, 5)
    p = robot.home.position + np.stack([0.2 * np.sin(3 * t), 0.1 * np.cos(2 * t), 0.1 * np.sin(t)], axis=1)
    v = np.stack([0.6 * np.cos(3 * t), -0.2 * np.sin(2 * t), 0.1 * np.cos(t)], axis=1)
    a = np.stack([-1.8 * np.sin(3 * t), -0.4 * np.cos(2 * t), -0.1 * np.sin(t)], axis=1)
    zero, eye = np.zeros((5, 3)), np.tile(np.eye(3), (5, 1, 1))
    return fp.Motion(
        time=t, position=p, rotation=eye, velocity=v, angular_velocity=zero, acceleration=a, angular_acceleration=zero
    )


@pytest.fixture(scope="module")
def study(robot: fp.Robot, motion: fp.Motion) -> fp.Study:
    criteria = [
        "peak_force", "rms_force", "peak_power", "peak_speed", "stroke", "worst_condition", "singularity_distance", "mass",
        fp.Criterion(name="stiffness", options={"stiffness": STIFFNESS}),
        fp.Criterion(name="lowest_frequency", options={"stiffness": STIFFNESS}),
        fp.Criterion(name="sag", kind="deflection", options={"stiffness": STIFFNESS, "load": [0, 0, -1000, 0, 0, 0]}),
    ]  # fmt: skip
    return fp.study(robot, VARIABLES, criteria, at=motion, count=16, plan="latin", threads=2)


def test_criteria_agree_with_the_verbs(study: fp.Study, motion: fp.Motion) -> None:
    row = study.rows.sel(design=11)
    robot = study.robot(11)
    assert robot.parameter("platform.mass") == float(row["platform.mass"])
    drive = fp.inverse_dynamics(robot, motion, formulation="newton_euler")
    legs = fp.inverse_kinematics(robot, motion)
    q, k = legs.actuator_position, 1.0 / STIFFNESS
    condition = fp.conditioning(robot, motion, length=fp.load("stewart-3-3").characteristic_length)
    J = fp.jacobian(robot, motion).jacobian.values
    C = np.linalg.inv(np.swapaxes(J, 1, 2) @ J) * k
    modes = fp.natural_frequencies(robot, motion, actuators=np.full(6, STIFFNESS), prestress=False)
    expected = {
        "peak_force": np.abs(drive.force).max(),
        "rms_force": np.sqrt((drive.force**2).mean("time")).max(),
        "peak_power": np.abs(drive.power).max(),
        "peak_speed": np.abs(legs.actuator_velocity).max(),
        "stroke": (q.max("time") - q.min("time")).max(),
        "worst_condition": condition.condition_number.max(),
        "singularity_distance": condition.type_2.min(),
        "mass": robot.platform.mass + sum(k.body.mass for leg in robot.legs for k in leg.links if k.body),
        "stiffness": (1.0 / np.linalg.norm(C[:, :3, :3], ord=2, axis=(1, 2))).min(),
        "lowest_frequency": modes.frequency.min(),
        "sag": 1000.0 * np.linalg.norm(C[:, :3, 2], axis=1).max(),
    }
    for name, value in expected.items():
        assert float(row[name]) == pytest.approx(float(value), rel=ROUNDING), name


def test_statistics_and_front_are_those_of_the_rows(study: fp.Study) -> None:
    rows = study.rows
    s = study.statistics
    assert study.designs == study.valid == 16
    for name in ("peak_force", "mass"):
        values = rows[name].values
        assert float(s["mean"].sel(criterion=name)) == pytest.approx(values.mean(), rel=ROUNDING)
        assert float(s.deviation.sel(criterion=name)) == pytest.approx(values.std(ddof=1), rel=ROUNDING)
        assert study.best(name) == int(values.argmin())
    assert set(study.front.design.values) <= set(rows.design.values)


def test_designs_that_cannot_reach_are_named(robot: fp.Robot) -> None:
    slides = fp.load("hexapod")
    found = fp.study(slides, {"link": fp.Variable(0.3, 0.6, paths="legs.*.ball.at.z")}, "peak_force", plan="grid", count=13)
    assert 0 < found.valid < found.designs
    assert sum(found.reasons.values()) == found.designs - found.valid
    assert all("leg" in reason for reason in found.reasons)
    invalid = found.rows.reason.values != ""
    assert np.array_equal(np.isnan(found.rows.peak_force.values), invalid)


def test_a_function_of_the_robot_is_a_criterion(robot: fp.Robot) -> None:
    own = fp.Criterion(name="weight", unit="N", function=lambda r: 9.81 * r.platform.mass)
    found = fp.study(robot, {"platform.mass": (20, 100)}, [own, "mass"], plan="grid", count=3)
    assert found.rows.weight.values == pytest.approx([9.81 * 20, 9.81 * 60, 9.81 * 100], rel=ROUNDING)


def test_threads_do_not_change_a_bit(robot: fp.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flexapod.design.study_blocks.BLOCK", 256)
    runs = [
        fp.study(robot, {"platform.mass": (20, 100)}, ["peak_force", "mass"], count=3000, plan="random", threads=n)
        for n in (1, 3)
    ]
    assert runs[0].rows.identical(runs[1].rows)
    assert runs[0].summary.state() == runs[1].summary.state()


def test_criteria_of_loops_inside_legs_are_those_of_the_same_robot_without() -> None:
    """A Delta with parallelograms, and one whose forearms are rods with universal joints: the same criteria by verbs."""
    at = fp.State(position=[[0.05, -0.03, -0.75], [-0.04, 0.06, -0.7]])
    stiff = {"stiffness": 1e4}
    criteria = ["peak_force", "rms_force", "stroke", "longest", "worst_condition", "mass",
                fp.Criterion(name="stiffness", options=stiff), fp.Criterion(name="lowest_frequency", options=stiff),
                fp.Criterion(name="deflection", options={**stiff, "load": [1, 2, 3, 0, 0, 0]})]  # fmt: skip
    found = [fp.study(fp.load(name), {"platform.mass": (0.5, 1.5)}, criteria, at=at, count=2, plan="grid", progress=False).rows
             for name in ("delta", "delta-parallelograms")]  # fmt: skip
    for c in criteria:
        name = c if isinstance(c, str) else c.name
        np.testing.assert_allclose(np.asarray(found[1][name]), np.asarray(found[0][name]), rtol=ROUNDING, err_msg=name)
    volume = fp.Criterion(name="workspace_volume", options={"box": {"x": (-0.1, 0.1, 3)}})
    with pytest.raises(fp.InputError, match="workspace_volume: is not available where loops run inside or between legs"):
        fp.study(fp.load("delta-parallelograms"), {"platform.mass": (0.5, 1.5)}, volume, count=2, progress=False)


def test_lengths_of_an_orthoglide_are_variables() -> None:
    """Isotropic at home, whatever the length of its links."""
    robot = fp.load("orthoglide")
    found = fp.study(robot, {"parameters.link": (0.3, 0.32)}, ["worst_condition"], count=2, plan="grid", progress=False).rows
    np.testing.assert_allclose(found.worst_condition.values, 1.0, rtol=ROUNDING)
