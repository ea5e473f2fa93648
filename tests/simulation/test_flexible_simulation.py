"""Simulations of robots with a flexible platform: the loop of the paper's Fig. 3, other integrators, controllers, starts,
refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flexible_simulations import STIFF, UNDAMPED, exchanged, poses_with_rests, ringing, small_robot

import flexapod as fp
from flexapod.analysis.verbs.internal_dynamics import UnstableInternalDynamicsError
from flexapod.robot.robot import Robot
from flexapod.simulation.system.flexible_start import StartWarning, elastic_start
from support.flexible_robots import at_home, plate_robot, rigid, run

FOLLOWED = 1e-7
"""Distance [m, rad] at which the integrated pose counts as following; the loop gives the wanted acceleration to rounding."""
BALANCE_LEFT = 1e-8
"""Of the energy exchanged."""
REACHED = 1e-9
"""Of the largest force: rounding of closed loops and of accelerations that follow from them."""
POLE = 0.02
"""Of a pole: its linear model is taken at home, the simulation swings about a balance 1 mm away, with rests of damped motions."""
KP, KD = 400.0, 40.0
TIGHT = {"method": "dopri", "rtol": 1e-9, "atol": 1e-11}
TIMES = 1e-12
"""[s] Sums of steps."""
GIVEN = 1e-9
"""Of the largest acceleration: inverse and direct model are solved with each other's results."""
SETTLED = 1e-3
"""Of the static deflection: what is left of vibrations after the last rest."""
TIGHTER = 1e-8
"""Of the largest deflection: tolerances of 1e-9 against 1e-11."""
ALONE = 1e-7
"""Of the largest deflection: tolerances of 1e-9 against RK4 along the exact motion."""
FORCES = 1e-6
"""Of the largest force, the same."""
FAST = 1e-5
"""Of the largest acceleration of modes, which weigh errors by squares of frequencies."""
SAME = 1e-15
"""[m, rad]: the same formula."""
INTEGRATORS = 1e-6
"""Of the size of each quantity: tolerances of 1e-9 over some dozen periods."""
IGNORES = 5e-3
"""[m] Error of a rigid model on a plate a hundred times as stiff."""
HOLDS = 1e-2
"""Of the largest force at the end: kp times the error of a rigid model."""
CROSSED = 1e-9
"""Of the deflection: an event lies between two steps, where a root is looked for."""
STILL = 1e-10
"""[-] Modal coordinates in balance, 40 steps: rounding of forces over stiffness."""
STUDY = 1e-13
"""[m] and modal coordinates: the same steps, compiled for many."""
STATIC = 1e-12
"""Modal coordinates: the same solution twice."""


@cache
def loop(**options: Any) -> Any:
    return fp.simulate(plate_robot(), poses_with_rests(), drive="platform", output_step=0.01, **options)


def test_the_loop_of_inverse_and_direct_model_follows() -> None:
    """Long 2014, Fig. 3: the catalogue's robot with ten modes along several poses with rests."""
    result, motion = loop(**TIGHT), poses_with_rests()
    assert "stopped" not in result.attrs
    assert np.abs(result.time - motion.time).max() < TIMES
    assert np.abs(result.position - motion.position).max() < FOLLOWED
    assert np.abs(result.rotation - motion.rotation).max() < FOLLOWED
    assert np.abs(result.acceleration - motion.acceleration).max() < GIVEN * np.abs(motion.acceleration).max()
    assert np.abs(result.energy_residual).max() < BALANCE_LEFT * exchanged(result)
    static = fp.static_deflection(plate_robot(), fp.State(position=motion.position[-1], rotation=motion.rotation[-1]))
    assert np.abs(result.elastic).max() < 2 * np.abs(static.elastic).max(), "bounded"
    assert np.abs(result.elastic[-1] - static.elastic).max() < SETTLED * np.abs(static.elastic).max(), "at rest at the end"


def test_elastic_coordinates_agree_with_a_tightened_run_and_with_the_inverse_model_alone() -> None:
    """Tolerances a hundred times finer; RK4 along the exact motion, with the frame not integrated at all."""
    result, tight = loop(**TIGHT), loop(method="dopri", rtol=1e-11, atol=1e-13)
    size = float(np.abs(result.elastic).max())
    assert np.abs(result.elastic - tight.elastic).max() < TIGHTER * size
    alone = fp.inverse_dynamics(plate_robot(), poses_with_rests(), elastic="simulate")
    assert np.abs(result.elastic - alone.elastic).max() < ALONE * size
    assert np.abs(result.force - alone.force).max() < FORCES * np.abs(result.force).max()
    assert (
        np.abs(result.elastic_acceleration - alone.elastic_acceleration).max() < FAST * np.abs(result.elastic_acceleration).max()
    )
    bent = fp.deformation(
        plate_robot(), poses_with_rests(), elastic=result.elastic.values, elastic_velocity=result.elastic_velocity.values
    )
    for name in ("displacement", "rotation_vector", "joint_displacement"):
        assert np.abs(result[name] - bent[name]).max() < SAME


def spring_simulation(robot: Any, **options: Any) -> Any:
    start, springs = ringing(robot)
    return fp.simulate(robot, start, controller=springs, duration=0.1, output_step=0.005, watch=(), **options)


def test_fixed_adaptive_and_foreign_integrators_agree() -> None:
    """RK4, Dormand-Prince and CVODE of another library on an undamped robot that rings."""
    robot = small_robot(UNDAMPED)
    found, other = spring_simulation(robot, **TIGHT), spring_simulation(robot, method="cvode", rtol=1e-11, atol=1e-13)
    fixed = [spring_simulation(robot, step=h) for h in (5e-4, 2.5e-4)]
    size = float(np.abs(found.elastic).max())
    for name, scale in (("position", 0.01), ("rotation", 0.1), ("elastic", size), ("elastic_velocity", 300 * size)):
        assert np.abs(found[name] - other[name]).max() < INTEGRATORS * scale
        off = [float(np.abs(result[name] - found[name]).max()) for result in fixed]
        assert 12 < off[0] / off[1] < 20, "order four"


def test_computed_torque_with_the_flexible_model_and_with_a_rigid_one() -> None:
    """On a plate a hundred times as stiff both follow; the rigid model leaves an error that the flexible one does not."""
    robot, motion = small_robot(10.0, STIFF), poses_with_rests()
    knows, ignores = (computed_torque(robot, motion, model) for model in (None, rigid()))
    at = motion.formula(knows.time.values)
    errors = [float(np.abs(result.position - at.position).max()) for result in (knows, ignores)]
    assert errors[0] < FOLLOWED
    assert 10 * FOLLOWED < errors[1] < IGNORES
    # at rest at the end: the forces hold the bent robot, and the rigid model demands them for a command of kp times the error
    end = fp.State(position=ignores.position.values[-1], rotation=ignores.rotation.values[-1])
    hold = fp.static_deflection(robot, end)
    assert np.abs(ignores.force[-1] - hold.force).max() < HOLDS * np.abs(hold.force).max()


def computed_torque(robot: Robot, motion: fp.Motion, model: Robot | None, duration: float = 1.1) -> Any:
    control = fp.ComputedTorque(kp=KP, kd=KD, model=model)
    return fp.simulate(robot, motion, controller=control, duration=duration, output_step=0.01, watch=(), **TIGHT)


def test_a_rigid_model_cannot_control_the_papers_plate() -> None:
    """What flexibility does: computed torque by the rigid model makes it swing up, as fast as the linear closed loop says."""
    robot, home = small_robot(), at_home(plate_robot())
    none = np.zeros((2, 3))
    rest = fp.Motion(
        time=[0.0, 1.0], position=np.stack([home.position] * 2), rotation=np.stack([home.rotation] * 2), velocity=none,
        angular_velocity=none, acceleration=none, angular_acceleration=none,
    )  # fmt: skip
    result = computed_torque(robot, rest, rigid(), duration=0.5)
    v = result.velocity.values[15:]  # when what is damped has gone
    left = np.stack([v[1:-1].ravel(), v[:-2].ravel()], axis=1)
    recurrence = np.linalg.lstsq(left, v[2:].ravel(), rcond=None)[0]  # v_k+2 = a v_k+1 + b v_k
    found = np.log(np.roots([1.0, -recurrence[0], -recurrence[1]])[0]) / 0.01
    expected = growing_pole(robot, home)
    assert expected.real > 1.0
    assert abs(complex(found.real, abs(found.imag)) - expected) < POLE * abs(expected), (found, expected)


def growing_pole(robot: Robot, home: fp.State) -> complex:
    """Fastest growing eigenvalue of computed torque by the rigid model about rest, from matrices of other kernels."""
    N, still = len(robot.elastic_names), fp.static_deflection(robot, home)
    at = {"position": home.position[None], "rotation": home.rotation[None], "elastic": still.elastic.values[None]}
    none = np.zeros((1, 3))
    whole = run(
        robot, "flexible_mass_matrix", {**at, "velocity": none, "angular_velocity": none, "elastic_velocity": np.zeros((1, N))}
    )
    load = {"wrench": np.zeros((1, 6)), "point_wrench": np.zeros((1, 6)), "point_position": none}
    load |= {name: np.zeros((1, 3, N)) for name in ("point_shape", "point_rotation")}
    tangent = run(robot, "flexible_tangent", {**at, **load, "force": still.force.values[None]})
    M, B, K = whole["mass_matrix"][0], whole["actuator_map"][0], tangent["stiffness"][0].copy()
    D = np.zeros_like(K)
    D[6:, 6:] = robot.flexible_platform.D_ee
    straight = {**at, **load, "elastic": np.zeros((1, N)), "force": fp.inverse_dynamics(rigid(), home).force.values[None]}
    weight = run(robot, "flexible_tangent", straight)["stiffness"][0, :6, :6]  # how the rigid model's forces follow the pose
    back = B @ np.linalg.inv(fp.jacobian(rigid(), home).jacobian.values.T)
    mass = fp.mass_matrix(rigid(), home).values
    K[:, :6] += back @ (KP * mass - weight)
    D[:, :6] += KD * back @ mass
    n = 6 + N
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    worst = values[values.real.argmax()]
    return complex(worst.real, abs(worst.imag))


def test_events_and_functions_see_the_elastic_coordinates() -> None:
    robot = small_robot(UNDAMPED)
    start, springs = ringing(robot)
    middle = float(fp.static_deflection(robot, at_home(robot)).elastic.values[0])
    sign = 1.0 if start.elastic[0] < middle else -1.0
    event = fp.Event(when=lambda seen: sign * (seen["elastic"][:, 0] - middle), stop=True, name="straight")
    result = fp.simulate(robot, start, controller=springs, duration=0.1, step=5e-4, output_step=5e-4, watch=(), events=[event])
    assert result.attrs["stopped"] == "event: straight"
    assert abs(result.elastic.values[-1, 0] - middle) < CROSSED * abs(middle)
    label: list[dict[str, Any]] = []

    def hold(time: float, sample: dict[str, Any]) -> Any:
        label.append(sample)
        return fp_force

    fp_force = fp.static_deflection(robot, at_home(robot)).force.values
    still = fp.simulate(robot, at_home(robot), controller=hold, duration=0.02, step=5e-4, output_step=5e-4, watch=())
    assert np.abs(np.array([sample["elastic"] for sample in label]) - still.elastic.values).max() < SAME
    assert label[0]["elastic_velocity"].shape == (2,)
    assert np.ptp(still.elastic.values, axis=0).max() < STILL, "from the static deflection, held by its forces: nothing moves"


def test_a_study_gives_the_runs_one_by_one() -> None:
    robot = small_robot(UNDAMPED)
    start, springs = ringing(robot)
    starts = fp.State(
        **{k: np.stack([getattr(start, k)] * 2) for k in ("position", "rotation", "velocity")},
        elastic=np.array([start.elastic, 0.5 * start.elastic]),
    )
    study = fp.simulate_study(robot, start, starts=starts, controller=springs, duration=0.02, step=5e-4, output_step=5e-3)
    for k in range(2):
        one = fp.State(**{name: getattr(starts, name)[k] for name in ("position", "rotation", "velocity", "elastic")})
        alone = fp.simulate(robot, one, controller=springs, duration=0.02, step=5e-4, output_step=5e-3, watch=())
        assert np.abs(study.elastic[k] - alone.elastic.values).max() < STUDY
        assert np.abs(study.position[k] - alone.position.values).max() < STUDY


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from flexapod.simulation.integrators import rows_in_blocks as drive

    monkeypatch.setattr(drive, "BLOCK", 32)
    robot = small_robot(UNDAMPED)
    whole, calls = spring_simulation(robot, step=5e-4), 0
    original = drive.block

    def killed(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(drive, "block", killed)
    part = spring_simulation(robot, step=5e-4, save=tmp_path / "run")
    assert part.attrs["interrupted"] == 1
    monkeypatch.setattr(drive, "block", original)
    again = spring_simulation(robot, step=5e-4, save=tmp_path / "run")
    for name in ("position", "elastic", "elastic_velocity", "force"):
        assert np.array_equal(again[name].values, whole[name].values)


def test_starts() -> None:
    robot = small_robot(UNDAMPED)
    _, springs = ringing(robot)
    short = {"controller": springs, "duration": 0.002, "step": 5e-4, "watch": ()}
    with pytest.warns(StartWarning, match="starts undeformed .elastic = 0., which is not an equilibrium under gravity"):
        fp.simulate(robot, at_home(robot, elastic=np.zeros(2)), **short)
    with pytest.raises(fp.InputError, match="expected 2 numbers, one entry per elastic coordinate of gough-stewart-f"):
        fp.simulate(robot, at_home(robot, elastic=np.ones(3)), **short)
    load = np.array([0, 0, -500.0, 0, 0, 0])
    e, rate = elastic_start(robot, at_home(robot), load, None)
    assert np.abs(e[0] - fp.static_deflection(robot, at_home(robot), wrench=load).elastic.values).max() < STATIC
    assert not np.any(rate)


def test_refusals() -> None:
    robot, motion = small_robot(), poses_with_rests()
    with pytest.raises(fp.InputError, match="drive='actuators' of gough-stewart-flexible needs an ActuatorMotion, got Motion"):
        fp.simulate(robot, motion, drive="actuators")
    legs = fp.ActuatorMotion(time=[0.0, 1.0], position=np.ones((2, 6)), velocity=np.zeros((2, 6)), acceleration=np.zeros((2, 6)))
    with pytest.raises(fp.InputError, match="the actuators alone do not fix a flexible platform"):
        fp.simulate(robot, legs, controller=fp.PD(kp=1.0, kd=1.0))


def test_reactions_of_a_run() -> None:
    """The balls carry what the fast inverse model says of the same states."""
    robot = small_robot()
    result = fp.simulate(robot, poses_with_rests(), drive="platform", duration=0.004, reactions=True)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    went = fp.Motion(time=result.time.values, **{name: result[name].values for name in names})
    back = fp.inverse_dynamics(robot, went, elastic=result.elastic.values, elastic_velocity=result.elastic_velocity.values)
    balls = result.reaction_force.sel(reaction_joint=[f"{leg.name}.ball" for leg in robot.legs]).values
    assert np.abs(balls - back.joint_force.values).max() < REACHED * np.abs(balls).max()


def with_friction_law(folder: Path, friction: str, joint: str = "") -> Robot:
    """The catalogue's robot with two modes and friction in its prismatic joints, or in the joints on the platform."""
    text = (resources.files("flexapod") / "robots" / "gough-stewart-flexible.yaml").read_text(encoding="utf-8")
    text = text.replace("modes: 10", "modes: 2").replace("to: platform}", f"to: platform{joint}}}")
    limits = "limits: {stroke: [0.6, 1.6]}"
    path = folder / "friction.yaml"
    path.write_text(text.replace(limits, f"{limits}{friction}"), encoding="utf-8")
    return fp.load(str(path))


def test_friction_of_the_legs_acts_through_the_bent_platform(tmp_path: Path) -> None:
    """Forces less friction of the prismatic joints give, without friction, the accelerations that came out; heat is counted."""
    robot, motion = (
        with_friction_law(tmp_path, "\n        friction: {viscous: 300, coulomb: 20, speed: 0.01}"),
        poses_with_rests(),
    )
    control = fp.ComputedTorque(kp=KP, kd=KD)
    result = fp.simulate(robot, motion, controller=control, duration=0.3, output_step=0.01, watch=(), **TIGHT)
    rates = result.actuator_velocity.values
    with_friction = 300 * rates + 20 * np.tanh(rates / 0.01)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    went = fp.Motion(time=result.time.values, **{name: result[name].values for name in names})
    elastic = {name: result[name].values for name in ("elastic", "elastic_velocity")}
    back = fp.inverse_dynamics(robot, went, friction=False, **elastic)
    assert np.abs(result.force - with_friction - back.force).max() < REACHED * np.abs(result.force).max()
    assert (
        np.abs(result.elastic_acceleration - back.elastic_acceleration).max()
        < REACHED * np.abs(result.elastic_acceleration).max()
    )
    assert result.dissipated_energy[-1] > 1.0
    assert np.abs(result.energy_residual).max() < BALANCE_LEFT * exchanged(result)


@pytest.mark.parametrize(
    ("slide", "ball"),
    [
        ("", ", friction: {viscous: 20, coulomb: 5, speed: 0.01}"),
        pytest.param("\n        friction: {normal: 0.1, speed: 0.05}", "", marks=pytest.mark.full),
    ],
)
def test_the_inverse_model_drives_against_friction_that_it_does_not_know(tmp_path: Path, slide: str, ball: str) -> None:
    """As of other robots: forces are those of the motion's acceleration without friction at the elastic state, friction slows."""
    robot, motion = with_friction_law(tmp_path, slide, ball), poses_with_rests()
    late = fp.State(position=motion.position[20], rotation=motion.rotation[20], velocity=motion.velocity[20],
                    angular_velocity=motion.angular_velocity[20])  # fmt: skip
    result = fp.simulate(robot, motion, drive="platform", start=late, duration=2e-3, step=5e-4, output_step=1e-3)
    assert "stopped" not in result.attrs
    names, elastic = ("position", "rotation", "velocity", "angular_velocity"), ("elastic", "elastic_velocity")
    wanted = {key: getattr(motion, key)[:1] for key in ("acceleration", "angular_acceleration")}
    first = fp.Motion(time=[0.0], **{key: result[key].values[:1] for key in names}, **wanted)
    demanded = fp.inverse_dynamics(robot, first, friction=False, **{key: result[key].values[:1] for key in elastic})
    assert np.abs(demanded.force.values[0] - result.force.values[0]).max() < REACHED * np.abs(result.force.values[0]).max()
    states = fp.State(**{key: result[key].values for key in (*names, *elastic)})
    back = fp.forward_dynamics(robot, states, result.force.values)
    size = np.abs(back.elastic_acceleration.values).max()
    assert np.abs(back.elastic_acceleration.values - result.elastic_acceleration.values).max() < REACHED * size
    free = fp.forward_dynamics(robot, states, result.force.values, friction=False)
    assert np.abs(back.acceleration.values - free.acceleration.values).max() > 1e-3
    assert np.abs(result.energy_residual).max() < BALANCE_LEFT * exchanged(result)


def test_friction_of_the_joints_on_a_flexible_platform(tmp_path: Path) -> None:
    """Integrated in independent coordinates: inverse dynamics of what came out gives the forces that acted; heat is counted."""
    robot = with_friction_law(tmp_path, "", ", friction: {viscous: 20, coulomb: 5, speed: 0.01}")
    start = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    force = 1.05 * fp.inverse_dynamics(robot, start, friction=False).force.values
    result = fp.simulate(robot, start, force=force, duration=0.02, step=1e-3, output_step=4e-3)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    went = fp.Motion(time=result.time.values, **{name: result[name].values for name in names})
    elastic = {name: result[name].values for name in ("elastic", "elastic_velocity")}
    back = fp.inverse_dynamics(robot, went, **elastic).force.values
    assert np.abs(back - force).max() < REACHED * np.abs(force).max()
    free = fp.inverse_dynamics(robot, went, friction=False, **elastic).force.values
    assert np.abs(back - free).max() > 1e3 * REACHED * np.abs(force).max()
    assert np.abs(result.energy_residual).max() < BALANCE_LEFT * exchanged(result)


def test_an_unstable_internal_dynamics_is_refused_by_name() -> None:
    body = small_robot().flexible_platform
    grows = small_robot().with_flexible_body("platform", replace(body, D_ee=-0.05 * body.D_ee))
    with pytest.raises(
        UnstableInternalDynamicsError, match="cannot drive it: its internal dynamics is unstable at t = "
    ) as label:
        fp.simulate(grows, poses_with_rests(), drive="platform")
    assert label.value.growth > 0
