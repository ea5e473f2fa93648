r"""Forces from the virtual motions of the actuators.

With A the actuator rows (A V = D q', D their scales) and N a basis of the platform twists that the constraints allow, the
virtual motions of Staicu Eq. (16) are the columns of

.. math:: V^v = N\,(A N)^{-1} D

and Eq. (20) is f = own + (V^v)^T load: the same numbers as one solve with the transposed matrix, (A N)^T g = N^T load,
f = own + D g, which `transposed_forces` does instead of one solve per actuator.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.virtual_work.leg_work import SMALLEST, LegWork
from flexapod.kernels.tape.program import Program
from flexapod.robot.plan import ClosingPlan
from flexapod.spatial.gram_schmidt import GramSchmidt

SINGULAR = "the actuators cannot hold the platform: it is singular here (type 2)"


def transposed_forces(b: Program, plan: ClosingPlan, legs: Sequence[LegWork], platform_load: SX) -> SX:
    """Forces of all actuators (n,) by one solve; of minimum norm where actuation is redundant.

    Source: Staicu 2009 Eqs. (16), (20); Sinatra 2009 Eqs. (15), (21), transposed.
    Checked by: tests/equations/test_virtual_work.py.
    """
    A, scales, own = _stacked(legs)
    load = sum((leg.load for leg in legs), platform_load)
    N = allowed_twists(b, plan, legs)
    reduced: SX = A if N is None else ca.mtimes(A, N)
    right = load if N is None else ca.mtimes(N.T, load)
    if reduced.shape[0] == reduced.shape[1]:
        factor = GramSchmidt(ca.horzsplit(reduced.T))
        force = own + scales * factor.solve(right)
    else:
        per_rate = reduced / ca.repmat(scales, 1, reduced.shape[1])
        factor = GramSchmidt(ca.horzsplit(per_rate))
        force = factor.shortest(right + ca.mtimes(per_rate.T, own))
    b.fail_if(factor.smallest_pivot < SMALLEST, SINGULAR)
    return force


def explicit_forces(b: Program, plan: ClosingPlan, legs: Sequence[LegWork], platform_load: SX) -> SX:
    """Forces of all actuators (n,), each as the work in its own virtual motion, joint by joint.

    Source: Staicu 2009 Eqs. (16), (20); Sinatra 2009 Eqs. (15), (21). Checked by: tests/equations/test_virtual_work.py.
    """
    A, scales, _ = _stacked(legs)
    N = allowed_twists(b, plan, legs)
    right = ca.diag(scales)
    factor = GramSchmidt(ca.horzsplit(A if N is None else ca.mtimes(A, N)))
    x = factor.solve(ca.densify(right))
    twists: SX = x if N is None else ca.mtimes(N, x)
    b.fail_if(factor.smallest_pivot < SMALLEST, SINGULAR)
    forces = []
    for k in range(twists.shape[1]):
        V = twists[:, k]
        work = ca.dot(V, platform_load)
        for leg in legs:
            work = work + sum(rate * tau for rate, tau in zip(leg.virtual_rates(V), leg.works, strict=True))
        forces.append(work)
    return ca.vertcat(*forces)


def allowed_twists(b: Program, plan: ClosingPlan, legs: Sequence[LegWork]) -> SX | None:
    """N (6, k): platform twists that the legs allow, one per independent component of the plan; None if all are allowed."""
    if not plan.constraints:
        return None
    G = ca.vertcat(*[leg.constraint for leg in legs])[list(plan.constraints), :]
    dependent, independent = list(plan.platform_dependents), list(plan.platform_independent)
    N = ca.SX.zeros(6, len(independent))
    factor = GramSchmidt(ca.horzsplit(G[:, dependent]))
    solved = factor.solve(-G[:, independent])
    b.fail_if(factor.smallest_pivot < SMALLEST, "the legs' constraints on the platform are singular here")
    for k, i in enumerate(dependent):
        N[i, :] = solved[k, :]
    for k, i in enumerate(independent):
        N[i, k] = 1
    return ca.densify(N)


def _stacked(legs: Sequence[LegWork]) -> tuple[SX, SX, SX]:
    """Rows (n, 6), scales (n,) and own work (n,) of all actuators, legs in order."""
    A = ca.densify(ca.vertcat(*[leg.rows for leg in legs]))
    scales = ca.vertcat(*[s for leg in legs for s in leg.scales])
    return A, scales, ca.vertcat(*[f for leg in legs for f in leg.own])
