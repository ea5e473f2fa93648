"""Every way a request can be wrong: one readable paragraph on the error stream, the documented exit code, no file left."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flexapod as fp
from support.patience import PATIENCE, computed, until

Run = Callable[..., Any]

CASES = {
    "robot with suggestion": (["show", "hexapood"], "did you mean 'hexapod'?"),
    "robot file that is not there": (["show", "nowhere/robot.yaml"], "no robot called 'nowhere/robot.yaml'"),
    "set a path with suggestion": (["show", "hexapod", "--set", "platform.mas=2"], "Did you mean mass?"),
    "set without a value": (["show", "hexapod", "--set", "platform.mass"], "expected NAME=VALUE, e.g. --set platform.mass=60"),
    "set a wrong value": (["show", "hexapod", "--set", "platform.mass=heavy"], "platform.mass"),
    "motion with suggestion": (["kinematics", "hexapod", "--motion", "circel"], "did you mean 'circle'?"),
    "motion file that is not there": (["kinematics", "hexapod", "--motion", "way.csv"], "there is no motion file way.csv"),
    "option with suggestion": (["kinematics", "hexapod", "--motion", "circle", "--option", "radus=1"], "did you mean 'radius'?"),
    "option without a motion": (["kinematics", "hexapod", "--option", "radius=1"], "give --motion as well"),
    "unreachable motion": (
        ["inverse-dynamics", "hexapod", "--motion", "cosine-x", "--option", "amplitude=0.4"],
        "samples fail; --mask keeps the others",
    ),
    "motion that the robot cannot follow": (["kinematics", "delta", "--motion", "rotation-x"], "cannot follow rotation about x"),
    "suffix of data": (["kinematics", "hexapod", "--out", "a.xlsx"], "expected .csv, .parquet, .nc"),
    "suffix of a plot": (["kinematics", "hexapod", "--plot", "a.gif"], "expected .html, .png, .svg"),
    "folder that is not there": (["kinematics", "hexapod", "--out", "gone/a.csv"], "there is no folder gone; create it first"),
    "option of an FMU elsewhere": (
        ["export", "five-bar", "--step", "1e-4", "--out", "a.xml"],
        "--step: a.xml is not an FMU; leave it out",
    ),
    "set twice": (
        ["show", "hexapod", "--set", "platform.mass=1", "--set", "platform.mass=2"],
        "--set platform.mass: is given twice",
    ),
    "wrench of five numbers": (["inverse-dynamics", "hexapod", "--wrench", "1,2,3,4,5"], "expected 6 numbers"),
    "formulation": (["inverse-dynamics", "hexapod", "--formulation", "magic"], "formulation: expected"),
    "grid": (["workspace", "hexapod", "--grid", "x=1:2"], "expected AXIS=SMALLEST:LARGEST:COUNT"),
    "grid axis": (["workspace", "hexapod", "--grid", "w=0:1:3"], "no axis 'w'"),
    "controller with suggestion": (["simulate", "hexapod", "--controller", "computed"], "did you mean 'computed-torque'?"),
    "figure": (["simulate", "hexapod", "--figure", "cake"], "--figure cake: expected energy, forces, strokes, spectrum"),
    "gain": (["simulate", "hexapod", "--gain", "ki=1"], "computed-torque has no gain 'ki'; it has kp, kd"),
    "free and stiff": (["frequencies", "hexapod", "--free", "--stiffness", "1e7"], "leave it out where a stiffness is given"),
    "quantity": (["export-c", "hexapod", "--quantity", "magic", "--out", "c"], "no kernel for 'magic'"),
    "paper with suggestion": (["reproduce", "--only", "stacu"], "did you mean 'staicu'?"),
    "report suffix": (["report", "hexapod", "--out", "report.doc"], "a report ends in .html or .pdf"),
    "new kind": (["new", "a.yaml", "--kind", "7-ups"], "expected one of 6-ups, 6-pus, 6-rus"),
    "new impossible": (["new", "a.yaml", "--kind", "6-pus", "--link", "0.1"], "the legs must be clearly longer"),
    "new suffix": (["new", "a.txt"], "a robot file ends in .yaml"),
    "option without a motion, frequencies": (["frequencies", "dualemps", "--option", "radius=0.1"], "give --motion as well"),
    "mode that nothing draws": (
        ["frequencies", "hexapod", "--stiffness", "1e7", "--mode", "99"],
        "--mode 99: chooses what --plot",
    ),
    "gain of no controller": (
        ["simulate", "hexapod", "--controller", "none", "--gain", "kp=3"],
        "--gain kp: there is no controller",
    ),
    "gain that is no number": (["simulate", "hexapod", "--gain", "kp=nan"], "kp: expected finite numbers, got nan"),
    "figure without a plot": (["simulate", "hexapod", "--figure", "forces"], "--figure forces: chooses what --plot draws"),
    "figure of frequencies": (["frequencies", "hexapod", "--figure", "shapes"], "--figure shapes: chooses what --plot draws"),
    "figure of forces": (
        ["inverse-dynamics", "hexapod", "--figure", "contributions"],
        "--figure contributions: chooses what --plot draws",
    ),
    "working modes not certified": (["poses", "delta", "--working", "--no-certify"], "--no-certify: working modes are all found"),
    "payload in kinematics": (["kinematics", "stewart-3-3", "--payload", "5 kg"], "--payload 5 kg: coordinates and limits of"),
    "payload in a workspace": (["workspace", "delta", "--payload", "5 kg"], "--payload 5 kg: the poses of delta do not depend"),
    "payload of singular poses": (["singularities", "delta", "--payload", "5 kg"], "--payload 5 kg: singular poses of delta"),
    "payload of poses": (["poses", "delta", "--payload", "5 kg"], "--payload 5 kg: poses of delta do not depend on masses"),
    "payload of a solid": (["solid", "bench-6ups", "--payload", "5 kg"], "without --force, --stiffness or --frequency"),
    "wrench that is no number": (
        ["inverse-dynamics", "hexapod", "--wrench", "nan,0,0,0,0,0"],
        "--wrench nan,0,0,0,0,0: expected 6 numbers between commas, all of them finite",
    ),
    "slowed to nothing": (["kinematics", "hexapod", "--slowed", "0"], "--slowed 0: expected a finite number above 0"),
    "radius that is no number": (
        ["kinematics", "hexapod", "--motion", "circle", "--option", "radius=nan"],
        "radius: every entry must be a finite number; found nan",
    ),
    "more samples than memory": (
        ["kinematics", "delta", "--motion", "circle", "--option", "samples=1000000000"],
        "samples: 1e+09 samples of 200 bytes do not fit into memory; at most 2e+07 are allowed",
    ),
    "set what is no parameter": (["show", "hexapod", "--set", "foo=1"], "Valid: parameters, gravity, characteristic_length"),
    "folder in place of a robot": (["show", "."], "is a folder, no robot file"),
    "check a file that is not there": (["check", "gone.yaml"], "does not exist"),
}


PLATE = "MAT1,1,70000.,,.3,2.7-9\nPSHELL,1,1,4.,1\nGRID,1,,0.,0.,0.\nGRID,2,,200.,0.,0.\nGRID,3,,200.,300.,0.\nCTRIA3,5,1,1,2,3\n"
FE = ["import", "plate.bdf", "--units", "mm,t,s", "--modes", "2", "--out", "a.npz", "--interface"]
MJCF = ["import", "fb.xml", "--out", "a.yaml"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            [*FE, "tip=1", "--nodes", "gone.csv"],
            "--nodes: --stiffness and --nodes belong together, with plate.bdf as the mass matrix",
        ),
        ([*FE, "tip=1", "--stiffness", "gone.mtx"], "--stiffness: --stiffness and --nodes belong together"),
        ([*FE, "tip=1", "--interface", "tip=2"], "--interface tip: is given twice, 1 and 2; give each its own name"),
        ([*FE, "tip=1", "--check", "page.txt"], "--check page.txt: the check page ends in .html"),
        ([*FE, "tip=1", "--check", "gone/page.html"], "--check gone/page.html: there is no folder gone; create it first"),
        (["import", "m.mtx", *FE[2:], "tip=1"], "m.mtx: is not a supported mesh file; Nastran bulk data end in .bdf"),
        ([*FE, "tip=1", "--loops", "a.yaml"], "--loops: plate.bdf is a finite element model; leave it out"),
        ([*MJCF, "--method", "craig-bampton"], "--method: fb.xml is a mechanism of rigid bodies; leave it out"),
        ([*MJCF, "--modes", "0"], "--modes: fb.xml is a mechanism of rigid bodies; leave it out"),
        (["import", "robot.yaml", "--out", "a.yaml"], "robot.yaml is a robot file already, or the loops of a URDF (--loops)"),
        ([*MJCF, "--loops", "gone.yaml"], "loops: fb.xml is not a URDF, and MJCF contains its closing joints itself"),
    ],
)
def test_options_of_import_are_never_ignored(run: Run, words: list[str], text: str) -> None:
    Path("plate.bdf").write_text(PLATE)
    Path("fb.xml").write_text("<mujoco/>")
    Path("m.mtx").write_text("1 1 1.0\n")
    Path("robot.yaml").write_text("flexapod: 1\n")
    result = run(*words)
    assert result.exit_code == 1, result.stdout
    assert text in " ".join(result.stderr.split())
    assert not Path("a.npz").exists()
    assert not Path("a.yaml").exists()


@pytest.mark.parametrize("case", list(CASES))
def test_one_paragraph_and_exit_code_1(run: Run, tmp_path: Path, case: str) -> None:
    command, text = CASES[case]
    result = run(*command)
    assert result.exit_code == 1, result.stdout + result.stderr
    assert text in result.stderr
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command", [["kinematics"], ["showw"], ["show", "hexapod", "--nothing"], ["simulate", "hexapod", "--step", "x"]]
)
def test_wrong_usage_is_exit_code_2(run: Run, command: list[str]) -> None:
    assert run(*command).exit_code == 2


def test_masked_samples_are_kept(run: Run) -> None:
    result = run("kinematics", "hexapod", "--motion", "cosine-x", "--option", "amplitude=0.4", "--mask", "--out", "a.csv")
    assert result.exit_code == 0
    assert "warning: leg" in result.stderr
    kept = fp.open("a.csv")
    assert 0 < int(kept.valid.sum()) < len(kept.time)


def test_every_problem_of_a_file_is_reported(run: Run, tmp_path: Path) -> None:
    run("new", "a.yaml", "--kind", "6-ups")
    text = (tmp_path / "a.yaml").read_text().replace("type: spherical", "type: sphericle").replace("gravity:", "gravty:")
    (tmp_path / "a.yaml").write_text(text)
    result = run("check", "a.yaml")
    assert result.exit_code == 1
    assert "a.yaml has " in result.stderr
    assert "sphericle" in result.stderr
    assert "gravty" in result.stderr


def test_existing_file_is_not_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("mine")
    result = run("new", "a.yaml", "--kind", "6-ups")
    assert result.exit_code == 1
    assert "--force replaces it" in result.stderr
    assert (tmp_path / "a.yaml").read_text() == "mine"
    assert run("new", "a.yaml", "--kind", "6-ups", "--force").exit_code == 0


def test_folder_in_place_of_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    result = run("kinematics", "hexapod", "--out", "a.csv")
    assert result.exit_code == 1
    assert "is a folder" in result.stderr


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    result = run("kinematics", "hexapod", "--out", "locked/a.csv")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_disk_that_refuses(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for words in (["kinematics", "hexapod", "--out", "a.csv"], ["kinematics", "hexapod", "--plot", "a.html"]):
        result = run(*words)
        assert result.exit_code == 1
        assert f"{words[-1]}: was not written: no space left on device; free some space or choose another place" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_browser_for_a_picture(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import kaleido

    def none(*_: object, **__: object) -> None:
        raise RuntimeError("Kaleido requires Google Chrome to be installed.")

    monkeypatch.setattr(kaleido, "calc_fig", none)
    result = run("kinematics", "hexapod", "--plot", "a.png")
    assert result.exit_code == 1
    assert "PNG and SVG need a Chrome or Chromium browser" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_our_own_is_one_paragraph(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr(fp, "inverse_kinematics", broken)
    monkeypatch.delenv("FLEXAPOD_DEBUG", raising=False)
    result = run("kinematics", "hexapod")
    assert result.exit_code == 1
    assert "This is a fault of flexapod" in result.stderr


def test_interrupted_while_writing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    result = run("kinematics", "hexapod", "--out", "a.csv")
    assert result.exit_code == 130
    assert result.stderr.startswith("interrupted: nothing was written")
    assert list(tmp_path.iterdir()) == []


STARTED = 3.0
"""CPU seconds after which a simulation of an endless motion is under way whose kernels are known: it starts within 1.5."""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the time of a process from /proc")
@pytest.mark.parametrize("moment", ["deriving", "running"])
def test_interrupted_simulation(tmp_path: Path, moment: str) -> None:
    """Ctrl-C while equations are derived (inside CasADi, which drops exceptions) and while the compiled loop runs."""
    work, cache = tmp_path / "work", tmp_path / "cache"
    work.mkdir()
    command = [sys.executable, "-m", "flexapod.views.cli", "simulate", "stewart-3-3", "--motion", "cosine-z"]
    own = {"FLEXAPOD_CACHE": str(cache)} if moment == "deriving" else {}
    if moment == "running":
        subprocess.run([*command, "--duration", "0.01", "--out", str(tmp_path / "short.csv")], check=True, capture_output=True)
    process = subprocess.Popen(
        [*command, "--duration", "1000000", "--out", "a.csv"], cwd=work, env=os.environ | own, stderr=subprocess.PIPE, text=True
    )
    try:
        if moment == "deriving":
            until(lambda: process.poll() is not None or bool(list(cache.glob("*.kernel"))))
        else:
            until(lambda: process.poll() is not None or computed(process.pid) > STARTED)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, label = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, label
    assert label.startswith("interrupted: ")
    assert "Traceback" not in label
    assert list(work.iterdir()) == []


OPTIONS = {
    "robot file by another name": (
        ["identify", "simulated", "--robot", "five-bar", "--out", "a.csv"],
        "--out a.csv: a robot file ends in .yaml",
    ),
    "page by another name": (["identify", "simulated", "--robot", "five-bar", "--page", "a.pdf"], "a name that ends with .html"),
    "best design by another name": (
        ["optimise", "hexapod", "--vary", "platform.mass=3:5", "--criterion", "mass", "--write", "a.csv"],
        "--write a.csv: a robot file ends in .yaml",
    ),
    "friction of kinematics": (
        ["generate", "hexaslide", "inverse_kinematics", "--friction"],
        "--friction: belongs to inverse_dynamics and forward_dynamics, not to inverse_kinematics; leave it out",
    ),
    "a time below zero": (["studio", "--seconds", "-1"], "--seconds -1: expected a time above 0 s"),
    "an option by its name in Python": (
        ["generate", "hexaslide", "--formulation", "virtual_power", "--no-solve"],
        "--no-solve applies to forward_dynamics",
    ),
}


@pytest.mark.parametrize("case", list(OPTIONS))
def test_options_that_do_not_fit_are_refused_first(run: Run, tmp_path: Path, case: str) -> None:
    command, text = OPTIONS[case]
    result = run(*command)
    assert result.exit_code == 1
    assert text in result.stderr.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []


NEAR = {
    "unit behind an option": (
        ["kinematics", "hexapod", "--motion", "circle", "--option", "radius=100parsecs"],
        "--option radius=100parsecs: ",
    ),
    "underscore for a dot": (["show", "hexapod", "--set", "platform_mass=40"], "The nearest parameter is platform.mass."),
    "leg of another robot": (["show", "hexapod", "--set", "legs.slider.mas=1"], "Did you mean mass?"),
}


@pytest.mark.parametrize("case", list(NEAR))
def test_what_people_type_first(run: Run, case: str) -> None:
    command, text = NEAR[case]
    result = run(*command)
    assert result.exit_code == 1
    assert text in result.stderr.replace("\n", " ")


def test_options_of_a_motion_are_explained(run: Run) -> None:
    label = run("motions", "circle").stdout
    assert "radius: 0.05" in label
    assert "--option NAME=VALUE, in m, rad and s" in label
    assert run("kinematics", "hexapod", "--motion", "circle", "--option", "radius=0.05", "--option", "plane=xy").exit_code == 0


def test_a_rigid_robot_with_many_coordinates_is_counted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before, with advice on beams that it does not have."""
    monkeypatch.setattr("flexapod.views.commands.code.MANY", 1)
    result = run("count", "delta-parallelograms", "--json")
    assert result.exit_code == 0, result.stderr
    refused = run("count", "dualemps")
    assert "Use fewer elements per beam" in " ".join(refused.stderr.split())


def test_controllers_of_flexible_legs_are_not_denied(run: Run) -> None:
    assert "flexible legs have none" not in " ".join(run("simulate", "--help").stdout.split())


def test_where_all_samples_fail_no_others_are_promised(run: Run) -> None:
    result = run("kinematics", "hexapod", "--motion", "line", "--option", "start=9,9,9", "--option", "end=9,9,8")
    assert result.exit_code == 1
    assert "samples fail." in result.stderr
    assert "--mask" not in result.stderr
