"""`Robot`: bodies, joints, legs, platform, loops, coordinates and parameters, resolved from a robot file."""

from flexapod.robot.catalogue import load
from flexapod.robot.robot import Robot

__all__ = ["Robot", "load"]
