"""Units of the columns of a motion file: in headers (``x [mm]``, ``yaw (deg)``), or given by group; never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from flexapod.errors import InputError
from flexapod.motions.argument_checks import mapping
from flexapod.motions.table_file import FileTable

BASE = {
    "m": ("length", 1.0), "mm": ("length", 1e-3), "cm": ("length", 1e-2), "um": ("length", 1e-6), "in": ("length", 0.0254),
    "rad": ("angle", 1.0), "mrad": ("angle", 1e-3), "deg": ("angle", np.pi / 180), "°": ("angle", np.pi / 180),
    "rev": ("angle", 2 * np.pi), "s": ("time", 1.0), "ms": ("time", 1e-3), "us": ("time", 1e-6), "min": ("time", 60.0),
    "": ("number", 1.0), "-": ("number", 1.0), "1": ("number", 1.0),
}  # fmt: skip
HEADER = re.compile(r"\s*(.*?)\s*[\[(]\s*([^\[\]()]*?)\s*[\])]\s*")
KINDS = {
    "time": ("time", 0), "position": ("length", 0), "velocity": ("length", 1), "acceleration": ("length", 2),
    "angular_velocity": ("angle", 1), "angular_acceleration": ("angle", 2), "rotvec": ("angle", 0), "euler": ("angle", 0),
    "rotation": ("number", 0), "quat_wxyz": ("number", 0), "quat_xyzw": ("number", 0),
    "actuator_position": ("length or angle", 0), "actuator_velocity": ("length or angle", 1),
    "actuator_acceleration": ("length or angle", 2),
}  # fmt: skip
"""Group -> what it measures, and how often it is differentiated."""


def factor(unit: str) -> tuple[str, int, float]:
    """Quantity of a unit, how often per time, and its size in SI."""
    text = unit.strip()
    if text in ("rpm", "1/min"):
        return "angle", 1, 2 * np.pi / 60
    match = re.fullmatch(r"([^/^]*)(?:/\s*(s|ms|min)(?:\^?([12]))?)?", text.replace("²", "^2"))
    if match is None or match[1].strip() not in BASE:
        raise InputError(f"the unit {unit!r} is not known; e.g. mm, deg, ms, mm/s, deg/s, rpm, m/s^2")
    kind, size = BASE[match[1].strip()]
    if not match[2]:
        return kind, 0, size
    power = int(match[3] or 1)
    return kind, power, size / BASE[match[2]][1] ** power


def without_units(table: FileTable) -> tuple[FileTable, dict[str, str]]:
    """The table with plain headers, and the units that they had."""
    cells, units = {}, {}
    for header, values in table.cells.items():
        match = HEADER.fullmatch(header)
        name = match[1] if match else header
        if name in cells:
            raise table.error("occurs more than once in the header", column=name)
        cells[name] = values
        if match:
            units[name] = match[2]
    return replace(table, cells=cells), units


def in_si(
    table: FileTable, headers: Mapping[str, str], units: Mapping[str, str] | None, groups: Mapping[str, tuple[str, ...]]
) -> FileTable:
    """The table in SI units.

    Args:
        headers: units by column.
        units: by group (``{"position": "mm"}``) or by column name.
        groups: columns of each group in this table.

    Checked by: tests/motions/test_motion_file_forms.py.
    """
    of = {name: group for group, names in groups.items() for name in names}
    scales = {name: unit for name, unit in headers.items() if name in of}  # units of columns that are not read do not matter
    for key, unit in mapping("units", units, {"position": "mm", "euler": "deg"}).items():
        if not isinstance(unit, str):
            raise InputError(f"units: {key!r} needs a unit as text, e.g. 'mm', got {unit!r}")
        names = groups.get(key, (key,) if key in table.cells else ())
        if not names:
            raise table.error(f"units: {key!r} is neither a column of the file nor one of {', '.join(KINDS)}")
        for name in names:
            if name in headers and headers[name] != unit:
                raise table.error(f"units: {name!r} is in {headers[name]!r} by its header, but units gives {unit!r}", column=name)
            scales[name] = unit
    kinds = {name: _kind(table, name, unit, of.get(name, "")) for name, unit in scales.items()}
    for first, *rates in zip_longest(*(groups.get(group, ()) for group in KINDS if group.startswith("actuator"))):
        for rate in rates:
            if rate in kinds and first in kinds and kinds[rate][0] != kinds[first][0]:
                raise table.error(f"cannot be in {scales[rate]!r} where {first!r} is in {scales[first]!r}", column=rate)
    changed = {name: table.column(name) * size for name, (_, size) in kinds.items() if size != 1.0}
    return replace(table, cells={**table.cells, **changed})


def _kind(table: FileTable, name: str, unit: str, group: str) -> tuple[str, float]:
    """Quantity of a column and its unit in SI; a unit of something else than its group is refused."""
    try:
        kind, power, size = factor(unit)
    except InputError as error:
        raise table.error(str(error), column=name) from None
    wanted, times = KINDS.get(group, (kind, power))
    if kind not in wanted.split(" or ") or power != times:
        what = ("an " if group[0] in "ae" else "a ") + group.replace("_", " ")
        raise table.error(f"{what} cannot be in {unit!r}", column=name)
    return kind, size
