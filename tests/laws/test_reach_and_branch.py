"""Where robots can go: every reachable pose is found on the branch of home, no other pose is, and reasons are words."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.model.continuous_angles import make_continuous
from flexapod.analysis.requests.results import SampleError
from flexapod.description import description_from_document
from flexapod.robot.robot import Robot, build_robot
from support.robots import drawn_motion, robot_named

BESIDE = 1e-6
"""Poses nearer to the border of reach than this [m] are not judged."""
ANGLES = 1e-12
"""[rad], against closed forms and from other starts of Newton's method; found 9e-15."""


def states(robot: Robot, half: list[float], count: int = 600) -> fp.State:
    random = np.random.default_rng(3)
    position = robot.home.position + random.uniform(-1, 1, (count, 3)) * half
    return fp.State(position=position, rotation=np.tile(robot.home.rotation, (count, 1, 1)))


def delta_reach(p: np.ndarray) -> np.ndarray:
    """Margin [m] of the worst leg: the arm's circle against the rod's sphere, in the leg's plane."""
    margins = []
    for angle in np.deg2rad([0, 120, 240]):
        c, s = np.cos(angle), np.sin(angle)
        x, y, z = (p @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])).T
        rod = np.sqrt(np.maximum(0.8**2 - y**2, 0.0))
        d = np.hypot(x + 0.045 - 0.2, z)
        margins.append(np.where(np.abs(y) < 0.8, np.minimum(0.3 + rod - d, d - np.abs(rod - 0.3)), -1.0))
    return np.min(margins, axis=0)


def tripteron_reach(p: np.ndarray) -> np.ndarray:
    """The two links of 0.4 m reach from the rail, which stands 0.3 m off in both directions."""
    return np.min([0.8 - np.hypot(p[:, (k + 1) % 3] + 0.3, p[:, (k + 2) % 3] + 0.3) for k in range(3)], axis=0)


@pytest.mark.parametrize(
    ("name", "half", "reach"), [("delta", [0.6, 0.6, 0.5], delta_reach), ("tripteron", [0.5, 0.5, 0.5], tripteron_reach)]
)
def test_all_that_can_be_reached_is_found_and_nothing_else(name: str, half: list[float], reach) -> None:
    robot = robot_named(name)
    given = states(robot, half)
    found = fp.inverse_kinematics(robot, given, on_error="mask")
    margin = reach(given.position)
    judged = np.abs(margin) > BESIDE
    np.testing.assert_array_equal(found.valid.values[judged], margin[judged] > 0)
    assert 0.3 < found.valid.values.mean() < 0.9
    assert {text.split()[2] for text in found.reason.values[~found.valid.values]} <= {"cannot", "would"}


def test_delta_stays_in_its_working_mode() -> None:
    """The elbow lies outside at home: crank angles by the closed form of the plane, on that branch."""
    robot = robot_named("delta")
    given = states(robot, [0.5, 0.5, 0.4])
    found = fp.inverse_kinematics(robot, given, on_error="mask")
    for k, angle in enumerate(np.deg2rad([0, 120, 240])):
        c, s = np.cos(angle), np.sin(angle)
        x, y, z = (given.position @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])).T
        with np.errstate(invalid="ignore"):
            dx, d = x + 0.045 - 0.2, np.hypot(x + 0.045 - 0.2, z)
            rotation = np.arccos((d**2 + 0.3**2 - (0.8**2 - y**2)) / (2 * d * 0.3))
        # the arm points along (cos q, -sin q) in the plane (x, z)
        q = np.arctan2(-z, dx) - rotation
        error = (found.actuator_position.values[:, k] - q)[found.valid.values]
        assert np.abs((error + np.pi) % (2 * np.pi) - np.pi).max() < ANGLES


def test_one_far_pose_alone_is_found_by_walking_there() -> None:
    robot = robot_named("tripteron")
    given = states(robot, [0.5, 0.5, 0.5], 200)
    together = fp.inverse_kinematics(robot, given, on_error="mask")
    good = np.flatnonzero(together.valid.values)
    assert len(good) > 60
    for k in good[:60]:
        alone = fp.inverse_kinematics(robot, fp.State(position=given.position[k], rotation=given.rotation[k]))
        np.testing.assert_allclose(alone.joint_position.values, together.joint_position.values[k], rtol=0, atol=ANGLES)


def fivebar_mode(sign: float) -> Robot:
    """The five-bar with its right elbow on either side, chosen by the start angles of the file."""
    data = robot_named("five-bar").description.document
    tip, base, links = np.array([0.0, 0.35]), np.array([0.1, 0.0]), 0.25
    d = tip - base
    half = np.arccos(np.linalg.norm(d) / (2 * links))
    crank = np.arctan2(d[1], d[0]) - sign * half
    right = {**data["legs"]["each"]["right"]}
    right["crank"] = {**right["crank"], "start": float(crank)}
    right["elbow"] = {**right["elbow"], "start": float(2 * sign * half)}
    each = {**data["legs"]["each"], "right": right}
    return build_robot(description_from_document({**data, "legs": {**data["legs"], "each": each}}))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_five_bar_has_both_modes_by_choice(sign: float) -> None:
    """Closed form of the right leg: law of cosines, elbow on the chosen side; the tip moves with the left leg."""
    robot = fivebar_mode(sign)
    random = np.random.default_rng(9)
    elbow = robot.legs[0].links[1].zero + random.uniform(-0.25, 0.25, 100)
    crank = robot.legs[0].home[0] + random.uniform(-0.25, 0.25, 100)
    tip = np.array([-0.1, 0.0]) + 0.25 * np.stack(
        [np.cos(crank) + np.cos(crank + elbow), np.sin(crank) + np.sin(crank + elbow)], 1
    )
    angle = crank + elbow - 0.5371165336149762
    rotation = np.zeros((100, 3, 3))
    rotation[:, 0, 0] = rotation[:, 1, 1] = np.cos(angle)
    rotation[:, 1, 0], rotation[:, 0, 1], rotation[:, 2, 2] = np.sin(angle), -np.sin(angle), 1.0
    found = fp.inverse_kinematics(robot, fp.State(position=np.column_stack([tip, np.zeros(100)]), rotation=rotation))
    d = tip - [0.1, 0.0]
    half = np.arccos(np.linalg.norm(d, axis=1) / 0.5)
    np.testing.assert_allclose(found.actuator_position.sel(actuator="left").values, crank, rtol=0, atol=ANGLES)
    np.testing.assert_allclose(
        found.actuator_position.sel(actuator="right").values, np.arctan2(d[:, 1], d[:, 0]) - sign * half, rtol=0, atol=ANGLES
    )


# -- statuses as words -----------------------------------------------------------------------------------------------------
def refusal(robot: Robot, **pose) -> str:
    with pytest.raises(SampleError) as caught:
        fp.inverse_kinematics(robot, fp.State(**pose))
    return str(caught.value)


def test_reasons_of_closed_forms() -> None:
    stewart, hexapod, hexa = (robot_named(name) for name in ("stewart-3-3", "hexapod", "hexa"))
    U, S = stewart.closed_forms[2].U, stewart.closed_forms[2].S
    assert refusal(stewart, position=U - S) == "inverse kinematics of stewart-3-3: leg C has no length: its joints meet."
    axis = stewart.closed_forms[2].axis1
    assert refusal(stewart, position=U - S + 3 * axis) == (
        "inverse kinematics of stewart-3-3: leg C lies along its first universal axis."
    )
    assert refusal(hexapod, position=[0, 0, 3]) == (
        "inverse kinematics of hexapod: leg A cannot reach: its platform joint is too far from the rail."
    )
    form = hexapod.closed_forms[3]  # rod normal to the rail, half-way along
    across = np.cross(form.drive, [0, 0, 1])
    rotating = form.U + 0.3 * form.drive + form.length * across / np.linalg.norm(across) - form.S
    with np.errstate(invalid="ignore"):
        words = fp.inverse_kinematics(hexapod, fp.State(position=rotating), on_error="mask").reason.item()
    assert words.startswith("leg ")
    assert refusal(hexa, position=[0, 0, -3]) == (
        "inverse kinematics of hexa: leg 1 cannot reach: its platform joint is too far from the crank or too near."
    )


def test_turning_points_are_named() -> None:
    """One leg alone at its turning point, the others well: the leg is named."""
    hexapod = robot_named("hexapod")
    random = np.random.default_rng(1)
    leg, form = 3, hexapod.closed_forms[3]
    named = 0
    for _ in range(400):
        # a pose near home whose fourth leg is at right angles to its rail, to rounding
        pose = hexapod.home.position + random.uniform(-0.1, 0.1, 3)
        across = pose + form.S - form.U - form.drive * (form.drive @ (pose + form.S - form.U))
        pose = pose + across * (form.length / np.linalg.norm(across) - 1.0)
        words = fp.inverse_kinematics(hexapod, fp.State(position=pose), on_error="mask").reason.item()
        if words.startswith(f"leg {hexapod.legs[leg].name}"):
            named += 1
            assert words in (
                "leg D is at right angles to its rail (turning point)",
                "leg D cannot reach: its platform joint is too far from the rail",
            )
        if named > 5:
            return
    pytest.fail("no pose was found")


def test_nan_is_named_and_does_not_spread() -> None:
    for name in ("stewart-3-3", "delta"):
        robot = robot_named(name)
        position = np.tile(robot.home.position, (5, 1))
        position[2, 1] = np.nan
        velocity = np.zeros((5, 3))
        velocity[4, 0] = np.inf
        clean = fp.inverse_kinematics(robot, fp.State(position=np.tile(robot.home.position, (5, 1))))
        masked = fp.inverse_kinematics(robot, fp.State(position=position, velocity=velocity), on_error="mask")
        assert masked.valid.values.tolist() == [True, True, False, True, False]
        assert masked.reason.values[2] == "input is not a finite number: position"
        assert masked.reason.values[4] == "input is not a finite number: velocity"
        for k in (0, 1, 3):
            np.testing.assert_array_equal(masked.joint_position.values[k], clean.joint_position.values[k])
        assert np.all(np.isnan(masked.joint_position.values[[2, 4]]))
        with pytest.raises(SampleError, match=r"sample 2: input is not a finite number: position\. 2 of 5 samples fail"):
            fp.inverse_kinematics(robot, fp.State(position=position, velocity=velocity))


def test_motions_that_a_robot_cannot_follow_are_refused_by_name() -> None:
    delta, planar = robot_named("delta"), robot_named("planar-4-prr")
    home = delta.home.position
    c, s = np.cos(0.1), np.sin(0.1)
    assert refusal(delta, position=home, rotation=[[1, 0, 0], [0, c, -s], [0, s, c]]).startswith(
        "inverse kinematics of delta: the robot cannot reach this pose: it cannot follow rotation about x"
    )
    assert refusal(delta, position=home, angular_velocity=[0, 0, 1]) == (
        "inverse kinematics of delta: the robot cannot have this velocity: it cannot follow rotation about z."
    )
    assert refusal(planar, position=[0, 0, 0.01]) == (
        "inverse kinematics of planar-4-prr: the robot cannot reach this pose: it cannot follow translation along z."
    )
    assert refusal(planar, position=[0, 0, 0], velocity=[0, 0, 1]) == (
        "inverse kinematics of planar-4-prr: the robot cannot have this velocity: it cannot follow translation along z."
    )


def test_far_rotations_do_not_jump() -> None:
    """A crank that turns once round: its angle is continuous along a motion and within half a revolution of home in a batch."""
    values = np.array([[3.0], [3.1], [-3.1], [-3.0], [np.nan], [-2.9]])
    along, alone = values.copy(), values.copy()
    make_continuous(along, np.array([True]), np.array([3.0]), along=True)
    np.testing.assert_allclose(along[:, 0], [3.0, 3.1, 2 * np.pi - 3.1, 2 * np.pi - 3.0, np.nan, 2 * np.pi - 2.9])
    make_continuous(alone, np.array([True]), np.array([0.0]), along=False)
    np.testing.assert_array_equal(alone, values)
    lengths = values.copy()
    make_continuous(lengths, np.array([False]), np.array([0.0]), along=True)
    np.testing.assert_array_equal(lengths, values)


def test_a_crank_beyond_half_a_revolution() -> None:
    """`hexa` with the zero of its shoulders moved to the far side: actuator angles stay near home, without jumps."""
    robot = robot_named("hexa")
    moved = robot.with_parameters({"legs.shoulder.zero": "170 deg"})
    motion = drawn_motion(robot, 100, seed=1)
    given = fp.State(position=motion["position"], rotation=motion["rotation"])
    plain, other = (fp.inverse_kinematics(r, given).actuator_position.values for r in (robot, moved))
    np.testing.assert_allclose(other, plain - np.deg2rad(170), rtol=0, atol=ANGLES)
