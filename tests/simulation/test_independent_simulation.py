"""Simulations in independent coordinates: controllers, loads, events, checkpoints and reactions of robots whose legs deform."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.motions.motion import with_formula
from flexapod.simulation.integrators import numeric_rows
from flexapod.simulation.integrators.collocation import METHODS as METHODS_OF_STAGES
from flexapod.simulation.integrators.numeric_steps import part_of_row
from support.kinds import robot_of_kind

SAME = 1e-10
"""Two ways through the same equations, of the largest; found 1e-13 (accelerations of stiff beams)."""
BALANCE = 1e-9
"""Energy that is not accounted for, of what the actuators supply; found 1e-13."""
STEP = 1e-3
DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
CONTROL = {"kp": 1e5, "kd": 2e3}
TRACKED = 3e-3
"""[m, rad] of an amplitude of 0.02: PD control of flexible legs."""
FOLLOWS = 1e-14
"""[m, rad]: followed lengths are the motion's."""
PLATE = 1e-7
"""Energy that is not accounted for, of what is supplied: modes of up to 190 Hz at 1 ms."""
CUBIC = 1e-14
"""Signals up to 3: interpolation of a cubic is exact."""
ARRIVES = 0.02
"""[m, rad] PD control along a motion of 0.01, friction included."""


def motion(robot: fp.Robot, amplitude: float = 0.02) -> fp.ActuatorMotion:
    """All actuators swing by an amplitude and back within a second."""
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    size, w = amplitude * np.linspace(0.5, 1.0, len(home)), 2 * np.pi

    def at(t: Any) -> fp.ActuatorMotion:
        c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
        return fp.ActuatorMotion(time=t, position=home + size * (1 - c), velocity=size * w * s, acceleration=size * w**2 * c)

    return with_formula(at(np.linspace(0.0, 1.0, 101)), at)


def run(robot: fp.Robot, **given: Any) -> Any:
    return fp.simulate(robot, motion(robot), **{"duration": 0.05, "step": STEP, **given})


def balance(found: Any) -> float:
    return float(np.abs(found.energy_residual).max() / np.abs(found.supplied_work).sum("actuator").max())


FINE = {"step": 1e-3}
"""A function of the state is held within steps of `dopri`; CVODE asks for it at every evaluation."""
CASES: dict[str, dict[str, Any]] = {
    "PD and load": {"controller": fp.PD(**CONTROL), "wrench": np.array([10.0, -5.0, 0, 0, 0, 1.0])},
    "sampled PID": {"controller": fp.PID(ki=1e5, rate=500.0, **CONTROL), "friction": False},
}


METHODS: dict[str, dict[str, Any]] = {
    "implicit": {},
    "rk4": {"step": 2.5e-5, "duration": 0.005, "output_step": 1e-3},
    "dopri": {"duration": 0.004, "output_step": 1e-3},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_controllers_two_ways(case: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled loop and rows in numbers go through the same states; energy is accounted for."""
    robot, given = fp.load("dualemps"), {**CASES[case], "method": method, **METHODS[method]}
    found = run(robot, **given)
    assert balance(found) < BALANCE or method != "implicit"
    assert np.abs(found.actuator_position - motion(robot).formula(found.time.values).position).max() < TRACKED
    monkeypatch.setattr(numeric_rows, "COMPILED", 1)
    again = run(robot, **given)
    assert "stopped" not in found.attrs
    shown = ("force", "elastic", "elastic_acceleration", "acceleration", "supplied_work", "external_work", "dissipated_energy")
    for name in shown:
        size = float(np.abs(found[name]).max())
        assert float(np.abs(found[name] - again[name]).max()) <= SAME * size, name


def test_another_integrator_finds_the_same_motion() -> None:
    """CVODE against Dormand and Prince, both in independent coordinates: a chain of four-bars falls, then is pushed."""
    robot = fp.load(Path(__file__).parents[1] / "data" / "mechanisms" / "four-bars.yaml")
    start = fp.State.from_actuators(robot, np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)])
    given = {"duration": 0.3, "output_step": 0.05, "rtol": 1e-10, "atol": 1e-12}
    for force in (None, lambda t, s: 3.0 - 0.5 * s["actuator_velocity"]):
        one, other = (
            fp.simulate(robot, start, method=m, controller=force, **given, **k) for m, k in (("cvode", {}), ("dopri", FINE))
        )
        for name in ("actuator_position", "actuator_velocity", "position"):
            size = float(np.abs(one[name]).max())
            assert float(np.abs(one[name] - other[name]).max()) <= (1e-8 if force is None else 1e-4) * size, (name, force)


def test_events_functions_reactions_and_checkpoints(tmp_path: Path) -> None:
    """A function holds the robot, an event ends the simulation; with checkpoints it is the same run to the last bit."""
    robot = fp.load("dualemps")
    events = [fp.Event(time=0.02, stop=True)]
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    found = run(robot, controller=lambda t, s: 1e5 * (home - s["actuator_position"]), events=events, reactions=True)
    assert found.attrs["stopped_at"] == pytest.approx(0.02)
    assert found.sizes["reaction_joint"] == 13
    known = found.reaction_force.isel(time=3).dropna("reaction_joint", how="all")
    assert known.sizes["reaction_joint"]
    whole = run(robot, controller=fp.PD(**CONTROL))
    file = tmp_path / "run.checkpoint"
    again = run(robot, controller=fp.PD(**CONTROL), save=file)
    assert np.array_equal(whole.force, again.force)
    assert not file.exists()


def test_computed_torque_needs_a_rigid_model() -> None:
    """Inverting through the deformations is refused, with what to do instead."""
    with pytest.raises(fp.errors.InputError, match="ComputedTorque would invert the platform's acceleration through"):
        run(fp.load("dualemps"), controller=fp.ComputedTorque(kp=400.0, kd=40.0))


def test_many_coordinates_run_in_numbers() -> None:
    """Planar 3-RRR with six flexible links, 30 coordinates: a controlled run with friction-free joints keeps its energy."""
    robot = fp.load(DATA / "planar-3-rrr.yaml")
    assert len(robot.elastic_plan.columns) > numeric_rows.COMPILED
    found = run(robot, controller=fp.PD(kp=1e5, kd=1e3), duration=0.03)
    assert "stopped" not in found.attrs
    assert balance(found) < BALANCE


def test_actuators_of_a_flexible_platform_follow_a_motion() -> None:
    """Followed lengths are the motion's; the plate swings; energy is accounted for."""
    robot = fp.load("gough-stewart-flexible").with_parameters({"gravity": [0, 0, 0]})  # with its weight it buckles on locked legs
    found = fp.simulate(robot, motion(robot, 0.01), drive="actuators", step=STEP, duration=0.01)
    assert np.abs(found.actuator_position - motion(robot, 0.01).formula(found.time.values).position).max() < FOLLOWS
    assert found.sizes["elastic_coordinate"] == 10
    assert balance(found) < PLATE


@pytest.mark.parametrize("method", ["implicit", "rk4", "dopri"])
def test_one_actuator_that_follows_leaves_nothing_to_integrate(method: str) -> None:
    """Forces are those of inverse dynamics at every sample."""
    robot = fp.load(Path(__file__).parents[1] / "data" / "mechanisms" / "four-bars.yaml")
    given = motion(robot, 0.3)
    found = fp.simulate(robot, given, drive="actuators", step=1e-2, output_step=1e-2, method=method)  # type: ignore[arg-type]
    assert "stopped" not in found.attrs
    force = fp.inverse_dynamics(robot, given).force.values
    assert np.abs(found.force.values - force).max() < SAME * np.abs(force).max()


def test_reactions_of_an_under_actuated_robot() -> None:
    """A five-bar with one motor has the reactions of the one with two, whose second motor gives nothing."""
    one, two = robot_of_kind("under-actuated"), fp.load("five-bar")
    start = fp.State(position=two.home.position, rotation=two.home.rotation)
    options: dict[str, Any] = {"duration": 0.02, "step": STEP, "reactions": True, "method": "rk4"}
    found = fp.simulate(one, start, force=np.array([2.0]), **options)
    expected = fp.simulate(two, start, force=np.array([2.0, 0.0]), **options)
    assert found.joint.values.tolist() == expected.joint.values.tolist()
    for name in ("reaction_force", "reaction_moment"):
        a, b = found[name].values, expected[name].values
        assert np.array_equal(np.isnan(a), np.isnan(b))
        assert np.nanmax(np.abs(a - b)) < SAME * np.nanmax(np.abs(expected.reaction_force.values))


def everything_flexible(folder: Path) -> fp.Robot:
    """A 6-UPS with a flexible plate, two spatial elements per rod and drives through springs: 106 coordinates."""
    text = fp.catalogue()["gough-stewart-flexible-legs"].read_text(encoding="utf-8")
    for old, new in (
        ("type: beam", "type: beam, elements: 2, damping: 0.01"),
        ("IA: 45.89", "IA: 45.89\n        stiffness: 5e7\n        damping: 2e4"),
        ("young: 20 GPa", "young: 200 GPa"),  # the plate of the paper buckles on held actuators
    ):
        assert old in text
        text = text.replace(old, new)
    path = folder / "everything-flexible.yaml"
    path.write_text(text, encoding="utf-8")
    return fp.load(path)


@pytest.mark.parametrize("method", ["implicit", "radau"])
def test_signals_of_half_a_row(method: str) -> None:
    """A step that is halved sees the signals of the row: cubic ones exactly."""
    nodes = np.array([0.0, *METHODS_OF_STAGES[method].c, 1.0])
    signal = lambda t: np.stack([t**3 - t, 2.0 * t**2 + 1.0], axis=1)  # noqa: E731
    for begin in (0.0, 0.5):
        found = part_of_row(nodes, signal(nodes), begin)
        assert np.abs(found - signal(begin + nodes / 2.0)).max() < CUBIC


LARGE = {"everything flexible": (2e6, 4e4), "planar-3-rrr-flexible": (2e3, 40.0), "dualemps-8": (2e4, 3e2)}


@pytest.mark.full
@pytest.mark.parametrize("name", LARGE)
def test_a_controlled_second_of_many_coordinates(name: str, tmp_path: Path) -> None:
    """PD control along a swing of all actuators and back, friction included: it arrives, and no energy is left over."""
    robot = everything_flexible(tmp_path) if name not in fp.catalogue() else fp.load(name)
    kp, kd = LARGE[name]
    way = motion(robot, 0.01)
    found = fp.simulate(robot, way, controller=fp.PD(kp=kp, kd=kd), duration=1.0, step=STEP)
    assert found.time.values[-1] == pytest.approx(1.0)
    assert "stopped" not in found.attrs
    assert balance(found) < BALANCE
    assert np.abs(found.actuator_position.values - way.formula(found.time.values).position).max() < ARRIVES
