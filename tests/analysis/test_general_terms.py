"""Velocity forces and bodies of flexible robots in every coordinate choice, against inverse dynamics and point motions."""

from __future__ import annotations

import numpy as np
import pytest
from leg_robots import home_actuators, robot

import flexapod as fp

AGREEMENT = 1e-9
"""Two derivations, of the largest entry; found 1e-13 (differences of large elastic forces)."""
ACTUATORS = 1e-10
"""The same in coordinates of the actuators, whose accelerations come from the kinematics; found 4e-13."""


def state_of(name: str) -> tuple[fp.Robot, fp.State]:
    r = robot(name)
    random = np.random.default_rng(4)
    if name == "gough-stewart-flexible":
        e = 1e-4 * random.uniform(-1, 1, len(r.elastic_names))
        return r, fp.State(
            position=r.home.position, rotation=r.home.rotation, velocity=random.uniform(-0.3, 0.3, 3),
            angular_velocity=random.uniform(-0.5, 0.5, 3), elastic=e, elastic_velocity=30 * e[::-1],
        )  # fmt: skip
    q = home_actuators(r)
    e = 1e-4 * random.uniform(-1, 1, len(r.elastic_names))
    return r, fp.State.from_actuators(r, q, velocity=np.linspace(0.1, 0.3, len(q)), elastic=e, elastic_velocity=30 * e[::-1])


@pytest.mark.parametrize("name", ["gough-stewart-flexible", "gough-stewart-beams"])
def test_velocity_forces_of_both_coordinates_agree(name: str) -> None:
    """Power of the velocity force is the same less what the change of coordinates takes: M' enters by differences of M."""
    r, s = state_of(name)
    platform = fp.coriolis_force(r, s, coordinates="platform").values
    actuator = fp.coriolis_force(r, s, coordinates="actuator").values
    M = fp.mass_matrix(r, s, coordinates="platform").values
    # u'' = 0 of the actuators gives the platform an acceleration a: c_actuator = S^T (c_platform + M a)
    forces = np.zeros(len(r.actuators))
    still = fp.forward_dynamics(r, s, forces, friction=False)
    a = np.concatenate([still.acceleration, still.angular_acceleration, still.elastic_acceleration])
    gravity = fp.gravity_force(r, s, coordinates="platform").values
    # M a + c + g + elastic forces = J^T forces = 0: elastic forces follow in both coordinate choices
    left = M @ a + platform + gravity
    assert np.abs(left[:6]).max() < AGREEMENT * np.abs(gravity).max()
    Mq = fp.mass_matrix(r, s, coordinates="actuator").values
    q2 = np.concatenate([_actuator(r, s, still), still.elastic_acceleration])
    rest = Mq @ q2 + actuator + fp.gravity_force(r, s, coordinates="actuator").values
    n = len(r.actuators)
    assert np.abs(rest[:n]).max() < ACTUATORS * np.abs(fp.gravity_force(r, s, coordinates="actuator").values[:n]).max()
    assert np.abs(left[6:] - rest[n:]).max() < ACTUATORS * np.abs(rest[n:]).max()


def _actuator(r: fp.Robot, s: fp.State, found: object) -> np.ndarray:
    values = getattr(found, "actuator_acceleration", None)
    if values is not None:
        return np.asarray(values)
    motion = fp.Motion(
        time=[0.0], position=s.position[None], rotation=s.rotation[None], velocity=s.velocity[None],
        angular_velocity=s.angular_velocity[None], acceleration=found.acceleration.values[None],  # type: ignore[attr-defined]
        angular_acceleration=found.angular_acceleration.values[None],  # type: ignore[attr-defined]
    )  # fmt: skip
    given = {"elastic": s.elastic, "elastic_velocity": s.elastic_velocity}
    second = found.elastic_acceleration.values  # type: ignore[attr-defined]
    at = fp.inverse_kinematics(r, motion, elastic_acceleration=second, **given)
    return np.asarray(at.actuator_acceleration.values[0])


def test_bodies_of_flexible_legs() -> None:
    """Every body with a named point moves as `point_motion` says of its origin."""
    r, s = state_of("dualemps")
    found = fp.inverse_kinematics(r, s, bodies=True, elastic_acceleration=np.zeros(len(r.elastic_names)))
    named = [(body, point) for body, b in r.bodies_by_name.items() for point in b.points]
    assert named
    for body, point in named:
        at = fp.point_motion(r, s, f"{body}.{point}")
        k = list(r.bodies_by_name).index(body)
        R, p = found.body_rotation.values[k], found.body_position.values[k]
        place = p + R @ (np.asarray(r.bodies_by_name[body].points[point]))
        assert np.abs(R - at.rotation.values).max() < AGREEMENT
        assert np.abs(place - at.position.values).max() < AGREEMENT
        w, arm = found.body_angular_velocity.values[k], place - p
        assert np.abs(found.body_velocity.values[k] + np.cross(w, arm) - at.velocity.values).max() < AGREEMENT
