"""Vectors, rotations and small solves as CasADi expressions that carry and check their frames."""

from flexapod.spatial.rotation import Rot, axis_angle, rotation_z
from flexapod.spatial.vector import FrameError, Vec, cross, dot, norm

__all__ = ["FrameError", "Rot", "Vec", "axis_angle", "cross", "dot", "norm", "rotation_z"]
