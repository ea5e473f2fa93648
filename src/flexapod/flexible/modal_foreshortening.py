r"""Foreshortening of a modal link by bending, seen from its root: of its tips and of its mass.

Letters: phi shapes, r0 undeformed place, q coordinates of the body; a, b displacement and rotation of the root per coordinate;
Q(r) quadratic displacement in the body's frame, gamma quadratic rotation of the root. The frame moves to the root, phi' =
phi - a - b x r0, and to second order

.. math:: Q'_{ik} = Q_{ik} - Q_{root,ik} - \gamma_{ik}\times r_0 - (b_i\times\varphi'_k + b_k\times\varphi'_i)
          - \tfrac12\,(b_i\times(b_k\times r_0) + b_k\times(b_i\times r_0))

With rotation vectors beta, tau of root and tip the tip turns by :math:`\tau - \beta - \tfrac12\beta\times\tau`, which is three
turns about x, y, z but for :math:`\tfrac12(\theta_y\theta_z, -\theta_x\theta_z, \theta_x\theta_y)`; known where both have their
quadratic rotations Q_r.

A tip's coordinates e_c are its displacements and rotations, quadratic part included; their linear part
:math:`\hat e_c = e_c - \tfrac12 e^T Q'_c e` strains the body. A point of it moves besides its linear shapes by

.. math:: Q''(r) = Q'(r) - \sum_c \varphi'_c(r)\,Q'_c

whose first and second moments over the mass are inertia (`flexapod.equations.elastodynamics.beam_energy.DrawnIn`). This is what
`flexapod.flexible.beam_element.Foreshortening` is for a beam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flexapod.flexible.body import FlexibleBody
from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.interface import Interface
from flexapod.rotation_arrays import skew

LETTERS = ("u", "v", "w", "thx", "thy", "thz")

ROUNDING = 1e-9
"""Entries below this part of the largest of their kind, coordinates scaled, are rounding of eigenvectors: zeros."""

RIGID = 1e-6
"""A tip is drawn in along an axis where its quadratic displacement exceeds this part of the largest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class QuadraticLink:
    """Quadratic displacements of a link by its N coordinates.

    Args:
        columns: coordinates of tips that have a quadratic part; tips: (C, N, N) these, Q'_c.
        first, second: (3, N, N) integral of Q'' dm and (3, 3, N, N) of r0_a Q''_b dm.
        stretch: (R, N, N) strains that remain, see `FlexibleBody.stretch`.
    """

    columns: tuple[int, ...]
    tips: Floats
    first: Floats
    second: Floats
    stretch: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """Moments of a body about its root: S, H of its shapes phi' (N, 3), (N, 3, 3) as integral of r0 phi'^T; J of r0 r0^T."""

    S: Floats
    H: Floats
    J: Floats


def quadratic_link(
    body: FlexibleBody, root: str, tips: Sequence[str], components: Sequence[Sequence[str]], basis: Floats, seen: Seen,
    *, planar: bool = False,
) -> QuadraticLink:  # fmt: skip
    """Quadratic displacements of a stiffened body whose frame has its origin at the root.

    Args:
        components: of each tip, which of u, v, w, thx, thy, thz are coordinates, in their order.
        basis: (N, n) coordinates of the body per coordinate of the link.
        seen: moments in the body's coordinates.
        planar: only u, v and thz of tips move.

    Raises:
        FlexibleBodyError: several tips, or one beside the root, of a body whose root has no quadratic rotation: that of a
            straight body with one tip is taken for loads along the line to the tip alone.

    Checked by: tests/robot/test_modal_links.py.
    """
    held = body.interfaces[root]
    assert held.Q is not None
    assert held.Phi_r is not None
    b, line = held.Phi_r.T, None
    rotated = held.Q_r
    if rotated is None:
        line, rotated = _line(body, tips), np.zeros_like(held.Q)
    B, G = skew(b), skew(np.moveaxis(rotated, 0, -1))  # (N, 3, 3), (N, N, 3, 3)
    twice = np.einsum("iab,kbc->ikac", B, B)
    rigid = -G - (twice + twice.transpose(1, 0, 2, 3)) / 2.0  # of r0

    def moved(Q: Floats, linear: Floats, place: Floats) -> Floats:
        """Q' (3, N, N) of a point, or a sum over points, with Q, phi' (3, N) and r0."""
        across = np.einsum("iab,bk->aik", B, linear)
        result: Floats = Q - across - across.transpose(0, 2, 1) + np.einsum("ikab,b->aik", rigid, place)
        return result

    points = [body.interfaces[name] for name in tips]
    ends = []
    for point in points:
        linear = point.Phi_d - held.Phi_d - np.einsum("kab,b->ak", B, point.r0)
        assert point.Q is not None
        shifted = moved(point.Q - held.Q, linear, point.r0)
        ends.append(shifted if line is not None else np.concatenate([shifted, _rotated(held, point)]))
    first = moved(-body.mass * held.Q, seen.S.T, np.asarray(body.MS_r))
    rotating = np.einsum("kac,ibc->abik", seen.H, B)
    second = np.moveaxis(np.asarray(body.T_ee), (2, 3), (0, 1)) - np.einsum("a,bik->abik", body.MS_r, held.Q)
    second = second - rotating - rotating.transpose(0, 1, 3, 2) + np.einsum("ac,ikbc->abik", seen.J, rigid)
    if line is not None:
        along = np.outer(line, line)
        ends = [np.concatenate([np.einsum("ab,bik->aik", along, each), np.zeros_like(each)]) for each in ends]
        first = np.einsum("ab,bik->aik", along, first)
        second = np.einsum("ac,cdik,db->abik", along, second, along)
    return _in_link_coordinates(body, components, basis, seen, ends=ends, first=first, second=second, planar=planar)


def _rotated(root: Interface, tip: Interface) -> Floats:
    """Quadratic part (3, N, N) of a tip's rotations about x, y, z; zeros where the tip's quadratic rotation is not known."""
    assert root.Phi_r is not None
    assert tip.Phi_r is not None
    if root.Q_r is None or tip.Q_r is None:
        return np.zeros((3, *np.shape(root.Phi_r)[1:] * 2))
    between = np.cross(root.Phi_r.T[:, None], tip.Phi_r.T[None, :])  # (N, N, 3)
    x, y, z = tip.Phi_r - root.Phi_r
    pairs = np.stack([np.multiply.outer(y, z), -np.multiply.outer(x, z), np.multiply.outer(x, y)])
    rest = np.moveaxis(between, 2, 0) + pairs
    result: Floats = tip.Q_r - root.Q_r - (rest + rest.transpose(0, 2, 1)) / 2.0
    return result


def _line(body: FlexibleBody, tips: Sequence[str]) -> Floats:
    """Direction (3,) from the root to the only tip."""
    if len(tips) != 1 or not np.any(body.interfaces[tips[0]].r0):
        raise FlexibleBodyError(
            "its stiffening as a link with several tips needs the geometric stiffness per unit moment at its root (`moments` of "
            "flexapod.flexible.FlexibleBody.with_stiffening, attach_geometric_moment of a file); give it, or write "
            "stiffening: false"
        )
    place = np.asarray(body.interfaces[tips[0]].r0)
    result: Floats = place / np.linalg.norm(place)
    return result


def _in_link_coordinates(
    body: FlexibleBody, components: Sequence[Sequence[str]], basis: Floats, seen: Seen, *, ends: Sequence[Floats],
    first: Floats, second: Floats, planar: bool,
) -> QuadraticLink:  # fmt: skip
    """The matrices by coordinates of the link, in which tips have their whole displacements."""
    V = np.asarray(basis)
    columns, matrices, at = [], list[Floats](), 0
    for Q, own in zip(ends, components, strict=True):
        _check_free(V.T @ Q[:3] @ V, own, np.diag(V.T @ body.K_ee @ V), planar)
        for letter in own:
            matrix = V.T @ Q[LETTERS.index(letter)] @ V
            if np.any(matrix):
                columns.append(at)
                matrices.append(matrix)
            at += 1
    tips = np.array(matrices).reshape(-1, V.shape[1], V.shape[1])
    S, H = V.T @ seen.S, np.einsum("kab,kp->pab", seen.H, V)
    first = V.T @ first @ V - np.einsum("ca,cik->aik", S[columns], tips)
    second = V.T @ second @ V - np.einsum("cab,cik->abik", H[columns], tips)
    stretch = np.zeros((0, *V.shape)) if body.stretch is None else body.stretch
    return QuadraticLink(
        columns=tuple(columns), tips=tips, first=first, second=second,
        stretch=np.einsum("rij,ip,jq->rpq", stretch, V, V).reshape(-1, V.shape[1], V.shape[1]),
    )  # fmt: skip


def _check_free(Q: Floats, own: Sequence[str], K: Floats, planar: bool) -> None:
    """Refuse a tip that is drawn in along an axis along which it is rigid: it has no coordinate there that could follow."""
    size = np.abs(Q) / np.sqrt(np.outer(K, K))
    for axis, letter in enumerate("uv" if planar else "uvw"):
        if letter not in own and size[axis].max(initial=0.0) > RIGID * size.max(initial=0.0):
            raise FlexibleBodyError(
                f"bending draws a tip in along {'xyz'[axis]}, but no mode of the body moves it there: keep modes that stretch it "
                "(craig-bampton with this interface), or write stiffening: false"
            )


def in_plane(link: QuadraticLink) -> QuadraticLink:
    """The part of the quadratic displacements that a robot moving in the plane xy alone has."""
    first, second = link.first.copy(), link.second.copy()
    first[2], second[2], second[:, 2] = 0.0, 0.0, 0.0
    return replace(link, first=first, second=second)


def tidied(link: QuadraticLink, K: Floats) -> QuadraticLink:
    """The matrices without rounding: an entry against the largest of its matrices, coordinates scaled to equal energy."""
    size = 1.0 / np.sqrt(np.diag(K))

    def clean(values: Floats) -> Floats:
        scaled = np.abs(values) * np.outer(size, size)
        even = (values + np.swapaxes(values, -1, -2)) / 2.0
        result: Floats = np.where(scaled <= ROUNDING * scaled.max(initial=0.0), 0.0, even)
        return result

    return QuadraticLink(
        columns=link.columns, tips=clean(link.tips), first=clean(link.first), second=clean(link.second),
        stretch=clean(link.stretch),
    )  # fmt: skip
