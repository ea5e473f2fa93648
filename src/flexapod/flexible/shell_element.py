r"""A flat shell element with three or four corners and six degrees of freedom at each, in any consistent units.

Bending and transverse shear: discrete Kirchhoff-Mindlin (DKMT, DKMQ). Fibres rotate by :math:`(\beta_x, \beta_y)`, interpolated
from the corners and, along side k with cosines :math:`(C, S)` and length L, by one quadratic more,

.. math:: \Delta\beta_k = -\frac{3}{2(1+\phi_k)}\Big[\frac{w_j-w_i}{L}
          + \frac{C(\beta_{xi}+\beta_{xj})+S(\beta_{yi}+\beta_{yj})}{2}\Big],\qquad
          \gamma_k = -\tfrac23\phi_k\Delta\beta_k,\qquad \phi_k = \frac{12 D_b}{D_s L^2},

so that it neither locks when thin (:math:`\phi = 0`: DKT, DKQ) nor is too stiff when thick. Membrane: triangles of constant
strain, four corners with Wilson's incompatible modes. A small stiffness ties the rotation about the normal to that of
the membrane; rigid motions have no energy. Corners of a warped element are rigid links away from its mean plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.rotation_arrays import skew

DRILLING = 1e-4
"""Stiffness of the rotation about the normal against that of the membrane, of G h: Nastran's K6ROT = 100."""
GAUSS = 1.0 / np.sqrt(3.0)
RULES = {
    3: np.array([[1 / 6, 1 / 6, 1 / 6], [2 / 3, 1 / 6, 1 / 6], [1 / 6, 2 / 3, 1 / 6]]),
    4: np.array([[x, y, 1.0] for x in (-GAUSS, GAUSS) for y in (-GAUSS, GAUSS)]),
}
"""Corners -> integration points: two coordinates and the weight."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ShellElement:
    """Corners (3 or 4, 3), constants, mass per area, and the way of the middle plane from the corners along the normal.

    Args:
        shear: transverse shear stiffness kappa G h; None: none, a Kirchhoff plate.

    Source: I. Katili, Int. J. Num. Meth. Eng. 36, 1859-1883 and 1885-1908, 1993; R. L. Taylor, P. J. Beresford, E. L. Wilson,
    Int. J. Num. Meth. Eng. 10, 1211-1219, 1976. Checked by: tests/flexible/test_shell_element.py.
    """

    corners: Floats
    young: float
    poisson: float
    thickness: float
    mass_per_area: float
    shear: float | None = None
    offset: float = 0.0
    drilling: float = DRILLING

    @cached_property
    def axes(self) -> Floats:
        """(3, 3) rows: element axes, z along the normal (right hand about the corners in order)."""
        c = self.corners
        along = c[1] - c[0] if len(c) == 3 else c[1] + c[2] - c[0] - c[3]
        normal = np.cross(c[1] - c[0], c[2] - c[0]) if len(c) == 3 else np.cross(c[2] - c[0], c[3] - c[1])
        size = float(np.linalg.norm(normal))
        if size <= 1e-12 * float(np.ptp(c, axis=0).max()) ** 2:
            raise FlexibleBodyError(f"A shell element encloses no area: its corners are {c.tolist()}.")
        z = normal / size
        x = along - (along @ z) * z
        x /= np.linalg.norm(x)
        return np.stack([x, np.cross(z, x), z])

    @cached_property
    def flat(self) -> Floats:
        """(n, 3) corners in element axes about their mean; z is the warp."""
        found: Floats = (self.corners - self.corners.mean(axis=0)) @ self.axes.T
        return found

    @property
    def volume(self) -> float:
        """Thickness times area."""
        return self.thickness * float(sum(weight for *_, weight in self._points()))

    def stiffness(self) -> Floats:
        """(6 n, 6 n) for (ux, uy, uz, rx, ry, rz) of every corner, axes of the corners' coordinates."""
        n = len(self.corners)
        K = np.zeros((6 * n, 6 * n))
        parts = ((self._membrane(), (0, 1)), (self._plate(), (2, 4, 3)), (self._drilling(), (0, 1, 5)))
        for part, places in parts:
            at = (6 * np.arange(n)[:, None] + np.array(places)).ravel()
            sign = np.tile([1.0, 1.0, -1.0] if places == (2, 4, 3) else np.ones(len(places)), n)  # beta_y = -rx
            K[np.ix_(at, at)] += sign[:, None] * part * sign
        return self._placed(K)

    def mass(self) -> Floats:
        """(6 n, 6 n): the mass per area over the linear interpolation of the displacements; no rotary inertia."""
        n = len(self.corners)
        m = sum(w * self.mass_per_area * np.outer(N, N) for N, _, _, w in self._points())
        M = np.zeros((6 * n, 6 * n))
        for axis in range(3):
            M[axis::6, axis::6] = m
        return self._placed(M)

    def _placed(self, local: Floats) -> Floats:
        """From element axes and the mean plane to the corners: displacement there is u + r x (way to the plane)."""
        n = len(self.corners)
        T = np.zeros((6 * n, 6 * n))
        for k in range(n):
            way = np.array([0.0, 0.0, self.offset - self.flat[k, 2]])
            T[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = T[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = self.axes
            T[6 * k : 6 * k + 3, 6 * k + 3 : 6 * k + 6] = -skew(way) @ self.axes
        placed: Floats = T.T @ local @ T
        return placed

    def _points(self) -> list[tuple[Floats, Floats, tuple[float, float], float]]:
        """N (n,), its slopes (n, 2), parent coordinates and weight times area at the integration points."""
        return [(*self._shape(x, y), (float(x), float(y)), w * self._area(x, y)) for x, y, w in RULES[len(self.corners)]]

    def _area(self, x: float, y: float) -> float:
        size = float(np.linalg.det(self._jacobian(x, y)))
        if size <= 0.0:
            raise FlexibleBodyError(f"A shell element is folded: its corners {self.corners.tolist()} are not convex in order.")
        return size

    def _parent(self, x: float, y: float) -> tuple[Floats, Floats]:
        """Shape functions and their slopes (n, 2) in parent coordinates."""
        if len(self.corners) == 3:
            return np.array([1.0 - x - y, x, y]), np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
        a, b = np.array([-1.0, 1.0, 1.0, -1.0]), np.array([-1.0, -1.0, 1.0, 1.0])
        return (1 + a * x) * (1 + b * y) / 4, np.stack([a * (1 + b * y), b * (1 + a * x)], axis=1) / 4

    def _jacobian(self, x: float, y: float) -> Floats:
        found: Floats = self._parent(x, y)[1].T @ self.flat[:, :2]
        return found

    def _shape(self, x: float, y: float) -> tuple[Floats, Floats]:
        N, slopes = self._parent(x, y)
        return N, slopes @ np.linalg.inv(self._jacobian(x, y)).T

    def _elasticity(self) -> Floats:
        """Plane stress."""
        nu = self.poisson
        return self.young / (1 - nu**2) * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, (1 - nu) / 2]])

    def _membrane(self) -> Floats:
        """(2 n, 2 n) for (u, v)."""
        D, size = self.thickness * self._elasticity(), 2 * len(self.corners)
        extra = 4 if len(self.corners) == 4 else 0
        K = np.zeros((size + extra, size + extra))
        if extra:
            middle = np.linalg.inv(self._jacobian(0.0, 0.0)).T
            whole = float(np.linalg.det(self._jacobian(0.0, 0.0)))
        for _, slopes, (x, y), w in self._points():
            both = [slopes]
            if extra:
                both.append(whole / self._area(x, y) * np.diag([-2.0 * x, -2.0 * y]) @ middle)
            B = strain(np.concatenate(both))
            K += w * B.T @ D @ B
        if not extra:
            return K
        inside: Floats = K[:size, :size] - K[:size, size:] @ np.linalg.solve(K[size:, size:], K[size:, :size])
        return inside

    def _drilling(self) -> Floats:
        """(3 n, 3 n) for (u, v, rz): against rz - (v_x - u_y)/2."""
        n = len(self.corners)
        k = self.drilling * self.thickness * self.young / (2 * (1 + self.poisson))
        K = np.zeros((3 * n, 3 * n))
        for N, slopes, _, w in self._points():
            row = np.stack([0.5 * slopes[:, 1], -0.5 * slopes[:, 0], N], axis=1).ravel()
            K += w * k * np.outer(row, row)
        return K

    def _plate(self) -> Floats:
        """(3 n, 3 n) for (w, beta_x, beta_y)."""
        n = len(self.corners)
        D_b = self.thickness**3 / 12 * self._elasticity()
        sides, mean, phi = self._sides(D_b[0, 0])
        quadratic = -1.5 / (1 + phi)[:, None] * mean
        K = np.zeros((3 * n, 3 * n))
        corner = self._corner_shear(sides, (phi / (1 + phi))[:, None] * mean)
        for N, slopes, (x, y), w in self._points():
            bubble = self._bubbles(x, y)
            rotation = np.zeros((2, 2, 3 * n))  # slope, component of beta
            rotation[:, 0, 1::3] = rotation[:, 1, 2::3] = slopes.T
            rotation += np.einsum("kd,kc,kq->dcq", bubble, sides[:, :2], quadratic)
            B = np.stack([rotation[0, 0], rotation[1, 1], rotation[1, 0] + rotation[0, 1]])
            K += w * B.T @ D_b @ B
            if self.shear is not None:
                G = np.einsum("n,ncq->cq", N, corner)
                K += w * self.shear * G.T @ G
        return K

    def _sides(self, bending: float) -> tuple[Floats, Floats, Floats]:
        """Per side its cosines and length (n, 3), the mean shear of the linear interpolation (n, 3 n), and phi (n,)."""
        n = len(self.corners)
        sides, mean = np.zeros((n, 3)), np.zeros((n, 3 * n))
        for i in range(n):
            j = (i + 1) % n
            way = self.flat[j, :2] - self.flat[i, :2]
            L = float(np.linalg.norm(way))
            C, S = way / L
            sides[i] = C, S, L
            mean[i, 3 * i], mean[i, 3 * j] = -1 / L, 1 / L
            for k in (i, j):
                mean[i, 3 * k + 1 : 3 * k + 3] = C / 2, S / 2
        phi = np.zeros(n) if self.shear is None else 12 * bending / (self.shear * sides[:, 2] ** 2)
        return sides, mean, phi

    def _corner_shear(self, sides: Floats, along: Floats) -> Floats:
        """(n, 2, 3 n) shear strains at the corners from those along the two sides that meet there."""
        n = len(self.corners)
        found = [np.linalg.solve(sides[[i, i - 1], :2], along[[i, i - 1]]) for i in range(n)]
        return np.stack(found)

    def _bubbles(self, x: float, y: float) -> Floats:
        """(n, 2) slopes of the quadratics of the sides, 1 at their middles."""
        if len(self.corners) == 3:
            N, slopes = self._parent(x, y)
            parent = np.stack([4 * (N[i] * slopes[i - 2] + N[i - 2] * slopes[i]) for i in range(3)])
        else:
            parent = np.array([[-x * (1 - y), -(1 - x * x) / 2], [(1 - y * y) / 2, -y * (1 + x)],
                               [-x * (1 + y), (1 - x * x) / 2], [-(1 - y * y) / 2, -y * (1 - x)]])  # fmt: skip
        found: Floats = parent @ np.linalg.inv(self._jacobian(x, y)).T
        return found


def strain(slopes: Floats) -> Floats:
    """(3, 2 n): strains (xx, yy, xy) of displacements whose shapes have these slopes (n, 2)."""
    B = np.zeros((3, 2 * len(slopes)))
    B[0, 0::2] = B[2, 1::2] = slopes[:, 0]
    B[1, 1::2] = B[2, 0::2] = slopes[:, 1]
    return B
