"""Placement of an MJCF element: its position, and its orientation in any of MuJoCo's forms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexapod.bridges.imported import ImportedModelError, unit_axis, values
from flexapod.robot.geometry import Pose, pose, rotation_from_vector
from flexapod.rotation_arrays import quaternion_rotation

ORDER = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}


def placed(a: Mapping[str, str], where: str, angle: float, sequence: str) -> Pose:
    """Pose of an element in its parent's frame.

    Args:
        a: its attributes; where: file and element, for messages.
        angle: rad per unit of the file's angles; sequence: of Euler angles.

    Checked by: tests/bridges/test_mjcf.py.
    """
    position = values(a, "pos", where, 3, "0 0 0")
    if "quat" in a:
        return pose(position, quaternion_rotation(np.asarray(unit_axis(a, "quat", where, 4))))
    if "axisangle" in a:
        *_, amount = values(a, "axisangle", where, 4)
        axis = unit_axis({"axisangle": " ".join(a["axisangle"].split()[:3])}, "axisangle", where, 3)
        return pose(position, rotation_from_vector(axis * amount * angle))
    if "euler" in a:
        R = np.eye(3)
        for letter, amount in zip(sequence, values(a, "euler", where, 3), strict=True):
            step = rotation_from_vector(np.array(ORDER[letter.lower()]) * amount * angle)
            R = R @ step if letter.islower() else step @ R
        return pose(position, R)
    if "zaxis" in a:
        z = unit_axis(a, "zaxis", where, 3)
        across = np.cross([0.0, 0.0, 1.0], z)
        s = float(np.linalg.norm(across))
        vector = across / s * np.arctan2(s, z[2]) if s > 0 else np.array([np.pi if z[2] < 0 else 0.0, 0.0, 0.0])
        return pose(position, rotation_from_vector(vector))
    if "xyaxes" in a:
        x, y = np.array(values(a, "xyaxes", where, 6)).reshape(2, 3)
        x = x / np.linalg.norm(x) if x.any() else x
        y = y - (y @ x) * x
        if not (x.any() and y.any()):
            raise ImportedModelError(f"{where}: xyaxes is {a['xyaxes']!r}; expected two directions that differ")
        y = y / np.linalg.norm(y)
        return pose(position, np.column_stack([x, y, np.cross(x, y)]))
    return pose(position)
