"""Computed plates have exact zeros where their symmetry makes moments and shapes vanish, and are otherwise what they were."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.flexible.rounding import MOMENTS, SHAPES, without_rounding
from flexapod.robot.flexible_platform import moments

CONSTANTS = ("MS_r", "MS_de", "beta", "lambda_", "I_rr", "I_re", "I_ee", "M_ee", "K_ee", "D_ee")
PAIRS = 116
"""Moments of pairs of ten modes of a regular hexagon that do not vanish, of 500 that a plate has: 10 of these are the modes' own
deflections, and the next smallest of all is above 1e-7 of the largest."""
KEPT = 1e-12
"""Of the largest, or of 1: noise of 1e-13 that is left where something is."""
SAME = 1e-15
"""Of moments below 1: the same differences."""


def hexagon(thickness: float = 0.015) -> fp.flexible.FlexibleBody:
    return fp.flexible.plate(
        outline=fp.flexible.regular_outline(6, 0.5), thickness=thickness, young=2e10, poisson=0.3, density=7500.0, modes=10,
        interfaces={"a": (0.5, 0.0), "b": (0.25, 0.4330127018922193)},
    )  # fmt: skip


@pytest.mark.parametrize("thickness", [0.015, 0.0005])
def test_symmetry_leaves_few_moments_of_pairs(thickness: float) -> None:
    G = moments(hexagon(thickness))[2]
    assert np.count_nonzero(G) == PAIRS
    assert np.abs(G[G != 0.0]).min() > 100 * MOMENTS


def test_a_body_with_rounding_gets_its_zeros_back() -> None:
    """Noise below the bounds disappears; everything above stays, and integrals go together."""
    body, random = hexagon(), np.random.default_rng(3)
    noisy = {
        name: getattr(body, name) + 1e-13 * random.normal(size=np.shape(getattr(body, name)))
        for name in ("I_re", "I_ee", "MS_de")
    }
    point = body.interfaces["b"]
    shaken = fp.flexible.Interface(r0=point.r0, Phi_d=point.Phi_d + 1e-11 * random.normal(size=(3, 10)), Phi_r=point.Phi_r)
    found = without_rounding(fp.flexible.body.replace_body(body, **noisy, interfaces={"b": shaken}))
    for name in CONSTANTS:
        assert np.abs(getattr(found, name) - getattr(body, name)).max() <= KEPT * max(1.0, np.abs(getattr(body, name)).max()), (
            name
        )
    assert not found.interfaces["b"].Phi_d[:2].any()
    assert np.abs(found.interfaces["b"].Phi_d - point.Phi_d).max() < SHAPES * np.abs(point.Phi_d).max()
    _, H, G = moments(found)
    np.testing.assert_array_equal(G != 0.0, moments(body)[2] != 0.0)
    np.testing.assert_allclose(found.lambda_[..., 2], G[..., 0, 1] - G[..., 1, 0], rtol=0, atol=SAME)
    np.testing.assert_allclose(found.beta[0], H[:, 1, 2] - H[:, 2, 1], rtol=0, atol=SAME)
