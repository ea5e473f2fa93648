"""Measured data: actuator positions with forces or currents over time, from arrays, results, tables or the EMPS files.

Columns of tables: ``t``, ``q_<actuator>`` positions, ``f_<actuator>`` forces or ``i_<actuator>`` currents, ``qr_<actuator>``
references. The EMPS benchmark has ``t``, ``qm`` (measured), ``qg`` (reference), ``vir`` (drive voltage), ``gtau`` (drive gain).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from flexapod.arrays import Array, given_array
from flexapod.calls import check_path, checked, made
from flexapod.errors import InputError, amount
from flexapod.motions.motion import Motion, check_time

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

GROUPS = {
    "position": ("q_", "actuator_position_"),
    "force": ("f_", "force_", "tau_"),
    "current": ("i_", "current_"),
    "reference": ("qr_", "reference_"),
}
"""Beginnings of the columns of actuators, by what they hold."""
EMPS = ("qm", "vir", "gtau")
Data: TypeAlias = "Measurement | str | Path | xr.Dataset"
"""Data that `measurement` accepts: a file by its path."""


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """A measurement of actuator positions and forces, one row per time.

    Args:
        time: (n,) [s], increasing.
        position: (n, actuators) [m or rad].
        force: (n, actuators) [N or N m]; None where currents are given.
        current: (n, actuators) [A], or whatever a gain turns into force.
        reference: (n, actuators) positions that the controller was asked for.
        motion: the platform's motion, where it was measured with its derivatives; positions are then not differentiated.
        source: where it comes from.
    """

    time: Array
    position: Array
    force: Array | None = None
    current: Array | None = None
    reference: Array | None = None
    motion: Motion | None = None
    source: str = "arrays"

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", check_time(self.time))
        n = len(self.time)
        shape = given_array("position", self.position).shape
        if len(shape) != 2 or shape[0] != n:
            raise InputError(f"position: expected shape ({n}, actuators), got {shape}")
        for name in ("position", "force", "current", "reference"):
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = np.ascontiguousarray(value, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise InputError(f"{name}: expected numbers of shape {shape}, got {type(value).__name__}") from error
            if array.shape != shape:
                raise InputError(f"{name}: expected shape {shape} as position has, got {array.shape}")
            object.__setattr__(self, name, array)
        if self.force is None and self.current is None:
            raise InputError("data: forces or currents are missing; give columns f_<actuator> [N] or i_<actuator> [A]")

    def __len__(self) -> int:
        return len(self.time)

    @property
    def drive(self) -> Array:
        """Forces, or currents where there are no forces."""
        found = self.force if self.force is not None else self.current
        assert found is not None
        return found


def measurement(robot: Robot, data: Data) -> Measurement:
    """Data in any of its forms as a `Measurement` of the robot's actuators.

    Args:
        data: a `Measurement`; a dataset with `actuator_position` and `force` (such as a result of `simulate`); or the path of a
        table
            (CSV, Parquet) or of an EMPS file (.mat).
    """
    if isinstance(data, Measurement):
        found = data
    elif isinstance(data, str | Path):
        found = read_measurement(data, robot)
    elif hasattr(data, "data_vars"):
        found = _from_dataset(data)
    else:
        raise InputError(f"data: expected a Measurement, a dataset or the path of a table, got {type(data).__name__}")
    n = len(robot.actuators)
    if found.position.shape[1] != n:
        raise InputError(f"data: {robot.name} has {amount(n, 'actuator')}, the data has {found.position.shape[1]}")
    return found


def _from_dataset(data: xr.Dataset) -> Measurement:
    names = {"position": "actuator_position", "force": "force", "current": "current", "reference": "reference_position"}
    if "time" not in data.coords or "actuator_position" not in data:
        raise InputError(
            "data: the dataset needs a coordinate `time` and variables `actuator_position` and `force` (or `current`)"
        )
    arrays = {key: data[name].values for key, name in names.items() if name in data}
    return Measurement(
        time=data.time.values, position=arrays["position"], force=arrays.get("force"), current=arrays.get("current"),
        reference=arrays.get("reference"), source=f"dataset of {data.attrs.get('robot', 'unknown origin')}",
    )  # fmt: skip


@checked(path=check_path)
def read_measurement(path: str | Path, robot: Robot) -> Measurement:
    """Read a table of measurements; the ending ``.mat`` is an EMPS file, ``.parquet`` and ``.pq`` Parquet, every other CSV.

    Args:
        path: of the table; its columns name time, positions and forces or currents of the actuators.
    Returns:
        `Measurement` in SI units.

    Checked by: tests/identification/test_measurement.py.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"data: there is no file {file}")
    columns = _mat_columns(file) if file.suffix.lower() == ".mat" else _table_columns(file)
    if all(name in columns for name in ("qm", "vir")):
        return _emps(file.name, columns)
    time = next((columns[name] for name in ("t", "time", "time_s") if name in columns), None)
    if time is None:
        raise InputError(f"{file.name}: no column of time; name it t")
    found = {key: _group(columns, prefixes, robot) for key, prefixes in GROUPS.items()}
    if found["position"] is None:
        wanted = ", ".join(f"q_{name}" for name in robot.actuators)
        raise InputError(
            f"{file.name}: positions of the actuators are missing; expected columns {wanted}, has {', '.join(columns)}"
        )
    return Measurement(time=time, **found, source=file.name)  # type: ignore[arg-type]


def _table_columns(file: Path) -> dict[str, Array]:
    from flexapod.motions.table_file import read_table

    table = read_table(file)
    return {name: table.column(name) for name in table.cells}


def _mat_columns(file: Path) -> dict[str, Array]:
    from scipy.io import loadmat

    try:
        found = loadmat(file)
    except (ValueError, NotImplementedError, OSError) as error:
        raise InputError(f"{file.name}: cannot be read as a MATLAB file ({error}); save it as version 7 or as CSV") from None
    return {name: np.asarray(value, dtype=np.float64).ravel() for name, value in found.items() if not name.startswith("__")}


def _emps(name: str, columns: dict[str, Array]) -> Measurement:
    missing = [key for key in ("t", *EMPS) if key not in columns]
    if missing:
        raise InputError(f"{name}: an EMPS file has t, qm, qg, vir and gtau; {', '.join(missing)} missing")
    n = len(columns["t"])
    gain = columns["gtau"]
    force = columns["vir"] * (gain if len(gain) == n else gain[0])
    reference = columns["qg"][:n, None] if "qg" in columns else None
    return Measurement(time=columns["t"], position=columns["qm"][:, None], force=force[:, None], reference=reference, source=name)


def _group(columns: dict[str, Array], prefixes: tuple[str, ...], robot: Robot) -> Array | None:
    """Columns of all actuators by their names, else by numbers 1, 2, ..."""
    numbers = [str(k + 1) for k in range(len(robot.actuators))]
    for prefix in prefixes:
        for names in (robot.actuators, numbers):
            wanted = [prefix + name for name in names]
            if all(name in columns for name in wanted):
                return np.column_stack([columns[name] for name in wanted])
            some = [name for name in wanted if name in columns]
            if some and names is robot.actuators:
                lost = [name for name in wanted if name not in columns]
                raise InputError(f"data: column {lost[0]} is missing beside {some[0]}")
    return None
