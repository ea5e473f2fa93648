"""What the benchmark scripts have in common: repeated measurement, Markdown tables, one section of the page each."""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

T = TypeVar("T")
WIDTH = 130
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


@dataclass(frozen=True)
class Effort:
    """How much is measured: what the page shows; the smallest sizes once, to see that a script works; or more than that."""

    quick: bool = False
    everything: bool = False

    def size(self, full: T, small: T) -> T:
        """One of two sizes."""
        return small if self.quick else full

    def best(self, work: Callable[[], object], seconds: float = 1.0, least: int = 3, calls: int = 1) -> float:
        """Least CPU time of a call [s], after one that is not counted.

        Args:
            seconds: wall time over which it is repeated, `least` times at least.
            calls: between two looks at the clock.
        """
        work()
        found, done, stop = np.inf, 0, time.perf_counter() + seconds
        while done < (1 if self.quick else least) or (not self.quick and time.perf_counter() < stop):
            start = time.process_time()
            for _ in range(calls):
                work()
            found, done = min(found, (time.process_time() - start) / calls), done + 1
        return float(found)


def shown(seconds: float) -> str:
    """A time with its unit and three digits: 32.1 ns."""
    rounded = float(f"{seconds:.3g}")
    factor, unit = next((f, u) for f, u in UNITS if rounded >= f)
    return f"{times(rounded / (factor or 1e-9))} {unit}"


def counted(number: float) -> str:
    """A whole number with spaces between thousands."""
    return f"{round(number):_}".replace("_", " ")


def times(ratio: float) -> str:
    """A ratio with three digits, or all before the point."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"


def joined(*parts: str) -> str:
    """Paragraphs, lists and tables of a section with empty lines between; running text is wrapped, empty parts are left out."""
    blocks = [block for part in parts for block in part.strip("\n").split("\n\n") if block]
    return "\n\n".join(block if block.startswith(("#", "|", "- ")) else textwrap.fill(block, WIDTH) for block in blocks) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; None is an empty cell."""
    lines = [head, ["---"] * len(head), *([("" if x is None else x) for x in row] for row in rows)]
    return "\n".join("| " + " | ".join(str(x) for x in line) + " |" for line in lines) + "\n"


def exponents(sizes: Sequence[float], costs: Sequence[float]) -> list[float]:
    """Growth between consecutive sizes: p in cost ~ size^p."""
    log = [(float(np.log(n)), float(np.log(c))) for n, c in zip(sizes, costs, strict=True)]
    return [(d - b) / (c - a) for (a, b), (c, d) in pairwise(log)]


def growth(size: str, sizes: Sequence[float], costs: dict[str, Sequence[float]]) -> str:
    """Table of exponents between sizes, a row per cost."""
    spans = [f"{counted(a)} to {counted(b)}" for a, b in pairwise(sizes)]
    rows = [[name, *(f"{p:.2f}" for p in exponents(sizes, values))] for name, values in costs.items()]
    return table([f"exponent over {size}", *spans], rows)


def print_section(section: Callable[[Effort], str], about: str | None) -> None:
    """The command line of a script: its section of docs/benchmarks.md, printed."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smallest sizes, measured once")
    parser.add_argument("--all", action="store_true", help="also what takes too long for the page, where there is such a thing")
    options = parser.parse_args()
    print(section(Effort(quick=options.quick, everything=options.all)), end="")
