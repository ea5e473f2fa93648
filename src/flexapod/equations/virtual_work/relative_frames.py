r"""A leg in the notation of the papers: bodies T_k placed one on the other by relative matrices and vectors.

Letters (Staicu, Sinatra): a_{k,j} turns axes of body j into axes of body k; r_{k,j} goes from the joint centre A_j to A_k,
in axes of j; u_k is the joint axis in axes of k. Frames are called "1", "2", ... in the order of the links, "W" is the
base. Inertial data is about A_k, in axes of k.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.robot.model import Kind, Leg
from flexapod.spatial import Rot, Vec

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


@dataclass(frozen=True, kw_only=True)
class BodyInertia:
    """Mass, first moment and tensor of a body about its joint centre, in its own axes."""

    mass: SX
    first_moment: Vec
    tensor: SX


@dataclass(frozen=True, kw_only=True)
class JointStep:
    """Step from one body to the next through one joint.

    Args:
        kind: revolute, prismatic or fixed.
        coordinate: index among the leg's coordinates; -1 for a fixed joint.
        parent: index of the step before, -1 for the base.
        a: relative matrix a_{k,j}.
        r: vector r_{k,j} at the present coordinates.
        u: joint axis in axes of k (the same line in axes of j for a slide).
        body: what moves with the frame; None for a massless one.
        rotor: rotor inertia at the coordinate [kg or kg m^2].
    """

    kind: Kind
    coordinate: int
    parent: int
    a: Rot
    r: Vec
    u: Vec
    body: BodyInertia | None
    rotor: SX


@dataclass(frozen=True, kw_only=True)
class LegChain:
    """A leg cut at its platform joint.

    Args:
        steps: in the order of its links.
        last: index of the body that carries the platform joint.
        tip: from its joint centre to the platform joint, in its axes (the papers' r_43).
    """

    steps: tuple[JointStep, ...]
    last: int
    tip: Vec


def frame(index: int) -> str:
    """Name of the frame of a step; "W" for the base."""
    return "W" if index < 0 else str(index + 1)


def inertia(values: Values, name: str, axes: str) -> BodyInertia:
    """Inertial data of a body by name, e.g. ``in_L.0``."""
    J = {key: values.scalar(f"{name}.inertia.{key}") for key in ("xx", "yy", "zz", "xy", "xz", "yz")}
    rows = [[J["xx"], J["xy"], J["xz"]], [J["xy"], J["yy"], J["yz"]], [J["xz"], J["yz"], J["zz"]]]
    tensor = ca.vertcat(*[ca.horzcat(*row) for row in rows])
    return BodyInertia(
        mass=values.scalar(f"{name}.mass"), first_moment=values.vector(f"{name}.first_moment", axes), tensor=tensor
    )


def steps_of(
    values: Values, leg: Leg, rotations: list[Rot], arms: list[Vec], axes: list[Vec], bodies: list[str]
) -> tuple[JointStep, ...]:
    """Steps from relative matrices, vectors, axes and the names of the bodies' data, link by link."""
    moving = leg.moving
    return tuple(
        JointStep(
            kind=link.kind,
            coordinate=moving.index(k) if k in moving else -1,
            parent=link.parent,
            a=rotations[k],
            r=arms[k],
            u=axes[k],
            body=inertia(values, bodies[k], frame(k)) if link.body is not None else None,
            rotor=values.scalar(f"{link.coordinate}.rotor"),
        )
        for k, link in enumerate(leg.links)
    )
