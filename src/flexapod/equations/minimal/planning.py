"""Choices made before a minimal kernel is written, and whether the minimal equations apply at all.

The equations rely on facts that numbers must have (legs axisymmetric about their axis, crosses balanced; see `applies`) and on
choices that numbers suggest: which joints carry the basis, which legs are eliminated first, whether joints lie in a plane
or coincide, which universal axes are horizontal. A kernel may be shared by all sets of numbers to which the equations
apply with equal plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.equations.minimal.conditions import level, reasons, spins
from flexapod.errors import InputError
from flexapod.robot.geometry import ROUNDING
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.robot.varied_numbers import value_of

Axis = Literal["x", "y", "inclined", "none"]
"""First universal axis: horizontal and nearer to x or to y, inclined, or without effect (P-U-S legs without spin)."""
GOOD = 0.6 - 1e-9
"""Triangles and lever pairs of at least this part of the largest area are as good as the largest."""
EVEN = 1.0 - 1e-9
"""Of two lengths with at least this ratio, none is the larger: a choice between them does not depend on rounding."""

SCALARS = (".S.", ".U.", "platform.mass", "platform.inertia.", "platform.first_moment.")
"""Numbers that designs may vary in the minimal equations; coinciding joints and level planes are those of all designs."""


def applies(robot: Robot) -> str | None:
    """None if the minimal equations hold for this robot with these numbers, else the first reason why not.

    Checked by: tests/equations/test_minimal.py.
    """
    if "minimal" not in robot.kept:
        robot.kept["minimal"] = next(reasons(robot) if robot.varied is None else _varied_reasons(robot), None)
    found: str | None = robot.kept["minimal"]
    return found


def _varied_reasons(robot: Robot) -> Iterator[str]:
    """Reasons why the equations do not hold for all designs; `ill_conditioned_designs` has those for which they lose accuracy."""
    assert robot.varied is not None
    if any(not any(part in name for part in SCALARS) for name in robot.varied.moved if not _unused(name)):
        yield "its designs vary more than platform and joint centres"
    found = next((reason for design in robot.varied.robots if (reason := applies(design)) is not None), None)
    if found is not None:
        yield found
    elif len({plan(design) for design in robot.varied.robots}) > 1:
        yield "its designs need different choices"


def _unused(name: str) -> bool:
    """The number belongs to the general chain or to angles, which the minimal equations do not read."""
    return name == "characteristic_length" or any(p in name for p in (".n0.", ".y0.", ".p.", ".R.", ".home", ".zero", ".points."))


@dataclass(frozen=True, kw_only=True)
class MinimalPlan:
    """Choices that a minimal kernel is written for; hashable, so that it can be part of a kernel's key.

    Args:
        architecture: of all legs.
        legs: names in file order.
        branches: root that each P-U-S leg takes; 0 for U-P-S.
        platform_joints: per leg, the leg whose S it reads (its own, or one with the same centre).
        base_joints: per leg, the leg whose U it reads.
        flat_platform: the platform joints lie in one plane parallel to the platform's x and y axes.
        flat_base: the base joints lie in one horizontal plane; always so for P-U-S, which does not ask.
        levers: two legs whose platform joints span the basis.
        triangle: three legs that the solve eliminates first.
        axes: per leg, kind of its first universal axis.
        side: sign of z of the legs (U-P-S), or of the z component of the platform's normal (P-U-S).
        driven: per leg, name of its actuated coordinate.
    """

    architecture: Literal["UPS", "PUS"]
    legs: tuple[str, ...]
    branches: tuple[int, ...]
    platform_joints: tuple[str, ...]
    base_joints: tuple[str, ...]
    flat_platform: bool
    flat_base: bool
    levers: tuple[int, int]
    triangle: tuple[int, int, int]
    axes: tuple[Axis, ...]
    side: int
    driven: tuple[str, ...]


def plan(robot: Robot, *, coincident: bool = True) -> MinimalPlan:
    """The plan for a robot.

    Args:
        robot: a robot to which the minimal equations apply.
        coincident: joints with exactly the same centre are read once. The kernel then supports only robots whose
            joints coincide in the same way; otherwise it supports all robots with the same choices.

    Raises:
        InputError: the equations do not apply; says why.
    Checked by: tests/equations/test_minimal.py.
    """
    reason = applies(robot)
    if reason is not None:
        raise InputError(f"the minimal equations do not apply to {robot.name}: {reason}; use another formulation")
    key = ("minimal plan", coincident)
    if key not in robot.kept:
        robot.kept[key] = _plan(robot, coincident)
    found: MinimalPlan = robot.kept[key]
    return found


def _plan(robot: Robot, coincident: bool) -> MinimalPlan:
    values, legs = robot.values, robot.legs
    names = tuple(leg.name for leg in legs)
    S, U = (np.array([[values[f"legs.{n}.{k}.{i}"] for i in "xyz"] for n in names]) for k in ("S", "U"))
    architecture = legs[0].architecture
    assert architecture in ("UPS", "PUS")
    shared_S = _shared(names, S, robot.size) if coincident else names
    shared_U = _shared(names, U, robot.size) if coincident else names
    levers = _levers(S[:, :2], shared_S)
    tall = (robot.home.position + S @ robot.home.rotation.T - U)[:, 2] if architecture == "UPS" else robot.home.rotation[2, 2:]
    points, shared = (U[:, :2], shared_U) if architecture == "UPS" else (S[:, :2], shared_S)
    return MinimalPlan(
        architecture=architecture,
        legs=names,
        branches=tuple(leg.branch if architecture == "PUS" else 0 for leg in legs),
        platform_joints=shared_S,
        base_joints=shared_U,
        flat_platform=level(S[:, 2], robot.size),
        flat_base=architecture == "PUS" or level(U[:, 2], robot.size),
        levers=levers,
        triangle=_triangle(points, shared),
        axes=tuple(_axis(values, leg) for leg in legs),
        side=1 if tall[0] > 0 else -1,
        driven=tuple(next(k.coordinate for k in leg.links if k.actuated) for leg in legs),
    )


POOR = 0.05
"""Area of levers or triangle, of that in the design by which they were chosen, below which a design takes other equations."""


def ill_conditioned_designs(robot: Robot, rows: slice) -> np.ndarray:
    """Designs among `rows` of a robot with varied values in which the chosen levers or the triangle of the solve are too small.

    Checked by: tests/analysis/test_designs.py.
    """
    assert robot.varied is not None
    like = robot.varied.robots[0]
    chosen, bad = plan(like), np.zeros(len(range(robot.varied.count)[rows]), dtype=bool)
    triangle = ("U" if chosen.architecture == "UPS" else "S", chosen.triangle)
    for kind, legs in (("S", chosen.levers), triangle):
        names = [[f"legs.{chosen.legs[k]}.{kind}.{i}" for i in "xy"] for k in legs]
        if any(name in robot.varied.moved for pair in names for name in pair):
            values = [[value_of(robot, name) for name in pair] for pair in names]
            own = _area([[v[rows] if isinstance(v, np.ndarray) else v for v in pair] for pair in values])
            bad |= own < POOR * _area([[like.values[name] for name in pair] for pair in names])
    return bad


def _area(corners: Sequence[Sequence[float | Array]]) -> float | Array:
    """Twice the area of a triangle, with the origin as the third corner of two."""
    (ax, ay), (bx, by), (cx, cy) = corners if len(corners) == 3 else ((0.0, 0.0), *corners)
    return np.abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))


def _shared(names: Sequence[str], points: np.ndarray, size: float) -> tuple[str, ...]:
    """The first leg with the same point (up to rounding), per leg."""
    return tuple(next(n for n, p in zip(names, points, strict=True) if np.abs(p - q).max() <= ROUNDING * size) for q in points)


def _axis(values: Mapping[str, float], leg: Leg) -> Axis:
    if leg.architecture == "PUS" and not spins(values, leg):
        return "none"
    x, y, z = (values[f"legs.{leg.name}.axis1.{k}"] for k in "xyz")
    return "inclined" if z != 0 else "x" if abs(x) >= EVEN * abs(y) else "y"


def _levers(S: np.ndarray, shared: Sequence[str]) -> tuple[int, int]:
    """The pair of joints that leaves the fewest coordinates to be multiplied, of those that span a good area."""
    area = {pair: abs(S[pair[0]][0] * S[pair[1]][1] - S[pair[0]][1] * S[pair[1]][0]) for pair in combinations(range(6), 2)}
    largest = max(area.values())

    def cost(pair: tuple[int, int]) -> int:
        i, j = pair
        work = 3 * int(np.count_nonzero(S[i]) ** 2 + np.count_nonzero(S[j]) ** 2)
        for k, s in enumerate(S):
            if shared[k] not in (shared[i], shared[j]):
                work += 12 * sum(bool(s[0] * S[m][1] or s[1] * S[m][0]) for m in pair)
        return work

    return min((pair for pair in area if area[pair] >= GOOD * largest), key=lambda pair: (cost(pair), pair))


def _triangle(points: np.ndarray, shared: Sequence[str]) -> tuple[int, int, int]:
    """A large triangle, and its corner from which most other joints differ in few coordinates."""

    def area(corners: tuple[int, ...]) -> float:
        a, b, c = points[list(corners)]
        return abs(float((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0]))

    def cost(corners: tuple[int, int, int]) -> int:
        a = corners[0]
        return sum(int(np.count_nonzero(np.abs(points[j]) + np.abs(points[a]))) for j in range(6) if shared[j] != shared[a])

    triples = list(combinations(range(6), 3))
    largest = max(map(area, triples))
    rotated = [t[k:] + t[:k] for t in triples if area(t) >= GOOD * largest for k in range(3)]
    return min(rotated, key=lambda t: (cost(t), t))  # type: ignore[arg-type, return-value]
