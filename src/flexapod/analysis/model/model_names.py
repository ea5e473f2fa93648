"""Names in a written model: entries of inputs and outputs, spelled as in the robot file.

Coordinates get their own names: ``q12`` for its position, ``q12_dot`` for its rate, ``q12_ddot`` for its acceleration. The name
of the leg comes before it where two legs use the same one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexapod.kernels.tape.signature import Signature
    from flexapod.robot.robot import Robot

POSITIONS = ("joint_position", "guess")
RATES = ("joint_velocity",)
ELASTIC = {"elastic": "", "elastic_velocity": "_dot", "elastic_acceleration": "_ddot"}
ACTUATORS = ("force", "power", "actuator_position", "actuator_velocity", "actuator_acceleration")


def meanings(robot: Robot, signature: Signature) -> dict[str, str]:
    """Entry of an input or output -> coordinate or actuator in the robot file."""
    from flexapod.kernels.text.statements import entries

    found: dict[str, str] = {}
    for name, shape in [(i.name, i.shape) for i in signature.inputs] + [(o.name, o.shape) for o in signature.outputs]:
        labels = _labels(robot, name)
        if shape == (len(labels),):
            found.update(zip(entries(name, shape), labels, strict=True))
    return found


def short_names(robot: Robot, signature: Signature) -> dict[str, str]:
    """Entry of an input -> name of a coordinate as an identifier."""
    from flexapod.kernels.text.statements import entries

    ends = {**dict.fromkeys(POSITIONS, ""), **dict.fromkeys(RATES, "_dot"), **ELASTIC}
    found: dict[str, str] = {}
    for i in signature.inputs:
        labels = _labels(robot, i.name)
        if i.name in ends and i.shape == (len(labels),):
            names = [identifier(label) + ends[i.name] for label in _shortest(labels)]
            found.update(zip(entries(i.name, i.shape), names, strict=True))
    return found


def identifier(label: str, prefix: str = "q") -> str:
    """A name that C takes: `13.u` is `q_13_u`, `q12` stays, `3-prs` with the prefix `robot` is `robot_3_prs`."""
    name = re.sub(r"\W", "_", label, flags=re.ASCII)
    return name if name[:1].isalpha() else f"{prefix}_{name}"


def _labels(robot: Robot, name: str) -> tuple[str, ...]:
    if name in ACTUATORS:
        return robot.actuators
    if name in ELASTIC:
        return robot.elastic_names
    return robot.coordinates if name in (*POSITIONS, *RATES) else ()


def _shortest(labels: tuple[str, ...]) -> list[str]:
    """Labels without the name of their leg where they are unique without it."""
    short = [label.partition(".")[2] or label for label in labels]
    return [s if short.count(s) == 1 else label for s, label in zip(short, labels, strict=True)]
