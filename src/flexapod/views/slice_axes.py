"""Choice of the workspace slice through home: two components of the pose that the actuators control."""

from __future__ import annotations

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number

AXES = ("x", "y", "z", "rx", "ry", "rz")
TILT = 0.5
"""Half width of a slice along a rotation [rad]; along a translation it is the characteristic length."""


def slice_axes(robot: fp.Robot) -> tuple[str, ...]:
    """Two translations, else two rotations, else what there is; components that follow from others show nothing.

    Checked by: tests/views/test_report_parts.py.
    """
    free = [AXES[k] for k in robot.plan.platform_independent]
    shifts = [a for a in free if a in "xyz"]
    rotations = [a for a in free if a not in "xyz"]
    return tuple(next((found for found in (shifts, rotations) if len(found) > 1), free)[:2])


def slice_window(robot: fp.Robot, axes: tuple[str, ...], scale: float = 1.0) -> dict[str, tuple[float, float]]:
    """Axis -> (smallest, largest) about home, `scale` times the usual widths."""
    found = {}
    for a in axes:
        centre = float(robot.home.position["xyz".index(a)]) if a in "xyz" else 0.0
        half = scale * (robot.characteristic_length if a in "xyz" else TILT)
        found[a] = (centre - half, centre + half)
    return found


def along_axes(robot: fp.Robot, motion: fp.Motion, axes: tuple[str, ...]) -> Array:
    """A motion (n, axes) in the components of a slice [m, rad]."""
    rotations = fp.motions.rotation_rotvec(motion.rotation @ robot.home.rotation.T)
    return np.concatenate([motion.position, rotations], axis=1)[:, [AXES.index(a) for a in axes]]


def slice_name(axes: tuple[str, ...]) -> str:
    """`xy`, or `rx, ry`."""
    return "".join(axes) if all(a in "xyz" for a in axes) else ", ".join(axes)


def slice_words(robot: fp.Robot, axes: tuple[str, ...], scale: float = 1.0) -> str:
    """Extent of a slice from home, in words: `within 0.3 m of home`, or `within 28.65 deg of home`."""
    length, angle = f"{number(scale * robot.characteristic_length, 4)} m", f"{number(np.degrees(scale * TILT), 4)} deg"
    return f"within {' and '.join(dict.fromkeys(length if a in 'xyz' else angle for a in axes))} of home"
