"""Figures of designs: what they show is what the results say."""

import numpy as np
import pytest

import flexapod as fp


@pytest.fixture(scope="module")
def study() -> fp.Study:
    variables = {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80)}
    heavy = fp.Criterion(name="mass", better="high")
    return fp.study(fp.load("stewart-3-3"), variables, ["peak_force", heavy], count=64)


def test_front_with_hover(study: fp.Study) -> None:
    figure = fp.figures.pareto_figure(study, "designs")
    every, front = figure.data
    assert len(every.x) == 64
    assert sorted(front.x) == sorted(study.front["peak_force"].values)
    shown = front.hovertemplate
    assert all(f"{name} [" in shown for name in ("platform.mass", "platform.inertia.zz", "peak_force", "mass"))
    k = int(front.customdata[0][0])
    assert front.customdata[0][1] == float(study.rows["platform.mass"].sel(design=k))
    with pytest.raises(fp.InputError, match="there is no criterion 'power'"):
        fp.figures.pareto_figure(study, "designs", ("mass", "power"))


def test_tornado_has_the_largest_on_top(study: fp.Study) -> None:
    found = fp.sensitivity(study.robot_file, {"platform.mass": (20, 100), "platform.inertia.zz": (40, 80)}, "mass", samples=0)
    (bars,) = fp.figures.tornado_figure(found, "which").data
    assert bars.y[-1] == "platform.mass"
    assert bars.x[-1] == pytest.approx(80.0)
    with pytest.raises(fp.InputError, match="expected a result of sensitivity or tolerance"):
        fp.figures.tornado_figure(study.front, "which")


def test_residuals_of_a_calibration() -> None:
    robot = fp.load("stewart-3-3")
    real = robot.with_parameters({"legs.A.slide.zero": 5.001})
    at = fp.State(position=robot.home.position + 0.2 * np.random.default_rng(1).normal(size=(12, 3)))
    q = fp.inverse_kinematics(real, at, joints=False).actuator_position.values
    found = fp.calibrate(robot, {"actuator_position": q, "position": at.position}, ["legs.A.slide.zero"])
    figure = fp.figures.residual_figure(found, "residuals")
    assert [trace.name for trace in figure.data] == ["x", "x (predicted)", "y", "y (predicted)", "z", "z (predicted)"]
    assert len(figure.data[0].y) == 12
