"""`flexapod export`: the robot's own numbers, and its friction, are in every form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import flexapod as fp

Run = Callable[..., Any]
SAME = 1e-11
"""The same operations in another order, relative to the largest force."""
SUFFIXES = [".m", ".hpp", ".py", ".c", ".casadi", ".fmu", ".xml", ".urdf"]
DYNAMICS = SUFFIXES[:6]


def exported(run: Run, robot: str, name: str, *words: str) -> bytes:
    quantity = ["--quantity", "inverse_dynamics"] if Path(name).suffix in DYNAMICS else []
    result = run("export", robot, *quantity, "--out", name, *words, "--json")
    assert result.exit_code == 0, result.output
    return Path(next(iter(json.loads(result.stdout).values()))).read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_set_and_payload_change_the_file(run: Run, suffix: str) -> None:
    plain = exported(run, "stewart-3-3", f"model{suffix}")
    for words in (("--set", "platform.mass=612.5"), ("--payload", "12.5")):
        changed = exported(run, "stewart-3-3", f"model{suffix}", *words)
        assert changed != plain
        if words[0] == "--set" and suffix in (".m", ".hpp", ".py", ".c", ".xml", ".urdf"):
            assert b"612.5" in changed
            assert b"612.5" not in plain


def force(name: str, inputs: dict[str, Any]) -> Any:
    """Actuator forces by an exported file alone, which takes those inputs that it knows."""
    if name.endswith(".casadi"):
        function = ca.Function.load(name)
        return np.array(function(**{k: x for k, x in inputs.items() if k in function.name_in()})["force"]).ravel()
    module: dict[str, Any] = {}
    exec(Path(name).read_text(), module)
    model = next(v for v in module.values() if "constants" in getattr(getattr(v, "__code__", None), "co_varnames", ()))
    known = {k: x for k, x in inputs.items() if k in model.__code__.co_varnames}
    return np.ravel(model(**known, constants=module["setup"]())["force"])


@pytest.mark.parametrize("name", ["model.py", "model.casadi"])
def test_own_numbers_are_in_the_file(run: Run, name: str) -> None:
    exported(run, "stewart-3-3", name, "--set", "platform.mass=612.5")
    robot = fp.load("stewart-3-3").with_parameters({"platform.mass": 612.5})
    none = np.zeros(3)
    inputs = {"position": robot.home.position, "rotation": robot.home.rotation, "acceleration": none,
              "velocity": none, "angular_velocity": none, "angular_acceleration": none}  # fmt: skip
    wanted = fp.inverse_dynamics(robot, fp.State(position=inputs["position"], rotation=inputs["rotation"])).force.values
    assert np.abs(force(name, inputs) - wanted).max() <= SAME * np.abs(wanted).max()


@pytest.mark.parametrize(("robot", "suffix"), [("hexaslide", s) for s in DYNAMICS] + [("dualemps", s) for s in DYNAMICS[:5]])
def test_friction_has_one_meaning(run: Run, robot: str, suffix: str) -> None:
    """That of the file, unless --no-friction leaves it out."""
    assert exported(run, robot, f"model{suffix}") != exported(run, robot, f"model{suffix}", "--no-friction")


def test_c_of_controllers_has_the_friction_of_the_file(run: Run) -> None:
    for folder, words in (("with", ()), ("without", ("--no-friction",))):
        assert run("export-c", "hexaslide", "--out", folder, *words).exit_code == 0
    texts = [Path(folder, "hexaslide_inverse_dynamics.c").read_text() for folder in ("with", "without")]
    assert ["friction.viscous" in text for text in texts] == [True, False]


@pytest.mark.parametrize("name", ["model.py", "model.casadi"])
def test_the_friction_is_that_of_the_verb(run: Run, name: str) -> None:
    robot, none, v = fp.load("hexaslide"), np.zeros(3), np.array([0.1, 0.2, 0.1])
    inputs = {"position": robot.home.position, "rotation": robot.home.rotation, "velocity": v, "angular_velocity": none,
              "acceleration": none, "angular_acceleration": none, "wrench": np.zeros(6)}  # fmt: skip
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation, velocity=v)
    for friction, words in ((True, ()), (False, ("--no-friction",))):
        exported(run, "hexaslide", name, *words)
        wanted = fp.inverse_dynamics(robot, state, friction=friction).force.values
        assert np.abs(force(name, inputs) - wanted).max() <= SAME * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "a.xml", "--no-friction"), "--no-friction: belongs to inverse_dynamics and forward_dynamics, not to a.xml"),
        (("--out", "a.m", "--quantity", "jacobian", "--no-friction"), "not to jacobian"),
        (("--out", "a.urdf", "--copies", "3"), "--copies: a.urdf is not an MJCF file (.xml); leave it out"),
        (("--out", "3-prs.m", "--quantity", "inverse_kinematics"), "'3-prs' is not usable as one"),
        (("--out", "sin.m", "--quantity", "inverse_kinematics"), "'sin' is not usable as one"),
    ],
)
def test_errors(run: Run, words: tuple[str, ...], message: str) -> None:
    done = run("export", "five-bar", *words)
    assert done.exit_code == 1
    assert message in " ".join(done.stderr.split())
    assert list(Path().iterdir()) == []


def test_an_import_that_cannot_be_loaded_leaves_no_file(run: Run) -> None:
    assert run("export", "five-bar", "--out", "five-bar.xml").exit_code == 0
    text = Path("five-bar.xml").read_text()
    assert 'pos="0.1 0.0 0.0"' in text
    Path("five-bar.xml").write_text(text.replace('pos="0.1 0.0 0.0"', 'pos="10.0 0.0 0.0"'))  # farther than the legs reach
    Path("kept.yaml").write_text("mine")
    for name in ("robot.yaml", "kept.yaml"):
        done = run("import", "five-bar.xml", "--platform", "platform", "--out", name)
        assert done.exit_code == 1
        assert "does not close at home" in " ".join(done.stderr.split())
    assert not Path("robot.yaml").exists()
    assert Path("kept.yaml").read_text() == "mine"


def test_an_import_says_which_actuator_is_which_joint(run: Run) -> None:
    assert run("export", "five-bar", "--out", "five-bar.xml").exit_code == 0
    done = run("import", "five-bar.xml", "--platform", "platform", "--out", "robot.yaml")
    assert done.exit_code == 0
    assert "actuators: left is the joint left.crank, right is the joint right.crank" in " ".join(done.stdout.split())


def test_copies_of_mjcf(run: Run) -> None:
    assert run("export", "five-bar", "--out", "once.xml").exit_code == 0
    assert run("export", "five-bar", "--out", "often.xml", "--copies", "3").exit_code == 0
    once, often = (Path(name).read_text().count("<connect") for name in ("once.xml", "often.xml"))
    assert often == 3 * once > 0


def test_a_matlab_function_has_the_name_of_its_file(run: Run) -> None:
    assert run("export", "five-bar", "--quantity", "inverse_kinematics", "--out", "legs.m").exit_code == 0
    assert run("generate", "five-bar", "inverse_kinematics", "--out", "limbs.m").exit_code == 0
    assert "] = legs(" in Path("legs.m").read_text().splitlines()[0]
    assert "] = limbs(" in Path("limbs.m").read_text().splitlines()[0]
