"""Random programs with nested loops: the tape and every backend keep the values that plain interpretation gives.

All quantities are positive and no differences are taken, so that rounding cannot grow: a difference is a mistake.
"""

from __future__ import annotations

import random

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexapod.kernels.numpy_backend import evaluate
from flexapod.kernels.passes.lowering import lower
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Parameter
from support.plain import compile_kernel
from support.usual_run import counted

MISTAKE = 1e-9
"""Relative: rounding cannot grow, so that more is a mistake."""

SAMPLES = 9


class Writer:
    """Writes a random program from a seed."""

    def __init__(self, seed, unroll):
        self.random = random.Random(seed)
        self.unroll = unroll

    def expression(self, pool):
        """A random positive scalar made from scalars."""
        pool = list(pool)
        for _ in range(self.random.randint(1, 6)):
            x, y = self.random.choice(pool), self.random.choice(pool)
            forms = [x + y, x * y / (1 + x * y), x / y, ca.sqrt(x), x / (y + 1), 2 * x, 1 / x, x * 0, x**2 / (1 + x**2)]
            made = self.random.choice(forms)
            pool.append(ca.if_else(x < y, made, x) if self.random.random() < 0.2 else made)
        return 0.5 + pool[-1] / (1 + pool[-1])

    def column(self, pool, size):
        return ca.vertcat(*[self.expression(pool) for _ in range(size)])

    def scope(self, b, pool, depth):
        """Add random structured operations; returns the scalars that are known afterwards."""
        pool = list(pool)
        for _ in range(self.random.randint(0, 2) if depth else 0):
            pool += self.random.choice([self.map, self.scan, self.iterate])(b, pool, depth - 1)
        return pool

    def map(self, b, pool, depth):
        count, rows = self.random.randint(1, 4), self.random.randint(1, 3)
        each = ca.horzcat(*[self.column(pool, rows) for _ in range(count)])
        shared, state = self.column(pool, 2), self.random.getstate()

        def body(b, e, s):
            self.random.setstate(state)  # every instance is written alike
            inner = self.scope(b, [*ca.vertsplit(e), *ca.vertsplit(s), pool[0]], depth)
            b.fail_if(self.expression(inner) > 1.45, "instance {index} of {word}", word="map")
            return self.column(inner, 2), self.expression(inner)

        one, two = b.map(body, count, each=[each], shared=[shared], unroll=self.unroll)
        return [*ca.vertsplit(ca.vec(one)), *ca.vertsplit(ca.vec(two))]

    def scan(self, b, pool, depth):
        count = self.random.randint(1, 4)
        each = ca.horzcat(*[self.column(pool, 2) for _ in range(count)])

        def body(b, i, c, d, e):
            inner = self.scope(b, [*ca.vertsplit(c), d, *ca.vertsplit(e), pool[-1], 1 + i], depth)
            keep = self.random.random() < 0.3
            return [ca.vertcat(c[1], self.expression(inner)), d if keep else self.expression(inner)], [self.column(inner, 2)]

        (c, d), (ys,) = b.scan(body, count, carry=[self.column(pool, 2), self.expression(pool)], each=[each])
        return [*ca.vertsplit(c), d, *ca.vertsplit(ca.vec(ys))]

    def iterate(self, b, pool, depth):
        def body(b, x, s):
            inner = self.scope(b, [s, pool[0]], depth)
            target = self.expression(inner)
            return [(x + target) / 2, x], ca.fabs(x - target) / 4 - 0.01

        def padded(b, x, old, s):
            following, error = body(b, x, s)
            return following, error

        start, shared = self.expression(pool), self.expression(pool)
        (x, old), converged, n = b.iterate(padded, start=[start, start], shared=[shared], limit=3, tolerance=0.0)
        return [x, old, 1 + converged, 1 + n]


def make(seed, unroll):
    b = Program("random_program")
    p = b.parameters([Parameter(name=f"p{k}") for k in range(3)])
    x = b.input("x", (3,))
    writer = Writer(seed, unroll)
    pool = writer.scope(b, [*ca.vertsplit(x), *ca.vertsplit(p)], 3)
    b.output("y", ca.vertcat(writer.expression(pool), *pool[-6:]))
    return b


@settings(max_examples=counted(15, 200), deadline=None)
@given(st.integers(0, 10**9), st.booleans())
def test_random_programs(seed, unroll):
    program = make(seed, unroll)
    rng = np.random.default_rng(seed)
    x, p = rng.uniform(0.5, 1.5, size=(SAMPLES, 3)), rng.uniform(0.5, 1.5, size=3)
    with np.errstate(all="ignore"):
        *expected, status = evaluate(lower(program), [*x.T, *p])
    status = np.broadcast_to(status, SAMPLES)
    expected = np.stack([np.broadcast_to(v, SAMPLES) for v in expected], axis=1)
    for backend in ("numpy", "llvm"):
        kernel = compile_kernel(program, backend=backend)
        for parameters in (p, np.tile(p, (SAMPLES, 1))):
            batch = kernel.batch({"x": x}, parameters)
            good = batch.status == 0
            np.testing.assert_array_equal(good, (status == 0) & np.isfinite(expected).all(axis=1))
            np.testing.assert_array_equal(batch.status[batch.status > 0], status[batch.status > 0])
            np.testing.assert_allclose(batch.outputs["y"][good], expected[good], rtol=MISTAKE)


@pytest.mark.parametrize("seed", range(12))
def test_zero_patterns_agree_with_zeros(seed):
    p = np.array([0.0, 1.2, 0.7])
    x = np.random.default_rng(seed).uniform(0.5, 1.5, size=(SAMPLES, 3))
    general = compile_kernel(make(seed, False)).batch({"x": x}, p)
    special = compile_kernel(make(seed, False), zeros=["p0"]).batch({"x": x}, p)
    both = (general.status == 0) & (special.status == 0)
    np.testing.assert_allclose(special.outputs["y"][both], general.outputs["y"][both], rtol=MISTAKE)
