"""A path through several points: segments one after the other, each with its time law, with rests at the points.

Letters: k points 0 .. k, segment i from point i to point i + 1, s its fraction of the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions import time_laws
from flexapod.motions.argument_checks import choice, finite_array, snapped
from flexapod.motions.phase_laws import constant_acceleration
from flexapod.motions.time_laws import TimeLaw

LAWS: dict[str, Callable[[float], TimeLaw]] = {
    "cosine": time_laws.cosine,
    "quintic": time_laws.quintic,
    "septic": time_laws.septic,
    "cycloidal": time_laws.cycloidal,
    "minimum-jerk": time_laws.minimum_jerk,
    "constant-speed": time_laws.constant_speed,
    "constant-acceleration": constant_acceleration,
}
"""Laws that need a duration alone, by name."""

LawMaker = str | TimeLaw | Callable[[float], TimeLaw]
"""Ways to choose a law: its name, a law to be stretched to each duration, or a function of the duration."""


def law_for(law: LawMaker, duration: float) -> TimeLaw:
    """The law of a segment over its duration."""
    if isinstance(law, TimeLaw):
        return law.stretched(duration)
    if callable(law):
        return law(duration)
    return LAWS[choice("law", law, tuple(LAWS))](duration)


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """Start time of each segment [s] and the law it follows.

    Args:
        starts: (segments,) [s]; laws: one for each.
        duration: of the whole, rests included [s].
    """

    starts: Array
    laws: tuple[TimeLaw, ...]
    duration: float

    def __call__(self, t: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Segment, fraction of its way and derivatives of it, at times (n,); a joint belongs to the later segment."""
        ends = self.starts + np.array([law.duration for law in self.laws])
        t = snapped(snapped(t, ends), self.starts)
        index = np.maximum(np.searchsorted(self.starts, t, side="right") - 1, 0).astype(np.intp)
        s, sd, sdd = np.empty((3, len(t)))
        for i, law in enumerate(self.laws):
            here = index == i
            s[here], sd[here], sdd[here] = law.fraction(np.where(t[here] == ends[i], law.duration, t[here] - self.starts[i]))
        return index, s, sd, sdd


def schedule(segments: int, *, durations: ArrayLike, rests: ArrayLike = 0.0, law: LawMaker = "quintic") -> Schedule:
    """A schedule from durations and rests.

    Args:
        segments: how many.
        durations: of the segments [s]: one for all, or one each.
        rests: [s]: one number: after every arrival; or one for each point, the first included.
        law: its name (`quintic`, `cosine`, ...), a `TimeLaw` that is stretched, or a function of the duration.

    Checked by: tests/motions/test_pose_path.py.
    """
    moves = finite_array("durations", np.full(segments, durations) if np.ndim(durations) == 0 else durations, (segments,))
    spread = np.concatenate([[0.0], np.full(segments, rests)]) if np.ndim(rests) == 0 else rests
    pauses = finite_array("rests", spread, (segments + 1,))
    if np.any(moves <= 0):
        raise InputError(f"durations: must be positive, got {moves[moves <= 0][0]:g}")
    if np.any(pauses < 0):
        raise InputError(f"rests: must not be negative, got {pauses[pauses < 0][0]:g}")
    starts = np.cumsum(pauses[:-1]) + np.concatenate([[0.0], np.cumsum(moves)[:-1]])
    laws = tuple(law_for(law, float(T)) for T in moves)
    return Schedule(starts=starts, laws=laws, duration=float(starts[-1] + moves[-1] + pauses[-1]))
