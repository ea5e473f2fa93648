r"""Steps of robots with many coordinates: kernels give the terms, a step is dense algebra in memory of its own.

.. math:: N^T\big(M_z(N\ddot u + \beta) + f\big) = 0,\qquad
    \Big(M + h\lambda D + (h\lambda)^2 K\Big)\,\delta = h K\,(x_{off} A^T) - r

One kernel for a whole step would compile for minutes beyond some 24 coordinates. The implicit method, its tolerances and its
passes are those of `implicit_step`; the same algorithm in C is bridges/fmu/second_order.c. Explicit steps: `explicit_steps`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.kernels import kernel
from flexapod.kernels.signature import NONFINITE_RESULT
from flexapod.simulation.collocation import METHODS
from flexapod.simulation.factor_in_place import Factor
from flexapod.simulation.implicit import CLOSED, LOST, PASSES, ROUNDING
from flexapod.simulation.leg_terms import carried_places, check_terms, leg_matrices, leg_terms
from flexapod.simulation.program import LOST_CONTROL, NEAR
from flexapod.simulation.runner import compiled

if TYPE_CHECKING:
    from flexapod.kernels.prepared import Prepared
    from flexapod.simulation.independent import IndependentLayout

Array = NDArray[np.float64]


class TermSteps:
    """Advances the carried numbers of a layout in place. All arrays are made once; a step makes views and Python numbers.

    Args:
        layout: a run under given forces.
        values: its numbers by name.
        step: [s].
    """

    def __init__(self, layout: IndependentLayout, values: Mapping[str, float], step: float) -> None:
        plan = layout.robot.elastic_plan
        check_terms(layout, "stepper", "use `simulate`, or fewer elements per beam")
        self.layout, self.step = layout, step
        self.kernel, numbers = compiled(layout, "terms", leg_terms, values)  # type: ignore[arg-type]
        self.terms = self.kernel.prepare(numbers)
        self.determinant = self._watched(values)
        self.signals = self.terms.inputs["signals"]
        self._places()
        self._buffers(len(plan.columns), len(plan.independent))

    def _watched(self, values: Mapping[str, float]) -> Prepared | None:
        """The kernel of the determinant of the actuators, where control of the platform is watched."""
        if "determinant" not in self.layout.places:
            return None
        self.least = NEAR * values["determinant.start"]
        return kernel(self.layout.robot, "elastic_control").prepare()

    def _places(self) -> None:
        """Where the numbers of the terms lie among the carried ones."""
        plan, place = self.layout.robot.elastic_plan, self.layout.places
        self.state_places, self.memory_places = (np.array(places) for places in carried_places(self.layout))
        self.free, self.bound = list(plan.independent), np.array(plan.bound, dtype=np.intp)
        self.shown: list[tuple[slice, tuple[int, ...], Array]] = []
        at, result = 2 * self.layout.actuators, self.terms.outputs["result"]
        for name in ("p", "R", "v", "w"):
            part = result[at : at + place[name].stop - place[name].start]
            at += len(part)
            self.shown.append((place[name], (3, 3), part.reshape(3, 3).T) if name == "R" else (place[name], (3,), part))

    def _buffers(self, z: int, u: int) -> None:
        self.N, self.zu = np.zeros((2, z, u))
        self.N[self.free, range(u)] = 1.0
        self.M = np.zeros((u, u))
        self.beta, self.force, self.z = np.zeros((3, z))
        self.start, self.memory = np.zeros(2 * u), np.zeros(len(self.memory_places))
        self.a, self.felt = np.zeros((2, u))
        self.finite = np.zeros(u, dtype=bool)
        self.mass = Factor(np.zeros((u, u), order="F"), self.a)
        self.bound_rows = [(self.N[row], self.terms.outputs["slope"][k]) for k, row in enumerate(self.bound)]

    # -- one step ------------------------------------------------------------------------------------------
    def __call__(self, state: Array) -> str:
        """Advance; the reason where it fails, the state is then as before."""
        np.take(state, self.state_places, out=self.start, mode="clip")
        np.take(state, self.memory_places, out=self.memory, mode="clip")
        self.terms.inputs["state"][:], self.terms.inputs["memory"][:] = self.start, self.memory
        why = self._increments(state) or self._reason(self.terms())
        if why:
            return why
        np.put(state, self.memory_places, self.terms.outputs["closed"], mode="clip")
        np.put(state, self.state_places, self.terms.inputs["state"], mode="clip")
        for place, shape, result in self.shown:
            np.copyto(state[place].reshape(shape), result)
        return ""

    def _increments(self, state: Array) -> str:
        """The state after a step, as input of the terms; the reason where it fails."""
        raise NotImplementedError

    def _reason(self, status: int) -> str:
        return self.kernel.signature.status(status).text if status else ""

    def _projected(self, matrix: Array, to: Array) -> None:
        """N^T matrix N (u, u)."""
        np.matmul(matrix, self.N, out=self.zu)
        np.matmul(self.N.T, self.zu, out=to)

    def _accelerated(self) -> str:
        """Accelerations a (u,) at the state of the terms; the reason where there are none."""
        self.a[:] = 0.0
        self._residual(self.a, self.felt)
        self._projected(self.terms.outputs["mass"], self.M)
        np.copyto(self.mass.matrix, self.M)
        info = self.mass.factor()
        np.negative(self.felt, out=self.a)
        self.mass.solve()
        return self._reason(NONFINITE_RESULT) if info or not np.isfinite(self.a, out=self.finite).all() else ""

    def _left(self, state: Array) -> str:
        """An actuator beyond its stroke, or without control of the platform."""
        margin = self.terms.outputs.get("margin")
        if margin is not None and margin.min() < 0.0:
            names = [n for n, has in zip(self.layout.robot.actuators, self.layout.strokes, strict=True) if has]
            return f"leg {names[int(margin.argmin()) // 2]} leaves its stroke"
        return "" if self.determinant is None else self._lost(state, self.determinant)

    def _lost(self, state: Array, watched: Prepared) -> str:
        """The actuators have lost control of the platform; the determinant is carried on."""
        place, before = self.layout.places, float(state[self.layout.places["determinant"]][0])
        for name, part in (("joint_position", "joints"), ("modes", "modes"), ("position", "p")):
            if name in watched.inputs:
                watched.inputs[name][:] = state[place[part]]
        if "rotation" in watched.inputs:
            watched.inputs["rotation"][:] = state[place["R"]].reshape(3, 3).T
        why, now = self._reason(watched()), float(watched.outputs["determinant"])
        state[place["determinant"]] = now
        return why or (LOST_CONTROL if now * before < 0 or abs(now) <= self.least else "")

    def _residual(self, a: Array, r: Array) -> None:
        """r = N^T (M (N a + beta) + f) at the state of the terms; N is brought up to date."""
        out = self.terms.outputs
        for row, slope in self.bound_rows:
            np.copyto(row, slope)
        if self.bound_rows:
            np.put(self.beta, self.bound, out["drift"], mode="clip")
        np.matmul(self.N, a, out=self.z)
        np.add(self.z, self.beta, out=self.z)
        np.matmul(out["mass"], self.z, out=self.force)
        np.add(self.force, out["forces"], out=self.force)
        np.matmul(self.N.T, self.force, out=r)


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
