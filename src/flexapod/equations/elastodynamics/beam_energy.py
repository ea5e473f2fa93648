r"""Elastic energy of a beam element by the coordinates of its tip seen from its root, and the forces that follow.

Letters: e = (u, v, theta) or (u, v, w, thx, thy, thz), l length, K stiffness of the linear element, k = K_uu = E A / l, B the
foreshortening matrix: bending shortens the element by 1/2 e^T B e along its axis.

Linear (Briot 2014): ``V = 1/2 e^T K e``. Stiffened: the axial displacement
``u(x) = u x/l + 1/2 (x/l s(l) - s(x))``, ``s(x)`` the integral of v'^2 + w'^2, has the same strain all along the element,

.. math:: \varepsilon = \frac1l\left(u + \tfrac12 e^T B e\right),\qquad
          V = \tfrac12 k\,(l\varepsilon)^2 + \tfrac12 e^T K_b\,e,\qquad
          \frac{\partial V}{\partial e} = P\,(1_u + B e) + K_b\,e,\quad P = k\,l\,\varepsilon

(K_b: K without k; P: the axial force). In space K_b acts on coordinates without what bending and twisting move the tip by
together, :math:`e_c - \tfrac12 e^T Q_c\,e` (`flexapod.flexible.twisting`). Exact: the same energy, without these, in the
coordinates :math:`\hat e` that remain when the rotation of the chord from root to tip is taken out,

.. math:: \hat u = |d| - l,\quad \hat v = -l\,t_{1z},\quad \hat w = l\,t_{1y},\quad \hat\theta = t_2 - t_1,\qquad
          d = (l + u, v, w)

t_1, t_2: rotation vectors of root and tip against the chord frame, whose first axis is d and which lies half-way between the ends
(corotational element, invariant under rigid motion).
Modes of a reduced beam follow behind the tip's coordinates and are what they are: their ends do not move.
What the rotation of the chord itself shortens is in :math:`\hat u` already.

A stiffened plate or file of modes (`flexapod.flexible.modal_foreshortening`) has its tips' quadratic displacements in several
coordinates c,

.. math:: V = \tfrac12\,\hat e^T K\,\hat e + \tfrac12\sum_r (\tfrac12 e^T A_r e)^2,\qquad \hat e_c = e_c - \tfrac12 e^T Q_c\,e
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.equations.flexible_platform.generalized_newton_euler import axial, symmetric_matrix
from flexapod.equations.values import Values
from flexapod.robot.beams import ElasticElement, bending_pairs, tip_names, twisting_pairs
from flexapod.spatial.rotation import normalised

SMALL = 1e-2
"""Squared sine of half an angle below which asin is a series: its first term left out is 1e-17 of the sum."""
ASIN = (1, 1 / 6, 3 / 40, 5 / 112, 35 / 1152, 63 / 2816, 231 / 13312, 143 / 10240, 6435 / 557056)


def elastic_energy(values: Values, beam: ElasticElement, e: SX) -> SX:
    """V [J] at coordinates e (N,).

    Args:
        values: below ``legs.<leg>.<element>``.

    Checked by: tests/elastodynamics/test_beam_energy.py.
    """
    K = _stiffness(values, beam)
    if beam.law == "linear":
        return ca.dot(e, ca.mtimes(K, e)) / 2
    if beam.quadratic is not None:
        part = _linear_part(values, beam, e)
        stretches = [ca.dot(e, ca.mtimes(A, e)) / 2 for A in _stretching(values, beam)]
        return sum((s * s / 2 for s in stretches), ca.dot(part, ca.mtimes(K, part)) / 2)
    if beam.law == "exact":
        tip = len(tip_names(beam.body.names))
        e = ca.vertcat(chord_coordinates(values.scalar("length"), e[:tip]), e[tip:])
    stretch = e[0] + ca.dot(e, ca.mtimes(_foreshortening(values, beam), e)) / 2
    part = _untwisted(values, beam, e)
    return (ca.dot(part, ca.mtimes(K, part)) + K[0, 0] * (stretch**2 - e[0] ** 2)) / 2


def elastic_forces(values: Values, beam: ElasticElement, e: SX) -> SX:
    """dV/de (N,): the papers' K e for linear elements.

    Checked by: tests/elastodynamics/test_beam_energy.py.
    """
    if beam.law == "exact":
        at = ca.SX.sym("e", e.numel())
        return ca.substitute(ca.gradient(elastic_energy(values, beam, at), at), at, e)
    K = _stiffness(values, beam)
    if beam.law == "linear":
        return ca.mtimes(K, e)
    if beam.quadratic is not None:
        return _modal_forces(values, beam, K, e)
    shortened = ca.mtimes(_foreshortening(values, beam), e)
    more = ca.dot(e, shortened) / 2
    own: SX = ca.mtimes(K, _untwisted(values, beam, e))
    force = own + K[0, 0] * (e[0] + more) * shortened
    for c, Q in _twisting(values, beam).items():
        force = force - own[c] * ca.mtimes(Q, e)
    force[0] = force[0] + K[0, 0] * more
    return force


def _modal_forces(values: Values, beam: ElasticElement, K: SX, e: SX) -> SX:
    """dV/de of a stiffened plate or file of modes."""
    own: SX = ca.mtimes(K, _linear_part(values, beam, e))
    force = own
    for c, Q in _tips(values, beam).items():
        force = force - own[c] * ca.mtimes(Q, e)
    for A in _stretching(values, beam):
        Ae = ca.mtimes(A, e)
        force = force + ca.dot(e, Ae) / 2 * Ae
    return ca.densify(force)


def _linear_part(values: Values, beam: ElasticElement, e: SX) -> SX:
    """Coordinates (N,) without the quadratic displacements of tips."""
    part = ca.SX(e)
    for c, Q in _tips(values, beam).items():
        part[c] = part[c] - ca.dot(e, ca.mtimes(Q, e)) / 2
    return part


def _untwisted(values: Values, beam: ElasticElement, e: SX) -> SX:
    """Coordinates (N,) less the displacement of the tip by bending and twisting together."""
    if beam.twisting is None:
        return e
    part = ca.SX(e)
    for c, Q in _twisting(values, beam).items():
        part[c] = part[c] - ca.dot(e, ca.mtimes(Q, e)) / 2
    return part


def _twisting(values: Values, beam: ElasticElement) -> dict[int, SX]:
    """Matrices (N, N) by the coordinate of the tip that they belong to."""
    found: dict[int, SX] = {}
    for c, i, k in twisting_pairs(beam) if beam.twisting is not None else ():
        matrix = found.setdefault(c, ca.SX(beam.shape.modes, beam.shape.modes))
        matrix[i, k] = matrix[k, i] = values.scalar(f"flex.Qt.{c}.{i}.{k}")
    return found


def _tips(values: Values, beam: ElasticElement) -> dict[int, SX]:
    assert beam.quadratic is not None
    return {c: symmetric_matrix(values, f"flex.Qt.{c}", beam.shape.modes) for c in beam.quadratic.columns}


def _stretching(values: Values, beam: ElasticElement) -> list[SX]:
    assert beam.quadratic is not None
    return [symmetric_matrix(values, f"flex.A.{r}", beam.shape.modes) for r in range(len(beam.quadratic.stretch))]


def elastic_slope(values: Values, beam: ElasticElement, e: SX) -> SX:
    """Second derivative of V (N, N): K for linear elements."""
    if beam.law == "linear":
        return _stiffness(values, beam)
    at = ca.SX.sym("e", e.numel())
    return ca.substitute(ca.densify(ca.hessian(elastic_energy(values, beam, at), at)[0]), at, e)


def _stiffness(values: Values, beam: ElasticElement) -> SX:
    return symmetric_matrix(values, "flex.K", beam.shape.modes, beam.shape.normal)


def _foreshortening(values: Values, beam: ElasticElement) -> SX:
    """B (N, N); of exact elements without the shortening by the chord's own rotation, 1/l at v and w."""
    B = bending_matrix(values, beam, "B")
    for i in ((1, 2) if "w" in beam.body.names else (1,)) if beam.law == "exact" else ():
        B[i, i] = B[i, i] - 1 / values.scalar("length")
    return B


def bending_matrix(values: Values, beam: ElasticElement, name: str) -> SX:
    """A matrix (N, N) of the element's foreshortening: `B`, `B0` (first moment), `B1` (second moment)."""
    matrix = ca.SX(beam.shape.modes, beam.shape.modes)
    for i, k in bending_pairs(beam.body.names):
        matrix[i, k] = values.scalar(f"flex.{name}.{i}.{k}")
        matrix[k, i] = matrix[i, k]
    return matrix


@dataclass(frozen=True, kw_only=True)
class DrawnIn:
    r"""Inertia of the quadratic displacement h(x) = 1/2 e^T Q(x) e along the axis, to first order in h.

    It adds to the kinetic energy :math:`\int (v_A + \omega\times r_0)\cdot(\dot h\,x + \omega\times h\,x)\,dm`: the first moment
    moves by h_0 along x, the second moment xx by 2 h_1.

    Args:
        first: h_0 = 1/2 e^T B0 e; per_first: B0 e (N,); bias: e'^T B0 e'.
        per_second: B1 e (N,); e . per_second = 2 h_1.
    """

    first: SX
    per_first: SX
    bias: SX
    per_second: SX


@dataclass(frozen=True, kw_only=True)
class DrawnField:
    r"""Inertia of the quadratic displacement of a plate or a file of modes, along any axis: h(r) = 1/2 e^T Q(r) e.

    Args:
        first: (3,) integral of h dm; per_first: (3, N) of Q e; bias: (3,) of e'^T Q e'.
        per_second: N matrices (3, 3), integrals of r0 (Q e)_k^T dm; turning: (3,) of r0 x e'^T Q e'.
    """

    first: SX
    per_first: SX
    bias: SX
    per_second: list[SX]
    rotating: SX


def drawn_field(values: Values, beam: ElasticElement, e: SX, ed: SX) -> DrawnField | None:
    """The terms at a state; None for other elements."""
    if beam.quadratic is None:
        return None
    N = beam.shape.modes
    first = [symmetric_matrix(values, f"flex.Q0.{a}", N) for a in "xyz"]
    second = [[symmetric_matrix(values, f"flex.Q1.{a}{c}", N) for c in "xyz"] for a in "xyz"]
    per_first = ca.densify(ca.vertcat(*[ca.mtimes(Q, e).T for Q in first]))
    rows = [[ca.mtimes(Q, e) for Q in row] for row in second]
    twice = ca.vertcat(*[ca.horzcat(*[ca.dot(ed, ca.mtimes(Q, ed)) for Q in row]) for row in second])
    return DrawnField(
        first=ca.mtimes(per_first, e) / 2, per_first=per_first,
        bias=ca.densify(ca.vertcat(*[ca.dot(ed, ca.mtimes(Q, ed)) for Q in first])),
        per_second=[ca.densify(ca.vertcat(*[ca.horzcat(*[q[k] for q in row]) for row in rows])) for k in range(N)],
        rotating=axial(ca.densify(twice)),
    )  # fmt: skip


def drawn_in(values: Values, beam: ElasticElement, e: SX, ed: SX) -> DrawnIn | None:
    """The terms at a state; None for linear elements, and for plates and files of modes (`drawn_field`)."""
    if beam.law == "linear" or beam.quadratic is not None:
        return None
    B0, B1 = (bending_matrix(values, beam, name) for name in ("B0", "B1"))
    per_first = ca.densify(ca.mtimes(B0, e))
    return DrawnIn(
        first=ca.dot(e, per_first) / 2, per_first=per_first, bias=ca.dot(ed, ca.mtimes(B0, ed)),
        per_second=ca.densify(ca.mtimes(B1, e)),
    )  # fmt: skip


def chord_coordinates(length: Scalar, e: SX) -> SX:
    r"""Coordinates :math:`\hat e` without the rotation of the chord; planar ones in closed form."""
    d = ca.vertcat(length + e[0], e[1], e[2] if e.numel() == 6 else 0)
    size = ca.sqrt(ca.dot(d, d))
    stretch = (2 * length * e[0] + e[0] ** 2 + ca.dot(d[1:], d[1:])) / (size + length)  # |d| - l without cancellation
    if e.numel() == 3:
        return ca.vertcat(stretch, length * ca.atan2(d[1], d[0]), e[2])
    x, y, z = (ca.vertcat(ca.cos(a / 2), ca.sin(a / 2) * ca.SX(axis)) for a, axis in zip(ca.vertsplit(e[3:]), AXES, strict=True))
    tip = _product(_product(x, y), z)
    middle = normalised(ca.vertcat(1 + tip[0], tip[1:]))
    first = _rotated(middle, ca.SX([1, 0, 0]))
    swing = normalised(ca.vertcat(1 + ca.dot(first, d) / size, ca.cross(first, d) / size))
    back = _product(swing, middle) * ca.SX([1, -1, -1, -1])
    t1, t2 = _rotation_vector(back), _rotation_vector(_product(back, tip))
    return ca.vertcat(stretch, -length * t1[2], length * t1[1], t2 - t1)


AXES = ([1, 0, 0], [0, 1, 0], [0, 0, 1])


def _product(p: SX, q: SX) -> SX:
    """Product of two quaternions (w, x, y, z)."""
    return ca.vertcat(p[0] * q[0] - ca.dot(p[1:], q[1:]), p[0] * q[1:] + q[0] * p[1:] + ca.cross(p[1:], q[1:]))


def _rotated(q: SX, v: SX) -> SX:
    twice = 2 * ca.cross(q[1:], v)
    return v + q[0] * twice + ca.cross(q[1:], twice)


def _rotation_vector(q: SX) -> SX:
    """2 asin(|x|) x/|x| of a quaternion with positive w: angles below pi."""
    s2 = ca.dot(q[1:], q[1:])
    small = s2 < SMALL
    s = ca.sqrt(ca.if_else(small, 0.25, s2))
    series = sum((c * s2**k for k, c in enumerate(ASIN)), ca.SX(0))
    return 2 * ca.if_else(small, series, ca.asin(s) / s) * q[1:]
