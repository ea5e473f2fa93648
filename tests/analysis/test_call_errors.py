"""Wrong calls end in a FlexapodError that says what and what next."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from support.call_fuzz import calls, outcome
from support.kinds import changed_leg, robot_of_kind

DATA = Path(__file__).parents[1] / "data"


def five_bar() -> fp.Robot:
    return robot_of_kind("rigid, mobility below 6")


def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


@pytest.mark.parametrize("given", [3, None, 2.5, ["five-bar"], b"five-bar"])
def test_load_takes_names_and_paths(given: Any) -> None:
    with pytest.raises(fp.FlexapodError, match="robot: expected a catalogue name or the path of a robot file, got"):
        fp.load(given)


@pytest.mark.parametrize("given", ["a\0b", "x" * 10_000, ""])
def test_load_of_hostile_names(given: str) -> None:
    with pytest.raises(fp.FlexapodError, match="no robot called"):
        fp.load(given)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"force": [np.nan, 0.0]}, "force: every value must be a finite number; found nan"),
    ({"wrench": [0, 0, np.inf, 0, 0, 0], "force": [0.0, 0.0]}, "wrench: every value must be a finite number; found inf"),
    ({"force": lambda t: np.full((len(t), 2), np.nan)}, "force: every value must be a finite number; found nan at t = 0 s"),
    ({"force": ([0.0, 1.0], [[0.0, 1.0], [np.inf, 1.0]])}, "force: every value must be a finite number; found inf at t = 1 s"),
    ({"controller": lambda t, s: np.array([np.nan, 0.0])}, "controller: the function gave nan at t = 0 s"),
    ({"controller": lambda t, s: ["a", "b"]}, "controller: expected real numbers"),
    ({"force": ["a", "b"]}, "force: expected real numbers"),
]


@pytest.mark.parametrize(("options", "text"), BAD)
def test_values_of_a_simulation_are_finite(options: dict[str, Any], text: str) -> None:
    robot = five_bar()
    with pytest.raises(fp.InputError, match=text):
        fp.simulate(robot, home(robot), duration=0.002, friction=False, **options)


def test_under_actuated_inverse_dynamics() -> None:
    robot = robot_of_kind("under-actuated")
    with pytest.raises(fp.InputError, match="five-bar-under is under-actuated: 1 actuators cannot choose 2 components"):
        fp.inverse_dynamics(robot, home(robot))


def test_under_actuated_inverse_dynamics_in_exports(tmp_path: Path) -> None:
    """What other programs get has the reason of the verb."""
    robot = robot_of_kind("under-actuated")
    asked: list[Callable[[str], Any]] = [
        lambda quantity: fp.kernel(robot, quantity),
        lambda quantity: fp.generate(robot, quantity, form="matlab"),
        lambda quantity: fp.casadi_function(robot, quantity),
        lambda quantity: fp.export_c(robot, quantity, tmp_path / "c"),
        lambda quantity: fp.export_fmu(robot, tmp_path / "x.fmu", quantity),
    ]
    for ask in asked:
        for quantity, name in (("inverse_dynamics", "inverse dynamics"), ("friction_force", "friction force")):
            with pytest.raises(fp.InputError, match=f"^{name}: five-bar-under is under-actuated: 1 actuators cannot"):
                ask(quantity)


def test_under_actuated_forward_dynamics_with_friction() -> None:
    """The general model has it, as the simulation does; a program of its own refuses it by its name."""
    robot = changed_leg("five-bar", "five-bar-rubbing", "right", crank={"actuated": False, "friction": {"coulomb": 0.1}})
    assert fp.forward_dynamics(robot, home(robot), [1.0]).attrs["formulation"] == "general"
    assert fp.forward_dynamics(robot, home(robot), [1.0], friction=False).attrs["formulation"] != "general"
    with pytest.raises(fp.InputError, match="forward dynamics with friction: found by inverse dynamics"):
        fp.casadi_function(robot, "forward_dynamics")


def test_virtual_work_on_a_leg_without_bodies() -> None:
    """IndexError before: a platform that is held by a ball joint at the base."""
    robot = fp.load(DATA / "robots" / "tilting-platform.yaml")
    assert any(not leg.links for leg in robot.legs)
    with pytest.raises(fp.InputError, match=r"virtual_work: leg .* of tilting-platform has no body; take another formulation"):
        fp.inverse_dynamics(robot, home(robot), formulation="virtual_work")


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("inverse_dynamics", {"reactions": "yes"}, "reactions: expected True or False, got 'yes'"),
    ("inverse_dynamics", {"formulation": 3}, "formulation: expected a text, got 3"),
    ("inverse_dynamics", {"wrench": [[1], [2, 3]]}, "wrench: expected numbers; the rows have different lengths"),
    ("inverse_dynamics", {"wrench": "heavy"}, "wrench: expected real numbers"),
    ("inverse_dynamics", {"nonsense": 1}, "inverse_dynamics: got an unexpected keyword argument 'nonsense'; it takes"),
    ("inverse_dynamics_derivatives", {"parameters": "platform.mass"}, "parameters: expected a list of texts"),
    ("conditioning", {"length": "long"}, "length: expected a number, got 'long'"),
    ("workspace", {"threads": 0}, "threads: expected a whole number above 0, got 0"),
]


@pytest.mark.parametrize(("verb", "options", "text"), WRONG)
def test_arguments_are_of_their_kind(verb: str, options: dict[str, Any], text: str) -> None:
    robot = five_bar()
    given = (robot,) if verb == "workspace" else (robot, home(robot))
    with pytest.raises(fp.InputError, match=re.escape(text)):
        getattr(fp, verb)(*given, **options)


def test_a_robot_is_a_robot() -> None:
    with pytest.raises(fp.InputError, match="robot: expected a Robot, got str"):
        fp.inverse_dynamics("five-bar", fp.State(position=[0.0, 0.0, 0.0]))  # type: ignore[arg-type]
    with pytest.raises(fp.InputError, match="motion: expected a Motion, an ActuatorMotion or a State, got 3"):
        fp.inverse_dynamics(five_bar(), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "seed"), [(300, 7), pytest.param(20_000, 11, marks=pytest.mark.full)])
@pytest.mark.filterwarnings("ignore")
def test_random_calls_end_in_a_result_or_a_flexapod_error(count: int, seed: int) -> None:
    robots = [five_bar(), robot_of_kind("joint springs")]
    with np.errstate(all="ignore"):
        found = [problem for call in calls(robots, count, seed) if (problem := outcome(*call))]
    assert not found, "\n".join(found[:20])
