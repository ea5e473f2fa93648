"""Friction laws of joints, one per file (Kim & Ryu 2002 Eqs. 30-31, Briot & Khalil 2014 Eq. 27)."""

from flexapod.equations.friction.coefficients import Coefficients, read_coefficients
from flexapod.equations.friction.joint_friction import axis_friction, vector_friction
from flexapod.equations.friction.normal_force import guide_load
from flexapod.equations.friction.reaction_moment import bearing_load

__all__ = ["Coefficients", "axis_friction", "bearing_load", "guide_load", "read_coefficients", "vector_friction"]
