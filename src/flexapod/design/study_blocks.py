"""Blocks of a study: designs, criteria, Parquet bytes and summary of a block, from its number alone.

A `BlockTask` travels to other processes; kernels are made, or found in the cache, where it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.calls import fields_alone
from flexapod.design.criteria import Criterion
from flexapod.design.evaluate import Evaluator
from flexapod.design.plans import DesignPlan
from flexapod.design.study_files import parquet
from flexapod.design.summary import Summary, block_summary
from flexapod.design.variables import Axis

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


BLOCK = 65_536
"""Samples (designs times poses) of a block."""

BUILT = 16
"""Designs of a block where a robot is built for each."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ComputedBlock:
    """A block that was computed: rows where they stay in memory, the bytes of its file where there is one, its summary."""

    number: int
    rows: dict[str, Any] | None
    data: bytes | None
    summary: Summary


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockTask:
    """Computes blocks of one study; the same number gives the same block to the last bit.

    Args:
        robot, axes, criteria, at: as for `Evaluator`.
        plan: designs by index.
        rows: ``"file"``, ``"memory"`` or ``"none"``: what becomes of the rows.
        samples: of a block.

    Checked by: tests/design/test_study_rows.py, tests/design/test_study_cluster.py.
    """

    robot: Robot
    axes: tuple[Axis, ...]
    criteria: tuple[Criterion, ...]
    at: Any
    plan: DesignPlan
    rows: str
    samples: int

    __getstate__ = fields_alone

    @cached_property
    def evaluator(self) -> Evaluator:
        """Evaluator of this process."""
        return Evaluator(self.robot, self.axes, self.criteria, self.at)

    @cached_property
    def size(self) -> int:
        """Designs of a block."""
        return max(1, self.samples // self.evaluator.poses) if self.evaluator.by_kernels else BUILT

    @property
    def count(self) -> int:
        """Number of blocks."""
        return -(-self.plan.count // self.size)

    @property
    def signs(self) -> Array:
        """(c,) 1 where low is better, -1 where high."""
        return np.array([1.0 if c.better == "low" else -1.0 for c in self.criteria])

    def __call__(self, number: int) -> ComputedBlock:
        """Compute a block."""
        x = self.plan.designs(number, self.size)
        found = self.evaluator(x)
        texts = [self.evaluator.reasons[c] for c in found.code] if np.any(found.code) else [""] * len(x)
        start = number * self.size
        rows = self._rows(start, x, found.criteria, texts) if self.rows != "none" else None
        data = parquet(rows) if rows is not None and self.rows == "file" else None
        return ComputedBlock(
            number=number, rows=rows if self.rows == "memory" else None, data=data,
            summary=block_summary(start, x, found.criteria, texts, self.signs),
        )  # fmt: skip

    def _rows(self, start: int, x: Array, criteria: Array, texts: list[str]) -> dict[str, Any]:
        columns: dict[str, Any] = {"design": np.arange(start, start + len(x), dtype=np.int64)}
        columns |= {axis.name: np.ascontiguousarray(x[:, i]) for i, axis in enumerate(self.axes)}
        columns |= {c.name: np.ascontiguousarray(criteria[:, k]) for k, c in enumerate(self.criteria)}
        return {**columns, "reason": texts}
