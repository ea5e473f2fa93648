"""Generic start systems: a member of a family with random complex parameters, and all its solutions.

They are found once by monodromy (`flexapod.analysis.poses.monodromy`) and kept in `analysis/data/`; the command that makes them
is ``python tools/make_start_systems.py``.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """Parameters p (m,) and all solutions x (n, unknowns)."""

    p: Complex
    x: Complex


@functools.cache
def load_start(family: str) -> Start:
    """The stored start system of a family."""
    file = resources.files("flexapod") / "analysis" / "data" / f"{family}.npz"
    with file.open("rb") as stream, np.load(stream) as data:
        return Start(p=data["p"], x=data["x"])
