"""`DesignProblem`: objectives to minimise and constraints, over the designs of an evaluator."""

from __future__ import annotations

import numpy as np

from flexapod.arrays import Array
from flexapod.design.evaluate import Evaluator


class DesignProblem:
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
