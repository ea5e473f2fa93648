"""Loads at the interfaces of flexible bodies: which joints they are, sizes, peaks; weight of a hanging beam."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.analysis.verbs.interface_loads import flexible_joints
from support.flexible_robots import plate_robot

sys.path.insert(0, str(Path(__file__).parents[1] / "elastodynamics"))
from beam_alone import beam_alone

WEIGHT = 1e-6
"""Relative: all of it passes the root, in any deflection."""
STRAIGHT = 1e-3
"""Relative: the moment about the root of a beam that is bent a little."""


def test_which_joints() -> None:
    assert flexible_joints(fp.load("stewart-3-3")) == {}
    assert set(flexible_joints(plate_robot()).values()) == {"platform"}
    found = flexible_joints(fp.load("dualemps"))
    assert {name: found[name] for name in ("1.q13", "1.q14", "1.q16", "1.q17", "2.q23", "2.q24")} == {
        "1.q13": "13", "1.q14": "13", "1.q16": "16", "1.q17": "16", "2.q23": "23", "2.q24": "23",
    }  # fmt: skip
    assert "1.q11" not in found


def result(force: np.ndarray) -> xr.Dataset:
    joints = ["1.q11", "1.q13", "1.q14", "2.q25"]
    dims, coords = ("time", "joint", "axis"), {"time": [0.0, 0.5], "joint": joints, "axis": list("xyz")}
    return xr.Dataset({"reaction_force": (dims, force), "reaction_moment": (dims, 0.1 * force[::-1])}, coords)


def test_peak_with_joint_and_time() -> None:
    """The largest of all is at q11, which no flexible body touches."""
    force = np.zeros((2, 4, 3))
    force[1] = [[100, 0, 0], [3, 4, 0], [0, 0, 6], [50, 0, 0]]
    found = fp.interface_loads(fp.load("dualemps"), result(force))
    assert found.joint.values.tolist() == ["1.q13", "1.q14"]
    assert found.force.values[1].tolist() == [5.0, 6.0]
    assert {k: found.attrs[k] for k in found.attrs if k.startswith("peak")} == {
        "peak_force": 6.0, "peak_force_joint": "1.q14", "peak_force_time": 0.5,
        "peak_moment": pytest.approx(0.6), "peak_moment_joint": "1.q14", "peak_moment_time": 0.0,
    }  # fmt: skip


@pytest.mark.full
def test_weight_of_a_cantilever() -> None:
    """The root passes m g and m g L / 2, the tip the weight of what hangs there."""
    robot = beam_alone(elements=2, gravity="0, -9.81, 0", tip=0.5)
    still = fp.ActuatorMotion(time=[0.0], position=[[0.0]], velocity=[[0.0]], acceleration=[[0.0]])
    found = fp.interface_loads(robot, fp.inverse_dynamics(robot, still, reactions=True))
    mass = 2700 * 2e-4
    assert found.force.values[0] == pytest.approx([(mass + 0.5) * 9.81, 0.5 * 9.81], rel=WEIGHT)
    assert found.moment.values[0, 0] == pytest.approx((mass / 2 + 0.5) * 9.81, rel=STRAIGHT)


def test_refused() -> None:
    with pytest.raises(fp.InputError, match="has no flexible bodies"):
        fp.interface_loads(fp.load("stewart-3-3"), xr.Dataset())
    with pytest.raises(fp.InputError, match="take a result with reactions=True"):
        fp.interface_loads(fp.load("dualemps"), xr.Dataset())
