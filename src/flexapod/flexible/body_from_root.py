r"""A modal body as a link: seen from one of its interfaces, in the displacements of others.

The frame moves to the root interface (at the frame's origin). With a, b its displacement and rotation per coordinate, shapes
become :math:`\varphi' = \varphi - a - b\times r`, and so their moments over the mass; energy stays. Displacements and rotations
of the tips, :math:`e = C q`, become coordinates, beside the modes with the tips held:

.. math:: q = \Psi e + Z\eta,\qquad C\Psi = 1,\quad C Z = 0,\quad \Psi^T K Z = 0

as in Craig-Bampton's reduction. A body that is not deformed by all six components of a tip (a plate in its own plane) keeps
those rigid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flexapod.flexible.body import FlexibleBody
from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.interface import Interface
from flexapod.flexible.modal_foreshortening import QuadraticLink, Seen, in_plane, quadratic_link, tidied
from flexapod.flexible.mode_order import fixed_orientation
from flexapod.rotation_arrays import axial, skew

LETTERS = ("u", "v", "w", "thx", "thy", "thz")
PLANE = ("u", "v", "thz")

RIGID = 1e-8
"""A component of a tip below this part of the body's largest shape does not deform it: rounding of eigenvectors is 2e-10."""

DISTINCT = 1e-6
"""Tip components whose singular values fall below this part of the largest are not independent of each other."""

ROUNDING = 1e-9
"""Moments and stiffnesses below this part of what their kind can be (Cauchy-Schwarz) are rounding of eigenvectors: zeros."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RootedBody:
    """A body in link coordinates.

    Args:
        body: about its root; coordinates: components of the tips in turn, then modes with the tips held.
        places: (tips, 3) undeformed positions [m].
        components: of each tip, which of u, v, w, thx, thy, thz it has.
        basis: coordinates of the body that it was made of, per coordinate of this one; what deforms it is the same.
        quadratic: what bending draws in, of a stiffened body; else None.
    """

    body: FlexibleBody
    places: Floats
    components: tuple[tuple[str, ...], ...]
    basis: Floats
    quadratic: QuadraticLink | None = None

    @property
    def inner(self) -> int:
        """Number of modes with the tips held."""
        return len(self.body.names) - sum(map(len, self.components))


def rooted_body(body: FlexibleBody, root: str, tips: Sequence[str], *, planar: bool = False) -> RootedBody:
    """A modal body in coordinates of its interfaces.

    Args:
        body: with rotations at root and tips.
        root: interface at the frame's origin that becomes the frame.
        tips: interfaces whose displacements become coordinates.
        planar: only u, v and thz of tips are let move.

    Raises:
        FlexibleBodyError: no rotations there, or fewer modes than tip components.

    Checked by: tests/flexible/test_body_from_root.py.
    """
    for name in (root, *tips):
        if body.interfaces[name].Phi_r is None:
            raise FlexibleBodyError(f"interface {name} has no rotations: give the modes Phi_r there")
    plain = body.unstiffened() if body.stiffened else body
    seen = seen_from(plain, plain.interfaces[root])
    rows, components = _tip_rows(seen, tips, planar)
    basis = _basis(seen, rows, sum(map(len, components)))
    names = [_name(k, c) for k, own in enumerate(components) for c in own]
    names += [f"mode{k + 1}" for k in range(basis.shape[1] - len(names))]
    places = np.array([body.interfaces[name].r0 for name in tips]).reshape(-1, 3)
    link = _tidied(seen.transformed(basis, names))
    quadratic = None
    if body.stiffened:
        J, H, _ = _second_moments(seen)
        moments = Seen(S=np.asarray(seen.MS_de).T, H=np.swapaxes(H, 1, 2), J=J)
        quadratic = tidied(quadratic_link(body, root, tips, components, basis, moments, planar=planar), np.asarray(link.K_ee))
        quadratic = in_plane(quadratic) if planar else quadratic
    return RootedBody(body=link, places=places, components=components, basis=basis, quadratic=quadratic)


def _name(tip: int, component: str) -> str:
    return component if tip == 0 else f"{tip + 1}.{component}"


def seen_from(body: FlexibleBody, root: Interface) -> FlexibleBody:
    """The body with shapes that are zero, rotations too, at an interface at the frame's origin.

    Checked by: tests/flexible/test_body_from_root.py.
    """
    assert root.Phi_r is not None
    a, b = root.Phi_d.T, root.Phi_r.T  # (N, 3)
    B, s, m = skew(b), np.asarray(body.MS_r), body.mass
    J, H, G = _second_moments(body)
    S = np.asarray(body.MS_de).T
    T = np.vstack([-root.Phi_d, -root.Phi_r, np.eye(len(a))])
    H_new = H - np.einsum("kx,y->kxy", a, s) - B @ J
    G_new = G - np.einsum("ix,ky->ikxy", S, a) - np.einsum("ixz,kyz->ikxy", H, B)
    G_new += -np.einsum("ix,ky->ikxy", a, S) + m * np.einsum("ix,ky->ikxy", a, a) + np.einsum("ix,z,kyz->ikxy", a, s, B)
    G_new += -np.einsum("ixz,kyz->ikxy", B, H) + np.einsum("ixz,z,ky->ikxy", B, s, a)
    G_new += np.einsum("ixz,zw,kyw->ikxy", B, J, B)
    points = {name: _moved(point, a, b) for name, point in body.interfaces.items()}
    nodes = body.nodes
    if nodes is not None:
        rotated = None if nodes.Phi_r is None else nodes.Phi_r - b.T
        nodes = replace(nodes, Phi_d=nodes.Phi_d - a.T - np.einsum("kxy,ny->nxk", B, nodes.r0), Phi_r=rotated)
    M = T.T @ body.mass_matrix(np.zeros(len(a))) @ T
    return _from_moments(
        replace(body, interfaces=points, nodes=nodes), S - m * a - np.einsum("kxy,y->kx", B, s), H_new, G_new, (M + M.T) / 2.0
    )


def _moved(point: Interface, a: Floats, b: Floats) -> Interface:
    Phi_d = point.Phi_d - a.T - np.einsum("kxy,y->xk", skew(b), point.r0)
    return Interface(r0=point.r0, Phi_d=Phi_d, Phi_r=None if point.Phi_r is None else point.Phi_r - b.T)


def _second_moments(body: FlexibleBody) -> tuple[Floats, Floats, Floats]:
    """J, H_k, G_ik: integrals of r r^T, phi_k r^T, phi_i phi_k^T over the mass."""
    eye = np.eye(3)
    J = np.trace(body.I_rr) / 2.0 * eye - body.I_rr
    H = np.trace(body.I_re, axis1=1, axis2=2)[:, None, None] / 2.0 * eye - body.I_re
    G = np.trace(body.I_ee, axis1=2, axis2=3)[..., None, None] / 2.0 * eye - body.I_ee
    return J, H, np.swapaxes(G, 2, 3)


def _from_moments(body: FlexibleBody, S: Floats, H: Floats, G: Floats, M: Floats, K: Floats | None = None) -> FlexibleBody:
    """The body with other moments of its shapes."""
    eye = np.eye(3)
    return replace(
        body, MS_de=S.T, beta=axial(H).T, lambda_=-axial(G), M_ee=M, K_ee=body.K_ee if K is None else K,
        I_re=np.trace(H, axis1=1, axis2=2)[:, None, None] * eye - H,
        I_ee=np.trace(G, axis1=2, axis2=3)[..., None, None] * eye - np.swapaxes(G, 2, 3),
    )  # fmt: skip


def _tip_rows(body: FlexibleBody, tips: Sequence[str], planar: bool) -> tuple[Floats, tuple[tuple[str, ...], ...]]:
    """Rows (r, N) of tip components that deform the body, those that a plane forbids behind the others, and their letters."""
    free, held, components = list[Floats](), list[Floats](), []
    size = max((float(np.linalg.norm(body.interfaces[name].r0)) for name in tips), default=0.0) or 1.0
    points = [(body.interfaces[name], np.asarray(body.interfaces[name].Phi_r)) for name in tips]
    largest = max((float(np.abs(np.vstack([p.Phi_d, size * angles])).max(initial=0.0)) for p, angles in points), default=0.0)
    for point, rotations in points:
        own = []
        for letter, row in zip(LETTERS, (*point.Phi_d, *rotations), strict=True):
            scaled = row if letter in LETTERS[:3] else size * row
            if np.abs(scaled).max(initial=0.0) <= RIGID * largest:
                continue
            if planar and letter not in PLANE:
                held.append(scaled)
                continue
            own.append(letter)
            free.append(row)
        components.append(tuple(own))
    return np.array(free + held).reshape(-1, len(body.M_ee)), tuple(components)


def _basis(body: FlexibleBody, rows: Floats, count: int) -> Floats:
    """Static shapes of unit tip components, then modes with the tips held: (N, count + inner)."""
    N, K, M = len(body.M_ee), np.asarray(body.K_ee), np.asarray(body.M_ee)
    scale = np.linalg.norm(rows, axis=1)[:, None] if len(rows) else np.ones((0, 1))
    values = np.linalg.svd(rows / scale, compute_uv=False)
    if len(rows) > N or (len(rows) and values[-1] < DISTINCT * values[0]):
        rank = int((values > DISTINCT * values[0]).sum())
        raise FlexibleBodyError(
            f"its {N} modes move only {rank} of the {len(rows)} displacements and rotations of its tips on their own; "
            "keep more modes, or reduce it by craig-bampton with these interfaces"
        )
    from scipy import linalg  # 0.2 s, and most robots have no such body

    Z = linalg.null_space(rows / scale) if len(rows) else np.eye(N)
    omega2, V = linalg.eigh(Z.T @ K @ Z, Z.T @ M @ Z) if Z.shape[1] else (np.zeros(0), np.zeros((0, 0)))
    inner = Z @ V
    if len(omega2) and body.nodes is not None:
        inner = inner @ fixed_orientation(omega2, body.nodes.r0, body.nodes.mass, body.nodes.Phi_d @ inner)[0]
    else:
        inner = inner * np.sign(inner[np.abs(inner).argmax(axis=0), range(inner.shape[1])])
    unit = np.linalg.pinv(rows) if len(rows) else np.zeros((N, 0))
    if len(omega2):
        unit = unit - inner @ np.linalg.solve(inner.T @ K @ inner, inner.T @ K @ unit)
    return np.hstack([unit[:, :count], inner])


def _tidied(body: FlexibleBody) -> FlexibleBody:
    """Moments and stiffness without the rounding of eigenvectors, so that entries that are zero on paper are zero on every
    machine."""
    J, H, G = _second_moments(body)
    modal, K = np.sqrt(np.diag(body.M_ee)), np.asarray(body.K_ee)
    stiff = np.sqrt(np.diag(K))

    def snap(values: Floats, scale: Floats) -> Floats:
        return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)

    arm = np.sqrt(max(float(np.trace(J)), 0.0))
    S = snap(np.asarray(body.MS_de).T, np.sqrt(body.mass) * modal[:, None])
    pair = np.outer(modal, modal)
    return _from_moments(
        body, S, snap(H, arm * modal[:, None, None]), snap(G, pair[:, :, None, None]), snap(np.asarray(body.M_ee), pair),
        snap(K, np.outer(stiff, stiff)),
    )  # fmt: skip
