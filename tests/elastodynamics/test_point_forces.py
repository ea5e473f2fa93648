"""Force elements between two points: Andrews' squeezing mechanism, energy, reactions, and refusals."""

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

ANDREWS = Path(__file__).parents[1] / "data" / "mechanisms" / "andrews.yaml"
START = [-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
         -0.222668390165885885, 1.23054744454982119]  # fmt: skip
"""beta, Theta, gamma, Phi, delta, Omega, epsilon [rad], of the test set for initial value problem solvers."""
END = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
       0.5347301163226948, 1.048080741042263]  # fmt: skip
"""The same at 0.03 s."""
RATE = 1139.920302151208
"""Rate of beta at 0.03 s [rad/s]."""
ORDER = [0, 1, 2, 4, 3, 6, 5]
"""Our joint coordinates in the order of the test set."""
ANGLE = 1e-8
"""[rad]; the step of 12.5 us leaves 2e-9, with the fourth power of the step."""
FIRST = 14222.4439199541139
"""Acceleration of beta at the start [rad/s^2]."""
BY_HAND = 1e-12
"""Relative: formulas of one bar, and FIRST; found 9e-15."""
BALANCE = 1e-9
"""Of the supplied work; the steps leave 5e-10."""


@pytest.fixture(scope="module")
def result() -> tuple[fp.Robot, object]:
    robot = fp.load(ANDREWS)
    start = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    return robot, fp.simulate(robot, start, drive="force", force=[0.033], duration=0.03, step=1.25e-5)


def test_andrews_squeezer_reaches_the_published_angles(result: tuple[fp.Robot, object]) -> None:
    """Seven bodies, three loops, one of which starts at a dead point; the crank turns two and a half times."""
    robot, found = result
    assert robot.mobility.rank == 1
    angles = found.joint_position.values[-1][ORDER] + np.where(np.arange(7) == 0, 0.0, START)
    assert np.abs(angles - END).max() < ANGLE
    assert abs(found.actuator_velocity.values[-1, 0] - RATE) < ANGLE * 1424.4
    assert abs(found.actuator_acceleration.values[0, 0] - FIRST) < BY_HAND * FIRST


def test_energy_of_the_spring_is_in_the_balance(result: tuple[fp.Robot, object]) -> None:
    """What the torque supplies is found again in motion and spring; the spring alone stores more than the motion has at times."""
    _, found = result
    exchanged = float(found.supplied_work[-1].sum())
    assert float(np.abs(found.energy_residual).max()) < BALANCE * exchanged
    assert float(found.elastic_energy.max() - found.elastic_energy.min()) > 0.01 * exchanged


ARM = """flexapod: 1
name: arm
title: a bar on a spring
plane: xy
source: written for this test
gravity: [0, 0, 0]
home: {position: [0, 0, 0]}
platform: {body: a.bar}
legs:
  each:
    a:
      joints: {pivot: {type: revolute, from: base, to: bar, axis: [0, 0, 1], actuated: true}}
      bodies: {bar: {mass: 2, com: [0.2, 0, 0], inertia: {diagonal: [0.1, 0.1, 0.1]}}}
forces:
  spring: {from: base, at: [0.3, 0.4, 0], to: a.bar, on: [0.3, 0, 0], stiffness: 100 N/m, length: 0.1, damping: 5, preload: -2 N}
"""
FLEXIBLE = "flexible: {type: beam, length: 0.5, material: steel, section: {shape: rectangle, width: 0.02, height: 0.02}}"


def test_a_spring_holds_a_bar(tmp_path: Path) -> None:
    """Torque and reaction of one bar by hand: tension 100 (0.4 - 0.1) - 2 + 5 l' upwards at 0.3 m."""
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    robot = fp.load(tmp_path / "arm.yaml")
    at = fp.State(position=[0, 0, 0], angular_velocity=[0, 0, 2.0])
    found = fp.inverse_dynamics(robot, at, reactions=True)
    tension = 100.0 * 0.3 - 2.0 - 5.0 * 0.3 * 2.0  # the bar's point goes up, towards the fixed one
    assert found.force.values[0] == pytest.approx(-0.3 * tension, rel=BY_HAND)
    outwards = -2.0 * 0.2 * 2.0**2
    assert found.reaction_force.sel(joint="a.pivot").values[:2] == pytest.approx([outwards, -tension], rel=BY_HAND)
    softer = robot.with_parameters({"forces.spring.stiffness": 50.0})
    assert fp.inverse_dynamics(softer, fp.State(position=[0, 0, 0])).force.values[0] == pytest.approx(-0.3 * 13.0, rel=BY_HAND)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("to: a.bar, on", "to: a.rod, on", r"arm.yaml:15: forces.spring.to: no body is called a.rod. Did you mean a.bar"),
        ("from: base, at", "from: a.bar, at", r"arm.yaml:15: forces.spring.to: acts between two points of a.bar"),
        ("stiffness: 100 N/m", "stiffness: 100 N", r"arm.yaml:15: forces.spring.stiffness"),
        (
            "[0.3, 0.4, 0]",
            "[0.3, 0, 0]",
            r"arm.yaml:15: forces.spring: its points on base and a.bar coincide at home: its force",
        ),
        (
            "on: [0.3, 0, 0], stiffness: 100 N/m, length: 0.1, damping: 5, preload: -2 N",
            "on: [0.3, 0, 0]",
            r"arm.yaml:15: forces.spring: has neither stiffness nor damping nor preload and does nothing. Add one",
        ),
        (
            "mass: 2, com: [0.2, 0, 0], inertia: {diagonal: [0.1, 0.1, 0.1]}",
            FLEXIBLE,
            r"arm.yaml:15: forces.spring: a.bar is flexible, and a force element acts at its root alone; fix a rigid body",
        ),
    ],
)
def test_wrong_force_elements_are_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    (tmp_path / "arm.yaml").write_text(ARM.replace(old, new), encoding="utf-8")
    with pytest.raises(fp.FlexapodError, match=says):
        fp.load(tmp_path / "arm.yaml")


def test_a_damper_damps_small_motions(tmp_path: Path) -> None:
    """The bar at the spring's own length, actuator free: omega^2 and damping of one degree of freedom by hand."""
    text = ARM.replace("length: 0.1", "length: 0.4").replace("preload: -2 N", "preload: 0")
    (tmp_path / "arm.yaml").write_text(text, encoding="utf-8")
    found = fp.natural_frequencies(fp.load(tmp_path / "arm.yaml"), fp.State(position=[0, 0, 0]), actuators="free")
    inertia, k, d = 0.1 + 2.0 * 0.2**2, 100.0 * 0.3**2, 5.0 * 0.3**2
    assert found.omega_squared.values[0] == pytest.approx(k / inertia, rel=BY_HAND)
    assert found.damping.values[0] == pytest.approx(d / (2.0 * np.sqrt(k * inertia)), rel=BY_HAND)
