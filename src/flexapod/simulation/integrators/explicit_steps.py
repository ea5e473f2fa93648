r"""Runge-Kutta 4 steps of robots with many coordinates, in dense algebra on the terms of `term_steps`.

.. math:: \ddot u = -(N^TM_zN)^{-1}N^T(M_z\beta + f),\qquad x_1 = x_0 + \tfrac h6(k_1 + 2k_2 + 2k_3 + k_4),\qquad x = (u, \dot u)

The same algorithm in C is bridges/fmu/rk4.c.
"""

from __future__ import annotations

import numpy as np

from flexapod.arrays import Array
from flexapod.simulation.integrators.rk4 import ARGUMENT, WEIGHT
from flexapod.simulation.integrators.term_steps import TermSteps


class ExplicitSteps(TermSteps):
    """Advances the carried numbers of a layout in place; see `TermSteps`.

    Checked by: tests/simulation/test_stepper.py.
    """

    def _buffers(self, z: int, u: int) -> None:
        super()._buffers(z, u)
        self.rate, self.total, self.moved = np.zeros((3, 2 * u))

    def _increments(self, state: Array) -> str:
        """The state after a step, as input of the terms; the reason where a stage fails."""
        u, h, final = len(self.free), self.step, self.terms.inputs["state"]
        self.rate[:] = self.total[:] = 0.0
        for stage, (argument, weight) in enumerate(zip(ARGUMENT, WEIGHT, strict=True)):
            np.multiply(self.rate, h * argument, out=self.moved)
            np.add(self.start, self.moved, out=final)
            why = self._reason(self.terms()) or ("" if stage else self._left(state)) or self._accelerated()
            if why:
                return why
            np.copyto(self.terms.inputs["memory"], self.terms.outputs["closed"])
            np.copyto(self.rate[:u], final[u:])
            np.copyto(self.rate[u:], self.a)
            np.multiply(self.rate, h * weight, out=self.moved)
            np.add(self.total, self.moved, out=self.total)
        np.add(self.start, self.total, out=final)
        return ""
