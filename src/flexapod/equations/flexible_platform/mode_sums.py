r"""Sums over the normal modes of a plate, through which alone modes act on legs and frame; a loop where there are many.

With b (6, N) the coupling of frame and modes, m their masses, phi (legs, N) the shapes at the joints along one axis, and
y (N,) what loads, weight, velocities and the frame's acceleration leave for the modes:

.. math:: b\,m^{-1} b^T,\quad b\,m^{-1}\varphi^T,\quad b\,m^{-1} y,\quad \varphi\,m^{-1}\varphi^T,\quad \varphi\,m^{-1} y,\qquad
          \ddot e = m^{-1}(y - b^T\dot V - \varphi^T f)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.generalized_newton_euler import (
    FlexibleModel,
    axial,
    elastic_row,
    first_moments,
    matrix,
    moved_moments,
    pair_moments,
    rigid_moments,
)
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder, Each
from flexapod.kernels.tape.roles import Loops
from flexapod.robot.flexible_platform import FlexibleShape

if TYPE_CHECKING:
    from flexapod.equations.flexible_platform.assembly import FlexibleState


@dataclass(frozen=True, kw_only=True)
class ModeSums:
    """M (6, 6) and c (6,) of the frame; bb (6, 6), bp (6, legs), by (6,), pp (legs, legs), py (legs,) as above, b before phi.

    `elastic(V, f)` gives e''.
    """

    M: SX
    c: SX
    bb: SX | None
    bp: SX
    by: SX
    pp: SX
    py: SX
    elastic: Callable[[SX | None, SX], SX]


def written_out(body: FlexibleModel, phi: SX, load: SX, V: SX | None = None) -> ModeSums:
    """Sums over the modes of a body with few of them, from its matrix.

    Args:
        phi: (legs, N) shapes at the joints.
        load: (6 + N,) generalized load; V: (6,) the frame's acceleration, if it is known.
    """
    b, inverse = body.M[:6, 6:], 1 / ca.diag(body.M[6:, 6:])
    scaled = phi * ca.repmat(inverse.T, phi.shape[0], 1)
    y = load[6:] - body.c[6:]
    if V is not None:
        y = y - ca.mtimes(b.T, V)

    def elastic(V: SX | None, f: SX) -> SX:
        return inverse * (y if V is None else y - ca.mtimes(b.T, V)) - ca.mtimes(scaled.T, f)

    scaled_b = ca.sparsify(b * ca.repmat(inverse.T, 6, 1))
    return ModeSums(
        M=body.M[:6, :6], c=body.c[:6], bb=ca.mtimes(scaled_b, b.T), bp=ca.mtimes(b, scaled.T),
        by=ca.mtimes(scaled_b, y) if V is None else ca.mtimes(b, inverse * y),
        pp=ca.mtimes(scaled, phi.T), py=ca.mtimes(scaled, y), elastic=elastic,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ModeLoop:
    """A plate with many modes, in loops over them.

    Args:
        b: takes the loops; values: below the platform; phi: (legs, N) shapes at the joints.
        g: (3,) gravity in platform axes; elastic: (N,) elastic forces.
    """

    b: Loops
    values: Values
    shape: FlexibleShape
    state: FlexibleState
    phi: SX
    g: SX
    elastic: SX
    second_order: bool

    @cached_property
    def constants(self) -> SX:
        """(rows, N): S, H, D, 1/m and phi / m of each mode, see `_parts`."""
        values, N = self.values, self.shape.modes
        H = [ca.horzcat(*[values.scalar(f"flex.H.{k}.{pair}") for k in range(N)]) for pair in self.shape.H]
        m, D = (ca.horzcat(*[values.scalar(f"flex.{name}.{k}.{k}") for k in range(N)]) for name in "MD")
        (scaled,) = self.b.map(lambda _, phi, m: (ca.vertcat(1, phi) / m,), N, each=[self.phi, m], unroll=False)
        return ca.vertcat(first_moments(values, self.shape), *H, D, scaled)

    @cached_property
    def fixed(self) -> SX:
        """(3 + legs, 3 + legs) of (S, phi) m^-1 (S, phi)^T, which parameters alone determine."""
        x = ca.vertcat(self.constants[:3, :], self.phi)
        start = ca.SX.zeros(x.shape[0], x.shape[0])

        def mode(_: Builder, __: SX, total: SX, x: SX, inverse: SX) -> tuple[tuple[SX], tuple[()]]:
            return (total + ca.mtimes(inverse * x, x.T),), ()

        inverse = self.constants[4 + len(self.shape.H), :]
        return self.b.scan(mode, self.shape.modes, carry=[start], each=[x, inverse])[0][0]

    def sums(self, load: SX, V: SX | None = None) -> ModeSums:
        """Sums over the modes, as `written_out`, in one loop over the modes, and one for their accelerations."""
        shape, e, ed, w, g = self.shape, self.state.e, self.state.ed, self.state.w, self.g
        legs, known = self.phi.shape[0], V is not None
        given_V = [] if V is None else [V]
        force = (load[6:] - self.elastic).T
        each: list[Each] = [self.constants, pair_moments(self.values, shape), e.T, ed.T, force]
        shared = [e, ed, w, g, *given_V]
        zeros = [ca.SX.zeros(*size) for size in ((3,), (3,), (3, 3), (3, 3), (3, 0 if known else 6), (3, legs), (6,), (legs,))]

        def mode(_: Builder, __: SX, *given: SX) -> tuple[tuple[SX, ...], tuple[SX, ...]]:
            carry, (own, G, e_k, ed_k, y, e, ed, w, g, *V) = given[: len(zeros)], given[len(zeros) :]
            S, H, D, inverse, scaled = self._parts(own)
            extra, gyro = moved_moments(shape, G, e, ed) if self.second_order else (ca.SX.zeros(3, 3), ca.SX.zeros(3))
            moved = H + extra
            b = ca.vertcat(S, axial(moved))
            y = y - D * ed_k - elastic_row(ca.mtimes(ca.skew(w), ca.skew(w)), w, g, S, moved, gyro)
            if known:
                y = y - ca.dot(b, V[0])
            T, beta, sy = e_k * H + e_k * moved, b[3:], inverse * y
            bb = ca.SX.zeros(3, 0) if known else ca.mtimes(inverse * beta, b.T)
            new = (S * e_k, S * ed_k, T, ed_k * moved, bb, ca.mtimes(beta, scaled.T), b * sy, scaled * y)
            return tuple(old + more for old, more in zip(carry, new, strict=True)), (b, y)

        (shift, rate, T, Hd, bb, bp, by, py), (b, y) = self.b.scan(mode, shape.modes, carry=zeros, each=each, shared=shared)
        frame = rigid_moments(self.values)
        frame = frame.deformed(shift, T) if self.second_order else frame
        fixed = self.fixed
        whole = None if known else ca.vertcat(ca.horzcat(fixed[:3, :3], bb[:, :3].T), bb)
        return ModeSums(
            M=frame.M, c=frame.bias(w, g, rate, Hd), bb=whole, bp=ca.vertcat(fixed[:3, 3:], bp), by=by, pp=fixed[3:, 3:], py=py,
            elastic=lambda V, f: self._elastic(b, y, V, f),
        )  # fmt: skip

    def _elastic(self, b: SX, y: SX, V: SX | None, f: SX) -> SX:
        """e'' (N,)."""

        def mode(_: Builder, own: SX, b: SX, y: SX, f: SX, *V: SX) -> tuple[SX]:
            inverse, scaled = self._parts(own)[3:]
            return (inverse * (y - (ca.dot(b, V[0]) if V else 0)) - ca.dot(scaled, f),)

        shared = [f] if V is None else [f, V]
        return self.b.map(mode, self.shape.modes, each=[self.constants, b, y], shared=shared, unroll=False)[0].T

    def _parts(self, own: SX) -> tuple[SX, SX, SX, SX, SX]:
        """S (3,), H (3, 3), D, 1/m, phi / m (legs,) of a mode's column."""
        n = 3 + len(self.shape.H)
        H = matrix({pair: own[3 + k] for k, pair in enumerate(self.shape.H)})
        return own[:3], H, own[n], own[n + 1], own[n + 2 :]
