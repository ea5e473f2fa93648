"""More actuators than degrees of freedom: which of the forces is chosen, and robots whose loops tie actuators together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.rotations import rotvec_rotation
from support.kinds import robot_of_kind

AGREES = 1e-9
"""Of the largest entry: rounding of two derivations."""
FOLLOWED = 1e-9
"""Of the largest acceleration, and position [m] after 4 ms; found 1e-11 and 3e-13."""
SMALL = 1e-9
"""Of the largest omega^2: sixth-order differences of forces over 1e-3; found 4e-13."""
WEIGHTS = np.array([1.0, 2.0, 5.0, 0.5])
PRELOAD = np.array([3.0, -1.0, 2.0, 4.0])


def motion(robot: fp.Robot, count: int = 4) -> fp.Motion:
    return fp.Motion(time=np.arange(float(count)), **random_states(robot, count, seed=3))


def by_jacobian(robot: fp.Robot, at: fp.Motion, force: np.ndarray, weights: np.ndarray, preload: np.ndarray) -> np.ndarray:
    """Forces (n, 4) nearest to the preload with the same generalized force J^T f on the platform, sample by sample."""
    J = fp.jacobian(robot, fp.State(position=at.position, rotation=at.rotation)).jacobian.values[:, :, [0, 1, 5]]
    rows = []
    for own, f in zip(J, force, strict=True):
        demand = own.T @ (f - preload)
        rows.append(preload + np.linalg.solve(np.diag(weights), own @ np.linalg.solve(own.T / weights @ own, demand)))
    return np.array(rows)


@pytest.mark.parametrize("kind", ["redundantly actuated", "redundant with joint springs"])
@pytest.mark.parametrize(("weights", "preload"), [(WEIGHTS, None), (None, PRELOAD), (WEIGHTS, PRELOAD)])
def test_weights_and_preload(kind: str, weights: Any, preload: Any) -> None:
    """Against the Jacobian; the motion is the same, the internal part of the preload is not."""
    robot = robot_of_kind(kind)
    at = motion(robot)
    usual = fp.inverse_dynamics(robot, at, friction=False).force.values
    found = fp.inverse_dynamics(robot, at, friction=False, weights=weights, preload=preload, reactions=True)
    none = np.zeros(4)
    expected = by_jacobian(robot, at, usual, np.ones(4) if weights is None else weights, none if preload is None else preload)
    size = np.abs(expected).max()
    assert np.abs(found.force.values - expected).max() < AGREES * size
    assert np.abs(found.force.values - usual).max() > 1e-3 * size
    state = fp.State(position=at.position, rotation=at.rotation, velocity=at.velocity, angular_velocity=at.angular_velocity)
    back = fp.forward_dynamics(robot, state, found.force.values, friction=False, reactions=True)
    assert np.abs(back.acceleration.values - at.acceleration).max() < AGREES * np.abs(at.acceleration).max()
    reactions = found.reaction_force.values
    known = np.isfinite(reactions)
    assert np.abs(back.reaction_force.values - reactions)[known].max() < AGREES * np.abs(reactions[known]).max()


def test_reactions_of_a_simulation_carry_the_preload() -> None:
    """At the start, against inverse dynamics with the same forces as preload; least-norm forces would leave it out."""
    robot = robot_of_kind("redundantly actuated")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    held = fp.inverse_dynamics(robot, home, friction=False, preload=PRELOAD, reactions=True)
    result = fp.simulate(
        robot, home, force=held.force.values, duration=2e-3, step=1e-3, friction=False, reactions=True, progress=False
    )  # fmt: skip
    ours, theirs = result.reaction_force.values[0], held.reaction_force.values
    known = np.isfinite(theirs)
    size = np.abs(theirs[known]).max()
    assert np.abs(ours - theirs)[known].max() < AGREES * size
    plain = fp.inverse_dynamics(robot, home, friction=False, reactions=True).reaction_force.values
    assert np.abs(plain - theirs)[known].max() > 0.1 * size


def test_choices_that_are_none() -> None:
    robot = fp.load("five-bar")
    at = motion(robot)
    with pytest.raises(fp.InputError, match=r"weights: five-bar is not redundantly actuated \(2 actuators\)"):
        fp.inverse_dynamics(robot, at, weights=[1.0, 1.0])
    redundant = robot_of_kind("redundantly actuated")
    with pytest.raises(fp.InputError, match="weights: expected positive numbers"):
        fp.inverse_dynamics(redundant, motion(redundant), weights=[1.0, 0.0, 1.0, 1.0])
    with pytest.raises(fp.InputError, match="preload: expected shape"):
        fp.inverse_dynamics(redundant, motion(redundant), preload=[1.0])


@pytest.mark.parametrize("kind", ["redundantly actuated", "redundant with joint springs"])
def test_an_idle_actuator_has_no_force(kind: str) -> None:
    """Weight inf: the others move the robot alone, each idle one in turn; of too many the message names them."""
    robot = robot_of_kind(kind)
    at = motion(robot)
    state = fp.State(position=at.position, rotation=at.rotation, velocity=at.velocity, angular_velocity=at.angular_velocity)
    for k in range(4):
        weights = np.ones(4)
        weights[k] = np.inf
        force = fp.inverse_dynamics(robot, at, friction=False, weights=weights).force.values
        assert not force[:, k].any()
        back = fp.forward_dynamics(robot, state, force, friction=False)
        assert np.abs(back.acceleration.values - at.acceleration).max() < 100 * AGREES * np.abs(at.acceleration).max()
    two = ", ".join(robot.actuators[1:3])
    with pytest.raises(fp.InputError, match=rf"without {two} \(weight inf: idle\) .* has 2 actuators for 3 degrees of freedom"):
        fp.inverse_dynamics(robot, at, weights=[1.0, np.inf, np.inf, 1.0])
    with pytest.raises(fp.InputError, match="preload: every entry must be a finite number"):
        fp.inverse_dynamics(robot, at, preload=[1.0, np.nan, 0.0, 0.0])


def test_tied_actuators_as_the_rigid_robot() -> None:
    """Kinematics, masses and energy are those of the rigid robot without springs, by other equations; springs add stiffness."""
    tied = robot_of_kind("redundant with joint springs")
    assert set(tied.independent) < set(tied.actuators)
    passive = next(name for name in tied.actuators if name not in tied.independent)
    at = motion(tied, 2)
    state = fp.State(position=at.position, rotation=at.rotation, velocity=at.velocity, angular_velocity=at.angular_velocity)
    M = fp.mass_matrix(tied, state, coordinates="independent").values
    moved = fp.inverse_kinematics(tied, at)
    rates = moved.actuator_velocity.sel(actuator=list(tied.independent)).values
    energy = fp.energy(tied, state)
    assert np.abs(np.einsum("ni,nij,nj->n", rates, M, rates) / 2.0 - energy.kinetic.values).max() < AGREES * energy.kinetic.max()
    rigid = fp.load("planar-4-prr")
    plain = fp.energy(rigid, state)
    assert np.abs(energy.kinetic.values - plain.kinetic.values).max() < AGREES * float(plain.kinetic.max())
    other = fp.inverse_kinematics(rigid, at)
    assert np.abs(moved.actuator_acceleration.values - other.actuator_acceleration.values).max() < AGREES * 10.0
    stiff = np.array([0.0 if name == passive else 1e4 for name in tied.actuators])
    pose = fp.State(position=at.position, rotation=at.rotation)
    soft = fp.natural_frequencies(tied, pose, actuators=stiff, prestress=False).omega_squared.values
    bare = fp.natural_frequencies(rigid, pose, actuators=stiff, prestress=False).omega_squared.values
    assert np.all(soft >= bare - AGREES * bare.max())  # joint springs only add stiffness
    with pytest.raises(fp.InputError, match="coordinates='actuator' needs as many actuators as degrees of freedom"):
        fp.mass_matrix(tied, state, coordinates="actuator")


PLATE = """platform:
  flexible:
    type: plate
    outline: [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    thickness: 60 mm
    young: {young} GPa
    poisson: 0.30
    density: 2700
    modes: 4
    damping: 0.02
"""
BEAM = (
    "{{flexible: {{type: beam, length: 0.25, section: {{shape: rectangle, width: 6 mm, height: 25 mm}}, young: {young} GPa, "
    "density: 2700, damping: 0.01}}}}"
)
STIFF = 7e7
"""Young's modulus [GPa], a million times that of aluminium: what is left of the deflection is a millionth of the weight's."""
RIGID_LIMIT = 1e-5
"""Of the largest force: that deflection, and the change of it along the motion."""
STILL = 1e-6
"""Acceleration of deformations [1/s^2 of the coordinate] of forces that leave them at rest; others give 1 to 1e7."""


def deforming(folder: Path, kind: str, young: float) -> fp.Robot:
    """A redundant robot whose links, or whose platform, deform."""
    name = {"legs": "planar-4-rrr", "platform": "8-ups"}[kind]
    text = fp.catalogue()[name].read_text()
    if kind == "platform":
        begin, end = text.index("platform:\n"), text.index("legs:\n")
        text = (text[:begin] + PLATE.format(young=young) + text[end:]).replace("-0.1]", "0]")
    else:
        text = text.replace("gravity: [0, 0, -9.81]", "gravity: [0, -9.81, 0]")
        rigid = "{mass: 0.3, com: [0.125, 0, 0], inertia: {diagonal: [0.0001, 0.0016, 0.0016]}}"
        assert rigid in text
        text = text.replace(rigid, BEAM.format(young=young))
    (folder / f"{kind}.yaml").write_text(text)
    return fp.load(folder / f"{kind}.yaml")


def as_rigid(folder: Path, kind: str) -> fp.Robot:
    """The same robot with rigid bodies of the same mass."""
    name = {"legs": "planar-4-rrr", "platform": "8-ups"}[kind]
    text = fp.catalogue()[name].read_text()
    if kind == "platform":
        mass = 2700 * 4 * 0.06
        flat, upright = mass * (4 + 0.06**2) / 12, mass * 8 / 12
        text = text.replace("mass: 2000", f"mass: {mass}").replace("[700, 700, 1300]", f"[{flat}, {flat}, {upright}]")
        text = text.replace("-0.1]", "0]")
    else:
        mass = 2700 * 0.25 * 0.006 * 0.025
        own = f"{{mass: {mass}, com: [0.125, 0, 0], inertia: {{diagonal: [1e-6, 1e-3, {mass * (0.25**2 + 0.006**2) / 12}]}}}}"
        text = text.replace("{mass: 0.3, com: [0.125, 0, 0], inertia: {diagonal: [0.0001, 0.0016, 0.0016]}}", own)
        text = text.replace("gravity: [0, 0, -9.81]", "gravity: [0, -9.81, 0]")
    (folder / f"{kind}-rigid.yaml").write_text(text)
    return fp.load(folder / f"{kind}-rigid.yaml")


def swing(robot: fp.Robot, count: int = 3) -> fp.Motion:
    """A slow swing along x."""
    time = np.linspace(0.0, 1.0, count)
    along = np.array([0.02, 0.0, 0.0])
    none, rotated = np.zeros((count, 3)), np.tile(robot.home.rotation, (count, 1, 1))
    return fp.Motion(
        time=time, position=robot.home.position + np.sin(time)[:, None] * along, rotation=rotated,
        velocity=np.cos(time)[:, None] * along, acceleration=-np.sin(time)[:, None] * along, angular_velocity=none,
        angular_acceleration=none,
    )  # fmt: skip


DEFORMING = ["legs", pytest.param("platform", marks=pytest.mark.full)]


@pytest.mark.parametrize("kind", DEFORMING)
def test_stiff_redundant_robots_have_the_forces_of_rigid_ones(kind: str, tmp_path: Path) -> None:
    """Chosen by any weights, moving and at rest; deformations stay at rest under the chosen forces."""
    soft, stiff, rigid = deforming(tmp_path, kind, 70.0), deforming(tmp_path, kind, STIFF), as_rigid(tmp_path, kind)
    n = len(rigid.actuators)
    idle = np.ones(n)
    idle[0] = np.inf
    for choice in ({}, {"weights": np.arange(1.0, n + 1)}, {"preload": np.linspace(-3.0, 5.0, n)}, {"weights": idle}):
        expected = fp.inverse_dynamics(rigid, swing(rigid), **choice).force.values
        found = fp.inverse_dynamics(stiff, swing(stiff), **choice)
        assert np.abs(found.force.values - expected).max() < RIGID_LIMIT * np.abs(expected).max(), choice
        bent = fp.inverse_dynamics(soft, swing(soft), **choice)
        assert np.abs(bent.elastic_acceleration.values).max() < STILL * max(1.0, np.abs(bent.force.values).max()), choice
        assert np.abs(bent.force.values - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("kind", DEFORMING)
def test_redundant_robots_that_deform(kind: str, tmp_path: Path) -> None:
    """Statics, accelerations that come back, and a simulation that follows its platform's motion."""
    robot = deforming(tmp_path, kind, 70.0)
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    held, rest = fp.static_deflection(robot, home), fp.inverse_dynamics(robot, home)
    size = np.abs(rest.force.values).max()
    assert np.abs(held.force.values - rest.force.values).max() < AGREES * size
    at = swing(robot)
    drive = fp.inverse_dynamics(robot, at)
    parts = {name: getattr(at, name) for name in ("position", "rotation", "velocity", "angular_velocity")}
    state = fp.State(**parts, elastic=drive.elastic.values, elastic_velocity=drive.elastic_velocity.values)
    back = fp.forward_dynamics(robot, state, drive.force.values)
    assert np.abs(back.acceleration.values - at.acceleration).max() < FOLLOWED * np.abs(at.acceleration).max()
    result = fp.simulate(robot, swing(robot, 101), drive="platform", duration=0.004, step=2e-4, method="implicit")
    assert np.abs(result.position.values[-1] - at.position[0] - [0.02 * np.sin(0.004), 0.0, 0.0]).max() < FOLLOWED


SLOPE = 1e-7
"""Of the largest entry of a derivative: differences of sixth order at a step of 3e-4, rounding of bent legs divided by it."""


@pytest.mark.parametrize("kind", ["springs", "legs"])
def test_derivatives_of_the_chosen_forces(kind: str, tmp_path: Path) -> None:
    """By every component of the motion in the plane and by the weight, against differences of inverse dynamics at held
    deflections."""
    robot = robot_of_kind("redundant with joint springs") if kind == "springs" else deforming(tmp_path, "legs", 70.0)
    drawn, h = {key: values[:1] for key, values in motion(robot).__dict__.items() if isinstance(values, np.ndarray)}, 3e-4
    at = fp.inverse_dynamics(robot, fp.Motion(**drawn), friction=False)
    held = {key: at[key].values for key in ("elastic", "elastic_velocity") if robot.elastic_names}
    found = fp.inverse_dynamics_derivatives(robot, fp.Motion(**drawn), parameters=["gravity.y", "platform.mass"])

    def force(changes: dict[str, np.ndarray], own: fp.Robot = robot) -> np.ndarray:
        return fp.inverse_dynamics(own, fp.Motion(**drawn | changes), friction=False, **held).force.values[0]

    def slope(name: str, axis: np.ndarray) -> np.ndarray:
        def moved(s: float) -> np.ndarray:
            rotated = rotvec_rotation(s * axis) @ drawn[name] if name == "rotation" else drawn[name] + s * axis
            return force({name: rotated})

        return sum(w * (moved(k * h) - moved(-k * h)) for k, w in ((1, 0.75), (2, -0.15), (3, 1 / 60))) / h

    for name in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        axes = [2] if name == "rotation" or "angular" in name else [0, 1]
        expected = np.stack([slope(name, np.eye(3)[k]) for k in axes], axis=1)
        ours = found[f"tau_D_{name}"].values[0][:, axes]
        assert np.abs(ours - expected).max() < SLOPE * max(np.abs(expected).max(), 1e-2), name
    for k, path in enumerate(("gravity.y", "platform.mass")):
        up, down = (force({}, robot.with_parameters({path: robot.parameter(path) + s})) for s in (0.1, -0.1))
        expected = (up - down) / 0.2
        assert np.abs(found.tau_D_parameter.values[0, :, k] - expected).max() < SLOPE * max(np.abs(expected).max(), 1e-2), path


@pytest.mark.full
def test_actuators_that_push_against_each_other_do_not_say_how_far(tmp_path: Path) -> None:
    robot = deforming(tmp_path, "platform", 70.0)
    none = np.zeros((2, 8))
    at = fp.ActuatorMotion(time=[0.0, 1.0], position=none + 1.2, velocity=none, acceleration=none)
    with pytest.raises(fp.InputError, match="act against each other"):
        fp.inverse_dynamics(robot, at)
    with pytest.raises(fp.InputError, match="drive='actuators': 8 actuators for 6 DOF"):
        fp.simulate(robot, at, drive="actuators")


def test_small_motions_about_forces_of_least_norm() -> None:
    r"""Prestress: :math:`K = \partial\,[J^T(\Gamma(x) - \Gamma_0)]/\partial x + J^T k J`, with forces Gamma(x) that hold a pose x
    beside; by sixth-order differences along the platform's x, y and rotation."""
    robot = fp.load("planar-4-prr").with_parameters({"gravity": [0.0, -9.81, 0.0]})
    p, angle = robot.home.position + np.array([0.03, 0.02, 0.0]), 0.1
    load, k, h = np.array([50.0, -80.0, 0.0, 0.0, 0.0, 3.0]), np.full(4, 2e4), 1e-3

    def at(x: np.ndarray) -> fp.State:
        R = fp.motions.rotvec_rotation(np.array([0.0, 0.0, angle + x[2]])) @ robot.home.rotation
        return fp.State(position=p + np.array([x[0], x[1], 0.0]), rotation=R)

    def force(x: np.ndarray) -> np.ndarray:
        return fp.inverse_dynamics(robot, at(x), friction=False, wrench=load).force.values  # type: ignore[no-any-return]

    def J(x: np.ndarray) -> np.ndarray:
        return fp.jacobian(robot, at(x)).jacobian.values[:, [0, 1, 5]]  # type: ignore[no-any-return]

    start = np.zeros(3)
    held = force(start)
    K = J(start).T * k @ J(start)
    for j in range(3):
        for m, weight in {1: 3.0 / 4.0, 2: -3.0 / 20.0, 3: 1.0 / 60.0}.items():
            for sign in (1.0, -1.0):
                x = sign * m * h * np.eye(3)[j]
                K[:, j] += sign * weight / h * (J(x).T @ (force(x) - held))
    whole = fp.mass_matrix(robot, at(start), coordinates="independent")
    assert whole.coordinate.values.tolist() == ["vx", "vy", "wz"]
    expected = np.sort(scipy.linalg.eigvals(K, whole.values).real)
    modes = fp.natural_frequencies(robot, at(start), actuators=k, wrench=load)
    assert np.abs(modes.force.values - held).max() < AGREES * np.abs(held).max()
    squared = np.sort((2.0 * np.pi * modes.frequency.values) ** 2)
    assert np.abs(squared - expected).max() < SMALL * expected.max()
    without = fp.natural_frequencies(robot, at(start), actuators=k, prestress=False)
    assert np.abs(without.frequency.values - modes.frequency.values).max() > 1e-4
