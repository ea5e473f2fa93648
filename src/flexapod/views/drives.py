"""Actuators in a study of vibration: springs given by the user, locked, free, or assumed springs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flexapod as fp
from flexapod.views.output import number

ASSUMED = {"m": 1e7, "rad": 1e5}
"""Stiffness of a drive where a rigid robot has nothing elastic and none is given [N/m, N m/rad]: that of a small ball screw or a
geared motor with its mounting, an order of magnitude to start from. It is named wherever it is used."""


@dataclass(frozen=True, kw_only=True)
class Drives:
    """Actuators in a study of vibration.

    Args:
        actuators: as `flexapod.natural_frequencies` takes it: ``"locked"``, ``"free"`` or stiffness per actuator.
        label: the same for people.
        assumed: nobody gave the stiffness.
    """

    actuators: Any
    label: str
    assumed: bool = False


def chosen_drives(
    robot: fp.Robot,
    stiffness: float | Mapping[str, float] | None = None,
    *,
    free: bool = False,
    hint: str = "--stiffness gives yours",
) -> Drives:
    """The drives that a user asked for; left open: locked where the robot is elastic, else springs that are assumed.

    Args:
        stiffness: of every actuator [N/m or N m/rad], or by unit as in `ASSUMED`; a unit that is left out is assumed.
        hint: how the user gives another one.
    Raises:
        InputError: more than one choice.
    Checked by: tests/views/test_frequency_map.py.
    """
    if free and stiffness is not None:
        raise fp.InputError("--free: leave it out where a stiffness is given")
    if free:
        return Drives(actuators="free", label="actuators free")
    if stiffness is None and robot.elastic_names:
        return Drives(actuators="locked", label="actuators locked")
    units = robot.actuator_units
    given = stiffness if isinstance(stiffness, Mapping) else {} if stiffness is None else dict.fromkeys(units, stiffness)
    springs = [given.get(unit, ASSUMED[unit]) for unit in units]
    sizes = dict(zip(units, springs, strict=True))
    sizes_text = " and ".join(f"{number(k)} {'N/m' if unit == 'm' else 'N m/rad'}" for unit, k in sizes.items())
    if all(unit in given for unit in units):
        return Drives(actuators=springs, label=f"drives of {sizes_text}")
    return Drives(actuators=springs, label=f"drives of {sizes_text} (assumed; {hint})", assumed=True)
