"""Items of a reproduced paper: the paper's statement, our result and a verdict, readings and errata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flexapod.arrays import Array

AGREES, DIFFERS, OPEN = "agrees", "differs", "nothing to compare with"
CHECKED = "no statement to compare with; our own checks hold"
INPUT = "input, as printed"
SYMMETRY = "agrees by symmetry alone"
CONSTRUCTION = "agrees by construction alone"
PARTLY = "agrees in part"
READ = "input, read from sentences that contradict each other"
UNDECIDED = "not decided by the printed numbers"
BOUNDED = "the supposed cause is bounded, not confirmed"
WITHIN = "no more than the printed number"
VERDICTS = (AGREES, DIFFERS, OPEN, CHECKED, INPUT, SYMMETRY, CONSTRUCTION, PARTLY, READ, UNDECIDED, BOUNDED, WITHIN)
"""Verdicts. They follow from numbers computed now, and are never stronger than the check that each item names. Curves of figures
are known as pictures only: AGREES means that a statement of the paper's text, or a printed number, holds for our result; SYMMETRY
and CONSTRUCTION that the statement holds for any model of this shape, right or wrong; CHECKED that only checks of our own could
be made; PARTLY that some of several statements or numbers hold, named in the check."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One table or figure of a paper.

    Args:
        where: e.g. ``Fig. 3``.
        title: what it shows.
        says: what the paper says about it, in short; figures themselves are not reprinted.
        ours: what came out, with numbers.
        verdict: one of the words above.
        check: what was compared, in a few words.
        parts: figures and tables of the page.
    """

    where: str
    title: str
    says: str
    ours: str
    verdict: str
    check: str
    parts: Sequence[Any] = field(default_factory=tuple)

    @property
    def line(self) -> str:
        """The verdict with its check."""
        return f"{self.verdict} ({self.check})"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A reproduced paper.

    Args:
        key: short name.
        source: full reference.
        robot: name in the catalogue.
        items: its tables and figures.
        readings: where the paper leaves something open or scans badly, and what was taken.
        errata: misprints found by computing.
        missing: tables and figures that are not computed, and why.
    """

    key: str
    source: str
    robot: str
    items: Sequence[Item]
    readings: Sequence[str] = ()
    errata: Sequence[str] = ()
    missing: Sequence[str] = ()


def judged(holds: bool, verdict: str = AGREES) -> str:
    """The verdict of a statement that can be checked."""
    return verdict if holds else DIFFERS


def checked(holds: bool) -> str:
    """The verdict where the paper says nothing that can be compared, but checks of our own can fail."""
    return CHECKED if holds else DIFFERS


def spread(values: Array) -> float:
    """Largest difference between columns (n, k), of the largest value."""
    import numpy as np

    return float(np.max(values.max(axis=1) - values.min(axis=1)) / np.abs(values).max())


def relative_difference(first: Array, second: Array) -> float:
    """Largest difference of two arrays, of the largest value."""
    import numpy as np

    return float(np.abs(first - second).max() / max(np.abs(first).max(), np.abs(second).max()))
