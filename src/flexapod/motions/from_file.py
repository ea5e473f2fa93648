"""Motions from files: columns over time become a `Motion` or an `ActuatorMotion`.

Derivatives come from columns where the file has them, else from splines; measured positions may be low-pass filtered
first (Briot Fig. 6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import choice, rotations
from flexapod.motions.columns import (
    ORIENTATION,
    actuator_columns,
    check_names,
    find,
    find_actuators,
    find_rotation,
    find_time,
    has,
    present,
)
from flexapod.motions.encoder_filter import low_pass
from flexapod.motions.file_units import in_si, without_units
from flexapod.motions.measured import check_gaps, savitzky_golay, warn_of_noise
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.motions.quaternions import (
    RotationMotion,
    continuous_quaternions,
    quat_wxyz_motion,
    quat_wxyz_rotation,
    rotation_quat_wxyz,
)
from flexapod.motions.splines import OrientationSpline, actuator_spline, platform_spline, rotation_samples, spline, spline_values
from flexapod.motions.table_file import FileTable, MotionFileError, read_table
from flexapod.motions.time_laws import Values

Smooth = Callable[..., Any]
"""Samples to smooth samples; with savitzky-golay also their derivatives."""

__all__ = ["MotionFileError", "motion_from_file"]


@by_name
def motion_from_file(
    path: str | Path,
    *,
    kind: str = "auto",
    derivatives: str = "auto",
    columns: Mapping[str, str | Sequence[str]] | None = None,
    rotation: ArrayLike | None = None,
    orientation: str = "auto",
    cutoff: float | None = None,
    order: int | None = None,
    window: int | None = None,
    units: Mapping[str, str] | None = None,
    euler: str | None = None,
    delimiter: str | None = None,
) -> Motion | ActuatorMotion:
    """Read a motion from a CSV, Parquet (`.parquet`, `.pq`) or MATLAB (`.mat`) file, SI units and radians unless said.

    Args:
        path: the file; the first line of a CSV names the columns, lines that start with # are passed over.
        kind: `platform`, `actuators`, or `auto`: platform where the file has its position or orientation.
        derivatives: `columns`; `spline`: quintic splines through the samples; `low-pass`: filter, then splines;
            `savitzky-golay`: local polynomials and their derivatives; `auto`: columns where there are any, else splines. A file
            with velocity alone gets its acceleration from a spline of the velocity.
        columns: names of your own: {"time": "Zeit", "position": ["X", "Y", "Z"], "quat_xyzw": [...], ...}.
        rotation: (3, 3) constant orientation for a file without one.
        orientation: spline of `rotvec`, `quaternion` or `auto`, see `platform_spline`.
        cutoff: [Hz] of the low-pass filter; order: of one pass, 4 if left out.
        window: samples of a local polynomial (savitzky-golay), odd.
        units: of groups or columns, e.g. {"position": "mm", "euler": "deg"}; headers may say them too: ``x [mm]``.
        euler: axes of Euler angles in the order of their columns: any of the sequences that `euler_rotation` takes, `XYZ` about
            the rotated axes, `xyz` about the fixed ones. Roll is about x, pitch about y, yaw about z: columns yaw, pitch, roll in
            this order are `ZYX` or `zyx`.
        delimiter: of the CSV; comma, semicolon or tab are recognised.

    Columns: `t`; `p_x p_y p_z` or `x y z`; `R_11 .. R_33` or `r11 ..`; `quat_wxyz_0 .. 3`, `quat_xyzw_0 .. 3` or
    `qw qx qy qz`; `rotvec_x ..`; `euler_1 ..` or `roll pitch yaw`; `v_x`, `w_x`, `a_x`, `alpha_x`; actuators `q_1 ..`,
    `qd_1 ..`, `qdd_1 ..` (or `lam_`, `lamd_`, `lamdd_`).

    Source: Briot 2014, Fig. 6, for the filter. Checked by: tests/motions/test_motion_files.py.
    """
    choice("kind", kind, ("auto", "platform", "actuators"))
    choice("derivatives", derivatives, ("auto", "columns", "spline", "low-pass", "savitzky-golay"))
    if (derivatives == "low-pass") != (cutoff is not None):
        raise InputError("cutoff: give the cut-off frequency [Hz] together with derivatives='low-pass'")
    if order is not None and derivatives != "low-pass":
        raise InputError("order: belongs to derivatives='low-pass'; leave it out")
    if (derivatives == "savitzky-golay") != (window is not None):
        raise InputError("window: give the number of samples together with derivatives='savitzky-golay'")
    table, headers = without_units(read_table(Path(path), delimiter))
    chosen = check_names(table, columns)
    platform = any(has(table, group, chosen) for group in ("position", *ORIENTATION))
    actuators = kind == "actuators" or (kind == "auto" and not platform)
    table = in_si(table, headers, units, present(table, chosen) | (actuator_columns(table, chosen) if actuators else {}))
    time = find_time(table, chosen)
    smooth: Smooth | None = None
    if cutoff is not None:
        smooth = partial(low_pass, time=time, cutoff=cutoff, order=4 if order is None else order)
    elif window is not None:
        smooth = partial(savitzky_golay, time=time, window=window)
    try:
        data = _Data(table=table, time=time, chosen=chosen, derivatives=derivatives, smooth=smooth)
        if actuators:
            return _actuators(data)
        return _platform(data, find_rotation(table, chosen, euler), rotation, orientation)
    except MotionFileError:
        raise
    except InputError as error:
        raise MotionFileError(str(error), file=table.file) from error


@dataclass(frozen=True, kw_only=True, eq=False)
class _Data:
    """A file: its table, times (n,) [s], columns by group, where derivatives come from, and the filter, if any."""

    table: FileTable
    time: Array
    chosen: Mapping[str, tuple[str, ...]]
    derivatives: str
    smooth: Smooth | None


def _actuators(data: _Data) -> ActuatorMotion:
    table, time, chosen, smooth = data.table, data.time, data.chosen, data.smooth
    q, qd, qdd = find_actuators(table, chosen)
    rates = None if smooth else _from_columns(data, "actuator coordinates", qd, qdd)
    if rates is not None:
        return ActuatorMotion(time=time, position=q, velocity=rates[0], acceleration=rates[1])
    if smooth is None:
        check_gaps(table.file, time)
    _warn_of_noise(data, "actuator coordinates", q)
    if smooth is None:
        return actuator_spline(time=time, position=q)
    smoothed = smooth(values=q)
    if isinstance(smoothed, tuple):
        return ActuatorMotion(time=time, position=smoothed[0], velocity=smoothed[1], acceleration=smoothed[2])
    return actuator_spline(time=time, position=smoothed)


def _platform(data: _Data, R: Array | None, rotation: ArrayLike | None, orientation: str) -> Motion:
    """The platform's motion: its orientation from the file (R), or the constant one that was given (rotation)."""
    table, time, chosen, smooth = data.table, data.time, data.chosen, data.smooth
    p = find(table, "position", chosen)
    if p is None:
        raise table.missing("p_x", "position of the platform")
    if R is None and rotation is None:
        raise table.missing("R_11", "orientation R_11 .. R_33 or a quaternion; rotation=... sets a constant one")
    if R is not None and rotation is not None:
        raise table.error("has an orientation already; leave out rotation=...")
    fixed = R is None
    if R is None:
        R = np.repeat(rotations("rotation", rotation, (3, 3))[None], len(time), axis=0)
    v, a = find(table, "velocity", chosen), find(table, "acceleration", chosen)
    w, alpha = find(table, "angular_velocity", chosen), find(table, "angular_acceleration", chosen)
    still = np.zeros((len(time), 3))
    linear = None if smooth else _from_columns(data, "position", v, a)
    angular = (still, still) if fixed else None if smooth else _from_columns(data, "orientation", w, alpha)
    if smooth is None and (linear is None or angular is None):
        check_gaps(table.file, time)
    if linear is None:
        _warn_of_noise(data, "position", p)
    if angular is None:
        _warn_of_noise(data, "orientation", rotation_samples(R))
    if data.derivatives == "savitzky-golay" and smooth is not None:
        rotated = (R, *angular) if angular else quat_wxyz_motion(*smooth(values=continuous_quaternions(rotation_quat_wxyz(R))))
        return _joined(time, smooth(values=p), rotated)
    if smooth is not None:
        p = smooth(values=p)
        if not fixed:
            q = smooth(values=continuous_quaternions(rotation_quat_wxyz(R)))
            R = quat_wxyz_rotation(q / np.linalg.norm(q, axis=1, keepdims=True))
    if linear is None and (angular is None or fixed):
        return platform_spline(time=time, position=p, rotation=R, orientation=orientation)
    moved: Values = (p, *linear) if linear else spline_values(spline(time, p), time)
    rotated = (R, *angular) if angular else OrientationSpline(time, R, orientation)(time)
    return _joined(time, moved, rotated)


def _warn_of_noise(data: _Data, what: str, values: Array, order: int = 2) -> None:
    """Warn where noise of samples makes up most of their derivative of this order."""
    time, smooth = data.time, data.smooth

    def accelerate(x: Array) -> Array:
        x = x if smooth is None else smooth(values=x)
        return x[order] if isinstance(x, tuple) else spline_values(spline(time, x), time)[order]

    warn_of_noise(data.table.file, what, time, values, accelerate, smoothed=smooth is not None)


def _joined(time: Array, moved: Values, rotated: RotationMotion) -> Motion:
    return Motion(
        time=time, position=moved[0], rotation=rotated[0], velocity=moved[1], angular_velocity=rotated[1],
        acceleration=moved[2], angular_acceleration=rotated[2],
    )  # fmt: skip


def _from_columns(data: _Data, what: str, first: Array | None, second: Array | None) -> tuple[Array, Array] | None:
    """Both derivatives from columns, the second from a spline of the first where it is missing; None: by splines."""
    table, time, derivatives = data.table, data.time, data.derivatives
    if derivatives == "spline":
        return None
    if first is not None and second is not None:
        return first, second
    if derivatives == "columns":
        gone = "rates" if first is None else "accelerations"
        raise table.error(f"has no columns with the {gone} of the {what}; derivatives='spline' computes them")
    if second is not None:
        raise table.error(f"has accelerations of the {what} without its rates; derivatives='spline' computes both")
    if first is None:
        return None
    check_gaps(table.file, time)
    _warn_of_noise(data, what, first, order=1)
    return first, spline_values(spline(time, first), time)[1]
