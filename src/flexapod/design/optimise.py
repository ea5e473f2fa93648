r"""`optimise`: the best design within limits: one objective by gradients from many starts, several by NSGA-II or NSGA-III.

.. math:: \min_x f(x)\quad\text{with}\quad l \le x \le u,\quad g_k(x) \le b_k

One objective: searches by gradients (`local_search`) from the best designs of a Sobol plan. Several objectives, or variables with
choices: NSGA-II of pymoo, from three objectives on NSGA-III, a whole population per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.arguments import checked
from flexapod.arrays import Array
from flexapod.design.criteria import Criterion, make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.gradients import gradient
from flexapod.design.local_search import local_search_ends
from flexapod.design.optimum import Optimum
from flexapod.design.plans import DesignPlan
from flexapod.design.problem import DesignProblem
from flexapod.design.summary import pareto
from flexapod.design.variables import make_axes, number
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


HELD = 1e-6
"""Violation of a limit, of its size, up to which it counts as kept."""

SEARCHES, POPULATION, GENERATIONS = 8, 64, 60
"""Local searches of one objective; size and number of the populations of several."""


@checked
def optimise(
    robot: Robot,
    variables: Mapping[str, object],
    objectives: object,
    constraints: Mapping[str, object] | None = None,
    *,
    at: State | Motion | None = None,
    method: str = "slsqp",
    searches: int | None = None,
    plan: int = 256,
    population: int | None = None,
    generations: int | None = None,
    seed: int = 1,
) -> Optimum:
    """Find the best design, or the Pareto front of several objectives.

    Args:
        variables, at: as for `study`.
        objectives: one criterion or several; `better` of a `Criterion` says which end is wanted.
        constraints: criterion -> (low, high), either may be None; options of a criterion as ``Criterion`` in `objectives` do not
            reach here: give a mapping with ``limits``, e.g. ``{"stiffness": {"stiffness": 2e7, "limits": [1e6, None]}}``.
        method: of one objective: ``"slsqp"`` (SciPy) or ``"ipopt"`` (through CasADi).
        searches: of one objective: local searches, 8 if left out.
        plan: designs tried first; of one objective, the searches start from the best of them.
        population, generations: of several objectives or of choices: 64 and 60 if left out.
        seed: of the plan and of the search.
    Returns:
        `Optimum`: `table` of the designs found, `robot(k)`, `sensitivities` at the best one.

    Checked by: tests/design/test_optimise.py.
    """
    axes, wanted = make_axes(robot, variables), make_criteria(objectives)
    mixed = any(a.choices is not None for a in axes)
    local = len(wanted) == 1 and not mixed
    if method not in ("slsqp", "ipopt"):
        raise InputError(f"method: 'slsqp' or 'ipopt', not {method!r}")
    if method != "slsqp" and not local:
        raise InputError(
            "method: applies to gradient searches; several objectives or choices are searched with populations. Leave it out"
        )
    _refuse_unused(local, searches=searches, population=population, generations=generations)
    limits, extra = _limits(constraints, wanted)
    every = (*wanted, *extra)
    evaluator = Evaluator(robot, axes, every, at)
    problem = DesignProblem(evaluator, len(wanted), [limits.get(c.name, (None, None)) for c in every])
    sample = DesignPlan(axes, "sobol", plan, seed).designs(0, plan)
    found = evaluator(sample)
    if not np.any(found.code == 0):
        raise InputError(
            f"none of {plan} designs tried is valid: {evaluator.reasons[found.code[0]]}. Choose other limits or poses"
        )
    if local:
        x = local_search_ends(problem, sample, found.criteria, SEARCHES if searches is None else searches, method)
    else:
        x = _population(problem, population or POPULATION, generations or GENERATIONS, seed)
    values = evaluator(x).criteria
    kept = problem.violation(values) <= HELD
    if not np.any(kept):
        best = int(np.argmin(problem.violation(values)))
        raise InputError(f"no design satisfies all constraints; the nearest one violates: {problem.missed(values[best])}")
    x, values = x[kept], values[kept]
    front = pareto(values[:, : len(wanted)] * problem.signs)
    front = front[np.argsort(values[front, 0] * problem.signs[0], kind="stable")]
    if len(wanted) == 1:
        front = front[:1]
    return Optimum(drawing=robot, axes=axes, criteria=every, objectives=len(wanted), x=x[front], values=values[front],
                   slope=gradient(evaluator, x[front[0]]))  # fmt: skip


def _refuse_unused(local: bool, **given: int | None) -> None:
    """Refuse options of the other kind of search."""
    unused = ("population", "generations") if local else ("searches",)
    for name in unused:
        if given[name] is not None:
            why = "one objective without choices is searched by gradients" if local else "populations search without gradients"
            raise InputError(f"{name}: {why}; leave it out")


def _limits(
    constraints: Mapping[str, object] | None, wanted: tuple[Criterion, ...]
) -> tuple[dict[str, tuple[float | None, float | None]], tuple[Criterion, ...]]:
    limits: dict[str, tuple[float | None, float | None]] = {}
    extra: list[Criterion] = []
    names = {c.name for c in wanted}
    for name, given in (constraints or {}).items():
        fields = {k: v for k, v in given.items() if k != "limits"} if isinstance(given, Mapping) else {}
        pair = given.get("limits") if isinstance(given, Mapping) else given
        if not isinstance(pair, list | tuple) or len(pair) != 2 or pair[0] is pair[1] is None:
            raise InputError(f"constraints: {name}: expected (low, high), one of them may be None, got {pair!r}")
        low, high = (None if v is None else number(f"constraints: {name}", v) for v in pair)
        if low is not None and high is not None and low > high:
            raise InputError(f"constraints: {name}: the lower limit {low:g} is above the upper limit {high:g}")
        limits[name] = (low, high)
        if name not in names:
            extra += make_criteria([{"name": name, **fields}])
    return limits, tuple(extra)


def _population(problem: DesignProblem, population: int, generations: int, seed: int) -> Array:
    """Last population (n, d) of NSGA-II or, from three objectives on, NSGA-III; choices are places in the unit interval."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.algorithms.moo.nsga3 import NSGA3
        from pymoo.core.problem import Problem as PymooProblem
        from pymoo.optimize import minimize
        from pymoo.util.ref_dirs import get_reference_directions
    except ImportError:
        raise InputError("several objectives or choices need pymoo; install flexapod[design]") from None
    axes, k = problem.evaluator.axes, problem.objectives
    count = sum(b is not None for pair in problem.limits for b in pair) + 1

    def placed(u: Array) -> Array:
        return np.stack([a.placed(np.clip(u[:, i], 0.0, 1.0)) for i, a in enumerate(axes)], axis=1)

    class Designs(PymooProblem):  # type: ignore[misc]
        def _evaluate(self, u: Array, out: dict[str, object], *_: object, **__: object) -> None:
            values = problem.evaluator(placed(u)).criteria
            valid: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
            out["F"] = np.where(valid[:, None], values[:, :k] * problem.signs, 1e30)
            out["G"] = np.column_stack([problem.excess(values) - HELD / 2, np.where(valid, -1.0, 1.0)])

    task = Designs(n_var=len(axes), n_obj=k, n_ieq_constr=count, xl=0.0, xu=1.0)
    if k < 3:
        search = NSGA2(pop_size=population)
    else:
        parts = next(p for p in range(200, 0, -1) if p == 1 or comb(p + k - 1, k - 1) <= population)
        search = NSGA3(get_reference_directions("das-dennis", k, n_partitions=parts), pop_size=population)
    result = minimize(task, search, ("n_gen", generations), seed=seed, verbose=False)
    return placed(result.pop.get("X"))
