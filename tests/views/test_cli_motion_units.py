"""Options of motions take units, as `--set` does."""

import math
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.chosen_motion import chosen_motion
from flexapod.views.motion_options import options_in_si

SAME = 1e-12
"""One conversion."""
FILTERED = 1e-5
"""A filter of 10 Hz half a second from the ends of a steady rotation."""


def test_units_of_options() -> None:
    robot = fp.load("stewart-3-3")
    plain = chosen_motion(robot, "circle", {"radius": 0.1, "rpm": 30, "samples": 11})
    said = chosen_motion(robot, "circle", {"radius": "100 mm", "rpm": "180 deg/s", "samples": 11})
    assert np.abs(plain.position - said.position).max() <= SAME
    assert np.abs(plain.velocity - said.velocity).max() <= SAME


def test_omega_in_hertz() -> None:
    robot = fp.load("stewart-3-3")
    options = {"center": [*robot.home.position, 0, 0, 0], "amplitude": [0.05, 0, 0, 0, 0, 0], "duration": 1.0, "samples": 9}
    plain = chosen_motion(robot, "harmonic", {**options, "omega": 2 * math.pi})
    said = chosen_motion(robot, "harmonic", {**options, "omega": "1 Hz"})
    assert np.abs(plain.velocity - said.velocity).max() <= SAME


def test_units_of_lists_and_files(tmp_path: Path) -> None:
    robot = fp.load("stewart-3-3")
    plain = chosen_motion(robot, "circle", {"center": [0, 0, 4.33], "duration": 2.0, "samples": 11})
    said = chosen_motion(robot, "circle", {"center": "0,0,4330 mm", "duration": "2000 ms", "samples": 11})
    assert np.abs(plain.position - said.position).max() <= SAME
    harmonic = chosen_motion(robot, "harmonic", {"center": "0,0,4330 mm,0,0,90 deg", "amplitude": ["1 cm", 0, 0, 0, "1 deg", 0]})
    assert np.abs(harmonic.position[0] - [0, 0, 4.33]).max() <= SAME
    assert np.abs(harmonic.rotation[0] - [[0, -1, 0], [1, 0, 0], [0, 0, 1]]).max() <= SAME
    nested = options_in_si("actuator-polygon", {"corners": [[0, 0], ["180 deg", 0]], "rests": "10 ms"})
    assert nested == {"corners": [[0, 0], [math.pi, 0]], "rests": 0.01}
    t, home = np.linspace(0.0, 1.0, 101), robot.home.position
    rows = np.column_stack([t, 1e3 * home + 0 * t[:, None], np.outer(t, [0, 0, 10])])
    np.savetxt(tmp_path / "m.csv", rows, delimiter=",", header="Zeit,X,Y,Z,a,b,c", comments="")
    options = {"columns": "time=Zeit,position=X,Y,Z,euler=a,b,c", "units": "position=mm,euler=deg", "euler": "XYZ"}
    for smooth in ({}, {"derivatives": "low-pass", "cutoff": "10 Hz"}):
        motion = chosen_motion(robot, str(tmp_path / "m.csv"), {**options, **smooth})
        assert np.abs(motion.position - home).max() <= FILTERED
        assert abs(motion.rotation[50, 1, 0] - math.sin(math.radians(5))) <= FILTERED


@pytest.mark.parametrize(
    ("name", "option", "text"),
    [
        ("circle", {"radius": "3 kg"}, "--option radius=3 kg: '3 kg' has the wrong unit: it must be m. Write"),
        ("circle", {"radius": "2 deg"}, "must be m"),
        ("circle", {"rpm": "3 m"}, "must be rpm or Hz"),
        ("circle", {"samples": "30 s"}, "must be a plain number"),
        ("circle", {"center": "0,0,4330 kg"}, "--option center=4330 kg: '4330 kg' has the wrong unit: it must be m"),
        ("circle", {"center": "10,0,4330 mm"}, "4330 mm has a unit and 10 has none; give each number its unit, or none"),
        ("circle", {"radus": "3 mm"}, "there is no option 'radus'; did you mean 'radius'?"),
        ("cosine-z", {"omega": "1 m"}, "must be rad/s or Hz"),
        ("cosine-z", {"amplitude": "5 deg"}, "must be m"),
        ("rotation-z", {"amplitude": "5 mm"}, "must be rad"),
        ("harmonic", {"amplitude": "0,0,0,0,0,5 mm"}, "must be rad"),
        ("constant-acceleration", {"acceleration": "1 m/s,0,0,0,0,0"}, r"must be m/s\^2"),
    ],
)
def test_units_of_other_quantities_are_refused(name: str, option: dict, text: str) -> None:
    with pytest.raises(fp.InputError, match=text):
        chosen_motion(fp.load("stewart-3-3"), name, option)


def test_a_wrong_unit_is_reported() -> None:
    with pytest.raises(fp.InputError, match="--option radius=3 parsecs"):
        chosen_motion(fp.load("stewart-3-3"), "circle", {"radius": "3 parsecs"})
    assert fp.si_value("15 mm") == 0.015
