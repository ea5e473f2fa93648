"""Verbs over many designs give what `with_parameters` gives design by design; what cannot be has its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.analysis.requests.design_request import impossible_inertias
from flexapod.analysis.requests.results import SampleError
from flexapod.analysis.requests.sample_arrays import without_jumps
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.motion import with_start
from support.kinds import document_of, robot_of, robot_of_kind

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


def test_results_are_what_xarray_makes() -> None:
    """Variables, labels and indexes of a result; labels that are changed in one are as before in the next."""
    robot = fp.load("stewart-3-3")
    for at in (motion(robot, 3), state(robot, 2), state(robot)):
        found = fp.inverse_kinematics(robot, at)
        assert found.identical(xr.Dataset(dict(found.data_vars), coords=dict(found.coords), attrs=found.attrs))
        assert set(found.xindexes) == {name for name in found.coords if name in found.dims}
        found["actuator"].attrs["note"] = "mine"
        assert not fp.inverse_kinematics(robot, at)["actuator"].attrs
    assert float(fp.inverse_kinematics(robot, motion(robot, 3)).actuator_position.sel(time=2.0, actuator="A")) == float(
        fp.inverse_kinematics(robot, motion(robot, 3)).actuator_position[2, 0]
    )


ROUNDED = 1e-12
"""Of the largest entry: the same robot at the same sample, alone or among others."""


def part(
    at: fp.State | fp.Motion | fp.ActuatorMotion | np.ndarray, k: int
) -> fp.State | fp.Motion | fp.ActuatorMotion | np.ndarray:
    """One sample, as a batch."""
    if isinstance(at, np.ndarray):
        return at[[k]]
    names = [f.name for f in fields(at) if f.init and getattr(at, f.name) is not None]
    return type(at)(**{name: getattr(at, name)[[k]] for name in names})


def agrees(verb: Any, robot: fp.Robot, at: Any, given: dict[str, Any], *more: Any, **options: Any) -> Any:
    """A verb with values per sample, compared with each sample's robot by itself."""
    found = verb(robot, at, *more, parameters=given, **options)
    for k in range(len(at)):
        one = robot.with_parameters({path: np.asarray(values)[k].tolist() for path, values in given.items()})
        own = verb(one, part(at, k), *more, **options)
        for name in own.data_vars:
            a, b = found[name].values[k], own[name].values[0]
            if b.dtype.kind == "f":
                size = np.nanmax(np.abs(found[name].values), initial=0.0)
                assert np.allclose(a, b, rtol=0.0, atol=ROUNDED * max(size, 1.0), equal_nan=True), name
            else:
                assert np.array_equal(a, b), name
    return found


def drive(robot: fp.Robot, n: int, step: float = 0.01) -> fp.ActuatorMotion:
    """Actuators that move a little from home."""
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    q, rate = home + step * np.arange(float(n))[:, None], np.full((n, len(home)), 10.0 * step)
    return fp.ActuatorMotion(time=0.1 * np.arange(float(n)), position=q, velocity=rate, acceleration=0.0 * q)


def test_values_per_sample_of_each_way_to_evaluate() -> None:
    """Reactions with lengths that vary, verbs that take a robot for each design, poses one after the other."""
    robot = fp.load("stewart-3-3")
    hip = np.asarray(robot.parameter("legs.A.hip.at")) + 0.01 * np.array([0.0, 1.0, 0.0, 2.0])[:, None] * [1.0, 1.0, 0.0]
    given = {"platform.mass": [50.0, 60.0, 50.0, 60.0], "legs.A.hip.at": hip}
    at = motion(robot, 4)
    assert agrees(fp.inverse_dynamics, robot, at, given, reactions=True).force.dims == ("time", "actuator")
    assert agrees(fp.point_motion, robot, at, given, "tool").position.dims == ("time", "axis")
    assert agrees(fp.conditioning, robot, still(state(robot, 4)), given).type_1.dims == ("sample", "leg")
    assert agrees(fp.inverse_dynamics, robot, drive(robot, 4), given).force.dims == ("time", "actuator")
    poses = agrees(fp.forward_kinematics, robot, drive(robot, 4), given)
    assert np.array_equal(poses.time, drive(robot, 4).time)
    load = np.arange(24.0).reshape(4, 6)
    both = fp.conditioning(robot, still(state(robot, 4)), parameters={"legs.A.hip.at": np.stack([hip, hip[::-1]])})
    assert both.condition_number.dims == ("design", "sample")
    alone = fp.conditioning(robot, still(state(robot, 4)), parameters={"legs.A.hip.at": hip[::-1]})
    assert np.array_equal(both.condition_number[1], alone.condition_number)
    loaded = fp.inverse_dynamics(robot, at, reactions=True, wrench=load, parameters=given)
    one = robot.with_parameters({path: np.asarray(values)[2].tolist() for path, values in given.items()})
    assert close(loaded.force[2], fp.inverse_dynamics(one, at, reactions=True, wrench=load).force[2])


@pytest.mark.full
@pytest.mark.parametrize("name", ["gough-stewart-flexible", "dualemps"])
def test_values_per_sample_of_robots_that_deform(name: str) -> None:
    robot = fp.load(name)
    path = next(p for p in robot.parameters if p.endswith((".mass", ".inertial.M")) and robot.parameter(p))
    given = {path: robot.parameter(path) * np.array([1.0, 1.2, 1.0, 0.9])}
    rest, driven = still(state(robot, 4)), drive(robot, 4, 1e-3)
    moved, held = (motion(robot, 4), rest) if robot.flexible_platform is not None else (driven, driven)
    agrees(fp.forward_kinematics, robot, driven, given)
    agrees(fp.inverse_kinematics, robot, moved, given)
    agrees(fp.inverse_dynamics, robot, moved, given)
    agrees(fp.static_deflection, robot, held, given)
    masked = fp.inverse_dynamics(robot, moved, parameters={path: given[path] * [1, -1, 1, np.nan]}, on_error="mask")
    assert masked.valid.values.tolist() == [True, False, True, False]
    assert masked.reason.values[1] == f"{path}: must not be below 0, is {-given[path][1]:g}"
    assert np.isnan(masked.force.values[[1, 3]]).all()


def test_poses_go_on_from_the_sample_before() -> None:
    """On the other assembly mode, where the guess leads: every sample's robot starts from the pose before, not from home."""
    robot = fp.load("five-bar")
    at, given = drive(robot, 5), {"legs.elbow.at.x": 0.25 + 1e-3 * np.array([0.0, 0.0, 1.0, 2.0, 2.0])}
    modes = fp.assembly_modes(robot, at.position[0])
    below = fp.State(position=modes.position.values[1], rotation=modes.rotation.values[1])
    found = fp.forward_kinematics(robot, at, below, parameters=given)
    for k, length in enumerate(given["legs.elbow.at.x"]):
        own = fp.forward_kinematics(robot.with_parameters({"legs.elbow.at.x": length}), part(at, k), below)
        assert np.allclose(found.position[k], own.position[0], rtol=0.0, atol=ROUNDED)
    assert np.abs(np.diff(found.position.values, axis=0)).max() < 0.1 < np.abs(found.position - robot.home.position).max()
    row = fp.forward_kinematics(robot, at.position, below, continuation=True, parameters=given)
    assert np.allclose(row.position, found.position, rtol=0.0, atol=ROUNDED)
    started = fp.platform_motion(robot, with_start(part(at, 0), below))
    assert np.allclose(started.position, found.position[0], rtol=0.0, atol=ROUNDED)


def test_angles_go_on_from_sample_to_sample() -> None:
    """A crank that goes around; a sample without a result is left out."""
    angle = np.array([[3.0], [3.1], [-3.1], [-3.0]])
    for hole in (None, 1):
        values = np.column_stack([angle, angle])
        values[[] if hole is None else hole] = np.nan
        without_jumps(values, np.array([True, False]))
        kept = [k for k in range(4) if k != hole]
        assert np.abs(np.diff(values[kept, 0])).max() < 1.0
        assert np.array_equal(values[kept, 1], angle[kept, 0])


def test_what_one_robot_does_along_a_motion_has_no_values_per_sample() -> None:
    flexible = robot_of_kind("joint springs")
    given = {"gravity.z": [-9.81, -9.0]}
    with pytest.raises(fp.InputError, match=r"elastic='simulate': integrates the deformation of one robot along"):
        fp.inverse_dynamics(flexible, drive(flexible, 2), elastic="simulate", parameters=given)
    with pytest.raises(fp.InputError, match=r"sequence: follows the equilibria of one robot"):
        fp.static_deflection(flexible, drive(flexible, 2), sequence=True, parameters=given)
    soft = robot_of_kind("elastic drives")
    with pytest.raises(fp.InputError, match=r"parameters: the deflection rates of the springs of .* follow from the motion"):
        fp.inverse_dynamics(soft, motion(soft, 2), parameters=given)


@pytest.mark.full
def test_all_poses_of_values_per_sample() -> None:
    """Robots with other numbers of poses: there is room for the most."""
    robot = fp.load("stewart-3-3")
    hip = np.asarray(robot.parameter("legs.A.hip.at")) + np.array([[0.0, 0.0, 0.0], [0.02, 0.01, 0.0]])
    found = fp.forward_kinematics(robot, np.zeros((2, 6)), method="all", parameters={"legs.A.hip.at": hip})
    for k in range(2):
        own = fp.forward_kinematics(robot.with_parameters({"legs.A.hip.at": hip[k].tolist()}), np.zeros(6), method="all")
        count = int(own["count"])
        assert int(found["count"][k]) == count
        assert np.allclose(found.position.values[k, :count], own.position.values, rtol=0.0, atol=ROUNDED)
        assert np.isnan(found.position.values[k, count:]).all()
    assert len(set(found["count"].values.tolist())) == 2


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


def test_shared_numbers_are_designs() -> None:
    """As `with_parameters` for each, with what the file does not allow of the numbers that follow from them."""
    document = document_of("stewart-3-3")
    document["parameters"] = {"load": 20, "reach": 2.5}
    document["platform"]["mass"] = "$load + 30"
    document["legs"]["each"]["A"]["hip"]["at"] = ["$reach", 0, 0]
    robot = robot_of(document)
    given = {"parameters.load": [20.0, 60.0, -40.0, 10.0], "parameters.reach": [2.5, 2.4, 2.5, 2.6]}
    found = fp.inverse_dynamics(robot, state(robot), parameters=given, on_error="mask")
    assert found.valid.values.tolist() == [True, True, False, True]
    assert "platform.mass: must not be below 0, is -10" in found.reason.values[2]
    for i in (0, 1, 3):
        own = fp.inverse_dynamics(robot.with_parameters({path: v[i] for path, v in given.items()}), state(robot))
        assert close(found.force[i], own.force)


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
    with pytest.raises(fp.FlexapodError, match=r"wrench: expected one row per sample, got shape \(2, 6\)"):
        fp.natural_frequencies(
            robot, still(state(robot, 3)), actuators=np.full(6, 1e7), wrench=np.ones((2, 6)),
            parameters={"platform.mass": [40.0, 50.0, 40.0]},
        )  # fmt: skip


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
