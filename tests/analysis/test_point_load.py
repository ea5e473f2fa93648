"""Loads at a point of the platform: virtual work of the point's motion, equilibria and small motions by differences."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import flexapod as fp
from support.kinds import document_of, robot_of, robot_of_kind

WORK = 1e-11
"""Generalized forces by virtual work, of the largest: roundings of a solve whose mass matrix has a condition number of 1e4."""

SMALL = 1e-7
"""Squared frequencies by sixth-order differences of forces, of the largest."""

BACK = 1e-9
"""Accelerations and reactions given back, of the largest: stiff springs times roundings of the deflection."""

REST = 1e-9
"""Distance from the equilibrium by a Newton step of differences, of the deflection."""
UNLOADED = 1e-6
"""Of weight and load: a billionth of the load is there, and stiff springs times roundings; found 1e-9."""

LOAD = np.array([30.0, -20.0, -40.0, 0.5, 0.3, -0.2])
KINDS = ["flexible platform on flexible legs", pytest.param("plate on six rods", marks=pytest.mark.full)]
WEIGHTS = {1: 3.0 / 4.0, 2: -3.0 / 20.0, 3: 1.0 / 60.0}


@cache
def robot(kind: str) -> fp.Robot:
    if kind == "plate on six rods":
        text = fp.catalogue()["gough-stewart-flexible-legs"].read_text(encoding="utf-8")
        for old, new in (("young: 20 GPa", "young: 200 GPa"), ("modes: 4", "modes: 2"), ("tool: [0, 0, 0]", "tool: [0.5, 0, 0]")):
            assert old in text
            text = text.replace(old, new)
        return loaded(text)
    return robot_of_kind(kind)


def loaded(text: str) -> fp.Robot:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.yaml"
        path.write_text(text, encoding="utf-8")
        return fp.load(path)


def at_rest(of: fp.Robot) -> fp.ActuatorMotion:
    q = np.concatenate([leg.home for leg in of.legs])[list(of.driven)][None]
    return fp.ActuatorMotion(time=[0.0], position=q, velocity=0 * q, acceleration=0 * q)


def point_jacobian(of: fp.Robot, q: np.ndarray, e: np.ndarray) -> np.ndarray:
    """(6, actuators + N): velocity of the tool per rate of actuators and elastic coordinates."""
    columns = []
    for k in range(len(q) + len(e)):
        unit = np.eye(len(q) + len(e))[k]
        state = fp.State.from_actuators(of, q, velocity=unit[: len(q)], elastic=e, elastic_velocity=unit[len(q) :])
        found = fp.point_motion(of, state, "tool")
        columns.append(np.concatenate([found.velocity.values, found.angular_velocity.values]))
    return np.array(columns).T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("parts", "size"), [((1.0, 0.0), 1e-5), ((1.0, 1.0), 0.0)])
def test_forces_are_the_virtual_work_of_the_load(kind: str, parts: tuple[float, float], size: float) -> None:
    r"""A load changes accelerations by :math:`M\Delta\ddot u = J_P^T (f, m)`, J_P the motion of the material point; a moment is
    work-conjugate to small rotations of the modes, so that it is compared at the undeformed platform."""
    of = robot(kind)
    rest, load = at_rest(of), LOAD * np.repeat(parts, 3)
    e = size * np.cos(1.0 + np.arange(len(of.elastic_names)))
    options: dict[str, Any] = {"elastic": e[None], "friction": False}
    force = np.zeros(len(of.actuators))
    bare = fp.forward_dynamics(of, rest, force, **options)
    found = fp.forward_dynamics(of, rest, force, wrench=load, point="tool", **options)
    names = ("actuator_acceleration", "elastic_acceleration")
    change = np.concatenate([(found[k] - bare[k]).values[0] for k in names])
    M = fp.mass_matrix(of, fp.State.from_actuators(of, rest.position[0], elastic=e), coordinates="independent")
    order = [*of.actuators, *of.elastic_names]
    M = M.values[np.ix_(*[[list(of.independent).index(name) for name in order]] * 2)]
    expected = point_jacobian(of, rest.position[0], e).T @ load
    assert np.abs(M @ change - expected).max() < WORK * np.abs(expected).max()
    assert np.abs(expected[len(force) :]).max() > 0.01 * np.abs(expected).max()


@pytest.mark.parametrize("kind", KINDS)
def test_forward_after_inverse_is_the_identity(kind: str) -> None:
    """Forces of a motion of the actuators under a load at the tool, given back: the accelerations of that motion."""
    of = robot(kind)
    rest, unit = at_rest(of), np.cos(np.arange(len(of.actuators)))[None]
    motion = fp.ActuatorMotion(time=[0.0], position=rest.position + 0.01 * unit, velocity=0.2 * unit, acceleration=3.0 * unit)
    options: dict[str, Any] = {"wrench": LOAD, "point": "tool", "axes": "platform", "friction": False, "reactions": True}
    found = fp.inverse_dynamics(of, motion, **options)
    options |= {name: found[name].values for name in ("elastic", "elastic_velocity")}
    back = fp.forward_dynamics(of, motion, found.force.values, **options)
    for name in ("actuator_acceleration", "elastic_acceleration", "reaction_force", "reaction_moment"):
        expected = motion.acceleration if name.startswith("actuator") else found[name].values
        assert np.nanmax(np.abs(back[name].values - expected)) < BACK * (1.0 + np.nanmax(np.abs(expected))), name


@pytest.mark.parametrize("kind", ["flexible platform", "flexible platform on flexible legs"])
def test_reactions_carry_a_load_at_a_point(kind: str) -> None:
    """At rest in equilibrium, the forces that joints pass to the platform carry its weight and the load."""
    of = robot(kind)
    state = fp.State(position=of.home.position, rotation=of.home.rotation)
    point = next(iter(of.platform.points))
    load = LOAD[:3]
    runs = [
        fp.inverse_dynamics(of, state, friction=False, reactions=True, wrench=w, point=point)
        for w in (LOAD, np.concatenate([1e-9 * load, np.zeros(3)]))
    ]
    ends = [f"{leg.name}.{leg.closing.joint}" for leg in of.legs]
    total = [np.nansum([result.reaction_force.sel(joint=end).values for end in ends], axis=0) for result in runs]
    weight = -of.platform.mass * np.asarray(of.gravity)
    assert np.abs(total[1] - weight).max() < UNLOADED * (np.abs(weight).max() + np.abs(load).max())
    assert np.abs(total[0] - weight + load).max() < BACK * (np.abs(weight).max() + np.abs(load).max())


def residual(of: fp.Robot, e: np.ndarray) -> np.ndarray:
    """Forces (N,) left on the elastic coordinates at rest, actuators held: -M_ee e''."""
    at, place = at_rest(of), [list(of.independent).index(name) for name in of.elastic_names]
    found = fp.inverse_dynamics(of, at, elastic=e[None], friction=False, wrench=LOAD, point="tool")
    return -inertia(of, e)[np.ix_(place, place)] @ found.elastic_acceleration.values[0]  # type: ignore[no-any-return]


def inertia(of: fp.Robot, e: np.ndarray) -> np.ndarray:
    state = fp.State.from_actuators(of, at_rest(of).position[0], elastic=e)
    return fp.mass_matrix(of, state, coordinates="independent").values  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", KINDS)
def test_equilibrium_and_small_motions(kind: str) -> None:
    """On held actuators: nothing is left at the deflection, and frequencies are those of differences of what is left."""
    of = robot(kind)
    found = fp.static_deflection(of, at_rest(of), wrench=LOAD, point="tool")
    e = found.elastic.values[0]
    plain = fp.static_deflection(of, at_rest(of), wrench=LOAD).elastic.values[0]
    assert np.abs(e - plain).max() > 1e-3 * np.abs(e).max()  # at the origin it does not press the modes
    N, K = len(e), np.zeros((len(e), len(e)))
    for j in range(N):
        h = 1e-5
        for k, weight in WEIGHTS.items():
            for sign in (1.0, -1.0):
                K[:, j] += sign * weight / h * residual(of, e + sign * k * h * np.eye(N)[j])
    assert np.abs(np.linalg.solve(K, residual(of, e))).max() < REST * np.abs(e).max()
    place = [list(of.independent).index(name) for name in of.elastic_names]
    expected = scipy.linalg.eigvals(K, inertia(of, e)[np.ix_(place, place)]).real
    modes = fp.natural_frequencies(of, at_rest(of), wrench=LOAD, point="tool")
    squared = np.sort((2.0 * np.pi * modes.frequency.values[0]) ** 2)
    assert np.abs(squared - np.sort(expected)).max() < SMALL * expected.max()


@pytest.mark.parametrize("name", ["stewart-3-3", "planar-3-rpr"])
def test_small_motions_of_a_rigid_robot_under_a_load_at_a_point(name: str) -> None:
    r"""On springs of the actuators: :math:`K_q = \partial\Gamma/\partial q + k`, forces of rest under the load that goes with its
    point, by differences of inverse dynamics along the actuators."""
    document = document_of(name)
    planar = "plane" in document
    document["platform"]["points"] = {"tool": [0.3, 0.2, 0.0 if planar else 0.4]}
    of = robot_of(document)
    load = np.array([300.0, -2000.0, 0.0, 0.0, 0.0, 50.0]) if planar else 100.0 * LOAD
    n, q, k = len(of.actuators), at_rest(of).position[0], 1e5
    options: dict[str, Any] = {"wrench": load, "point": "tool"}

    def held(at: np.ndarray) -> np.ndarray:
        state = fp.State.from_actuators(of, at)
        return fp.inverse_dynamics(of, state, friction=False, **options).force.values  # type: ignore[no-any-return]

    K, h = k * np.eye(n), 2e-3
    for j in range(n):
        for m, weight in WEIGHTS.items():
            K[:, j] += weight / h * (held(q + m * h * np.eye(n)[j]) - held(q - m * h * np.eye(n)[j]))
    home = fp.State.from_actuators(of, q)
    M = fp.mass_matrix(of, home, coordinates="actuator").values
    expected = np.sort(scipy.linalg.eigvals(K, M).real)
    modes = fp.natural_frequencies(of, home, actuators=np.full(n, k), **options)
    squared = np.sort((2.0 * np.pi * modes.frequency.values) ** 2)
    assert np.abs(squared - expected).max() < SMALL * expected.max()
    other = fp.natural_frequencies(of, home, actuators=np.full(n, k), wrench=load)
    at_origin = np.sort((2.0 * np.pi * other.frequency.values) ** 2)
    assert np.abs(at_origin - expected).max() > 1e2 * SMALL * expected.max()
