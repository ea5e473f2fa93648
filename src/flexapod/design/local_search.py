r"""Local searches for one objective: SLSQP of SciPy or IPOPT (through CasADi), then a polish where the optimum is an edge.

.. math:: \min_u f(u)\quad\text{with}\quad 0 \le u \le 1,\quad g(u) \le 0

u are the variables over their ranges. Gradients are exact where criteria have them. Criteria that are the worst of several
numbers have edges, on which gradients stop early: the simplex of Nelder and Mead, without gradients, goes on from the best end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.design.gradients import gradient
from flexapod.design.problem import DesignProblem

PENALTY = 1e3
"""Weight of an excess over a limit, of the spread of the objective: exact where limits bind less steeply."""

POLISHED = 10
"""Variables up to which a simplex is worth its steps."""


class LocalProblem:
    """Objective, limits and their gradients over the unit cube."""

    def __init__(self, problem: DesignProblem, sample: Array, values: Array) -> None:
        self.problem, self.sign = problem, float(problem.signs[0])
        self.low, self.width = problem.low, problem.high - problem.low
        self.cost = np.where(np.isfinite(values[:, 0]), self.sign * values[:, 0], np.inf)
        self.scale = float(np.ptp(self.cost[np.isfinite(self.cost)])) or 1.0
        self.order = np.argsort(self.cost + PENALTY * self.scale * np.minimum(problem.violation(values), 1e3), kind="stable")
        self.starts = (sample - self.low) / self.width
        self.rows = [
            (k, b, s) for k, pair in enumerate(problem.limits) for b, s in zip(pair, (-1.0, 1.0), strict=True) if b is not None
        ]

    def place(self, u: Array) -> Array:
        """Design (d,) at u."""
        return np.asarray(self.low + self.width * np.clip(u, 0.0, 1.0))

    def values(self, u: Array) -> Array:
        """Criteria (1, c)."""
        return self.problem.evaluator(self.place(u)[None]).criteria

    def both(self, u: Array) -> Array:
        """(1 + k,) objective over its spread, and excess over the limits."""
        v = self.values(u)
        return np.append(self.sign * v[0, 0] / self.scale, self.problem.excess(v)[0])

    def slopes(self, u: Array) -> Array:
        """(1 + k, d) gradients of `both`."""
        g = gradient(self.problem.evaluator, self.place(u)) * self.width
        return np.asarray(
            np.nan_to_num(np.array([self.sign * g[0] / self.scale, *(s * g[k] / (abs(b) or 1.0) for k, b, s in self.rows)]))
        )

    def penalised(self, u: Array) -> float:
        """One number for searches without limits; large out of the cube and where invalid."""
        v = self.values(u)
        if not np.all(np.isfinite(v)):
            return 1e6
        excess = max(0.0, float(self.problem.excess(v).max(initial=0.0)))
        outside = float(np.abs(u - np.clip(u, 0.0, 1.0)).sum())
        return float(self.sign * v[0, 0] / self.scale) + PENALTY * (excess + outside)


def local_search_ends(problem: DesignProblem, sample: Array, values: Array, searches: int, method: str) -> Array:
    """Designs (n, d) at the ends of local searches from the best of a sample; the starts are among them."""
    local = LocalProblem(problem, sample, values)
    search = {"slsqp": _slsqp, "ipopt": _ipopt}[method]
    starts = [local.starts[k] for k in local.order[: max(1, searches)]]
    ends = [search(local, u) for u in starts]
    best = min((*ends, *starts), key=local.penalised)
    if len(best) <= POLISHED:
        ends.append(_simplex(local, best))
    return np.array([local.place(u) for u in (*ends, *starts)])


def _slsqp(local: LocalProblem, start: Array) -> Array:
    from scipy import optimize

    minimize: Any = optimize.minimize
    limits = [{"type": "ineq", "fun": lambda u: -local.both(u)[1:], "jac": lambda u: -local.slopes(u)[1:]}] if local.rows else []
    result = minimize(
        lambda u: float(np.nan_to_num(local.both(u)[0], nan=1e6)), start, method="SLSQP", jac=lambda u: local.slopes(u)[0],
        bounds=[(0.0, 1.0)] * len(start), constraints=limits, options={"ftol": 1e-14, "maxiter": 300},
    )  # fmt: skip
    return np.asarray(result.x)


def _simplex(local: LocalProblem, start: Array) -> Array:
    from scipy import optimize

    minimize: Any = optimize.minimize
    steps = np.where(start > 0.5, -1e-2, 1e-2)
    corners = np.concatenate([start[None], start + np.diag(steps)])
    options = {
        "xatol": 1e-10,
        "fatol": 1e-14,
        "maxiter": 400 * len(start),
        "initial_simplex": corners,
        "adaptive": len(start) > 3,
    }
    return np.asarray(minimize(local.penalised, start, method="Nelder-Mead", options=options).x)


def _ipopt(local: LocalProblem, start: Array) -> Array:
    """IPOPT with our own values and gradients, second derivatives by its limited memory."""
    import casadi as ca

    d, rows = len(start), 1 + len(local.rows)
    kept: list[Any] = []  # callbacks live as long as the solver

    class Numbers(ca.Callback):
        def __init__(
            self, name: str, inputs: Sequence[tuple[int, int]], output: tuple[int, int], function: Callable[[Array], Array]
        ) -> None:
            ca.Callback.__init__(self)
            self.inputs, self.output, self.function = inputs, output, function
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self.inputs)

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, k: int) -> Any:
            return ca.Sparsity.dense(*self.inputs[k])

        def get_sparsity_out(self, _: int) -> Any:
            return ca.Sparsity.dense(*self.output)

        def eval(self, arguments: Sequence[ca.DM]) -> Any:
            return [ca.DM(self.function(np.asarray(arguments[0]).ravel()))]

        def has_jacobian(self) -> bool:
            return self.output == (rows, 1)

        def get_jacobian(self, name: str, *_: object) -> Any:
            kept.append(Numbers(name, [(d, 1), (rows, 1)], (rows, d), local.slopes))
            return kept[-1]

    numbers, u = Numbers("numbers", [(d, 1)], (rows, 1), local.both), ca.MX.sym("u", d)
    y = numbers(u)
    quiet: Any = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.hessian_approximation": "limited-memory",
             "ipopt.tol": 1e-10, "ipopt.max_iter": 300}  # fmt: skip
    problem: Any = {"x": u, "f": y[0], "g": y[1:]}
    solver = ca.nlpsol("solver", "ipopt", problem, quiet)
    found = solver(x0=start, lbx=0.0, ubx=1.0, ubg=0.0, lbg=-np.inf)
    return np.asarray(found["x"]).ravel()
