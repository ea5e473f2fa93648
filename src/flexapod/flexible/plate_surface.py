r"""Stress at the surfaces of a plate per elastic coordinate, from the curvatures of its modes.

.. math:: \sigma_{top} = -\frac{6}{h^2}\,D\,\kappa,\qquad \sigma_{bottom} = -\sigma_{top},\qquad
          \sigma_v^2 = \sigma_x^2 - \sigma_x\sigma_y + \sigma_y^2 + 3\tau^2

One point per triangle, near its centre. A few modes do not follow the peaks under point forces, infinite in thin plates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flexapod.flexible.arrays import Floats
from flexapod.flexible.plates import oriented_modes, plate_problem


@dataclass(frozen=True, kw_only=True, eq=False)
class PlateSurface:
    """points (p, 3) [m]; top (p, 3, N): stress xx, yy, xy [Pa] of the surface at positive z per elastic coordinate."""

    points: Floats
    top: Floats

    def stress(self, elastic: Floats) -> Floats:
        """Stress (n, p, 3) [Pa] of the upper surface for elastic coordinates (n, N)."""
        result: Floats = np.einsum("pck,nk->npc", self.top, elastic)
        return result


def von_mises(stress: Floats) -> Floats:
    """Equivalent stress (..) of plane stress xx, yy, xy (.., 3)."""
    x, y, xy = np.moveaxis(stress, -1, 0)
    result: Floats = np.sqrt(x * x - x * y + y * y + 3.0 * xy * xy)
    return result


def plate_surface(
    *, outline: ArrayLike, thickness: float, young: float, poisson: float, density: float, theory: str = "mindlin",
    modes: int = 10, method: str = "normal", boundary: str = "free", interfaces: Mapping[str, Sequence[float]] | None = None,
) -> PlateSurface:  # fmt: skip
    """Stress shapes of a plate; arguments as for `flexapod.flexible.plate`, whose elastic coordinates they belong to.

    Checked by: tests/flexible/test_plate_surface.py.
    """
    given = plate_problem(outline, thickness, young, poisson, density, theory, modes, (), (), boundary, None, 0)
    places = np.array([[*place, 0.0][:3] for place in (interfaces or {}).values()]).reshape(-1, 3)
    _, V, model, _ = oriented_modes(given, modes, method, places)
    curvature = np.stack([B @ V for B in model.curvatures], axis=1)  # (q, 3, N)
    per = len(model.weights) // len(model.triangles)
    grouped = model.quadrature.points.reshape(-1, per, 2)
    centre = model.vertices.points[model.triangles].mean(axis=1)
    chosen = np.arange(len(grouped)) * per + np.linalg.norm(grouped - centre[:, None], axis=2).argmin(axis=1)
    moments = np.einsum("ab,qbk->qak", given.material.bending(), curvature[chosen])
    points = np.hstack([model.quadrature.points[chosen], np.zeros((len(chosen), 1))])
    return PlateSurface(points=points, top=-6.0 / given.material.h**2 * moments)
