"""Every fast path of every verb gives what the general model gives, on a robot of every kind that it applies to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.analysis.model.small_motions import LinearMatrices
from flexapod.analysis.model.vibration import vibration
from flexapod.analysis.requests.abilities import reason
from flexapod.analysis.requests.fast_paths import FAST_PATHS, GENERAL, choose
from flexapod.analysis.requests.request import Request
from flexapod.analysis.verbs.cartesian_stiffness import _at_point, compliance
from flexapod.analysis.verbs.sampling import random_states
from support.kinds import KINDS, robot_of_kind

AGREES = 1e-9
"""Of the largest entry of a quantity: rounding of two derivations and of a solve is 1e-15 to 1e-12."""
TANGENT = 1e-7
"""Of the largest squared frequency: the prestress of rigid robots is differentiated numerically, good to 1e-10 of its forces."""
STIFF = 1e6
"""Stiffness of every actuator [N/m or N m/rad] under which small motions are compared."""
TERMS = ("mass_matrix", "gravity_force", "coriolis_force")
CASES = [(verb, kind) for verb in FAST_PATHS if verb != "closed_state" for kind in KINDS]


def requests(robot: fp.Robot, verb: str) -> list[Request]:
    """What a verb is asked: one motion that the robot can have, with and without what its paths distinguish."""
    states = random_states(robot, 3, seed=5)
    motion = fp.Motion(time=np.arange(3.0), **states)
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    driven = fp.ActuatorMotion(time=[0.0], position=home[None], velocity=0.0 * home[None], acceleration=0.1 + 0.0 * home[None])
    at: Any = driven if robot.elastic_legs else motion
    n, N = len(robot.actuators), len(robot.elastic_names)
    still = np.zeros(N) if N else None
    if verb == "state_from_actuators":  # of flexible platforms the fast path is the pose of the undeformed robot, as documented
        return [] if robot.elastic_names else [Request(at=home[None])]
    if verb in TERMS:
        known = [c for c in ("platform", "actuator") if reason(robot, verb, {"coordinates": c}) is None]
        return [Request(at=motion, coordinates=c) for c in known]
    if verb == "linear_model":
        pose = fp.State(position=states["position"], rotation=states["rotation"])
        return [Request(at=pose, prestress=False), Request(at=pose)]
    if verb == "static_deflection":
        pose = fp.State(position=states["position"], rotation=states["rotation"])
        return [Request(at=pose), Request(at=pose, wrench=np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]))]
    if verb == "inverse_kinematics":
        return [Request(at=at, bodies=True, elastic_acceleration=still)]
    if verb == "point_motion":
        return [Request(at=at, point_name="tool", elastic_acceleration=still)]
    if verb == "forward_dynamics":
        state = fp.State(**{k: v for k, v in states.items() if "acceleration" not in k})
        return [Request(at=state, force=np.linspace(1.0, 2.0, n), friction=f) for f in (False, True)]
    return [Request(at=at, friction=False), Request(at=at), Request(at=motion, friction=False)]


def compare(found: Any, expected: Any, robot: fp.Robot) -> None:
    if isinstance(found, LinearMatrices):
        own, theirs = (squared_frequencies(model, len(robot.actuators)) for model in (found, expected))
        assert np.abs(own - theirs).max() < TANGENT * np.abs(theirs).max()
        own, theirs = (yielding(robot, model) for model in (found, expected))
        assert np.array_equal(np.isnan(own), np.isnan(theirs))  # an under-actuated robot moves without any force
        assert np.nanmax(np.abs(own - theirs), initial=0.0) <= TANGENT * np.nanmax(np.abs(theirs), initial=0.0)
        return
    if isinstance(found, fp.State):
        assert np.abs(found.position - expected.position).max() < AGREES * robot.characteristic_length
        assert np.abs(found.rotation - expected.rotation).max() < AGREES
        return
    if isinstance(found, tuple):  # values and names of coordinates
        found, expected = ({"value": pair[0]} for pair in (found, expected))
    names = [name for name in found if name in expected]
    assert names
    for name in names:
        ours, theirs = np.asarray(found[name]), np.asarray(expected[name])
        if ours.dtype.kind not in "fc":
            continue
        assert np.array_equal(np.isnan(ours), np.isnan(theirs)), name
        size = max(np.nanmax(np.abs(theirs), initial=0.0), floor(name, expected))
        assert np.nanmax(np.abs(ours - theirs), initial=0.0) <= AGREES * size, name


def floor(name: str, expected: Any) -> float:
    """Size of what a quantity is made of, where it is zero itself: residuals and powers of forces, reactions of moments,
    platform accelerations that motors behind springs do not reach at once."""
    if not isinstance(expected, xr.Dataset):
        return 1e-6
    known = ("force", "reaction_force", "actuator_acceleration")
    return float(max([1e-6, *(np.nanmax(np.abs(expected[k])) for k in known if k in expected)]))


def yielding(robot: fp.Robot, model: LinearMatrices) -> np.ndarray:
    """Compliance (n, 6, 6) at the tool."""
    at_tool = replace(model, P=_at_point(robot, model, "tool"))
    return compliance(at_tool, "stiffness", np.full(len(robot.actuators), STIFF))


def squared_frequencies(model: LinearMatrices, actuators: int) -> np.ndarray:
    K = model.K + STIFF * model.B @ np.swapaxes(model.B, 1, 2)
    assert model.B.shape[2] == actuators
    return vibration(model.M, K, model.D, None).omega_squared


@pytest.mark.parametrize(("verb", "kind"), CASES)
def test_fast_paths_agree_with_the_general_model(verb: str, kind: str) -> None:
    robot = robot_of_kind(kind)
    compared = 0
    for request in requests(robot, verb):
        options = {k: v for k, v in request.options.items() if k in ("friction", "coordinates", "prestress")}
        public = {"linear_model": "natural_frequencies", "state_from_actuators": "platform_motion"}.get(verb, verb)
        kind_of = "actuators" if isinstance(request.at, fp.ActuatorMotion) else "platform"
        if reason(robot, public, {**options, "motion": kind_of, "actuators": np.full(len(robot.actuators), STIFF)}) is not None:
            continue
        more = {"linear_model": 1, "state_from_actuators": 2}.get(verb)
        path = choose(robot, verb, request)
        if path.name in (GENERAL, "springs carried along"):  # springs that are carried along are compared with simulations
            continue

        def ask(which: Any, request: Request = request, more: int | None = more) -> Any:
            rest = {1: lambda: (np.full(len(request.at), "", dtype=object),), 2: lambda: (None, None)}
            return which(robot, request, *(rest[more]() if more else (verb,) if verb in TERMS else ()))

        compare(ask(path), ask(FAST_PATHS[verb][-1]), robot)
        compared += 1
    if not compared:
        pytest.skip("only the general model applies, or the table refuses it")
