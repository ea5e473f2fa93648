"""Checks shared by the tests of motions: derivatives against finite differences, with the order they must have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flexapod.motions import ActuatorMotion, Motion
from flexapod.rotation_arrays import skew

ORDER = 2.0
"""Central differences: the error falls with the square of the step."""

ORDER_SLACK = 0.25
"""The next term of the error shifts the observed order a little."""

ROUNDING = 100 * np.finfo(float).eps
"""Relative rounding of the values that are differenced; divided by the step it is the floor of the comparison."""


def check_order(function: Callable[[Any], Any], derivative: Any, t: np.ndarray, h: float, what: str) -> None:
    """The derivative agrees with central differences of the function, with second order, over all times together."""

    def error(step: float) -> float:
        return float(np.abs((function(t + step) - function(t - step)) / (2 * step) - derivative).max())

    coarse, fine = error(h), error(h / 2)
    floor = ROUNDING * max(1.0, float(np.abs(function(t)).max())) / h
    if coarse <= floor and fine <= 2 * floor:
        return  # differences are exact for these
    order = np.log2(coarse / fine)
    assert abs(order - ORDER) < ORDER_SLACK, f"{what}: errors {coarse:.3g} and {fine:.3g}, order {order:.2f} instead of 2"


def check_law(law: Any, *, h: float | None = None, count: int = 40) -> None:
    """s' and s'' of a time law, at times that keep away from its breaks."""
    step = 2e-3 * law.duration if h is None else h
    t = away(np.linspace(0, law.duration, count + 2)[1:-1] + 0.01234 * law.duration / count, law, 3 * step)
    assert len(t) > count / 4
    _, sd, sdd = law(t)
    check_order(lambda x: law(x)[0], sd, t, step, f"{law.name} s'")
    check_order(lambda x: law(x)[1], sdd, t, step, f"{law.name} s''")


def away(t: np.ndarray, law: Any, gap: float) -> np.ndarray:
    """Times further than the gap from the ends and breaks of a law."""
    edges = np.array([0.0, law.duration, *law.breaks])
    return t[np.abs(t[:, None] - edges).min(axis=1) > gap]


def check_motion(motion: Motion | ActuatorMotion, t: np.ndarray, h: float) -> None:
    """All derivatives of a motion's formula; rotation by R' = [w] R."""
    formula = motion.formula
    assert formula is not None
    here = formula(t)
    check_order(lambda x: formula(x).position, here.velocity, t, h, "velocity")
    check_order(lambda x: formula(x).velocity, here.acceleration, t, h, "acceleration")
    if isinstance(here, Motion):
        check_order(lambda x: formula(x).rotation, skew(here.angular_velocity) @ here.rotation, t, h, "angular velocity")
        check_order(lambda x: formula(x).angular_velocity, here.angular_acceleration, t, h, "angular acceleration")


def same(a: Motion | ActuatorMotion, b: Motion | ActuatorMotion, tolerance: float) -> None:
    """Two motions agree in every array, relative to the largest entry of each quantity or 1."""
    names = ["time", "position", "velocity", "acceleration"]
    if isinstance(a, Motion):
        names += ["rotation", "angular_velocity", "angular_acceleration"]
    for name in names:
        x, y = getattr(a, name), getattr(b, name)
        assert x.shape == y.shape, name
        scale = max(1.0, float(np.abs(y).max()))
        assert np.abs(x - y).max() <= tolerance * scale, f"{name}: off by {np.abs(x - y).max():.3g}"
