"""Readable text tables of what a robot is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A small table: prints as aligned text, iterates over its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        widths = [max(len(self.columns[i]), *(len(r[i]) for r in self.rows), 0) for i in range(len(self.columns))]
        lines = [self.columns, tuple("-" * w for w in widths), *self.rows]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[str, ...]:
        return self.rows[index]


def number(value: float) -> str:
    """A number as people write it: up to six digits."""
    return f"{value:.6g}"


def vector(values: Iterable[float]) -> str:
    """A vector as people write it."""
    return "(" + ", ".join(number(float(v)) for v in values) + ")"
