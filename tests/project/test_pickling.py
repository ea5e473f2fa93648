"""Robots, kernels, states, controllers and errors travel between processes, and give the same numbers there."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.requests.results import SampleError
from support.kinds import robot_of_kind
from support.patience import PATIENCE


def forces(robot: fp.Robot, state: fp.State) -> np.ndarray:
    """What a worker computes."""
    return np.asarray(fp.gravity_force(robot, state, coordinates="independent").values)


def poses(kernel: object, position: np.ndarray) -> np.ndarray:
    """A worker with a compiled kernel."""
    found = kernel.batch({"position": position[None], "rotation": np.eye(3)[None], "guess": kernel.robot.legs[0].home[None]})  # type: ignore[attr-defined]
    return np.asarray(found.outputs["jacobian"])


def failing(robot: fp.Robot) -> None:
    """A worker whose request fails."""
    fp.jacobian(robot, fp.State(position=[9.0, 9.0, 0.0]))


def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


@pytest.mark.parametrize("name", [*fp.catalogue()])
def test_robots_arrive_as_they_are(name: str) -> None:
    robot = fp.load(name)
    _ = robot.values, robot.parameters, robot.bodies_by_name  # what was found before does not travel
    found = pickle.loads(pickle.dumps(robot))
    assert found.structure == robot.structure
    assert dict(found.values) == dict(robot.values)
    assert found.zeros == robot.zeros
    assert pickle.loads(pickle.dumps(found)).name == name


def test_variants_keep_their_home_and_body() -> None:
    robot = fp.load("five-bar").with_parameters({"legs.left.distal.mass": 0.4})
    found = pickle.loads(pickle.dumps(robot))
    assert found.parameter("legs.left.distal.mass") == 0.4
    assert dict(found.with_parameters({"gravity.y": -1.0}).values) == dict(robot.with_parameters({"gravity.y": -1.0}).values)


def test_a_spawned_worker_gives_the_same_forces() -> None:
    robot = robot_of_kind("rigid, mobility below 6")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(forces, robot, home(robot)).result(timeout=PATIENCE)
        np.testing.assert_array_equal(found, forces(robot, home(robot)))
        with pytest.raises(SampleError, match="the Jacobian of five-bar") as caught:
            pool.submit(failing, robot).result(timeout=PATIENCE)
    assert caught.value.sample == 0
    assert caught.value.reason


def test_kernels_travel_as_requests() -> None:
    robot = robot_of_kind("rigid, mobility below 6")
    kernel = fp.kernel(robot, "jacobian", joints=False)
    kernel.parameters = kernel.parameters.copy()
    kernel.parameters[0] *= 1.0
    found = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(found.parameters, kernel.parameters)
    assert found.signature == kernel.signature
    assert (found.quantity, found.options) == ("jacobian", {"joints": False})


def test_controllers_travel_with_their_model() -> None:
    robot = robot_of_kind("rigid, mobility below 6")
    for controller in (
        fp.PD(kp=1.0, kd=2.0), fp.PID(kp=1.0, ki=3.0, kd=2.0, rate=100.0), fp.FeedForwardPD(kp=1.0, kd=2.0, model=robot),
        fp.ComputedTorque(kp=1.0, kd=2.0, model=robot), fp.Springs(stiffness=10.0),
    ):  # fmt: skip
        found = pickle.loads(pickle.dumps(controller))
        assert type(found) is type(controller)
        model = getattr(found, "model", None)
        assert model is None or dict(model.values) == dict(robot.values)


def test_dask_gives_the_same_forces() -> None:
    distributed = pytest.importorskip("distributed")
    from distributed.protocol import deserialize, serialize

    robot = robot_of_kind("rigid, mobility below 6")
    found = deserialize(*serialize(robot))
    assert distributed is not None
    np.testing.assert_array_equal(forces(found, home(found)), forces(robot, home(robot)))


def test_every_error_class_travels() -> None:
    """A worker that raises must not hang the pool: constructors with more arguments than the text."""
    from flexapod.analysis.verbs.internal_dynamics import UnstableInternalDynamicsError

    error = pickle.loads(pickle.dumps(UnstableInternalDynamicsError("it grows", growth=2.0)))
    assert (str(error), error.growth) == ("it grows", 2.0)
    error = pickle.loads(pickle.dumps(SampleError("bad", 3, "why", np.array([3]))))
    assert (error.sample, error.reason) == (3, "why")
