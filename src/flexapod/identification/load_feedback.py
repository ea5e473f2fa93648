r"""Friction by joint loads during estimation: the loads themselves depend on masses and friction coefficients.

.. math:: f(\beta) = Y(L(\beta))\,\beta,\qquad
          J = \frac{\partial f}{\partial\beta} = Y + \frac{\partial (Y_f\kappa)}{\partial L}\,\frac{\partial L}{\partial\beta}

The passes of `identify` end where :math:`Z^T W (y - f) = 0`, so that errors of the estimate are
:math:`(Z^T W J)^{-1} Z^T W e`. With Y in the place of J the error bar of a load coefficient is too small, on `hexaslide` by 2.8.
Letters: L joint loads, kappa friction coefficients, Z the regressor or instruments. Derivatives are differences over a standard
error.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexapod.analysis.model.kernels import kernel, parameter_values
from flexapod.arrays import Array
from flexapod.equations.regressor import IN_LEG
from flexapod.identification.linear_model import RegressorModel
from flexapod.identification.loop_regressor import in_body_axes
from flexapod.robot.robot import Robot


class LoadFeedback:
    """Change of the friction forces with the estimate through the joint loads.

    Args:
        model: of the identified robot: its numbers are those of the estimate, its friction columns those that are estimated.
        names: raw names of all parameters; change: (raw, columns) of them per unit of each estimated column.
        step: (columns,) of the differences, in the unit of each.

    Checked by: tests/identification/test_campaigns.py.
    """

    def __init__(self, model: RegressorModel, names: tuple[str, ...], change: Array, step: Array) -> None:
        self._loads = kernel(model.robot, "joint_loads")
        self._friction = kernel(model.robot, "friction_regressor", columns=model.friction)
        self._numbers = parameter_values(model.robot, self._loads.signature)
        self._kappa = np.array([model.robot.values[name] for name in model.friction])
        place = {p.name: k for k, p in enumerate(self._loads.signature.parameters)}
        effect = np.zeros((len(place), len(names)))
        for j, name in enumerate(names):
            for value, factor in _values_of(model.robot, name).items():
                if value in place:
                    effect[place[value], j] = factor
        self._moves = effect @ change * step
        self.step = step

    def columns(self, given: Mapping[str, Array]) -> Array:
        """(n, actuators, columns) J - Y of samples."""
        start = self._force(given, self._numbers)
        result = np.zeros((*start.shape, len(self.step)))
        for j in np.flatnonzero(np.any(self._moves != 0, axis=0)):
            result[:, :, j] = (self._force(given, self._numbers + self._moves[:, j]) - start) / self.step[j]
        return result

    def _force(self, given: Mapping[str, Array], numbers: Array) -> Array:
        """Friction at the loads of other numbers, with the coefficients of the estimate."""
        load = self._loads.batch({i.name: given[i.name] for i in self._loads.signature.inputs}, numbers).outputs["load"]
        known = {**given, "load": load}
        Y = self._friction.batch({i.name: known[i.name] for i in self._friction.signature.inputs}).outputs["regressor"]
        return np.asarray(Y @ self._kappa)


def _values_of(robot: Robot, name: str) -> dict[str, float]:
    """Numbers of the kernels that a parameter of the file enters, with factors: v' = R v, I' = R I R^T."""
    for leg in robot.legs:
        base = f"legs.{leg.name}"
        for k, link in enumerate(leg.links):
            if name == f"{base}.{link.joint}.inertia" and link.actuated:
                return {f"{base}.{link.coordinate}.rotor": 1.0}
            body = f"{base}.{link.body.name.split('.')[-1]}" if link.body is not None else ""
            if body and name.startswith(body + "."):
                closed = f"{base}.{IN_LEG[leg.architecture][k]}" if leg.architecture in IN_LEG else ""
                parts = [
                    _of_body(robot, place, name.removeprefix(body + ".")) for place in (closed, f"{base}.{link.coordinate}.body")
                ]
                return parts[0] | parts[1]
    return _of_body(robot, "platform", name.removeprefix("platform.")) if name.startswith("platform.") else {name: 1.0}


def _of_body(robot: Robot, body: str, kind: str) -> dict[str, float]:
    return in_body_axes(robot, body, kind) if f"{body}.mass" in robot.values else {}
