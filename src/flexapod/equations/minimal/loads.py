"""Forces on the platform summed on the basis (1, D1, D2): of its own inertia and weight, and of the legs at its joints."""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.equations.minimal.platform_levers import Levers, Place, PseudoInertia
from flexapod.equations.minimal.vectors import Scalar, Triple, add, combine, times, total


def load(row: Sequence[Scalar], levers: Levers, a: Triple, weight: Triple) -> Triple:
    """U_k of the platform: a row of its pseudo-inertia on p'', W1, W2, W3, plus a weight."""
    return add(combine(row, (a, *levers.W, levers.W3)), weight)


def load_on_normal(body: PseudoInertia, levers: Levers, a: Triple) -> Triple:
    """U_3: first moment along the platform's normal and products with it."""
    return combine(body.normal, (a, *levers.W))


def with_legs(U: Sequence[Triple], places: Sequence[Place], forces: Sequence[Triple]) -> list[Triple]:
    """U_0, U_1, U_2 with the forces of the legs at their joints."""
    return [_with(U[k], [(1, *place)[k] for place in places], forces) for k in range(3)]


def _with(U: Triple, weights: Sequence[Scalar], forces: Sequence[Triple]) -> Triple:
    x, y, z = (
        total([U[i], *(times(w, h[i]) for w, h in zip(weights, forces, strict=True) if not _is_zero(h[i]))]) for i in range(3)
    )
    return x, y, z


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, int) and x == 0


def area(place: Place, slope: Place) -> Scalar:
    """Moment about the vertical, u Y - v X; nothing at the origin."""
    if _is_zero(place[0]) and _is_zero(place[1]):
        return 0
    return place[0] * slope[1] - place[1] * slope[0]
