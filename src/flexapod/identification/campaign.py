"""`simulated_measurement`: a measurement campaign on the robot's own model: sampled control, encoder steps, noise of the
forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.forward_dynamics import mass_matrix
from flexapod.errors import InputError
from flexapod.identification.measurement import Measurement
from flexapod.simulation.controllers import FeedForwardPD
from flexapod.simulation.simulate import simulate

if TYPE_CHECKING:
    from flexapod.motions.motion import ActuatorMotion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.controllers import Controller

BANDWIDTH = 60.0
"""Bandwidth of the default controller [rad/s]: k_p = m w^2, k_d = 1.4 m w, with m the robot's mass seen at an actuator."""


@checked
def simulated_measurement(
    robot: Robot,
    motion: ActuatorMotion,
    *,
    controller: Controller | None = None,
    rate: float = 1000.0,
    resolution: float = 1e-6,
    force_noise: float = 0.0,
    step: float | None = None,
    seed: int = 0,
) -> Measurement:
    """Simulated measurement: encoder positions and drive forces while a controller moves the robot.

    Args:
        robot: with rigid bodies; its friction counts.
        motion: reference of the actuators, at least as long as the simulation.
        controller: as for `simulate`; left out: PD with feed-forward, sampled at `rate`, with encoders of `resolution`.
        rate: samples per second of the measurement and of the default controller.
        resolution: of the encoders [m or rad]; 0 for exact ones.
        force_noise: standard deviation of white noise on the measured forces [N or N m].
        step: of the integration [s]; a quarter of a sample if left out.
        seed: of the noise.
    Returns:
        `Measurement`: time, encoder positions and forces with noise, and the reference.

    Checked by: tests/identification/test_measurement.py.
    """
    refuse(robot, "simulated_measurement")
    if controller is None:
        home = State.at_home(robot)
        m = np.diag(mass_matrix(robot, home, coordinates="actuator").values)
        controller = FeedForwardPD(kp=m * BANDWIDTH**2, kd=1.4 * m * BANDWIDTH, rate=rate, resolution=resolution)
    length = motion.time[-1] - motion.time[0]
    duration = np.floor(length * rate - 1e-9) / rate
    if duration * rate < 10:
        raise InputError(f"motion: {length:g} s are too short for a measurement at {rate:g} samples per second")
    result = simulate(
        robot,
        motion,
        controller=controller,
        duration=float(duration),
        step=step or 0.25 / rate,
        output_step=1.0 / rate,
        progress=False,
    )
    position = result.actuator_position.values
    if resolution > 0:
        position = np.round(position / resolution) * resolution
    force = result.force.values
    random = np.random.default_rng(seed)
    time = result.time.values
    reference = np.column_stack([np.interp(time, motion.time - motion.time[0], q) for q in motion.position.T])
    return Measurement(
        time=time, position=position, force=force + force_noise * random.normal(size=force.shape), reference=reference,
        source=f"simulated measurement of {robot.name}, encoder {resolution:g}, force noise {force_noise:g}",
    )  # fmt: skip
