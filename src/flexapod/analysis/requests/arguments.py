"""Checks of the arguments of verbs, by name: one table, applied before a verb starts.

Shapes are left to the verbs, which know the robot; here a robot is a robot, a flag a flag, and numbers are numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.requests.state_rules import check_given
from flexapod.arrays import given_array
from flexapod.calls import (
    CHECKS,
    SIGNATURES,
    TOGETHER,
    Check,
    check_count,
    check_dataset,
    check_flag,
    check_number,
    check_path,
    check_seed,
    check_texts,
    checked,
    made,
    refuse_kind,
)
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

__all__ = [
    "CHECKS",
    "SIGNATURES",
    "check_array",
    "check_flag",
    "check_motion",
    "check_number",
    "check_path",
    "check_robot",
    "check_start",
    "check_states",
    "check_texts",
    "checked",
    "made",
    "scalar_parameter",
]


def check_robot(name: str, value: object) -> None:
    """Refuse what is not a robot."""
    from flexapod.robot.robot import Robot

    if not isinstance(value, Robot):
        raise InputError(f"{name}: expected a Robot, got {type(value).__name__}; flexapod.load gives one")


def _moving(name: str, value: object) -> None:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion

    if not isinstance(value, State | Motion | ActuatorMotion):
        refuse_kind(name, "a Motion, an ActuatorMotion or a State", value)


def _state(name: str, value: object) -> None:
    from flexapod.analysis.requests.state import State

    if value is not None and not isinstance(value, State):
        refuse_kind(name, "a State", value)


def check_states(name: str, value: object) -> None:
    """Refuse what is not poses."""
    from flexapod.analysis.requests.state import State

    if not isinstance(value, State):
        refuse_kind(name, "poses (a State)", value)


def _poses(name: str, value: object) -> None:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion

    if value is not None and not isinstance(value, State | Motion):
        refuse_kind(name, "poses (a State) or a Motion", value)


def check_motion(name: str, value: object) -> None:
    """Refuse what is not a motion."""
    from flexapod.motions.motion import ActuatorMotion, Motion

    if not isinstance(value, Motion | ActuatorMotion):
        refuse_kind(name, "a Motion or an ActuatorMotion", value)


def check_start(name: str, value: object) -> None:
    """Refuse what is neither a State nor an ActuatorMotion nor None."""
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion

    if value is not None and not isinstance(value, State | ActuatorMotion):
        refuse_kind(name, "a State or an ActuatorMotion", value)


def _guess(name: str, value: object) -> None:
    if value is not None and not (hasattr(value, "position") and hasattr(value, "rotation")):
        refuse_kind(name, "a State or an earlier result with position and rotation", value)


def _flag_or_none(name: str, value: object) -> None:
    if value is not None:
        check_flag(name, value)


def _limits(name: str, value: object) -> None:
    if not isinstance(value, Mapping) and value is not None:
        check_flag(name, value)


def _along(name: str, value: object) -> None:
    from flexapod.motions.motion import Motion

    if value is not None and not isinstance(value, Motion):
        refuse_kind(name, "a Motion", value)


def _friction(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_ | str):
        refuse_kind(name, "True, False or 'constant'", value)


def _text(name: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        refuse_kind(name, "a text", value)


def _texts_or_none(name: str, value: object) -> None:
    if value is not None:
        check_texts(name, value)


def scalar_parameter(robot: Robot, path: str) -> float:
    """The number at a path of `parameters`; vectors are refused."""
    value = robot.parameter(path)
    if isinstance(value, tuple):
        raise InputError(f"parameters: '{path}' is a vector; name a component, e.g. '{path}.x'")
    return float(value)


def check_array(name: str, value: object) -> None:
    """Numbers, a text that a verb knows, a function of time, or a pair (times, values)."""
    if value is None or isinstance(value, str) or callable(value) or (isinstance(value, tuple) and len(value) == 2):
        return
    if given_array(name, value).dtype.kind not in "iuf":
        refuse_kind(name, "real numbers", value)


def _mapping(name: str, value: object) -> None:
    if value is not None and (not isinstance(value, Mapping) or any(not isinstance(k, str) for k in value)):
        refuse_kind(name, "a mapping of names to values", value)


def _parameters(name: str, value: object) -> None:
    """Paths with values of designs; of derivatives a list of paths."""
    if isinstance(value, Mapping):
        _mapping(name, value)
    else:
        check_texts(name, value)


def _robots(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, Sequence):
        refuse_kind(name, "a list of robots", value)
    for k, robot in enumerate(value):
        check_robot(f"{name}[{k}]", robot)


KINDS: dict[str, Check] = {
    "robot": check_robot, "robots": _robots, "motion": _moving, "state": _moving, "start": _state, "starts": _state,
    "guess": _guess, "at": _poses, "quantity": _text, "quantities": _texts_or_none,
    **dict.fromkeys(("reactions", "joints", "bodies", "prestress", "details", "certify", "sequence"), check_flag),
    "limits": _limits,
    **dict.fromkeys(("strokes", "angles", "singularities", "cut"), check_flag), "region": _mapping, "window": _mapping,
    **dict.fromkeys(("clearance", "condition", "stiffness", "frequency", "mounting", "tilt", "torsion"), check_number),
    **dict.fromkeys(("distance", "undecided"), check_number), "result": check_dataset,
    **dict.fromkeys(("most", "attempts", "cells", "searches", "population", "generations"), check_count),
    "kind": _text, "along": _along, "path": _moving,
    **dict.fromkeys(("progress", "continuation"), _flag_or_none),
    "friction": _friction,
    **dict.fromkeys(("formulation", "axes", "legs", "contributions", "coordinates", "on_error"), _text),
    **dict.fromkeys(("point", "drive", "method"), _text),
    "assembly": _text,
    **dict.fromkeys(("inputs", "outputs"), check_texts), "parameters": _parameters, "watch": _texts_or_none,
    **dict.fromkeys(("duration", "step", "output_step", "rtol", "atol", "tolerance", "length", "max_condition"), check_number),
    **dict.fromkeys(("block", "threads"), check_count), "seed": check_seed, "pose": _state,
    **dict.fromkeys(("wrench", "force", "actuators", "elastic", "elastic_velocity", "elastic_acceleration"), check_array),
    **dict.fromkeys(("values", "grid"), _mapping), "save": check_path,
}  # fmt: skip
"""Name of an argument -> its check; arguments of one name are of one kind in all verbs."""

CHECKS.update(KINDS)
TOGETHER.append(check_given)
