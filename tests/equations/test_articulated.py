"""Direct and inverse model by articulated bodies against mass matrix and elimination, and how the operations grow."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.equations.elastodynamics.articulated_assembly import LONG_LEG, prefers_articulated
from flexapod.equations.elastodynamics.dynamics import elastic_forward_dynamics, elastic_inverse_dynamics
from flexapod.kernels.tape.program import Program

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"

AGREE = 1e-11
"""Of the largest acceleration; agreement is 1e-15 to 1e-13, shorter elements have mass matrices of larger condition."""

FORCES = 1e-9
"""Forces of a few newton are what is left of elastic accelerations around 1e6 m/s^2."""


@cache
def robot(name: str) -> fp.Robot:
    return fp.load(DATA / f"{name}.yaml")


def state(r: fp.Robot, seed: int) -> dict[str, np.ndarray]:
    """A random state with deformations; both ways solve the same system, whether loops are closed or not."""
    random, head = np.random.default_rng(seed), fp.State(position=r.home.position, rotation=r.home.rotation)
    elastic = np.array([leg.links[i].elastic for leg in r.legs for i in leg.moving])
    home = np.concatenate([leg.home for leg in r.legs])
    return {
        "joint_position": home + random.uniform(-1, 1, len(elastic)) * np.where(elastic, 1e-3, 0.02),
        "joint_velocity": random.uniform(-0.5, 0.5, len(elastic)),
        "position": np.asarray(head.position), "rotation": np.asarray(head.rotation),
        "velocity": random.uniform(-0.5, 0.5, 3), "angular_velocity": random.uniform(-0.5, 0.5, 3),
        "force": random.uniform(-10, 10, len(r.actuators)), "actuator_acceleration": random.uniform(-2, 2, len(r.actuators)),
        "wrench": random.uniform(-5, 5, 6),
    }  # fmt: skip


def evaluate(program: Program, r: fp.Robot, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
    s = program.signature
    f = ca.Function("f", [program.input_symbols, program.parameter_symbols], [program.results])
    flat = np.array(f(np.concatenate([np.ravel(inputs[i.name]) for i in s.inputs]), [r.values[p.name] for p in s.parameters]))
    found, at = {}, 0
    for o in s.outputs:
        found[o.name], at = flat.ravel()[at : at + o.size], at + o.size
    return found


@pytest.mark.parametrize("name", ["dualemps", "dualemps-2", "planar-3-rrr-springs", "gough-stewart-beams"])
def test_direct_model(name: str) -> None:
    """In the plane and in space, platform of its own or a leg's link, with gravity, springs and a load."""
    r = robot(name)
    s = state(r, 1)
    one, two = (evaluate(elastic_forward_dynamics(r, load=True, axes=a), r, s) for a in ("links", "articulated"))  # type: ignore[arg-type]
    for key, wanted in one.items():
        assert np.abs(two[key] - wanted).max() <= AGREE * np.abs(wanted).max(), key


@pytest.mark.parametrize("name", ["dualemps", "planar-3-rrr"])
def test_inverse_model(name: str) -> None:
    r = robot(name)
    s = state(r, 2)
    one, two = (evaluate(elastic_inverse_dynamics(r, load=True, axes=a), r, s) for a in ("links", "articulated"))  # type: ignore[arg-type]
    for key, wanted in one.items():
        bound = FORCES if key in ("force", "power") else AGREE
        assert np.abs(two[key] - wanted).max() <= bound * np.abs(wanted).max(), key


def test_operations_grow_with_the_number_of_elements() -> None:
    """Twice the elements take about twice the operations."""
    options: dict[str, Any] = {"formulation": "articulated", "constants": "numbers"}
    totals = [fp.generate(robot(name), "forward_dynamics", **options).operations.total for name in ("dualemps", "dualemps-2")]
    assert totals[1] < 2 * totals[0]


def test_long_legs_are_solved_so() -> None:
    assert [prefers_articulated(robot(name)) for name in ("dualemps", "dualemps-2")] == [False, True]
    assert max(len(leg.moving) for leg in robot("dualemps").legs) < LONG_LEG
    assert fp.generate(robot("dualemps-2"), "forward_dynamics", constants="numbers").formulation == "articulated"
    assert fp.generate(robot("dualemps"), "forward_dynamics", constants="numbers").formulation == "link_axes"
