"""Flexible bodies as mass points on shape functions, written for the tests alone: nothing of the package's beams is used.

A beam element runs along x from its root (clamped to the body frame) to its tip, whose coordinates are the elastic ones. The
bending shapes solve the homogeneous beam equations: v is a cubic and the section turns by theta = v' + (EI / kappa G A) v'''.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from flexapod.description.schema_flexible import Flexible, Section

POINTS = 6
"""Gauss points along an element: more than the sixth degree of the integrands asks for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MassPoints:
    """Points r0 (p, 3) of mass (p,) that move by Phi (p, 3, N) q_e, in the body's own axes; stiffness and damping (N, N)."""

    r0: np.ndarray
    mass: np.ndarray
    Phi: np.ndarray
    K: np.ndarray
    D: np.ndarray

    @property
    def M(self) -> np.ndarray:
        return np.einsum("p,pxi,pxj->ij", self.mass, self.Phi, self.Phi)


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Constants of a section; iz belongs to bending in the xy plane."""

    area: float
    iy: float
    iz: float
    torsion: float
    shear_y: float
    shear_z: float


def cut(s: Section) -> Cut:
    """A section of the robot file by textbook formulas."""
    if s.shape == "rectangle":
        b, h = float(s.width or 0), float(s.height or 0)
        return Cut(area=b * h, iy=b * h**3 / 12, iz=h * b**3 / 12, torsion=rectangle_torsion(b, h), shear_y=5 / 6, shear_z=5 / 6)
    if s.shape == "tube":
        D, d = float(s.outer or 0), float(s.inner or 0)
        bend, m, nu = np.pi / 64 * (D**4 - d**4), d / D, 0.3
        shear = 6 * (1 + nu) * (1 + m**2) ** 2 / ((7 + 6 * nu) * (1 + m**2) ** 2 + (20 + 12 * nu) * m**2)
        return Cut(area=np.pi / 4 * (D**2 - d**2), iy=bend, iz=bend, torsion=2 * bend, shear_y=shear, shear_z=shear)
    if s.shape == "i":
        b, h, f, t = (float(x or 0) for x in (s.width, s.height, s.flange, s.web))
        parts = [(b, f, (h - f) / 2), (b, f, (f - h) / 2), (t, h - 2 * f, 0.0)]  # sizes along y and z, centre
        area, flanges, web = sum(y * z for y, z, _ in parts), 2 * b * f, t * (h - 2 * f)
        iy = sum(y * z**3 / 12 + y * z * c**2 for y, z, c in parts)
        iz, torsion = sum(z * y**3 / 12 for y, z, _ in parts), (2 * b * f**3 + (h - f) * t**3) / 3
        return Cut(area=area, iy=iy, iz=iz, torsion=torsion, shear_y=5 / 6 * flanges / area, shear_z=web / area)
    return Cut(area=s.area or 0, iy=s.iy or 0, iz=s.iz or 0, torsion=s.torsion or 0, shear_y=5 / 6, shear_z=5 / 6)


def rectangle_torsion(a: float, b: float) -> float:
    """Saint-Venant's constant by the series across the *short* side: a^3 b (1/3 - 64/pi^5 a/b sum tanh(n pi b/2a)/n^5), a > b."""
    a, b = max(a, b), min(a, b)
    n = np.arange(1, 20001, 2)
    return float(a**3 * b * (1 / 3 - 64 / np.pi**5 * a / b * np.sum(np.tanh(n * np.pi * b / (2 * a)) / n**5.0)))


def bending(length: float, flexibility: float) -> tuple[list[np.polynomial.Polynomial], list[np.polynomial.Polynomial]]:
    """Deflection and rotation per (tip deflection, tip rotation); flexibility is EI / kappa G A [m^2]."""
    powers = [np.polynomial.Polynomial(np.eye(4)[k]) for k in range(4)]
    rotation = [p.deriv() + flexibility * p.deriv(3) for p in powers]
    rows = [[f(x) for f in family] for x in (0.0, length) for family in (powers, rotation)]
    found = np.linalg.solve(rows, np.eye(4)[:, 2:])
    shapes = [np.polynomial.Polynomial(c) for c in found.T]
    return shapes, [p.deriv() + flexibility * p.deriv(3) for p in shapes]


def beam_element(spec: Flexible, planar: bool) -> MassPoints:
    """One element of the beam that a robot file describes, by quadrature of its shapes."""
    assert spec.section is not None
    c, L = cut(spec.section), float(spec.length or 0) / spec.elements
    E, rho = float(spec.young or 0), float(spec.density or 0)
    shear = spec.theory == "timoshenko"
    G = E / (2 * (1 + spec.poisson)) if spec.poisson is not None else np.nan
    s, weight = np.polynomial.legendre.leggauss(POINTS)
    x, weight = L * (s + 1) / 2, weight * L / 2
    N = 3 if planar else 6
    d, r, K = np.zeros((POINTS, 3, N)), np.zeros((POINTS, 3, N)), np.zeros((N, N))
    d[:, 0, 0] = x / L
    K[0, 0] = E * c.area / L
    planes = [(1, 2, (1, 2 if planar else 5), 1.0, c.iz, c.shear_y)]
    if not planar:
        planes.append((2, 1, (2, 4), -1.0, c.iy, c.shear_z))
        r[:, 0, 3] = x / L
        K[3, 3] = G * c.torsion / L
    for axis, about, columns, sign, inertia, kappa in planes:
        v, theta = bending(L, E * inertia / (kappa * G * c.area) if shear else 0.0)
        signs = np.array([1.0, sign])
        bend = np.array([signs[k] * theta[k].deriv()(x) for k in range(2)])
        slip = np.array([signs[k] * (v[k].deriv()(x) - theta[k](x)) for k in range(2)])
        K[np.ix_(columns, columns)] += E * inertia * np.einsum("ip,jp,p->ij", bend, bend, weight)
        if shear:
            K[np.ix_(columns, columns)] += kappa * G * c.area * np.einsum("ip,jp,p->ij", slip, slip, weight)
        for k, column in enumerate(columns):
            d[:, axis, column] = signs[k] * v[k](x)
            r[:, about, column] = sign * signs[k] * theta[k](x)
    return _spread(c, x, rho * c.area * weight, d, r, K, planar, shear, float(spec.damping or 0))


def _spread(
    c: Cut, x: np.ndarray, mass: np.ndarray, d: np.ndarray, r: np.ndarray, K: np.ndarray, planar: bool, rotary: bool, zeta: float
) -> MassPoints:
    """Masses at the corners of a rectangle with the section's radii of gyration.

    Without `rotary` the section is a needle's: inertia about x alone, by masses across the beam and negative ones along it.
    """
    a, b = np.sqrt(c.iz / c.area), np.sqrt(c.iy / c.area)
    corners = [(0.0, i * a, j * b, 0.25) for i in (-1, 1) for j in (-1, 1)]
    if planar:
        corners = [(0.0, -a, 0.0, 0.5), (0.0, a, 0.0, 0.5)] if rotary else [(0.0, 0.0, 0.0, 1.0)]
    elif not rotary:
        arm = np.sqrt((c.iy + c.iz) / (2 * c.area))
        corners = [(0.0, i * arm, j * arm, 0.25) for i in (-1, 1) for j in (-1, 1)]
        corners += [(0.0, 0.0, 0.0, 1.0), (arm, 0.0, 0.0, -0.5), (-arm, 0.0, 0.0, -0.5)]
    r0 = np.concatenate([np.stack([x + h, 0 * x + y, 0 * x + z], axis=1) for h, y, z, _ in corners])
    Phi = np.concatenate([d + np.cross(r, np.array([h, y, z])[None, :, None], axis=1) for h, y, z, _ in corners])
    weights = np.concatenate([part * mass for *_, part in corners])
    body = MassPoints(r0=r0, mass=weights, Phi=Phi, K=K, D=np.zeros_like(K))
    omega2, V = scipy.linalg.eigh(K, body.M)
    D = body.M @ V @ np.diag(2 * zeta * np.sqrt(omega2)) @ V.T @ body.M
    return MassPoints(r0=r0, mass=body.mass, Phi=Phi, K=K, D=D)


def reduced_points(spec: Flexible, planar: bool) -> MassPoints:
    """The whole beam in one frame by its tip and `modes` modes between held ends, as the package documents their sizes.

    An element moves by the rigid motion of its root and by what its tip moves besides.
    """
    assert spec.section is not None
    one, n, d = beam_element(spec, planar), spec.elements, 3 if planar else 6
    step, c = float(spec.length or 0) / n, cut(spec.section)
    carry = np.eye(d)  # what the tip of an element moves by with its root
    for column, row, sign in ((2, 1, 1.0),) if planar else ((5, 1, 1.0), (4, 2, -1.0)):
        carry[row, column] = sign * step
    Phi, K = [], np.zeros((n * d, n * d))
    for k in range(n):
        pick = np.zeros((d, (n + 1) * d)), np.zeros((d, (n + 1) * d))
        for at, end in enumerate(pick):
            end[:, (k + at) * d : (k + at + 1) * d] = np.eye(d)
        own = (pick[1] - carry @ pick[0])[:, d:]
        rotations = np.zeros((3, d))
        for row, column in ((2, 2),) if planar else ((0, 3), (1, 4), (2, 5)):
            rotations[row, column] = 1.0
        moves = np.eye(3)[:, :2] if planar else np.eye(3)
        shift = np.hstack([moves, np.zeros((3, d - moves.shape[1]))])
        rigid = shift[None] + np.cross(rotations[None], one.r0[:, :, None], axis=1)
        Phi.append(one.Phi @ own + rigid @ pick[0][:, d:])
        K += own.T @ one.K @ own
    r0 = np.concatenate([one.r0 + np.array([k * step, 0.0, 0.0]) for k in range(n)])
    full = MassPoints(r0=r0, mass=np.tile(one.mass, n), Phi=np.concatenate(Phi), K=K, D=0 * K)
    inner, tip = slice(0, (n - 1) * d), slice((n - 1) * d, None)
    V = np.vstack([-np.linalg.solve(K[inner, inner], K[inner, tip]), np.eye(d)])
    modes = []
    for group in [(1, 2)] if planar else [(1, 5), (2, 4), (3,)]:
        own = [k * d + i for k in range(n - 1) for i in group]
        values, shapes = scipy.linalg.eigh(K[np.ix_(own, own)], full.M[np.ix_(own, own)])
        size = np.sqrt((c.iy + c.iz) / c.area) if group == (3,) else 1.0
        for value, shape in zip(values, shapes.T, strict=True):
            column, first = np.zeros(n * d), shape[:: len(group)]
            largest = first[np.argmax(np.abs(first) > 0.999999 * np.abs(first).max())]
            column[own] = shape / largest / size
            modes.append((round(float(value) ** 0.5, 3), len(modes), column))
    V = np.column_stack([V, *(column for *_, column in sorted(modes, key=lambda m: m[:2])[: spec.modes])])
    return MassPoints(r0=r0, mass=full.mass, Phi=full.Phi @ V, K=V.T @ K @ V, D=V.T @ full.D @ V)
