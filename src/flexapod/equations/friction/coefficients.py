"""Friction coefficients of a joint as parameters of a kernel: ``legs.A.rail.friction.viscous``, ..."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flexapod.equations.values import Values

UNITS = {
    "linear": {"viscous": "N s/m", "coulomb": "N", "preload": "N", "normal": "", "reaction": "m", "speed": "m/s"},
    "rotary": {"viscous": "N m s", "coulomb": "N m", "preload": "N", "normal": "", "reaction": "m", "speed": "rad/s"},
}


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Friction of a joint.

    Args:
        viscous: per rate.
        coulomb: constant force or moment.
        preload: constant force of a ball screw.
        load: what multiplies the joint's load: `normal` of a guide, `reaction` of a bearing.
        speed: of the tanh law; None for the exact sign.
        rule: normal force of a guide (see `guide_load`).
        per_axis: moments per joint axis instead of along the relative angular velocity.
    """

    viscous: Any
    coulomb: Any
    preload: Any
    load: Any
    speed: Any
    rule: str
    per_axis: bool


def read_coefficients(values: Values, joint: str, friction: Any, linear: bool) -> Coefficients:
    """The coefficients of a joint.

    Args:
        values: below ``legs.<name>.``.
        joint: its name in the file.
        friction: `Link.friction` or `Closing.friction`, of which only rules are used: numbers stay parameters.
        linear: a guide, not a bearing.
    """
    units = UNITS["linear" if linear else "rotary"]

    def read(key: str) -> Any:
        return values.program.parameter(f"{values.prefix}{joint}.friction.{key}", unit=units[key])

    return Coefficients(
        viscous=read("viscous"),
        coulomb=read("coulomb"),
        preload=read("preload") if linear else 0,
        load=read("normal") if linear else read("reaction"),
        speed=read("speed") if friction.speed is not None else None,
        rule=friction.normal_rule,
        per_axis=friction.direction == "per_axis",
    )
