"""Programs of robots whose loops run through several legs: equal to the verbs, and to the programs that close leg by leg."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.closed_legs import ActuatorState, close_along, home
from flexapod.analysis.model.kernels import kernel_with_friction, make_program, parameter_values
from flexapod.analysis.model.programs import usual_program
from flexapod.analysis.verbs.export_c import golden_inputs
from flexapod.analysis.verbs.sampling import PARTS, dependent_inputs, random_inputs, random_leg_states, random_states
from support.plain import plain_kernel

SAME = 1e-9
"""Of the largest entry, or 1; measured 1e-13."""
BETWEEN = ["h4", pytest.param("par4", marks=pytest.mark.full)]
FOUR_BAR = """flexapod: 1
name: four-bar
title: four-bar
plane: xy
source: written for this test
gravity: [0, -9.81, 0]
home: {position: [0, 0.1, 0]}
platform: {body: a.coupler}
legs:
  each:
    a:
      joints:
        one: {type: revolute, from: base, to: crank, at: [0, 0, 0], axis: [0, 0, 1], start: 90 deg, actuated: true, FRICTION}
        two: {type: revolute, from: crank, to: coupler, at: [0.1, 0, 0], axis: [0, 0, 1], start: -90 deg, FRICTION}
        three: {type: revolute, from: base, to: rocker, at: [0.25, 0, 0], axis: [0, 0, 1], start: 63 deg}
        four: {type: revolute, from: rocker, to: coupler, at: [0.1118033988749895, 0, 0], on: [0.3, 0, 0], axis: [0, 0, 1]}
      bodies: {crank: BODY, coupler: BODY, rocker: BODY}
""".replace("BODY", "{mass: 1, com: [0.05, 0, 0], inertia: {diagonal: [0.001, 0.002, 0.003]}}")
"""Its platform is the coupler, whose pin on the crank moves along x here and along y there."""


def four_bar(folder: Path, friction: str = "friction: {viscous: 0.1, coulomb: 0.2, speed: 1 mrad/s}") -> fp.Robot:
    path = folder / "four-bar.yaml"
    path.write_text(FOUR_BAR.replace("FRICTION", friction), encoding="utf-8")
    return fp.load(path)


def evaluate(robot: fp.Robot, quantity: str, inputs: Any, program: str | None = None, **options: Any) -> dict[str, np.ndarray]:
    """Outputs of the program behind a quantity, interpreted: nothing is compiled."""
    made = make_program(robot, program or usual_program(robot, quantity, True)[0], options)
    given = {i.name: np.ascontiguousarray(inputs[i.name]) for i in made.signature.inputs}
    found = plain_kernel(made).batch(given, parameter_values(robot, made.signature))
    assert not found.status.any()
    return found.outputs


def equal(found: Any, wanted: Any) -> None:
    assert np.abs(found - wanted).max() <= SAME * max(1.0, np.abs(wanted).max())


def guesses(robot: fp.Robot, count: int) -> dict[str, np.ndarray]:
    """Inputs of home."""
    at = home(robot, count)
    return {"guess": at.joint_position, "guess_position": at.position, "guess_rotation": at.rotation}


@cache
def sampled(name: str) -> tuple[fp.Robot, fp.Motion, dict[str, np.ndarray]]:
    robot = fp.load(name)
    states = random_states(robot, 3, seed=5)
    return robot, fp.Motion(time=np.arange(3.0), **{part: states[part] for part in PARTS}), {**states, **guesses(robot, 3)}


@pytest.mark.parametrize("name", BETWEEN)
def test_inverse_kinematics_and_back(name: str) -> None:
    robot, motion, given = sampled(name)
    wanted = fp.inverse_kinematics(robot, motion)
    found = evaluate(robot, "inverse_kinematics", given, detail="joints")
    for part in ("position", "velocity", "acceleration"):
        equal(found[f"actuator_{part}"], wanted[f"actuator_{part}"].values)
        equal(found[f"joint_{part}"], wanted[f"joint_{part}"].values)
    for rest in ("constraint", "constraint_rate", "constraint_acceleration"):
        equal(found[rest], 0.0)
    back = evaluate(robot, "forward_kinematics", {**given, "actuator_position": found["actuator_position"]})
    assert np.all(back["converged"] == 1.0)
    for key in ("position", "rotation"):
        equal(back[key], given[key])
    equal(back["joint_position"], found["joint_position"])
    equal(back["constraint"], 0.0)
    assert np.all(back["determinant"][:, 0] * back["determinant"][:, 1] > 0.0)


@pytest.mark.parametrize("name", BETWEEN)
def test_jacobian(name: str) -> None:
    robot, motion, given = sampled(name)
    wanted, found = fp.jacobian(robot, motion), evaluate(robot, "jacobian", given)
    equal(found["jacobian"], wanted.jacobian.values)
    G, H = found["constraint_jacobian"], wanted.constraint_jacobian.values
    assert G.shape == H.shape
    equal(G @ np.linalg.pinv(H) @ H, G)  # the same rows in another basis
    assert np.linalg.matrix_rank(G).tolist() == [2, 2, 2]
    assert np.all(found["margin"] > 0.01)


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize("force", ["gravity_force", "coriolis_force"])
def test_generalized_forces(name: str, force: str) -> None:
    robot, motion, _ = sampled(name)
    joints, none = fp.inverse_kinematics(robot, motion), np.zeros((3, 0))
    given = ActuatorState(q=joints.actuator_position.values, e=none, qd=joints.actuator_velocity.values, ed=none)
    closed = close_along(robot, given, np.full(3, "", dtype=object))
    wanted = getattr(fp, force)(robot, motion, coordinates="independent").values
    equal(evaluate(robot, force, closed.inputs())[force], wanted)


@pytest.mark.full
def test_generalized_forces_of_a_base_that_floats() -> None:
    """Weight as by the verb; with the forces of velocities it is all that the equation of motion has beside accelerations."""
    robot = fp.load("hexapod-floating")
    state = home(robot, 1).inputs()
    wanted = fp.gravity_force(robot, fp.State(position=robot.home.position), coordinates="independent").values
    equal(evaluate(robot, "gravity_force", state)["gravity_force"][0], wanted)
    moving = evaluate(robot, "", {**state, "independent_velocity": np.linspace(-1.0, 1.0, 12)[None]}, "elastic_closing")
    for name in ("velocity", "angular_velocity"):
        state[name] = moving[f"platform_{name}"]
    state |= {"joint_position": moving["closed_position"], "joint_velocity": moving["closed_velocity"]}
    parts = [evaluate(robot, force, state)[force] for force in ("gravity_force", "coriolis_force")]
    equal(parts[0] + parts[1], evaluate(robot, "", state, "elastic_mass_matrix")["bias"])
    assert np.abs(parts[1]).max() > 0.1


@pytest.mark.parametrize("name", ["five-bar", "3-rps", pytest.param("delta-parallelograms", marks=pytest.mark.full)])
def test_all_loops_together_give_what_the_legs_give(name: str) -> None:
    """Another formulation: each leg closed by itself at the pose."""
    robot = fp.load(name)
    given = {**random_states(robot, 4, seed=2), **guesses(robot, 4)}
    legs = evaluate(robot, "", given, "inverse_kinematics", detail="joints")
    loops = evaluate(robot, "", given, "loop_inverse_kinematics", detail="joints")
    for key in (f"{what}_{part}" for what in ("actuator", "joint") for part in ("position", "velocity", "acceleration")):
        equal(loops[key], legs[key])
    bodies = [evaluate(robot, "", given, f"{kind}inverse_kinematics", detail="bodies") for kind in ("", "loop_")]
    for key in (key for key in bodies[0] if key.startswith("body_")):
        equal(bodies[1][key], bodies[0][key])
    target = {**given, "actuator_position": legs["actuator_position"]}
    pose = [evaluate(robot, "", target, f"{kind}forward_kinematics") for kind in ("", "loop_")]
    for key in ("position", "rotation", "joint_position"):
        equal(pose[1][key], pose[0][key])
    rows = [evaluate(robot, "", given, f"{kind}jacobian") for kind in ("", "loop_")]
    follows = np.linalg.pinv(np.concatenate([rows[1]["jacobian"], rows[1]["constraint_jacobian"]], axis=1))[
        :, :, : len(robot.actuators)
    ]
    equal(rows[0]["jacobian"] @ follows, np.eye(len(robot.actuators)))


def test_a_whole_revolution_of_a_crank(tmp_path: Path) -> None:
    """Its platform moves along x here and along y there: no component of a pose is preferred."""
    robot = four_bar(tmp_path)
    angle = home(robot, 1).actuators(robot)[0][0, 0] + np.linspace(0.0, 2.0, 9)
    motion = fp.ActuatorMotion(time=angle, position=angle[:, None], velocity=np.ones((9, 1)), acceleration=np.ones((9, 1)))
    along = fp.forward_kinematics(robot, motion, continuation=False)
    given = {**{part: along[part].values for part in PARTS}, "guess": along.joint_position.values + 0.1}
    found = evaluate(robot, "inverse_kinematics", given, detail="joints")
    equal(found["actuator_position"][:, 0], angle)
    equal(found["joint_position"], along.joint_position.values)
    equal(found["actuator_velocity"], 1.0)
    equal(found["actuator_acceleration"], 1.0)


def test_friction_of_loops(tmp_path: Path) -> None:
    """The difference of inverse dynamics with and without friction."""
    robot = four_bar(tmp_path)
    states = random_leg_states(robot, 3, seed=1)
    given = {**states, **dependent_inputs(robot, states, ()), "wrench": np.ones((3, 6)), "actuator_acceleration": np.ones((3, 1))}
    found = evaluate(robot, "friction_force", given)["force"]
    motion = fp.ActuatorMotion(
        time=np.arange(3.0),
        position=given["actuator_position"],
        velocity=given["actuator_velocity"],
        acceleration=np.ones((3, 1)),
    )
    wanted = [fp.inverse_dynamics(robot, motion, friction=f).force.values for f in (True, False)]
    equal(found, wanted[0] - wanted[1])
    assert np.abs(found).min() > 0.05
    bound = kernel_with_friction(robot, "friction_force", {})
    equal(bound.batch({i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs}).outputs["force"], found)


FAR = [(0.18112835, 0.2541181, -0.71693486, -0.619432869), (-0.21074159, 0.28357729, -0.40503222, -1.1394413853)]
"""Poses of h4 (x, y, z, turn about z) at which Newton's method from home ends in loops that are closed elsewhere, 0.05 away."""


def test_poses_that_the_robot_cannot_take() -> None:
    """A pose that closed loops do not meet is a failure, as of the verb, and so is one out of reach; rounding is neither."""
    robot = fp.load("h4")
    bound = fp.kernel(robot, "jacobian")

    def status(position: Any, rotation: Any) -> int:
        given = {**guesses(robot, 1), "position": np.array([position]), "rotation": np.array([rotation])}
        return int(bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).status[0])

    def rotated(axis: int, angle: float) -> np.ndarray:
        return np.asarray(fp.motions.euler_rotation("xyz"[axis].upper(), [[angle]])[0])

    home = np.array(robot.home.position)
    assert status(home, rotated(0, 1e-9)) == 0
    missed = status(home, rotated(0, 0.01))
    assert "miss this pose" in bound.signature.statuses[missed].text
    assert [status(pose[:3], rotated(2, pose[3])) for pose in FAR] == [missed, missed]
    assert status(np.add(home, [0.0, 0.0, 10.0]), rotated(0, 0.0)) not in (0, missed)


@pytest.mark.parametrize(
    ("quantity", "says"),
    [
        ("inverse_kinematics", "inverse kinematics: actuators of hexapod-floating can move while its platform is at rest"),
        ("jacobian", "the Jacobian: actuators of hexapod-floating can move while its platform is at rest"),
        (
            "forward_kinematics",
            "forward kinematics: the 6 actuators of hexapod-floating do not determine where all its bodies are",
        ),
        ("friction_force", "hexapod-floating is under-actuated"),
        ("workspace", "workspace: closes the legs one by one.*'jacobian' are programs for all loops"),
    ],
)
def test_what_has_no_meaning_is_refused_with_the_reason_of_the_verb(quantity: str, says: str) -> None:
    with pytest.raises(fp.InputError, match=says):
        fp.kernel(fp.load("hexapod-floating"), quantity)


@pytest.mark.parametrize("force", ["gravity_force", "coriolis_force"])
def test_dampers_are_no_part_of_weight_and_velocities(force: str, tmp_path: Path) -> None:
    robot = four_bar(tmp_path, "damping: 2")
    states = random_leg_states(robot, 3, seed=1)
    at = fp.State(**{name: states[name] for name in ("position", "rotation", "velocity", "angular_velocity")})
    wanted = getattr(fp, force)(robot, at, coordinates="independent").values
    assert np.abs(evaluate(robot, force, states)[force] - wanted).max() <= SAME * np.abs(wanted).max()


def test_inputs_of_self_tests_belong_together(tmp_path: Path) -> None:
    """Actuators of exported forward kinematics were random numbers, out of reach of most robots."""
    robot = four_bar(tmp_path)
    states, bound = random_inputs(robot, 4, seed=1), fp.kernel(robot, "forward_kinematics")
    found = bound.batch(golden_inputs(bound, states)).outputs
    assert np.all(found["converged"] == 1.0)
    equal(found["position"], states["position"])
