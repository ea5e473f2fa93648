"""Payloads: the words of the file against arithmetic by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import read_robot_text
from flexapod.identification.identified_robot import identified_robot
from flexapod.robot.geometry import rotation_from_vector

SAME = 1e-12
"""Of the largest number: sums and rotations of a few numbers, in another order."""

M, C, J = 2.5, np.array([0.05, -0.02, 0.1]), np.array([0.01, 0.02, 0.025])
TURN = np.array([0.3, -0.5, 0.7])


def by_hand(body: fp.Robot, R: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, first moment and tensor about the origin of a body with the payload, by sums over mass points.

    Six points on the principal axes of the payload have its mass and tensor.
    """
    half = np.sqrt((J.sum() / 2 - J) * 3 / M)  # m/6 (2 a^2) along each axis: second moments J.sum()/2 - J
    mass, first, tensor = body.mass, body.first_moment.copy(), body.inertia.copy()
    for axis in range(3):
        for sign in (-1.0, 1.0):
            p = C + R[:, axis] * sign * half[axis]
            mass, first = mass + M / 6, first + M / 6 * p
            tensor = tensor + M / 6 * (p @ p * np.eye(3) - np.outer(p, p))
    return mass, first, tensor


def check(found: fp.Robot, wanted: tuple[float, np.ndarray, np.ndarray]) -> None:
    mass, first, tensor = wanted
    assert found.mass == pytest.approx(mass, rel=SAME)
    assert np.abs(found.first_moment - first).max() < SAME * max(1.0, np.abs(first).max())
    assert np.abs(found.inertia - tensor).max() < SAME * np.abs(tensor).max()


@pytest.mark.parametrize("name", ["stewart-3-3", "gough-stewart"])
def test_platform_of_the_file(name: str) -> None:
    """With own axes, beside mass and inertia or base parameters."""
    robot = fp.load(name)
    document = robot.description.document
    words = {"mass": M, "com": C.tolist(), "rotation": {"matrix": rotation_from_vector(TURN)}, "inertia": {"diagonal": J}}
    changed = {**document, "platform": {**document["platform"], "payloads": {"crate": words}}}
    loaded = _built(changed)
    check(loaded.platform, by_hand(robot.platform, rotation_from_vector(TURN)))
    assert loaded.parameter("platform.payloads.crate.mass") == M
    heavier = loaded.with_parameters(
        {"platform.payloads.crate.mass": 2 * M, "platform.payloads.crate.inertia.xx": "0.012 kg m^2"}
    )
    assert heavier.platform.mass == pytest.approx(robot.platform.mass + 2 * M, rel=SAME)
    assert heavier.parameter("platform.payloads.crate.inertia.xx") == 0.012


def _built(document: dict) -> fp.Robot:
    from flexapod.robot.robot import build_robot

    return build_robot(fp.description_from_document(document))


def test_with_payload_on_any_body() -> None:
    robot = fp.load("stewart-3-3")
    check(robot.with_payload(M, com=C, inertia=J).platform, by_hand(robot.platform, np.eye(3)))
    R = rotation_from_vector(TURN)
    check(robot.with_payload("2500 g", com=C, inertia=_symmetric(R @ np.diag(J) @ R.T)).platform, by_hand(robot.platform, R))
    loaded = robot.with_payload(M, com=C, inertia=J, body="B.piston")
    old, new = (r.bodies_by_name["B.piston"] for r in (robot, loaded))
    link = old.body_axes  # bodies are kept in link axes
    own = old.seen_from(link.T), new.seen_from(link.T)
    check(own[1], by_hand(own[0], np.eye(3)))
    assert loaded.bodies_by_name["A.piston"].mass == robot.bodies_by_name["A.piston"].mass
    assert read_robot_text(fp.robot_text(loaded.description)) == loaded.description


def _symmetric(tensor: np.ndarray) -> np.ndarray:
    return (tensor + tensor.T) / 2


def test_a_platform_that_is_a_link_carries_it_too() -> None:
    robot = fp.load("five-bar")
    loaded = robot.with_payload(0.5, com=[0.01, 0.02, 0])
    assert loaded.bodies_by_name["left.tool"].mass == pytest.approx(robot.bodies_by_name["left.tool"].mass + 0.5)
    twice = loaded.with_payload(0.1, name="second").with_payload(0.1)
    assert twice.bodies_by_name["left.tool"].mass == pytest.approx(0.9)


def test_forces_are_those_of_the_weight() -> None:
    """At rest, a payload is a weight at its centre."""
    robot = fp.load("stewart-3-3")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    weight = M * robot.gravity
    wanted = fp.inverse_dynamics(robot, home, wrench=np.concatenate([weight, np.cross(C, weight)])).force.values
    found = fp.inverse_dynamics(robot.with_payload(M, com=C, inertia=J), home).force.values
    assert np.abs(found - wanted).max() < SAME * np.abs(wanted).max()


def test_an_identified_robot_has_no_payload_twice() -> None:
    """The estimated platform includes what it carries."""
    robot = fp.load("stewart-3-3").with_payload(M, com=C)
    b = robot.platform
    names = ["mass", *(f"first_moment.{a}" for a in "xyz"), *(f"inertia.{a}" for a in ("xx", "xy", "xz", "yy", "yz", "zz"))]
    values = [
        b.mass,
        *b.first_moment,
        *(b.inertia["xyz".index(i), "xyz".index(j)] for i, j in ("xx", "xy", "xz", "yy", "yz", "zz")),
    ]
    found = identified_robot(robot, [f"platform.{n}" for n in names], np.array(values), "test")
    assert found.platform.mass == pytest.approx(b.mass, rel=SAME)
    assert np.abs(found.platform.inertia - b.inertia).max() < SAME * b.inertia.max()


def test_refused() -> None:
    with pytest.raises(fp.InputError, match="platform is flexible and carries no payload"):
        fp.load("gough-stewart-flexible").with_payload(1.0)
    with pytest.raises(fp.InputError, match="belongs to a table: change its `inertial` instead"):
        fp.load("gough-stewart").with_payload(1.0, body="1.3")
    with pytest.raises(fp.InputError, match="has a payload crate already"):
        fp.load("stewart-3-3").with_payload(1.0, name="crate").with_payload(1.0, name="crate")
    with pytest.raises(fp.InputError, match="must be symmetric"):
        fp.load("stewart-3-3").with_payload(1.0, inertia=np.arange(9.0).reshape(3, 3))
    with pytest.raises(fp.FlexapodError, match=r"platform.payloads.payload.com: must have 3"):
        fp.load("stewart-3-3").with_payload(1.0, com=[1, 2])
    with pytest.raises(fp.FlexapodError, match="mass: must be a finite number"):
        fp.load("stewart-3-3").with_payload(np.nan)
