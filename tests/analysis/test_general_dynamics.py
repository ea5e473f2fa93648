"""The general model in numbers: against Newton-Euler on rigid robots, and against itself on flexible ones."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from leg_robots import home_actuators, moment, robot

import flexapod as fp
from flexapod.analysis.model.anderson import fixed_points
from flexapod.analysis.verbs.sampling import random_states
from flexapod.description import description_from_document
from flexapod.robot.robot import build_robot
from flexapod.views.chosen_motion import small_motion

AGREEMENT = 1e-10
"""Two derivations of one number, of the largest; found 1e-14."""
BACK = 1e-10
"""Accelerations [m/s^2] of size 10 and, of the largest, reactions, given back by forward dynamics; found 2e-14."""
BACK_ELASTIC = 1e-8
"""The same of a robot with stiff beams in its legs."""
FIXED = 1e-11
"""Relative: the search ends at a change of 1e-13."""

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
LOAD = np.array([10.0, -20.0, 30.0, 1.0, 2.0, -3.0])


def motion(of: fp.Robot, count: int = 5) -> fp.Motion:
    states = random_states(of, count, seed=5)
    return fp.Motion(time=np.arange(float(count)), **{name: states[name] for name in NAMES})


def share(found: object, expected: object) -> float:
    ours, theirs = np.asarray(found), np.asarray(expected)
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    return float(np.nanmax(np.abs(ours - theirs)) / max(1e-300, np.nanmax(np.abs(theirs))))


@pytest.mark.parametrize("name", ["hexaslide", "five-bar", "planar-4-prr"])
def test_rigid_robots_as_newton_euler(name: str) -> None:
    """Forces, reactions, what is left undetermined, friction by loads, contributions; redundant drives by least norm."""
    r = fp.load(name)
    m = motion(r)
    wrench = None if r.planar else LOAD
    expected = fp.inverse_dynamics(r, m, reactions=True, wrench=wrench, contributions="frozen")
    redundant = len(r.actuators) > r.mobility.rank
    parts = None if redundant else "frozen"
    found = fp.inverse_dynamics(r, m, wrench=wrench, reactions=True, contributions=parts, formulation="general")
    size = float(np.nanmax(np.abs(expected.reaction_force)))
    assert share(found.force, expected.force) < AGREEMENT
    assert share(found.reaction_force, expected.reaction_force) < AGREEMENT
    assert np.nanmax(np.abs(found.reaction_moment.values - expected.reaction_moment.values)) < AGREEMENT * size
    assert list(found.joint.values) == list(expected.joint.values)
    if expected.attrs["friction"]:
        assert share(found.friction_force, expected.friction_force) < AGREEMENT
    if not redundant:
        assert share(found.force_contribution.isel(contribution=slice(9)), expected.force_contribution) < AGREEMENT
    back = fp.forward_dynamics(r, m, found.force.values, wrench=wrench, reactions=True, formulation="general")
    assert np.allclose(back.acceleration, m.acceleration, rtol=0, atol=BACK)
    assert share(back.reaction_force, found.reaction_force) < BACK


def test_friction_of_one_source_alone() -> None:
    r = fp.load("hexaslide")
    m = motion(r, 3)
    expected = fp.inverse_dynamics(r, m, contributions="alone")
    found = fp.inverse_dynamics(r, m, contributions="alone", formulation="general")
    assert share(found.force_contribution.isel(contribution=slice(9)), expected.force_contribution) < AGREEMENT


def test_flexible_platform() -> None:
    """Reactions at the platform are the fast kernel's joint forces; contributions add up; forward after inverse."""
    r = fp.load("gough-stewart-flexible")
    m = motion(r)
    fast = fp.inverse_dynamics(r, m)
    found = fp.inverse_dynamics(r, m, reactions=True, contributions="frozen")
    assert share(found.force, fast.force) < AGREEMENT
    balls = found.reaction_force.sel(joint=[f"{leg.name}.{leg.closing.joint}" for leg in r.legs])
    assert share(balls, fast.joint_force) < AGREEMENT
    assert share(found.force_contribution.sum("contribution"), found.force) < AGREEMENT
    back = fp.forward_dynamics(
        r, m, found.force.values, elastic=found.elastic.values, elastic_velocity=found.elastic_velocity.values, reactions=True
    )
    assert share(back.acceleration, m.acceleration) < AGREEMENT
    assert share(back.reaction_force, found.reaction_force) < AGREEMENT
    light = fp.inverse_dynamics(r, m, legs="massless", contributions="frozen", elastic=found.elastic.values)
    assert np.all(light.force_contribution.sel(contribution="leg_inertia") == 0.0)
    kept = found.force_contribution.sel(contribution="platform_inertia")
    assert share(light.force_contribution.sel(contribution="platform_inertia"), kept) < 1.0


def test_flexible_legs_with_friction_by_loads() -> None:
    """Bearings that carry more take more force; friction along rotations, at ball joints; forward after inverse."""
    document = copy.deepcopy(robot("gough-stewart-beams").description.document)
    document["legs"]["template"]["joints"]["ball"]["friction"] = {"viscous": 0.5, "reaction": 0.002, "speed": 1e-2}
    r = build_robot(description_from_document(document))
    q = home_actuators(r)
    m = moment(q, np.linspace(0.1, 0.3, 6), np.linspace(-1, 1, 6))
    smooth = fp.inverse_dynamics(r, m, friction=False, reactions=True)
    given = {"elastic": smooth.elastic.values, "elastic_velocity": smooth.elastic_velocity.values}
    found = fp.inverse_dynamics(r, m, reactions=True, contributions="frozen", **given)
    assert share(found.force_contribution.sum("contribution"), found.force) < AGREEMENT
    balls = [f"{leg.name}.ball" for leg in r.legs]
    load = np.linalg.norm(found.reaction_force.sel(joint=balls).values[0], axis=1)
    moments = np.linalg.norm(found.friction_moment.sel(joint=balls).values[0], axis=1)
    assert np.all(moments > 0.5 * 0.002 * load)
    assert np.all(found.force_contribution.sel(contribution="friction_spherical") != 0.0)
    state = fp.State.from_actuators(r, q, velocity=np.linspace(0.1, 0.3, 6), elastic=smooth.elastic.values[0])
    back = fp.forward_dynamics(r, state, found.force.values[0], reactions=True)
    assert np.allclose(back.actuator_acceleration, np.linspace(-1, 1, 6), rtol=0, atol=BACK_ELASTIC)
    assert share(back.reaction_force, found.reaction_force[0]) < BACK_ELASTIC


def test_fixed_points_of_many_samples() -> None:
    """A linear map with a spectral radius above one is solved too; a sample without a fixed point says so."""
    random = np.random.default_rng(1)
    A = random.uniform(-0.3, 0.3, (4, 2, 2)) + np.diag([-1.5, 0.2])
    b = random.uniform(-1, 1, (4, 2))
    y, good = fixed_points(lambda x: np.einsum("nij,nj->ni", A, x) + b, np.zeros((4, 2)))
    assert good.all()
    assert np.allclose(y, np.linalg.solve(np.eye(2) - A, b[..., None])[..., 0], rtol=FIXED, atol=0)
    _, none = fixed_points(lambda x: x + 1.0, np.zeros((1, 1)))
    assert not none.any()


def test_accelerations_of_a_motion_are_not_asked_for(tmp_path: Path) -> None:
    """Masses, energies and motions under forces belong to states: a platform that turns on its way has an acceleration there."""
    text = fp.catalogue()["five-bar"].read_text(encoding="utf-8")
    words = "elbow: {type: revolute, stiffness: 2, preload: 0.4, "
    (tmp_path / "robot.yaml").write_text(text.replace("elbow: {type: revolute, ", words))
    sprung, way = fp.load(tmp_path / "robot.yaml"), small_motion(fp.load("five-bar"))
    found = fp.forward_dynamics(sprung, way, force=fp.inverse_dynamics(sprung, way).force.values)
    assert np.abs(way.angular_velocity).max() > 0.01
    assert np.abs(found.acceleration.values - way.acceleration).max() <= AGREEMENT * np.abs(way.acceleration).max()
    assert np.isfinite(fp.energy(sprung, way).potential.values).all()
    assert np.isfinite(fp.coriolis_force(sprung, way, coordinates="independent").values).all()
