"""Motions: what the platform or the actuators are asked to do over time."""

from flexapod.motions.motion import ActuatorMotion, Motion

__all__ = ["ActuatorMotion", "Motion"]
