"""Monodromy: all solutions of a generic member of a family, from one or a few of them.

The parameters go round random closed loops; paths of known solutions come back to others. The loops act transitively on an
irreducible component of the solutions, never between components: seeds are needed in each (operation modes of a robot).

Generic start systems, members of a family with random complex parameters and all their solutions, are found so once and kept in
`analysis/data/`; the command that makes them is ``python tools/make_start_systems.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise

import numpy as np

from flexapod.analysis.poses.path_tracking import ARRIVED, Tracker, TrackingControl, projective_gap
from flexapod.arrays import Complex

SAME = 1e-10
"""Squared sine of the angle below which two solutions are one."""


def monodromy(
    tracker: Tracker,
    p: Complex,
    seeds: Complex,
    member: Callable[[], Complex],
    *,
    quiet: int = 8,
    limit: int = 100,
    expected: int | None = None,
) -> tuple[Complex, int]:
    """All solutions that loops reach.

    Args:
        p: (m,) parameters of the base point.
        seeds: (s, n) solutions there.
        member: random parameters (m,) of the family.
        quiet: loops without a new solution after which the search ends.
        limit: largest number of loops.
        expected: end as soon as there are so many.
    Returns:
        Solutions (n_s, n), and the number of loops at the end that found nothing new.

    Checked by: tests/analysis/test_assembly_modes.py.
    """
    known, silent = seeds, 0
    for _ in range(limit):
        corners = [p, member(), member(), p]
        x = known
        for source, target in pairwise(corners):
            rows = np.zeros(len(x), dtype=np.int64)
            ends = tracker.track(x, source[None], target[None], TrackingControl(correction=1e-3), rows=rows)
            x = ends.x[(ends.code == ARRIVED) & (ends.last < SAME)]
        before = len(known)
        known = distinct(np.concatenate([known, x]))
        silent = silent + 1 if len(known) == before else 0
        if silent >= quiet or len(known) == expected:
            break
    return known, silent


def distinct(x: Complex) -> Complex:
    """Solutions, each once, in order."""
    near = projective_gap(x, x) < SAME
    first = near.argmax(axis=1)
    return np.asarray(x[first == np.arange(len(x))])


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSolutions:
    """Parameters p (m,) and all solutions x (n, unknowns)."""

    p: Complex
    x: Complex


@functools.cache
def load_start(family: str) -> KnownSolutions:
    """The stored start system of a family."""
    file = resources.files("flexapod") / "analysis" / "data" / f"{family}.npz"
    with file.open("rb") as stream, np.load(stream) as data:
        return KnownSolutions(p=data["p"], x=data["x"])
