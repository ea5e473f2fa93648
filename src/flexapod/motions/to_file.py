"""Motions into files: CSV or Parquet, every bit kept, under the names that `motion_from_file` reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.motions.table_file import write_table

_RATES = {"v": "velocity", "w": "angular_velocity", "a": "acceleration", "alpha": "angular_acceleration"}


@by_name
def motion_to_file(motion: Motion | ActuatorMotion, path: str | Path, *, actuators: Sequence[str] | None = None) -> Path:
    """Write a motion; the ending `.parquet` or `.pq` makes a Parquet file, every other a CSV. All or nothing.

    Args:
        motion: of the platform (columns `t`, `p_x`, `R_11`, `v_x`, `w_x`, `a_x`, `alpha_x`, ...) or of the actuators
            (`t`, `q_1`, `qd_1`, `qdd_1`, ...).
        path: the file, replaced if it exists.
        actuators: names instead of 1, 2, ...

    Returns the path. Checked by: tests/motions/test_motion_files.py.
    """
    columns = _platform_columns(motion) if isinstance(motion, Motion) else _actuator_columns(motion, actuators)
    if isinstance(motion, Motion) and actuators is not None:
        raise InputError("actuators: a motion of the platform has none to be named")
    for name, values in columns.items():
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise InputError(f"motion: {name} of sample {bad[0]} is {values[bad[0]]}; only finite numbers are written")
    target = Path(path)
    write_table(target, columns)
    return target


def _platform_columns(motion: Motion) -> dict[str, Array]:
    columns = {"t": motion.time}
    columns |= {f"p_{axis}": motion.position[:, i] for i, axis in enumerate("xyz")}
    columns |= {f"R_{i + 1}{j + 1}": motion.rotation[:, i, j] for i in range(3) for j in range(3)}
    for short, name in _RATES.items():
        columns |= {f"{short}_{axis}": getattr(motion, name)[:, i] for i, axis in enumerate("xyz")}
    return columns


def _actuator_columns(motion: ActuatorMotion, actuators: Sequence[str] | None) -> dict[str, Array]:
    count = motion.position.shape[1]
    names = [str(i + 1) for i in range(count)] if actuators is None else [str(name) for name in actuators]
    if len(names) != count or len(set(names)) != count:
        raise InputError(f"actuators: expected {count} different names, got {names}")
    if wrong := [name for name in names if not name or any(c in name for c in ',;\t\n"# ')]:
        raise InputError(f"actuators: {wrong[0]!r} cannot name a column; use letters, digits, - and _")
    columns = {"t": motion.time}
    for prefix, values in (("q", motion.position), ("qd", motion.velocity), ("qdd", motion.acceleration)):
        columns |= {f"{prefix}_{name}": values[:, i] for i, name in enumerate(names)}
    return columns
