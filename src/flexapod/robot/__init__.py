"""`Robot`: bodies, joints, legs, platform, loops, coordinates and parameters, resolved from a robot file."""

from flexapod.robot.robot import Robot, load

__all__ = ["Robot", "load"]
