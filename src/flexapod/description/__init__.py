"""The robot file: schema, reading, writing, and problems that say where and what next."""

from __future__ import annotations

from flexapod.description.problems import Problem, RobotFileError, RobotFileWarning
from flexapod.description.read import Description, description_from_document, read_robot_file, read_robot_text

__all__ = [
    "Description",
    "Problem",
    "RobotFileError",
    "RobotFileWarning",
    "description_from_document",
    "read_robot_file",
    "read_robot_text",
]
