"""Forces on the platform summed on the basis (1, D1, D2): of its own inertia and weight, and of the legs at its joints."""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.platform_levers import Coordinates, Levers, PseudoInertia
from flexapod.equations.minimal.vectors import Scalar, Triple, add, combine, scale, times, total


def load(row: Sequence[Scalar], levers: Levers, a: Triple, weight: Triple) -> Triple:
    """U_k of the platform: a row of its pseudo-inertia on p'', W1, W2, W3, plus a weight."""
    return add(combine(row, (a, *levers.W, levers.W3)), weight)


def load_on_normal(body: PseudoInertia, levers: Levers, a: Triple, gravity: Triple) -> Triple:
    """U_3 from p'' less gravity: first moment along the platform's normal and products with it."""
    return add(combine(body.normal, (a, *levers.W)), scale(body.weightless_normal, gravity))


def with_legs(U: Sequence[Triple], plan: MinimalPlan, places: Sequence[Coordinates], forces: Sequence[Triple]) -> list[Triple]:
    """U_0, U_1, U_2 (and U_3) with the forces of the legs at their joints; legs with one joint are summed first."""
    names = plan.platform_joints
    at = {name: _sum([h for n, h in zip(names, forces, strict=True) if n == name]) for name in names}
    weights = {name: (1, *place, 0) for name, place in zip(names, places, strict=True)}
    return [_sum([U[k], *(_scaled(weights[name][k], h) for name, h in at.items())]) for k in range(len(U))]


def _sum(vectors: Sequence[Triple]) -> Triple:
    return total(v[0] for v in vectors), total(v[1] for v in vectors), total(v[2] for v in vectors)


def _scaled(w: Scalar, h: Triple) -> Triple:
    x, y, z = (0 if _is_zero(entry) else times(w, entry) for entry in h)
    return x, y, z


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, int) and x == 0
