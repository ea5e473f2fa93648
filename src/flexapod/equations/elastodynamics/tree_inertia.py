r"""Mass matrix of a leg with beams, by composite bodies from the tips inwards.

Letters: m, S, I mass, first moment and tensor of everything beyond a joint, about its frame origin, world axes. A unit
acceleration of joint k demands the wrench (z x S, I z) (revolute) or (m z, S x z) (prismatic); an elastic coordinate demands
the coupling of its element besides, at the element's root. Passed inwards, it is felt at every joint on the way:

.. math:: M_{jk} = s_j^T F_k
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.chain import LinkPose
from flexapod.equations.elastodynamics.link_tree import branch_pairs
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import Wrench, tensor
from flexapod.robot.beams import BeamElement
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class Composite:
    """Mass, first moment and tensor (3, 3) about a point, world axes."""

    m: Any
    S: Vec
    I: Any

    def __add__(self, other: Composite) -> Composite:
        return Composite(m=self.m + other.m, S=self.S + other.S, I=self.I + other.I)

    def moved(self, r: Vec) -> Composite:
        """The same bodies about a point from which their own is at r."""
        S, x = self.S.expr, r.expr
        half = self.S + r * (self.m / 2)
        # [S] and [r] as -(r S^T + S r^T) + 2 (r.S) 1 with m r^2 shared between them
        mixed = ca.mtimes(x, half.expr.T)
        extra = 2 * ca.trace(mixed) * ca.SX.eye(3) - mixed - mixed.T
        return Composite(m=self.m, S=Vec(S + self.m * x, "W"), I=self.I + extra)


def rigid_composite(values: Values, name: str, R: Rot) -> Composite:
    """A rigid body about its frame origin."""
    body = R.from_
    return Composite(
        m=values.scalar(f"{name}.mass"),
        S=R @ values.vector(f"{name}.first_moment", body),
        I=ca.mtimes(R.expr, ca.mtimes(tensor(values, f"{name}.inertia"), R.expr.T)),
    )


def beam_composite(R: Rot, M: Any) -> Composite:
    """A deformed element as a rigid body about its root, from the mass matrix (6 + N, 6 + N) in beam axes."""
    S = Vec(ca.vertcat(M[5, 1], M[3, 2], M[4, 0]), R.from_)  # skew(S) stands at rows 3-5, columns 0-2
    return Composite(m=M[0, 0], S=R @ S, I=ca.mtimes(R.expr, ca.mtimes(M[3:6, 3:6], R.expr.T)))


def leg_mass_matrix(values: Values, leg: Leg, poses: list[LinkPose], beams: Mapping[int, tuple[BeamElement, Rot, Any]]) -> Any:
    """Mass matrix (n, n) of a leg's moving coordinates, cut from the platform; only j <= k along the tree is non-zero.

    Args:
        beams: by elastic link: its element, the beam axes in the world and the element's mass matrix in beam axes.

    Source: Briot 2014 Eqs. (9)-(27) in closed form. Checked by: tests/equations/test_elastodynamics.py.
    """
    n, moving = len(leg.moving), leg.moving
    composites = _composites(values, leg, poses, beams)
    M = ca.SX(n, n)
    for k, i in enumerate(moving):
        z = poses[i].z
        body = composites[i]
        wrench = Wrench(f=cross(z, body.S), n=Vec(ca.mtimes(body.I, z.expr), "W"))
        if leg.links[i].kind == "P":
            wrench = Wrench(f=z * body.m, n=cross(body.S, z))
        M[k, k] = values.scalar(f"{leg.links[i].coordinate}.rotor")
        j = i
        while j >= 0:
            if leg.links[j].kind != "fixed":
                row = moving.index(j)
                felt = dot(poses[j].z, wrench.n if leg.links[j].kind == "R" else wrench.f)
                M[row, k] = M[row, k] + felt + _within(beams, i, j)
                M[k, row] = M[row, k]
            parent = leg.links[j].parent
            if parent >= 0:
                wrench = wrench.moved(poses[j].p - poses[parent].p)
                if i in beams and parent == beams[i][0].root:
                    wrench = wrench + _coupling(beams, i)
            j = parent
    for beam, own in {beam.name: (beam, full[6:, 6:]) for beam, _, full in beams.values()}.values():
        for row, k, value in branch_pairs(leg, beam, own):
            M[row, k], M[k, row] = M[row, k] + value, M[k, row] + value
    return M


def _composites(
    values: Values, leg: Leg, poses: list[LinkPose], beams: Mapping[int, tuple[BeamElement, Rot, Any]]
) -> list[Composite]:
    """Everything beyond each joint, about its frame."""
    result = []
    for i, link in enumerate(leg.links):
        rigid = link.body is not None and link.body.flexible is None
        none = Composite(m=ca.SX(0), S=zero("W"), I=ca.SX.zeros(3, 3))
        result.append(rigid_composite(values, f"{link.coordinate}.body", poses[i].R.renamed("W", "B")) if rigid else none)
    for beam, R, M in {beam.name: (beam, R, M) for beam, R, M in beams.values()}.values():
        result[beam.root] = result[beam.root] + beam_composite(R, M)
    for i in reversed(range(len(leg.links))):
        parent = leg.links[i].parent
        if parent >= 0:
            result[parent] = result[parent] + result[i].moved(poses[i].p - poses[parent].p)
    return result


def _coupling(beams: Mapping[int, tuple[BeamElement, Rot, Any]], i: int) -> Wrench:
    """Wrench at an element's root per elastic acceleration."""
    beam, R, M = beams[i]
    k = 6 + beam.links.index(i)
    return Wrench(f=R @ Vec(M[:3, k], R.from_), n=R @ Vec(M[3:6, k], R.from_))


def _within(beams: Mapping[int, tuple[BeamElement, Rot, Any]], i: int, j: int) -> Any:
    """Elastic mass between two coordinates of one element."""
    if i not in beams or j not in beams or beams[i][0] is not beams[j][0]:
        return 0
    beam, _, M = beams[i]
    return M[6 + beam.links.index(j), 6 + beam.links.index(i)]
