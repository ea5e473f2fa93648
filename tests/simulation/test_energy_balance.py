"""Energy: conservative runs of every robot keep their books, entry by entry."""

import numpy as np
import pytest
from pd_simulations import at_home, robot_named, springs_near_home

import flexapod as fp
from flexapod.analysis.space.limits import limits_of
from flexapod.motions import rotvec_rotation
from support.kinds import robot_of_kind

BALANCE_LEFT = 1e-9
"""Share of the energy exchanged that a conservative run may lose or win in 10 s at tight tolerances."""

CLOSED_FORM = ["stewart-3-3", "gough-stewart", "hexapod", "hexaslide", "hexa"]
GENERAL = ["delta", "five-bar", "tripteron", "planar-4-prr"]
SAME = 1e-11
"""Relative: sums over bodies against a mass matrix."""
STILL = 1e-13
"""[J] The same of samples that hardly move."""
HEIGHTS = 1e-10
"""[J] Differences of energies against another zero."""
BOOKS = 1e-8
"""Of the energy exchanged in 0.5 s at tolerances of 1e-11, every entry integrated for itself."""


def exchanged(result: object) -> float:
    """Energy that went back and forth: the sum of what kinetic energy gained, whatever it lost later."""
    return float(np.sum(np.maximum(np.diff(result.kinetic_energy.values), 0.0)))


@pytest.mark.parametrize("name", CLOSED_FORM + GENERAL)
def test_springs_keep_energy(name: str) -> None:
    robot = robot_named(name)
    result = fp.simulate(
        robot, at_home(robot), controller=springs_near_home(robot), duration=10.0, output_step=0.02, method="dopri",
        rtol=3e-12, atol=1e-14, friction=False,
    )  # fmt: skip
    assert "stopped" not in result.attrs
    assert result.time.values[-1] == 10.0
    assert exchanged(result) > 0.0
    assert float(np.max(np.abs(result.energy_residual))) < BALANCE_LEFT * exchanged(result)
    # nothing is supplied, lost or added: the springs store
    for entry in ("supplied_work", "external_work", "dissipated_energy"):
        assert not np.any(result[entry])
    assert np.ptp(result.elastic_energy.values) > 0.0


AWAY = 0.1
"""Share of the stroke, and of the conditioning at home, that a conservative run keeps from limits and singularities."""


@pytest.mark.parametrize(("name", "free", "seed"), [("hexapod", 6, 3), ("hexa", 6, 4), ("delta", 3, 5)])
def test_random_starts_keep_energy_away_from_limits(name: str, free: int, seed: int) -> None:
    """Random pose and twist near home, in the directions that the platform is free to take."""
    robot, random = robot_named(name), np.random.default_rng(seed)
    move, twist = (np.where(np.arange(6) < free, random.uniform(-1, 1, 6), 0.0) for _ in range(2))
    length = robot.characteristic_length
    start = fp.State(
        position=robot.home.position + 0.01 * length * move[:3], rotation=rotvec_rotation(0.01 * move[3:]) @ robot.home.rotation,
        velocity=0.05 * length * twist[:3], angular_velocity=0.05 * twist[3:],
    )  # fmt: skip
    result = fp.simulate(
        robot, start, controller=springs_near_home(robot), duration=10.0, output_step=0.02, method="dopri", rtol=3e-12,
        atol=1e-14, friction=False,
    )  # fmt: skip
    assert result.time.values[-1] == 10.0
    limits, q = limits_of(robot), result.actuator_position.values
    assert np.all(np.isfinite(limits.high - limits.low))
    assert np.all(limits.stroke_margin(q) >= AWAY * (limits.high - limits.low))
    poses = fp.State(position=result.position.values, rotation=result.rotation.values)
    home = fp.check_pose(robot, at_home(robot)).margins
    margins = fp.check_pose(robot, poses).margins
    for key in ("type_1", "type_2"):
        assert np.all(margins[key].min("sample") >= AWAY * home[key])
    assert np.ptp(q, axis=0).max() > 1e-4  # it does move
    assert float(np.max(np.abs(result.energy_residual))) < BALANCE_LEFT * exchanged(result)


def test_the_potential_of_the_verb_has_the_springs_in_it() -> None:
    """Elastic energy by the joint angles; the rest of the potential is that of the weight, without springs."""
    robot = robot_of_kind("joint springs")
    home = fp.inverse_kinematics(robot, fp.State.at_home(robot))
    state = fp.State.from_actuators(robot, home.actuator_position.values + np.array([0.05, -0.03]))
    found, angles = fp.energy(robot, state), fp.inverse_kinematics(robot, state).joint_position
    elbows = [name for name in angles.joint.values if name.endswith("elbow")]
    stretch = (angles - home.joint_position).sel(joint=elbows).values
    assert np.isclose(float(found.elastic), float(0.5 * 40.0 * np.sum(stretch**2)), rtol=SAME, atol=0)
    rigid = fp.energy(fp.load("five-bar"), state)
    assert np.isclose(float(found.potential - found.elastic), float(rigid.potential), rtol=SAME, atol=0)



def test_energies_agree_with_the_mass_matrix() -> None:
    """Kinetic energy summed over bodies and V^T A V / 2; potential energy by another sum."""
    robot = robot_named("gough-stewart")
    result = fp.simulate(
        robot, at_home(robot), controller=springs_near_home(robot), duration=0.5, output_step=0.05, friction=False
    )
    state = fp.State(**{k: result[k].values for k in ("position", "rotation", "velocity", "angular_velocity")})
    other = fp.energy(robot, state)
    assert np.allclose(result.kinetic_energy, other.kinetic, rtol=SAME, atol=STILL)
    assert np.allclose(np.diff(result.potential_energy), np.diff(other.potential), rtol=0, atol=HEIGHTS)


def test_supplied_external_and_dissipated_work_balance() -> None:
    """A PD simulation with a load and viscous joints: every entry is integrated for itself and the books still close."""
    robot = robot_named("hexaslide")
    up = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    motion = fp.Motion(
        time=[0.0, 1.0], position=np.tile(up.position, (2, 1)), rotation=np.tile(up.rotation, (2, 1, 1)),
        **{k: np.zeros((2, 3)) for k in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")},
    )  # fmt: skip

    def load(t: np.ndarray) -> np.ndarray:
        return np.outer(np.sin(2 * np.pi * t), [20.0, -10.0, 30.0, 1.0, 2.0, -1.0])

    result = fp.simulate(
        robot, motion, controller=fp.PD(kp=2e4, kd=2e2), wrench=load, friction="constant", duration=0.5, method="dopri",
        rtol=1e-11, atol=1e-13, output_step=0.01,
    )  # fmt: skip
    assert float(result.dissipated_energy[-1]) > 1e-6
    assert abs(float(result.external_work[-1])) > 1e-9
    scale = float(
        np.abs(result.supplied_work).sum("actuator").max() + np.abs(result.external_work).max() + result.dissipated_energy[-1]
    )
    assert float(np.max(np.abs(result.energy_residual))) < BOOKS * scale
