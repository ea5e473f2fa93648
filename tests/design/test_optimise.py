"""Optimisation: isotropic geometry in closed form, limits that bind, a front with known ends, choices."""

import numpy as np
import pytest

import flexapod as fp

FOUND = 1e-6
"""Of a variable: the end of a search by gradients, where the optimum is smooth."""

SHARP = 2e-3
"""The optimum is an edge of several equal singular values, where searches by gradients stop early."""
DIFFERENCES = 1e-6
"""Relative: differences of fourth order over 1e-4 m, rounding over the step."""
POPULATION = 0.02
"""Of the best force of a grid: twelve generations of 24 designs."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("stewart-3-3")


def test_shortest_legs(robot: fp.Robot) -> None:
    """Leg length^2 = h^2 + R^2 (1 + f^2 - 2 f cos 60 deg): least at f = 1/2."""
    found = fp.optimise(
        robot, {"base": fp.Variable(0.3, 1.6, paths="legs.*.hip.at", how="factor")}, "longest", searches=2, plan=16
    )
    assert float(found.table["base"][0]) == pytest.approx(0.5, abs=FOUND)
    assert np.abs(found.sensitivities.values).max() < FOUND


def test_best_condition_of_an_octahedral_platform(robot: fp.Robot) -> None:
    """Legs at 45 degrees, reference at the middle: condition number sqrt(2).

    Six legs between triangles turned by 60 degrees, cos^2 = x to the vertical, moments about the middle over L = R cos 30 deg:
    J^T J = diag(3(1-x), 3(1-x), 6x, 3x, 3x, 6(1-x)), whose ratio is least, 2, at x = 1/2, where the height is R.
    """
    robot = robot.with_parameters({"characteristic_length": 2.5 * np.cos(np.pi / 6)})
    variables = {"base": fp.Variable(1, 4, paths="legs.*.hip.at.z"), "plate": fp.Variable(0.2, 2, paths="legs.*.ball.on.z")}
    found = fp.optimise(robot, variables, "worst_condition", searches=4, plan=64)
    height = robot.home.position[2] + float(found.table["plate"][0]) - float(found.table["base"][0])
    assert float(found.table["worst_condition"][0]) == pytest.approx(np.sqrt(2), rel=SHARP)
    assert height == pytest.approx(2.5, rel=30 * SHARP)
    assert float(found.table["plate"][0]) == pytest.approx(1.25, rel=30 * SHARP)


def test_gradients_agree_with_finite_differences_of_robots(robot: fp.Robot) -> None:
    """Away from home: there all forces are equal, and the largest of them has no derivative."""
    at, values = fp.State(position=robot.home.position + np.array([0.1, -0.2, 0.15])), []
    found = fp.sensitivity(robot, {"legs.A.hip.at.x": (2.4, 2.6)}, ["peak_force", "worst_condition"], at=at, samples=0)
    h = 1e-4
    for s in (2, 1, -1, -2):
        variant = robot.with_parameters({"legs.A.hip.at.x": 2.5 + s * h})
        force = np.abs(fp.inverse_dynamics(variant, at).force).max()
        values.append([float(force), float(fp.conditioning(variant, at, length=2.5).condition_number)])
    v = np.array(values)
    slope = (8 * (v[1] - v[2]) - (v[0] - v[3])) / (12 * h)
    assert found.derivative.values[:, 0] == pytest.approx(slope, rel=DIFFERENCES)


def test_a_limit_binds_where_it_should(robot: fp.Robot) -> None:
    """The heaviest platform under a limit of the total mass: the limit holds with equality."""
    heavy = fp.Criterion(name="peak_force", better="high")
    found = fp.optimise(robot, {"platform.mass": (20, 100)}, heavy, {"mass": (None, 209.0)}, searches=2, plan=16)
    assert float(found.table["platform.mass"][0]) == pytest.approx(209.0 - 159.0, rel=FOUND)
    assert found.sensitivities.sel(criterion="mass", variable="platform.mass") == pytest.approx(1.0)
    assert found.robot().parameter("platform.mass") == pytest.approx(50.0, rel=FOUND)


def test_front_of_two_objectives_with_choices(robot: fp.Robot) -> None:
    """The front runs over the choices of one variable; the other stays at its best."""
    pytest.importorskip("pymoo")
    wide = fp.Variable(0.7, 1.3, paths="legs.*.hip.at", how="factor")
    heavy = fp.Criterion(name="mass", better="high")
    variables = {"base": wide, "platform.mass": [20.0, 50.0, 80.0]}
    found = fp.optimise(robot, variables, ["peak_force", heavy], population=24, generations=12)
    assert set(found.table["platform.mass"].values) == {20.0, 50.0, 80.0}
    order = np.argsort(found.table["mass"].values)
    assert np.all(np.diff(found.table["peak_force"].values[order]) >= 0.0)
    narrow = fp.study(robot, variables, "peak_force", plan="grid", count={"base": 61}).rows
    for mass in (20.0, 50.0, 80.0):
        best = narrow["peak_force"].values[narrow["platform.mass"].values == mass].min()
        assert found.table["peak_force"].values[found.table["platform.mass"].values == mass].min() == pytest.approx(
            best, rel=POPULATION
        )


def test_constraints_that_nothing_keeps_are_named(robot: fp.Robot) -> None:
    with pytest.raises(fp.InputError, match="no design satisfies all constraints; the nearest one violates: mass"):
        fp.optimise(robot, {"platform.mass": (20, 100)}, "peak_force", {"mass": (None, 100.0)}, searches=1, plan=8)
    with pytest.raises(fp.InputError, match="expected \\(low, high\\)"):
        fp.optimise(robot, {"platform.mass": (20, 100)}, "peak_force", {"mass": 3})
