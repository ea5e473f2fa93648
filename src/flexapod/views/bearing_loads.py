r"""Loads of joints in the bearing's own axes: radial and axial parts of the force that a joint passes on.

.. math:: F_{axial} = |a \cdot F|, \qquad F_{radial} = |F - a\,(a \cdot F)|

a is the unit vector of the joint's axis in the world, F the reaction at its centre. A slide's axial part is the drive's own and
not in the reaction; a ball has no axis, so it is not listed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.scene.frames import link_frames
from flexapod.views.sizing import rms

if TYPE_CHECKING:
    import xarray as xr


HEAD = ("joint", "peak radial force [N]", "peak axial force [N]", "RMS radial [N]", "RMS axial [N]")
PARALLEL = 1e-9
"""An axis whose direction is this near to that of a world axis is that one."""


def joint_axes(robot: fp.Robot, joints: Array) -> dict[str, Array]:
    """Unit vectors (n, 3) of the axes of all hinges and slides of the legs' chains in the world, by the names of reactions.

    Args:
        joints: (n, coordinates) joint coordinates.
    """
    found: dict[str, list[Array]] = {}
    for row in joints:
        for leg, own in zip(robot.legs, link_frames(robot, row), strict=True):
            for link, frame in zip(leg.links, own, strict=True):
                if link.kind in ("R", "P"):
                    found.setdefault(f"{leg.name}.{link.coordinate}", []).append(frame.rotation[:, 2])
    return {name: np.array(axes) for name, axes in found.items()}


def bearing_loads(robot: fp.Robot, joints: Array, drive: xr.Dataset) -> dict[str, tuple[Array, Array]]:
    """Radial and axial force (n,) [N] of every hinge and slide along a motion.

    Args:
        joints: (n, coordinates) of inverse kinematics along the motion; drive: its inverse dynamics with reactions.

    Checked by: tests/views/test_bearing_loads.py.
    """
    axes, loads = joint_axes(robot, joints), {}
    for k, name in enumerate(str(joint) for joint in drive.joint.values):
        if name not in axes:
            continue
        loads[name] = _parts(axes[name], drive.reaction_force.values[:, k])
    return loads


def _parts(a: Array, F: Array) -> tuple[Array, Array]:
    """Radial and axial part (n,) of forces F (n, 3) at axes a (n, 3); NaN where it needs a component that is not determined."""
    lost = np.isnan(F)
    F = np.where(lost, 0.0, F)
    along = np.sum(a * F, axis=1)
    across = np.linalg.norm(F - a * along[:, None], axis=1)
    beside = np.any(lost & (np.abs(a) > PARALLEL), axis=1)
    askew = np.any(lost & (np.abs(a) < 1.0 - PARALLEL), axis=1)
    return np.where(askew, np.nan, across), np.where(beside, np.nan, np.abs(along))


def bearing_rows(loads: dict[str, tuple[Array, Array]], time: Array) -> list[list[str]]:
    """Rows of the table, RMS over time (n,) [s]; parts that rigid bodies do not determine are marked, rounding is zero."""
    largest = max((float(np.nanmax(part)) for pair in loads.values() for part in pair if np.any(np.isfinite(part))), default=0.0)
    rows = []
    for name, pair in loads.items():
        cells: list[Any] = [_reported(part, np.nanmax, largest) for part in pair]
        cells += [_reported(part, lambda x: rms(time, x[:, None])[0], largest) for part in pair]
        rows.append([name, *cells])
    return rows


def _reported(part: Array, measure: Callable[[Array], float], largest: float) -> str:
    if not np.all(np.isfinite(part)):
        return "not determined"
    value = float(measure(part))
    return number(value if value > 1e-9 * largest else 0.0, 5)
