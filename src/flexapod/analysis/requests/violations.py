"""Violated limits as text: which, by how much, the limit, where first and where it is worst."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A limit that a sample violates.

    Args:
        kind: ``reach``, ``pose``, ``stroke``, ``angle``, ``speed``, ``force``, ``power`` or ``singular``.
        name: of the actuator, joint or leg.
        value, limit: where it is worst [unit]; NaN where there is no number.
        unit: of both.
        sample: where it is worst.
        first: first sample that violates it.
        first_time: its time [s]; NaN where there is none.
        first_value: the value there [unit].
        count: number of samples that violate it.
        text: the whole sentence.
    """

    kind: str
    name: str
    value: float
    limit: float
    unit: str
    sample: int
    first: int
    first_time: float
    first_value: float
    count: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class Collector:
    """Gathers violations of one check.

    Args:
        at: what is checked; gives times.
        count: number of samples.
    """

    at: Any
    count: int
    found: list[Violation] = field(default_factory=list)

    def beyond(
        self, kind: str, name: str, phrase: str, *, value: Array, limit: float, excess: Array, unit: str, slack: float
    ) -> None:
        """A number beyond its limit.

        Args:
            phrase: e.g. ``actuator A is above its stroke``.
            value, excess: (n,) the number, and by how much it is beyond; NaN where a pose cannot be reached.
            slack: what does not count (rounding).
        """
        bad = np.flatnonzero(np.nan_to_num(excess, nan=-np.inf) > slack)
        if len(bad) == 0:
            return
        i = int(bad[excess[bad].argmax()])
        text = f"{phrase}: {value[i]:.6g} {unit}, limit {limit:.6g} {unit}, by {excess[i]:.3g} {unit}"
        self.add(
            kind, name, text, bad, i, value=float(value[i]), limit=limit, unit=unit, first_value=float(value[bad[0]])
        )  # fmt: skip

    def add(
        self,
        kind: str,
        name: str,
        text: str,
        bad: NDArray[np.int64],
        sample: int,
        *,
        value: float = np.nan,
        limit: float = np.nan,
        unit: str = "",
        first_value: float = np.nan,
    ) -> None:
        """A violation as text, at the samples `bad`, in their order."""
        first, time = int(bad[0]), getattr(self.at, "time", None)
        if self.count > 1:
            where = f"worst at sample {sample}"
            if time is not None:
                where = f"first at t = {time[first]:g} s, worst at t = {time[sample]:g} s"
            text += f"; {where}, {len(bad)} of {self.count} samples"
        self.found.append(
            Violation(
                kind=kind,
                name=name,
                value=value,
                limit=limit,
                unit=unit,
                sample=sample,
                first=first,
                first_time=np.nan if time is None else float(time[first]),
                first_value=first_value,
                count=len(bad),
                text=text,
            )
        )
