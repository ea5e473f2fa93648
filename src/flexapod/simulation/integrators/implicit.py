r"""One step of a collocation method for any system of second order, compiled like any other loop.

.. math:: \dot x = \kappa(x, v),\qquad r = M(x)\,\dot v - f(x, v, z, t) = 0,\qquad \dot z = g(x, v, z, t)

Unknown are the stages' x', v' and z'. All functions see **increments** since the start of the step (x and z start at zero), so
that attitudes may be Cayley's vectors. kappa is close to v: velocities are the rates of x but for small rotations.

Simplified Newton: one factorisation per step of

.. math:: M + h\lambda D + (h\lambda)^2 K

for each eigenvalue lambda of the method (complex ones once per pair), M, D, K from the start of the step. D and K (n, n),
symmetric and positive semidefinite, hold what is stiff: elastic matrices, gains. What is left out (velocity terms, stiffness
of loads) is found by iteration and may not be stiff: its frequency times h should be well below one. The stages of linear
vibrations are exact after one pass at any h, so a step may be much longer than the period of the fastest mode.

A step ends when a pass changes rates by less than `CLOSED`, or when changes have come down to rounding and fall no more; a
status is returned where that does not happen in `PASSES` passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.simulation.integrators.collocation import Collocation
from flexapod.simulation.integrators.complex_ldl import Factors, factorise, solve_factorised

PASSES = 30
LOST = f"the implicit step does not converge in {PASSES} passes: shorten it, or check for a singular pose"
CLOSED = (1e-10, 1e-13)
"""Last change of rates, relative and absolute [m/s, rad/s, ...]; the pass after it would change them by far less."""
ROUNDING = 1e4
"""Changes up to this multiple of `CLOSED` may be rounding of stiff forces: they are taken as the end where they fall no more."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Equations at one stage: residual r (n,), x' (n,), z' (m,), and a status, 0 where all is well."""

    residual: SX
    rate: SX
    beside: SX
    code: SX


@dataclass(frozen=True, kw_only=True)
class SecondOrder:
    """A system at the start of a step.

    Args:
        evaluate: (builder, x, v, a, z, signals) -> `Evaluation`; x, v, z are increments since the start of the step, a the
            acceleration (n,), signals one column of `columns`. The builder takes nested loops.
        velocity: (n,) v at the start.
        acceleration: (n,) v' at the start, where the iteration begins.
        mass, damping, stiffness: (n, n) M, D, K at the start, symmetric.
        beside: how many numbers z has.
        plain: kappa is v itself, so that x' is no unknown of its own.
    """

    evaluate: Callable[[Builder, SX, SX, SX, SX, SX], Evaluation]
    velocity: SX
    acceleration: SX
    mass: SX
    damping: SX
    stiffness: SX
    beside: int = 0
    plain: bool = False


@dataclass(frozen=True, kw_only=True)
class ImplicitStep:
    """Increments of x (n,), v (n,) and z (m,) after a step, a status (0: converged), and the passes that it took."""

    x: SX
    v: SX
    z: SX
    code: SX
    passes: SX


def implicit_step(root: Program, b: Builder, method: Collocation, system: SecondOrder, h: SX, columns: SX) -> ImplicitStep:
    """One step of length h.

    Args:
        root: knows the messages of statuses.
        b: builder of the enclosing body.
        columns: (width, stages) signals at the stages.

    Source: Hairer, Wanner, section IV.8. Checked by: tests/simulation/test_collocation.py.
    """
    m, s = system.beside, method.stages
    A, weights = ca.SX(ca.DM(method.A)), ca.SX(ca.DM(method.b))
    factors = _factors(method, system, h)
    velocity, K = ca.repmat(system.velocity, 1, s), h * system.stiffness

    nodes, twice = ca.SX(ca.DM(method.c)).T, ca.SX(ca.DM(method.A @ method.A))

    def evaluate(inner: Builder, _: SX, *of_stage: SX) -> tuple[list[SX], list[SX]]:
        row, row2, node, a, column, X, V, Z = of_stage
        v, z = (h * ca.mtimes(rate, row) for rate in (V, Z))
        x = h * (node * system.velocity + h * ca.mtimes(V, row2)) if system.plain else h * ca.mtimes(X, row)
        found = system.evaluate(inner, x, v, a, z, column)
        return [], [found.residual, ca.SX(0, 1) if system.plain else found.rate, found.beside, found.code]

    def pass_(inner: Builder, X: SX, V: SX, Z: SX, _: SX, before: SX) -> tuple[list[SX], SX]:
        r, rate, beside, codes = inner.scan(evaluate, s, each=[A.T, twice.T, nodes, V, columns], shared=[X, V, Z])[1]
        off = X - rate
        right = -r if system.plain else ca.mtimes(K, ca.mtimes(off, A.T)) - r
        delta = _correction(method, factors, right)
        size = _size(system.velocity, h, V, delta, off)
        stalled = ca.logic_and(size < ROUNDING, size > 0.9 * before)
        moved = rate if system.plain else rate + h * ca.mtimes(delta, A.T)
        return [moved, V + delta, beside, _first(codes), size], ca.if_else(stalled, 0, size)

    start = [
        ca.SX(0, s) if system.plain else velocity + ca.mtimes(h * system.acceleration, nodes),
        ca.repmat(system.acceleration, 1, s), ca.SX.zeros(m, s), ca.SX(0), ca.SX(1e300),
    ]  # fmt: skip
    (X, V, Z, code, _), converged, passes = b.iterate(pass_, start=start, limit=PASSES, tolerance=1.0)
    X = velocity + h * ca.mtimes(V, A.T) if system.plain else X
    lost = root.fail_if(ca.SX(0), LOST)
    code = ca.if_else(code != 0, code, ca.if_else(converged, 0, lost))
    return ImplicitStep(
        x=h * ca.mtimes(X, weights), v=h * ca.mtimes(V, weights), z=h * ca.mtimes(Z, weights), code=code, passes=passes
    )


def _factors(method: Collocation, system: SecondOrder, h: SX) -> tuple[list[Factors], list[Factors]]:
    """Factors of M + h l D + (h l)^2 K for the real eigenvalues l, and for one of each complex pair."""
    M, D, K = system.mass, h * system.damping, (h * h) * system.stiffness
    real = [factorise(M + value * D + value**2 * K) for value, _, _ in method.real]
    pairs = [
        factorise(M + value.real * D + (value**2).real * K, value.imag * D + (value**2).imag * K) for value, _, _ in method.pairs
    ]
    return real, pairs


def _correction(method: Collocation, factors: tuple[list[Factors], list[Factors]], right: SX) -> SX:
    """Solve (1 x M + h A x D + h^2 A^2 x K) delta = right for all stages (n, s), in the eigenvectors of A."""
    total = ca.SX.zeros(*right.shape)
    if right.shape[0] == 0:  # everything that moves is prescribed
        return total
    for (_, row, column), own in zip(method.real, factors[0], strict=True):
        found, _ = solve_factorised(own, ca.mtimes(right, ca.DM(row)))
        total = total + ca.mtimes(found, ca.DM(column).T)
    for (_, row_, column_), own in zip(method.pairs, factors[1], strict=True):
        re, im = solve_factorised(own, ca.mtimes(right, ca.DM(row_.real)), ca.mtimes(right, ca.DM(row_.imag)))
        assert im is not None
        total = total + 2 * (ca.mtimes(re, ca.DM(column_.real).T) - ca.mtimes(im, ca.DM(column_.imag).T))
    return total


def _size(velocity: SX, h: SX, V: SX, delta: SX, off: SX) -> SX:
    """Size of the change of a pass, 1 where it is small enough; a sum, because a maximum would hide what is not a number."""
    total = ca.SX(0)
    relative, absolute = CLOSED
    for k in range(V.shape[0]):
        scale = absolute + relative * (ca.fabs(velocity[k]) + h * ca.sqrt(ca.sumsqr(V[k, :])))
        change = h * h * ca.sumsqr(delta[k, :]) + (ca.sumsqr(off[k, :]) if off.shape[0] else 0)
        total = total + change / (scale * scale)
    return ca.sqrt(total)


def _first(codes: SX) -> SX:
    """The first status that is not zero."""
    found = ca.SX(0)
    for k in reversed(range(codes.numel())):
        found = ca.if_else(codes[k] != 0, codes[k], found)
    return found
