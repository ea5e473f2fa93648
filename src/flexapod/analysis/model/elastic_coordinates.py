"""Elastic coordinates of a flexible robot: as given to the verb, or the quasi-static deflection.

A robot is flexible here where its platform is (`robot.flexible_platform`). Arrays are (n, N) in the order of
`robot.elastic_names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.flexible_equilibrium import solve_static
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    from flexapod.analysis.model.flexible_load import FlexibleLoad
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

CHOICES = ("static", "zero", "simulate")


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticCoordinates:
    """Coordinates and rates (n, N), and how they were found: ``"given"``, ``"static"``, ``"zero"``, ``"simulate"``."""

    elastic: Array
    elastic_velocity: Array
    source: str


def refuse_elastic(robot: Robot, *given: object) -> None:
    """A rigid robot has no elastic coordinates."""
    if any(value is not None for value in given):
        raise InputError(f"elastic: {robot.name} is rigid and has no elastic coordinates; leave it out")


def elastic_state(
    robot: Robot,
    motion: Motion | State,
    inputs: dict[str, Array],
    load: FlexibleLoad,
    reasons: Reasons,
    *,
    elastic: ArrayLike | None = None,
    elastic_velocity: ArrayLike | None = None,
) -> ElasticCoordinates:
    """Elastic coordinates of a request.

    Args:
        inputs: pose, twist and acceleration of the platform (n, ...).
        reasons: per sample; those of deflections that are not found are added.
        elastic: array (N,) or (n, N), ``"static"``, ``"zero"``, ``"simulate"``, or None: the state's own, else static.
        elastic_velocity: array like `elastic`; zero if left out.
    """
    count, names = len(inputs["position"]), robot.elastic_names
    if elastic is None and isinstance(motion, State) and motion.elastic is not None:
        if elastic_velocity is not None:
            raise InputError("elastic_velocity: the state has its own; give elastic as well to replace both")
        elastic, elastic_velocity = motion.elastic, motion.elastic_velocity
    source = elastic_source(elastic, elastic_velocity)
    if elastic is None or source != "given":
        return _chosen(robot, motion, inputs, load, source, reasons)
    rates = np.zeros_like(np.asarray(elastic, dtype=float)) if elastic_velocity is None else elastic_velocity
    e, ed = (elastic_array(name, value, count, len(names)) for name, value in (("elastic", elastic), ("elastic_velocity", rates)))
    return ElasticCoordinates(elastic=e, elastic_velocity=ed, source="given")


def elastic_source(elastic: ArrayLike | None, elastic_velocity: ArrayLike | None) -> str:
    """How elastic coordinates are found: ``"given"`` as arrays, or one of `CHOICES`, which chooses the rates itself."""
    if elastic is not None and not isinstance(elastic, str):
        return "given"
    chosen = "static" if elastic is None else elastic
    if chosen not in CHOICES:
        raise InputError(f"elastic: expected an array or one of {', '.join(map(repr, CHOICES))}, got {chosen!r}")
    if elastic_velocity is not None:
        raise InputError(f"elastic_velocity: elastic={chosen!r} chooses the rates itself; give both as arrays")
    return chosen


def elastic_array(name: str, value: ArrayLike, count: int, modes: int) -> Array:
    """(n, N) from (N,) for all samples or (n, N)."""
    array = np.asarray(value)
    if array.ndim not in (1, 2) or array.shape[-1] != modes or (array.ndim == 2 and array.shape[0] != count):
        shapes = f"({modes},) or ({count}, {modes})"
        raise InputError(f"{name}: expected shape {shapes}, one entry per elastic coordinate, got {array.shape}")
    return np.array(np.broadcast_to(real_array(name, array, array.shape), (count, modes)))


def _chosen(
    robot: Robot, motion: StateOrMotion, inputs: dict[str, Array], load: FlexibleLoad, chosen: str, reasons: Reasons
) -> ElasticCoordinates:
    from flexapod.analysis.model.elastic_motion import simulate_elastic

    none = np.zeros((len(inputs["position"]), len(robot.elastic_names)))
    if chosen == "zero":
        return ElasticCoordinates(elastic=none, elastic_velocity=none.copy(), source=chosen)
    if chosen == "simulate":
        e, ed = simulate_elastic(robot, motion, load)
        return ElasticCoordinates(elastic=e, elastic_velocity=ed, source=chosen)
    return ElasticCoordinates(elastic=solve_static(robot, inputs, load, reasons).elastic, elastic_velocity=none, source=chosen)
