"""Limits of a timing: force, speed, power and jerk of the actuators, as arrays, and as rows of the two passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.timing.path_terms import PathTerms
from flexapod.arrays import Array, Rows
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.timing.timing_passes import Timing
    from flexapod.robot.robot import Robot

KINDS = ("force", "speed", "power", "jerk")

NEARLY = 1e-3
"""A limit is named as the one that holds an interval back where less than this share of it is left."""

NO_INERTIA = 1e-12
"""Coefficient of the acceleration, over the largest, that counts as this much: where inertia vanishes the limit is one of x."""

FAR = 1e250
"""Acceleration that bounds nothing."""


@dataclass(frozen=True, kw_only=True)
class TimingLimits:
    """Largest sizes per actuator (m,); infinite where there is no limit. Accelerations are limited for the sake of jerks."""

    force: Array
    speed: Array
    power: Array
    jerk: Array
    acceleration: Array

    def cap(self, terms: PathTerms, finer: int) -> Array:
        """Largest squared path speeds (n + 1,) by the speed limits and by the power of the static forces, in the intervals on
        both sides of a node.

        Beyond the latter only forces of inertia would keep the power within its limit, and no slower timing would.
        """
        if not np.isfinite(self.speed).any() and not np.isfinite(self.power).any():
            return np.full((len(terms.s) - 1) // finer + 1, np.inf)
        with np.errstate(divide="ignore"):
            static = self.power / np.abs(terms.c + terms.k)
            fine = np.min((np.minimum(self.speed, static) / np.abs(terms.dq)) ** 2, axis=1)
        n = (len(fine) - 1) // finer
        inside = np.minimum(fine[:-1].reshape(n, finer).min(axis=1), fine[finer::finer])
        return np.asarray(np.minimum(np.append(inside, np.inf), np.append(np.inf, inside)))

    def ratio(self, terms: PathTerms, rows: Rows, x: Array, u: Array, force: Array) -> Array:
        """Size over limit (.., kinds, actuators) of those of force, speed and power that are limited."""
        size, found = np.abs(force), []
        if "force" in self.kinds:
            found.append(size / self.force)
        if self.kinds != ("force",):
            rate = np.abs(terms.dq[rows]) * np.sqrt(np.maximum(x, 0.0))[..., None]
            found += [rate / self.speed] if "speed" in self.kinds else []
            found += [size * rate / self.power] if "power" in self.kinds else []
        return np.stack(found, axis=-2) if len(found) > 1 else found[0][..., None, :]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of limits that there are, jerk apart."""
        return tuple(name for name in KINDS[:3] if np.isfinite(getattr(self, name)).any())

    def named(self, timing: Timing, robot: Robot) -> list[str]:
        """Name of the limit that is active in the interval after each node."""
        n = len(timing.u)
        ends = []
        for rows, x in ((timing.finer * np.arange(n), timing.x[:-1]), (timing.finer * np.arange(1, n + 1), timing.x[1:])):
            force = timing.terms.force(rows, x, timing.u) + timing.remainder(rows)
            ends.append(self.ratio(timing.terms, rows, x, timing.u, force))
        worst = np.maximum(*ends).reshape(n, -1)
        texts = [f"{kind} of {name}" for kind in self.kinds for name in robot.actuators]
        best = worst.argmax(axis=1)
        bound = np.take_along_axis(worst, best[:, None], axis=1)[:, 0] > 1.0 - NEARLY
        jerky = "jerk" if np.isfinite(self.jerk).any() else ""
        return [*(texts[j] if b else jerky for j, b in zip(best, bound, strict=True)), ""]


def timing_limits(robot: Robot, given: Mapping[str, ArrayLike] | None) -> TimingLimits:
    """Limits of the file, replaced by those that are given."""
    file, m = limits_of(robot), len(robot.actuators)
    none = np.full(m, np.inf)
    known = TimingLimits(force=file.force, speed=file.speed, power=file.power, jerk=none, acceleration=none)
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"limits: expected a mapping of {', '.join(KINDS)}, got {type(given).__name__}")
    for name, value in (given or {}).items():
        if name not in KINDS:
            raise InputError(f"limits: expected {', '.join(KINDS)}, got {name!r}")
        array = np.asarray(value, dtype=float)
        if array.shape not in ((), (m,)):
            raise InputError(f"limits: {name} needs one number, or one for each of the {m} actuators; got shape {array.shape}")
        if not np.all(array > 0):
            raise InputError(f"limits: {name} must be positive")
        known = replace(known, **{name: np.broadcast_to(array, (m,)).astype(float)})
    if not any(np.isfinite(getattr(known, name)).any() for name in KINDS[:3]):
        raise InputError(f"limits: {robot.name} has no limit of force, speed or power; give limits={{'force': ...}}")
    return known


def affine_rows(A: Array, B: Array, C: Array) -> tuple[Array, Array, Array, Array]:
    """A u + B x <= C (n, rows) as bounds of u: upper, its slope, lower, its slope; the side that a row does not bound is far."""
    floor = NO_INERTIA * max(float(np.abs(A).max(initial=0.0)), 1e-300)
    A = np.where(np.abs(A) < floor, np.where(A < 0, -floor, floor), A)
    inverse, up = 1.0 / A, A > 0
    at, slope = C * inverse, B * inverse
    return np.where(up, at, FAR), np.where(up, slope, 0.0), np.where(up, -FAR, at), np.where(up, 0.0, slope)


def paired_rows(A: Array, B: Array, above: Array, below: Array) -> tuple[Array, Array, Array, Array]:
    """below <= A u + B x <= above (n, rows) as bounds of u: half the rows of `affine_rows`."""
    up, floor = A > 0, NO_INERTIA * max(float(np.abs(A).max(initial=0.0)), 1e-300)
    inverse = 1.0 / np.where(np.abs(A) < floor, np.where(up, floor, -floor), A)
    high, low, slope = above * inverse, below * inverse, B * inverse
    return np.where(up, high, low), slope, np.where(up, low, high), slope
