"""Inertia of single bodies and elements about a point, in world axes.

Letters: m, S, I mass, first moment and tensor about the origin of a frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.spatial import Rot, Vec


@dataclass(frozen=True, kw_only=True)
class Composite:
    """Mass, first moment and tensor (3, 3) about a point, world axes."""

    m: SX
    S: Vec
    I: SX


def rigid_composite(values: Values, name: str, R: Rot) -> Composite:
    """A rigid body about its frame origin."""
    body = R.from_
    return Composite(
        m=values.scalar(f"{name}.mass"),
        S=R @ values.vector(f"{name}.first_moment", body),
        I=ca.mtimes(R.expr, ca.mtimes(tensor(values, f"{name}.inertia"), R.expr.T)),
    )


def beam_composite(R: Rot, M: SX) -> Composite:
    """A deformed element as a rigid body about its root, from the mass matrix (6 + N, 6 + N) in beam axes."""
    S = Vec(ca.vertcat(M[5, 1], M[3, 2], M[4, 0]), R.from_)  # skew(S) is at rows 3-5, columns 0-2
    return Composite(m=M[0, 0], S=R @ S, I=ca.mtimes(R.expr, ca.mtimes(M[3:6, 3:6], R.expr.T)))
