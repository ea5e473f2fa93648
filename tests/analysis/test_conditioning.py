"""Jacobians against finite differences; condition numbers and singular poses against their definitions, by name."""

import re

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.rotations import rotvec_rotation
from support.robots import RIGID

ROUNDING = 1e-12
"""Singular values of one matrix, relative; rates [m/s, rad/s] of size 1; what vanishes at a singular pose."""


def at_poses(robot, position, rotation):
    """Actuator coordinates and all constraint rows at any pose, allowed or not."""
    bound = kernel(robot, "jacobian")
    home = np.tile(np.concatenate([leg.home for leg in robot.legs]), (len(position), 1))
    given = {"position": position, "rotation": rotation, "guess": home}
    out = bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs
    rows = out["constraint"][:, list(robot.plan.constraints)] if "constraint" in out else np.zeros((len(position), 0))
    return np.hstack([out["actuator_position"], rows])


@pytest.mark.parametrize("name", RIGID)
def test_jacobians_are_derivatives(name):
    """Central differences along the six components of the twist: halving the step divides the error by four."""
    robot = fp.load(name)
    drawn = random_states(robot, 10, seed=6)
    at = fp.State(position=drawn["position"], rotation=drawn["rotation"])
    found = fp.jacobian(robot, at)
    exact = found["jacobian"].values
    if robot.plan.constraints:
        exact = np.concatenate([exact, found["constraint_jacobian"].values], axis=1)
    assert exact.shape[1:] == (len(robot.actuators) + len(robot.plan.constraints), 6)
    errors = []
    for h in (2e-3, 1e-3):
        differences = np.empty_like(exact)
        for k in range(6):
            v, w = np.eye(6)[k, :3] * h, np.eye(6)[k, 3:] * h
            ends = [at_poses(robot, at.position + s * v, rotvec_rotation(s * w) @ at.rotation) for s in (1, -1)]
            differences[:, :, k] = (ends[0] - ends[1]) / (2 * h)
        errors.append(np.abs(differences - exact).max() / np.abs(exact).max())
    assert errors[0] < 1e-3
    if errors[1] > 1e-11:  # the tripteron is linear
        assert 3.5 < errors[0] / errors[1] < 4.5, errors


@pytest.mark.parametrize("name", RIGID)
def test_allowed_twists_are_those_of_the_actuators(name):
    """Twists that actuators make are in the null space of the constraints, and are given back by the Jacobian."""
    robot = fp.load(name)
    drawn = random_states(robot, 10, seed=7)
    at = fp.State(position=drawn["position"], rotation=drawn["rotation"])
    found = fp.jacobian(robot, at)
    V = np.concatenate([drawn["velocity"], drawn["angular_velocity"]], axis=1)
    moving = fp.State(**{k: drawn[k] for k in ("position", "rotation", "velocity", "angular_velocity")})
    rates = fp.inverse_kinematics(robot, moving)["actuator_velocity"].values
    np.testing.assert_allclose(np.einsum("nij,nj->ni", found["jacobian"].values, V), rates, rtol=0, atol=ROUNDING)
    if robot.plan.constraints:
        assert np.abs(np.einsum("nij,nj->ni", found["constraint_jacobian"].values, V)).max() < ROUNDING
        assert found["constraint_jacobian"].dims == ("sample", "constraint", "twist")


def test_condition_number_of_a_full_robot_is_that_of_its_matrix():
    robot = fp.load("stewart-3-3")
    at = fp.State(position=[0.3, 0.1, 4.5], rotation=rotvec_rotation(np.array([0.1, 0.2, -0.1])))
    J = fp.jacobian(robot, at)["jacobian"].values
    for length in (1.0, 2.5, 7.0):
        found = fp.conditioning(robot, at, length)
        matrix = J @ np.diag([length] * 3 + [1] * 3)
        assert float(found["condition_number"]) == pytest.approx(np.linalg.cond(matrix), rel=ROUNDING)
        unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        assert float(found["type_2"]) == pytest.approx(np.linalg.svd(unit)[1][-1], rel=ROUNDING)
    assert fp.conditioning(robot, at).attrs["characteristic_length"] == 2.5


def test_tripteron_is_isotropic_everywhere():
    """Gosselin's robot is fully decoupled: its Jacobian on translations is the identity."""
    robot = fp.load("tripteron")
    drawn = random_states(robot, 20, seed=1)
    found = fp.conditioning(robot, fp.State(position=drawn["position"], rotation=drawn["rotation"]))
    np.testing.assert_allclose(found["condition_number"].values, 1.0, rtol=0, atol=ROUNDING)


def test_condition_number_of_limited_mobility_does_not_depend_on_the_length():
    robot = fp.load("delta")
    at = fp.State(position=[0.1, 0.05, -0.7])
    values = [float(fp.conditioning(robot, at, length)["condition_number"]) for length in (0.1, 1.0)]
    J = fp.jacobian(robot, at)["jacobian"].values[:, :3]
    assert values == pytest.approx([np.linalg.cond(J)] * 2, rel=ROUNDING)


def test_all_joints_in_one_plane():
    """Flat, forces lie in the plane: the platform is free across it, and legs lie along their universal axes."""
    robot = fp.load("stewart-3-3")
    at = fp.State(position=[0.0, 0, 0])
    found = fp.conditioning(robot, at)
    assert str(found["singularity"].values) == (
        "type 1: legs A, B, C, D, E, F along the first universal axis; type 2: with all actuators locked the platform "
        "is free in translation along z, rotation about x, rotation about y"
    )
    assert float(found["type_2"]) < ROUNDING
    assert found["type_1"].values.max() < ROUNDING
    with pytest.raises(fp.FlexapodError) as error:
        fp.inverse_kinematics(robot, at)
    assert str(error.value) == "inverse kinematics of stewart-3-3: leg A lies along its first universal axis."
    near = fp.conditioning(robot, fp.State(position=[0.0, 0, 1e-3]))
    assert 0 < float(near["type_2"]) < 1e-3
    assert str(near["singularity"].values) == ""


def test_fichters_singularity():
    """A symmetric 6-UPS turned by 90 degrees about its axis is singular: a screw about z is free (Fichter 1986)."""
    robot = fp.load("stewart-3-3")
    at = fp.State(position=[0.0, 0, 4.0], rotation=rotvec_rotation(np.array([0, 0, np.pi / 2])))
    found = fp.conditioning(robot, at)
    assert str(found["singularity"].values) == (
        "type 2: with all actuators locked the platform is free in rotation about z, translation along z"
    )
    J = fp.jacobian(robot, at)["jacobian"].values
    assert np.abs(J @ found["free_motion"].values).max() < ROUNDING
    assert float(found["condition_number"]) > 1e12


def turning_point():
    """The hexapod moves sideways until a leg is at right angles to its rail: the leg, poses there, beyond, and before."""
    robot, way = fp.load("hexapod"), np.array([1.0, 0.1, 0.0])

    def squares(x):
        result = []
        for form in robot.closed_forms:
            d = robot.home.position + x * way + form.S - form.U
            result.append(form.length**2 - np.sum((d - form.drive * (d @ form.drive)) ** 2))
        return np.array(result)

    low, high = 0.0, 0.5
    while (low + high) / 2 not in (low, high):
        middle = (low + high) / 2
        low, high = (middle, high) if squares(middle).min() > 0 else (low, middle)
    leg = robot.legs[int(squares(low).argmin())].name
    return robot, leg, *(robot.home.position + (low + more) * way for more in (0.0, 1e-3, -1e-6))


def test_turning_point_of_a_slider():
    robot, leg, there, beyond, before = turning_point()
    # poses within rounding of the turning point: one of them is caught there, none slips through
    poses = there + np.arange(-4, 5)[:, None] * np.spacing(there[0]) * np.array([1.0, 0, 0])
    words = fp.inverse_kinematics(robot, fp.State(position=poses), on_error="mask")["reason"].values.tolist()
    rotating = f"leg {leg} is at right angles to its rail (turning point)"
    reach = f"leg {leg} cannot reach: its platform joint is too far from the rail"
    assert set(words) >= {rotating}
    assert set(words) <= {rotating, reach, ""}
    with pytest.raises(fp.FlexapodError, match=rf"^inverse kinematics of hexapod: {reach}\.$"):
        fp.inverse_kinematics(robot, fp.State(position=beyond))
    at = fp.State(position=poses[words.index(rotating)])
    with pytest.raises(fp.FlexapodError, match=rf"^inverse kinematics of hexapod: {re.escape(rotating)}\.$"):
        fp.inverse_kinematics(robot, at)
    found = fp.conditioning(robot, at)
    assert str(found["singularity"].values) == f"type 1: {rotating}"
    assert float(found["type_1"].sel(leg=leg)) == 0.0
    assert np.isinf(float(found["condition_number"]))
    near = fp.conditioning(robot, fp.State(position=before))
    assert 0 < float(near["type_1"].sel(leg=leg)) < 0.01
    assert float(near["type_1"].drop_sel(leg=leg).min()) > 0.01


def test_zero_length_leg():
    robot = fp.load("stewart-3-3")
    leg = robot.closed_forms[0]
    at = fp.State(position=leg.U - leg.S)
    with pytest.raises(fp.FlexapodError, match=r"^inverse kinematics of stewart-3-3: leg A has no length: its joints meet\.$"):
        fp.inverse_kinematics(robot, at)
    with pytest.raises(fp.FlexapodError, match=r"^conditioning of stewart-3-3: leg A has no length: its joints meet\.$"):
        fp.conditioning(robot, at)


@pytest.mark.parametrize(
    ("name", "rotation", "shift", "words"),
    [
        ("delta", [0.1, 0, 0], [0, 0, 0], "rotation about x"),
        ("tripteron", [0, 0.1, 0], [0, 0, 0], "rotation about y"),
        ("planar-4-prr", [0, 0, 0], [0, 0, 0.01], "translation along z"),
        ("planar-4-prr", [0.05, 0, 0], [0, 0, 0], "rotation about x"),
        ("five-bar", [0, 0, 0], [0, 0, 0.02], "translation along z"),
    ],
)
def test_poses_that_mobility_forbids_are_refused_by_name(name, rotation, shift, words):
    robot = fp.load(name)
    rotated = rotvec_rotation(np.array(rotation, dtype=float)) @ robot.home.rotation
    at = fp.State(position=robot.home.position + shift, rotation=rotated)
    verbs = {"the Jacobian": fp.jacobian, "conditioning": fp.conditioning, "inverse kinematics": fp.inverse_kinematics}
    for what, verb in verbs.items():
        with pytest.raises(fp.FlexapodError) as error:
            verb(robot, at)
        assert str(error.value) == f"{what} of {name}: the robot cannot reach this pose: it cannot follow {words}."


def test_mask_and_messages():
    robot = fp.load("hexapod")
    positions = np.array([robot.home.position, [3.0, 0, 0], [np.nan, 0, 0]])
    found = fp.conditioning(robot, fp.State(position=positions), on_error="mask")
    assert found["valid"].values.tolist() == [True, False, False]
    assert found["reason"].values.tolist() == [
        "",
        "leg A cannot reach: its platform joint is too far from the rail",
        "input is not a finite number: position",
    ]
    assert np.isfinite(found["condition_number"].values).tolist() == [True, False, False]
    masked = fp.jacobian(robot, fp.State(position=positions), on_error="mask")
    assert np.isnan(masked["jacobian"].values).all(axis=(1, 2)).tolist() == [False, True, True]
    with pytest.raises(fp.InputError, match="state: expected a Motion, an ActuatorMotion or a State, got 3"):
        fp.jacobian(robot, 3)
    with pytest.raises(fp.InputError, match="length: must be positive, got -1"):
        fp.conditioning(robot, fp.State(position=robot.home.position), -1.0)
