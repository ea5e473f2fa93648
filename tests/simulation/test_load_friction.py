"""Friction by joint loads in forward simulation: against inverse dynamics, between methods, and in the books."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pd_simulations import robot_named, springs_near_home
from scipy.integrate import simpson

import flexapod as fp
from flexapod.equations.friction import SPEED
from flexapod.motions import one_minus_cos
from flexapod.simulation.system.load_friction import smooth

CONTROL = fp.PD(kp=2e4, kd=4e2)
COUPLED = 1e-10
"""Of the largest force: the coupling stops at 1e-12 and reactions carry rounding."""

KINK = 1e-9
"""Position error [m] of 1 ms steps on 0.2 s; |u.N| + |v.N| has kinks where a guide's load changes sides, which no step hits."""

CLOSES = 1e-8
"""Energy residual over the work supplied, at tolerances of 1e-10: every entry is integrated for itself."""

FIELDS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
HEAT = 1e-4
"""Relative: Simpson's rule over samples of a power with kinks."""
SAME = 1e-12
"""Of reactions, relative and [N, N m]: the same equations at the same state."""
STUDY = 1e-12
"""[m]: the same steps, compiled for many."""
HALF_MILLISECOND = 1e-6
"""Of the heat: order 4 at half a millisecond leaves 1e-7."""
ORDER = 0.3
"""Allowed distance of a measured order from four."""
STRONG = 1e-7
"""[m] between steps of half a millisecond, which remember their loads, and adaptive ones, which do not; order 4 leaves 1e-8."""
ORDER_OF_POSITIONS = 0.4
"""The same of errors against a run that is only four times finer."""


def with_speeds(robot: fp.Robot, rail: float = 0.02, bearing: float = 0.1) -> fp.Robot:
    """Speeds of the tanh law that steps of a millisecond resolve."""
    return robot.with_parameters(
        {f"legs.{j}.friction.speed": v for j, v in (("rail", rail), ("hip", bearing), ("ball", bearing))}
    )


def swing(robot: fp.Robot) -> fp.Motion:
    return one_minus_cos([*robot.home.position, 0, 0, 0], [0.02, 0.01, 0.02, 0.02, 0, 0.03], 2 * np.pi / 0.4, 0.4)


def ran(robot: fp.Robot, **options: Any) -> Any:
    options = {"duration": 0.2, "output_step": 0.02, "method": "rk4", **options}
    return fp.simulate(robot, swing(robot), controller=CONTROL, **options)


def test_the_default_method_holds_the_energy_balance() -> None:
    """As the file has it, friction turns within 1e-3 m/s: fixed steps of 1 ms lose a tenth of the energy in 9 ms."""
    robot = fp.load("hexaslide")
    result = fp.simulate(robot, swing(robot), controller=CONTROL, duration=0.02, output_step=0.01)
    assert result.attrs["method"] == "dopri"
    assert "stopped" not in result.attrs
    sampled = fp.PD(kp=1e4, kd=1e2, rate=700.0)  # a period that is no multiple of a three-hundredth of the duration
    assert "stopped" not in fp.simulate(robot, swing(robot), controller=sampled, duration=0.02).attrs
    assert fp.simulate(robot, swing(robot), controller=CONTROL, duration=0.002, friction=False).attrs["method"] == "rk4"


@pytest.fixture(scope="module")
def hexaslide() -> fp.Robot:
    return with_speeds(robot_named("hexaslide"))


@pytest.fixture(scope="module")
def tight(hexaslide: fp.Robot) -> Any:
    return ran(hexaslide, method="dopri", rtol=1e-10, atol=1e-12, output_step=0.002)


def test_accelerations_demand_the_forces_that_act(hexaslide: fp.Robot, tight: Any) -> None:
    motion = fp.Motion(time=tight.time.values, **{k: tight[k].values for k in FIELDS})
    with_friction, plain = fp.inverse_dynamics(hexaslide, motion), fp.inverse_dynamics(hexaslide, motion, friction=False)
    largest = float(np.abs(tight.force).max())
    assert float(np.abs(with_friction.force - plain.force).max()) > 0.1 * largest
    assert float(np.abs(with_friction.force.values - tight.force.values).max()) < COUPLED * largest
    # heat is what actuators give more than without friction
    power = (with_friction.power - plain.power).sum("actuator").values
    assert float(tight.dissipated_energy[-1]) == pytest.approx(simpson(power, x=tight.time.values), rel=HEAT)


def test_reactions_and_a_new_payload(hexaslide: fp.Robot) -> None:
    """An event changes the platform's mass: from then on accelerations demand the forces of the heavier robot."""
    event = fp.Event(time=0.1, parameters={"platform.mass": 1.5 * float(hexaslide.parameter("platform.mass"))})
    result = ran(hexaslide, step=1e-3, events=[event])
    heavy = hexaslide.with_parameters(event.parameters)
    for robot, part in ((hexaslide, result.sel(time=slice(0.0, 0.09))), (heavy, result.sel(time=slice(0.11, 0.2)))):
        motion = fp.Motion(time=part.time.values, **{k: part[k].values for k in FIELDS})
        needed = fp.inverse_dynamics(robot, motion).force.values
        assert np.abs(needed - part.force.values).max() < COUPLED * np.abs(needed).max()
    plain = ran(hexaslide, step=1e-3, reactions=True)
    motion = fp.Motion(time=plain.time.values, **{k: plain[k].values for k in FIELDS})
    with_friction = fp.inverse_dynamics(hexaslide, motion, reactions=True).reaction_force.values
    without = fp.inverse_dynamics(hexaslide, motion, reactions=True, friction=False).reaction_force.values
    assert np.allclose(plain.reaction_force.values, with_friction, rtol=SAME, atol=SAME)
    assert np.abs(with_friction - without).max() > 1e-2


def test_the_books_close(tight: Any) -> None:
    supplied = float(np.abs(tight.supplied_work).sum("actuator").max())
    assert np.all(np.diff(tight.dissipated_energy) > 0.0)
    assert float(tight.dissipated_energy[-1]) > 0.1 * supplied
    assert float(np.abs(tight.energy_residual).max()) < CLOSES * supplied


def test_order_of_the_fixed_step(hexaslide: fp.Robot, tight: Any) -> None:
    """The residual of the energy balance falls with the fourth power of the step; positions agree with the adaptive run."""
    steps = [2e-3, 1e-3, 5e-4]
    runs = [ran(hexaslide, step=h) for h in steps]
    residuals = [float(np.abs(result.energy_residual).max()) for result in runs]
    assert np.all(np.abs(np.diff(np.log2(residuals)) + 4.0) < ORDER)
    assert float(np.abs(runs[1].position.values - tight.position.values[::10]).max()) < KINK
    constant = ran(hexaslide, step=1e-3, friction="constant")
    assert float(np.abs(constant.position.values - tight.position.values[::10]).max()) > 1e-4


@pytest.mark.parametrize(("method", "step"), [("implicit", 1e-3), pytest.param("radau", 5e-4, marks=pytest.mark.full)])
def test_implicit_steps_take_the_same_friction(hexaslide: fp.Robot, tight: Any, method: str, step: float) -> None:
    result = ran(hexaslide, method=method, step=step)
    assert float(np.abs(result.position.values - tight.position.values[::10]).max()) < KINK
    supplied = float(np.abs(result.supplied_work).sum("actuator").max())
    assert float(np.abs(result.energy_residual).max()) < 10 * CLOSES * supplied


def test_order_of_positions_with_smooth_loads(tmp_path: Path) -> None:
    """With the norm of a guide's load there are no kinks: errors against a fine run fall with the fourth power."""
    text = fp.catalogue()["hexaslide"].read_text(encoding="utf-8")
    assert "normal_rule: abs_sum" in text
    file = tmp_path / "hexaslide.yaml"
    file.write_text(text.replace("normal_rule: abs_sum", "normal_rule: norm"), encoding="utf-8")
    robot = with_speeds(fp.load(file), rail=0.05, bearing=0.5)
    fine = ran(robot, step=1.25e-4).position.values
    errors = [float(np.abs(ran(robot, step=h).position.values - fine).max()) for h in (2e-3, 1e-3, 5e-4)]
    assert np.all(np.abs(np.diff(np.log2(errors)) + 4.0) < ORDER_OF_POSITIONS), errors


def test_the_stated_speed_is_used_where_the_file_has_none() -> None:
    robot = robot_named("hexaslide")
    stated = with_speeds(robot, SPEED, SPEED)
    assert smooth(stated) is stated
    options = {"duration": 0.02, "step": 1e-4, "output_step": 0.01}
    assert np.array_equal(ran(robot, **options).position, ran(stated, **options).position)


def test_studies_with_friction() -> None:
    robot = robot_named("hexaslide")
    heavy = robot.with_parameters({"platform.mass": 1.2 * float(robot.parameter("platform.mass"))})
    options = {"controller": CONTROL, "duration": 0.02, "step": 1e-4, "output_step": 0.01}
    study = fp.simulate_study(robot, swing(robot), robots=[robot, heavy], **options)
    for k, one in enumerate((robot, heavy)):
        start = fp.simulate(one, swing(robot), **options)
        assert np.allclose(study.position.values[k], start.position.values, rtol=0, atol=STUDY)


def table(folder: Path) -> fp.Robot:
    """The table on eight actuators, with friction by loads in guides and balls."""
    text = fp.catalogue()["8-ups"].read_text(encoding="utf-8")
    slide, ball = "axis: [0, 0, 1], actuated: true}", "ball: {type: spherical, from: piston, to: platform}"
    assert slide in text
    assert ball in text
    text = text.replace(slide, f"{slide[:-1]}, friction: {{normal: 0.1, speed: 0.05}}}}")
    file = folder / "8-ups.yaml"
    file.write_text(text.replace(ball, f"{ball[:-1]}, friction: {{reaction: 0.02, speed: 0.05}}}}"), encoding="utf-8")
    return fp.load(file)


def test_redundant_actuators_load_the_joints_by_what_they_push_against_each_other(tmp_path: Path) -> None:
    """Given forces determine the loads: accelerations are those of forward dynamics, more internal force is more friction.
    Of followed motions, the forces are those of least norm, as of inverse dynamics."""
    robot, home = table(tmp_path), robot_named("8-ups").home
    start = fp.State(position=home.position, rotation=home.rotation, velocity=[0.1, -0.2, 0.1], angular_velocity=[0.1, 0.2, -0.1])
    held = fp.inverse_dynamics(robot, start, friction=False).force.values
    J = fp.jacobian(robot, start).jacobian.values
    inner = 2e4 * np.linalg.svd(J.T)[2][-1]  # pushes nothing
    heat = []
    for force in (held, held + inner):
        result = fp.simulate(robot, start, drive="force", force=force, duration=4e-3, step=1e-3, output_step=2e-3)
        states = fp.State(**{key: result[key].values for key in FIELDS[:4]})
        back = fp.forward_dynamics(robot, states, np.tile(force, (3, 1)))
        size = np.abs(result.acceleration.values).max()
        assert np.abs(back.acceleration.values - result.acceleration.values).max() < COUPLED * size
        free = fp.forward_dynamics(robot, states, np.tile(force, (3, 1)), friction=False)
        assert np.abs(back.acceleration.values - free.acceleration.values).max() > 1e-2 * size
        assert float(np.abs(result.energy_residual).max()) < CLOSES * float(result.dissipated_energy[-1])
        heat.append(float(result.dissipated_energy[-1]))
    assert heat[1] > 1.05 * heat[0]
    motion = one_minus_cos([*home.position, 0, 0, 0], [0.02, 0.01, 0.02, 0.02, 0, 0.03], 2 * np.pi / 0.4, 0.4)
    followed = fp.simulate(robot, motion, drive="actuators", duration=0.2, output_step=0.1)
    own = fp.Motion(time=followed.time.values, **{key: followed[key].values for key in FIELDS})
    assert np.allclose(followed.force.values, fp.inverse_dynamics(robot, own).force.values, rtol=COUPLED, atol=0)


@pytest.mark.parametrize(("name", "joints"), [("hexa", ("shoulder", "elbow", "ball")), ("delta", ("shoulder", "elbow"))])
def test_cranks_and_general_legs(name: str, joints: tuple[str, ...]) -> None:
    """Bearings with friction by their reactions, on springs: what the books lose in mechanical energy is heat."""
    robot = robot_named(name)
    robot = robot.with_parameters({f"legs.{j}.friction.{k}": v for j in joints for k, v in (("reaction", 0.005), ("speed", 0.1))})
    at = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    result = fp.simulate(robot, at, controller=springs_near_home(robot), duration=0.2, step=5e-4, output_step=0.02)
    heat, moved = float(result.dissipated_energy[-1]), float(np.ptp(result.kinetic_energy.values))
    assert heat > 0.1 * moved
    assert np.all(np.diff(result.dissipated_energy) > 0.0)
    assert float(np.abs(result.energy_residual).max()) < HALF_MILLISECOND * heat


def test_strong_friction_converges_from_the_loads_of_the_step_before(hexaslide: fp.Robot) -> None:
    """Six times the friction over two reversals: what a step remembers is far from what holds after them; at eight it locks."""
    paths = ["legs.rail.friction.normal", "legs.hip.friction.reaction", "legs.ball.friction.reaction"]
    strong = hexaslide.with_parameters({path: 6.0 * float(hexaslide.parameter(path)) for path in paths})
    steps, adaptive = (
        ran(strong, duration=0.4, **options) for options in ({"step": 5e-4}, {"method": "dopri", "rtol": 1e-9, "atol": 1e-11})
    )
    assert "stopped" not in steps.attrs
    assert float(np.abs(steps.position - adaptive.position).max()) < STRONG
