"""The robot file: schema, reading, writing, and problems with their place and a hint."""

from __future__ import annotations

from flexapod.description.parameters import (
    ParameterError,
    ParameterInfo,
    get_parameter,
    list_parameters,
    set_parameters,
)
from flexapod.description.problems import Problem, RobotFileError, RobotFileWarning
from flexapod.description.read import Description, description_from_document, read_robot_file, read_robot_text
from flexapod.description.write import robot_text, write_robot_file

__all__ = [
    "Description",
    "ParameterError",
    "ParameterInfo",
    "Problem",
    "RobotFileError",
    "RobotFileWarning",
    "description_from_document",
    "get_parameter",
    "list_parameters",
    "read_robot_file",
    "read_robot_text",
    "robot_text",
    "set_parameters",
    "write_robot_file",
]
