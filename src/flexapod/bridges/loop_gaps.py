"""Gaps of the loops of an imported file at the positions of its bodies."""

from __future__ import annotations

import numpy as np

from flexapod.arrays import Array
from flexapod.bridges.body_tree import ClosingLoop, Tree, inverse
from flexapod.robot.geometry import Pose
from flexapod.rotation_arrays import rotation_vector

CLOSED = 1e-6
"""Gaps [m or rad] that numbers of a file with six digits leave; no remark is made on them."""


def open_loops(tree: Tree) -> tuple[str, ...]:
    """A remark on every loop that is open at home.

    Checked by: tests/bridges/test_urdf.py.
    """
    found = []
    for loop in tree.loops:
        metres, radians = gap(tree, loop)
        parts = [f"{size:.2g} {unit}" for size, unit in ((metres, "m"), (radians, "rad")) if size > CLOSED]
        if parts:
            found.append(f"the loop {loop.name!r} is open by {' and '.join(parts)} where the file puts its bodies; the robot is "
                         "assembled by moving the joints of its legs from there")  # fmt: skip
    return tuple(found)


def gap(tree: Tree, loop: ClosingLoop) -> tuple[float, float]:
    """Distance [m] and angle [rad] between the halves of a closing joint at home, less what the joint leaves free."""
    one, two = tree.at_home(loop.first) @ loop.on_first, tree.at_home(loop.second) @ loop.on_second
    seen = inverse(one) @ two
    apart = np.asarray(seen.position)
    if loop.type in ("prismatic", "cylindrical"):
        apart = apart[:2]
    return float(np.linalg.norm(apart)), _angle(loop, seen)


def _angle(loop: ClosingLoop, seen: Pose) -> float:
    """Error of the axes; `seen`: the second half from the first."""
    R: Array = np.asarray(seen.rotation)
    if loop.type == "spherical":
        return 0.0
    if loop.type == "universal":
        return abs(float(np.arcsin(np.clip(R[2, 2], -1.0, 1.0))))
    if loop.type in ("revolute", "cylindrical"):
        return float(np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2]))
    return float(np.linalg.norm(rotation_vector(R)))
