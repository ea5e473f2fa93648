"""Columns of a table by content: time, position, orientation, actuator coordinates and their derivatives.

Names are those that flexapod writes (`t`, `p_x`, `R_11`, `v_x`, `w_x`, `a_x`, `alpha_x`; `q_1`, `qd_1`, `qdd_1`) and a few others
in common use; `columns=` of `motion_from_file` takes any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import ORTHONORMAL, choice, mapping
from flexapod.motions.quaternions import UNIT, quat_wxyz_rotation
from flexapod.motions.rotations import euler_rotation, rotvec_rotation
from flexapod.motions.table_file import FileTable

TIME = ("t", "time", "time_s")


def _axes(*prefixes: str) -> list[tuple[str, ...]]:
    return [tuple(prefix + axis for axis in "xyz") for prefix in prefixes]


def _components(order: str) -> list[tuple[str, ...]]:
    by_number = tuple(f"quat_{order}_{i}" for i in range(4))
    by_letter = tuple(f"quat_{order}_{c}" for c in order)
    return [by_number, by_letter]


GROUPS: dict[str, list[tuple[str, ...]]] = {
    "position": _axes("p_", "", "position_", "p"),
    "velocity": _axes("v_", "v", "velocity_"),
    "acceleration": _axes("a_", "a", "acceleration_"),
    "angular_velocity": _axes("w_", "w", "omega_", "angular_velocity_"),
    "angular_acceleration": _axes("alpha_", "alpha", "angular_acceleration_"),
    "rotation": [tuple(f"{p}{i}{j}" for i in "123" for j in "123") for p in ("R_", "R", "r", "r_", "rotation_")],
    "quat_wxyz": [*_components("wxyz"), *(tuple(p + c for c in "wxyz") for p in ("quat_", "q"))],
    "quat_xyzw": _components("xyzw"),
    "rotvec": _axes("rotvec_", "rv_", "r"),
    "euler": [("euler_1", "euler_2", "euler_3"), ("roll", "pitch", "yaw")],
}
"""Columns that belong together, by what they hold; the first full set is taken."""

ACTUATORS = {
    "actuator_position": ("q_", "lam_", "actuator_position_", "actuator_"),
    "actuator_velocity": ("qd_", "lamd_", "actuator_velocity_", "actuator_velocity_"),
    "actuator_acceleration": ("qdd_", "lamdd_", "actuator_acceleration_", "actuator_acceleration_"),
}
"""Beginnings of the columns of actuators, tried in order; the rest of the name is the actuator's."""


def check_names(table: FileTable, columns: Mapping[str, str | Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """Check of the columns given by the user: known keys, existing columns, right numbers of them."""
    known = {"time": 1, "rotation": 9, "quat_wxyz": 4, "quat_xyzw": 4} | dict.fromkeys(ACTUATORS, 0)
    known |= {name: 3 for name in GROUPS if name not in known}
    result = {}
    for key, value in mapping("columns", columns, {"time": "Zeit", "position": ["X", "Y", "Z"]}).items():
        size = known[choice("columns", key, tuple(known))]
        names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
        if not names or not all(isinstance(name, str) for name in names):
            raise InputError(f"columns: {key!r} needs column names as text, got {value!r}")
        if len(names) == 1 and names[0] not in table.cells:
            names = table.variables.get(names[0], names)  # one matrix of a MATLAB file
        if size and len(names) != size:
            raise InputError(f"columns: {key!r} needs {size} column name{'s' * (size > 1)}, got {len(names)}")
        for name in names:
            if name not in table.cells:
                raise table.missing(name, f"asked for as {key}")
        result[key] = names
    return result


def find(table: FileTable, group: str, chosen: Mapping[str, tuple[str, ...]]) -> Array | None:
    """The columns of a group, (n, columns); None if there is none of them; an error if some are missing."""
    if group in chosen:
        return np.column_stack([table.column(name) for name in chosen[group]])
    for names in GROUPS[group]:
        if all(name in table.cells for name in names):
            return np.column_stack([table.column(name) for name in names])
    for names in GROUPS[group]:
        there = [name for name in names if name in table.cells]
        if there:
            gone = next(name for name in names if name not in table.cells)
            raise table.missing(gone, f"{group.replace('_', ' ')}, with {', '.join(there)}")
    return None


def has(table: FileTable, group: str, chosen: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether any column of a group is there."""
    return group in chosen or any(name in table.cells for names in GROUPS[group] for name in names)


def find_time(table: FileTable, chosen: Mapping[str, tuple[str, ...]]) -> Array:
    """Time, checked row by row to increase."""
    name = chosen["time"][0] if "time" in chosen else next((name for name in TIME if name in table.cells), None)
    if name is None:
        raise table.missing("t", "time [s]")
    t = table.column(name)
    late = np.flatnonzero(np.diff(t) <= 0)
    if len(late):
        i = int(late[0]) + 1
        how = "repeats the time before" if t[i] == t[i - 1] else f"comes after {t[i - 1]:g} s"
        raise table.error(f"time has to increase, but {t[i]:g} s {how}", column=name, index=i)
    return t


ORIENTATION = ("rotation", "quat_wxyz", "quat_xyzw", "rotvec", "euler")
"""Groups that say how the platform is turned; a file has one of them."""


def present(table: FileTable, chosen: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Columns of every group that the table has, as they will be read."""
    found: dict[str, tuple[str, ...]] = {}
    for group, sets in GROUPS.items():
        found[group] = next((names for names in sets if all(n in table.cells for n in names)), ())
    found["time"] = tuple(name for name in TIME if name in table.cells)[:1]
    return {group: names for group, names in {**found, **chosen}.items() if names}


def find_rotation(table: FileTable, chosen: Mapping[str, tuple[str, ...]], sequence: str | None = None) -> Array | None:
    """Rotation matrices (n, 3, 3) from nine columns, a quaternion, a rotation vector, or Euler angles about the axes of
    `sequence`; None where the file has no orientation."""
    given = [group for group in ORIENTATION if group in chosen]
    forms = given or [group for group in ORIENTATION if has(table, group, chosen)]
    if len(forms) > 1:
        raise table.error(f"has the orientation as {' and as '.join(forms)}; choose one with columns={{{forms[0]!r}: [...]}}")
    if not forms:
        return None
    values = find(table, forms[0], chosen)
    assert values is not None
    if forms[0] == "euler" and sequence is None:
        raise table.error("has Euler angles; say about which axes, e.g. euler='XYZ' (rotated axes) or 'xyz' (fixed axes)")
    if forms[0] != "euler" and sequence is not None:
        raise table.error(f"has the orientation as {forms[0]}, not as Euler angles; leave out euler=...")
    if forms[0] == "euler":
        return _from_angles(table, chosen, str(sequence))
    if forms[0] == "rotvec":
        return rotvec_rotation(values)
    if forms[0] == "rotation":
        return _checked_matrices(table, values.reshape(-1, 3, 3))
    norm = np.linalg.norm(values, axis=1)
    bad = np.flatnonzero(np.abs(norm - 1) > UNIT)
    if len(bad):
        i = int(bad[0])
        raise table.error(f"expected a unit quaternion, but its norm is {norm[i]:.9g}", column=forms[0], index=i)
    return quat_wxyz_rotation(values if forms[0] == "quat_wxyz" else np.roll(values, 1, axis=1))


def _from_angles(table: FileTable, chosen: Mapping[str, tuple[str, ...]], sequence: str) -> Array:
    """Rotations from Euler angles, the columns roll, pitch and yaw in the order of the file unless said otherwise."""
    names = present(table, chosen)["euler"]
    if {name.lower() for name in names} == set(ABOUT):
        names = names if "euler" in chosen else tuple(name for name in table.cells if name in names)
        meant = "".join(ABOUT[name.lower()] for name in names)
        if sequence.lower() != meant:
            raise table.error(
                f"euler={sequence!r} does not fit the columns {', '.join(names)}, which are angles about {', '.join(meant)}; say "
                f"euler={meant.upper()!r} (rotated axes) or {meant!r} (fixed axes), or name the columns euler_1, euler_2, euler_3"
            )
    return euler_rotation(sequence, np.column_stack([table.column(name) for name in names]))


ABOUT = {"roll": "x", "pitch": "y", "yaw": "z"}
"""Axes of the angles that have names."""


def _checked_matrices(table: FileTable, R: Array) -> Array:
    off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2))
    mirrored = np.linalg.det(R) < 0
    bad = np.flatnonzero((off > ORTHONORMAL) | mirrored)
    if len(bad):
        i = int(bad[0])
        what = "is a reflection" if mirrored[i] else f"is not orthonormal (off by {off[i]:.2g}); write at least 7 digits"
        raise table.error(f"the matrix {what}", column="rotation", index=i)
    return R


def find_actuators(table: FileTable, chosen: Mapping[str, tuple[str, ...]]) -> tuple[Array, Array | None, Array | None]:
    """Actuator coordinates and, where the file has them, their derivatives, (n, actuators) each."""
    names = actuator_columns(table, chosen)
    q, qd, qdd = (np.column_stack([table.column(name) for name in names[g]]) if g in names else None for g in ACTUATORS)
    assert q is not None
    return q, qd, qdd


def actuator_columns(table: FileTable, chosen: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Group -> columns of the actuators, of the groups that the file has."""
    if "actuator_position" not in chosen:
        found = dict(zip(ACTUATORS, _actuator_names(table), strict=True))
    else:
        found = {group: chosen.get(group) for group in ACTUATORS}
        if any(names is not None and len(names) != len(chosen["actuator_position"]) for names in found.values()):
            raise InputError("columns: actuator position, velocity and acceleration need the same number of columns")
    return {group: names for group, names in found.items() if names is not None}


def _actuator_names(table: FileTable) -> list[tuple[str, ...] | None]:
    for position, *rates in zip(*ACTUATORS.values(), strict=True):
        others = ("actuator_velocity_", "actuator_acceleration_", "actuator_position_") if position == "actuator_" else ()
        names = [name for name in table.cells if name.startswith(position) and not name.startswith(others)]
        labels = [name.removeprefix(position) for name in names]
        if labels:
            return [tuple(position + x for x in labels), *(_rate_names(table, rate, labels) for rate in rates)]
    labels = [name[1:] for name in table.cells if re.fullmatch(r"q\d+", name)]
    if labels:
        return [tuple("q" + x for x in labels), *(_rate_names(table, rate, labels) for rate in ("qd", "qdd"))]
    raise table.missing("p_x", "position of the platform p_x, p_y, p_z, or actuator coordinates q_1, q_2, ...")


def _rate_names(table: FileTable, prefix: str, labels: list[str]) -> tuple[str, ...] | None:
    names = tuple(prefix + label for label in labels)
    if not any(name in table.cells for name in names):
        return None
    for name in names:
        if name not in table.cells:
            raise table.missing(name, "rates of all actuators or of none")
    return names
