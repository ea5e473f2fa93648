"""Verbs over many designs give what `with_parameters` gives design by design; what cannot be has its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.analysis.requests.design_request import impossible_inertias
from flexapod.analysis.requests.results import SampleError
from flexapod.analysis.verbs.sampling import random_states

ROUNDING = 1e-10
"""Of the largest entry: the same equations with numbers that differ by rounding, or another formulation of them."""


def usual(names: Iterable[str], kept: Sequence[str]) -> list[Any]:
    """Parameters of a test, of which the usual run takes some: every other one compiles kernels of its own."""
    return [pytest.param(name, marks=() if name in kept else pytest.mark.full) for name in names]


def close(found: xr.DataArray, expected: xr.DataArray) -> bool:
    size = np.nanmax(np.abs(expected.values))
    return bool(np.allclose(found.values, expected.values, rtol=0.0, atol=ROUNDING * size, equal_nan=True))


def samples(robot: fp.Robot, n: int) -> dict[str, np.ndarray]:
    return random_states(robot, n, seed=3)


def state(robot: fp.Robot, n: int | None = None) -> fp.State:
    arrays = {k: v for k, v in samples(robot, n or 1).items() if "acceleration" not in k}
    return fp.State(**arrays) if n else fp.State(**{k: v[0] for k, v in arrays.items()})


def still(at: fp.State | fp.Motion) -> fp.State | fp.Motion:
    """A state at rest, for verbs of equilibria."""
    return fp.State(position=at.position, rotation=at.rotation) if isinstance(at, fp.State) else at


def motion(robot: fp.Robot, n: int) -> fp.Motion:
    return fp.Motion(time=np.arange(float(n)), **samples(robot, n))


RIGID = {
    "inverse_kinematics": lambda r, at, **k: fp.inverse_kinematics(r, at, joints=False, **k).actuator_position,
    "inverse_dynamics": lambda r, at, **k: fp.inverse_dynamics(r, at, **k).force,
    "forward_dynamics": lambda r, at, **k: (
        fp.forward_dynamics(r, at, np.linspace(10.0, 60.0, len(r.actuators)), **k).acceleration
    ),
    "mass_matrix": lambda r, at, **k: fp.mass_matrix(r, at, coordinates="independent", **k),
    "gravity_force": lambda r, at, **k: fp.gravity_force(r, at, coordinates="actuator", **k),
    "coriolis_force": lambda r, at, **k: fp.coriolis_force(r, at, coordinates="actuator", **k),
    "jacobian": lambda r, at, **k: fp.jacobian(r, at, **k).jacobian,
    "energy": lambda r, at, **k: fp.energy(r, at, **k).potential,
}
EACH = {
    "conditioning": lambda r, at, **k: fp.conditioning(r, at, **k).condition_number,
    "natural_frequencies": lambda r, at, **k: (
        fp.natural_frequencies(r, still(at), actuators=np.full(6, 1e7), prestress=False, **k).frequency
    ),
    "cartesian_stiffness": lambda r, at, **k: (
        fp.cartesian_stiffness(r, still(at), actuators=np.full(6, 1e7), prestress=False, **k).stiffness
    ),
    "point_motion": lambda r, at, **k: fp.point_motion(r, at, "tool", **k).position,
}


def changed(robot: fp.Robot, path: str, count: int, part: float = 0.04) -> np.ndarray:
    own = np.asarray(robot.parameter(path), dtype=float)
    rng = np.random.default_rng(7)
    size = max(float(np.abs(own).max()), 0.1)
    return own + part * size * rng.uniform(-1.0, 1.0, (count, *own.shape))


@pytest.mark.parametrize("verb", usual(RIGID, ["inverse_dynamics", "inverse_kinematics", "energy"]))
@pytest.mark.parametrize("what", ["mass", "geometry"])
def test_designs_at_a_state(verb: str, what: str) -> None:
    robot = fp.load("stewart-3-3")
    parameters = {"platform.mass": changed(robot, "platform.mass", 3)}
    if what == "geometry":
        parameters |= {p: changed(robot, p, 3) for p in ("legs.A.hip.at.x", "legs.A.hip.at.y", "legs.C.ball.on.x")}
    found = RIGID[verb](robot, state(robot), parameters=parameters)
    assert found.dims[0] == "design"
    for i in range(3):
        one = robot.with_parameters({p: v[i].tolist() for p, v in parameters.items()})
        assert close(found[i], RIGID[verb](one, state(robot)))


@pytest.mark.parametrize("verb", usual(EACH, ["conditioning"]))
def test_designs_one_by_one(verb: str) -> None:
    robot = fp.load("stewart-3-3")
    at = changed(robot, "legs.A.hip.at", 2)
    found = EACH[verb](robot, state(robot), parameters={"legs.A.hip.at": at})
    for i in range(2):
        assert close(found[i], EACH[verb](robot.with_parameters({"legs.A.hip.at": at[i].tolist()}), state(robot)))


@pytest.mark.full
def test_forward_kinematics_of_designs() -> None:
    robot = fp.load("stewart-3-3")
    at = changed(robot, "legs.A.hip.at", 2)
    q = np.zeros((3, 6)) + 0.01 * np.arange(3)[:, None]
    found = fp.forward_kinematics(robot, q, parameters={"legs.A.hip.at": at[:, None]})
    assert found.position.dims == ("design", "sample", "axis")
    for i in range(2):
        own = fp.forward_kinematics(robot.with_parameters({"legs.A.hip.at": at[i].tolist()}), q)
        assert close(found.position[i], own.position)


@pytest.mark.parametrize("name", usual(["stewart-3-3", "hexaslide", "five-bar", "delta"], ["stewart-3-3"]))
def test_designs_along_a_motion(name: str) -> None:
    """Friction by loads, revolute actuators whose angles go on, legs closed by Newton's method."""
    robot, path = fp.load(name), "platform.mass"
    path = path if path in robot.parameters else next(p for p in robot.parameters if p.endswith(".mass"))
    geometry = next(
        p for p in robot.parameters if p.startswith("legs.") and p.endswith((".at", ".on", ".d")) and robot.parameter(p)
    )
    at, mass = motion(robot, 4), changed(robot, path, 2, 0.1)
    moved = changed(robot, geometry, 2, 1e-3)
    for parameters in ({path: mass[:, None]}, {path: mass[:, None], geometry: moved[:, None]}):
        try:
            robots = [robot.with_parameters({p: v[i, 0].tolist() for p, v in parameters.items()}) for i in range(2)]
        except fp.FlexapodError:
            continue
        expected = []
        for one in robots:
            try:
                expected.append(fp.inverse_dynamics(one, at))
            except SampleError:
                expected = []
                break
        if not expected:
            continue
        found = fp.inverse_dynamics(robot, at, parameters=parameters)
        assert found.force.dims == ("design", "time", "actuator")
        for i, own in enumerate(expected):
            assert close(found.force[i], own.force)
            assert close(found.power[i], own.power)
    legs = fp.inverse_kinematics(robot, at, parameters={path: mass[:, None]})
    assert close(legs.joint_position[1], fp.inverse_kinematics(robot, at).joint_position)


def test_values_per_sample() -> None:
    robot = fp.load("stewart-3-3")
    at, mass = motion(robot, 5), changed(robot, "platform.mass", 5)
    found = fp.inverse_dynamics(robot, at, parameters={"platform.mass": mass})
    assert found.force.dims == ("time", "actuator")
    both = fp.inverse_dynamics(robot, at, parameters={"platform.mass": np.stack([mass, mass[::-1]])})
    assert both.force.dims == ("design", "time", "actuator")
    for i in range(5):
        own = fp.inverse_dynamics(robot.with_parameters({"platform.mass": mass[i]}), at)
        assert close(found.force[i], own.force[i])
        assert close(both.force[0, i], own.force[i])
        assert close(both.force[1, 4 - i], own.force[4 - i])


@pytest.mark.full
def test_options_with_designs() -> None:
    """A load at a point that moves with the design, reactions, one formulation: each as for one design."""
    robot = fp.load("stewart-3-3")
    at, tool = motion(robot, 3), changed(robot, "platform.points.tool", 2) + 0.1
    load = np.arange(18.0).reshape(3, 6)
    given = {"platform.points.tool": tool[:, None]}
    for options in ({"wrench": load, "point": "tool"}, {"reactions": True, "wrench": load[0], "point": "tool"}):
        found = fp.inverse_dynamics(robot, at, parameters=given, **options)
        for i in range(2):
            own = fp.inverse_dynamics(robot.with_parameters({"platform.points.tool": tool[i].tolist()}), at, **options)
            assert all(close(found[name][i], own[name]) for name in own.data_vars)
    for formulation in ("links", "virtual_power", "newton_euler"):
        found = fp.inverse_dynamics(robot, at, parameters={"platform.mass": np.array([[40.0], [60.0]])}, formulation=formulation)
        own = fp.inverse_dynamics(robot.with_parameters({"platform.mass": 60.0}), at, formulation=formulation)
        assert close(found.force[1], own.force)


def test_a_lost_zero_takes_the_general_kernel() -> None:
    """Joint heights are structural zeros of the file: one design that leaves them is right, and so are the others."""
    robot = fp.load("stewart-3-3")
    z = np.array([0.0, 0.0, 0.02])
    found = fp.inverse_dynamics(robot, state(robot), parameters={"legs.A.hip.at.z": z})
    for i in range(3):
        own = fp.inverse_dynamics(robot.with_parameters({"legs.A.hip.at.z": float(z[i])}), state(robot))
        assert close(found.force[i], own.force)


def test_poor_choices_of_the_minimal_equations() -> None:
    """A base joint on the line of the two others of the triangle makes the solve singular: other equations take over."""
    robot = fp.load("stewart-3-3")
    far = np.array(robot.parameter("legs.A.hip.at"))
    both = {"legs.A.hip.at": np.stack([far, far * [-0.5, 1.0, 1.0], far * 1.1])}
    found = fp.inverse_dynamics(robot, state(robot), parameters=both)
    for i in range(3):
        own = fp.inverse_dynamics(
            robot.with_parameters({"legs.A.hip.at": both["legs.A.hip.at"][i].tolist()}), state(robot), formulation="virtual_power"
        )
        assert close(found.force[i], own.force)


def test_designs_that_cannot_be_have_their_reason() -> None:
    robot = fp.load("stewart-3-3")
    parameters = {"platform.mass": [50.0, -1.0, np.nan, 40.0], "legs.C.ball.on.x": [-2.5, -2.5, -2.5, 100.0]}
    found = fp.inverse_dynamics(robot, state(robot), parameters=parameters, on_error="mask")
    assert found.valid.values.tolist() == [True, False, False, True]
    assert found.reason.values[1] == "platform.mass: must not be below 0, is -1"
    assert found.reason.values[2] == "platform.mass: must be a finite number"
    assert np.isnan(found.force.values[1:3]).all()
    assert np.isfinite(found.force.values[[0, 3]]).all()
    expected = (
        r"inverse dynamics of stewart-3-3, design 1: platform.mass: must not be below 0, is -1\. 2 of 4 fail; on_error='mask'"
    )
    with pytest.raises(SampleError, match=expected):
        fp.inverse_dynamics(robot, state(robot), parameters=parameters)


def test_impossible_inertias_are_found_as_one_by_one() -> None:
    """The minors decide as the eigenvalues of the file's check do, away from its tolerance."""
    robot = fp.load("stewart-3-3")
    rng = np.random.default_rng(5)
    given = {
        "legs.cylinder.com.z": rng.uniform(0.1, 1.6, 40), "legs.cylinder.mass": rng.uniform(5.0, 20.0, 40),
        "legs.cylinder.inertia.xx": rng.uniform(8.0, 16.0, 40),
    }  # fmt: skip
    found = fp.inverse_dynamics(robot, state(robot), parameters=given, on_error="mask")
    for i in range(40):
        try:
            robot.with_parameters({p: v[i] for p, v in given.items()})
            possible = True
        except fp.RobotFileError:
            possible = False
        assert bool(found.valid[i]) == possible
    assert 5 < int(found.valid.sum()) < 35
    assert impossible_inertias(robot, {"platform.mass": np.ones(3)}) is None


@pytest.mark.full
def test_unreachable_designs_name_the_leg() -> None:
    robot = fp.load("hexaslide")
    path = next(p for p in robot.parameters if p.endswith(".on"))
    own = np.asarray(robot.parameter(path))
    found = fp.inverse_dynamics(robot, state(robot, 2), parameters={path: np.stack([own, own + 50.0])[:, None]}, on_error="mask")
    assert found.valid.values[0].all()
    assert not found.valid.values[1].any()
    assert "leg" in str(found.reason.values[1, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, r"parameters: is empty; give paths of the robot file"),
        ({"platform.mass": 40.0}, r"parameters: no value varies; use robot.with_parameters for one design"),
        ({"platform.mas": [1.0, 2.0]}, r"platform.mas"),
        ({"platform.mass": ["a", "b"]}, r"parameters: platform.mass: expected numbers"),
        ({"platform.mass": np.ones((2, 3))}, r"expected shape \(designs\) for one state, got \(2, 3\)"),
        ({"legs.A.hip.at": np.ones((2, 4))}, r"legs.A.hip.at: expected shape \(designs, 3\) for one state, got \(2, 4\)"),
        ({"platform.mass": [40.0, 50.0], "legs.A.hip.at": np.ones((3, 3))}, r"different numbers of designs"),
    ],
)
def test_requests_that_are_refused(parameters: dict, message: str) -> None:
    robot = fp.load("stewart-3-3")
    with pytest.raises(fp.FlexapodError, match=message):
        fp.inverse_dynamics(robot, state(robot), parameters=parameters)


def test_shapes_for_a_batch() -> None:
    robot = fp.load("stewart-3-3")
    with pytest.raises(
        fp.FlexapodError, match=r"expected shape \(4\), a value for every sample, or \(designs, 1\) or \(designs, 4\)"
    ):
        fp.inverse_dynamics(robot, motion(robot, 4), parameters={"platform.mass": [40.0, 50.0]})
    with pytest.raises(fp.FlexapodError, match="takes designs, of shape"):
        fp.natural_frequencies(
            robot, still(state(robot, 2)), actuators=np.full(6, 1e7), parameters={"platform.mass": [40.0, 50.0]}
        )


@pytest.mark.full
def test_designs_of_a_flexible_robot() -> None:
    robot = fp.load("dualemps")
    path = next(p for p in robot.parameters if p.endswith(".inertial.M"))
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    at = fp.ActuatorMotion(
        time=[0.0, 0.1], position=np.tile(q, (2, 1)), velocity=np.zeros((2, len(q))), acceleration=np.zeros((2, len(q)))
    )
    mass = changed(robot, path, 2)
    found = fp.inverse_dynamics(robot, at, parameters={path: mass[:, None]})
    for i in range(2):
        assert close(found.force[i], fp.inverse_dynamics(robot.with_parameters({path: mass[i]}), at).force)
