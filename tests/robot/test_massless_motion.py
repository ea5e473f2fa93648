"""Coordinates of loops without mass of their own: springs and drives at closing joints, empty bodies; a single coordinate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.closed_legs import home as closed_home
from flexapod.equations.elastodynamics.massless import _is_singular, has_massless_motion

SAME = 1e-10
"""Of the force: the same four-bar, its loop cut at another joint."""
LIGHT = 1e-8
"""Of the force: a body of 1e-9 kg beside some of 1 kg; found 1.4e-9."""

HEAD = """
flexapod: 1
name: four-bar
source: written for this test
gravity: [0, -9.81, 0]
characteristic_length: 0.5
home: {position: [0, 0, 0]}
platform: {body: L.crank}
legs:
  each:
    L:
      joints:
        a: {type: revolute, from: base, to: crank, axis: [0, 0, 1], actuated: true}
        b: {type: revolute, from: crank, to: coupler, at: [0, 0.2, 0], axis: [0, 0, 1]}
"""
AT_ROCKER = """
        c: {{type: revolute, from: coupler, to: rocker, at: [0.5, 0.1, 0], axis: [0, 0, 1]}}
        d: {{type: revolute, from: base, at: [0.5,0,0], to: rocker, on: [0, -0.3, 0], axis: [0, 0, 1], axis_on: [0, 0, 1]{words}}}
"""
AT_COUPLER = """
        d: {{type: revolute, from: base, to: rocker, at: [0.5, 0, 0], axis: [0, 0, 1]{words}}}
        c: {{type: revolute, from: coupler, to: rocker, at: [0.5, 0.1, 0], on: [0, 0.3, 0], axis: [0, 0, 1], axis_on: [0, 0, 1]}}
"""
BODIES = """
      bodies:
        crank: {{mass: 1, com: [0, 0.1, 0], inertia: {{diagonal: [0.01, 0.01, 0.01]}}}}
        coupler: {{mass: 2, com: [0.25, 0.05, 0], inertia: {{diagonal: [0.03, 0.03, 0.03]}}}}
        rocker: {rocker}
"""
ROCKER = "{{mass: 1.5, com: [0, {centre}, 0], inertia: {{diagonal: [0.02, 0.02, 0.02]}}}}"
MOVING = fp.ActuatorMotion(time=[0.0], position=[[0.4]], velocity=[[1.2]], acceleration=[[5.0]])


def four_bar(folder: Path, joints: str, words: str, rocker: str) -> fp.Robot:
    path = folder / "four-bar.yaml"
    path.write_text(HEAD + joints.format(words=words).lstrip("\n") + BODIES.format(rocker=rocker).lstrip("\n"))
    return fp.load(path)


@pytest.mark.parametrize(
    "words",
    ["stiffness: 12, rest: 0.05, preload: 0.6", "damping: 0.4", "friction: {viscous: 0.2}",
     "limits: {stroke: [-0.1, 0.1], stop: 300}"],
)  # fmt: skip
def test_springs_at_a_closing_joint(tmp_path: Path, words: str) -> None:
    """`the result is not a finite number` before, in every state."""
    closing = four_bar(tmp_path, AT_ROCKER, f", {words}", ROCKER.format(centre=-0.15))
    inner = four_bar(tmp_path, AT_COUPLER, f", {words}", ROCKER.format(centre=0.15))
    assert has_massless_motion(closing)
    assert not has_massless_motion(inner)
    found, other = (fp.inverse_dynamics(robot, MOVING).force.values for robot in (closing, inner))
    assert found == pytest.approx(other, rel=SAME)
    platform = fp.platform_motion(inner, MOVING)
    state = fp.State(position=platform.position[0], rotation=platform.rotation[0])
    accelerations = [fp.forward_dynamics(robot, state, [0.3]).angular_acceleration.values for robot in (closing, inner)]
    assert accelerations[0] == pytest.approx(accelerations[1], rel=SAME)


@pytest.mark.parametrize(("quantity", "found"), [("inverse_dynamics", "force"), ("forward_dynamics", "actuator_acceleration")])
def test_generated_functions_do_not_divide_by_missing_mass(tmp_path: Path, quantity: str, found: str) -> None:
    """They were written in link axes, which divide by the mass of every leg: forces that are no numbers, with status 0."""
    robot = four_bar(tmp_path, AT_ROCKER, ", stiffness: 12, rest: 0.05", ROCKER.format(centre=-0.15))
    bound, module = fp.kernel(robot, quantity), dict[str, Any]()
    exec(fp.generate(robot, quantity, form="python").text, module)
    home = {key: value[0] for key, value in closed_home(robot, 1).inputs().items()}
    given = {i.name: home.get(i.name, np.full(i.shape, 0.7)) for i in bound.signature.inputs}
    text = module[quantity](*given.values(), module["setup"]())
    assert text[found] == pytest.approx(bound(**given)[found], rel=SAME)
    with pytest.raises(fp.InputError, match=r"no formulation 'link_axes'.*; there are: .*projected"):
        fp.generate(robot, quantity, formulation="link_axes")


def test_a_body_without_mass_in_a_loop(tmp_path: Path) -> None:
    """Against a body of 1e-9 kg, with which the elimination by legs works."""
    empty = four_bar(tmp_path, AT_ROCKER, "", "{}")
    light = four_bar(tmp_path, AT_ROCKER, "", "{mass: 1e-9, inertia: {diagonal: [1e-9, 1e-9, 1e-9]}}")
    found, other = (fp.inverse_dynamics(robot, MOVING).force.values for robot in (empty, light))
    assert found == pytest.approx(other, rel=LIGHT)


def test_one_coordinate(tmp_path: Path) -> None:
    """An error of CasADi before: nothing is left to solve for."""
    path = tmp_path / "lever.yaml"
    path.write_text(
        "flexapod: 1\nname: lever\nsource: written for this test\ngravity: [0, 0, -9.81]\ncharacteristic_length: 0.5\n"
        "home: {position: [0, 0, 0]}\nplatform: {body: A.lever}\nlegs:\n  each:\n    A:\n      joints:\n"
        "        pin: {type: revolute, from: base, to: lever, axis: [0, 1, 0], actuated: true, inertia: 0.02}\n"
        "      bodies:\n        lever: {mass: 4, com: [0.25, 0, 0], inertia: {diagonal: [0.01, 0.1, 0.1]}}\n"
    )
    motion = fp.ActuatorMotion(time=[0.0], position=[[0.2]], velocity=[[1.3]], acceleration=[[-2.0]])
    about_pin = 0.02 + 0.1 + 4 * 0.25**2
    expected = -2.0 * about_pin - 4 * 9.81 * 0.25 * np.cos(0.2)
    assert fp.inverse_dynamics(fp.load(path), motion).force.values == pytest.approx(expected, rel=SAME)


def test_masses_beyond_floating_point_numbers_count_as_none() -> None:
    assert _is_singular(np.diag([np.inf, 1.0]))
    assert _is_singular(np.array([[1e300, 1e308], [1e308, 1e-300]]))
    assert not _is_singular(np.diag([1e200, 1e-200]))
