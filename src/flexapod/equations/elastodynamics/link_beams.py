r"""Beam elements in the axes of the link that carries their root: moments of the deformed element, and its bias forces.

Letters as in `generalized_newton_euler`: c first moment, I tensor, beta couplings of rotation and deformation, S of displacement
and deformation, H moments of the deformed element; a acceleration of the root less gravity, U its field (see `link_motion`).

.. math::
   f &= m a + U c + 2\,\omega\times S\dot e\\
   n &= c\times a + I\alpha + \omega\times I\omega + 2\,(\omega\,\mathrm{tr}\hat H - \hat H^T\omega)\\
   s_k &= S_k\cdot a + \mathrm{tr}(U H_k) + 2\,\omega\cdot\gamma_k + \partial V/\partial e_k + (D\dot e)_k
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.beam_energy import drawn_field, drawn_in, elastic_forces
from flexapod.equations.elastodynamics.link_motion import LinkMotion
from flexapod.equations.elastodynamics.program_state import LegAt
from flexapod.equations.flexible_platform.generalized_newton_euler import (
    axial,
    deformed_moments,
    first_moments,
    moment_matrix,
    symmetric_matrix,
)
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.control_flow import Builder
from flexapod.robot.beams import ElasticElement

X = ca.DM([1, 0, 0])


@dataclass(frozen=True, kw_only=True)
class LinkBeam:
    """An element in the axes of its root link.

    Args:
        beam: the element.
        m, S, I: mass, first moment and tensor of the deformed element about its root.
        force, moment: (3, N) wrench at the root per elastic acceleration.
        M: (N, N) elastic mass matrix.
        f, n, s: bias wrench at the root and bias forces at the elastic coordinates.
    """

    beam: ElasticElement
    m: SX
    S: SX
    I: SX
    force: SX
    moment: SX
    M: SX
    f: SX
    n: SX
    s: SX


def link_beams(at: LegAt, links: Sequence[LinkMotion]) -> list[LinkBeam]:
    """All elements of a leg.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68). Checked by: tests/equations/test_link_axes.py.
    """
    return [link_beam(at.b, at.values, beam, *at.of_element(beam), links[beam.root]) for beam in at.beams]


def link_beam(b: Builder, values: Values, beam: ElasticElement, e: SX, ed: SX, root: LinkMotion) -> LinkBeam:
    """One element at coordinates e (N,) and rates ed, its root link moving as given."""
    own, shape, N = values.of(beam.name), beam.shape, beam.shape.modes
    R = values.rotation(f"{beam.name}.axes", "B", "E").expr
    w, alpha, a = (ca.mtimes(R.T, x) for x in (root.w, root.alpha, root.a))
    U = ca.mtimes(R.T, ca.mtimes(root.U, R))
    S, start = first_moments(own, shape), [moment_matrix(own, f"flex.H.{k}", shape.H) for k in range(N)]
    extra, gyro = deformed_moments(b, own, shape, e, ed)
    inner = drawn_in(own, beam, e, ed)
    c = own.vector("first_moment", "E").expr + ca.mtimes(S, e)
    H = [start[k] + extra[k] for k in range(N)]
    if inner is not None:
        c, S = c + X * inner.first, S + ca.mtimes(X, inner.per_first.T)
        H = [H[k] + ca.mtimes(X, X.T) * inner.per_second[k] for k in range(N)]
    field = drawn_field(own, beam, e, ed)
    if field is not None:
        c, S = c + field.first, S + field.per_first
        H = [H[k] + field.per_second[k] for k in range(N)]
    T = sum((e[k] * (start[k] + H[k]) for k in range(N)), ca.SX.zeros(3, 3))
    I = tensor(own, "inertia") + ca.trace(T) * ca.SX.eye(3) - (T + T.T) / 2
    m = own.scalar("mass")
    beta, M = ca.horzcat(*[axial(Hk) for Hk in H]), symmetric_matrix(own, "flex.M", N, shape.normal)
    Hd, twice = sum((ed[k] * H[k] for k in range(N)), ca.SX.zeros(3, 3)), 2 * w
    f = m * a + ca.mtimes(U, c) + ca.cross(twice, ca.mtimes(S, ed)) + (0 if inner is None else X * inner.bias)
    n = ca.cross(c, a) + ca.mtimes(I, alpha) + ca.cross(w, ca.mtimes(I, w)) + twice * ca.trace(Hd) - ca.mtimes(Hd.T, twice)
    if field is not None:
        f, n = f + field.bias, n + field.rotating
    inertial = [ca.dot(S[:, k], a) + ca.trace(ca.mtimes(U, H[k])) + ca.dot(twice, gyro[k]) for k in range(N)]
    D = symmetric_matrix(own, "flex.D", N, shape.normal)
    return LinkBeam(
        beam=beam, m=m, S=ca.mtimes(R, c), I=ca.mtimes(R, ca.mtimes(I, R.T)), M=M,
        force=ca.mtimes(R, S), moment=ca.mtimes(R, beta), f=ca.mtimes(R, f), n=ca.mtimes(R, n),
        s=ca.vertcat(*inertial) + elastic_forces(own, beam, e) + ca.mtimes(D, ed),
    )  # fmt: skip
