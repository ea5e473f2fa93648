r"""Implicit steps of robots with many coordinates, in dense algebra on the terms of `term_steps`.

.. math:: \Big(M + h\lambda D + (h\lambda)^2 K\Big)\,\delta = h K\,(x_{off} A^T) - r

The method, its tolerances and its passes are those of `implicit_step`; the same algorithm in C is bridges/fmu/second_order.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.kernels.tape.signature import NONFINITE_RESULT
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.factor_in_place import Factor
from flexapod.simulation.integrators.implicit import CLOSED, LOST, PASSES, ROUNDING
from flexapod.simulation.integrators.runner import compiled
from flexapod.simulation.integrators.term_steps import TermSteps
from flexapod.simulation.system.leg_terms import leg_matrices

if TYPE_CHECKING:
    from flexapod.simulation.system.independent import IndependentLayout


class SecondOrderSteps(TermSteps):
    """Implicit steps; see `TermSteps`.

    Checked by: tests/simulation/test_stepper.py.
    """

    def __init__(self, layout: IndependentLayout, values: Mapping[str, float], step: float) -> None:
        self.method = METHODS[layout.method]
        matrices, numbers = compiled(layout, "matrices", leg_matrices, values)  # type: ignore[arg-type]
        self.matrices = matrices.prepare(numbers)
        super().__init__(layout, values, step)

    def _buffers(self, z: int, u: int) -> None:
        super()._buffers(z, u)
        eigen, s = (*self.method.real, *self.method.pairs), self.method.stages
        self.D, self.K = np.zeros((2, u, u))
        self.scaled = np.zeros(u * u)
        self.scale, self.part = np.zeros((2, u))
        self.X, self.V, self.x, self.v, self.off, self.r, self.sum, self.delta = np.zeros((8, s, u))
        self.right = np.zeros(u, dtype=complex)
        self.factors = [Factor(np.zeros((u, u), order="F", dtype=complex), self.right) for _ in eigen]
        flat = [system.matrix.reshape(-1, order="F") for system in self.factors]
        self.flat = [(numbers.real, numbers.imag) for numbers in flat]
        self.rows = [(np.array(np.real(row)), np.array(np.imag(row))) for _, row, _ in eigen]
        weights = [1.0] * len(self.method.real) + [2.0] * len(self.method.pairs)
        self.columns = [(w * np.real(c), -w * np.imag(c)) for w, (_, _, c) in zip(weights, eigen, strict=True)]
        self.eigenvalues = [complex(value) * self.step for value, _, _ in eigen]
        self.hA = self.step * self.method.A

    def _increments(self, state: Array) -> str:
        why = self._begin(state) or self._iterated()
        u, final, h = len(self.free), self.terms.inputs["state"], self.step
        for k, rate in ((slice(None, u), self.X), (slice(u, None), self.V)):
            np.matmul(self.method.b, rate, out=self.part)
            np.multiply(self.part, h, out=self.part)
            np.add(self.start[k], self.part, out=final[k])
        return why

    def _begin(self, state: Array) -> str:
        """Terms, acceleration and factors at the start of a step."""
        why = self._reason(self.terms()) or self._left(state)
        if why:
            return why
        out, closed = self.terms.outputs, self.matrices.inputs
        if "state" in closed:
            closed["state"][:] = self.start
        if "memory" in closed:
            closed["memory"][:] = out["closed"]
        self.terms.inputs["memory"][:] = out["closed"]
        why = self._reason(self.matrices()) or self._accelerated()
        self._projected(self.matrices.outputs["damping"], self.D)
        self._projected(self.matrices.outputs["stiffness"], self.K)
        info = 0
        for system, (real, imag), w in zip(self.factors, self.flat, self.eigenvalues, strict=True):
            np.copyto(real, self.M.reshape(-1))  # symmetric: rows are columns. One axis only: NumPy buffers two that differ
            np.copyto(imag, 0.0)
            for matrix, power in ((self.D, w), (self.K, w * w)):
                for part, weight in ((real, power.real), (imag, power.imag)):
                    np.multiply(matrix.reshape(-1), weight, out=self.scaled)
                    np.add(part, self.scaled, out=part)
            info = system.factor() or info
        return why or (self._reason(NONFINITE_RESULT) if info else "")

    def _iterated(self) -> str:
        """Rates X and accelerations V (s, u) of the stages, by the passes of simplified Newton's method."""
        u, h, before = len(self.free), self.step, np.inf
        for k, c in enumerate(self.method.c):
            np.multiply(self.a, h * float(c), out=self.X[k])
            np.add(self.X[k], self.start[u:], out=self.X[k])
            np.copyto(self.V[k], self.a)
        for _ in range(PASSES):
            why = self._pass()
            if why:
                return why
            size = self._size()
            if size < 1.0 or (size < ROUNDING and size > 0.9 * before):
                return ""
            before = size
        return LOST

    def _pass(self) -> str:
        """One pass: residuals at the stages, correction in the eigenvectors of the method."""
        u = len(self.free)
        np.matmul(self.hA, self.X, out=self.x)
        np.matmul(self.hA, self.V, out=self.v)
        for k in range(self.method.stages):
            state = self.terms.inputs["state"]
            np.add(self.start[:u], self.x[k], out=state[:u])
            np.add(self.start[u:], self.v[k], out=state[u:])
            why = self._reason(self.terms())
            if why:
                return why
            self._residual(self.V[k], self.r[k])
            np.add(self.v[k], self.start[u:], out=self.v[k])
        np.subtract(self.X, self.v, out=self.off)
        np.matmul(self.hA, self.off, out=self.sum)
        np.matmul(self.sum, self.K, out=self.x)  # K is symmetric
        np.subtract(self.x, self.r, out=self.r)
        self._corrected()
        np.matmul(self.hA, self.delta, out=self.sum)
        np.add(self.v, self.sum, out=self.X)
        np.add(self.V, self.delta, out=self.V)
        return ""

    def _corrected(self) -> None:
        """delta (s, u) of all stages from the right sides r (s, u)."""
        self.delta[:] = 0.0
        for row, column, factor in zip(self.rows, self.columns, self.factors, strict=True):
            parts = (self.right.real, self.right.imag)
            for weights, part in zip(row, parts, strict=True):
                np.matmul(weights, self.r, out=self.part)
                np.copyto(part, self.part)
            factor.solve()
            for weights, part in zip(column, parts, strict=True):
                for k, weight in enumerate(weights):
                    np.multiply(part, float(weight), out=self.part)
                    np.add(self.delta[k], self.part, out=self.delta[k])

    def _size(self) -> float:
        """Change of a pass in units of `CLOSED`."""
        h, u = self.step, len(self.free)
        np.multiply(self.V, self.V, out=self.sum)
        np.copyto(self.scale, 0.0)
        for row in self.sum:
            np.add(self.scale, row, out=self.scale)
        np.sqrt(self.scale, out=self.scale)
        np.multiply(self.scale, h, out=self.scale)
        np.abs(self.start[u:], out=self.part)
        np.add(self.scale, self.part, out=self.scale)
        np.multiply(self.scale, CLOSED[0], out=self.scale)
        np.add(self.scale, CLOSED[1], out=self.scale)
        np.multiply(self.delta, h, out=self.sum)
        for change in (self.sum, self.off):
            for row in change:
                np.divide(row, self.scale, out=row)
        return float(np.sqrt(np.vdot(self.sum, self.sum) + np.vdot(self.off, self.off)))
