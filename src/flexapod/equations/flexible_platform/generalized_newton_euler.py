r"""Generalized Newton-Euler model of a free flexible body, in its own axes (Briot 2014 Eqs. 53-68, Long 2014 Eq. 34).

Letters: a point is at r = r0 + sum phi_k e_k. All constants are moments over the mass: S_k of phi_k, H_k of r0 phi_k^T,
G_ik of phi_i phi_k^T; deformed, H_k(e) = H_k + sum_i e_i G_ik and c = MS_r + sum S_k e_k. w, alpha, a motion of the frame
in body axes, g gravity in body axes.

.. math::
   f &= m(a-g) + \alpha\times c + \omega\times(\omega\times c + 2 S\dot e) + S\ddot e\\
   n &= c\times(a-g) + I\alpha + \omega\times I\omega + \beta\ddot e
        + 2\,(\omega\,\mathrm{tr}\hat H - \hat H^T\omega),\quad \hat H = \sum_k \dot e_k H_k(e)\\
   s_k &= S_k\cdot(a-g) + \beta_k\cdot\alpha + (M\ddot e)_k + 2\,\omega\cdot\sum_i \dot e_i\lambda_{ik}
        + \omega^T H_k\omega - |\omega|^2\,\mathrm{tr}H_k + (Ke)_k + (D\dot e)_k
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.robot.flexible_platform import FlexibleShape


@dataclass(frozen=True, kw_only=True)
class FlexibleModel:
    """Mass matrix and bias of a free flexible body in (a, alpha, e''), body axes.

    Args:
        M: (6 + N, 6 + N), symmetric.
        c: (6 + N,) gravity, velocity, elastic and damping forces.
    """

    M: Any
    c: Any


def flexible_model(
    values: Values, shape: FlexibleShape, e: Any, ed: Any, w: Any, g: Any, second_order: bool = True
) -> FlexibleModel:
    """The model at a state.

    Args:
        values: prefix under which ``mass``, ``first_moment``, ``inertia`` and ``flex.*`` stand.
        e, ed: (N,) elastic coordinates and rates.
        w, g: (3,) angular velocity and gravity, body axes.
        second_order: keep the inertia terms that depend on e (False shows their effect: energy is then not conserved).

    Source: Briot 2014 Eqs. (53)-(68), Long 2014 Eq. (34). Checked by: tests/equations/test_flexible_platform.py.
    """
    N = shape.modes
    S = first_moments(values, shape)
    H = [_matrix(values, f"flex.H.{k}", shape.H) for k in range(N)]
    mass = values.scalar("mass")
    c = ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"])
    I = tensor(values, "inertia")
    if second_order:
        moved = []
        for k in range(N):
            extra = sum((e[i] * _pair(values, i, k, shape.G) for i in range(N)), ca.SX.zeros(3, 3))
            moved.append(H[k] + extra)
        # I(e): tr(T) 1 - T with T = sum e_k (H_k + H_k^T) + sum e_i e_k G_ik = sum e_k (H_k + H_k(e))^sym
        T = sum((e[k] * (H[k] + moved[k]) for k in range(N)), ca.SX.zeros(3, 3))
        T = (T + T.T) / 2
        I = I + (ca.trace(T) * ca.SX.eye(3) - T)
        c = c + ca.mtimes(S, e)
        H = moved
    beta = ca.horzcat(*[_axial(Hk) for Hk in H])
    M_ee = symmetric_matrix(values, "flex.M", N)
    hat = ca.skew(c)
    M = ca.vertcat(
        ca.horzcat(mass * ca.SX.eye(3), -hat, S), ca.horzcat(hat, I, beta), ca.horzcat(S.T, beta.T, M_ee)
    )
    rate = ca.mtimes(S, ed)
    Hd = sum((ed[k] * H[k] for k in range(N)), ca.SX.zeros(3, 3))
    f = ca.cross(w, ca.cross(w, c) + 2 * rate) - mass * g
    n = ca.cross(w, ca.mtimes(I, w)) + 2 * (w * ca.trace(Hd) - ca.mtimes(Hd.T, w)) - ca.cross(c, g)
    ww = ca.dot(w, w)
    s = []
    for k in range(N):
        value = ca.dot(w, ca.mtimes(H[k], w)) - ww * ca.trace(H[k]) - ca.dot(S[:, k], g)
        if second_order:
            gyro = sum((ed[i] * _axial(_pair(values, i, k, shape.G)) for i in range(N)), ca.SX.zeros(3))
            value = value + 2 * ca.dot(w, gyro)
        s.append(value)
    K, D = symmetric_matrix(values, "flex.K", N), symmetric_matrix(values, "flex.D", N)
    bias = ca.vertcat(f, n, ca.vertcat(*s) + ca.mtimes(K, e) + ca.mtimes(D, ed))
    return FlexibleModel(M=M, c=bias)


def elastic_moments(values: Values, shape: FlexibleShape, e: Any) -> tuple[Any, Any]:
    """MS_re (3, N), columns beta_k + sum_i e_i lambda_ik, and what the deformation adds to the inertia tensor (3, 3).

    Written by the definitions, entry by entry, for the general assembly.
    """
    N = shape.modes
    H = [_matrix(values, f"flex.H.{k}", shape.H) for k in range(N)]
    second = ca.SX.zeros(3, 3)
    columns = []
    for k in range(N):
        column = _axial(H[k])
        for i in range(N):
            G = _pair(values, i, k, shape.G)
            column = column + e[i] * _axial(G)
            second = second + e[i] * e[k] * G
        columns.append(column)
        second = second + e[k] * (H[k] + H[k].T)
    return ca.horzcat(*columns), ca.trace(second) * ca.SX.eye(3) - second


def first_moments(values: Values, shape: FlexibleShape) -> Any:
    """S (3, N) with the rows that the shape has."""
    rows = [
        ca.horzcat(*[values.scalar(f"flex.S.{k}.{a}") if a in shape.S else ca.SX(0) for k in range(shape.modes)]) for a in "xyz"
    ]
    return ca.vertcat(*rows)


def _matrix(values: Values, name: str, pairs: tuple[str, ...]) -> Any:
    """(3, 3) with the entries that the shape has."""
    rows = [ca.horzcat(*[values.scalar(f"{name}.{a}{b}") if a + b in pairs else ca.SX(0) for b in "xyz"]) for a in "xyz"]
    return ca.vertcat(*rows)


def _pair(values: Values, i: int, k: int, pairs: tuple[str, ...]) -> Any:
    """G_ik (3, 3); stored once for i <= k, G_ki = G_ik^T."""
    return _matrix(values, f"flex.G.{i}.{k}", pairs) if i <= k else _matrix(values, f"flex.G.{k}.{i}", pairs).T


def _axial(H: Any) -> Any:
    """Vector of the integral r x phi from H = integral r phi^T."""
    return ca.vertcat(H[1, 2] - H[2, 1], H[2, 0] - H[0, 2], H[0, 1] - H[1, 0])


def symmetric_matrix(values: Values, name: str, N: int) -> Any:
    """(N, N) stored once for i <= k."""
    M = ca.SX.zeros(N, N)
    for i in range(N):
        for k in range(i, N):
            M[i, k] = values.scalar(f"{name}.{i}.{k}")
            M[k, i] = M[i, k]
    return M
