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

FREQUENCIES = 1e-9
"""Of frequencies and deflections: the same bodies in another order of sums."""

M, C, J = 2.5, np.array([0.05, -0.02, 0.1]), np.array([0.01, 0.02, 0.025])
ROTATION = np.array([0.3, -0.5, 0.7])


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
    words = {"mass": M, "com": C.tolist(), "rotation": {"matrix": rotation_from_vector(ROTATION)}, "inertia": {"diagonal": J}}
    changed = {**document, "platform": {**document["platform"], "payloads": {"crate": words}}}
    loaded = _built(changed)
    check(loaded.platform, by_hand(robot.platform, rotation_from_vector(ROTATION)))
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
    R = rotation_from_vector(ROTATION)
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
    with pytest.raises(fp.InputError, match="described by its modes, and cannot carry a payload, which would change"):
        fp.load("gough-stewart-flexible").with_payload(1.0)
    with pytest.raises(fp.InputError, match="belongs to a table: change its `inertial` instead"):
        fp.load("gough-stewart").with_payload(1.0, body="1.3")
    with pytest.raises(fp.InputError, match=r"the body left.crank is a joint; bodies of this leg: left.proximal, left.distal"):
        fp.load("five-bar").with_payload(1.0, body="left.crank")
    with pytest.raises(fp.InputError, match="has a payload crate already"):
        fp.load("stewart-3-3").with_payload(1.0, name="crate").with_payload(1.0, name="crate")
    with pytest.raises(fp.InputError, match="must be symmetric"):
        fp.load("stewart-3-3").with_payload(1.0, inertia=np.arange(9.0).reshape(3, 3))
    with pytest.raises(fp.FlexapodError, match=r"platform.payloads.payload.com: must have 3"):
        fp.load("stewart-3-3").with_payload(1.0, com=[1, 2])
    with pytest.raises(fp.FlexapodError, match="mass: must be a finite number"):
        fp.load("stewart-3-3").with_payload(np.nan)


ARM = """
flexapod: 1
name: arm
source: written for this test
gravity: [0, 0, -9.81]
characteristic_length: 0.5
home: {position: [0.5, 0, 0]}
platform: {body: A.tool}
legs:
  each:
    A:
      joints:
        motor: {type: revolute, from: base, to: arm, axis: [0, 0, 1], actuated: true}
        wrist: {type: fixed, from: arm, at: [0.5, 0, 0], to: tool}
        EXTRA
      bodies:
        arm: {flexible: FLEXIBLE PAYLOAD}
        tool: {mass: 0.5, com: [0.05, 0, 0], inertia: {diagonal: [1e-3, 2e-3, 3e-3]}}
        MORE
"""
BEAM = "{type: beam, length: 0.5, elements: 2, material: steel, section: {shape: rectangle, width: 0.02, height: 0.025}}"
PLATE = "{type: plate, outline: [[0, -0.05], [0.5, -0.05], [0.5, 0.05], [0, 0.05]], thickness: 4 mm, material: steel, modes: 0}"
CRATE = "{mass: 2.5, com: [AT, 0, 0.03], inertia: {diagonal: [0.01, 0.02, 0.025]}}"


def arm(folder: object, flexible: str, payload: str = "", extra: str = "", more: str = "") -> fp.Robot:
    path = folder / "arm.yaml"
    words = {"FLEXIBLE": flexible, "PAYLOAD": payload and f", payloads: {{crate: {payload}}}", "EXTRA": extra, "MORE": more}
    text = ARM
    for name, word in words.items():
        text = text.replace(name, word)
    path.write_text(text, encoding="utf-8")
    return fp.load(path)


@pytest.mark.parametrize(("flexible", "at"), [(BEAM, 0.25), pytest.param(PLATE, 0.2, marks=pytest.mark.full)])
def test_payload_of_a_flexible_body(flexible: str, at: float, tmp_path: object) -> None:
    """The same as a body of its own at a fixed joint: in the middle of a beam, and above a plate."""
    crate, foot = CRATE.replace("AT", str(at)), at if flexible is BEAM else 0.2
    high = "0" if flexible is BEAM else "0.03"
    joint = f"hold: {{type: fixed, from: arm, at: [{foot}, 0, {high}], to: crate}}"
    body = "crate: " + crate.replace(str(at), "0").replace("0.03", "0.03" if flexible is BEAM else "0")
    carried, wanted = arm(tmp_path, flexible, crate), arm(tmp_path, flexible, "", joint, body)
    bare = arm(tmp_path, flexible)
    at_home = fp.State(position=[0.5, 0.0, 0.0])
    one, other, without = (
        fp.natural_frequencies(robot, at_home, prestress=False).frequency.values[:5] for robot in (carried, wanted, bare)
    )
    np.testing.assert_allclose(one, other, rtol=FREQUENCIES)
    assert one[0] < 0.9 * without[0]
    sag = [fp.static_deflection(robot, at_home).elastic.values for robot in (carried, wanted)]
    np.testing.assert_allclose(sag[0], sag[1], rtol=0, atol=FREQUENCIES * np.abs(sag[1]).max())
    again = bare.with_payload(2.5, com=[at, 0, 0.03], inertia=[0.01, 0.02, 0.025], body="A.arm")
    np.testing.assert_allclose(
        fp.natural_frequencies(again, at_home, prestress=False).frequency.values[:5], one, rtol=FREQUENCIES
    )
    heavier = carried.with_parameters({"legs.A.arm.payloads.crate.mass": 5.0})
    assert fp.natural_frequencies(heavier, at_home, prestress=False).frequency.values[0] < 0.95 * one[0]


def test_a_payload_far_from_the_nodes_of_its_beam_is_reported(tmp_path: object) -> None:
    """One element has nodes at its ends: what hangs between them bends the beam as if it hung there."""
    crate = CRATE.replace("AT", "0.25")
    (warning,) = arm(tmp_path, BEAM.replace("elements: 2, ", ""), crate).description.warnings
    assert "legs.A.arm.payloads.crate.com: is held at the node x = 0 m of the beam, 0.25 m away" in str(warning)
    assert "Give the beam more `elements`" in str(warning)
    assert arm(tmp_path, BEAM, crate).description.warnings == ()
