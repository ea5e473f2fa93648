r"""Generalized forces of a leg with beams: the recursion of Briot 2014 section 3 on the tree of links.

A beam element demands a wrench at its root and generalized forces at its elastic coordinates (Eqs. 53-55); what hangs on
its tip reaches those coordinates through the links that they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.beam_energy import DrawnField, DrawnIn, drawn_field, drawn_in, elastic_forces
from flexapod.equations.elastodynamics.program_state import LegAt
from flexapod.equations.flexible_platform.generalized_newton_euler import FlexibleModel, axial, flexible_model
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.general_leg import along_joints
from flexapod.equations.virtual_power.inertia_wrench import Wrench, inertia_wrench, none
from flexapod.robot.beams import ElasticElement
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec

Elements = Mapping[str, tuple[ElasticElement, Rot, FlexibleModel]]
"""Elements by name: element, beam axes in the world, its model at the state."""


def beam_models(at: LegAt, links: Sequence[FrameMotion], gravity: Vec) -> Elements:
    """Mass matrix and bias of every element of a leg, in beam axes.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68). Checked by: tests/equations/test_elastodynamics.py.
    """
    found = {}
    for beam in at.beams:
        frame = links[beam.root]
        R = frame.R.renamed("W", "B") @ at.values.rotation(f"{beam.name}.axes", "B", "E")
        e, ed = at.of_element(beam)
        w, g = (R.T @ frame.w).expr, (R.T @ gravity).expr
        own = at.values.of(beam.name)
        model = flexible_model(at.b, own, beam.shape, e, ed, w=w, g=g, elastic=elastic_forces(own, beam, e))
        inner, field = drawn_in(own, beam, e, ed), drawn_field(own, beam, e, ed)
        model = model if inner is None else _with_inner(inner, e, ed, w, g, model)
        found[beam.name] = (beam, R, model if field is None else _with_field(field, e, ed, w, g, model))
    return found


def _with_inner(inner: DrawnIn, e: SX, ed: SX, w: SX, g: SX, model: FlexibleModel) -> FlexibleModel:
    """The model with the inertia of inner points that bending draws in along x."""
    N, second = e.numel(), ca.dot(e, inner.per_second)
    M, c, x = ca.SX(model.M), ca.SX(model.c), ca.SX([1, 0, 0])
    hat, across = ca.skew(x * inner.first), ca.SX(ca.diag(ca.SX([0, 1, 1])))
    M[0:3, 3:6], M[3:6, 0:3] = M[0:3, 3:6] - hat, M[3:6, 0:3] + hat
    M[3:6, 3:6] = M[3:6, 3:6] + second * across
    M[0, 6:], M[6:, 0] = M[0, 6:] + inner.per_first.T, M[6:, 0] + inner.per_first
    rate, ww = ca.dot(inner.per_first, ed), w[1] ** 2 + w[2] ** 2
    c[0:3] = c[0:3] + ca.cross(w, ca.cross(w, x * inner.first) + 2 * x * rate) + x * inner.bias
    rotating = ca.cross(w, ca.mtimes(second * across, w)) + 2 * ca.dot(inner.per_second, ed) * ca.mtimes(across, w)
    c[3:6] = c[3:6] + rotating - ca.cross(x * inner.first, g)
    c[6 : 6 + N] = c[6 : 6 + N] - ww * inner.per_second - g[0] * inner.per_first
    return FlexibleModel(M=M, c=c)


def _with_field(inner: DrawnField, e: SX, ed: SX, w: SX, g: SX, model: FlexibleModel) -> FlexibleModel:
    """The model with the inertia of points of a plate or file of modes that bending draws in."""
    N, M, c = e.numel(), ca.SX(model.M), ca.SX(model.c)
    T = sum((e[k] * inner.per_second[k] for k in range(N)), ca.SX.zeros(3, 3))
    I, hat = ca.trace(T) * ca.SX.eye(3) - (T + T.T) / 2, ca.skew(inner.first)
    M[0:3, 3:6], M[3:6, 0:3], M[3:6, 3:6] = M[0:3, 3:6] - hat, M[3:6, 0:3] + hat, M[3:6, 3:6] + I
    beta = ca.horzcat(*[axial(H) for H in inner.per_second])
    M[0:3, 6:], M[6:, 0:3] = M[0:3, 6:] + inner.per_first, M[6:, 0:3] + inner.per_first.T
    M[3:6, 6:], M[6:, 3:6] = M[3:6, 6:] + beta, M[6:, 3:6] + beta.T
    Hd = sum((ed[k] * inner.per_second[k] for k in range(N)), ca.SX.zeros(3, 3))
    rate: SX = ca.mtimes(inner.per_first, ed)
    c[0:3] = c[0:3] + ca.cross(w, ca.cross(w, inner.first) + 2 * rate) + inner.bias
    rotating = ca.cross(w, ca.mtimes(I, w)) + 2 * (w * ca.trace(Hd) - ca.mtimes(Hd.T, w)) + inner.rotating
    c[3:6] = c[3:6] + rotating - ca.cross(inner.first, g)
    ww = ca.dot(w, w)
    for k, H in enumerate(inner.per_second):
        c[6 + k] = c[6 + k] + ca.dot(w, ca.mtimes(H, w)) - ww * ca.trace(H) - ca.dot(inner.per_first[:, k], g)
    return FlexibleModel(M=M, c=c)


def tree_wrenches(
    values: Values, leg: Leg, elements: Elements, links: Sequence[FrameMotion], qdd: Sequence[SX], gravity: Vec
) -> tuple[list[Wrench], dict[int, SX]]:
    """Per link, the wrench about its origin that the motion of its body, or of the elements rooted there, needs; by elastic
    link, the force."""
    wrenches = []
    for link, frame in zip(leg.links, links, strict=True):
        own = FrameMotion(R=frame.R.renamed("W", "B"), p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)
        rigid = link.body is not None and link.body.flexible is None
        wrenches.append(inertia_wrench(values, f"{link.coordinate}.body", own, gravity) if rigid else none())
    elastic: dict[int, SX] = {}
    for beam, R, model in elements.values():
        frame = links[beam.root]
        edd = ca.vertcat(*[qdd[leg.moving.index(i)] for i in beam.links])
        x = ca.mtimes(model.M, ca.vertcat((R.T @ frame.a).expr, (R.T @ frame.alpha).expr, edd)) + model.c
        wrenches[beam.root] = wrenches[beam.root] + Wrench(force=R @ Vec(x[:3], "E"), moment=R @ Vec(x[3:6], "E"))
        elastic.update({i: x[6 + k] for k, i in enumerate(beam.links)})
    return wrenches, elastic


def elastic_tree_forces(
    values: Values, leg: Leg, elements: Elements, links: Sequence[FrameMotion], qdd: Sequence[SX], gravity: Vec
) -> SX:
    """Generalized forces (n,) that the leg's motion, weight and deformation demand at its coordinates.

    Source: Briot 2014 Eqs. (5)-(27). Checked by: tests/equations/test_elastodynamics.py.
    """
    wrenches, elastic = tree_wrenches(values, leg, elements, links, qdd, gravity)
    forces = along_joints(leg, links, wrenches)
    rotors = [values.scalar(f"{leg.links[i].coordinate}.rotor") for i in leg.moving]
    return ca.vertcat(*[forces[i] + elastic.get(i, 0) + rotors[k] * qdd[k] for k, i in enumerate(leg.moving)])
