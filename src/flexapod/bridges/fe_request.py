"""The arguments of `import_fe`, checked before files are read: units, interfaces, and modes up to a frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.fe_check import full_modes
from flexapod.description.unit_parser import UnitError, parse_unit
from flexapod.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse

DIMENSIONS = {"length": (0, 1, 0, 0), "mass": (1, 0, 0, 0), "time": (0, 0, 1, 0)}
EXAMPLE = {"length": "mm", "mass": "t", "time": "s"}


def units_in_si(units: object) -> dict[str, float]:
    """Length, mass and time of a model in SI."""
    if not isinstance(units, Mapping):
        raise InputError(f"units: expected a dictionary, units={EXAMPLE}, got {units!r}")
    extra = [name for name in units if name not in DIMENSIONS]
    if extra:
        raise InputError(f"units: {extra[0]!r} is not length, mass or time, from which all other units follow; leave it out")
    return {name: _unit(units, name) for name in DIMENSIONS}


def _unit(units: Mapping[str, object], name: str) -> float:
    if name not in units:
        raise InputError(f"units: give the unit of {name}, e.g. units={EXAMPLE}")
    unit = units[name]
    if not isinstance(unit, str):
        raise InputError(f"units: the unit of {name} must be a text such as {EXAMPLE[name]!r}, is {unit!r}")
    try:
        factor, dimension = parse_unit(unit)
    except UnitError as error:
        raise InputError(f"units: {error.what}. {error.hint}") from None
    if dimension != DIMENSIONS[name]:
        raise InputError(f"units: {unit!r} is not a unit of {name}")
    return float(factor)


def interface_nodes(
    interfaces: Mapping[str, int | Sequence[float]], numbers: Sequence[int], left_out: Mapping[int, str] | None = None
) -> dict[str, int | Sequence[float]]:
    """Name -> index of the node where its number is given, else the position as it is.

    Args:
        left_out: nodes of the file that the body does not have -> why.
    """
    if not isinstance(interfaces, Mapping):
        raise InputError(f"interfaces: expected a dictionary, e.g. interfaces={{'tip': 1}}, got {interfaces!r}")
    at = {number: k for k, number in enumerate(numbers)}
    found = dict(interfaces)
    for name, place in interfaces.items():
        if isinstance(place, bool | str) or (np.ndim(place) == 0 and not isinstance(place, int | np.integer)):
            raise InputError(f"interfaces: {name!r} is {place!r}; expected a node number, or a position of three numbers [m]")
        if isinstance(place, int | np.integer):
            if int(place) not in at:
                why = (left_out or {}).get(int(place), "which the file does not have")
                raise InputError(f"interfaces: {name!r} is node {place}, {why}")
            found[name] = at[int(place)]
    return found


def modes_below(M: sparse.csr_matrix, K: sparse.csr_matrix, R: Array, below: object, held: Sequence[int]) -> int:
    """Number of elastic modes up to a frequency [Hz], with these degrees of freedom held (Craig-Bampton), or free.

    Args:
        R: (n, r) the rigid motions without energy of the free body.

    Checked by: tests/bridges/test_fe.py.
    """
    if isinstance(below, bool) or not isinstance(below, int | float | np.number) or not 0.0 < below < np.inf:
        raise InputError(f"below: expected a frequency above zero [Hz], got {below!r}")
    if len(held):
        free = np.setdiff1d(np.arange(M.shape[0]), held)
        M, K, R = M.tocsr()[free][:, free], K.tocsr()[free][:, free], np.zeros((len(free), 0))
    count = 16
    while True:
        frequency, _ = full_modes(M, K, R, count)
        found = int(np.sum(frequency <= below))
        if found == 0:
            where = " with the interfaces held" if len(held) else ""
            raise InputError(f"below: no mode lies below {below:g} Hz; the first is at {frequency[0]:.5g} Hz{where}")
        if found < len(frequency) or len(frequency) < count or len(frequency) >= M.shape[0] - R.shape[1] - 2:
            return found
        count *= 2
