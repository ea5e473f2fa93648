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
from flexapod.kernels.tape.checks import SX
from flexapod.kernels.tape.control_flow import Builder
from flexapod.robot.flexible_platform import UNROLLED, FlexibleShape


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
    b: Builder, values: Values, shape: FlexibleShape, e: SX, ed: SX, *, w: SX, g: SX, second_order: bool = True,
    elastic: Any = None,
) -> FlexibleModel:  # fmt: skip
    """The model at a state.

    Args:
        b: takes the loop over the modes, where there are many.
        values: prefix under which ``mass``, ``first_moment``, ``inertia`` and ``flex.*`` stand.
        e, ed: (N,) elastic coordinates and rates.
        w, g: (3,) angular velocity and gravity, body axes.
        elastic: (N,) elastic forces of a body that is not linear; else K e.
        second_order: keep the inertia terms that depend on e (False shows their effect: energy is then not conserved).

    Source: Briot 2014 Eqs. (53)-(68), Long 2014 Eq. (34). Checked by: tests/equations/test_flexible_platform.py.
    """
    N = shape.modes
    S = first_moments(values, shape)
    H = [moment_matrix(values, f"flex.H.{k}", shape.H) for k in range(N)]
    gyro = [ca.SX.zeros(3) for _ in range(N)]
    mass = values.scalar("mass")
    c = ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"])
    I = tensor(values, "inertia")
    if second_order:
        extra, gyro = deformed_moments(b, values, shape, e, ed)
        moved = [H[k] + extra[k] for k in range(N)]
        # I(e): tr(T) 1 - T with T = sum e_k (H_k + H_k^T) + sum e_i e_k G_ik = sum e_k (H_k + H_k(e))^sym
        T = sum((e[k] * (H[k] + moved[k]) for k in range(N)), ca.SX.zeros(3, 3))
        T = (T + T.T) / 2
        I = I + (ca.trace(T) * ca.SX.eye(3) - T)
        c = c + ca.mtimes(S, e)
        H = moved
    beta = ca.horzcat(*[axial(Hk) for Hk in H])
    M_ee = symmetric_matrix(values, "flex.M", N, shape.normal)
    hat = ca.skew(c)
    M = ca.vertcat(ca.horzcat(mass * ca.SX.eye(3), -hat, S), ca.horzcat(hat, I, beta), ca.horzcat(S.T, beta.T, M_ee))
    rate = ca.mtimes(S, ed)
    Hd = sum((ed[k] * H[k] for k in range(N)), ca.SX.zeros(3, 3))
    f = ca.cross(w, ca.cross(w, c) + 2 * rate) - mass * g
    n = ca.cross(w, ca.mtimes(I, w)) + 2 * (w * ca.trace(Hd) - ca.mtimes(Hd.T, w)) - ca.cross(c, g)
    spin, s = ca.mtimes(ca.skew(w), ca.skew(w)), []  # w^T H w - |w|^2 tr H, entry by entry
    for k in range(N):
        s.append(ca.dot(spin, H[k]) - ca.dot(S[:, k], g) + 2 * ca.dot(w, gyro[k]))
    D = symmetric_matrix(values, "flex.D", N, shape.normal)
    if elastic is None:
        elastic = ca.mtimes(symmetric_matrix(values, "flex.K", N, shape.normal), e)
    bias = ca.vertcat(f, n, ca.vertcat(*s) + elastic + ca.mtimes(D, ed))
    return FlexibleModel(M=M, c=bias)


def deformed_moments(b: Builder, values: Values, shape: FlexibleShape, e: Any, ed: Any) -> tuple[list[Any], list[Any]]:
    """Per mode k: sum_i e_i G_ik (3, 3) and sum_i e'_i lambda_ik (3,); a loop over the modes where there are many.

    The only work that grows with the square of the number of modes.
    """
    N, pairs = shape.modes, shape.G
    if not N or not pairs:
        return [ca.SX.zeros(3, 3)] * N, [ca.SX.zeros(3)] * N
    axial = [(a, m, p) for a, (m, p) in enumerate((("yz", "zy"), ("zx", "xz"), ("xy", "yx"))) if m in pairs or p in pairs]

    def turned(first: SX, second: SX, ed: SX) -> Any:  # in a loop, differences of parameters would be N^2 more constants
        return ca.dot(first - second, ed) if N <= UNROLLED else ca.dot(first, ed) - ca.dot(second, ed)

    def mode(_: Builder, G: SX, e: SX, ed: SX) -> tuple[Any, Any]:
        part = {pair: G[c * N : (c + 1) * N] for c, pair in enumerate(pairs)}
        none = ca.SX.zeros(N)
        turns = [turned(part.get(m, none), part.get(p, none), ed) for _, m, p in axial]
        return ca.vertcat(*[ca.dot(part[pair], e) for pair in pairs]), ca.vertcat(ca.SX(0), *turns)

    rows = [[values.scalar(f"flex.G.{pair}.{i}.{k}") for k in range(N)] for pair in pairs for i in range(N)]
    each = ca.vertcat(*[ca.horzcat(*row) for row in rows])
    moved, turning = b.map(mode, N, each=[each], shared=[e, ed], unroll=N <= UNROLLED)
    extra, gyro = [], []
    for k in range(N):
        entries = {pair: moved[c, k] for c, pair in enumerate(pairs)}
        extra.append(ca.vertcat(*[ca.horzcat(*[entries.get(a + d, ca.SX(0)) for d in "xyz"]) for a in "xyz"]))
        column = [ca.SX(0)] * 3
        for c, (a, _, _) in enumerate(axial):
            column[a] = turning[1 + c, k]
        gyro.append(ca.vertcat(*column))
    return extra, gyro


def elastic_moments(values: Values, shape: FlexibleShape, e: SX) -> tuple[Any, Any]:
    """MS_re (3, N), columns beta_k + sum_i e_i lambda_ik, and what the deformation adds to the inertia tensor (3, 3).

    Written by the definitions, entry by entry, for the general assembly.
    """
    N = shape.modes
    H = [moment_matrix(values, f"flex.H.{k}", shape.H) for k in range(N)]
    second = ca.SX.zeros(3, 3)
    columns = []
    for k in range(N):
        column = axial(H[k])
        for i in range(N):
            G = _pair(values, i, k, shape.G)
            column = column + e[i] * axial(G)
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


def moment_matrix(values: Values, name: str, pairs: tuple[str, ...]) -> Any:
    """(3, 3) with the entries that the shape has."""
    rows = [ca.horzcat(*[values.scalar(f"{name}.{a}{b}") if a + b in pairs else ca.SX(0) for b in "xyz"]) for a in "xyz"]
    return ca.vertcat(*rows)


def _pair(values: Values, i: int, k: int, pairs: tuple[str, ...]) -> Any:
    """G_ik (3, 3)."""
    rows = [ca.horzcat(*[values.scalar(f"flex.G.{a}{b}.{i}.{k}") if a + b in pairs else ca.SX(0) for b in "xyz"]) for a in "xyz"]
    return ca.vertcat(*rows)


def axial(H: SX) -> Any:
    """Vector of the integral r x phi from H = integral r phi^T."""
    return ca.vertcat(H[1, 2] - H[2, 1], H[2, 0] - H[0, 2], H[0, 1] - H[1, 0])


def symmetric_matrix(values: Values, name: str, N: int, normal: bool = False) -> Any:
    """(N, N) stored once for i <= k; normal ones are diagonal."""
    if normal:
        return ca.diag(ca.vertcat(ca.SX.zeros(0, 1), *[values.scalar(f"{name}.{k}.{k}") for k in range(N)]))
    rows = [[values.scalar(f"{name}.{min(i, k)}.{max(i, k)}") for k in range(N)] for i in range(N)]
    return ca.vertcat(*[ca.horzcat(*row) for row in rows])
