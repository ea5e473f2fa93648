"""Operation modes of any robot: all complex poses at generic actuators, found once per robot.

At random complex actuators the solutions are collected from home, from random starts (which fall into every operation mode) and
by monodromy. Loops of the actuators join solutions of one mode and never two: the modes are what they leave apart. The trace test
then shows whether the lists of these modes are complete.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.poses.complex_loops import ComplexLoops, Points, join
from flexapod.analysis.poses.loop_paths import (
    SAME,
    complex_normal,
    distinct,
    polished,
    pose_keys,
    random_solutions,
    reach,
    solutions_near_real_rotations,
    track_paths,
)
from flexapod.analysis.poses.rigid_chains import rigid_chain
from flexapod.arrays import Complex

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

REGULAR = 1e-7
"""Smallest relative singular value of a solution that counts as isolated."""

STARTS = 240
"""Random starts of Newton's method at the generic actuators."""

CANDIDATES = 8
"""Generic actuators of which the best are taken."""

QUIET = 4
"""Loops without new solutions after which monodromy ends; at most LOOPS."""

LOOPS = 40

SILENT = 12
"""Loops that join no two groups of solutions after which these count as operation modes; at most MERGES."""

MERGES = 60

LARGEST = 24
"""Solutions up to which the trace test is made by a call: more take minutes."""


@dataclass(frozen=True, kw_only=True)
class Generic:
    """Solutions at generic actuators.

    Args:
        q: (actuators,) complex.
        x: the solutions.
        mode: (N,) operation mode; 0 is the one of home.
        translational: per mode: the platform does not rotate in it.
        quiet: loops at the end that brought nothing new.
        degree: points of a slice in the trace test that was passed; 0 where it was not, -1 where it was not made.
    """

    q: Complex
    x: Points
    mode: NDArray[np.int64]
    translational: tuple[bool, ...]
    quiet: int
    degree: int = -1


_KNOWN: dict[str, tuple[ComplexLoops, Generic]] = {}


def fingerprint(robot: Robot) -> str:
    """Name of a robot's geometry: equal for robots whose joints, undeformed, are equal to nine digits."""
    parts: list[str] = []

    def add(*values: ArrayLike) -> None:
        for value in values:
            numbers = np.round(np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel(), 9) + 0.0
            parts.append(" ".join(f"{x:.9f}" for x in numbers))

    for leg in map(rigid_chain, robot.legs):
        for link in leg.links:
            parts.append(f"{link.kind} {link.parent} {link.actuated}")
            add(link.placement.position, link.placement.rotation, link.zero)
        for closing in (leg.closing, *leg.cuts):
            to = "" if closing.to is None else f" {closing.to}"
            parts.append(f"{closing.type} {closing.link}{to}")
            add(closing.on_link.position, closing.on_link.rotation, closing.on_platform.position, closing.on_platform.rotation)
        for coupling in leg.couplings:
            parts.append(f"{coupling.terms}")
            add(coupling.home)
        add(leg.home)
    add(robot.home.position, robot.home.rotation, robot.characteristic_length)
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]


def generic_solutions(robot: Robot) -> tuple[ComplexLoops, Generic]:
    """Solutions at generic actuators: stored with the package, or found once per robot and kept."""
    key = fingerprint(robot)
    if key not in _KNOWN:
        loops = ComplexLoops(robot)
        _KNOWN[key] = loops, _stored(loops, key) or search(loops)
        while len(_KNOWN) > 16:
            _KNOWN.pop(next(iter(_KNOWN)))
    return _KNOWN[key]


def _stored(loops: ComplexLoops, key: str) -> Generic | None:
    """The stored solutions, if there are any and they solve this robot's equations."""
    file = resources.files("flexapod") / "analysis" / "data" / f"loops-{key}.npz"
    if not file.is_file():
        return None
    with file.open("rb") as stream, np.load(stream) as data:
        x = Points(p=data["p"], R=data["R"], q=data["joints"])
        mode, still, quiet, q, degree = data["mode"], data["translational"], int(data["quiet"]), data["q"], int(data["degree"])
    x, good, _ = polished(loops, x, 3)
    found = Generic(q=q, x=x, mode=mode, translational=tuple(map(bool, still)), quiet=quiet, degree=degree)
    return found if good.all() else None


def traced_solutions(robot: Robot) -> Generic:
    """Generic solutions, as `generic_solutions` has them, after the trace test; for robots with more than `LARGEST` solutions
    the test is made only when they are stored."""
    loops, generic = generic_solutions(robot)
    if generic.degree < 0 and len(generic.x) <= LARGEST:
        generic = _traced(loops, generic)
        _KNOWN[fingerprint(robot)] = loops, generic
    return generic


def _traced(loops: ComplexLoops, generic: Generic) -> Generic:
    """The solutions after a trace test of each operation mode, which may find some more."""
    from flexapod.analysis.poses.trace_test import trace_test

    tests = [trace_test(loops, generic.q, generic.x.at(generic.mode == m)) for m in range(len(generic.translational))]
    x = distinct(loops, join(generic.x, *(test.x for test in tests)))
    if len(x) > len(generic.x):
        generic = _grouped(loops, generic.q, x, np.random.default_rng(4))
    return replace(generic, degree=sum(test.degree for test in tests) if all(test.complete for test in tests) else 0)


def store(robot: Robot, folder: Path) -> Path:
    """Find the generic solutions of a robot and write them to a folder; tools/make_start_systems.py does so for the catalogue."""
    loops = ComplexLoops(robot)
    found = _traced(loops, search(loops))
    path = folder / f"loops-{fingerprint(robot)}.npz"
    np.savez_compressed(
        path, q=found.q, p=found.x.p, R=found.x.R, joints=found.x.q, mode=found.mode,
        translational=np.array(found.translational), quiet=found.quiet, degree=found.degree,
    )  # fmt: skip
    return path


def search(loops: ComplexLoops) -> Generic:
    """Solutions at random complex actuators, sorted by operation mode."""
    random = np.random.default_rng(3)
    home = loops.home.q[0, loops.driven]
    q = home + reach(loops) * complex_normal(random, len(home))
    first, arrived = track_paths(loops, loops.home, home, q)
    x = distinct(loops, _usable(loops, join(first.at(arrived), random_solutions(loops, q, STARTS, random))))
    others = [home + reach(loops) * complex_normal(random, len(home)) for _ in range(CANDIDATES)]
    x, q = solutions_near_real_rotations(loops, x, q, others)
    return _grouped(loops, q, x, random)


def _grouped(loops: ComplexLoops, q: Complex, x: Points, random: np.random.Generator) -> Generic:
    """Solutions completed by monodromy and sorted by operation mode."""
    group, quiet = np.arange(len(x)), 0
    for _ in range(LOOPS):  # all solutions go round: new ones are found
        if quiet >= QUIET:
            break
        before = len(x)
        x, group = _round(loops, q, x, group, np.arange(len(x)), random)
        quiet = quiet + 1 if len(x) == before else 0
    silent = 0
    for _ in range(MERGES):  # one of each group goes round: groups are found to be one
        labels, some = np.unique(group, return_index=True)
        if len(labels) == 1 or silent >= SILENT:
            break
        x, group = _round(loops, q, x, group, some, random)
        silent = silent + 1 if len(np.unique(group)) == len(labels) else 0
    return _labelled(loops, q, x, group, quiet)


def _round(
    loops: ComplexLoops, q: Complex, x: Points, group: NDArray[np.int64], index: NDArray[np.int64], random: np.random.Generator
) -> tuple[Points, NDArray[np.int64]]:
    """Some solutions after a random triangle of the actuators, joined to the known ones.

    Equations know angles by e^{iq} only: loops that end a revolution away are closed as well, and without them one operation mode
    can fall apart (of the 14 poses of a mode of the 3-RSR, triangles alone join no two).
    """
    home = loops.home.q[0, loops.driven]
    revolution = 2.0 * np.pi * random.integers(-1, 2, len(home)) * loops.rotating[loops.driven]
    corners = [q, *(home + reach(loops) * complex_normal(random, len(home)) for _ in range(2)), q + revolution]
    start = x.at(index)
    for source, target in pairwise(corners):
        start, arrived = track_paths(loops, start, source, target)
        start, index = start.at(arrived), index[arrived]
    start.q[:, loops.driven] = q
    start, good, _ = polished(loops, start, 2)
    good &= loops.aligned(start)
    return _joined(loops, x, group, start.at(good), index[good])


def _usable(loops: ComplexLoops, x: Points) -> Points:
    return x.at(loops.aligned(x) & (loops.singularity(x) > REGULAR)) if len(x) else x


def _joined(
    loops: ComplexLoops, x: Points, group: NDArray[np.int64], ends: Points, index: NDArray[np.int64]
) -> tuple[Points, NDArray[np.int64]]:
    """Known solutions with new ones among the ends of loops; groups of solutions that loops connect."""
    for k in range(len(ends)):
        keys, own = pose_keys(loops, x), pose_keys(loops, ends.at(slice(k, k + 1)))[0]
        gap = np.abs(keys - own).max(axis=1)
        near = int(gap.argmin())
        if gap[near] < SAME * (1.0 + np.abs(own).max()):
            group = np.where(group == group[near], group[index[k]], group)
        else:
            x, group = join(x, ends.at(slice(k, k + 1))), np.append(group, group[index[k]])
    return x, group


def _labelled(loops: ComplexLoops, q: Complex, x: Points, group: NDArray[np.int64], quiet: int) -> Generic:
    """Modes numbered from that of home (the first solution), then by size."""
    labels, counts = np.unique(group, return_counts=True)
    order = sorted(range(len(labels)), key=lambda i: (labels[i] != group[0], -counts[i], i))
    mode = np.zeros(len(group), dtype=np.int64)
    still = []
    for number, i in enumerate(order):
        mine = group == labels[i]
        mode[mine] = number
        still.append(bool(np.abs(x.R[mine] - loops.home.R).max() < SAME))
    return Generic(q=q, x=x, mode=mode, translational=tuple(still), quiet=quiet)
