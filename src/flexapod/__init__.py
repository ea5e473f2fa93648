"""flexapod: kinematics, dynamics, simulation and design of parallel robots, rigid and flexible.

Names are loaded on first use, so that importing the package costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flexapod import flexible, motions
    from flexapod.analysis.cartesian_stiffness import cartesian_stiffness
    from flexapod.analysis.check_pose import check_motion, check_pose
    from flexapod.analysis.conditioning import conditioning, jacobian
    from flexapod.analysis.count_table import CountRow, CountTable, count_table
    from flexapod.analysis.derivatives import inverse_dynamics_derivatives
    from flexapod.analysis.fit_motion import MotionNotFittedError, fit_motion
    from flexapod.analysis.flexible_kinematics import deformation
    from flexapod.analysis.forward_dynamics import coriolis_force, energy, forward_dynamics, gravity_force, mass_matrix
    from flexapod.analysis.forward_kinematics import forward_kinematics
    from flexapod.analysis.generate import Generated, OperatorCount, generate
    from flexapod.analysis.internal_dynamics import internal_dynamics
    from flexapod.analysis.inverse_dynamics import inverse_dynamics
    from flexapod.analysis.inverse_kinematics import inverse_kinematics
    from flexapod.analysis.kernels import export_c, kernel
    from flexapod.analysis.linearize import StateSpace, linearize
    from flexapod.analysis.natural_frequencies import natural_frequencies
    from flexapod.analysis.platform_motion import platform_motion
    from flexapod.analysis.point_motion import point_motion
    from flexapod.analysis.sizing import actuator_sizing
    from flexapod.analysis.state import State
    from flexapod.analysis.static_deflection import static_deflection
    from flexapod.analysis.workspace import workspace
    from flexapod.description.json_schema import json_schema
    from flexapod.description.problems import RobotFileError, RobotFileWarning
    from flexapod.description.read import description_from_document, read_robot_file
    from flexapod.description.write import robot_text, write_robot_file
    from flexapod.errors import FlexapodError, InputError
    from flexapod.kernels.cache import cache_entries, cache_folder, clear_cache
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot, catalogue, load
    from flexapod.simulation.controllers import PD, PID, ComputedTorque, FeedForwardPD, JointControl, Springs
    from flexapod.simulation.dense import run_at
    from flexapod.simulation.events import Event
    from flexapod.simulation.simulate import simulate
    from flexapod.simulation.store import open, save
    from flexapod.simulation.study import simulate_study
    from flexapod.views import figures

__version__ = "0.1.0"

_HOME = {
    "actuator_sizing": "analysis.sizing",
    "deformation": "analysis.flexible_kinematics",
    "natural_frequencies": "analysis.natural_frequencies",
    "cartesian_stiffness": "analysis.cartesian_stiffness",
    "linearize": "analysis.linearize",
    "StateSpace": "analysis.linearize",
    "internal_dynamics": "analysis.internal_dynamics",
    "static_deflection": "analysis.static_deflection",
    "inverse_dynamics_derivatives": "analysis.derivatives",
    "inverse_dynamics": "analysis.inverse_dynamics",
    "energy": "analysis.forward_dynamics",
    "coriolis_force": "analysis.forward_dynamics",
    "gravity_force": "analysis.forward_dynamics",
    "mass_matrix": "analysis.forward_dynamics",
    "forward_dynamics": "analysis.forward_dynamics",
    "fit_motion": "analysis.fit_motion",
    "MotionNotFittedError": "analysis.fit_motion",
    "check_motion": "analysis.check_pose",
    "check_pose": "analysis.check_pose",
    "conditioning": "analysis.conditioning",
    "forward_kinematics": "analysis.forward_kinematics",
    "jacobian": "analysis.conditioning",
    "platform_motion": "analysis.platform_motion",
    "point_motion": "analysis.point_motion",
    "workspace": "analysis.workspace",
    "json_schema": "description.json_schema",
    "RobotFileError": "description.problems",
    "RobotFileWarning": "description.problems",
    "description_from_document": "description.read",
    "read_robot_file": "description.read",
    "robot_text": "description.write",
    "write_robot_file": "description.write",
    "cache_entries": "kernels.cache",
    "cache_folder": "kernels.cache",
    "clear_cache": "kernels.cache",
    "FlexapodError": "errors",
    "InputError": "errors",
    "ActuatorMotion": "motions.motion",
    "Motion": "motions.motion",
    "Robot": "robot.robot",
    "State": "analysis.state",
    "catalogue": "robot.robot",
    "export_c": "analysis.kernels",
    "generate": "analysis.generate",
    "count_table": "analysis.count_table",
    "CountRow": "analysis.count_table",
    "CountTable": "analysis.count_table",
    "Generated": "analysis.generate",
    "OperatorCount": "analysis.generate",
    "inverse_kinematics": "analysis.inverse_kinematics",
    "kernel": "analysis.kernels",
    "load": "robot.robot",
    "simulate": "simulation.simulate",
    "run_at": "simulation.dense",
    "simulate_study": "simulation.study",
    "save": "simulation.store",
    "open": "simulation.store",
    "Event": "simulation.events",
    "PD": "simulation.controllers",
    "PID": "simulation.controllers",
    "FeedForwardPD": "simulation.controllers",
    "ComputedTorque": "simulation.controllers",
    "Springs": "simulation.controllers",
    "JointControl": "simulation.controllers",
}

__all__ = [
    "PD",
    "PID",
    "ActuatorMotion",
    "ComputedTorque",
    "CountRow",
    "CountTable",
    "Event",
    "FeedForwardPD",
    "FlexapodError",
    "Generated",
    "InputError",
    "JointControl",
    "Motion",
    "MotionNotFittedError",
    "OperatorCount",
    "Robot",
    "RobotFileError",
    "RobotFileWarning",
    "Springs",
    "State",
    "StateSpace",
    "actuator_sizing",
    "cache_entries",
    "cache_folder",
    "cartesian_stiffness",
    "catalogue",
    "check_motion",
    "check_pose",
    "clear_cache",
    "conditioning",
    "coriolis_force",
    "count_table",
    "deformation",
    "description_from_document",
    "energy",
    "export_c",
    "figures",
    "fit_motion",
    "flexible",
    "forward_dynamics",
    "forward_kinematics",
    "generate",
    "gravity_force",
    "internal_dynamics",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_kinematics",
    "jacobian",
    "json_schema",
    "kernel",
    "linearize",
    "load",
    "mass_matrix",
    "motions",
    "natural_frequencies",
    "open",
    "platform_motion",
    "point_motion",
    "read_robot_file",
    "robot_text",
    "run_at",
    "save",
    "simulate",
    "simulate_study",
    "static_deflection",
    "workspace",
    "write_robot_file",
]


def __getattr__(name: str) -> Any:
    if name in ("flexible", "motions"):
        return importlib.import_module(f"flexapod.{name}")
    if name == "figures":
        return importlib.import_module("flexapod.views.figures")
    if name not in _HOME:
        raise AttributeError(f"module 'flexapod' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"flexapod.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
