r"""Friction laws of joints, defined in one place.

A law is a field of `Friction` marked with a `Law`. Its field is the word of the robot file, with unit, limits and documentation;
its `Law` is the formula. The checks of units, the numbers that kernels read, the dynamics, the regressor of identification, the
reference page and the refusals of bridges follow from both.

.. math:: f = -\sum_i k_i\,g_i(|v|)\,v\; - \sum_j k_j\,g_j(|v|)\,s(v)\; - \sum_l k_l\,g_l(|v|)\,N\,s(v)

Letters: v rate of the joint, or its relative angular velocity; s(v) its direction (`equations.friction.direction`); N load of the
joint; k coefficients of the file; g shape of a law, 1 where it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from flexapod.description.schema_flexible import Model
from flexapod.description.units import Force, Fraction, LengthSize, Rate, Viscous, quantity_of

GUIDES = ("prismatic", "cylindrical")
"""Types of joints whose body slides along a guide."""


@dataclass(frozen=True, kw_only=True)
class Law:
    """Formula of a friction law, proportional to its coefficient.

    Args:
        along: ``"rate"``: the force is k g v; ``"direction"``: k g s(v), not smooth at rest with the exact sign.
        shape: g of the speed |v| in plain operators, so that it takes numbers and symbols; None: 1.
        reads: further fields of `Friction` with numbers that the shape takes behind the speed.
        by_load: multiplied by the load N of the joint.
        joints: where it acts: ``"guide"`` along a slide, ``"bearing"`` about axes, ``"any"``.
    """

    along: Literal["rate", "direction"]
    shape: Callable[..., Any] | None = None
    reads: tuple[str, ...] = ()
    by_load: bool = False
    joints: Literal["any", "guide", "bearing"] = "any"

    @property
    def plain(self) -> bool:
        """Viscous, or of constant size: what other programs have too."""
        return self.shape is None and not self.by_load


class Friction(Model):
    """Friction of a joint. Linear joints in N, rotary ones in N m."""

    viscous: Annotated[Viscous, Law(along="rate")] = Field(
        default=0.0, description="force or torque per rate, against the motion"
    )
    coulomb: Annotated[Force, Law(along="direction")] = Field(
        default=0.0, description="constant force or torque against the motion"
    )
    preload: Annotated[Force, Law(along="direction", joints="guide")] = Field(
        default=0.0, description="ball-screw preload over pitch: constant force, N (Kim Eq. 30)"
    )
    normal: Annotated[Fraction, Law(along="direction", by_load=True, joints="guide")] = Field(
        default=0.0, description="Coulomb coefficient times the guide's normal force (Kim mu_s)"
    )
    normal_rule: Literal["abs_sum", "norm", "literal"] = Field(
        default="abs_sum",
        description="normal force from its two guide components: |u.N|+|v.N|, their norm, or u.N - v.N as printed",
    )
    reaction: Annotated[LengthSize, Law(along="direction", by_load=True, joints="bearing")] = Field(
        default=0.0, description="moment per newton of joint reaction, m (Kim k_u, k_p)"
    )
    direction: Literal["vector", "per_axis"] = Field(
        default="vector",
        description="reaction moment against the relative angular velocity, or per joint axis",
    )
    speed: Rate | None = Field(default=None, description="sign(v) becomes tanh(v/speed); leave out for the exact sign")

    def given(self, *, by_load: bool | None = None) -> tuple[str, ...]:
        """Laws whose coefficient is not zero: all, or only those that depend, or do not, on the load of the joint."""
        return tuple(name for name, law in LAWS.items() if getattr(self, name) and by_load in (None, law.by_load))

    def numbers(self) -> dict[str, float]:
        """Numbers of the file: coefficients, and the further values of shapes and directions."""
        found = {name: getattr(self, name) for name, field in type(self).model_fields.items() if quantity_of(field)}
        return {name: float(value) for name, value in found.items() if value is not None}

    def plain(self, along: Literal["rate", "direction"]) -> float:
        """Sum of the coefficients of viscous laws, or of laws of constant size."""
        return float(sum(getattr(self, name) for name, law in LAWS.items() if law.plain and law.along == along))


def _laws() -> dict[str, Law]:
    marks = {name: [m for m in field.metadata if isinstance(m, Law)] for name, field in Friction.model_fields.items()}
    return {name: found[0] for name, found in marks.items() if found}


LAWS = _laws()
"""Coefficient in the robot file -> its law."""


def friction_unit(name: str, linear: bool) -> str:
    """SI unit of a number of `Friction` at a joint that slides (`linear`) or rotates; empty where it has none."""
    quantity = quantity_of(Friction.model_fields[name])
    assert quantity is not None
    first, *second = quantity.unit.split(" or ")
    unit = first if linear or not second else quantity.also or second[0]
    return "" if unit == "1" else unit
