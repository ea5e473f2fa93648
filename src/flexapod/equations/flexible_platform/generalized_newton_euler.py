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

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.control_flow import Builder, ParameterRows
from flexapod.kernels.tape.roles import Loops
from flexapod.robot.flexible_platform import UNROLLED, FlexibleShape


@dataclass(frozen=True, kw_only=True)
class FlexibleModel:
    """Mass matrix and bias of a free flexible body in (a, alpha, e''), body axes.

    Args:
        M: (6 + N, 6 + N), symmetric.
        c: (6 + N,) gravity, velocity, elastic and damping forces.
    """

    M: SX
    c: SX


def flexible_model(
    b: Loops, values: Values, shape: FlexibleShape, e: SX, ed: SX, *, w: SX, g: SX, second_order: bool = True,
    elastic: SX | None = None,
) -> FlexibleModel:  # fmt: skip
    """The model at a state.

    Args:
        b: takes the loop over the modes, where there are many.
        values: prefix under which ``mass``, ``first_moment``, ``inertia`` and ``flex.*`` are.
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
    frame = rigid_moments(values)
    if second_order:
        extra, gyro = deformed_moments(b, values, shape, e, ed)
        moved = [H[k] + extra[k] for k in range(N)]
        T = sum((e[k] * (H[k] + moved[k]) for k in range(N)), ca.SX.zeros(3, 3))
        H, frame = moved, frame.deformed(ca.mtimes(S, e), T)
    rate = ca.mtimes(S, ed)
    Hd = sum((ed[k] * H[k] for k in range(N)), ca.SX.zeros(3, 3))
    beta = ca.horzcat(*[axial(Hk) for Hk in H])
    M_ee = symmetric_matrix(values, "flex.M", N, shape.normal)
    A = frame.M
    M = ca.vertcat(ca.horzcat(A[:3, :], S), ca.horzcat(A[3:, :], beta), ca.horzcat(S.T, beta.T, M_ee))
    spin = ca.mtimes(ca.skew(w), ca.skew(w))
    s = [elastic_row(spin, w, g, S[:, k], H[k], gyro[k]) for k in range(N)]
    D = symmetric_matrix(values, "flex.D", N, shape.normal)
    if elastic is None:
        elastic = ca.mtimes(symmetric_matrix(values, "flex.K", N, shape.normal), e)
    return FlexibleModel(M=M, c=ca.vertcat(frame.bias(w, g, rate, Hd), ca.vertcat(*s) + elastic + ca.mtimes(D, ed)))


@dataclass(frozen=True, kw_only=True)
class FrameMoments:
    """Mass, first moment c (3,) and tensor I (3, 3) about the frame's origin, of the body as it is deformed."""

    mass: SX
    c: SX
    I: SX

    @property
    def M(self) -> SX:
        """(6, 6) inertia of the frame."""
        hat = ca.skew(self.c)
        return ca.vertcat(ca.horzcat(self.mass * ca.SX.eye(3), -hat), ca.horzcat(hat, self.I))

    def deformed(self, shift: SX, T: SX) -> FrameMoments:
        """Moments of the deformed body, with S e (3,) and T = sum e_k (H_k + H_k(e)), whose symmetric part gives tr(T) 1 - T."""
        T = (T + T.T) / 2
        return FrameMoments(mass=self.mass, c=self.c + shift, I=self.I + (ca.trace(T) * ca.SX.eye(3) - T))

    def bias(self, w: SX, g: SX, rate: SX, Hd: SX) -> SX:
        """Velocity forces and weight (6,); rate = S e' (3,), Hd = sum e'_k H_k(e) (3, 3)."""
        f = ca.cross(w, ca.cross(w, self.c) + 2 * rate) - self.mass * g
        n = ca.cross(w, ca.mtimes(self.I, w)) + 2 * (w * ca.trace(Hd) - ca.mtimes(Hd.T, w)) - ca.cross(self.c, g)
        return ca.vertcat(f, n)


def rigid_moments(values: Values) -> FrameMoments:
    """Moments of the undeformed body."""
    c = ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"])
    return FrameMoments(mass=values.scalar("mass"), c=c, I=tensor(values, "inertia"))


def elastic_row(spin: SX, w: SX, g: SX, S: SX, H: SX, gyro: SX) -> SX:
    """Velocity forces and weight on one mode: w^T H w - |w|^2 tr H, entry by entry of spin = w^ w^, and the gyroscopic part."""
    return ca.dot(spin, H) - ca.dot(S, g) + 2 * ca.dot(w, gyro)


def deformed_moments(b: Loops, values: Values, shape: FlexibleShape, e: SX, ed: SX) -> tuple[list[SX], list[SX]]:
    """Per mode k: sum_i e_i G_ik (3, 3) and sum_i e'_i lambda_ik (3,); a loop over the modes where there are many.

    The only work that grows with the square of the number of modes.
    """
    N, pairs = shape.modes, shape.G
    if not N or not pairs:
        return [ca.SX.zeros(3, 3)] * N, [ca.SX.zeros(3)] * N

    def mode(_: Builder, G: SX, e: SX, ed: SX) -> tuple[SX, SX]:
        extra, gyro = moved_moments(shape, G, e, ed)
        return ca.vertcat(*[entry(extra, pair) for pair in pairs]), gyro

    moved, rotating = b.map(mode, N, each=[pair_moments(values, shape)], shared=[e, ed], unroll=N <= UNROLLED)
    entries = [{pair: moved[c, k] for c, pair in enumerate(pairs)} for k in range(N)]
    return [matrix(own) for own in entries], [rotating[:, k] for k in range(N)]


def pair_moments(values: Values, shape: FlexibleShape) -> ParameterRows:
    """(pairs N, N): in column k the entries of G_ik, pair after pair."""
    N = shape.modes
    names = [f"flex.G.{pair}.{i}.{k}" for pair in shape.G for i in range(N) for k in range(N)]
    return values.rows(names, N)


def moved_moments(shape: FlexibleShape, G: SX, e: SX, ed: SX) -> tuple[SX, SX]:
    """Moments that the deformation gives one mode: sum_i e_i G_ik (3, 3) and sum_i e'_i lambda_ik (3,), from its column of
    `pair_moments`."""
    N = shape.modes
    part, none = {pair: G[c * N : (c + 1) * N] for c, pair in enumerate(shape.G)}, ca.SX.zeros(N)

    def rotated(plus: str, minus: str) -> SX:
        if plus not in part and minus not in part:
            return ca.SX(0)
        first, second = part.get(plus, none), part.get(minus, none)
        # in a loop, differences of parameters would be N^2 more constants
        return ca.dot(first - second, ed) if N <= UNROLLED else ca.dot(first, ed) - ca.dot(second, ed)

    gyro = ca.vertcat(*[rotated(plus, minus) for plus, minus in (("yz", "zy"), ("zx", "xz"), ("xy", "yx"))])
    return matrix({pair: ca.dot(column, e) for pair, column in part.items()}), gyro


def matrix(entries: dict[str, SX]) -> SX:
    """(3, 3) from entries by their axes."""
    return ca.vertcat(*[ca.horzcat(*[entries.get(a + d, ca.SX(0)) for d in "xyz"]) for a in "xyz"])


def entry(H: SX, pair: str) -> SX:
    """Entry of a matrix (3, 3), by axes."""
    return H["xyz".index(pair[0]), "xyz".index(pair[1])]


def elastic_moments(values: Values, shape: FlexibleShape, e: SX) -> tuple[SX, SX]:
    """MS_re (3, N), columns beta_k + sum_i e_i lambda_ik, and the change of the inertia tensor (3, 3) by the deformation.

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


def first_moments(values: Values, shape: FlexibleShape) -> SX:
    """S (3, N) with the rows that the shape has."""
    rows = [
        ca.horzcat(*[values.scalar(f"flex.S.{k}.{a}") if a in shape.S else ca.SX(0) for k in range(shape.modes)]) for a in "xyz"
    ]
    return ca.vertcat(*rows)


def moment_matrix(values: Values, name: str, pairs: tuple[str, ...]) -> SX:
    """(3, 3) with the entries that the shape has."""
    rows = [ca.horzcat(*[values.scalar(f"{name}.{a}{b}") if a + b in pairs else ca.SX(0) for b in "xyz"]) for a in "xyz"]
    return ca.vertcat(*rows)


def _pair(values: Values, i: int, k: int, pairs: tuple[str, ...]) -> SX:
    """G_ik (3, 3)."""
    rows = [ca.horzcat(*[values.scalar(f"flex.G.{a}{b}.{i}.{k}") if a + b in pairs else ca.SX(0) for b in "xyz"]) for a in "xyz"]
    return ca.vertcat(*rows)


def axial(H: SX) -> SX:
    """Vector of the integral r x phi from H = integral r phi^T."""
    return ca.vertcat(H[1, 2] - H[2, 1], H[2, 0] - H[0, 2], H[0, 1] - H[1, 0])


def symmetric_matrix(values: Values, name: str, N: int, normal: bool = False) -> SX:
    """(N, N) stored once for i <= k; normal ones are diagonal."""
    if normal:
        return ca.diag(ca.vertcat(ca.SX.zeros(0, 1), *[values.scalar(f"{name}.{k}.{k}") for k in range(N)]))
    rows = [[values.scalar(f"{name}.{min(i, k)}.{max(i, k)}") for k in range(N)] for i in range(N)]
    return ca.vertcat(*[ca.horzcat(*row) for row in rows])
