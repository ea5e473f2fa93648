r"""Delay between forces and positions: the shift at which the forces fit best.

.. math:: \hat\tau = \arg\min_\tau\;\min_\beta\;|y(t+\tau) - Y(t)\beta|^2
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.identification.bad_data import first_part
from flexapod.identification.base_parameters import BaseParameters
from flexapod.identification.measurement import Measurement
from flexapod.identification.problem import EstimationProblem, Options, experiment
from flexapod.identification.signals import shifted, used

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

REACH = 20
"""Samples by which the channel may lag or lead."""


def find_delay(robot: Robot, data: Measurement, options: Options, base: BaseParameters) -> float:
    """Seconds by which the force channel lags behind the positions (negative: leads).

    The regressor is evaluated once; its residual is a quadratic form in the shifted forces. Whole samples first, then the
    parabola through the three best. Of long data the first 60 000 samples are looked at.

    Checked by: tests/identification/test_signals.py.
    """
    data = first_part(data)
    one = experiment(robot, data, replace(options, delay=0.0, drop_outliers=False, least_speed=0.0), None, None)
    problem = EstimationProblem(
        model=base.model.keeping(base.names), experiments=[one], options=replace(options, offset=True, backlash=False)
    )
    problem.set_loads(robot)
    every = list(problem.blocks(None))
    Y = np.concatenate([block[0] for block in every])
    Q, _ = np.linalg.qr(Y.reshape(-1, Y.shape[2]))
    part, d = used(data, options.cutoff), options.decimate
    step = float(np.mean(np.diff(data.time)))

    def misfit(delay: float) -> float:
        drive = shifted(data.time, data.drive, delay)[part]
        drive = drive if options.gain is None else drive * options.gain
        blocks = [
            drive[k : k + len(block[0]) * d]
            for k, block in zip(np.cumsum([0, *(len(b[0]) * d for b in every)]), every, strict=False)
        ]
        y = np.concatenate([b.reshape(-1, d, b.shape[1]).mean(axis=1) for b in blocks]).ravel()
        return float(y @ y - np.sum((Q.T @ y) ** 2))

    shifts = np.arange(-REACH, REACH + 1) * step
    values = np.array([misfit(s) for s in shifts])
    k = int(np.clip(np.argmin(values), 1, len(values) - 2))
    low, mid, high = values[k - 1 : k + 2]
    bend = low - 2 * mid + high
    return float(shifts[k] + (0.5 * (low - high) / bend * step if bend > 0 else 0.0))
