"""Motions: what the platform or the actuators are asked to do over time.

Names are loaded on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flexapod.motions.motion import ActuatorMotion, Motion

if TYPE_CHECKING:
    from .actuator_paths import actuator_polygon, joint_square
    from .combine import concatenate, offset, resample, reverse, shifted, slowed
    from .coordinates import (
        constant_acceleration_motion,
        coordinate_motion,
        harmonic_motion,
        motion_from_coordinates,
        one_minus_cos,
    )
    from .encoder_filter import low_pass
    from .from_file import MotionFileError, motion_from_file
    from .papers import (
        dualemps_circle,
        dualemps_circle_tip,
        dualemps_square,
        kim_circle,
        kim_constant_acceleration,
        sinatra_motion,
        staicu_motion,
    )
    from .paths import circle, line
    from .phase_laws import constant_acceleration, s_curve, trapezoidal
    from .pose_path import through_poses
    from .presets import describe_motion, motion_names, named_motion
    from .quaternions import (
        quat_wxyz_motion,
        quat_wxyz_rotation,
        quat_xyzw_rotation,
        rotation_quat_wxyz,
        rotation_quat_xyzw,
    )
    from .rotations import euler_motion, euler_rotation, rotation_rotvec, rotvec_motion, rotvec_rotation
    from .schedule import LAWS
    from .shapers import Shaper, shaped, shaper
    from .splines import actuator_spline, platform_spline
    from .time_laws import (
        TimeLaw,
        constant_speed,
        cosine,
        cycloidal,
        harmonic,
        minimum_jerk,
        polynomial,
        quintic,
        septic,
    )
    from .to_file import motion_to_file

_HOME = {
    "actuator_paths": ("actuator_polygon", "joint_square"),
    "combine": ("concatenate", "offset", "resample", "reverse", "shifted", "slowed"),
    "coordinates": (
        "constant_acceleration_motion", "coordinate_motion", "harmonic_motion", "motion_from_coordinates", "one_minus_cos",
    ),
    "from_file": ("MotionFileError", "motion_from_file"),
    "encoder_filter": ("low_pass",),
    "papers": (
        "dualemps_circle", "dualemps_circle_tip", "dualemps_square", "kim_circle", "kim_constant_acceleration",
        "sinatra_motion", "staicu_motion",
    ),
    "paths": ("circle", "line"),
    "presets": ("describe_motion", "motion_names", "named_motion"),
    "quaternions": (
        "quat_wxyz_motion", "quat_wxyz_rotation", "quat_xyzw_rotation", "rotation_quat_wxyz", "rotation_quat_xyzw",
    ),
    "rotations": ("euler_motion", "euler_rotation", "rotation_rotvec", "rotvec_motion", "rotvec_rotation"),
    "phase_laws": ("constant_acceleration", "s_curve", "trapezoidal"),
    "schedule": ("LAWS",),
    "shapers": ("Shaper", "shaped", "shaper"),
    "splines": ("actuator_spline", "platform_spline"),
    "pose_path": ("through_poses",),
    "time_laws": (
        "TimeLaw", "constant_speed", "cosine", "cycloidal", "harmonic", "minimum_jerk", "polynomial", "quintic", "septic",
    ),
    "to_file": ("motion_to_file",),
}  # fmt: skip
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "LAWS",
    "ActuatorMotion",
    "Motion",
    "MotionFileError",
    "Shaper",
    "TimeLaw",
    "actuator_polygon",
    "actuator_spline",
    "circle",
    "concatenate",
    "constant_acceleration",
    "constant_acceleration_motion",
    "constant_speed",
    "coordinate_motion",
    "cosine",
    "cycloidal",
    "describe_motion",
    "dualemps_circle",
    "dualemps_circle_tip",
    "dualemps_square",
    "euler_motion",
    "euler_rotation",
    "harmonic",
    "harmonic_motion",
    "joint_square",
    "kim_circle",
    "kim_constant_acceleration",
    "line",
    "low_pass",
    "minimum_jerk",
    "motion_from_coordinates",
    "motion_from_file",
    "motion_names",
    "motion_to_file",
    "named_motion",
    "offset",
    "one_minus_cos",
    "platform_spline",
    "polynomial",
    "quat_wxyz_motion",
    "quat_wxyz_rotation",
    "quat_xyzw_rotation",
    "quintic",
    "resample",
    "reverse",
    "rotation_quat_wxyz",
    "rotation_quat_xyzw",
    "rotation_rotvec",
    "rotvec_motion",
    "rotvec_rotation",
    "s_curve",
    "septic",
    "shaped",
    "shaper",
    "shifted",
    "sinatra_motion",
    "slowed",
    "staicu_motion",
    "through_poses",
    "trapezoidal",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
