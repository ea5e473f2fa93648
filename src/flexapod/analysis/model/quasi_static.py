"""Quasi-static deflection of flexible legs at given actuator coordinates, rates and accelerations: e' = e'' = 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closed_legs import (
    ActuatorState,
    ClosedLegs,
    close,
)
from flexapod.analysis.model.leg_model import elastic_columns, leg_stiffness, leg_terms
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.model.point_load import wrench_and_mode_forces
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import chosen_drives, driven_columns

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Load
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


LIMIT = 40
"""Newton steps of a static deflection; in the linear range it takes four."""

SETTLED = 1e-13
"""Last step of a static deflection, of the largest elastic coordinate or step so far."""

ROUNDING = 1e-9
"""Steps up to this may be rounding of stiff beams: they end the iteration once they no longer decrease."""

NOISE = 1e-12
"""Steps up to this, of the characteristic length, may be rounding as well: loops close to 1e-16 of it, and a robot near a
buckling load amplifies that."""

NOTHING = 1e-5
"""Deflections, of the characteristic length, below which steps are judged against this size: rounding has no digits to settle."""

FOLLOWED = 1e-12
"""Change of a load that rotates with the platform, of itself, at which its equilibrium is found."""


def with_static_deflection(
    robot: Robot, state: ClosedLegs, wrench: Array, acceleration: Array, friction: bool, reasons: Reasons
) -> ClosedLegs:
    """Quasi-static deflection at given actuator coordinates, rates and accelerations: e' = e'' = 0.

    Source: Briot 2014 Eq. (43) without elastic rates. Checked by: tests/analysis/test_flexible_legs.py.
    """
    free = [k for k, column in enumerate(robot.elastic_plan.independent) if column not in driven_columns(robot)]
    own, driven = chosen_drives(robot)
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    moved = [where[robot.elastic_plan.independent[k]] for k in free if robot.elastic_plan.independent[k] in where]
    columns = [k for k in free if robot.elastic_plan.independent[k] in where]
    if not columns:  # nothing deforms; coordinates that nothing drives stay where they are
        return state
    largest, before = np.full(len(reasons), NOTHING * robot.characteristic_length), np.full(len(reasons), np.inf)
    soft = np.zeros(len(reasons), dtype=bool)
    for first in (True, *[False] * (LIMIT - 1)):
        terms = leg_terms(robot, state, wrench, friction, reasons)
        _, K, _ = leg_stiffness(robot, state, wrench, reasons)
        soft = _indefinite(K[:, columns][:, :, columns]) if first else soft
        rho = (terms.c + np.einsum("nij,nj->ni", terms.M[:, :, driven], acceleration[:, own]))[:, columns]
        step = np.zeros_like(rho)
        good = (reasons == "") & np.all(np.isfinite(rho), axis=1)
        step[good] = -solved(K[np.ix_(good, columns, columns)], rho[good])
        e, ed = state.elastic(robot)
        e[:, moved] += step
        q, qd = state.actuators(robot)
        state = searched(robot, state, ActuatorState(q=q, e=e, qd=qd, ed=ed), soft, reasons)
        size = np.abs(step).max(axis=1)
        largest = np.maximum(largest, np.maximum(size, np.abs(e).max(axis=1)))
        still = (size < rounding(robot, largest)) & (size > before / 2.0)
        if np.all((size <= SETTLED * largest) | still | (reasons != "")):
            return state
        before = size
    late = ~(size <= rounding(robot, largest)) & (reasons == "")
    reasons[late] = np.where(soft[late], UNSTABLE, NOT_FOUND)
    return state


def rounding(robot: Robot, largest: Array) -> Array:
    """Steps (n,) that may be rounding, of searches whose largest elastic coordinate or step was `largest` (n,)."""
    return np.maximum(ROUNDING * largest, NOISE * robot.characteristic_length)


NOT_FOUND = "no static deflection found: the load buckles a leg, or the pose is singular"

UNSTABLE = (
    "no static deflection found: with these actuators held the weight and the load are beyond a buckling load of the undeformed "
    "robot, and no equilibrium is near it; hold the platform's pose (a State), or lighten or stiffen the robot"
)

TOO_FAR = "no static deflection found: the load deflects the robot further than its legs reach"


def _indefinite(K: Array) -> NDArray[np.bool_]:
    """Whether each stiffness matrix (n, k, k) has a direction without stiffness."""
    result = np.zeros(len(K), dtype=bool)
    good = np.isfinite(K).all(axis=(1, 2))
    size = np.sqrt(np.abs(np.einsum("nii->ni", K[good])))
    size = np.where(size > 0.0, size, 1.0)  # forces and moments on one scale
    even = (K[good] + np.swapaxes(K[good], 1, 2)) / 2.0 / size[:, :, None] / size[:, None, :]
    result[good] = np.linalg.eigvalsh(even).min(axis=1, initial=1.0) < 0.0
    return result


def searched(robot: Robot, state: ClosedLegs, to: ActuatorState, soft: NDArray[np.bool_], reasons: Reasons) -> ClosedLegs:
    """The state after a step of a search for an equilibrium; loops that cannot be closed there say why it went so far.

    Args:
        soft: samples whose undeformed robot is beyond a buckling load.
    """
    own = np.full(len(reasons), "", dtype=object)
    found = close(robot, state, to, own)
    lost = (own != "") & (reasons == "")
    reasons[lost] = np.where(soft[lost], UNSTABLE, TOO_FAR)
    return found


def held_deflection(
    robot: Robot, state: ClosedLegs, load: Load, acceleration: Array, friction: bool, reasons: Reasons
) -> tuple[ClosedLegs, Array]:
    """Quasi-static deflection with the actuators held under a load that may rotate with the platform, and the wrench there."""
    wrench = wrench_and_mode_forces(robot, state, load)
    for _ in range(LIMIT):
        state = with_static_deflection(robot, state, wrench, acceleration, friction, reasons)
        before, wrench = wrench, wrench_and_mode_forces(robot, state, load)
        change = np.abs(wrench - before).max(axis=1, initial=0.0)
        if np.all((change <= FOLLOWED * np.abs(wrench).max(axis=1, initial=0.0)) | (reasons != "")):
            return state, wrench
    reasons[reasons == ""] = "no static deflection found: the load rotates with the platform, and the iteration does not converge"
    return state, wrench
