"""`flexapod poses`: the table says what the verb says; wrong input has its reason."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flexapod as fp

Run = Callable[..., Any]


def test_poses_of_home_are_listed_with_their_certainty(run: Run) -> None:
    result = run("poses", "gough-stewart")
    assert result.exit_code == 0
    assert "8 real poses of 40 complex ones; complete: proven" in result.stdout
    assert "all 40 complex poses certified and distinct: no other pose exists" in result.stdout


def test_json_and_files_hold_the_result(run: Run) -> None:
    text = "0.1,-0.2,0.05,0,0.15,-0.1"
    result = run("poses", "stewart-3-3", "--actuators", text, "--json", "--out", "a.nc", "--plot", "a.html")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    expected = fp.assembly_modes(fp.load("stewart-3-3"), [float(x) for x in text.split(",")])
    assert str(int(expected["count"])) in json.dumps(found.get("count", found))


def test_working_modes_are_listed(run: Run) -> None:
    result = run("poses", "hexaslide", "--working")
    assert result.exit_code == 0
    assert "64 working modes at home" in result.stdout


def test_poses_of_inner_loops_begin_at_home(run: Run) -> None:
    """The second pose of the Orthoglide is beyond a type 2 singularity (x = y = z = -0.127 m) and a constraint singularity
    (-0.179 m): the determinant has changed its sign twice."""
    result = run("poses", "orthoglide", "--no-certify")
    assert result.exit_code == 0, result.stderr
    sides = [line.split()[5:7] for line in result.stdout.splitlines() if line.endswith(" no")]
    assert sides == [["1", "translational"], ["1", "translational"]]


def test_sides_are_those_of_singularities(run: Run) -> None:
    """Home is on side 1, also where the determinant of the leg lines is negative; the mirrored pose of the 3-RPS is beyond."""
    result = run("poses", "3-rps", "--no-certify")
    rows = [line.split() for line in result.stdout.splitlines() if line.endswith(" no")]
    assert len(rows) == 16
    assert [row[5] for row in rows if row[4] == "0"] == ["1", "-1"]


def test_wrong_input_is_explained(run: Run) -> None:
    for words, text in (
        (["poses", "stewart-3-3", "--actuators", "1,2"], "2 numbers for the 6 actuators"),
        (["poses", "stewart-3-3", "--actuators", "a,b"], "expected numbers between commas"),
        (["poses", "planar-4-prr"], "arbitrary actuator coordinates contradict the loops"),
        (["poses", "hexaslide", "--working", "--actuators", "1"], "takes neither --actuators nor --plot"),
    ):
        result = run(*words)
        assert result.exit_code == 1
        assert text in " ".join(result.stderr.split())


def test_rounding_is_printed_as_zero(run: Run, tmp_path: Path) -> None:
    """Coordinates of poses and ratios of damping that are zero on paper."""
    spring = "{type: revolute, from: base, to: rocker, at: [0.7, 0, 0], axis: [0, 0, 1]}"
    (tmp_path / "four.yaml").write_text(
        "flexapod: 1\nname: four\nsource: written for this test\ngravity: [0, -9.81, 0]\nplane: xy\ncharacteristic_length: 0.5\n"
        "home: {position: [0, 0.2, 0]}\nplatform: {mass: 1, inertia: {diagonal: [0.01, 0.01, 0.01]}}\nlegs:\n  each:\n"
        "    a:\n      joints:\n        motor: {type: revolute, from: base, to: crank, axis: [0, 0, 1], actuated: true}\n"
        "        pin: {type: revolute, from: crank, to: platform, at: [0, 0.2, 0], axis: [0, 0, 1]}\n"
        "      bodies: {crank: {mass: 1}}\n"
        f"    b:\n      joints:\n        pivot: {spring}\n"
        "        pin: {type: revolute, from: rocker, to: platform, at: [-0.1, 0.5, 0], on: [0.6, 0.3, 0], axis: [0, 0, 1]}\n"
        "      bodies: {rocker: {mass: 1}}\n",
        encoding="utf-8",
    )
    for command in ("poses", "frequencies"):
        found = run(command, str(tmp_path / "four.yaml"))
        assert found.exit_code == 0, found.stderr
        assert not re.search(r"e-[1-9]\d", found.stdout), found.stdout
