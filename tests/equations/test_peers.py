"""The benchmark robot agrees with Pinocchio and MuJoCo, and with forces that four engines printed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "peers"))

PEERS = 1e-9
"""Of the largest force: the engines' own solves (18 x 18) carry 1e-12."""

AT_REST = 205.548965
AT_07 = [192.681184, 217.183998, 192.680621, 217.184586, 192.681352, 217.183836]
"""Forces [N] at rest and at t = 0.7 s on which Pinocchio, MuJoCo, Drake and a NumPy model agree to 2e-13; printed digits."""
PRINTED = 1.01e-6 / 2
"""Half of their last digit [N], and a hundredth of that."""


def _forces(motion: fp.Motion, formulation: str) -> np.ndarray:
    return fp.inverse_dynamics(fp.load("bench-6ups"), motion, formulation=formulation).force.values


@pytest.mark.parametrize("formulation", ["virtual_power", "virtual_work", "newton_euler", "minimal"])
def test_printed_forces(formulation: str) -> None:
    from stewart import motion

    found = _forces(motion(np.array([0.0, 0.7])), formulation)
    assert np.allclose(found[1], AT_07, rtol=0, atol=PRINTED)
    still = fp.State(position=fp.load("bench-6ups").home.position)
    rest = fp.inverse_dynamics(fp.load("bench-6ups"), still, formulation=formulation).force.values
    assert np.allclose(rest, AT_REST, rtol=0, atol=PRINTED)


@pytest.mark.parametrize("peer", ["pinocchio", "mujoco"])
def test_inverse_dynamics_agrees_with_the_engine(peer: str) -> None:
    pytest.importorskip(peer, reason=f"the wheel of {peer} is not installed")
    from stewart import motion

    if peer == "pinocchio":
        from pinocchio_model import Pinocchio as Engine
    else:
        from mujoco_model import MuJoCo as Engine
    engine, m = Engine(), motion(np.linspace(0.05, 2.95, 20))
    expected = np.array([engine.inverse(*engine.state(m, k)) for k in range(20)])
    found = _forces(m, "virtual_power")
    assert np.abs(found - expected).max() <= PEERS * np.abs(expected).max()


def test_forward_dynamics_agrees_with_pinocchio() -> None:
    pytest.importorskip("pinocchio", reason="the wheel of pin is not installed")
    from pinocchio_model import Pinocchio
    from stewart import ROBOT, motion

    engine, m = Pinocchio(), motion(np.linspace(0.05, 2.95, 20))
    force = 200.0 + 20.0 * np.random.default_rng(2).normal(size=(20, 6))
    found = fp.forward_dynamics(ROBOT, m, force)
    for k in range(20):
        q, v, _ = engine.state(m, k)
        a = engine.forward(q, v, force[k])
        R, w, vb = m.rotation[k], v[3:6], v[:3]
        assert np.allclose(found.acceleration.values[k], R @ (a[:3] + np.cross(w, vb)), rtol=0, atol=PEERS * 10)
        assert np.allclose(found.angular_acceleration.values[k], R @ a[3:6], rtol=0, atol=PEERS * 10)
