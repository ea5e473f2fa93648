r"""The equation of a robot with flexible legs in numbers: loops closed and projected by linear algebra, sample by sample.

.. math:: N = \begin{pmatrix}1\\-A_b^{+}A_f\end{pmatrix},\qquad M = N^TM_zN,\qquad c = N^T(h + M_z\beta)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import ClosedLegs, evaluate, platform_jacobian
from flexapod.analysis.model.linear_solve import left_inverse, pseudo_inverse
from flexapod.analysis.model.point_load import load_slope
from flexapod.analysis.requests.request import NO_LOAD, Load
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import driven_columns

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class LegTerms:
    """M (n, u, u), c (n, u), N (n, z, u), beta (n, z), A (n, actuators, u), gamma (n, actuators) of n states; before the loops
    are closed `mass` (n, z, z), `forces` (n, z), closing `rows` (n, m, z)."""

    M: Array
    c: Array
    N: Array
    beta: Array
    A: Array
    gamma: Array
    mass: Array
    forces: Array
    rows: Array


def leg_terms(robot: Robot, state: ClosedLegs, wrench: Array, friction: bool, reasons: Reasons) -> LegTerms:
    """Terms of the equation M u'' + c = A^T Gamma.

    Args:
        wrench: (n, 6) on the platform frame, world axes; with forces on the platform's modes (n, 6 + N), see
            `wrench_and_mode_forces`.

    Source: Briot 2014 Eqs. (28)-(44). Checked by: tests/analysis/test_flexible_legs.py.
    """
    given = {**state.inputs(), "wrench": wrench[:, :6]}
    found = _pressed(robot, wrench, evaluate(robot, "elastic_terms", given, reasons, friction=friction))
    rows, drift = _rows(robot, found)
    N, beta = closed(robot, rows, drift)
    reasons[~np.isfinite(N).all(axis=(1, 2)) & (reasons == "")] = SINGULAR
    Nt = np.swapaxes(N, 1, 2)
    M_z, driven = found["mass"], driven_columns(robot)
    return LegTerms(
        M=Nt @ M_z @ N,
        c=np.einsum("nzu,nz->nu", N, found["forces"] + np.einsum("nij,nj->ni", M_z, beta)),
        N=N,
        beta=beta,
        A=N[:, driven],
        gamma=beta[:, driven],
        mass=M_z,
        forces=found["forces"],
        rows=rows,
    )


def _pressed(robot: Robot, wrench: Array, found: dict[str, Array]) -> dict[str, Array]:
    """The equation with the forces of a load on the platform's modes, if it has some."""
    if wrench.shape[1] == 6:
        return found
    forces = np.array(found["forces"])
    forces[:, mode_columns(robot)] -= wrench[:, 6:]
    return {**found, "forces": forces}


def _rows(robot: Robot, found: dict[str, Array]) -> tuple[Array, Array]:
    """Closing rows (n, m, z) and their drift (n, m); none where a single leg carries the platform."""
    none = np.zeros((len(found["forces"]), 0, len(robot.elastic_plan.columns)))
    rows = found.get("rows", none)
    return rows, found.get("drift", np.zeros(rows.shape[:2]))


def elastic_columns(robot: Robot) -> list[int]:
    """Columns of z that are elastic coordinates, in the order of ``robot.elastic_names``."""
    at = len(robot.elastic_plan.columns) - len(robot.coordinates)
    modes = len(robot.elastic_names) - len(robot.elastic_indices)
    return [*range(at - modes, at), *(at + k for k in robot.elastic_indices)]


def mode_columns(robot: Robot) -> list[int]:
    """Columns of z that are modes of a flexible platform."""
    return elastic_columns(robot)[: len(robot.elastic_names) - len(robot.elastic_indices)]


def closed(robot: Robot, rows: Array, drift: Array) -> tuple[Array, Array]:
    """N (n, z, u) and beta (n, z) from closing rows (n, m, z) and their drift (n, m)."""
    plan, count = robot.elastic_plan, len(rows)
    free, bound = list(plan.independent), list(plan.bound)
    N, beta = np.zeros((count, len(plan.columns), len(free))), np.zeros((count, len(plan.columns)))
    N[:, free] = np.eye(len(free))
    if bound:
        inverse = left_inverse(rows[:, :, bound])
        N[:, bound] = -inverse @ rows[:, :, free]
        beta[:, bound] = -np.einsum("nbm,nm->nb", inverse, drift)
    return N, beta


SINGULAR = "singular: the actuators and elastic coordinates do not determine how its loops close"


def leg_stiffness(
    robot: Robot, state: ClosedLegs, wrench: Array, reasons: Reasons, load: Load = NO_LOAD
) -> tuple[Array, Array, Array]:
    """Static forces rho = N^T h (n, u), their exact derivative K (n, u, u) along the closed loops, and N (n, z, u).

    Args:
        wrench: as for `leg_terms`, constant but for what a `load` at a point of the platform changes as the point moves.

    Actuators whose coordinates follow from others by the loops hold their part with constant forces (`holding_forces`).

    Checked by: tests/analysis/test_flexible_legs.py, tests/analysis/test_redundant_drives.py.
    """
    rows = max(1, sum(len({*leg.rows, *leg.leftover}) for leg in robot.elastic_plan.legs))
    given = {**state.inputs(), "wrench": wrench[:, :6], "multiplier": np.zeros((len(wrench), rows))}
    found = _pressed(robot, wrench, evaluate(robot, "elastic_statics", given, reasons))
    A, _ = _rows(robot, found)
    N, _ = closed(robot, A, np.zeros(A.shape[:2]))
    reasons[~np.isfinite(N).all(axis=(1, 2)) & (reasons == "")] = SINGULAR
    rho = np.einsum("nzu,nz->nu", N, found["forces"])
    bound = list(robot.elastic_plan.bound)
    K = found["stiffness"]
    if bound:
        left, driven = np.array(found["forces"]), driven_columns(robot)
        if not set(driven) <= set(robot.elastic_plan.independent):
            left[:, driven] -= holding_forces(robot, rho, N)[0]
        given["multiplier"] = np.einsum("nbm,nb->nm", left_inverse(A[:, :, bound]), left[:, bound])
        K = evaluate(robot, "elastic_statics", given, reasons)["stiffness"]
    K = np.swapaxes(N, 1, 2) @ K @ N
    slope = load_slope(robot, state, load)
    if slope is not None:
        X = np.concatenate([platform_jacobian(robot, state, reasons)[0], N[:, mode_columns(robot)]], axis=1)
        K = K - np.swapaxes(X, 1, 2) @ slope @ X
    return rho, K, N


def holding_forces(robot: Robot, rho: Array, N: Array) -> tuple[Array, Array]:
    """Actuator forces (n, actuators) against static forces rho (n, u), and the largest force left over (n,)."""
    A = N[:, driven_columns(robot)]
    force = np.einsum("nau,nu->na", pseudo_inverse(np.swapaxes(A, 1, 2)), rho)
    left = rho - np.einsum("nau,na->nu", A, force)
    return force, np.abs(left).max(axis=1)


def matrices_at(robot: Robot, state: ClosedLegs, reasons: Reasons) -> tuple[Array, Array]:
    """Stiffness and damping (n, z, z), or (1, z, z) where they are the same at all states, without prestress."""
    if robot.forces:
        found = evaluate(robot, "elastic_constants", state.inputs(), reasons)
        return found["stiffness"], found["damping"]
    K, D = constant_matrices(robot)
    return K[None], D[None]


def constant_matrices(robot: Robot) -> tuple[Array, Array]:
    """Stiffness and damping (z, z) of beams, springs and the platform's modes, without prestress."""
    plan = robot.elastic_plan
    size = len(plan.columns)
    K, D = np.zeros((size, size)), np.zeros((size, size))
    at = size - len(robot.coordinates)
    body = robot.flexible_platform
    if body is not None:
        modes = slice(at - len(body.names), at)
        K[modes, modes], D[modes, modes] = body.K_ee, body.D_ee
    for i, leg in enumerate(robot.legs):
        column = {index: plan.first[i] + k for k, index in enumerate(leg.moving)}
        for index, k in column.items():
            link = leg.links[index]
            K[k, k], D[k, k] = K[k, k] + link.stiffness, D[k, k] + link.damping
        for beam in robot.beams.get(leg.name, ()):
            own = np.ix_([column[k] for k in beam.links], [column[k] for k in beam.links])
            K[own], D[own] = K[own] + beam.body.K_ee, D[own] + beam.body.D_ee
    return K, D
