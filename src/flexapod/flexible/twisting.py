r"""Coupling of bending and twisting in the motion of a beam's tip, to second order, root held.

Letters: theta(x) rotation of the section by its linear shapes, kappa = theta' its curvatures (about y and z: bending, about x:
twisting), l length. A beam with these curvatures, :math:`R' = R\,\hat\kappa`, :math:`r' = R\,x`, has to second order
:math:`R_2 = \int\hat\theta\hat\kappa\,dx`, and its tip, turned about x, y, z one after another, moves besides its coordinates by

.. math::
   v_2 &= \int (l - x)\,\kappa_y\theta_x\,dx,\qquad w_2 = \int (l - x)\,\kappa_z\theta_x\,dx\\
   \theta_{x2} &= -\int\kappa_y\theta_z\,dx,\qquad \theta_{y2} = \int\kappa_x\theta_z\,dx,\qquad
   \theta_{z2} = -\int\kappa_x\theta_y\,dx

(along x it is drawn in, see `flexapod.flexible.beam_element.Foreshortening`). So bending moments twist a beam, and it buckles
sideways.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexapod.flexible.beam_element import BeamElement, gauss_points
from flexapod.flexible.checked_arrays import Floats

COORDINATES = (1, 2, 3, 4, 5)
"""v, w, thx, thy, thz: those of the tip that twisting and bending move together."""


def twisting(elements: Sequence[BeamElement], V: Floats) -> Floats:
    """Matrices Q_c (5, N, N) of the quadratic parts 1/2 e^T Q_c e of the tip's `COORDINATES`, symmetric.

    Args:
        elements: from root to tip, spatial, of equal length.
        V: (6 (n + 1), N) coordinates of all nodes, the root first, per coordinate e.

    Checked by: tests/flexible/test_foreshortening.py.
    """
    s, weight = gauss_points()
    total = np.zeros((5, V.shape[1], V.shape[1]))
    step = elements[0].length
    for k, element in enumerate(elements):
        own = V[6 * k : 6 * (k + 2)]
        _, rotated = element.shapes(s * step)  # (p, 3, 12)
        curved = np.einsum("pq,qak->pak", _derivative(s) / step, rotated)
        theta, kappa = rotated @ own, curved @ own
        arm = (len(elements) - k - s) * step
        one = np.ones_like(s)
        factors: list[tuple[Floats, int, int]] = [(arm, 1, 0), (arm, 2, 0), (-one, 1, 2), (one, 0, 2), (-one, 0, 1)]
        for c, (factor, i, j) in enumerate(factors):
            total[c] += kappa[:, i].T @ ((step * weight * factor)[:, None] * theta[:, j])
    result: Floats = total + total.transpose(0, 2, 1)
    return result


def _derivative(s: Floats) -> Floats:
    """(p, p) values at places s to derivatives there, exact for polynomials of degree p - 1."""
    powers = np.vander(s, increasing=True)
    slopes = np.zeros_like(powers)
    slopes[:, 1:] = powers[:, :-1] * np.arange(1, len(s))
    result: Floats = slopes @ np.linalg.inv(powers)
    return result


def tip_twisting(element: BeamElement) -> Floats | None:
    """Matrices of `twisting` for one element by the coordinates of its tip; None in the plane, where nothing twists."""
    return None if element.planar else twisting([element], np.vstack([np.zeros((6, 6)), np.eye(6)]))
