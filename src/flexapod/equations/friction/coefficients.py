"""Friction coefficients of a joint as parameters of a kernel: ``legs.A.rail.friction.viscous``, ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flexapod.arrays import SX, Scalar
from flexapod.equations.values import Values
from flexapod.robot.model import LAWS, Friction, friction_unit

SPEED = 1e-3
"""Speed [m/s, rad/s] of the tanh law where the robot file gives none: the exact sign has no solution at rest."""


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Friction of a joint.

    Args:
        numbers: coefficients of the laws that act at the joint, and what their shapes read, by name in the file.
        speed: of the tanh law; None for the exact sign.
        rule: normal force of a guide (see `guide_load`).
        per_axis: moments per joint axis instead of along the relative angular velocity.
    """

    numbers: Mapping[str, SX]
    speed: Scalar | None = None
    rule: str = "abs_sum"
    per_axis: bool = False

    @property
    def load(self) -> Scalar:
        """Coefficient by which friction grows with the joint's load: `normal` of a guide, `reaction` of a bearing."""
        return sum(k for name, k in self.numbers.items() if name in LAWS and LAWS[name].by_load)


def read_coefficients(values: Values, joint: str, friction: Friction, linear: bool) -> Coefficients:
    """The coefficients of a joint.

    Args:
        values: below ``legs.<name>.``.
        joint: its name in the file.
        friction: `Link.friction` or `Closing.friction`, of which only rules are used: numbers stay parameters.
        linear: a guide, not a bearing.
    """

    def read(key: str) -> SX:
        return values.program.parameter(f"{values.prefix}{joint}.friction.{key}", unit=friction_unit(key, linear))

    other = "bearing" if linear else "guide"
    names = [name for name, law in LAWS.items() if law.joints != other]
    more = dict.fromkeys(key for name in names for key in LAWS[name].reads)
    return Coefficients(
        numbers={name: read(name) for name in (*names, *more)},
        speed=read("speed") if friction.speed is not None else None,
        rule=friction.normal_rule,
        per_axis=friction.direction == "per_axis",
    )


def smoothed(c: Coefficients) -> Coefficients:
    """The coefficients with a speed."""
    return replace(c, speed=SPEED) if c.speed is None else c
