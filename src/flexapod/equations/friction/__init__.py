"""Friction of joints from the laws of `description.friction` (Kim & Ryu 2002 Eqs. 30-31, Briot & Khalil 2014 Eq. 27)."""

from flexapod.equations.friction.coefficients import SPEED, Coefficients, read_coefficients, smoothed
from flexapod.equations.friction.joint_friction import axis_friction, vector_friction
from flexapod.equations.friction.sliding import bearing_load, guide_load

__all__ = [
    "SPEED", "Coefficients", "axis_friction", "bearing_load", "guide_load", "read_coefficients", "smoothed", "vector_friction",
]  # fmt: skip
