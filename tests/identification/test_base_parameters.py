"""Base parameters: ranks against an independent derivation in 50 digits, and stability under the choice of states."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from energy_rank import energy_rank
from measured import DATA, RIGID

import flexapod as fp

STABLE = 1e-9
"""Coefficients from other states: least squares over 300 states with condition numbers below 1e4, to rounding."""
RANKS = {
    "stewart-3-3": 94, "bench-6ups": 94, "gough-stewart": 94, "hexapod": 76, "hexa": 82, "delta": 37, "five-bar": 11,
    "planar-4-prr": 16, "tripteron": 17, "hexaslide": 76,
}  # fmt: skip
"""Base inertial parameters (friction left out), found by `energy_rank`: other equations, 50 digits."""
QUICK = ("five-bar",)
KEPT, DEPENDENT = 1e-4, 1e-10
"""Smallest singular value of columns that are kept, largest of those that depend: far apart."""
REGROUPED = 1e-11
"""Of the largest force: coefficients by least squares, times some dozen columns."""


@pytest.mark.parametrize("name", [n if n in ("five-bar", "hexapod") else pytest.param(n, marks=pytest.mark.full) for n in RIGID])
def test_same_parameters_from_other_states(name: str) -> None:
    robot = fp.load(name)
    one, two = (fp.base_parameters(robot, friction=False, seed=seed) for seed in (0, 7))
    assert one.kept == two.kept
    assert np.abs(one.combination - two.combination).max() < STABLE
    assert one.rank == RANKS[name]
    assert one.gap[0] > KEPT > DEPENDENT > one.gap[1], f"kept and dependent columns are far apart: {one.gap}"


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.full) for n in RIGID])
def test_rank_in_fifty_digits(name: str) -> None:
    """Energies at states that satisfy the loops to 50 digits; their rank is that of the forces (Gautier, Khalil 1990)."""
    with mp.workdps(50):
        rank, gap = energy_rank(fp.load(name))
    assert rank == RANKS[name]
    assert gap > 1e20, f"a clear rank: smallest kept over largest dropped pivot is {gap:.1e}"


def test_combinations_are_written_out() -> None:
    base = fp.base_parameters(fp.load(DATA / "emps.yaml"))
    assert [base.text(i) for i in range(base.rank)] == [
        "platform.mass + legs.1.carriage.mass + legs.1.screw.inertia",
        "legs.1.screw.friction.viscous",
        "legs.1.screw.friction.coulomb",
    ]
    assert base.values == pytest.approx([95.1089, 203.5034, 20.3935])
    assert "platform.inertia.xx" in base.unidentifiable


def test_regrouped_forces_are_the_same() -> None:
    """Y theta = Y_1 beta on states that were not used to find the combinations."""
    robot = fp.load("hexapod")
    base = fp.base_parameters(robot)
    from flexapod.analysis.verbs.sampling import random_states

    motion = fp.Motion(time=np.arange(20.0), **random_states(robot, 20, seed=99))
    found = fp.regressor(robot, motion)
    random = np.random.default_rng(0).normal(size=len(base.model.names))
    whole = found.regressor.values @ random
    part = found.regressor.values[:, :, list(base.kept)] @ (base.combination @ random)
    assert np.abs(whole - part).max() < REGROUPED * np.abs(whole).max()
