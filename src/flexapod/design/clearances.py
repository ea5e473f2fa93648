r"""Joint clearance as a source of pose errors: a joint is in contact in the direction of its load.

.. math:: e = \sum_j D_j\,c_j\,\frac{f_j}{|f_j|}

Letters: c clearance, f force in the joint at rest, D pose error per displacement of the joint's centre.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.arrays import Array
from flexapod.design.pose_errors import PerturbedPoses
from flexapod.design.variables import number
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


def clearance_shift(
    robot: Robot, at: State | Motion, clearances: Mapping[str, float] | float | None, wrench: ArrayLike | None
) -> Array:
    """Pose error (m, 6) of joints that rest against their sockets under the load at rest.

    The base-side body pushes the next one with f: the next body's centre lags by c f/|f| behind the joint's. On the platform
    (`on`) this is as if the joint lay further along f, on the base (`at`) further against it.

    Checked by: tests/design/test_tolerance.py.
    """
    if not isinstance(clearances, dict) or not clearances:
        raise InputError("clearances: give a mapping of joints to clearances, e.g. {'legs.*.ball': '5 um'}")
    result = inverse_dynamics(robot, at, reactions=True, friction=False, wrench=wrench)
    force = result.reaction_force.values.reshape(-1, result.sizes["joint"], 3)
    rotation = at.rotation.reshape(-1, 3, 3)
    total = np.zeros((len(force), 6))
    for text, amount in clearances.items():
        c = number(f"clearances: {text}", amount, "m")
        for leg in robot.legs:
            name = str(text).replace("legs.*.", f"legs.{leg.name}.")
            if not name.startswith(f"legs.{leg.name}."):
                continue
            joint = name.removeprefix("legs.")
            if joint not in result.joint.values:
                raise InputError(f"clearances: there is no joint {name}; there are: {', '.join(map(str, result.joint.values))}")
            f = force[:, list(result.joint.values).index(joint)]
            if not np.all(np.isfinite(f)):
                raise InputError(f"clearances: the force in {name} is statically indeterminate with rigid bodies; leave it out")
            moved, sign = (f"{name}.on", 1.0) if f"{name}.on" in robot.parameters else (f"{name}.at", -1.0)
            direction = f / np.maximum(np.linalg.norm(f, axis=1, keepdims=True), 1e-300)
            if sign > 0:
                direction = np.einsum("nji,nj->ni", rotation, direction)
            D = PerturbedPoses(robot, [f"{moved}.{axis}" for axis in "xyz"], at).derivative()
            total += np.einsum("mij,mj->mi", D, sign * c * direction)
    return total
