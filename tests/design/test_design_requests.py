"""Bad requests end with one clear message before anything is computed."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp

MASS = {"platform.mass": (20, 100)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variables": {"platform.mas": (1, 2)}}, "platform.mas"),
        ({"variables": {"legs.*.hip.att.x": (1, 2)}}, "att"),
        ({"variables": {"*.nothing": (1, 2)}}, "no parameter of stewart-3-3 fits"),
        ({"variables": {}}, "give a mapping of parameter paths to limits"),
        ({"variables": {"platform.mass": (100, 20)}}, "the lower limit 100 is not below the upper limit 20"),
        ({"variables": {"platform.mass": (1, "abc")}}, "not a number with a unit"),
        ({"variables": {"platform.mass": ("1 m", "2 m")}}, "variables: platform.mass: '1 m' has the wrong unit: it must be kg"),
        ({"variables": {"platform.mass": fp.Variable(choices=["1 kg", "2 kg", "3 m"])}}, "'3 m' has the wrong unit"),
        ({"variables": {"platform.mass": fp.Variable("1 kg", 2, how="factor")}}, "must be a plain number"),
        ({"criteria": {"name": "workspace_volume", "box": {"x": ("0 kg", 1.0, 3)}}}, "'0 kg' has the wrong unit: it must be m"),
        ({"variables": {"platform.mass": 5}}, "expected \\(low, high\\)"),
        ({"variables": {"platform.mass": {"low": 1, "hihg": 2}}}, "there is no field 'hihg'"),
        ({"variables": {"legs.A.hip.at": (1, 2)}}, "is a vector; name a component"),
        ({"variables": {"platform.mass": (-5, 5)}}, "platform.mass: must not be below 0"),
        (
            {"variables": {"a": fp.Variable(1, 2, paths="platform.mass"), "platform.mass": (1, 2)}},
            "both change platform.mass",
        ),
        ({"criteria": "peak_forse"}, "did you mean 'peak_force'"),
        ({"criteria": []}, "give one or more of"),
        ({"criteria": ["mass", "mass"]}, "given twice"),
        ({"criteria": "stiffness"}, "stiffness needs 'stiffness'"),
        ({"criteria": {"name": "mass", "load": [0] * 6}}, "mass has no option 'load'"),
        ({"plan": "spiral"}, "there is no plan 'spiral'"),
        ({"count": 0}, "expected a whole number of designs"),
        ({"count": 10**12, "plan": "random"}, "are more than"),
        ({"count": 10**8}, "give a folder, or keep=False"),
        ({"plan": {"platform.mass": [10.0]}}, "beyond its limits"),
        ({"seed": -1}, "seed"),
        ({"robot": "gough-stewart-flexible"}, "do not cover the flexible platform of gough-stewart-flexible"),
        ({"criteria": {"name": "workspace_volume", "box": {"x": (0.0, 1.0)}}}, "each \\(low, high, cells\\)"),
        ({"criteria": {"name": "stiffness", "stiffness": -1.0}}, "expected a number above 0"),
        ({"robot": "tripteron", "criteria": "leg_distance", "variables": {"platform.mass": (1, 2)}}, "available for U-P-S"),
        (
            {"robot": "hexapod", "variables": {"a": fp.Variable(0.01, 0.1, paths="legs.*.ball.at.z")}},
            "no robot can be built within their limits",
        ),
    ],
)
def test_message(changes: dict[str, Any], message: str) -> None:
    request: dict[str, Any] = {"robot": "stewart-3-3", "variables": MASS, "criteria": "mass", **changes}
    if request["robot"] == "hexapod":
        request["criteria"] = "peak_force"
    with pytest.raises(fp.FlexapodError, match=message):
        fp.study(fp.load(request.pop("robot")), **request)


def test_infeasible_at_every_design() -> None:
    robot = fp.load("hexapod")
    far = fp.State(position=robot.home.position + np.array([5.0, 0.0, 0.0]))
    with pytest.raises(fp.InputError, match=r"none of .* designs tried is valid; most often: leg"):
        fp.study(robot, MASS, "peak_force", at=far)


def test_tolerances_of_another_quantity_are_refused() -> None:
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.InputError, match=r"tolerances: legs.A.hip.at: '20 kg' has the wrong unit: it must be m"):
        fp.tolerance(robot, {"legs.A.hip.at": "20 kg"}, fp.State(position=robot.home.position))


@pytest.mark.parametrize(
    ("returned", "shown"),
    [("x", "'x'"), (None, "None"), (np.zeros(2), r"a ndarray of shape \(2,\)"), (1j, "1j"), ([1.0], r"a list of shape \(1,\)")],
)
def test_a_criterion_returns_one_number(returned: Any, shown: str) -> None:
    robot, own = fp.load("stewart-3-3"), fp.Criterion(name="m", function=lambda r: returned)
    for verb in (fp.study, fp.sensitivity, fp.optimise):
        with pytest.raises(fp.InputError, match=f"criteria: m: its function returned {shown}; expected one number per robot"):
            verb(robot, {"platform.mass": (40, 60)}, [own])
    with pytest.raises(fp.InputError, match="expected one number"):
        fp.tolerance(robot, {"platform.mass": 1.0}, criteria=[own])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_criterion_that_is_never_finite_is_said(value: float) -> None:
    robot, own = fp.load("stewart-3-3"), fp.Criterion(name="m", function=lambda r: value)
    for verb, options in ((fp.study, {"count": 4}), (fp.sensitivity, {"samples": 2}), (fp.optimise, {"plan": 4})):
        with pytest.raises(fp.InputError, match=f"m: its function returned {value}"):
            verb(robot, {"platform.mass": (40, 60)}, [own], **options)  # type: ignore[operator]


def test_options_of_the_other_search_are_refused() -> None:
    robot, mass = fp.load("stewart-3-3"), {"platform.mass": (40, 60)}
    with pytest.raises(fp.InputError, match="population: one objective without choices is searched by gradients; leave it out"):
        fp.optimise(robot, mass, "peak_force", population=3)
    with pytest.raises(fp.InputError, match="generations: one objective"):
        fp.optimise(robot, mass, "peak_force", generations=2)
    with pytest.raises(fp.InputError, match="searches: populations search without gradients; leave it out"):
        fp.optimise(robot, mass, ["peak_force", "mass"], searches=2)
