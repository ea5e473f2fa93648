r"""Criteria under tolerances: scatter of forces, frequencies and other criteria due to errors of the parts.

.. math:: \sigma_f^2 = \sum_k \left(\frac{\partial f}{\partial p_k}\right)^2 \sigma_k^2,\qquad
          f_{\max} - f \approx \sum_k \left|\frac{\partial f}{\partial p_k}\right| t_k
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.design.criteria import make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.gradients import gradient
from flexapod.design.variables import Axis
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


class CriterionErrors:
    """Criteria of a robot under offsets of its parameters.

    Args:
        axes: the parameters, as offsets.
        criteria: as for `study`.
        at: poses or a motion.

    Checked by: tests/design/test_tolerance_of_criteria.py.
    """

    def __init__(self, robot: Robot, axes: Sequence[Axis], criteria: object, at: State | Motion | None) -> None:
        self.criteria = make_criteria(criteria)
        self.evaluator = Evaluator(robot, axes, self.criteria, at)
        found = self.evaluator(np.zeros((1, len(axes))))
        if found.code[0]:
            raise InputError(f"the robot of the file itself is invalid: {self.evaluator.reasons[found.code[0]]}")
        self.value = found.criteria[0]
        self.slope = gradient(self.evaluator, np.zeros(len(axes)))

    def first_order(self, sigma: Array, t: Array) -> dict[str, Any]:
        """Variables over criterion and source."""
        return {
            "criterion_value": ("criterion", self.value),
            "criterion_derivative": (("criterion", "source"), self.slope),
            "criterion_deviation": ("criterion", np.sqrt(((self.slope * sigma) ** 2).sum(axis=1))),
            "criterion_worst_case": ("criterion", (np.abs(self.slope) * t).sum(axis=1)),
        }

    def sampled(self, draw: Callable[[int], Array], blocks: int, quantiles: Sequence[float]) -> dict[str, Any]:
        """Mean, deviation and quantiles of criteria (s, c) of drawn offsets, block after block."""
        values = np.concatenate([self.evaluator(draw(block)).criteria for block in range(blocks)])
        good = values[np.isfinite(values).all(axis=1)]
        if len(good) < 2:
            raise InputError("criteria: no sample of the tolerances can be evaluated; choose smaller tolerances")
        return {
            "sampled_criterion_mean": ("criterion", good.mean(axis=0)),
            "sampled_criterion_deviation": ("criterion", good.std(axis=0, ddof=1)),
            "sampled_criterion": (("criterion", "quantile"), np.quantile(good, quantiles, axis=0).T),
            "criterion_failed": ((), len(values) - len(good)),
        }

    @property
    def coordinates(self) -> dict[str, Any]:
        """Names and units."""
        return {"criterion": [c.name for c in self.criteria], "criterion_unit": ("criterion", [c.unit for c in self.criteria])}
