"""Inputs of kernels: random states that a robot can take, repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexapod.analysis.verbs.sampling import random_leg_states, random_states

STATES = 500
SIZES = {"elastic": 0.01, "elastic_velocity": 0.1, "force": 100.0}
"""Of random numbers that are no part of a state drawn."""


def random_inputs(kernel: Any, samples: int, robot: Any = None) -> dict[str, np.ndarray]:
    """Arrays (samples, ...) by the names of a kernel's inputs; forces, loads and elastic coordinates are normal random numbers.

    Args:
        robot: whose states are drawn; left out, the kernel's.
    """
    robot, random = robot or kernel.robot, np.random.default_rng(1)
    states = (random_leg_states if robot.elastic_legs else random_states)(robot, STATES, 1)
    rows, given = np.arange(samples) % STATES, {}
    for i in kernel.signature.inputs:
        known = states.get(i.name)
        values = SIZES.get(i.name, 1.0) * random.normal(size=(samples, *i.shape)) if known is None else known[rows]
        given[i.name] = np.ascontiguousarray(values)
    return given
