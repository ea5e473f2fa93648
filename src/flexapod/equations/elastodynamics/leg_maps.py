"""Equal legs, evaluated in a loop: the code of six equal legs is that of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.element_loops import Inwards, LoopedLeg, demand_elements, inwards, outwards
from flexapod.equations.elastodynamics.element_values import element_map
from flexapod.kernels.tape.control_flow import Builder

if TYPE_CHECKING:
    from flexapod.equations.values import Values

MADE = ("frames", "axes", "levers", "coordinates", "starts")
"""Fields that `outwards` writes into a leg, and that the code around the loop reads."""


def legs_outwards(b: Builder, legs: Sequence[LoopedLeg], gravity: SX, demand: bool) -> None:
    """`outwards` of legs that are alike.

    Checked by: tests/equations/test_element_loops.py.
    """
    if len(legs) == 1:
        outwards(b, legs[0], gravity, demand)
        return
    made: dict[str, Any] = {}

    def body(builder: Builder, values: Values, q: SX, qd: SX) -> list[SX]:
        own = _first(legs, values, q, qd)
        outwards(builder, own, gravity, demand=False)
        made.update({name: getattr(own, name) for name in MADE})
        return _leaves(made)

    found = _mapped(b, legs, [], body)
    for i, leg in enumerate(legs):
        for name, value in _like(made, iter([part[:, i] for part in found])).items():
            setattr(leg, name, value)


def legs_inwards(b: Builder, legs: Sequence[LoopedLeg], gravity: SX, outside: Sequence[dict[int, SX]]) -> list[Inwards]:
    """`inwards` of legs that are alike. What the elements of a single one demand is known; several are gone through outwards once
    more in the loop, which costs less than to pass on what their elements demand.

    Checked by: tests/equations/test_element_loops.py.
    """
    if len(legs) == 1:
        return [inwards(b, legs[0], outside[0])]
    links = sorted({link for own in outside for link in own})
    result = Inwards()

    def body(builder: Builder, values: Values, q: SX, qd: SX, *wrenches: SX) -> list[SX]:
        nonlocal result
        own = _first(legs, values, q, qd)
        outwards(builder, own, gravity, demand=True)
        demand_elements(builder, [own])
        result = inwards(builder, own, dict(zip(links, wrenches, strict=True)))
        return _leaves(result)

    found = _mapped(b, legs, [ca.horzcat(*[own.get(k, ca.SX.zeros(6)) for own in outside]) for k in links], body)
    return [_like(result, iter([part[:, i] for part in found])) for i in range(len(legs))]


def _first(legs: Sequence[LoopedLeg], values: Values, q: SX, qd: SX) -> LoopedLeg:
    return LoopedLeg(leg=legs[0].leg, values=values, q=q, qd=qd, runs=legs[0].runs, short=legs[0].short)


def _mapped(b: Builder, legs: Sequence[LoopedLeg], each: Sequence[SX], body: Callable[..., Sequence[SX]]) -> tuple[SX, ...]:
    paths = [[f"legs.{leg.leg.name}."] for leg in legs]
    state = [ca.horzcat(*[leg.q for leg in legs]), ca.horzcat(*[leg.qd for leg in legs])]
    return element_map(
        b, [leg.values for leg in legs], paths, [*state, *each], body,
        lambda f, columns: b.map(f, len(legs), each=columns, unroll=False),
    )  # fmt: skip


def _leaves(value: Any) -> list[SX]:
    """All expressions of a structure of dataclasses, dictionaries and lists, each a column."""
    if value is None:
        return []
    if isinstance(value, list):
        return [leaf for part in value for leaf in _leaves(part)]
    if isinstance(value, dict):
        return _leaves(list(value.values()))
    if is_dataclass(value) and not isinstance(value, type):
        return _leaves([getattr(value, field.name) for field in fields(value)])
    return [ca.densify(ca.vec(ca.SX(value)))]


def _like(value: Any, leaves: Iterator[SX]) -> Any:
    """The same structure with other expressions."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_like(part, leaves) for part in value]
    if isinstance(value, dict):
        return {key: _like(part, leaves) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{field.name: _like(getattr(value, field.name), leaves) for field in fields(value)})
    return ca.reshape(next(leaves), *ca.SX(value).shape)
