r"""Beam elements in the axes of the link that carries their root: moments of the deformed element, and its bias forces.

Letters as in `generalized_newton_euler`: c first moment, I tensor, beta couplings of rotation and deformation, S of displacement
and deformation, H moments of the deformed element; a acceleration of the root less gravity, U its field (see `link_motion`).

.. math::
   f &= m a + U c + 2\,\omega\times S\dot e\\
   n &= c\times a + I\alpha + \omega\times I\omega + 2\,(\omega\,\mathrm{tr}\hat H - \hat H^T\omega)\\
   s_k &= S_k\cdot a + U : H_k + 2\,\omega\cdot\gamma_k + (Ke)_k + (D\dot e)_k
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.elastodynamics.link_motion import LinkMotion
from flexapod.equations.flexible_platform.generalized_newton_euler import FlexibleModel, flexible_model
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.beams import BeamElement
from flexapod.robot.model import Leg


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

    beam: BeamElement
    m: Any
    S: Any
    I: Any
    force: Any
    moment: Any
    M: Any
    f: Any
    n: Any
    s: Any


def link_beams(
    b: Program, values: Values, leg: Leg, beams: Sequence[BeamElement], q: Sequence[Any], qd: Sequence[Any],
    links: Sequence[LinkMotion],
) -> list[LinkBeam]:  # fmt: skip
    """All elements of a leg.

    Source: Briot 2014 Eqs. (4), (53)-(55), (64)-(68). Checked by: tests/equations/test_link_axes.py.
    """
    found = []
    for beam in beams:
        root = links[beam.root]
        R = values.rotation(f"{beam.name}.axes", "B", "E").expr
        e, ed = (ca.vertcat(*[column[leg.moving.index(i)] for i in beam.links]) for column in (q, qd))
        w, alpha, a = (ca.mtimes(R.T, x) for x in (root.w, root.alpha, root.a))
        model: FlexibleModel = flexible_model(b, values.of(beam.name), beam.shape, e, ed, w, -a)
        M = model.M
        bias = model.c + ca.mtimes(M[:, 3:6], alpha)
        S = ca.vertcat(M[5, 1], M[3, 2], M[4, 0])  # skew(S) stands at rows 3-5, columns 0-2
        found.append(
            LinkBeam(
                beam=beam, m=M[0, 0], S=ca.mtimes(R, S), I=ca.mtimes(R, ca.mtimes(M[3:6, 3:6], R.T)),
                force=ca.mtimes(R, M[:3, 6:]), moment=ca.mtimes(R, M[3:6, 6:]), M=M[6:, 6:],
                f=ca.mtimes(R, bias[:3]), n=ca.mtimes(R, bias[3:6]), s=bias[6:],
            )
        )  # fmt: skip
    return found
