"""The verb: drives, loads, long simulations, interrupts, checkpoints, refusals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pd_simulations import PD_CONTROL, at_home, pd_motion, pd_simulation, robot_named

import flexapod as fp
from flexapod.simulation import simulate as simulate_module
from flexapod.simulation.integrators import rows_in_blocks as drive_module

FOLLOWS = 1e-12
"""[m, rad] in 1 s at 2 ms, order four; and through splines of actuator motions."""
CENTRE = 1e-12
"""[m] of a centre of mass that no force moves."""
SAME = 1e-13
"""[m] The same closed form, by another program."""
FORCES = 1e-12
"""Relative: the same equations."""
BOOKS = 1e-8
"""Of the work supplied, integrated at 5 ms."""
STILL = 1e-11
"""[m] In balance for 500 steps: rounding of forces over masses."""


def test_inverse_model_drives_direct_model() -> None:
    """drive="platform": forces of inverse dynamics make the robot follow, up to the integrator."""
    robot, motion = robot_named("bench-6ups"), pd_motion()
    result = fp.simulate(robot, motion, drive="platform", duration=1.0, step=2e-3, output_step=0.1)
    wanted = motion.formula(result.time.values)
    assert np.max(np.abs(result.position.values - wanted.position)) < FOLLOWS
    assert np.max(np.abs(result.rotation.values - wanted.rotation)) < FOLLOWS


def test_a_load_that_no_actuator_holds_swings_to_the_end() -> None:
    """Fewer actuators than degrees of freedom never control the platform: that is no reason to stop."""
    robot = fp.load(Path(__file__).parents[1] / "data" / "mechanisms" / "crane.yaml")
    c, s = np.cos(0.1), np.sin(0.1)
    start = fp.State(position=[s, 0, -c], rotation=[[c, 0, -s], [0, 1, 0], [s, 0, c]])
    result = fp.simulate(robot, start, drive="force", force=[0.0], duration=0.5, step=1e-3)
    assert "stopped" not in result.attrs
    assert result.time.values[-1] == 0.5
    centre = 2.0 / 5.0 * s  # no force acts along the rail: the centre of mass stays
    cart = result.actuator_position.values[:, 0]
    assert np.abs((3.0 * cart + 2.0 * result.position.values[:, 0]) / 5.0 - centre).max() < CENTRE


def test_actuators_that_follow_exactly() -> None:
    robot, motion = robot_named("stewart-3-3"), pd_motion()
    result = fp.simulate(robot, motion, drive="actuators", duration=1.5, step=5e-3, output_step=0.05)
    legs = fp.inverse_kinematics(robot, motion.formula(result.time.values), joints=False)
    forces = fp.inverse_dynamics(robot, motion.formula(result.time.values), friction=False)
    assert np.allclose(result.actuator_position, legs.actuator_position, rtol=0, atol=SAME)
    assert np.allclose(result.force, forces.force, rtol=FORCES, atol=0)
    assert float(np.max(np.abs(result.energy_residual))) < BOOKS * float(np.abs(result.supplied_work).sum("actuator").max())
    # given as a motion of the actuators, the same comes out
    fine = motion.formula(np.linspace(0.0, 1.5, 301))
    q = fp.inverse_kinematics(robot, fine, joints=False)
    own = fp.ActuatorMotion(
        time=fine.time, position=q.actuator_position.values, velocity=q.actuator_velocity.values,
        acceleration=q.actuator_acceleration.values,
    )  # fmt: skip
    again = fp.simulate(robot, own, drive="actuators", step=5e-3, output_step=0.05)
    assert np.allclose(again.position, result.position, rtol=0, atol=FOLLOWS)


def test_a_load_acts_like_a_weight() -> None:
    """A constant force at the centre of mass of the platform is the weight of a heavier one."""
    robot = robot_named("bench-6ups")
    hold = fp.inverse_dynamics(robot, at_home(robot), friction=False, wrench=[0, 0, -100.0, 0, 0, 0]).force.values
    result = fp.simulate(robot, at_home(robot), force=hold, wrench=[0, 0, -100.0, 0, 0, 0], duration=0.5, step=1e-3, watch=())
    assert np.max(np.abs(result.position.values - robot.home.position)) < STILL
    other = fp.simulate(robot, at_home(robot), force=(np.array([0.0, 1.0]), np.stack([hold, hold])), duration=0.1)
    assert float(other.position[-1, 2]) > robot.home.position[2]


def test_reactions_on_request() -> None:
    result = pd_simulation(duration=0.2, reactions=True)
    names = [name for name in result.data_vars if name.startswith("reaction")]
    assert names
    assert all(np.all(np.isfinite(result[name])) for name in names)
    motion = simulate_module.as_motion(result)
    wanted = fp.inverse_dynamics(robot_named("bench-6ups"), motion, reactions=True, friction=False)
    assert list(result.reaction_joint.values) == list(wanted.joint.values)  # closing joints too, which have no coordinate
    assert np.array_equal(result.reaction_force, wanted.reaction_force)
    exact = fp.simulate(robot_named("bench-6ups"), pd_motion(), drive="actuators", duration=0.2, step=5e-3, reactions=True)
    assert "A.ball" in exact.reaction_joint


def test_blocks_do_not_change_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pd_simulation(step=2e-3)
    monkeypatch.setattr(drive_module, "BLOCK", 104)
    parts = pd_simulation(step=2e-3)
    assert all(np.array_equal(whole[name], parts[name]) for name in whole.data_vars)


def test_ctrl_c_keeps_what_was_computed_and_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = pd_simulation(step=2e-3)
    monkeypatch.setattr(drive_module, "BLOCK", 256)
    real, calls = drive_module.block, []

    def interrupted(*args: object) -> object:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(drive_module, "block", interrupted)
    file = tmp_path / "run.npz"
    part = pd_simulation(step=2e-3, save=file)
    assert part.attrs["interrupted"] == 1
    assert 0 < len(part.time) < len(whole.time)
    assert np.array_equal(part.position, whole.position[: len(part.time)])
    assert file.exists()
    monkeypatch.setattr(drive_module, "block", real)
    rest = pd_simulation(step=2e-3, save=file)
    assert rest.attrs["interrupted"] == 0
    assert all(np.array_equal(whole[name], rest[name]) for name in whole.data_vars)
    assert not file.exists()
    # the checkpoint of another run is refused
    monkeypatch.setattr(drive_module, "block", interrupted)
    calls.clear()
    pd_simulation(step=2e-3, save=file)
    monkeypatch.setattr(drive_module, "block", real)
    with pytest.raises(fp.InputError, match="belongs to another simulation"):
        pd_simulation(step=1e-3, save=file)


RESUMED = 100.0
RELATIVE, ABSOLUTE = 1e-9, 1e-11
"""Tolerances that an adaptive run may differ by after an interrupt: each step keeps one, and about 100 steps follow."""


def test_an_interrupted_adaptive_run_agrees_to_its_tolerance(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = {"method": "dopri", "rtol": RELATIVE, "atol": ABSOLUTE, "output_step": 0.01}
    whole = pd_simulation(**options)
    monkeypatch.setattr(drive_module, "BLOCK", 64)
    real, calls = drive_module.block, []

    def interrupted(*args: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(drive_module, "block", interrupted)
    file = tmp_path / "run.npz"
    part = pd_simulation(save=file, **options)
    assert part.attrs["interrupted"] == 1
    assert 0 < len(part.time) < len(whole.time)
    assert file.exists()
    monkeypatch.setattr(drive_module, "block", real)
    rest = pd_simulation(save=file, **options)
    assert rest.attrs["interrupted"] == 0
    assert np.array_equal(rest.time, whole.time)
    for name in ("position", "rotation", "velocity", "angular_velocity", "actuator_position"):
        size = float(np.max(np.abs(whole[name])))
        assert float(np.max(np.abs(rest[name] - whole[name]))) <= RESUMED * (ABSOLUTE + RELATIVE * size), name


LONG = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from flexapod.simulation import simulate
simulate.SAVED, real, count = 0.0, os.fsync, [0]
def fsync(handle):
    count[0] += 1
    if count[0] == 2:
        signal.setitimer(signal.ITIMER_PROF, 1e-3)
    real(handle)
os.fsync = fsync
from pd_simulations import pd_motion, PD_CONTROL, robot_named
import flexapod as fp
options = dict(controller=PD_CONTROL, duration=float(sys.argv[3]), step=1e-3, output_step=0.5, watch=())
fp.simulate(robot_named("bench-6ups"), pd_motion(), save=sys.argv[2], **options)
"""
"""A simulation that is killed a millisecond of CPU time after its first checkpoint."""


def test_a_killed_run_resumes_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, duration = tmp_path / "long.npz", 300.0
    options = {"controller": PD_CONTROL, "duration": duration, "step": 1e-3, "output_step": 0.5, "watch": ()}
    whole = fp.simulate(robot_named("bench-6ups"), pd_motion(), **options)
    command = [sys.executable, "-c", LONG, str(Path(__file__).parent), str(file), str(duration)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGPROF, "it ends at once after its first checkpoint"
    assert file.exists()
    monkeypatch.setattr(simulate_module, "SAVED", 0.0)
    resumed = fp.simulate(robot_named("bench-6ups"), pd_motion(), save=file, **options)
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole.data_vars)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drive": "wind"}, "drive: expected"),
        ({"method": "euler"}, "method: expected"),
        ({"step": 0.0}, "step: expected"),
        ({"duration": -1.0}, "duration: expected"),
        ({"output_step": 1.5e-3}, "output_step must be a whole multiple"),
        ({"controller": 3}, "controller: expected"),
        ({"force": np.zeros(5)}, r"force: expected \(6,\)"),
        ({"drive": "platform", "force": np.zeros(6)}, "leave out `force`"),
        ({"friction": "some"}, "friction: expected"),
        ({"watch": ("sky",)}, "watch: expected"),
    ],
)
def test_what_cannot_be_is_refused(options: dict, words: str) -> None:
    with pytest.raises(fp.InputError, match=words):
        fp.simulate(robot_named("bench-6ups"), pd_motion(), **options)


def test_runs_without_an_end_are_refused() -> None:
    with pytest.raises(fp.InputError, match="duration: give one"):
        fp.simulate(robot_named("hexaslide"), at_home(robot_named("hexaslide")), friction=False)


def test_provenance() -> None:
    result = pd_simulation(duration=0.1)
    other = fp.simulate(
        robot_named("bench-6ups").with_parameters({"platform.mass": 51.0}), pd_motion(), controller=PD_CONTROL, duration=0.1
    )
    assert result.attrs["robot"] == "bench-6ups"
    assert result.attrs["robot_hash"] != other.attrs["robot_hash"]
    assert '"step": 0.001' in result.attrs["options"]
    assert all("units" in result[name].attrs for name in result.data_vars)


def test_without_llvm_the_same_comes_out() -> None:
    """The NumPy backend interprets the same loop: equal to rounding."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from pd_simulations import pd_simulation; "
        "print(repr(pd_simulation(duration=0.05, watch=()).position.values[-1].tolist()))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "FLEXAPOD_BACKEND": "numpy"}, capture_output=True, text=True, check=True
    )
    assert np.allclose(eval(found.stdout), pd_simulation(duration=0.05, watch=()).position[-1], rtol=0, atol=SAME)


def test_tables_that_do_not_fit_are_refused() -> None:
    """The compiled loop writes to memory: shapes are checked before."""
    from flexapod.simulation.integrators.runner import Runner
    from flexapod.simulation.system.setup import make_setup

    setup = make_setup(
        robot_named("bench-6ups"), pd_motion(), drive="force", controller=PD_CONTROL, force=None, wrench=None, friction=False,
        method="rk4", events=(), watch=(), start=None, tolerance=(1e-9, 1e-11), step=1e-3,
    )  # fmt: skip
    runner = Runner(setup.layout, setup.values)
    for count, width in ((setup.layout.rows + 1, runner.width), (setup.layout.rows, runner.width - 1)):
        with pytest.raises(ValueError, match="do not fit"):
            runner.advance(setup.start, np.zeros((count, setup.layout.columns)), np.zeros((count, width)))
