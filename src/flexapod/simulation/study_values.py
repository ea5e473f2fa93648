"""Numbers per trajectory of a simulated study: the checks of the robot file, on columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.design_request import impossible_inertias
from flexapod.arrays import Array, given_array
from flexapod.description.unit_parser import LARGEST
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


NOT_NEGATIVE = re.compile(r"\.(mass|rotor|length|friction\.\w+)$|^controller\.k")
"""Names of numbers that the robot file, or a controller, does not take below 0."""

FOLLOWING = re.compile(r"\.(R|axes|n0|y0)\.[xyz]{1,2}$|\.friction\.guide_[uv]\.|\.(mode|link_mode|tip|home)$|\.flex\.")
"""Names of numbers that follow from others, together: entries of rotations, signs of branches, integrals of mode shapes."""


def study_columns(robot: Robot, known: Mapping[str, float], values: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Numbers (n,) by name, as given for trajectories.

    Args:
        known: numbers that kernels read, of robot and controller.
        values: by name, one number per trajectory.
    Raises:
        InputError: an unknown name, no numbers, numbers that are not finite, or that no robot can have.

    Checked by: tests/simulation/test_study.py.
    """
    columns = {name: _column(name, value, known) for name, value in values.items()}
    if len({len(column) for column in columns.values()}) == 1:
        reasons = impossible_inertias(robot, columns)
        if reasons is not None and np.any(reasons != ""):
            first = int(np.flatnonzero(reasons != "")[0])
            raise InputError(f"values: trajectory {first}: {reasons[first]}")
    return columns


def _column(name: str, value: ArrayLike, known: Mapping[str, float]) -> Array:
    if name not in known:
        raise InputError(f"values: there is no number called {name!r}; see robot.values and controller.parameters(robot)")
    if FOLLOWING.search(name):
        raise InputError(f"values: {name} follows from other numbers of the robot; give robots= built with_parameters instead")
    array = given_array(f"values: {name}", value)
    if array.ndim != 1:
        raise InputError(f"values: {name} needs one number per trajectory, got shape {array.shape}")
    if not len(array):
        raise InputError(f"values: {name}: is empty; give one number per trajectory")
    if array.dtype.kind not in "iuf":
        raise InputError(f"values: {name}: expected numbers, got {array.dtype.name if array.dtype.kind != 'U' else 'texts'}")
    column = np.asarray(array, dtype=np.float64)
    _check(name, column)
    return column


def _check(name: str, column: Array) -> None:
    for wrong, why in (
        (~np.isfinite(column), "expected finite numbers"),
        (np.abs(column) > LARGEST, f"numbers go up to {LARGEST:g}"),
        ((column < 0.0) & bool(NOT_NEGATIVE.search(name)), "must not be below 0"),
    ):
        if np.any(wrong):
            first = int(np.flatnonzero(wrong)[0])
            raise InputError(f"values: {name}: {why}; trajectory {first} has {column[first]:g}")
