r"""The whole equation of any robot in numbers: forces, accelerations, multipliers, friction by joint loads, reactions.

.. math:: M_z\ddot z + h = E^T\Gamma + A^T\lambda + Q_f(N),\qquad A\ddot z + \gamma = 0,\qquad J\ddot u = r

Projected on the independent coordinates it gives accelerations and actuator forces; what is left over gives the multipliers,
hence every joint's load N. Friction by loads is a fixed point over the same factors. More actuators than the motion needs:
forces of least weighted norm, or nearest to a given preload. Closing rows that repeat each other (over-constrained, rigid): the
reactions that they touch are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.anderson import fixed_points
from flexapod.analysis.model.closed_legs import ClosedLegs, evaluate, platform_jacobian
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.leg_model import LegTerms, leg_terms
from flexapod.analysis.model.linear_solve import MASSLESS, pseudo_inverse, solved
from flexapod.analysis.model.prescribed import prescribed, prescribed_components
from flexapod.analysis.model.redundancy import Redundancy
from flexapod.analysis.requests.properties import depends_on_loads
from flexapod.arrays import Array
from flexapod.equations.elastodynamics.reactions import all_rows, reaction_joints
from flexapod.equations.elastodynamics.statics import used_rows
from flexapod.equations.newton_euler.friction_points import SOURCES, UNDETERMINED
from flexapod.errors import InputError, amount
from flexapod.robot.elastic_plan import chosen_drives, column_sizes, driven_columns

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import LegRequest
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot

SINGULAR = "the actuators cannot produce these accelerations: the pose is singular, or their forces do not act on it"
LOCKED = "friction and joint reactions do not converge: the friction coefficients are so large that joints are self-locking"
REPEATED = 1e-9
"""Singular value of the closing rows, of the largest, below which rows repeat each other: rounding is 1e-15."""
TOUCHED = 1e-7
"""Share of a unit multiplier above which a reaction counts as undetermined, as for `newton_euler`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralSolution:
    """Solution of the general dynamics at n states.

    Args:
        force: (n, actuators).
        independent, coordinates: accelerations (n, u) and (n, z).
        multiplier: (n, m) of the closing rows.
        load: (n, k) loads of the joints with friction, or None.
        friction: (n, z) friction along the coordinates.
        terms: the equation without friction.
        wrench: (n, 6) on the platform frame, or (n, 6 + N) with forces on its modes.
    """

    force: Array
    independent: Array
    coordinates: Array
    multiplier: Array
    load: Array | None
    friction: Array
    terms: LegTerms
    wrench: Array


def solve_inverse(
    robot: Robot, request: LegRequest, friction: bool, reasons: Reasons, sources: tuple[str, ...] = SOURCES,
    redundancy: Redundancy | None = None,
) -> GeneralSolution:  # fmt: skip
    """Forces that give a motion.

    Args:
        request: from `closed_request`.
        sources: kinds of joints whose friction is taken.
        redundancy: choice among forces; those of least norm where left out.

    Source: Briot 2014 Eqs. (41)-(44), Kim 2002 Eqs. (20)-(32). Checked by: tests/analysis/test_general_dynamics.py.
    """
    terms = leg_terms(robot, request.state, request.wrench, False, reasons)
    J, right = prescribed_rows(robot, request, terms, reasons)
    chosen = redundancy or Redundancy.plain(len(robot.actuators))

    def choose(Q: Array) -> tuple[Array, Array]:
        c = terms.c - _projected(terms, Q)
        return chosen_forces(terms, J, right, c, quiet(robot, terms, J, right, c, chosen))

    taken = sources if friction else ()
    return solution(robot, request.state, request.wrench, terms, choose, reasons, sources=taken, singular=SINGULAR)


def solve_forward(robot: Robot, request: LegRequest, force: Array, friction: bool, reasons: Reasons) -> GeneralSolution:
    """Accelerations under forces (n, actuators); see `solve_inverse`."""
    terms = leg_terms(robot, request.state, request.wrench, False, reasons)
    driven = np.einsum("nau,na->nu", terms.A, force)

    def move(Q: Array) -> tuple[Array, Array]:
        return force, solved(terms.M, driven + _projected(terms, Q) - terms.c)

    taken = SOURCES if friction else ()
    return solution(robot, request.state, request.wrench, terms, move, reasons, sources=taken, singular=MASSLESS)


def _projected(terms: LegTerms, Q: Array) -> Array:
    return np.asarray(np.einsum("nzu,nz->nu", terms.N, Q))


def prescribed_rows(robot: Robot, request: LegRequest, terms: LegTerms, reasons: Reasons) -> tuple[Array, Array]:
    """Rows (n, j, u) and right sides (n, j) of the accelerations that a request prescribes."""
    if request.actuator_acceleration is not None:
        own = [k for k, column in enumerate(driven_columns(robot)) if column in robot.elastic_plan.independent]
        return terms.A[:, own], (request.actuator_acceleration - terms.gamma)[:, own]
    assert request.acceleration is not None
    J, drift = platform_jacobian(robot, request.state, reasons)
    S = prescribed(robot, J, prescribed_components(robot))
    return S @ J, np.einsum("nri,ni->nr", S, request.acceleration - drift)


def quiet(robot: Robot, terms: LegTerms, J: Array, right: Array, c: Array, choice: Redundancy) -> Redundancy:
    """The choice among forces of redundant actuators of a flexible robot: nearest to those that move it as if its
    deformations had no acceleration. These stay at rest then, and a stiff robot has the forces of the rigid one."""
    _, driven = chosen_drives(robot)
    if not robot.elastic_names or terms.A.shape[1] == J.shape[1] or not driven:
        return choice
    second = np.einsum("nij,nj->ni", pseudo_inverse(J[:, :, driven]), right)
    rho = (c + np.einsum("nij,nj->ni", terms.M[:, :, driven], second))[:, driven]
    return replace(choice, preload=choice.nearest(np.swapaxes(terms.A[:, :, driven], 1, 2), rho))


def chosen_forces(terms: LegTerms, J: Array, right: Array, c: Array, redundancy: Redundancy) -> tuple[Array, Array]:
    """Forces (n, a) and accelerations (n, u) with M u'' + c = A^T force, J u'' = right; of many forces those that `redundancy`
    chooses."""
    count, size = c.shape
    actuators, rows = terms.A.shape[1], J.shape[1]
    if actuators < rows:
        raise InputError(f"inverse dynamics: {amount(actuators, 'actuator')} for {amount(rows, 'component')} of motion")
    if actuators == rows:
        system = np.zeros((count, size + rows, size + rows))
        system[:, :size, :size], system[:, :size, size:], system[:, size:, :size] = terms.M, -np.swapaxes(terms.A, 1, 2), J
        x = solved(system, np.concatenate([-c, right], axis=1))
        return x[:, size:], x[:, :size]
    moved = solved(terms.M, np.concatenate([np.swapaxes(terms.A, 1, 2), -c[:, :, None]], axis=2))
    reach = J @ moved
    force = redundancy.nearest(reach[:, :, :-1], right - reach[:, :, -1])
    return force, np.einsum("nua,na->nu", moved[:, :, :-1], force) + moved[:, :, -1]


def solution(
    robot: Robot, state: ClosedLegs, wrench: Array, terms: LegTerms, solve: Callable[[Array], tuple[Array, Array]],
    reasons: Reasons, *, sources: tuple[str, ...], singular: str, determined: bool = False,
) -> GeneralSolution:  # fmt: skip
    """Solve with friction, if any: at zero load, then along the loads until they stay.

    Args:
        terms: without friction.
        solve: friction (n, z) along the coordinates to forces (n, actuators) and accelerations (n, u).
        sources: kinds of joints whose friction is taken; singular: the reason where there is no solution.
        determined: it is known that the loads are.
    """
    none = np.zeros_like(terms.forces)

    def at(Q: Array, load: Array | None) -> GeneralSolution:
        force, u = solve(Q)
        z = np.einsum("nzu,nu->nz", terms.N, u) + terms.beta
        rest = np.einsum("nij,nj->ni", terms.mass, z) + terms.forces - Q
        rest[:, driven_columns(robot)] -= force
        return GeneralSolution(
            force=force, independent=u, coordinates=z, multiplier=_multipliers(robot, terms, rest), load=load, friction=Q,
            terms=terms, wrench=wrench,
        )  # fmt: skip

    if not sources:
        return _checked(at(none, None), singular, reasons)
    if not determined:
        _refuse_undetermined(robot, state, terms, reasons)
    inputs = kernel(robot, "elastic_friction", sources=sources).signature.inputs
    size = next(i.shape[0] for i in inputs if i.name == "load")

    def force_of(load: Array) -> Array:
        return evaluate(robot, "elastic_friction", {**state.inputs(), "load": load}, reasons, sources=sources)["friction"]

    def following(load: Array) -> Array:
        now = at(force_of(load), load)
        return evaluate(robot, "elastic_reactions", _given(state, now), reasons, sources=sources)["next_load"]

    load, converged = fixed_points(following, np.zeros((len(reasons), size)))
    found = _checked(at(force_of(load), load), singular, reasons)
    reasons[~converged & (reasons == "")] = LOCKED
    return found


def _checked(found: GeneralSolution, singular: str, reasons: Reasons) -> GeneralSolution:
    bad = ~np.isfinite(found.independent).all(axis=1) | ~np.isfinite(found.force).all(axis=1)
    reasons[bad & (reasons == "")] = singular
    return found


def _multipliers(robot: Robot, terms: LegTerms, rest: Array) -> Array:
    """Multipliers (n, m) of all closing rows with A^T lambda = rest; of many solutions the smallest; zero for rows without
    effect."""
    every = all_rows(robot)
    used = [every.index(row) for row in used_rows(robot.elastic_plan)]
    result = np.full((len(rest), max(len(every), 1)), np.nan)
    good = np.isfinite(terms.rows).all(axis=(1, 2)) & np.isfinite(rest).all(axis=1)
    result[good] = 0.0
    if used and np.any(good):
        back = np.linalg.pinv(np.swapaxes(terms.rows[good], 1, 2), rcond=REPEATED)
        result[np.ix_(np.flatnonzero(good), np.asarray(used))] = np.einsum("nmz,nz->nm", back, rest[good])
    return result


def _given(state: ClosedLegs, found: GeneralSolution) -> dict[str, Array]:
    """Inputs of `elastic_reactions`."""
    given = {
        **state.inputs(), "coordinate_acceleration": found.coordinates, "multiplier": found.multiplier, "force": found.force,
        "wrench": found.wrench[:, :6],
    }  # fmt: skip
    return given if found.load is None else given | {"load": found.load}


def reactions(robot: Robot, state: ClosedLegs, found: GeneralSolution, reasons: Reasons) -> dict[str, Any]:
    """`reaction_force`, `reaction_moment` (n, joints, 3), with friction also its own, as variables of a result."""
    sources = () if found.load is None else SOURCES
    outputs = evaluate(robot, "elastic_reactions", _given(state, found), reasons, sources=sources)
    mask = _undetermined(robot, state, found.terms, reasons)
    for k, name in enumerate(("reaction_force", "reaction_moment")):
        outputs[name][:, mask[:, k]] = np.nan
    dims, units = ("joint", "axis"), {"force": "N", "moment": "N m"}
    return {
        name: (dims, outputs[name], units[name.rpartition("_")[2]])
        for name in ("reaction_force", "reaction_moment", "friction_force", "friction_moment")
        if name in outputs
    }


def _undetermined(robot: Robot, state: ClosedLegs, terms: LegTerms, reasons: Reasons) -> NDArray[np.bool_]:
    """(joints, 2, 3): reaction components that change with multipliers that nothing determines, at some of the states."""
    joints = len(reaction_joints(robot))
    mask = np.zeros((joints, 2, 3), dtype=bool)
    good = np.flatnonzero(reasons == "")
    for k in np.unique(good[[0, len(good) // 2, -1]]) if len(good) else []:
        null = _repeated(robot, terms.rows[k])
        if null.shape[0] == 0:
            return mask
        one = state.rows(np.full(len(null) + 1, k))
        given = {**one.inputs(), "multiplier": np.concatenate([np.zeros((1, null.shape[1])), null])}
        sizes = {"coordinate_acceleration": terms.mass.shape[1], "force": len(robot.actuators), "wrench": 6}
        given |= {name: np.zeros((len(null) + 1, size)) for name, size in sizes.items()}
        found = evaluate(robot, "elastic_reactions", given, np.full(len(null) + 1, "", dtype=object))
        for i, name in enumerate(("reaction_force", "reaction_moment")):
            change = np.abs(found[name][1:] - found[name][:1]).max(axis=0)
            mask[:, i] |= change > TOUCHED * (1.0 if i == 0 else robot.characteristic_length)
    return mask


def _repeated(robot: Robot, rows: Array) -> Array:
    """Combinations (k, m) of all closing rows that vanish: of the used ones (m', z), and each that nothing touches."""
    plan, every = robot.elastic_plan, all_rows(robot)
    used = [every.index(row) for row in used_rows(plan)]
    loose = np.eye(len(every))[[k for k in range(len(every)) if k not in used]]
    if not used:
        return loose
    left, sizes, _ = np.linalg.svd(rows * column_sizes(robot, plan.carrier, plan.first, len(plan.columns)))
    among = left[:, int(np.sum(sizes > REPEATED * sizes[0])) :].T
    whole = np.zeros((len(among), len(every)))
    whole[:, used] = among
    return np.concatenate([whole, loose])


def _refuse_undetermined(robot: Robot, state: ClosedLegs, terms: LegTerms, reasons: Reasons) -> None:
    """Friction by the load of a joint whose reaction nothing determines is refused."""
    if not depends_on_loads(robot):
        return
    names, mask = reaction_joints(robot), _undetermined(robot, state, terms, reasons)
    parts: list[Any] = [p for leg in robot.legs for p in (*[k for k in leg.links if not k.elastic], *leg.closings)]
    for name, part, unknown in zip(names, parts, np.asarray(mask[:, 0].any(axis=1)), strict=True):
        if unknown and part.friction is not None and part.friction.given(by_load=True):
            raise InputError(UNDETERMINED.format(joint=name))
