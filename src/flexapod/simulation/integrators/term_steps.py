r"""Steps of robots with many coordinates: kernels give the terms, a step is dense algebra in memory of its own.

.. math:: N^T\big(M_z(N\ddot u + \beta) + f\big) = 0

One kernel for a whole step would compile for minutes beyond some 24 coordinates. Implicit steps are those of
`second_order_steps`, explicit ones those of `explicit_steps`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.kernels import kernel
from flexapod.arrays import Array
from flexapod.kernels.tape.signature import NONFINITE_RESULT
from flexapod.simulation.integrators.compiled_rows import LOST_CONTROL, NEAR
from flexapod.simulation.integrators.factor_in_place import Factor
from flexapod.simulation.integrators.runner import compiled
from flexapod.simulation.system.leg_terms import carried_places, leg_terms

if TYPE_CHECKING:
    from flexapod.kernels.prepared import Prepared
    from flexapod.simulation.system.independent import IndependentLayout


class TermSteps:
    """Advances the carried numbers of a layout in place. All arrays are made once; a step makes views and Python numbers.

    Args:
        layout: a simulation under given forces.
        values: its numbers by name.
        step: [s].
    """

    def __init__(self, layout: IndependentLayout, values: Mapping[str, float], step: float) -> None:
        plan = layout.robot.elastic_plan
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
        """Positions of the numbers of the terms among the carried ones."""
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
        """Advance by one step; returns the reason if it fails, with the state as before."""
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
