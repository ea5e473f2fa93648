"""Rates that are not the derivatives of the positions of a motion, by the factor of a unit: positions in mm with speeds in m/s.

Coarse samples, noise and gaps change the ratio of one interval, not that of nearly all of them by the same large factor.
"""

from __future__ import annotations

import numpy as np

from flexapod.motions.motion import ActuatorMotion, Motion

FACTOR = 30.0
"""Ratio of a rate to the differences of its quantity from which it is odd: units differ by 57 (degrees) and more."""
ALIKE = 2.0
"""Factor within which the ratios of the intervals agree where a unit is wrong."""
MOST = 0.8
"""Part of the intervals that agree."""
FEWEST = 10
"""Intervals with motion, below which nothing is said."""
REST = 1e-6
"""Of the largest rate or step, below which an interval is at rest and says nothing."""
PAIRS = (
    ("velocity", "position"), ("acceleration", "velocity"), ("angular_acceleration", "angular_velocity"),
)  # fmt: skip


def odd_rates(motion: Motion | ActuatorMotion) -> str:
    """Which rate is not the derivative of its quantity, and by which factor; empty where they belong together.

    .. math:: r_i = \\|\\tfrac12(v_i + v_{i+1})\\| \\,/\\, \\|(p_{i+1} - p_i) / (t_{i+1} - t_i)\\|

    Checked by: tests/motions/test_odd_rates.py.
    """
    if len(motion) <= FEWEST:
        return ""
    for rate, quantity in PAIRS:
        if not hasattr(motion, rate):
            continue
        v, p = getattr(motion, rate), getattr(motion, quantity)
        given = np.linalg.norm(v[1:] + v[:-1], axis=1) / 2
        seen = np.linalg.norm(np.diff(p, axis=0), axis=1) / np.diff(motion.time)
        if not (np.isfinite(given).all() and np.isfinite(seen).all()):
            continue
        moving = (given > REST * given.max()) & (seen > REST * seen.max())
        if moving.sum() < max(FEWEST, 0.5 * len(given)):
            continue
        ratio = given[moving] / seen[moving]
        middle = float(np.median(ratio))
        agree = np.mean((ratio > middle / ALIKE) & (ratio < middle * ALIKE))
        if agree > MOST and not 1 / FACTOR < middle < FACTOR:
            return f"{rate} is {middle:.2g} times the derivative of {quantity}: are they given in different units?"
    return ""
