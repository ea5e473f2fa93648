r"""`base_parameters`: the combinations of parameters that forces determine.

.. math:: Y\theta = Y_1\beta,\qquad \beta = \theta_1 + C\,\theta_2,\qquad Y_2 = Y_1 C

Letters: theta_1 parameters whose columns are independent, theta_2 the others, beta base parameters. Columns are taken in the
order of the robot (platform, then legs from the base outwards) and kept where they add to those before: which ones are kept is a
matter of the mechanism, not of the states that were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.verbs.sampling import random_states
from flexapod.arrays import Array
from flexapod.errors import FlexapodError
from flexapod.identification.linear_model import Legs, RegressorModel, linear_model, model_inputs

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

STATES = 300
"""Random states per decision; the largest robot of the catalogue has 232 parameters and 6 rows per state."""
DEPENDENT = 1e-10
"""Part of a scaled column outside the columns before it below which it is dependent. Independent columns of the catalogue have
1e-7 and more, dependent ones 1e-13 and less."""
COEFFICIENT = 1e-9
"""Coefficients below are rounding."""


@dataclass(frozen=True, kw_only=True)
class BaseParameters:
    """Base parameters of a robot.

    Args:
        model: the linear model that they belong to.
        kept: positions of theta_1 among its parameters.
        combination: (base, parameters) [1, C]: beta = combination theta.
        unidentifiable: names of parameters that no force depends on.
        gap: smallest part that was kept and largest that was not, as a fraction of the column.
    """

    model: RegressorModel
    kept: tuple[int, ...]
    combination: Array
    unidentifiable: tuple[str, ...]
    gap: tuple[float, float]

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.kept)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters that represent their combination."""
        return tuple(self.model.names[i] for i in self.kept)

    @cached_property
    def values(self) -> Array:
        """Base parameters of the robot file."""
        return np.asarray(self.combination @ self.model.values)

    def text(self, index: int, digits: int = 6) -> str:
        """A base parameter written out: ``platform.mass + 0.5 legs.A.piston.mass``."""
        row, own = self.combination[index], self.kept[index]
        result = self.model.names[own]
        for k in np.flatnonzero(np.abs(row) > COEFFICIENT):
            if k != own:
                size = f"{abs(row[k]):.{digits}g}"
                result += f" {'-' if row[k] < 0 else '+'} {'' if size == '1' else size + ' '}{self.model.names[k]}"
        return result


@checked
def base_parameters(robot: Robot, *, friction: bool = True, legs: Legs = "each", seed: int = 0) -> BaseParameters:
    """The identifiable combinations of a robot's parameters.

    Args:
        friction: with friction coefficients.
        legs: as for `regressor`.
        seed: of the random states; the result depends on it by rounding only.
    Returns:
        `BaseParameters`: which parameters are kept, and the combination of all parameters that belongs to each of them.

    Source: Gautier, Numerical calculation of the base inertial parameters of robots (1991), with QR in fixed order.
    Checked by: tests/identification/test_base_parameters.py.
    """
    refuse(robot, "base_parameters")
    model = linear_model(robot, friction=friction, legs=legs)
    inputs, reasons = model_inputs(robot, random_states(robot, STATES, seed=seed))
    loads = model.loads(inputs, reasons)
    Y = model.rows(inputs, loads, reasons)[reasons == ""]
    return decide(model, Y.reshape(-1, len(model.names)))


def decide(model: RegressorModel, Y: Array) -> BaseParameters:
    """Base parameters from rows of the regressor, by Gram-Schmidt in fixed order, applied twice."""
    sizes = np.linalg.norm(Y, axis=0)
    nothing = sizes <= 1e-12 * max(float(sizes.max()), 1e-300)
    W = Y / np.where(nothing, 1.0, sizes)
    basis = np.empty((0, len(Y)))
    kept: list[int] = []
    parts = np.zeros(len(sizes))
    for k in np.flatnonzero(~nothing):
        rest = W[:, k] - basis.T @ (basis @ W[:, k])
        rest = rest - basis.T @ (basis @ rest)
        parts[k] = np.linalg.norm(rest)
        if parts[k] > DEPENDENT:
            kept.append(int(k))
            basis = np.vstack([basis, rest / parts[k]])
    if not kept:
        raise FlexapodError(f"base parameters of {model.robot.name}: no parameter changes any force")
    others = [int(k) for k in np.flatnonzero(~nothing) if k not in kept]
    C = np.zeros((len(kept), len(sizes)))
    C[np.arange(len(kept)), kept] = 1.0
    if others:
        found, *_ = np.linalg.lstsq(W[:, kept], W[:, others], rcond=None)
        found *= sizes[others][None, :] / sizes[kept][:, None]
        size = sizes[kept][:, None] / sizes[others][None, :]
        C[:, others] = np.where(np.abs(found) * size > COEFFICIENT, found, 0.0)
    gap = (float(parts[kept].min()), float(parts[others].max()) if others else 0.0)
    missing = tuple(model.names[k] for k in np.flatnonzero(nothing))
    return BaseParameters(model=model, kept=tuple(kept), combination=C, unidentifiable=missing, gap=gap)
