"""Random wrong calls of every public verb: types, shapes, values and options that no one would give on purpose."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp

RESULTS = (
    "BaseParameters", "Calibration", "CountRow", "CountTable", "Generated", "Identification", "ImportedBody", "Locus",
    "OperatorCount", "Optimum", "Paving", "PosePath", "Robot", "StateSpace", "Stepper", "Study", "TimeOptimal", "WorkspaceSolid",
)  # fmt: skip
"""Classes that verbs return; users do not make them."""

LEFT_OUT = ("cache_entries", "clear_cache", "export_fmu")
"""Callables that are not called at random: they read all of the cache, empty that of the other tests, and start a compiler."""

PARTS = ("flexible.beam", "flexible.from_modes", "flexible.material", "flexible.plate", "flexible.save_modes")
"""Callables of `flexapod.flexible` that read, write or solve."""

METHODS = ("Robot.parameter", "Robot.with_parameters", "Robot.with_flexible_body", "Robot.with_payload", "State.from_actuators")
"""Methods with arguments that users write."""


def public_callables() -> tuple[str, ...]:
    """Every name of the package that users call, with the methods and parts listed here."""
    found = []
    for name in fp.__all__:
        value = getattr(fp, name)
        if callable(value) and not (isinstance(value, type) and issubclass(value, Exception | Warning)):
            found.append(name)
    return (*(n for n in found if n not in (*RESULTS, *LEFT_OUT)), *PARTS, *METHODS)


VERBS = public_callables()
NAN, INF = float("nan"), float("inf")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 2.5, -0.0, NAN, INF, 1e300, 1e-300, 10**30, 1j, "", "x", "static", "zero", "mask", "raise",
    "world", "platform", "locked", "free", "force", "actuators", "radau", b"bytes", (), [], {}, set(), object(), Ellipsis, print,
    lambda *a: NAN, lambda t: np.zeros((len(np.atleast_1d(t)), 2)), Path("nowhere"), [1, 2, 3], [[1], [2, 3]], [NAN] * 2,
    np.zeros(2), np.zeros(3), np.zeros(6), np.zeros((2, 2)), np.zeros((0, 3)), np.zeros((3, 3, 3)), np.full(6, NAN),
    np.full(6, INF), np.array("a"), np.array(["a", "b"]), np.array([object()]), np.zeros(2, dtype=complex),
    np.ones(2, dtype=bool), np.eye(3), -np.eye(3), np.datetime64("2020-01-01"), range(3), slice(None), {"x": (0, 1, 2)},
    {"x": NAN}, {1: 2}, ("force", "wrench"), (1, 2),
)  # fmt: skip
"""Values that are drawn for any argument."""


def good(robot: fp.Robot) -> tuple[Any, ...]:
    """Right values of some arguments, so that the checks of the other, wrong ones are reached."""
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    rows = np.tile(q, (3, 1))
    at = {"position": np.tile(robot.home.position, (3, 1)), "rotation": np.tile(robot.home.rotation, (3, 1, 1))}
    none = {k: np.zeros((3, 3)) for k in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")}
    return (
        fp.State(position=robot.home.position, rotation=robot.home.rotation),
        fp.Motion(time=[0.0, 1e-3, 2e-3], **at, **none),
        fp.ActuatorMotion(time=[0.0, 1e-3, 2e-3], position=rows, velocity=0 * rows, acceleration=0 * rows),
        q,
        fp.State(position=[NAN, 0.0, 0.0]),
        fp.State(position=[9.0, 9.0, 9.0]),
        fp.State(position=np.zeros((0, 3))),
        fp.State(position=robot.home.position, rotation=robot.home.rotation, elastic=np.zeros(2)),
    )


SMALL = {
    "duration": 2e-3, "step": 1e-3, "grid": {"x": (0.0, 0.1, 2)}, "progress": False, "count": 4, "samples": 2, "plan": 4,
    "searches": 1, "resolution": 8, "attempts": 20, "intervals": 20, "cells": 8, "passes": 2, "poses": 2, "most": 50,
    "threads": 1, "period": 1.0, "rate": 100.0, "harmonics": 1, "limit": 100.0,
}  # fmt: skip
"""Options that keep calls short where nothing else is drawn."""

LONG = ("count", "samples", "plan", "resolution", "attempts", "intervals", "cells", "passes", "most", "poses", "period", "rate")
"""Options whose right numbers may take minutes: whole numbers above 0 are not drawn for them."""


def calls(robots: list[fp.Robot], count: int, seed: int) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Random calls: verb, arguments, options."""
    random = np.random.default_rng(seed)
    pools = [(robot, good(robot)) for robot in robots]

    def draw(pool: tuple[Any, ...]) -> Any:
        return pool[int(random.integers(len(pool)))]

    for _ in range(count):
        verb = draw(VERBS)
        robot, known = pools[int(random.integers(len(pools)))]
        arguments: list[Any] = []
        options: dict[str, Any] = {}
        for name, p in inspect.signature(callable_of(verb)).parameters.items():
            if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                continue
            if name == "save":
                continue
            if name == "self":
                arguments.append(robot)
                continue
            value = draw(known) if random.random() < 0.5 else draw(VALUES)
            if name in ("robot", "robots") and random.random() < 0.95:
                value = robot if name == "robot" else [robot]
            if name in LONG and is_number(value) and value > 0 and value != INF:
                value = SMALL[name]
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                if name not in ("robot",) and random.random() < 0.6:
                    value = draw(known)
                arguments.append(value)
            elif p.default is p.empty or random.random() < 0.25:
                options[name] = value
            elif name in SMALL:
                options[name] = SMALL[name]
        if any(is_number(options.get(k)) for k in ("step", "duration", "output_step")):
            options |= {k: v for k, v in SMALL.items() if k in ("step", "duration")}  # valid, but they would take long
            options.pop("output_step", None)
        if verb == "count_table":
            options["quantities"] = draw(VALUES[1:])  # all quantities take a minute
        yield verb, tuple(arguments), options


def callable_of(verb: str) -> Any:
    """The callable of a dotted name."""
    found: Any = fp
    for part in verb.split("."):
        found = getattr(found, part)
    return found


def is_number(value: Any) -> bool:
    """Whether the value is a number and no flag."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def outcome(verb: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """The unexpected exception of a call; None for a result or a FlexapodError."""
    try:
        callable_of(verb)(*arguments, **options)
    except fp.FlexapodError:
        return None
    except Exception as error:
        import traceback

        last = traceback.extract_tb(error.__traceback__)
        ours = [f for f in last if "flexapod" in f.filename][-1:]
        where = f"{Path(ours[0].filename).name}:{ours[0].lineno}" if ours else "?"
        shown = {k: repr(v)[:60] for k, v in options.items()}
        return f"{verb}{tuple(repr(a)[:40] for a in arguments)} {shown}: {type(error).__name__}: {str(error)[:120]} at {where}"
    return None
