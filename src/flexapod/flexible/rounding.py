r"""A computed body without the rounding of its eigenvectors: what symmetry makes zero becomes an exact zero.

Shapes are good to 2e-10 of their largest value on a hexagon, moments to 5e-12 of the largest that Cauchy and Schwarz allow, e.g.
:math:`|G_{ik}| \le \sqrt{M_{ii} M_{kk}}`; the smallest true moments of thin plates are above 1e-9 of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexapod.flexible.body import FlexibleBody, replace_body
from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.interface import Interface
from flexapod.flexible.shape_integrals import axial

SHAPES = 1e-8
"""Shapes below this part of the largest are zero."""
MOMENTS = 1e-11
"""Moments below this part of their bound are zero."""


def without_rounding(body: FlexibleBody) -> FlexibleBody:
    """The body with exact zeros in the shapes of its interfaces and in its moments.

    Checked by: tests/flexible/test_rounding.py.
    """
    modal = np.sqrt(np.abs(np.diag(body.M_ee)))
    first, second = np.sqrt(body.mass) * modal, np.sqrt(np.trace(body.I_rr)) * modal
    H = _zeroed(_moments(body.I_re), MOMENTS * second[:, None, None])
    G = _zeroed(_moments(body.I_ee), MOMENTS * np.outer(modal, modal)[:, :, None, None])
    return replace_body(
        body,
        MS_de=_zeroed(body.MS_de, MOMENTS * first),
        beta=axial(H).T,
        lambda_=axial(G),
        I_re=_moments(H, 1.0),
        I_ee=_moments(G, 1.0),
        interfaces={name: _interface(point) for name, point in body.interfaces.items()},
    )


def _moments(I: Floats, part: float = 0.5) -> Floats:
    """Moments tr(I)/2 1 - I^T of integrals (..., 3, 3), and with part 1 the integrals of moments."""
    trace = np.trace(I, axis1=-2, axis2=-1)[..., None, None]
    result: Floats = part * trace * np.eye(3) - np.swapaxes(I, -2, -1)
    return result


def _interface(point: Interface) -> Interface:
    kinds = ("Phi_d", "Phi_r", "Q", "Q_r")
    found = {kind: np.asarray(getattr(point, kind)) for kind in kinds if getattr(point, kind) is not None}
    return replace(point, **{kind: _zeroed(x, SHAPES * np.abs(x).max(initial=0.0)) for kind, x in found.items()})


def _zeroed(values: Floats, least: Floats | float) -> Floats:
    return np.where(np.abs(values) <= least, 0.0, values)
