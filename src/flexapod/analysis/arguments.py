"""What the arguments of verbs are, by name: one table, checked before a verb starts.

Shapes are left to the verbs, which know the robot; here a robot is a robot, a flag a flag, and numbers are numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from flexapod.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")


def _refuse(name: str, expected: str, value: Any) -> None:
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    raise InputError(f"{name}: expected {expected}, got {shown[:80]}")


def check_robot(name: str, value: Any) -> None:
    """Refuse what is no robot."""
    from flexapod.robot.robot import Robot

    if not isinstance(value, Robot):
        raise InputError(f"{name}: expected a Robot, got {type(value).__name__}; flexapod.load gives one")


def _moving(name: str, value: Any) -> None:
    from flexapod.analysis.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion

    if not isinstance(value, State | Motion | ActuatorMotion):
        _refuse(name, "a Motion, an ActuatorMotion or a State", value)


def _state(name: str, value: Any) -> None:
    from flexapod.analysis.state import State

    if value is not None and not isinstance(value, State):
        _refuse(name, "a State", value)


def _guess(name: str, value: Any) -> None:
    if value is not None and not (hasattr(value, "position") and hasattr(value, "rotation")):
        _refuse(name, "a State or an earlier result with position and rotation", value)


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        _refuse(name, "True or False", value)


def _flag_or_none(name: str, value: Any) -> None:
    if value is not None:
        check_flag(name, value)


def _limits(name: str, value: Any) -> None:
    if not isinstance(value, Mapping) and value is not None:
        check_flag(name, value)


def _along(name: str, value: Any) -> None:
    from flexapod.motions.motion import Motion

    if value is not None and not isinstance(value, Motion):
        _refuse(name, "a Motion", value)


def _friction(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_ | str):
        _refuse(name, "True, False or 'constant'", value)


def _text(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        _refuse(name, "a text", value)


def check_texts(name: str, value: Any) -> None:
    """Refuse what is no list of texts; one text is not a list."""
    if isinstance(value, str) or not isinstance(value, Sequence) or any(not isinstance(v, str) for v in value):
        _refuse(name, "a list of texts", value)


def _texts_or_none(name: str, value: Any) -> None:
    if value is not None:
        check_texts(name, value)


def check_number(name: str, value: Any) -> None:
    """Refuse what is neither a number nor None."""
    whole = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if value is not None and not whole:
        _refuse(name, "a number", value)


def _count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        _refuse(name, "a whole number above 0", value)


def _seed(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        _refuse(name, "a whole number, 0 or above", value)


def check_array(name: str, value: Any) -> None:
    """Numbers, a text that a verb knows, a function of time, or a pair (times, values)."""
    if value is None or isinstance(value, str) or callable(value) or (isinstance(value, tuple) and len(value) == 2):
        return
    try:
        kind = np.asarray(value).dtype.kind
    except ValueError as error:
        raise InputError(f"{name}: expected numbers; the rows have different lengths") from error
    if kind not in "iuf":
        _refuse(name, "real numbers", value)


def _mapping(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, Mapping) or any(not isinstance(k, str) for k in value)):
        _refuse(name, "a mapping of names to values", value)


def _parameters(name: str, value: Any) -> None:
    """Paths with values of designs; of derivatives a list of paths."""
    if isinstance(value, Mapping):
        _mapping(name, value)
    else:
        check_texts(name, value)


def _robots(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Sequence):
        _refuse(name, "a list of robots", value)
    for k, robot in enumerate(value):
        check_robot(f"{name}[{k}]", robot)


def _events(name: str, value: Any) -> None:
    from flexapod.simulation.events import Event

    if not isinstance(value, Sequence) or any(not isinstance(event, Event) for event in value):
        _refuse(name, "a list of Events", value)


def _path(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, str | Path) or "\0" in str(value)):
        _refuse(name, "the path of a file", value)


CHECKS: dict[str, Callable[[str, Any], None]] = {
    "robot": check_robot, "robots": _robots, "motion": _moving, "state": _moving, "start": _state, "starts": _state,
    "guess": _guess, "quantity": _text, "quantities": _texts_or_none,
    **dict.fromkeys(("reactions", "joints", "bodies", "prestress", "details", "certify", "sequence"), check_flag),
    "limits": _limits,
    **dict.fromkeys(("strokes", "angles", "singularities", "cut"), check_flag), "region": _mapping, "window": _mapping,
    **dict.fromkeys(("clearance", "condition", "stiffness", "frequency", "mounting", "tilt", "torsion"), check_number),
    **dict.fromkeys(("distance", "undecided"), check_number), **dict.fromkeys(("most", "attempts", "cells", "searches", "population", "generations"), _count),
    "kind": _text, "along": _along, "path": _moving,
    **dict.fromkeys(("progress", "continuation"), _flag_or_none),
    "friction": _friction,
    **dict.fromkeys(("formulation", "axes", "legs", "shares", "coordinates", "on_error", "point", "drive", "method"), _text),
    "assembly": _text,
    **dict.fromkeys(("inputs", "outputs"), check_texts), "parameters": _parameters, "watch": _texts_or_none,
    **dict.fromkeys(("duration", "step", "output_step", "rtol", "atol", "tolerance", "length", "max_condition"), check_number),
    **dict.fromkeys(("block", "threads"), _count), "seed": _seed, "pose": _state,
    **dict.fromkeys(("wrench", "force", "actuators", "elastic", "elastic_velocity", "elastic_acceleration"), check_array),
    **dict.fromkeys(("values", "grid"), _mapping), "events": _events, "save": _path,
}  # fmt: skip
"""Name of an argument -> its check; arguments of one name are of one kind in all verbs."""


SIGNATURES: dict[str, inspect.Signature] = {}
"""Verbs that were loaded, with their arguments."""


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """A verb whose arguments are checked by name before it starts.

    Checked by: tests/analysis/test_call_errors.py.
    """
    signature = SIGNATURES[verb.__name__] = inspect.signature(verb)

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise InputError(f"{verb.__name__}: {error}; it takes {signature}") from None
        for name, value in given.items():
            left_out = value is None and signature.parameters[name].default is None
            if name in CHECKS and not left_out:
                CHECKS[name](name, value)
            if value is None and isinstance(signature.parameters[name].default, float):
                _refuse(name, "a number", value)
        return verb(*args, **kwargs)

    return call
