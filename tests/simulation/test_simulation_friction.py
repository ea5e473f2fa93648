"""Viscous and constant Coulomb friction in forward simulation, against inverse dynamics with friction."""

from dataclasses import replace

import numpy as np
import pytest
from pd_simulations import at_home, robot_named

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.description.schema import Friction

DEMANDED = 1e-6
"""Of the largest force: accelerations of a run demand what acts."""


def test_joint_friction_agrees_with_inverse_dynamics() -> None:
    """Accelerations of a simulation with friction demand, by Newton-Euler with the same friction, the forces that were
    applied."""
    robot = robot_named("hexaslide")
    plain = robot.with_parameters(no_load_friction(robot))
    start = fp.State(
        position=robot.home.position, rotation=robot.home.rotation, velocity=[0.1, -0.05, 0.08], angular_velocity=[0.3, 0.2, -0.1]
    )
    hold = fp.inverse_dynamics(plain, at_home(plain), friction=False).force.values
    result = fp.simulate(plain, start, force=hold, duration=0.02, step=1e-4, output_step=1e-3, friction=True, watch=())
    motion = fp.Motion(**{k: result[k].values for k in FIELDS}, time=result.time.values)
    with_friction = fp.inverse_dynamics(plain, motion, friction=True).force.values
    without = fp.inverse_dynamics(plain, motion, friction=False).force.values
    assert np.max(np.abs(with_friction - without)) > 1.0
    assert np.max(np.abs(with_friction - hold)) < DEMANDED * np.max(np.abs(hold))
    assert float(result.dissipated_energy[-1]) > 0.0
    thin = robot.with_parameters({k: v for k, v in no_load_friction(robot).items() if not k.endswith("coulomb")})
    assert np.max(np.abs(with_friction - fp.inverse_dynamics(thin, motion, friction=True).force.values)) > 0.01


FIELDS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def no_load_friction(robot: fp.Robot) -> dict[str, float]:
    """Changes that leave no friction by loads, much more of the viscous one, and a constant part in every joint."""
    constant = {path.replace("viscous", "coulomb"): 0.05 for path in robot.parameters if path.endswith(".friction.viscous")}
    none = {path: 0.0 for path in robot.parameters if path.endswith((".friction.normal", ".friction.reaction"))}
    thick = {path: 200.0 * float(robot.parameter(path)) for path in robot.parameters if path.endswith(".friction.viscous")}
    return none | thick | constant


AGREE = 1e-11
"""Of the largest acceleration: two assemblies of the same equation round differently."""


@pytest.mark.parametrize(("name", "direction"), [("hexaslide", "per_axis"), ("3-rsr", "vector"), ("delta", "per_axis")])
def test_accelerations_are_those_of_forward_dynamics(name: str, direction: str) -> None:
    """Spherical and universal joints at the platform, and a leg that is cut at its ball: about axes, and against a vector."""
    robot = sliding(robot_named(name), Friction(viscous=0.3, coulomb=0.4, speed=0.02, direction=direction))
    given = random_states(robot, 1, seed=3)
    start = fp.State(**{key: given[key][0] for key in FIELDS[:4]})
    force = np.linspace(-1.0, 2.0, len(robot.actuators))
    result = fp.simulate(robot, start, force=force, duration=2e-4, step=1e-4, watch=()).isel(time=0)
    free, expected = (fp.forward_dynamics(robot, start, force, friction=f) for f in (False, True))
    for key in FIELDS[4:]:
        size = np.abs(expected[key].values).max()
        assert np.abs(result[key].values - expected[key].values).max() < AGREE * max(size, 1.0)
    assert np.abs(expected.acceleration.values - free.acceleration.values).max() > 1e-3


def sliding(robot: fp.Robot, friction: Friction) -> fp.Robot:
    """The robot with the same friction in every joint."""
    legs = [
        replace(
            leg,
            links=tuple(link if link.kind == "fixed" else replace(link, friction=friction) for link in leg.links),
            closing=replace(leg.closing, friction=friction),
        )
        for leg in robot.legs
    ]
    result = replace(robot, legs=tuple(legs))
    return replace(result, zeros=frozenset(name for name, value in result.values.items() if value == 0.0))
