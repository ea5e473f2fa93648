"""The link-axes model: forces and accelerations of virtual power, on robots with every kind of leg, with few operations."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slides_and_balls import slides_and_balls

import flexapod as fp
from flexapod.analysis.model.kernels import kernel, make_program
from flexapod.analysis.verbs.sampling import random_states
from support.kinds import document_of, robot_of
from support.robots import FILES, home, robot_named
from support.robots import RIGID as CATALOGUE_RIGID

STATES = 300
AGREE = 1e-10
"""Two derivations that share the closing of general legs alone; they differ by rounding times the condition of the pose."""

OPERATIONS = {
    "stewart-3-3": (1789, 2182),
    "gough-stewart": (1791, 2208),
    "bench-6ups": (1769, 2134),
    "hexaslide": (2264, 2981),
    "hexapod": (2375, 3130),
    "hexa": (2566, 3369),
    "delta": (1586, 2727),
    "tripteron": (628, 999),
    "five-bar": (470, 673),
    "planar-4-prr": (520, 767),
    "3-rsr": (3758, 2690),
}
"""Inverse and forward dynamics, closing and rank check counted (of Newton's method one pass); virtual power has 3401 and 6253 for
`stewart-3-3`. Counted by this test; a change that lowers them may lower these."""

RIGID = (*CATALOGUE_RIGID, "every-joint")
"""Robots to which the equations in link axes apply."""


@functools.cache
def states(name: str) -> dict[str, np.ndarray]:
    robot, random = robot_named(name), np.random.default_rng(5)
    found = random_states(robot, STATES, seed=3)
    return {
        **found,
        "wrench": random.normal(size=(STATES, 6)) * 10,
        "force": random.normal(size=(STATES, len(robot.actuators))) * 100,
        "guess": np.tile(home(robot), (STATES, 1)),
    }


def outputs(robot: fp.Robot, quantity: str, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    bound = kernel(robot, quantity)
    batch = bound.batch({i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs})
    assert not batch.status.any(), bound.signature.status(int(batch.status.max())).text
    return batch.outputs


def share(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-3))


def test_many_kinds_of_legs_are_covered() -> None:
    assert {*RIGID} == {name for name in FILES if robot_named(name).no_link_plan is None}
    kinds = {leg.closing.type for name in RIGID for leg in robot_named(name).legs}
    assert kinds >= {"spherical", "universal", "revolute", "prismatic", "fixed"}
    assert {leg.architecture for name in RIGID for leg in robot_named(name).legs} == {"UPS", "PUS", "RUS", "general"}
    assert any(robot_named(name).link_plan.strain for name in RIGID), "a redundantly actuated robot"


@pytest.mark.parametrize("name", RIGID)
def test_inverse_dynamics(name: str) -> None:
    robot, given = robot_named(name), states(name)
    found, expected = outputs(robot, "link_inverse_dynamics", given), outputs(robot, "virtual_power", given)
    assert share(found["force"], expected["force"]) < AGREE
    assert share(found["power"], expected["power"]) < AGREE


def with_rotated_legs(name: str, times: int) -> fp.Robot:
    """A robot with its legs so many times, each turned about the vertical axis: redundantly driven."""
    document = document_of(name)
    document["name"] = f"{name}-{times}"
    own = document["legs"]["each"]
    document["legs"]["each"] = {
        f"{leg}{'abc'[k]}": _rotated(keys, 0.2 * k) for k in range(times) for leg, keys in own.items()
    }  # fmt: skip
    return robot_of(document)


def _rotated(keys: Any, angle: float) -> Any:
    if isinstance(keys, dict):
        return {k: v if k in ("limits", "start") else _rotated(v, angle) for k, v in keys.items()}
    if isinstance(keys, list) and len(keys) == 3:
        x, y, z = keys
        return [float(np.cos(angle) * x - np.sin(angle) * y), float(np.sin(angle) * x + np.cos(angle) * y), z]
    return keys


@pytest.mark.parametrize("name", ["stewart-3-3", "hexaslide"])
def test_redundant_forces(name: str) -> None:
    """Twelve legs: the forces of least norm, also of legs whose drives do not act along them."""
    robot, random = with_rotated_legs(name, 2), np.random.default_rng(5)
    given = {**random_states(robot, STATES, seed=3), "wrench": random.normal(size=(STATES, 6)) * 10}
    assert len(robot.link_plan.strain) == 6
    found, expected = outputs(robot, "link_inverse_dynamics", given), outputs(robot, "virtual_power", given)
    assert share(found["force"], expected["force"]) < AGREE
    assert share(found["power"], expected["power"]) < AGREE


def test_operations_grow_with_the_legs() -> None:
    counts = [kernel(with_rotated_legs("stewart-3-3", k), "link_inverse_dynamics").operations.total for k in (1, 2, 3)]
    assert counts[0] == OPERATIONS["stewart-3-3"][0]
    assert counts[2] - counts[1] <= counts[1] - counts[0], counts


@pytest.mark.parametrize("name", RIGID)
def test_forward_dynamics(name: str) -> None:
    robot, given = robot_named(name), states(name)
    found, expected = outputs(robot, "link_forward_dynamics", given), outputs(robot, "forward_dynamics", given)
    length = robot.characteristic_length
    linear, angular = (np.abs(expected[key]).max() for key in ("acceleration", "angular_acceleration"))
    size = max(linear, length * angular)  # the platform of a wrist does not translate, that of a Delta does not rotate
    assert np.abs(found["acceleration"] - expected["acceleration"]).max() < AGREE * size
    assert length * np.abs(found["angular_acceleration"] - expected["angular_acceleration"]).max() < AGREE * size


SKEW = {
    "legs.upper.com": [-0.1, 0.02, 0.03],
    "legs.upper.inertia.diagonal": [2e-4, 1.2e-3, 1.1e-3],
    "legs.lower.com": [0.09, 0.03, 0.01],
    "legs.shoulder.inertia": 0.02,
}
"""Bodies without symmetry, and a rotor."""


@pytest.mark.parametrize("where", ["cranks", "slides"])
def test_legs_cut_at_a_ball(where: str, tmp_path: Path) -> None:
    """Drive and rod as two coordinates, the hinge leaning against its rod: the accelerations of virtual power."""
    robot = (slides_and_balls(tmp_path) if where == "slides" else fp.load("3-rsr")).with_parameters(SKEW)
    assert all(choice.ball for choice in robot.link_plan.legs)
    given = {**random_states(robot, STATES, seed=3), "guess": np.tile(home(robot), (STATES, 1))}
    random = np.random.default_rng(5)
    given |= {"wrench": random.normal(size=(STATES, 6)) * 10, "force": random.normal(size=(STATES, 3)) * 100}
    found, expected = (outputs(robot, quantity, given) for quantity in ("link_forward_dynamics", "forward_dynamics"))
    assert share(found["acceleration"], expected["acceleration"]) < AGREE
    assert share(found["angular_acceleration"], expected["angular_acceleration"]) < AGREE


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_operations(name: str) -> None:
    """The counts are those written here, on every processor, and below those of virtual power."""
    robot = fp.load(name)
    found = tuple(kernel(robot, quantity).operations.total for quantity in ("link_inverse_dynamics", "link_forward_dynamics"))
    assert found == OPERATIONS[name]
    today = tuple(kernel(robot, quantity).operations.total for quantity in ("virtual_power", "forward_dynamics"))
    assert all(f <= t for f, t in zip(found, today, strict=True))


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("stewart-3-3", "platform.com", [0.01, -0.02, 0.03]),
        ("hexaslide", "platform.com", [0.01, -0.02, 0.03]),
        ("five-bar", "legs.left.proximal.com", [0.1, 0.02, 0.0]),
    ],
)
def test_a_lost_zero(name: str, path: str, value: list[float]) -> None:
    """Numbers that were zero in the file get the general equations, with the same columns and the right forces."""
    robot = robot_named(name)
    other = robot.with_parameters({path: value})
    assert any(other.values[zero] != 0.0 for zero in robot.zeros)
    given = states(name)
    assert share(outputs(other, "link_inverse_dynamics", given)["force"], outputs(other, "virtual_power", given)["force"]) < AGREE
    written, general = (make_program(robot, "link_inverse_dynamics", {"zeros": zeros}) for zeros in (robot.zeros, ()))
    assert [p.name for p in written.signature.parameters] == [p.name for p in general.signature.parameters]


def test_variants_keep_the_plan() -> None:
    robot = robot_named("delta")
    assert robot.with_parameters({"platform.mass": 0.9}).link_plan is robot.link_plan


def test_singular_pose_is_named() -> None:
    """Fichter: a symmetric 6-UPS turned by 90 degrees about its axis."""
    bound = kernel(robot_named("stewart-3-3"), "link_inverse_dynamics")
    given = {i.name: np.zeros(i.shape) for i in bound.signature.inputs}
    given |= {"position": np.array([0.0, 0.0, 4.0]), "rotation": np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])}
    batch = bound.batch({k: v[None] for k, v in given.items()})
    assert "singular (type 2)" in bound.signature.status(int(batch.status[0])).text


def test_reasons_why_not() -> None:
    assert fp.load("dualemps").no_link_plan == "it has flexible bodies or springs"
