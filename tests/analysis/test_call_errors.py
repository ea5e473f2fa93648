"""Wrong calls end in a FlexapodError that says what and what next."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.calls import call_reason
from flexapod.errors import amount
from support.call_fuzz import LEFT_OUT, RESULTS, VERBS, callable_of, calls, outcome
from support.kinds import changed_leg, robot_of_kind

DATA = Path(__file__).parents[1] / "data"


def five_bar() -> fp.Robot:
    return robot_of_kind("rigid, mobility below 6")


def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


@pytest.mark.parametrize("given", [3, None, 2.5, ["five-bar"], b"five-bar"])
def test_load_takes_names_and_paths(given: Any) -> None:
    with pytest.raises(fp.FlexapodError, match="robot: expected a catalogue name or the path of a robot file, got"):
        fp.load(given)


@pytest.mark.parametrize("given", ["a\0b", "x" * 10_000, ""])
def test_load_of_hostile_names(given: str) -> None:
    with pytest.raises(fp.FlexapodError, match="no robot called"):
        fp.load(given)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"force": [np.nan, 0.0]}, "force: every value must be a finite number; found nan"),
    ({"wrench": [0, 0, np.inf, 0, 0, 0], "force": [0.0, 0.0]}, "wrench: every value must be a finite number; found inf"),
    ({"force": lambda t: np.full((len(t), 2), np.nan)}, "force: every value must be a finite number; found nan at t = 0 s"),
    ({"force": ([0.0, 1.0], [[0.0, 1.0], [np.inf, 1.0]])}, "force: every value must be a finite number; found inf at t = 1 s"),
    ({"controller": lambda t, s: np.array([np.nan, 0.0])}, "controller: the function gave nan at t = 0 s"),
    ({"controller": lambda t, s: ["a", "b"]}, "controller: expected real numbers"),
    ({"force": ["a", "b"]}, "force: expected real numbers"),
]


@pytest.mark.parametrize(("options", "text"), BAD)
def test_values_of_a_simulation_are_finite(options: dict[str, Any], text: str) -> None:
    robot = five_bar()
    with pytest.raises(fp.InputError, match=text):
        fp.simulate(robot, home(robot), duration=0.002, friction=False, **options)


@pytest.mark.parametrize("name", ["stewart-3-3", "par4", "gough-stewart-flexible"])
def test_an_input_that_is_no_number_is_named_with_its_sample(name: str) -> None:
    """Forces and wrenches as poses are; neither a singular pose nor a missing mass is blamed."""
    robot = fp.load(name)
    at = fp.State(position=np.tile(robot.home.position, (3, 1)), rotation=np.tile(robot.home.rotation, (3, 1, 1)))
    force, wrench = np.zeros((3, len(robot.actuators))), np.zeros((3, 6))
    force[1, 0], wrench[1, 2] = np.nan, np.inf
    with pytest.raises(fp.FlexapodError, match=r"sample 1: .*input is not a finite number: force\."):
        fp.forward_dynamics(robot, at, force)
    with pytest.raises(fp.FlexapodError, match=r"sample 1: .*input is not a finite number: wrench\."):
        fp.inverse_dynamics(robot, at, wrench=wrench)


@pytest.mark.parametrize("verb", [fp.inverse_kinematics, fp.inverse_dynamics])
def test_a_pose_that_is_absurdly_far_says_so(verb: Callable[..., Any]) -> None:
    with pytest.raises(fp.FlexapodError, match=r"position: no robot reaches 1e\+200 m"):
        verb(fp.load("stewart-3-3"), fp.State(position=[0.0, 0.0, 1e200]))


def test_no_samples_give_an_empty_result() -> None:
    robot, none = fp.load("stewart-3-3"), fp.State(position=np.zeros((0, 3)))
    for verb in (fp.inverse_kinematics, fp.inverse_dynamics, fp.jacobian, fp.mass_matrix, fp.gravity_force, fp.energy):
        assert verb(robot, none).sizes["sample"] == 0
    assert fp.forward_dynamics(robot, none, np.zeros((0, 6))).sizes["sample"] == 0


def test_a_number_of_things() -> None:
    assert [amount(count, "leg") for count in (0, 1, 2)] == ["0 legs", "1 leg", "2 legs"]


def test_under_actuated_inverse_dynamics() -> None:
    robot = robot_of_kind("under-actuated")
    with pytest.raises(fp.InputError, match="five-bar-under is under-actuated: 1 actuator cannot control 2 components"):
        fp.inverse_dynamics(robot, home(robot))


def test_under_actuated_inverse_dynamics_in_exports(tmp_path: Path) -> None:
    """What other programs get has the reason of the verb."""
    robot = robot_of_kind("under-actuated")
    asked: list[Callable[[str], Any]] = [
        lambda quantity: fp.kernel(robot, quantity),
        lambda quantity: fp.generate(robot, quantity, form="matlab"),
        lambda quantity: fp.casadi_function(robot, quantity),
        lambda quantity: fp.export_c(robot, quantity, tmp_path / "c"),
        lambda quantity: fp.export_fmu(robot, tmp_path / "x.fmu", quantity),
    ]
    for ask in asked:
        for quantity, name in (("inverse_dynamics", "inverse dynamics"), ("friction_force", "friction force")):
            with pytest.raises(fp.InputError, match=f"^{name}: five-bar-under is under-actuated: 1 actuator cannot"):
                ask(quantity)


def test_flags_are_true_or_false() -> None:
    """Words that only `simulate` knows were taken for True."""
    robot = fp.load("hexaslide")
    with pytest.raises(fp.InputError, match="friction: expected True or False, got 'constant'"):
        fp.inverse_dynamics(robot, home(robot), friction="constant")
    with pytest.raises(fp.InputError, match="friction: expected True or False, got 'no'"):
        fp.forward_dynamics(robot, home(robot), np.zeros(6), friction="no")


def test_under_actuated_forward_dynamics_with_friction() -> None:
    """The general model has it, as the simulation does; a program of its own refuses it by its name."""
    robot = changed_leg("five-bar", "five-bar-friction", "right", crank={"actuated": False, "friction": {"coulomb": 0.1}})
    assert fp.forward_dynamics(robot, home(robot), [1.0]).attrs["formulation"] == "general"
    assert fp.forward_dynamics(robot, home(robot), [1.0], friction=False).attrs["formulation"] != "general"
    with pytest.raises(fp.InputError, match="forward dynamics with friction: needs inverse dynamics"):
        fp.casadi_function(robot, "forward_dynamics")


def test_virtual_work_on_a_leg_without_bodies() -> None:
    """IndexError before: a platform that is held by a ball joint at the base."""
    robot = fp.load(DATA / "robots" / "tilting-platform.yaml")
    assert any(not leg.links for leg in robot.legs)
    with pytest.raises(fp.InputError, match=r"virtual_work: leg .* of tilting-platform has no body; use another formulation"):
        fp.inverse_dynamics(robot, home(robot), formulation="virtual_work")


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("inverse_dynamics", {"reactions": "yes"}, "reactions: expected True or False, got 'yes'"),
    ("inverse_dynamics", {"formulation": 3}, "formulation: expected a text, got 3"),
    ("inverse_dynamics", {"wrench": [[1], [2, 3]]}, "wrench: expected numbers; the rows have different lengths"),
    ("inverse_dynamics", {"wrench": "heavy"}, "wrench: expected real numbers"),
    ("inverse_dynamics", {"nonsense": 1}, "inverse_dynamics: got an unexpected keyword argument 'nonsense'; it takes"),
    ("inverse_dynamics_derivatives", {"parameters": "platform.mass"}, "parameters: expected a list of texts"),
    ("conditioning", {"length": "long"}, "length: expected a number, got 'long'"),
    ("workspace", {"threads": 0}, "threads: expected a whole number above 0, got 0"),
]


@pytest.mark.parametrize(("verb", "options", "text"), WRONG)
def test_arguments_are_of_their_kind(verb: str, options: dict[str, Any], text: str) -> None:
    robot = five_bar()
    given = (robot,) if verb == "workspace" else (robot, home(robot))
    with pytest.raises(fp.InputError, match=re.escape(text)):
        getattr(fp, verb)(*given, **options)


def test_a_robot_is_a_robot() -> None:
    with pytest.raises(fp.InputError, match="robot: expected a Robot, got str"):
        fp.inverse_dynamics("five-bar", fp.State(position=[0.0, 0.0, 0.0]))  # type: ignore[arg-type]
    with pytest.raises(fp.InputError, match="motion: expected a Motion, an ActuatorMotion or a State, got 3"):
        fp.inverse_dynamics(five_bar(), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "seed"), [(300, 7), pytest.param(20_000, 11, marks=pytest.mark.full)])
@pytest.mark.filterwarnings("ignore")
def test_random_calls_end_in_a_result_or_a_flexapod_error(
    count: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some calls write files
    robots = [five_bar(), robot_of_kind("joint springs")]
    with np.errstate(all="ignore"):
        found = [problem for call in calls(robots, count, seed) if (problem := outcome(*call))]
    assert not found, "\n".join(found[:20])


def test_every_public_callable_is_called_at_random_or_named() -> None:
    known = {name for name in (*VERBS, *RESULTS, *LEFT_OUT) if "." not in name}
    kinds = {name: getattr(fp, name) for name in fp.__all__}
    errors = {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert known == {name for name, kind in kinds.items() if callable(kind)} - errors


def test_names_of_arguments_are_checked_everywhere() -> None:
    """An unknown option is an InputError that says what there is."""
    for verb in VERBS:
        if verb not in ("kernel", "export_c", "casadi_function", "generate"):  # options of their programs
            with pytest.raises(fp.InputError, match=r"'nonsense'|missing a required argument"):
                callable_of(verb)(nonsense=1)


@pytest.mark.parametrize("kind", ["", "keyword-only ", "positional-only "])
def test_a_missing_argument_reads_the_same_in_every_python(kind: str) -> None:
    assert call_reason(TypeError(f"missing a required {kind}argument: 'time'")) == "missing a required argument: 'time'"


ROBOT = "stewart-3-3"
RAW: list[tuple[str, Any, str]] = [
    ("save", lambda s, d: fp.save(d, None), "path: expected the path of a file, got None"),  # type: ignore[arg-type]
    ("a pose", lambda s, d: fp.inverse_kinematics(s, s.home), "or a State, got Pose; a State at home is State.at_home(robot)"),
    ("save 3", lambda s, d: fp.save(3, "y.csv"), "result: expected a result (Dataset), got 3"),  # type: ignore[arg-type]
    ("save null", lambda s, d: fp.save(d, "a\0.csv"), "path: expected the path of a file"),
    ("open", lambda s, d: fp.open(3), "path: expected the path of a file, got 3"),  # type: ignore[arg-type]
    ("export_c", lambda s, d: fp.export_c(s, "jacobian", "/dev/null/x"), "/dev/null/x: was not written: not a directory"),
    ("estimator", lambda s, d: fp.export_payload_estimator(s, "/dev/null/x"), "/dev/null/x: was not written: not a directory"),
    ("mjcf", lambda s, d: fp.export_mjcf(s, 3), "path: expected the path of a file, got 3"),  # type: ignore[arg-type]
    ("file", lambda s, d: fp.read_robot_file(3), "path: expected the path of a file, got 3"),  # type: ignore[arg-type]
    ("text", lambda s, d: fp.robot_text(3), "description: expected a Description"),  # type: ignore[arg-type]
    ("motion_at", lambda s, d: fp.motion_at(3, 0), "result: expected a result (Dataset), got 3"),  # type: ignore[arg-type]
    ("si", lambda s, d: fp.si_value(3), "text: expected a text, got 3"),  # type: ignore[arg-type]
    ("period", lambda s, d: fp.exciting_motion(s, period=np.nan), "period: expected a finite number, got nan"),
    ("loads", lambda s, d: fp.regressor(s, home(s), loads="x"), "loads: expected finite numbers of shape (1, places), got str"),
    ("poses", lambda s, d: fp.select_poses(s, 3, ["platform.mass"], 2), "candidates: expected poses (a State), got 3"),
    ("changes", lambda s, d: s.with_parameters(3), "changes: expected a mapping of names to values, got 3"),
    ("body", lambda s, d: s.with_flexible_body("platform", 3), "body: expected a FlexibleBody"),
    ("state", lambda s, d: fp.State.from_actuators(3, [1.0]), "robot: expected a Robot, got int"),  # type: ignore[arg-type]
    ("modes", lambda s, d: fp.flexible.save_modes(3, "x"), "body: expected a FlexibleBody"),  # type: ignore[arg-type]
    ("from", lambda s, d: fp.flexible.from_modes(3), "path: expected the path of a file, got 3"),  # type: ignore[arg-type]
    ("PD", lambda s, d: fp.PD(kp=1.0, kd=1.0, foo=3), "got an unexpected keyword argument 'foo'"),
    ("kernel", lambda s, d: fp.kernel(s, "inverse_dynamics", foo=1), "options of 'inverse_dynamics': got an unexpected"),
    ("folder", lambda s, d: fp.load("/tmp"), "/tmp: is a folder, no robot file"),
    ("empty", lambda s, d: fp.load(""), "no robot called '': the name is empty"),
]


@pytest.mark.parametrize(("call", "text"), [pytest.param(c, t, id=i) for i, c, t in RAW])
def test_wrong_calls_say_what_was_expected(call: Any, text: str) -> None:
    robot = fp.load(ROBOT)
    with pytest.raises(fp.FlexapodError, match=re.escape(text)):
        call(robot, fp.inverse_kinematics(robot, home(robot)))


SIZES: list[tuple[str, Any, str]] = [
    ("samples", lambda s: fp.motions.named_motion("circle", samples=10**9), "samples: 1e+09 samples of 200 bytes do not fit"),
    ("rate", lambda s: fp.motions.resample(fp.motions.named_motion("circle"), rate=1e12), "rate: 3e+12 samples of 200 bytes"),
    ("axis", lambda s: fp.workspace(s, {"x": (0, 1, 10**9)}), "x: 1e+09 values along an axis"),
    ("grid", lambda s: fp.workspace(s, dict.fromkeys("xyz", (0, 1, 10**6))), "grid: 1e+18 poses do not fit into memory"),
    ("solid", lambda s: fp.workspace_solid(s, resolution=10**6), "resolution: 1000000 cells along a side are more than 500"),
    ("indices", lambda s: fp.sensitivity(s, MASS, "mass", samples=10**12), "samples: 3e+12 designs do not fit into memory"),
    ("parts", lambda s: fp.tolerance(s, {"platform.mass": 1.0}, samples=10**12), "samples: 1e+12 poses do not fit into memory"),
    (
        "rows",
        lambda s: fp.simulate(s, home(s), force=[0.0] * 6, duration=1e3, step=1e-6, output_step=1e-6),
        "output_step: 1e+09 rows do not fit into memory",
    ),
]
MASS = {"platform.mass": (40, 60)}


@pytest.mark.parametrize(("call", "text"), [pytest.param(c, t, id=i) for i, c, t in SIZES])
def test_sizes_that_cannot_be_held_are_refused_at_once(call: Any, text: str) -> None:
    with pytest.raises(fp.InputError, match=re.escape(text)):
        call(fp.load(ROBOT))
