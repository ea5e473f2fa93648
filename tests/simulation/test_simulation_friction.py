"""Viscous and constant Coulomb friction in forward simulation, against inverse dynamics with friction."""

import numpy as np
from runs import at_home, robot_named

import flexapod as fp


def test_joint_friction_agrees_with_inverse_dynamics() -> None:
    """Accelerations of a run with friction demand, by Newton-Euler with the same friction, the forces that were applied."""
    robot = robot_named("hexaslide")
    plain = robot.with_parameters(no_load_friction(robot))
    start = fp.State(
        position=robot.home.position, rotation=robot.home.rotation, velocity=[0.1, -0.05, 0.08], angular_velocity=[0.3, 0.2, -0.1]
    )
    hold = fp.inverse_dynamics(plain, at_home(plain), friction=False).force.values
    run = fp.simulate(plain, start, force=hold, duration=0.02, step=1e-4, output_step=1e-3, friction=True, watch=())
    motion = fp.Motion(**{k: run[k].values for k in FIELDS}, time=run.time.values)
    with_friction = fp.inverse_dynamics(plain, motion, friction=True).force.values
    without = fp.inverse_dynamics(plain, motion, friction=False).force.values
    assert np.max(np.abs(with_friction - without)) > 1.0
    assert np.max(np.abs(with_friction - hold)) < 1e-6 * np.max(np.abs(hold))
    assert float(run.dissipated_energy[-1]) > 0.0
    thin = robot.with_parameters({k: v for k, v in no_load_friction(robot).items() if not k.endswith("coulomb")})
    assert np.max(np.abs(with_friction - fp.inverse_dynamics(thin, motion, friction=True).force.values)) > 0.01


FIELDS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def no_load_friction(robot: fp.Robot) -> dict[str, float]:
    """Changes that leave no friction by loads, much more of the viscous one, and a constant part in every joint."""
    constant = {path.replace("viscous", "coulomb"): 0.05 for path in robot.parameters if path.endswith(".friction.viscous")}
    none = {path: 0.0 for path in robot.parameters if path.endswith((".friction.normal", ".friction.reaction"))}
    thick = {path: 200.0 * float(robot.parameter(path)) for path in robot.parameters if path.endswith(".friction.viscous")}
    return none | thick | constant
