r"""Stress of a plate: at its surfaces per elastic coordinate, from the curvatures of its modes, and of its middle plane.

.. math::
   \sigma_b &= -\frac{6}{h^2}\,D\,\kappa,\qquad \sigma_m = \frac1h\left(\sum_a N_a f_a + \sum_{ik} N_{ik}\,e_i e_k\right)\\
   \sigma_{top,bottom} &= \sigma_m \pm \sigma_b,\qquad \sigma_v^2 = \sigma_x^2 - \sigma_x\sigma_y + \sigma_y^2 + 3\tau^2

N_a: membrane forces under unit forces in the plane at the interfaces, balanced by the plate's inertia (a plate that does not
stretch to first order is statically determined: they are known without stiffening); N_ik: of stretching by pairs of modes, of
stiffened plates. One point per triangle, near its centre. A few modes do not follow the peaks under point forces, infinite in
thin plates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.plate_membrane import joint_loads, membrane, membrane_forces, stretching
from flexapod.flexible.plates import oriented_modes, plate_problem


@dataclass(frozen=True, kw_only=True, eq=False)
class PlateSurface:
    """points (p, 3) [m]; top (p, 3, N): bending stress xx, yy, xy [Pa] of the surface at positive z per elastic coordinate;
    plane (p, 3, interfaces, 2): membrane stress per force along x and y at the interfaces; pairs (p, 3, N, N): per product of
    two coordinates, None without stiffening."""

    points: Floats
    top: Floats
    plane: Floats
    pairs: Floats | None

    def stress(self, elastic: Floats) -> Floats:
        """Stress (n, p, 3) [Pa] of the upper surface for elastic coordinates (n, N)."""
        result: Floats = np.einsum("pck,nk->npc", self.top, elastic)
        return result

    def membrane(self, elastic: Floats, forces: Floats) -> Floats:
        """Stress (n, p, 3) [Pa] of the middle plane for coordinates (n, N) and forces (n, interfaces, 2) [N], plate axes."""
        result: Floats = np.einsum("pcia,nia->npc", self.plane, forces)
        if self.pairs is not None:
            result = result + np.einsum("pcik,ni,nk->npc", self.pairs, elastic, elastic, optimize=True)
        return result


def von_mises(stress: Floats) -> Floats:
    """Equivalent stress (..) of plane stress xx, yy, xy (.., 3)."""
    x, y, xy = np.moveaxis(stress, -1, 0)
    result: Floats = np.sqrt(x * x - x * y + y * y + 3.0 * xy * xy)
    return result


def plate_surface(
    *, outline: ArrayLike, thickness: float, young: float, poisson: float, density: float, theory: str = "mindlin",
    modes: int = 10, method: str = "normal", boundary: str = "free", interfaces: Mapping[str, Sequence[float]] | None = None,
    stiffening: bool = False,
) -> PlateSurface:  # fmt: skip
    """Stress shapes of a plate; arguments as for `flexapod.flexible.plate`, whose elastic coordinates they belong to.

    Checked by: tests/flexible/test_plate_surface.py.
    """
    given = plate_problem(
        outline=outline, thickness=thickness, young=young, poisson=poisson, density=density, theory=theory, modes=modes,
        boundary=boundary,
    )  # fmt: skip
    places = np.array([[*place, 0.0][:3] for place in (interfaces or {}).values()]).reshape(-1, 3)
    _, V, model, _ = oriented_modes(given, modes, method, places)
    curvature = np.stack([B @ V for B in model.curvatures], axis=1)  # (q, 3, N)
    per = len(model.weights) // len(model.triangles)
    grouped = model.quadrature.points.reshape(-1, per, 2)
    centre = model.vertices.points[model.triangles].mean(axis=1)
    chosen = np.arange(len(grouped)) * per + np.linalg.norm(grouped - centre[:, None], axis=2).argmin(axis=1)
    moments = np.einsum("ab,qbk->qak", given.material.bending(), curvature[chosen])
    points = np.hstack([model.quadrature.points[chosen], np.zeros((len(chosen), 1))])
    own, h = given.material, given.material.h
    plane = membrane(model, own, given.masses, places[:, :2])
    unit = membrane_forces(plane, own, joint_loads(plane))[:, chosen] / h
    pairs = None
    if stiffening:
        i, k = np.triu_indices(V.shape[1])
        found = np.einsum("ab,bqr->qar", own.membrane() / h, stretching(model, plane, own, V)[:, chosen])
        pairs = np.zeros((len(chosen), 3, V.shape[1], V.shape[1]))
        pairs[:, :, i, k] = found
        pairs[:, :, k, i] = found
    return PlateSurface(
        points=points, top=-6.0 / h**2 * moments, pairs=pairs,
        plane=np.moveaxis(unit.reshape(3, len(chosen), 2, len(places)), (0, 2), (1, 3)),
    )  # fmt: skip
