"""The numbers panel: digits, red, and names from a file that try to write into the page."""

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.leg_curves import home_joints
from flexapod.views.scene.arrows import HEAD, PIECES, actuator_arrows
from flexapod.views.scene.shapes import drawing, extent, platform_corners
from flexapod.views.studio.hover import hover_html
from flexapod.views.studio.numbers import BrokenLimit, numbers_of
from flexapod.views.studio.recording import SMALL, motion_of, record
from flexapod.views.studio.session import Session
from flexapod.views.studio.strip import strip_html
from flexapod.views.studio.tables import ShownMoment, frequencies_html, numbers_html, peak_text
from flexapod.views.studio.timeline import csv_bytes, spans_html
from flexapod.views.studio.vibration import modes_of

EVIL = "<img src=x onerror=alert(1)>"


def cell(html: str, key: str) -> str:
    found = re.search(rf"id='{key}'[^>]*>([^<]*)<", html)
    assert found, key
    return found.group(1)


def test_displayed_force_has_six_digits_of_inverse_dynamics() -> None:
    robot = fp.load("hexaslide")
    state = fp.State.at_home(robot)
    html = numbers_html(robot, numbers_of(robot, state))
    for k, value in enumerate(fp.inverse_dynamics(robot, state).force.values):
        assert cell(html, f"force-{k}") == f"{value:.6g}"
    assert "within all limits" in html
    assert "[N]" in html


def test_angles_are_in_degrees_and_torques_in_newton_metres() -> None:
    robot = fp.load("five-bar")
    html = numbers_html(robot, numbers_of(robot, fp.State.at_home(robot)))
    assert "position [deg]" in html
    assert "torque [N m]" in html
    assert cell(html, "position-0") == "117.335"


def test_the_largest_force_has_its_unit() -> None:
    robot = fp.load("eclipse")
    force = np.array([[2.0, -30.0, 0.0, 1.0, 4.0, 0.0, -5.5, 3.0]])
    assert peak_text(robot, force) == "torque 5.5 N m and force 30 N"
    assert peak_text(fp.load("stewart-3-3"), np.full((2, 6), np.nan)) == "force 0 N"


def test_what_is_wrong_is_said_with_the_leg() -> None:
    studio = Session.start(fp.load("stewart-3-3"))
    studio.keep()
    html = numbers_html(studio.robot, studio.move_one("x", 2.6), studio.kept_numbers)
    assert "limit exceeded" in html
    assert "actuator B is above its stroke" in html
    assert "kept [N]" in html
    assert "class=red" in html


def test_what_is_not_known_is_not_called_a_broken_limit() -> None:
    robot = fp.load("hexapod-floating")
    numbers = numbers_of(robot, fp.State.at_home(robot))
    for html in (numbers_html(robot, numbers), strip_html(robot, numbers, None, False)):
        assert "forces and limits are not known" in html
        assert "limit exceeded" not in html


def test_a_long_reason_ends_with_a_whole_word() -> None:
    studio = Session.start(fp.load("stewart-3-3"))
    numbers = replace(studio.numbers, problems=(BrokenLimit(owner="A", text="actuator A " + "far " * 30),))
    assert "actuator A far far" in strip_html(studio.robot, numbers, None, False)
    assert "far ...<" in strip_html(studio.robot, numbers, None, False)


def test_names_of_a_file_cannot_write_into_the_page() -> None:
    robot = fp.load("stewart-3-3")
    text = fp.robot_text(robot.description).replace("title: ", f"title: '{EVIL}' #", 1)
    shown = numbers_of(robot, fp.State.at_home(robot))
    bad = type(shown)(**{**vars(shown), "problems": (BrokenLimit(owner=EVIL, text=EVIL),)})
    pieces = [numbers_html(robot, bad), frequencies_html(EVIL), frequencies_html(modes_of(robot, shown.state), note=EVIL)]
    recording = record(robot, motion_of(robot, SMALL), EVIL)
    moment = ShownMoment(time=0.0, title=EVIL, power=recording.power[3])
    pieces += [numbers_html(robot, recording.numbers(3), None, moment), strip_html(robot, bad, None, asked=True)]
    assert EVIL in text
    for html in pieces:
        assert EVIL not in html
        assert "&lt;img" in html


def test_unstable_modes_are_red() -> None:
    robot = fp.load("gough-stewart-flexible")
    html = frequencies_html(modes_of(robot, fp.State.at_home(robot)), note="actuators locked")
    assert "A negative number is no frequency" in html
    assert re.search(r"id='frequency-0' class='red'", html)


def test_a_moment_has_all_numbers_of_a_pose() -> None:
    robot = fp.load("stewart-3-3")
    found = record(robot, motion_of(robot, "kim-constant-acceleration"), "kim")
    numbers = found.numbers(3)
    html = numbers_html(robot, numbers, None, ShownMoment(time=0.03, title="motion kim", power=found.power[3]))
    assert cell(html, "force-0") == f"{found.force[3, 0]:.6g}"
    assert cell(html, "power-0") == f"{found.power[3, 0]:.5g}"
    assert cell(html, "condition") == f"{found.condition[3]:.4g}"
    assert "is beyond its stroke by 0.875 m" in html
    assert "data-spans='1'" in spans_html(found)
    assert "data-spans='0'" in spans_html(record(robot, motion_of(robot, SMALL), SMALL))
    table = csv_bytes(found).decode().splitlines()
    assert table[0].startswith("time [s],x [m],y [m],z [m],position A [m]")
    assert len(table) == len(found.time) + 1
    assert float(table[4].split(",")[1 + 3 + 12]) == float(f"{found.force[3, 0]:.10g}")


def test_the_strip_says_what_its_numbers_belong_to() -> None:
    robot = fp.load("stewart-3-3")
    shown = numbers_of(robot, fp.State.at_home(robot), variant="platform.mass = 60")
    other = modes_of(fp.load("hexapod"), fp.State.at_home(fp.load("hexapod")))
    html = strip_html(robot, shown, other, asked=True)
    assert "Hz" not in html, "frequencies of another robot"
    assert html.count("data-made") == 2, "what is not known yet has no age"
    assert "platform.mass = 60" in html
    own = modes_of(robot, shown.state, {"m": 1e7}, "platform.mass = 60")
    html = strip_html(robot, shown, own, asked=False)
    assert f"{own.frequency[0]:.4g} Hz" in html
    assert "assumed" not in html
    assert "stiffness assumed" in strip_html(robot, shown, modes_of(robot, shown.state, None, own.origin.variant), asked=False)
    moved = numbers_of(robot, fp.State(position=[0.1, 0.0, 4.3], rotation=robot.home.rotation), variant="platform.mass = 60")
    assert "of another pose" in strip_html(robot, moved, own, asked=True)
    lost = Session.start(robot).move_one("x", 2.6)
    assert "limit exceeded" in strip_html(robot, lost, None, asked=False)


def hovered(name: str) -> dict[str, Any]:
    """Text -> lines of what the mouse finds at home."""
    robot = fp.load(name)
    numbers, size = numbers_of(robot, fp.State.at_home(robot)), extent(robot)
    corners = platform_corners(robot, numbers.state, np.zeros(0))
    shown = drawing(robot, home_joints(robot), corners, size, set())
    html = hover_html(robot, numbers, shown, actuator_arrows(robot, shown, numbers.force, size), size)
    found = re.search("data-items='([^']*)'", html)
    assert found
    return {item["text"]: np.array(item["lines"]) for item in json.loads(unescape(found.group(1)))}


def test_the_mouse_finds_legs_and_arrows_with_their_numbers() -> None:
    found = hovered("stewart-3-3")
    assert len(found) == 12
    leg = next(text for text in found if text.startswith("leg A"))
    assert leg.splitlines()[1] == "A: 0 m (50 % of its stroke), 205.55 N"
    assert "A: push 205.55 N" in found
    assert all(lines.shape[1:] == (2, 3) for lines in found.values())


def test_the_mouse_finds_torques_along_their_arcs() -> None:
    found = hovered("delta")
    (text,) = (text for text in found if text.startswith("1: torque"))
    assert text.endswith("N m")
    assert len(found[text]) == PIECES - HEAD + 1


def test_names_of_a_file_do_not_leave_the_hidden_element() -> None:
    robot = fp.load("stewart-3-3")
    numbers = numbers_of(robot, fp.State.at_home(robot))
    shown = drawing(robot, home_joints(robot), platform_corners(robot, numbers.state, np.zeros(0)), 1.0, set())
    evil = replace(robot.legs[0], name="'" + EVIL)
    html = hover_html(_Named(robot, (evil, *robot.legs[1:])), numbers, shown, None, 1.0)  # type: ignore[arg-type]
    assert "<img" not in html
    assert html.count("'") == 4


class _Named:
    """A robot with other legs."""

    def __init__(self, robot: fp.Robot, legs: Any) -> None:
        self.actuators, self.actuator_units, self.legs = robot.actuators, robot.actuator_units, legs
