r"""Wrench that a body's motion needs: inertia less gravity, about the body frame origin, world axes.

Letters: c = R m s first moment, I tensor about the origin, a, alpha, w motion of the frame, g gravity.

.. math:: f = m(a-g) + \alpha\times c + \omega\times(\omega\times c),\qquad
          n = c\times(a-g) + I\alpha + \omega\times I\omega

Linear in mass, first moment and tensor, so that regrouped base parameters are used as they are.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.wrench import Wrench as Wrench
from flexapod.equations.newton_euler.wrench import none as none
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.spatial import Vec, cross


def tensor(values: Values, name: str) -> SX:
    """Symmetric (3, 3) tensor from its six entries."""
    xx, yy, zz, xy, xz, yz = (values.scalar(f"{name}.{k}") for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
    return ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))


def inertia_wrench(values: Values, name: str, frame: FrameMotion, gravity: Vec) -> Wrench:
    """Wrench of one body.

    Args:
        values: prefix under which ``name.mass``, ``name.first_moment``, ``name.inertia`` are, in axes of `frame`.
        frame: motion of the frame about whose origin they are given.
        gravity: (3,) [m/s^2], world.

    Source: Long 2014 Eq. (34) without elastic part; Briot 2014 Eqs. (53)-(54).
    Checked by: tests/equations/test_formulations_agree.py.
    """
    R_BW = frame.R.T
    body = frame.R.from_
    mass = values.scalar(f"{name}.mass")
    c = frame.R @ values.vector(f"{name}.first_moment", body)
    I = tensor(values, f"{name}.inertia")
    lifted = frame.a - gravity
    f = lifted * mass + cross(frame.alpha, c) + cross(frame.w, cross(frame.w, c))
    w, alpha = R_BW @ frame.w, R_BW @ frame.alpha
    own = Vec(ca.mtimes(I, alpha.expr), body) + cross(w, Vec(ca.mtimes(I, w.expr), body))
    return Wrench(force=f, moment=cross(c, lifted) + frame.R @ own)
