r"""`optimise`: the best design within limits: one objective by gradients from many starts, several by NSGA-II.

.. math:: \min_x f(x)\quad\text{with}\quad l \le x \le u,\quad g_k(x) \le b_k

One objective: sequential quadratic programming (SciPy's SLSQP) from the best designs of a Sobol plan, gradients by fourth-order
differences of kernels, a whole stencil per call. Several objectives, or variables with choices: NSGA-II of pymoo, a whole
population per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.arguments import checked
from flexapod.design.criteria import Criterion, make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.optimum import Optimum
from flexapod.design.plans import Plan
from flexapod.design.gradients import gradient
from flexapod.design.summary import pareto
from flexapod.design.variables import make_axes, number
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]

HELD = 1e-6
"""Violation of a limit, of its size, up to which it counts as kept."""


@checked
def optimise(
    robot: Robot,
    variables: Mapping[str, Any],
    objectives: Any,
    constraints: Mapping[str, Any] | None = None,
    *,
    at: Any = None,
    searches: int = 8,
    plan: int = 256,
    population: int = 64,
    generations: int = 60,
    seed: int = 1,
) -> Optimum:
    """Find the best design, or the Pareto front of several objectives.

    Args:
        variables, at: as for `study`.
        objectives: one criterion or several; `better` of a `Criterion` says which end is wanted.
        constraints: criterion -> (low, high), either may be None; options of a criterion as ``Criterion`` in `objectives` do not
            reach here: give a mapping with ``limits``, e.g. ``{"stiffness": {"stiffness": 2e7, "limits": [1e6, None]}}``.
        searches, plan: of one objective: local searches, from the best of so many designs.
        population, generations: of several objectives.
        seed: of the plan and of the search.
    Returns:
        `Optimum`: `table` of the designs found, `robot(k)`, `sensitivities` at the best one.

    Checked by: tests/design/test_optimise.py.
    """
    axes, wanted = make_axes(robot, variables), make_criteria(objectives)
    limits, extra = _limits(constraints, wanted)
    every = (*wanted, *extra)
    evaluator = Evaluator(robot, axes, every, at)
    problem = _Problem(evaluator, len(wanted), [limits.get(c.name, (None, None)) for c in every])
    sample = Plan(axes, "sobol", plan, seed).designs(0, plan)
    found = evaluator(sample)
    if not np.any(found.code == 0):
        raise InputError(
            f"none of {plan} designs tried is valid: {evaluator.reasons[found.code[0]]}. Choose other limits or poses"
        )
    mixed = any(a.choices is not None for a in axes)
    if len(wanted) == 1 and not mixed:
        x = _gradients(problem, sample, found.criteria, searches)
    else:
        x = _population(problem, population, generations, seed)
    values = evaluator(x).criteria
    kept = problem.violation(values) <= HELD
    if not np.any(kept):
        best = int(np.argmin(problem.violation(values)))
        raise InputError(f"no design keeps all constraints; the nearest one misses: {problem.missed(values[best])}")
    x, values = x[kept], values[kept]
    front = pareto(values[:, : len(wanted)] * problem.signs)
    front = front[np.argsort(values[front, 0] * problem.signs[0], kind="stable")]
    if len(wanted) == 1:
        front = front[:1]
    return Optimum(drawing=robot, axes=axes, criteria=every, objectives=len(wanted), x=x[front], values=values[front],
                   slope=gradient(evaluator, x[front[0]]))  # fmt: skip


class _Problem:
    """Objectives to be made small and limits, from one evaluator."""

    def __init__(self, evaluator: Evaluator, objectives: int, limits: list[tuple[float | None, float | None]]) -> None:
        self.evaluator, self.objectives, self.limits = evaluator, objectives, limits
        self.signs = np.array([1.0 if c.better == "low" else -1.0 for c in evaluator.criteria[:objectives]])
        self.low = np.array([a.low for a in evaluator.axes])
        self.high = np.array([a.high for a in evaluator.axes])

    def excess(self, values: Array) -> Array:
        """(n, k) excess over each limit, of its size; below 0 where kept, 1 where a design is invalid."""
        rows = []
        for k, (low, high) in enumerate(self.limits):
            for bound, sign in ((low, -1.0), (high, 1.0)):
                if bound is not None:
                    rows.append(sign * (values[:, k] - bound) / (abs(bound) or 1.0))
        result = np.stack(rows, axis=1) if rows else np.zeros((len(values), 0))
        return np.asarray(np.where(np.isfinite(result), result, 1.0))

    def violation(self, values: Array) -> Array:
        """Largest excess (n,), infinite for invalid designs."""
        worst = self.excess(values).max(axis=1, initial=0.0)
        return np.asarray(np.where(np.isfinite(values).all(axis=1), worst, np.inf))

    def missed(self, values: Array) -> str:
        """The limits that a design misses, as text."""
        pairs = zip(self.evaluator.criteria, values, self.limits, strict=True)
        found = [
            f"{c.name} = {v:.6g} {c.unit} (limits {low} to {high})"
            for c, v, (low, high) in pairs
            if (low is not None and v < low) or (high is not None and v > high) or not np.isfinite(v)
        ]
        return ", ".join(found)


def _limits(
    constraints: Mapping[str, Any] | None, wanted: tuple[Criterion, ...]
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


def _gradients(problem: _Problem, sample: Array, values: Array, starts: int) -> Array:
    """Ends of local searches (starts, d), in variables scaled to the unit cube."""
    from scipy import optimize

    minimize: Any = optimize.minimize

    low, width, sign = problem.low, problem.high - problem.low, problem.signs[0]
    cost = np.where(np.isfinite(values[:, 0]), sign * values[:, 0], np.inf)
    scale = float(np.ptp(cost[np.isfinite(cost)])) or 1.0
    order = np.argsort(cost + 1e3 * scale * np.minimum(problem.violation(values), 1e3), kind="stable")[: max(1, starts)]

    def at(u: Array) -> Array:
        return problem.evaluator((low + width * np.clip(u, 0.0, 1.0))[None]).criteria

    def slope(u: Array) -> Array:
        return np.asarray(gradient(problem.evaluator, low + width * np.clip(u, STAY, 1 - STAY)) * width)

    def rows(u: Array) -> Array:
        g = slope(u)
        parts = [
            -s * g[k] / (abs(b) or 1.0) for k, pair in enumerate(problem.limits)
            for b, s in zip(pair, (-1.0, 1.0), strict=True) if b is not None
        ]  # fmt: skip
        return np.asarray(np.nan_to_num(np.array(parts)))

    conditions = [{"type": "ineq", "fun": lambda u: -problem.excess(at(u))[0], "jac": rows}] if any(
        b is not None for pair in problem.limits for b in pair
    ) else []  # fmt: skip
    ends = []
    for k in order:
        result = minimize(
            lambda u: float(np.nan_to_num(sign * at(u)[0, 0] / scale, nan=1e6)), (sample[k] - low) / width, method="SLSQP",
            jac=lambda u: np.nan_to_num(sign * slope(u)[0] / scale), bounds=[(0.0, 1.0)] * len(low), constraints=conditions,
            options={"ftol": 1e-14, "maxiter": 300},
        )  # fmt: skip
        ends += [low + width * np.clip(result.x, 0.0, 1.0), sample[k]]
    return np.array(ends)


STAY = 2e-3
"""Distance of the stencil from the limits, of a variable's range."""


def _population(problem: _Problem, population: int, generations: int, seed: int) -> Array:
    """Last population (n, d) of NSGA-II; choices are places in the unit interval."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import Problem
        from pymoo.optimize import minimize
    except ImportError:
        raise InputError("several objectives or choices need pymoo; install flexapod[design]") from None
    axes, k = problem.evaluator.axes, problem.objectives
    count = sum(b is not None for pair in problem.limits for b in pair) + 1

    def placed(u: Array) -> Array:
        return np.stack([a.placed(np.clip(u[:, i], 0.0, 1.0)) for i, a in enumerate(axes)], axis=1)

    class Designs(Problem):  # type: ignore[misc]
        def _evaluate(self, u: Array, out: dict[str, Any], *_: Any, **__: Any) -> None:
            values = problem.evaluator(placed(u)).criteria
            valid: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
            out["F"] = np.where(valid[:, None], values[:, :k] * problem.signs, 1e30)
            out["G"] = np.column_stack([problem.excess(values) - HELD / 2, np.where(valid, -1.0, 1.0)])

    task = Designs(n_var=len(axes), n_obj=k, n_ieq_constr=count, xl=0.0, xu=1.0)
    result = minimize(task, NSGA2(pop_size=population), ("n_gen", generations), seed=seed, verbose=False)
    return placed(result.pop.get("X"))
