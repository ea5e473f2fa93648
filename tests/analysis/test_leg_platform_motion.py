"""Robots with flexible legs along a motion of the platform: the same results as along that of the actuators."""

from __future__ import annotations

import numpy as np
import pytest
from leg_robots import home_actuators, moment, robot, share

import flexapod as fp
from flexapod.analysis.model.prescribed import prescribed_components
from support.usual_run import counted

SAME = 5e-8
"""Of the largest entry: stiff beams make forces of the rounding of a pose; found 5e-9."""
POSES = 4e-15
"""Of one metre or radian: a few roundings of the coordinates at which Newton's method ends."""
EQUILIBRIUM = 1e-11
"""Left of the equilibrium [N]; found 3e-14."""
STILL = 1e-8
"""Elastic accelerations [1/s^2] at rest, left of stiff beams times rounding; found 7e-11."""
ENERGY = 1e-12
"""Relative: one quadratic form in two sets of coordinates; found 3e-15."""

FOLLOWED = {
    "dualemps": [0, 2],
    "planar-3-rrr": [0, 1, 5],
    "tripteron-flexible": [0, 1, 2],
    "gough-stewart-beams": [0, 1, 2, 3, 4, 5],
}


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few samples each: interpreting is shorter than compiling."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")


@pytest.mark.parametrize("name", ["dualemps", "planar-3-rrr", "gough-stewart-beams"])
def test_motion_of_the_platform_gives_what_the_actuators_gave(name: str) -> None:
    """Random states with elastic coordinates: forces, elastic and actuator accelerations, rates."""
    r, random = robot(name), np.random.default_rng(4)
    assert prescribed_components(r) == FOLLOWED[name]
    n, N = len(r.actuators), len(r.elastic_names)
    sizes = np.array([1e-6 if x.endswith(".u") else 1e-4 for x in r.elastic_names])
    q, qd, qdd = home_actuators(r) + random.uniform(-0.02, 0.02, (2, n)), *random.uniform(-0.5, 0.5, (2, 2, n))
    given = {"elastic": random.uniform(-1, 1, (2, N)) * sizes, "elastic_velocity": random.uniform(-9, 9, (2, N)) * sizes}
    own = moment(q, qd, qdd)
    first = fp.inverse_dynamics(r, own, friction=False, **given)
    at = fp.point_motion(r, own, "platform", elastic_acceleration=first.elastic_acceleration.values, **given)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    motion = fp.Motion(time=own.time, **{key: at[key].values for key in names})
    second = fp.inverse_dynamics(r, motion, friction=False, **given)
    assert np.abs(second.actuator_position.values - q).max() < POSES
    assert share(second.power.values, first.power.values) < SAME
    assert share(second.force.values, first.force.values) < SAME
    assert share(second.elastic_acceleration.values, first.elastic_acceleration.values) < SAME
    back = fp.inverse_kinematics(r, motion, elastic_acceleration=first.elastic_acceleration.values, **given)
    assert share(back.actuator_velocity.values, qd) < SAME
    assert share(back.actuator_acceleration.values, qdd) < SAME


def test_actuators_of_a_pose_are_found_to_rounding() -> None:
    """One sample at a time, so that none has more steps of Newton's method because of another."""
    r, random = fp.load("orthoglide"), np.random.default_rng(1)
    for q in random.uniform(-0.015, 0.015, (counted(3, 8), 3)):
        found = fp.forward_dynamics(r, fp.State.from_actuators(r, q), np.zeros(3)).actuator_position.values
        assert np.abs(found - q).max() < POSES


def test_static_deflection_of_a_pose_is_that_of_its_actuators() -> None:
    """Held by its actuators under gravity and load, the 3-RRR sags; asked for that pose, the same actuators come out."""
    r, load = robot("planar-3-rrr"), np.array([3.0, -5, 0, 0, 0, 0.2])
    q = home_actuators(r) + np.array([0.02, -0.03, 0.01])
    held = fp.static_deflection(r, moment(q), wrench=load)
    assert held.residual.values[0] < EQUILIBRIUM
    state = fp.State(position=held.position.values[0], rotation=held.rotation.values[0])
    asked = fp.static_deflection(r, state, wrench=load)
    assert np.abs(asked.actuator_position.values - q).max() < POSES
    assert share(asked.elastic.values, held.elastic.values[0]) < SAME
    assert share(asked.force.values, held.force.values[0]) < SAME
    stiff = fp.State.from_actuators(r, q, elastic="zero")
    assert np.linalg.norm(stiff.position - state.position) > 1e-4, "it sags: the test can fail"
    forces = fp.inverse_dynamics(r, moment(q), friction=False, wrench=load)
    assert share(forces.force.values[0], held.force.values[0]) < SAME, "at rest inverse dynamics is statics"
    assert np.abs(forces.elastic_acceleration.values).max() < STILL


def test_mass_matrix_in_platform_coordinates() -> None:
    """Six DOF and no ties: kinetic energy is the same in twist and elastic rates as in actuators and elastic rates."""
    r, random = robot("gough-stewart-beams"), np.random.default_rng(5)
    ed = random.uniform(-1, 1, len(r.elastic_names)) * 1e-2
    state = fp.State.from_actuators(r, home_actuators(r), random.uniform(-1, 1, 6), elastic=0 * ed, elastic_velocity=ed)
    M = fp.mass_matrix(r, state).values
    rates = np.concatenate([state.velocity, state.angular_velocity, ed])
    np.testing.assert_allclose(rates @ M @ rates / 2, fp.energy(r, state).kinetic.item(), rtol=ENERGY)
