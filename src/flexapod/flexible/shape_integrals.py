r"""Shape integrals of a flexible body from mass points: all the constants of its generalized Newton-Euler model.

A body is a set of nodes: position r0, mass m, displacement shapes phi_d. A node may have a size: its mass is then
spread about r0 with the second moments S (per unit mass) and rotates with the node, u = phi_d + phi_r x rho. Quadrature
points make beams and plates such sets without error, since all integrands are polynomials.

The rotary inertia of a node is m (tr S 1 - S). It must not be negative, S itself may be: a line of mass with inertia about its
own axis alone, J = diag(j, 0, 0), has S = diag(-j, j, j) / 2.

Everything follows from the moments of the field u over the mass, in body axes, about the origin of the body frame:
``s = sum m r``, ``T = sum m r r^T``, ``s_k = sum m u_k``, ``H_k = sum m r u_k^T``, ``G_ik = sum m u_i u_k^T``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexapod.flexible.checked_arrays import Floats, Integers, floats
from flexapod.flexible.errors import FlexibleBodyError

SAME = 1e-9
"""Asymmetry and negative part of a node's second moments, of their largest entry, that pass as rounding of a file."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """The mass points of a body, and what a picture of its shapes needs.

    Attributes:
        r0: (n, 3) positions of the undeformed body [m], body axes.
        mass: (n,) [kg]; nodes for pictures alone have none.
        Phi_d: (n, 3, N) displacement per coordinate.
        Phi_r: (n, 3, N) rotation vector of the node per coordinate, or None.
        spread: (n, 3, 3) second moments S of a node's mass about r0, per unit mass [m^2], or None for points.
        triangles: (m, 3) nodes of the surface triangles for pictures, or None.
    """

    r0: Floats
    mass: Floats
    Phi_d: Floats
    Phi_r: Floats | None = None
    spread: Floats | None = None
    triangles: Integers | None = None

    def __post_init__(self) -> None:
        r0 = floats("nodes.r0", self.r0, (None, 3))
        n = len(r0)
        Phi_d = floats("nodes.Phi_d", self.Phi_d, (n, 3, None))
        mass = floats("nodes.mass", self.mass, (n,))
        if mass.min(initial=0.0) < 0.0:
            raise FlexibleBodyError(f"nodes.mass must not be negative, but node {int(mass.argmin())} has {mass.min():g} kg.")
        if self.spread is not None and self.Phi_r is None:
            raise FlexibleBodyError("nodes.spread needs nodes.Phi_r: mass with a size rotations with its node.")
        object.__setattr__(self, "r0", r0)
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "Phi_d", Phi_d)
        if self.Phi_r is not None:
            object.__setattr__(self, "Phi_r", floats("nodes.Phi_r", self.Phi_r, Phi_d.shape))
        if self.spread is not None:
            object.__setattr__(self, "spread", _checked_spread(floats("nodes.spread", self.spread, (n, 3, 3))))
        if self.triangles is not None:
            triangles = np.array(self.triangles, dtype=np.int64)
            if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.min(initial=0) < 0 or triangles.max(initial=0) >= n:
                raise FlexibleBodyError(f"nodes.triangles must be (m, 3) numbers of nodes from 0 to {n - 1}.")
            triangles.setflags(write=False)
            object.__setattr__(self, "triangles", triangles)

    def transformed(self, basis: Floats) -> Nodes:
        """The same nodes with shapes for new coordinates p, q_e = basis p."""
        Phi_r = None if self.Phi_r is None else self.Phi_r @ basis
        return Nodes(
            r0=self.r0, mass=self.mass, Phi_d=self.Phi_d @ basis, Phi_r=Phi_r, spread=self.spread, triangles=self.triangles
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ShapeIntegrals:
    """The integrals of Briot 2014, Eqs. (56)-(60), under the names of the paper; see `FlexibleBody` for their shapes."""

    mass: float
    MS_r: Floats
    MS_de: Floats
    beta: Floats
    lambda_: Floats
    I_rr: Floats
    I_re: Floats
    I_ee: Floats
    M_ee: Floats


def shape_integrals(nodes: Nodes) -> ShapeIntegrals:
    r"""The shape integrals of a set of nodes.

    .. math::
        \beta_k = \int r_0 \times \phi_{dk}\,dm, \quad \lambda_{ki} = \int \phi_{dk} \times \phi_{di}\,dm, \quad
        I_{re\,k} = \int \hat r_0^T \hat\phi_{dk}\,dm, \quad I_{ee\,ik} = \int \hat\phi_{di}^T \hat\phi_{dk}\,dm

    Source: Briot 2014, Eqs. (56)-(60). Checked by: tests/flexible/test_shape_integrals.py.
    """
    some = nodes.mass > 0.0
    r, m = nodes.r0[some], nodes.mass[some]
    T, H, G = _moments_of_size(nodes, some)
    s_e = np.zeros((3, len(H)))
    moving = {a: shapes for a in range(3) if (shapes := nodes.Phi_d[some, a]).any()}  # plates: z alone
    for b, shapes in moving.items():
        weighted = shapes * m[:, None]
        s_e[b] = m @ shapes
        H[:, :, b] += (r.T @ weighted).T
        for a, others in moving.items():
            G[:, :, a, b] += others.T @ weighted
    return integrals_from_moments(mass=float(m.sum()), s=m @ r, T=(r * m[:, None]).T @ r + T, s_e=s_e, H=H, G=G)


def _moments_of_size(nodes: Nodes, some: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    r"""Contribution of the size of the nodes to T, H and G: with u = skew(phi_r) rho and sum rho rho^T = S per unit mass,

    .. math:: T = \sum m S, \quad H_k = \sum m S \hat\phi_{rk}^T, \quad G_{ik} = \sum m \hat\phi_{ri} S \hat\phi_{rk}^T
    """
    N = nodes.Phi_d.shape[2]
    if nodes.spread is None or nodes.Phi_r is None or not nodes.spread[some].any():
        return np.zeros((3, 3)), np.zeros((N, 3, 3)), np.zeros((N, N, 3, 3))
    S = nodes.mass[some, None, None] * nodes.spread[some]
    used = {d for b in np.argwhere(S.any(axis=0)).ravel().tolist() for d, _, _ in _HATS[b]}
    rotations = {d: nodes.Phi_r[some, d] for d in used}
    H, G = np.zeros((N, 3, 3)), np.zeros((N, N, 3, 3))
    for a, b in np.argwhere(S.any(axis=0)):  # entries of S that some node has; plates have one
        for d, q, sign in _HATS[b]:
            weighted = S[:, a, b, None] * rotations[d]
            H[:, a, q] += sign * (S[:, a, b] @ rotations[d])
            for c, p, other in _HATS[a]:
                G[:, :, p, q] += sign * other * (rotations[c].T @ weighted)
    return S.sum(axis=0), H, G


_HATS = {b: [((b + 2) % 3, (b + 1) % 3, 1.0), ((b + 1) % 3, (b + 2) % 3, -1.0)] for b in range(3)}
"""Column b of a cross-product matrix: (component d of the vector, row q, sign), entries that are not zero."""


def _checked_spread(S: Floats) -> Floats:
    """Symmetric second moments whose rotary inertia tr S 1 - S is not negative."""
    largest = np.abs(S).max(axis=(1, 2), initial=0.0)
    uneven = np.abs(S - S.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0) > SAME * largest
    inertia = np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - 0.5 * (S + S.transpose(0, 2, 1))
    lowest = np.linalg.eigvalsh(inertia).min(axis=1, initial=0.0)
    for wrong, what in ((uneven, "be symmetric"), (lowest < -SAME * largest, "give no negative rotary inertia tr S 1 - S")):
        if wrong.any():
            raise FlexibleBodyError(f"nodes.spread must {what}, but that of node {int(wrong.argmax())} does not.")
    return S


def integrals_from_moments(*, mass: float, s: Floats, T: Floats, s_e: Floats, H: Floats, G: Floats) -> ShapeIntegrals:
    """Shape integrals from the moments of the module's head.

    Args:
        mass: [kg].
        s: (3,) first moments; T: (3, 3) second moments of the undeformed body.
        s_e: (3, N); H: (N, 3, 3) as [k, r, u]; G: (N, N, 3, 3) as [i, k, u_i, u_k].

    ``skew(a)^T skew(b) = (a.b) 1 - b a^T`` and ``(a x b)_x = a_y b_z - a_z b_y`` turn moments into integrals.
    Checked by: tests/flexible/test_shape_integrals.py.
    """
    if mass <= 0.0:
        raise FlexibleBodyError(f"The mass of the body must be positive, is {mass:g} kg: at least one node needs a mass.")
    one = np.eye(3)
    M_ee = np.trace(G, axis1=2, axis2=3)
    return ShapeIntegrals(
        mass=mass,
        MS_r=s,
        MS_de=s_e,
        beta=axial(H).T,
        lambda_=axial(G),
        I_rr=np.trace(T) * one - T,
        I_re=np.trace(H, axis1=1, axis2=2)[:, None, None] * one - H.transpose(0, 2, 1),
        I_ee=M_ee[:, :, None, None] * one - G.transpose(0, 1, 3, 2),
        M_ee=0.5 * (M_ee + M_ee.T),
    )


def axial(moments: Floats) -> Floats:
    """Sum of a x b from sums of a b^T, (..., 3, 3) to (..., 3)."""
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.stack([moments[..., j, k] - moments[..., k, j] for j, k in pairs], axis=-1)
