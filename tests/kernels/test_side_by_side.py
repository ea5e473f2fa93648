"""Programs for one sample at a time: the instances of short maps are evaluated side by side, with the same results."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.llvm.module import module_text
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.tape import make_tape
from support.plain import compile_kernel

SAME = 1e-14
"""Relative: both orders of the lanes have the same operations, which may fuse differently."""


def nested(count: int, *, single: bool) -> Program:
    """A map inside an iteration, with an iteration, a loop and a check of its own inside; results are read in several ways."""
    b = Program("nested", single=single)
    x, p = b.input("x", (3,)), b.parameter("p")

    def root(inner, y, t):
        following = (y + t / y) / 2
        return [following], ca.fabs(following - y)

    def instance(inner, i, t, shared):
        (y,), _, _ = inner.iterate(root, start=[t + 1], shared=[t * t + p], limit=40, tolerance=1e-14)
        (total,), _ = inner.scan(lambda _, k, s, z: ([s + z * (k + 1)], []), 3, carry=[ca.SX(0)], each=[shared.T * t])
        return [], [ca.vertcat(y + i, total), ca.sin(t)]

    def step(inner, z):
        ts = ca.horzcat(*[z * (k + 1) + x[k % 3] for k in range(count)])
        _, (pairs, sines) = inner.scan(instance, count, each=[ts], shared=[x])
        _, (again,) = inner.scan(lambda _, i, s: ([], [s * s]), count, each=[sines])
        following = ca.sum2(pairs[0, :]) / 100 + pairs[1, -1] / 200 + ca.sum2(again) / 50
        return [following], ca.fabs(following - z)

    (z,), converged, passes = b.iterate(step, start=[ca.SX(0.1)], limit=60, tolerance=1e-13)
    b.fail_if(1 - converged, "it does not converge")
    b.output("z", z)
    b.output("passes", passes)
    return b


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_results_are_the_same(count: int) -> None:
    """One sample and several, numbers for all samples and for each."""
    single, together = (compile_kernel(nested(count, single=single)) for single in (True, False))
    x = np.random.default_rng(count).uniform(0.1, 0.5, size=(6, 3))
    for rows in (x, x[:1]):
        for parameters in ([0.7], np.linspace(0.5, 0.9, len(rows))[:, None]):
            found, expected = (kernel.batch({"x": rows}, parameters) for kernel in (single, together))
            assert not expected.status.any()
            np.testing.assert_array_equal(found.status, expected.status)
            np.testing.assert_array_equal(found.outputs["passes"], expected.outputs["passes"])
            np.testing.assert_allclose(found.outputs["z"], expected.outputs["z"], rtol=SAME)


def test_short_maps_become_vectors() -> None:
    """The loop over three instances is gone, the iterations and the loop over five are there."""

    def loops(count: int, single: bool) -> int:
        return module_text(make_tape(nested(count, single=single)), per_sample=False).count("= phi i64")

    assert loops(3, True) == loops(3, False) - 2  # both maps
    assert loops(5, True) == loops(5, False)
