"""All poses of any robot with finitely many: generic actuators once per robot, then a path to each question.

At random complex actuators the solutions are collected from home, from random starts (which fall into every operation mode) and
by monodromy. Loops of the actuators join solutions of one operation mode and never two modes: the modes are what they leave
apart.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.complex_loops import Array, Complex, Loops, Points, join
from flexapod.analysis.loop_paths import SAME, distinct, follow, polished, pose_keys, random_solutions

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

REGULAR = 1e-7
"""Smallest relative singular value of a solution that counts as isolated."""

STARTS = 240
"""Random starts of Newton's method at the generic actuators."""

QUIET = 4
"""Loops without new solutions after which monodromy ends; at most LOOPS."""

LOOPS = 40

SILENT = 12
"""Loops that join no two groups of solutions after which these count as operation modes; at most MERGES."""

MERGES = 60

ATTEMPTS = 4
"""Ways to the question that are tried while paths are lost and new poses are found."""

REAL = 1e-7
"""Largest imaginary part [rad or characteristic lengths] of a solution that is tried as a real pose."""


@dataclass(frozen=True, kw_only=True)
class Generic:
    """Solutions at generic actuators.

    Args:
        q: (actuators,) complex.
        x: the solutions.
        mode: (N,) operation mode; 0 is the one of home.
        translational: per mode: the platform does not rotate in it.
        quiet: loops at the end that brought nothing new.
    """

    q: Complex
    x: Points
    mode: NDArray[np.int64]
    translational: tuple[bool, ...]
    quiet: int


@dataclass(frozen=True, kw_only=True)
class LoopPoses:
    """Real poses of one question.

    Args:
        p, R, q: (r, 3), (r, 3, 3), (r, joints).
        mode: (r,) operation mode.
        residual: (r,) largest closing error [characteristic lengths or rad].
        complex_count: isolated complex solutions found.
        lost: paths that did not end at an isolated solution.
        singular: ends where the actuators do not determine the pose.
    """

    p: Array
    R: Array
    q: Array
    mode: NDArray[np.int64]
    residual: Array
    complex_count: int
    lost: int
    singular: Points


_KNOWN: dict[str, tuple[Loops, Generic]] = {}


def fingerprint(robot: Robot) -> str:
    """Name of a robot's geometry: equal for robots whose joints are equal to nine digits."""
    parts: list[str] = []

    def add(*values: Any) -> None:
        for value in values:
            numbers = np.round(np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel(), 9) + 0.0
            parts.append(" ".join(f"{x:.9f}" for x in numbers))

    for leg in robot.legs:
        for link in leg.links:
            parts.append(f"{link.kind} {link.parent} {link.actuated} {link.elastic}")
            add(link.placement.position, link.placement.rotation, link.zero)
        closing = leg.closing
        parts.append(f"{closing.type} {closing.link}")
        add(closing.on_link.position, closing.on_link.rotation, closing.on_platform.position, closing.on_platform.rotation)
        add(leg.home)
    add(robot.home.position, robot.home.rotation, robot.characteristic_length)
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]


def generic_solutions(robot: Robot) -> tuple[Loops, Generic]:
    """Solutions at generic actuators: stored with the package, or found once per robot and kept."""
    key = fingerprint(robot)
    if key not in _KNOWN:
        loops = Loops(robot)
        _KNOWN[key] = loops, _stored(loops, key) or search(loops)
        while len(_KNOWN) > 16:
            _KNOWN.pop(next(iter(_KNOWN)))
    return _KNOWN[key]


def _stored(loops: Loops, key: str) -> Generic | None:
    """The stored solutions, if there are any and they solve this robot's equations."""
    file = resources.files("flexapod") / "analysis" / "data" / f"loops-{key}.npz"
    if not file.is_file():
        return None
    with file.open("rb") as stream, np.load(stream) as data:
        x = Points(p=data["p"], R=data["R"], q=data["joints"])
        mode, still, quiet, q = data["mode"], data["translational"], int(data["quiet"]), data["q"]
    x, good, _ = polished(loops, x, 3)
    return Generic(q=q, x=x, mode=mode, translational=tuple(map(bool, still)), quiet=quiet) if good.all() else None


def store(robot: Robot, folder: Path) -> Path:
    """Find the generic solutions of a robot and write them to a folder; tools/make_start_systems.py does so for the catalogue."""
    found = search(Loops(robot))
    path = folder / f"loops-{fingerprint(robot)}.npz"
    np.savez_compressed(
        path, q=found.q, p=found.x.p, R=found.x.R, joints=found.x.q, mode=found.mode,
        translational=np.array(found.translational), quiet=found.quiet,
    )  # fmt: skip
    return path


def search(loops: Loops) -> Generic:
    """Solutions at random complex actuators, sorted by operation mode."""
    random = np.random.default_rng(3)
    home = loops.home.q[0, loops.driven]
    q = home + _size(loops) * _normal(random, len(home))
    first, arrived = follow(loops, loops.home, home, q)
    x = _usable(loops, distinct(loops, join(first.at(arrived), random_solutions(loops, q, STARTS, random))))
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
    loops: Loops, q: Complex, x: Points, group: NDArray[np.int64], index: NDArray[np.int64], random: np.random.Generator
) -> tuple[Points, NDArray[np.int64]]:
    """Some solutions after a random triangle of the actuators, joined to the known ones."""
    home = loops.home.q[0, loops.driven]
    corners = [q, *(home + _size(loops) * _normal(random, len(home)) for _ in range(2)), q]
    start = x.at(index)
    for source, target in pairwise(corners):
        start, arrived = follow(loops, start, source, target)
        start, index = start.at(arrived), index[arrived]
    start, good, _ = polished(loops, start, 2)
    good &= loops.aligned(start)
    return _joined(loops, x, group, start.at(good), index[good])


def _size(loops: Loops) -> Array:
    """A radian, or the robot's size, per actuator."""
    return np.where(loops.turning[loops.driven], 1.0, loops.robot.size)


def _normal(random: np.random.Generator, n: int) -> Complex:
    return random.normal(size=n) + 1j * random.normal(size=n)


def _usable(loops: Loops, x: Points) -> Points:
    return x.at(loops.aligned(x) & (loops.singularity(x) > REGULAR)) if len(x) else x


def _joined(
    loops: Loops, x: Points, group: NDArray[np.int64], ends: Points, index: NDArray[np.int64]
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


def _labelled(loops: Loops, q: Complex, x: Points, group: NDArray[np.int64], quiet: int) -> Generic:
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


def loop_poses(robot: Robot, actuator_position: Array, seed: int = 0) -> LoopPoses:
    """Real poses of actuator coordinates (actuators,).

    Checked by: tests/analysis/test_loop_poses.py.
    """
    loops, generic = generic_solutions(robot)
    random = np.random.default_rng(seed)
    target = actuator_position.astype(complex)
    known, mode, singular = generic.x.at(slice(0, 0)), generic.mode[:0], generic.x.at(slice(0, 0))
    for attempt in range(ATTEMPTS):  # where paths are lost, all of them go another way: a detour of some would permute their ends
        x, arrived = generic.x, np.ones(len(generic.x), dtype=bool)
        corner = generic.q + _size(loops) * _normal(random, len(target))
        for source, end in pairwise([generic.q, *([corner] if attempt else []), target]):
            x, came = follow(loops, x, source, end)
            arrived &= came
        own = generic.mode[arrived]
        x, good, _ = polished(loops, x.at(arrived))
        x, own = x.at(good), own[good]
        regular = loops.singularity(x) > REGULAR if len(x) else np.zeros(0, dtype=bool)
        singular, before = x.at(~regular), len(known)
        known, mode = join(known, x.at(regular)), np.append(mode, own[regular])
        fresh = ~_repeated(loops, known)
        known, mode = known.at(fresh), mode[fresh]
        if len(known) == len(generic.x) or (attempt and len(known) == before):
            break
    return _real(loops, known, mode, len(generic.x) - len(known), singular)


def _repeated(loops: Loops, x: Points) -> NDArray[np.bool_]:
    """Poses that are in the list before."""
    if len(x) == 0:
        return np.zeros(0, dtype=bool)
    keys = pose_keys(loops, x)
    near = np.abs(keys[:, None] - keys[None]).max(axis=2) < SAME * (1.0 + np.abs(keys).max(axis=1))
    return np.asarray(np.tril(near, -1).any(axis=1))


def _real(loops: Loops, x: Points, mode: NDArray[np.int64], lost: int, singular: Points) -> LoopPoses:
    gap = np.abs(pose_keys(loops, x).imag).max(axis=1)
    joints = x.q.imag.copy()
    joints[:, ~loops.turning] /= loops.length
    real = (gap < REAL) & (np.abs(joints).max(axis=1) < REAL)
    count = len(x)
    x, mode = x.at(real), mode[real]
    x = Points(p=x.p.real.astype(complex), R=x.R.real.astype(complex), q=x.q.real.astype(complex))
    x, good, residual = polished(loops, x, 4)
    good &= (np.abs(pose_keys(loops, x).imag).max(axis=1) < REAL) if len(x) else good
    x, mode, residual = x.at(good), mode[good], residual[good]
    return LoopPoses(
        p=x.p.real.copy(), R=x.R.real.copy(), q=x.q.real.copy(), mode=mode, residual=residual, complex_count=count, lost=lost,
        singular=singular,
    )  # fmt: skip
