"""The numbers panel: digits, red, and names from a file that try to write into the page."""

import re

import flexapod as fp
from flexapod.views.studio.coordinates import home_state
from flexapod.views.studio.numbers import Problem, numbers_of
from flexapod.views.studio.panel_motion import moment_html
from flexapod.views.studio.recording import SMALL, motion_of, record
from flexapod.views.studio.session import Session
from flexapod.views.studio.tables import frequencies_html, numbers_html
from flexapod.views.studio.vibration import modes_of

EVIL = "<img src=x onerror=alert(1)>"


def cell(html: str, key: str) -> str:
    found = re.search(rf"id='{key}'[^>]*>([^<]*)<", html)
    assert found, key
    return found.group(1)


def test_displayed_force_has_six_digits_of_inverse_dynamics() -> None:
    robot = fp.load("hexaslide")
    state = home_state(robot)
    html = numbers_html(robot, numbers_of(robot, state))
    for k, value in enumerate(fp.inverse_dynamics(robot, state).force.values):
        assert cell(html, f"force-{k}") == f"{value:.6g}"
    assert "within all limits" in html
    assert "[N]" in html


def test_angles_are_in_degrees_and_torques_in_newton_metres() -> None:
    robot = fp.load("five-bar")
    html = numbers_html(robot, numbers_of(robot, home_state(robot)))
    assert "position [deg]" in html
    assert "force [N m]" in html
    assert cell(html, "position-0") == "117.335"


def test_what_is_wrong_is_said_with_the_leg() -> None:
    studio = Session.start(fp.load("stewart-3-3"))
    studio.keep()
    html = numbers_html(studio.robot, studio.move_one("x", 2.6), studio.kept_numbers)
    assert "limit exceeded" in html
    assert "actuator B is above its stroke" in html
    assert "kept [N]" in html
    assert "class=red" in html


def test_names_of_a_file_cannot_write_into_the_page() -> None:
    robot = fp.load("stewart-3-3")
    text = fp.robot_text(robot.description).replace("title: ", f"title: '{EVIL}' #", 1)
    shown = numbers_of(robot, home_state(robot))
    bad = type(shown)(**{**vars(shown), "problems": (Problem(owner=EVIL, text=EVIL),)})
    pieces = [numbers_html(robot, bad), frequencies_html(EVIL), frequencies_html(modes_of(robot, shown.state, 1e7), note=EVIL)]
    recording = record(robot, motion_of(robot, SMALL), EVIL)
    pieces.append(moment_html(recording, 3))
    assert EVIL in text
    for html in pieces:
        assert EVIL not in html
        assert "&lt;img" in html


def test_unstable_modes_are_red() -> None:
    robot = fp.load("gough-stewart-flexible")
    html = frequencies_html(modes_of(robot, home_state(robot), 1e7), note="actuators locked")
    assert "unstable" in html
    assert re.search(r"id='frequency-0' class='red'", html)
