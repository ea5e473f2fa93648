"""Every option of every verb, given to every kind of robot: the result changes, or the table has the reason why not."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.analysis.requests import abilities
from flexapod.analysis.requests.abilities import ABILITIES, ANY
from flexapod.analysis.requests.loads import in_plane
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.requests.results import SampleError
from flexapod.analysis.requests.simulation_abilities import BRIDGES
from flexapod.analysis.verbs.sampling import random_states
from support.kinds import KINDS, robot_of_kind

STRONG = 1e-9
"""Change, of the largest entry, that counts as one: an option moves its result by more than rounding."""

EQUAL = ("progress", "save", "block", "threads", "tolerance")
"""Options that say how a result is computed or kept, not what it is."""


@dataclass(kw_only=True, eq=False)
class Case:
    """Arguments of one robot: what a verb is called with."""

    robot: fp.Robot

    @property
    def n(self) -> int:
        return len(self.robot.actuators)

    @property
    def N(self) -> int:
        return len(self.robot.elastic_names)

    @cached_property
    def moment(self) -> dict[str, np.ndarray]:
        """Pose, twist and acceleration somewhere in the workspace that the robot can have."""
        return {name: values[0] for name, values in random_states(self.robot, 1, seed=5).items()}

    @property
    def pose(self) -> fp.State:
        return fp.State(position=self.moment["position"], rotation=self.moment["rotation"])

    @property
    def state(self) -> fp.State:
        return fp.State(**{k: v for k, v in self.moment.items() if "acceleration" not in k})

    @property
    def motion(self) -> fp.Motion:
        return fp.Motion(time=[0.0], **{k: v[None] for k, v in self.moment.items()})

    @property
    def still(self) -> fp.Motion:
        """At rest for a hundredth of a second."""
        arrays = {k: np.tile(v, (3, *[1] * v.ndim)) for k, v in self.moment.items()}
        return fp.Motion(time=[0.0, 0.005, 0.01], **{k: v if k in ("position", "rotation") else 0 * v for k, v in arrays.items()})

    @property
    def q(self) -> np.ndarray:
        return np.concatenate([leg.home for leg in self.robot.legs])[list(self.robot.driven)]

    @property
    def driven(self) -> fp.ActuatorMotion:
        tied = self.n > len(self.robot.plan.platform_independent)
        rows = np.tile(self.q + (0.0 if tied else 0.02) * np.cos(np.arange(self.n)), (2, 1))
        rate = np.zeros_like(rows) if tied else np.full_like(rows, 0.1)
        rows[1] += 0.002 * rate[1]
        return fp.ActuatorMotion(time=[0.0, 0.002], position=rows, velocity=rate, acceleration=0 * rows)

    @property
    def deflected(self) -> np.ndarray:
        """Elastic coordinates, a little from zero, that no loop forbids."""
        return 1e-6 * np.cos(np.arange(self.N))

    @property
    def at(self) -> Any:
        """What dynamics are asked about: a motion of the platform, of the actuators where legs deform and loops tie none."""
        tied = self.n > len(self.robot.plan.platform_independent)
        return self.driven if self.robot.elastic_legs and not tied else self.motion

    @property
    def wrench(self) -> np.ndarray:
        """A load in whose directions the robot's model moves."""
        inside = in_plane(self.robot)
        return np.array([w if k in inside else 0.0 for k, w in enumerate(WRENCH)])

    @property
    def point(self) -> str | None:
        return next(iter(self.robot.platform.points), None)


WRENCH = np.array([10.0, -20.0, 30.0, 1.0, 2.0, -3.0])
Options = Callable[[Case], list[dict[str, Any]]]


def loads(c: Case) -> list[dict[str, Any]]:
    return [{"wrench": c.wrench}, {"point": c.point, "wrench": c.wrench}, {"axes": "platform", "wrench": c.wrench}]


COORDINATES = [{"coordinates": k} for k in ("actuator", "independent", "platform")]


def dynamics(c: Case) -> list[dict[str, Any]]:
    return [
        {"friction": False}, {"reactions": True}, *loads(c),
        {"elastic": c.deflected}, {"elastic_velocity": c.deflected, "elastic": c.deflected}, {"on_error": "mask"},
    ]  # fmt: skip


OPTIONS: dict[str, tuple[Callable[[Case], tuple[Any, ...]], Options]] = {
    "inverse_dynamics": (
        lambda c: (c.robot, c.at),
        lambda c: [
            *dynamics(c),
            {"contributions": "frozen"},
            {"legs": "massless", "friction": False},
            {"spin": "neglected"},
            {"formulation": "virtual_power" if c.robot.flexible_platform is not None else "newton_euler", "friction": False},
        ],
    ),
    "forward_dynamics": (
        lambda c: (c.robot, c.at if c.robot.elastic_legs else c.state, np.ones(c.n)),
        lambda c: [*dynamics(c), {"formulation": "minimal"}],
    ),
    "inverse_dynamics_derivatives": (
        lambda c: (c.robot, c.motion),
        lambda c: [{"parameters": ["gravity.y"]}, {"wrench": c.wrench}],
    ),
    "inverse_kinematics": (
        lambda c: (c.robot, c.at),
        lambda c: [
            {"joints": False},
            {"bodies": True},
            {"elastic": c.deflected},
            {"elastic_velocity": 100 * c.deflected, "elastic": c.deflected},
            {"elastic_acceleration": np.ones(c.N), "elastic": c.deflected},
            {"on_error": "mask"},
        ],
    ),
    "point_motion": (
        lambda c: (c.robot, c.at, c.point or "platform"),
        lambda c: [
            {"elastic": c.deflected},
            {"elastic_velocity": 100 * c.deflected, "elastic": c.deflected},
            {"elastic_acceleration": np.ones(c.N), "elastic": c.deflected},
            {"on_error": "mask"},
        ],
    ),
    "deformation": (
        lambda c: (c.robot, c.at if c.robot.elastic_legs else c.pose),
        lambda c: [{"elastic": c.deflected}, {"elastic_velocity": c.deflected, "elastic": c.deflected}, {"on_error": "mask"}],
    ),
    "static_deflection": (lambda c: (c.robot, c.pose), lambda c: [*loads(c), {"on_error": "mask"}]),
    "internal_dynamics": (lambda c: (c.robot, c.pose), lambda c: [*loads(c), {"on_error": "mask"}]),
    "natural_frequencies": (
        lambda c: (c.robot, c.pose),
        lambda c: [
            {"actuators": "free"},
            {"actuators": np.full(c.n, 1e5), "prestress": False},
            {"prestress": False},
            *loads(c),
            {"wrench": c.wrench, "prestress": False},
            {"on_error": "mask"},
        ],
    ),
    "cartesian_stiffness": (
        lambda c: (c.robot, c.pose),
        lambda c: [
            {"actuators": np.full(c.n, 1e5), "prestress": False},
            {"prestress": False, "actuators": np.full(c.n, 1e5)},
            {"wrench": c.wrench, "actuators": np.full(c.n, 1e5)},
            {"point": c.point, "actuators": np.full(c.n, 1e5), "prestress": False},
            {"on_error": "mask"},
        ],
    ),
    "linearize": (
        lambda c: (c.robot, c.pose),
        lambda c: [
            {"inputs": ("wrench",), "prestress": False},
            {"outputs": ("platform_rates",), "prestress": False},
            {"actuators": np.full(c.n, 1e5), "prestress": False},
            {"prestress": False, "wrench": None},
            {"wrench": c.wrench},
        ],
    ),
    "mass_matrix": (lambda c: (c.robot, c.pose), lambda c: COORDINATES),
    "gravity_force": (lambda c: (c.robot, c.pose), lambda c: COORDINATES),
    "coriolis_force": (lambda c: (c.robot, c.state), lambda c: COORDINATES),
    "energy": (lambda c: (c.robot, c.pose), lambda c: []),
    "jacobian": (lambda c: (c.robot, c.pose), lambda c: [{"on_error": "mask"}]),
    "conditioning": (lambda c: (c.robot, c.pose), lambda c: [{"on_error": "mask"}, {"length": 0.01}]),
    "check_motion": (lambda c: (c.robot, c.motion), lambda c: [{"friction": False}, {"wrench": c.wrench}]),
    "fit_motion": (lambda c: (c.robot, c.motion), lambda c: [{"tolerance": 0.1}, {"friction": False}, {"wrench": c.wrench}]),
    "forward_kinematics": (
        lambda c: (c.robot, c.q + 0.01),
        lambda c: [
            {"on_error": "mask"},
            {"guess": c.pose},
            {"continuation": True},
            {"assembly": "any"},
            {"method": "all"},
            {"certify": True},
        ],
    ),
    "assembly_modes": (
        lambda c: (c.robot, c.q + 0.01),
        lambda c: [{"certify": False}, {"seed": 1}, {"on_error": "mask"}],
    ),
    "working_modes": (lambda c: (c.robot, c.pose), lambda c: []),
    "platform_motion": (lambda c: (c.robot, c.driven), lambda c: [{"guess": c.pose}]),
    "regressor": (lambda c: (c.robot, c.motion), lambda c: [{"friction": False}, {"legs": "alike"}]),
    "base_parameters": (lambda c: (c.robot,), lambda c: [{"friction": False}, {"legs": "alike"}, {"seed": 1}]),
}
"""Verb -> its arguments, and the options that it is given one after another; the first key of each is the one under test."""

SAME_ANSWER = {
    ("forward_kinematics", "guess"), ("forward_kinematics", "continuation"), ("forward_kinematics", "assembly"),
    ("assembly_modes", "certify"), ("assembly_modes", "seed"), ("base_parameters", "seed"),
    ("platform_motion", "guess"), ("forward_dynamics", "formulation"), ("fit_motion", "friction"), ("fit_motion", "wrench"),
}  # fmt: skip
"""Options that choose between solutions: where there is one, the answer stays. Each has tests of its own."""


NO_EFFECT = {
    ("tripteron-friction", "cartesian_stiffness", "point"): "its platform does not rotate",
    **{
        ("tripteron-friction", verb, option): "its platform does not rotate"
        for verb in ("inverse_dynamics", "forward_dynamics")
        for option in ("point", "axes")
    },
    ("tripteron-friction", "inverse_dynamics_derivatives", "wrench"): "its Jacobian is constant",
    ("tripteron-friction", "linearize", "wrench"): "its Jacobian is constant",
    ("dualemps", "linearize", "prestress"): "its weight acts across its plane",
    ("dualemps", "cartesian_stiffness", "prestress"): "its weight acts across its plane",
}
"""Robot, verb, option -> why the answer is right to stay."""


@cache
def case(kind: str) -> Case:
    return Case(robot=robot_of_kind(kind))


def numbers(result: Any) -> dict[str, Any]:
    """Everything that a result says, by name."""
    if isinstance(result, dict):
        return result
    if isinstance(result, xr.Dataset):
        arrays = {str(k): v.values for k, v in result.variables.items()}
        return {**arrays, **{f"attribute {k}": v for k, v in result.attrs.items()}}
    if isinstance(result, xr.DataArray):
        return {"values": result.values, **{f"coordinate {k}": v.values for k, v in result.coords.items()}}
    if hasattr(result, "margins"):
        return numbers(result.margins)
    if isinstance(result, fp.BaseParameters):
        return {"names": np.array(result.names), "combination": result.combination}
    if isinstance(result, tuple):
        return {f"{i} {k}": v for i, part in enumerate(result) for k, v in numbers(part).items()}
    if isinstance(result, fp.Motion | fp.StateSpace):
        return {k: v for k, v in vars(result).items() if k != "formula"}
    return {"value": result}


def differs(a: Any, b: Any) -> bool:
    """One result says something else than another, beyond rounding."""
    first, second = numbers(a), numbers(b)
    if set(first) != set(second):
        return True
    for name, value in first.items():
        x, y = np.asarray(value), np.asarray(second[name])
        if x.shape != y.shape:
            return True
        if x.dtype.kind not in "fc":
            if not np.array_equal(x, y):
                return True
            continue
        size = 1e-3 + np.abs(np.nan_to_num(y)).max(initial=0.0)
        if np.any(np.isnan(x) != np.isnan(y)) or np.any(np.abs(np.nan_to_num(x) - np.nan_to_num(y)) > STRONG * size):
            return True
    return False


def call(verb: str, c: Case, options: dict[str, Any]) -> Any:
    return getattr(fp, verb)(*OPTIONS[verb][0](c), **options)


def texts(robot: fp.Robot, verb: str, names: list[str]) -> set[str]:
    """Reasons of the table's rows, as this robot's refusal says them."""
    rows = {name: row for name, row in ABILITIES[verb].items() if name.split("=")[0] in names or name in (ANY, "velocity")}
    return {abilities.wording(robot, verb, name, text) for name, row in rows.items() for text in row.values()}


PLANAR = "is planar: its model does not deform out of its plane"
UNHELD = ("linearize", "natural_frequencies", "cartesian_stiffness")
"""Verbs about an equilibrium, which a robot with fewer actuators than degrees of freedom has only where it hangs."""


def outcome(verb: str, c: Case, options: dict[str, Any], own: list[str]) -> Any:
    """The result, or the refusal, which must be one of the table's."""
    try:
        return call(verb, c, options)
    except fp.MotionNotFittedError as error:
        return str(error)
    except SampleError as error:
        refusal = error.reason
        loose = verb == "cartesian_stiffness" and refusal.startswith("the robot can move without any force;")
        assert loose or (verb in UNHELD and refusal.startswith("this pose is not an equilibrium:")), refusal
        assert abilities.PROPERTIES["under-actuated"](c.robot)
        return refusal
    except fp.InputError as error:
        refusal = str(error)
    known = texts(c.robot, verb, own)
    if c.robot.planar and c.robot.elastic_names and options.get("axes") == "platform" and PLANAR in refusal:
        return refusal  # platform axes may lie across the plane; tests/analysis/test_out_of_plane.py has these loads
    if verb in ("check_motion", "fit_motion"):
        known |= texts(c.robot, "inverse_dynamics", [*own, "friction"]) | texts(c.robot, "inverse_kinematics", own)
    assert refusal in known, f"{c.robot.name}: {verb}({', '.join(options)}) is refused by something else: {refusal}"
    return refusal


QUICK = ("rigid, mobility below 6", "joint springs", "under-actuated")
"""Kinds whose kernels compile in seconds."""

PULL = (-9.81, -5.0)
"""Gravity of two designs [m/s^2]."""


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[] if k == "joint springs" else pytest.mark.full) for k in KINDS])
@pytest.mark.parametrize("verb", [v for v, rows in ABILITIES.items() if "variation=sample" in rows])
def test_designs_of_every_verb(verb: str, kind: str) -> None:
    """A verb over designs says what it says of each design by itself, or refuses what it refuses of each."""
    c = case(kind)
    arguments = OPTIONS[verb][0](c)
    options = {"actuators": np.full(c.n, 1e5), "prestress": False} if "prestress" in ABILITIES[verb] else {}
    options |= {"coordinates": "independent"} if "coordinates" in ABILITIES[verb] else {}
    alone = getattr(arguments[1], "single", verb == "forward_kinematics")
    given = {"gravity.z": np.array(PULL) if alone else np.array(PULL)[:, None]}
    refused: fp.FlexapodError | None = None
    try:
        expected = [getattr(fp, verb)(c.robot.with_parameters({"gravity.z": g}), *arguments[1:], **options) for g in PULL]
    except fp.FlexapodError as error:
        refused = error
    if refused is not None:
        with pytest.raises(fp.FlexapodError) as caught:
            getattr(fp, verb)(*arguments, parameters=given, **options)
        assert str(getattr(refused, "reason", refused)) in str(caught.value)
        return
    found = getattr(fp, verb)(*arguments, parameters=given, **options)
    for k, own in enumerate(expected):
        part = found.isel(design=k)
        names = own.data_vars if isinstance(own, xr.Dataset) else [None]
        for name in names:
            a, b = (part, own) if name is None else (part[name], own[name])
            assert a.dims == b.dims
            assert not differs({"a": a.values}, {"a": b.values})


def three(c: Case, at: Any) -> list[Any]:
    """Three samples like `at`, one by one and together."""
    tied = c.n > len(c.robot.plan.platform_independent)
    shift = (0.0 if tied else 0.002) * np.arange(3.0)[:, None]
    if isinstance(at, fp.ActuatorMotion):
        arrays = {
            "position": at.position[[0, 0, 0]] + shift,
            **{k: getattr(at, k)[[0, 0, 0]] for k in ("velocity", "acceleration")},
        }
    elif isinstance(at, np.ndarray):
        arrays = {"all": np.tile(at, (3, 1)) + shift}
    else:
        known = random_states(c.robot, 3, seed=5)
        names = [k for k in known if hasattr(at, k) and (np.any(getattr(at, k)) or k in ("position", "rotation"))]
        arrays = {k: known[k] if k in names else 0.0 * known[k] for k in known if hasattr(at, k)}
    time = {"time": 0.002 * np.arange(3.0)} if hasattr(at, "time") else {}

    def some(chosen: Any) -> Any:
        own = {k: v[chosen] for k, v in {**time, **arrays}.items()}
        return own["all"] if "all" in own else type(at)(**own)

    return [*(some([i]) for i in range(3)), some([0, 1, 2])]


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[] if k == "joint springs" else pytest.mark.full) for k in KINDS])
@pytest.mark.parametrize("verb", [v for v, rows in ABILITIES.items() if "variation=sample" in rows])
def test_values_per_sample_of_every_verb(verb: str, kind: str) -> None:
    """A verb with values that differ from sample to sample says what it says of each sample's robot by itself, or refuses it."""
    c = case(kind)
    robot, at, *more = OPTIONS[verb][0](c)
    options = {"actuators": np.full(c.n, 1e5), "prestress": False} if "prestress" in ABILITIES[verb] else {}
    options |= {"coordinates": "independent"} if "coordinates" in ABILITIES[verb] else {}
    *each, whole = three(c, at)
    pull = (*PULL, PULL[0])

    def all_at_once() -> Any:
        return getattr(fp, verb)(robot, whole, *more, parameters={"gravity.z": np.array(pull)}, **options)

    refused: fp.FlexapodError | None = None
    try:
        expected = [
            getattr(fp, verb)(robot.with_parameters({"gravity.z": g}), one, *more, **options)
            for g, one in zip(pull, each, strict=True)
        ]
    except fp.FlexapodError as error:
        refused = error
    motion = abilities.kind_of(whole, fp.State)
    no_meaning = abilities.reason(robot, verb, {"variation": "sample", "motion": motion})
    if refused is not None or no_meaning is not None:
        with pytest.raises(fp.FlexapodError) as caught:
            all_at_once()
        assert str(getattr(refused, "reason", refused)) in str(caught.value) or str(caught.value) == no_meaning
        return
    found = all_at_once()
    for k, own in enumerate(expected):
        names = own.data_vars if isinstance(own, xr.Dataset) else [None]
        for name in names:
            a, b = (found, own) if name is None else (found[name], own[name])
            assert a.dims == b.dims
            assert not differs({"a": a.values[k]}, {"a": b.values[0]})


def _walked(verb: str, kind: str) -> bool:
    """Pairs of the usual run: every verb on the first of QUICK and, by turns, on one of the others."""
    return kind in (QUICK[0], QUICK[1 + sorted(OPTIONS).index(verb) % 2])


@pytest.mark.parametrize(
    ("verb", "kind"),
    [pytest.param(v, k, marks=() if _walked(v, k) else pytest.mark.full) for v in sorted(OPTIONS) for k in KINDS],
)
def test_options_are_honoured_or_refused(verb: str, kind: str) -> None:
    c = case(kind)
    defaults = {name: p.default for name, p in inspect.signature(getattr(fp, verb)).parameters.items()}
    for options in OPTIONS[verb][1](c):
        if options.get("point", "x") is None or (next(iter(options)) == "friction" and not has_friction(c.robot)):
            continue
        name = next(iter(options))
        others = {k: v for k, v in options.items() if k != name}
        base = outcome(verb, c, others, [*others, *defaults])
        found = outcome(verb, c, options, [*options, *defaults])
        if isinstance(found, str) or isinstance(base, str):
            continue  # refused, with a reason of the table
        if verb == "check_motion" and "force_margin" not in found.margins:
            continue  # the file has no limits of forces to compare with
        if name in EQUAL or (verb, name) in SAME_ANSWER or _is_default(defaults[name], options[name]):
            assert name not in EQUAL or not differs(base, found)
        else:
            assert (c.robot.name, verb, name) in NO_EFFECT or differs(base, found), f"{c.robot.name}: {verb} ignores {name}"


def _is_default(default: Any, value: Any) -> bool:
    """The default itself, or the coordinates that others become where these are the platform's or the actuators'."""
    return isinstance(value, str) and value in (default, "independent")


OWN_REFUSALS = {
    "beam_stress", "buckling", "damping_gain", "interface_loads", "moving_frequencies", "path_shaper", "plate_stress",
    "reduce_legs", "residual_vibration",
}  # fmt: skip
"""Verbs built on others: what those refuse they refuse, and their own conditions are tested where they are."""


IDENTIFICATION = {"exciting_motion", "simulated_measurement", "identify", "identify_modes", "export_payload_estimator"}
"""Their options change estimates and motions that take seconds each: tests/identification walks them on robots that fit."""


SPACE: dict[str, tuple[Callable[[Case], tuple[Any, ...]], list[dict[str, Any]]]] = {
    "singularities": (lambda c: (c.robot, c.pose), []),
    "singularity_locus": (lambda c: (c.robot, {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}), [{}]),
    "aspects": (lambda c: (c.robot, {"x": (-1.0, 1.0, 3)}), [{}]),
    "pave": (lambda c: (c.robot,), [{}, {"position": [0.0, 0.0, 0.0], "kind": "position"}]),
    "path_between": (lambda c: (c.robot, c.pose, c.pose), [{}, {"clearance": 0.01}]),
    "time_optimal": (lambda c: (c.robot, c.still, {"force": 1.0}), [{}, {"friction": True}]),
    "workspace_solid": (
        lambda c: (c.robot,),
        [
            {"clearance": 0.01}, {"mounting": 0.3}, {"mounting_axes": ((0, 0, 1), (0, 0, 1))}, {"force": 1.0}, {"wrench": WRENCH},
            {"stiffness": 1e3}, {"frequency": 1.0}, {"position": [0.0, 0.0, 0.0], "kind": "constant-orientation"},
        ],
    ),
}  # fmt: skip
"""Verbs of the space of poses: what they compute is tested where they are, here that they refuse what the table says."""


@pytest.mark.parametrize("kind", ["rigid, mobility 6", *QUICK, "redundantly actuated", "flexible platform"])
def test_verbs_of_space_refuse_by_the_table(kind: str) -> None:
    c, refused = case(kind), 0
    for verb, (arguments, requests) in SPACE.items():
        call_of = getattr(fp, verb)
        for options in requests:
            why = abilities.reason(c.robot, verb, options)
            if why is None:
                continue
            with pytest.raises(fp.InputError) as error:
                call_of(*arguments(c), **options)
            assert str(error.value) == why, verb
            refused += 1
    assert refused > 2


DESIGN = {"study", "sensitivity", "optimise", "tolerance", "calibrate", "select_poses"}
"""Their options have tests of their own in tests/design; what they refuse for a kind of robot is tested below."""

MASS = {"platform.mass": (1.0, 2.0)}
DESIGNED: dict[str, Callable[[fp.Robot], Any]] = {
    "study": lambda robot: fp.study(robot, MASS, "mass", count=2),
    "sensitivity": lambda robot: fp.sensitivity(robot, MASS, "mass", samples=0),
    "optimise": lambda robot: fp.optimise(robot, MASS, "mass", plan=2, searches=1),
    "tolerance": lambda robot: fp.tolerance(robot, {"platform.mass": 0.1}),
    "calibrate": lambda robot: fp.calibrate(robot, {"actuator_position": [[0.0]], "position": [[0.0] * 3]}, ["platform.mass"]),
    "select_poses": lambda robot: fp.select_poses(robot, fp.State(position=np.zeros((2, 3))), ["platform.mass"], 1),
}


@pytest.mark.parametrize("verb", sorted(DESIGN))
@pytest.mark.parametrize("kind", ["joint springs", "under-actuated"])
def test_design_is_refused_by_the_table(kind: str, verb: str) -> None:
    known = verb in ("study", "sensitivity", "optimise")
    if kind == "under-actuated" and known:
        pytest.skip("the mass of any rigid robot is known")
    robot = fp.load("dualemps") if known else case(kind).robot
    with pytest.raises(fp.InputError) as caught:
        DESIGNED[verb](robot)
    assert str(caught.value) in texts(robot, verb, [])


def test_table_lists_every_option() -> None:
    """Verbs that take a robot, and each of their options; no row for an option that does not exist."""
    for verb, rows in ABILITIES.items():
        parameters = inspect.signature(getattr(fp, verb)).parameters
        known = {name for name, p in parameters.items() if p.default is not inspect.Parameter.empty}
        listed = {name.split("=")[0] for name in rows if name not in (ANY, "velocity", "variation=sample")}
        assert listed == known, verb
    public = {name for name in fp.__all__ if inspect.isfunction(getattr(fp, name))}
    robots = {name for name in public if next(iter(inspect.signature(getattr(fp, name)).parameters), "") == "robot"}
    others = {"load", "export_c", "generate", "kernel", "count_table", "write_robot_file", "robot_text"} | OWN_REFUSALS
    assert robots - others <= set(ABILITIES)
    walked_elsewhere = {"simulate", "simulate_study", "workspace", "check_pose"} | IDENTIFICATION | DESIGN | {*SPACE, *BRIDGES}
    assert set(OPTIONS) | walked_elsewhere == set(ABILITIES)


@pytest.mark.parametrize("kind", KINDS)
def test_other_programs_get_the_robot_or_the_reason(kind: str, tmp_path: Path) -> None:
    """MJCF and URDF of every kind; steps with every option."""
    robot = robot_of_kind(kind)
    for verb, name in (("export_mjcf", "robot.xml"), ("export_urdf", "robot.urdf")):
        why = abilities.reason(robot, verb, {})
        if why is None:
            getattr(fp, verb)(robot, tmp_path / name)
            assert (tmp_path / name).is_file()
        else:
            with pytest.raises(fp.InputError, match=re.escape(why)):
                getattr(fp, verb)(robot, tmp_path / name)
    for verb in ("stepper", "export_fmu"):
        for options in ({"wrench": True}, {"method": "rk4"}):
            assert abilities.reason(robot, verb, options) is None


def test_conditions_are_known() -> None:
    """Every condition names a property of robots or an option of its verb."""
    for verb, rows in ABILITIES.items():
        names = {*inspect.signature(getattr(fp, verb)).parameters, "motion", *(option.split("=")[0] for option in rows)}
        for row in rows.values():
            for condition in row:
                for part in condition.split(" & "):
                    other = part.removeprefix("no ").removeprefix("with ").split("=")[0]
                    assert part in abilities.PROPERTIES or other in names, (verb, condition)


def runs(c: Case) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Options of `simulate` under test, each with what it is added to."""
    force, drive = {"force": np.full(c.n, 0.1)}, {"drive": "actuators"}
    legs = c.robot.elastic_legs
    adaptive = {**force, "method": "dopri"}
    return [
        ({"force": np.full(c.n, 5.0)}, {}), ({"wrench": c.wrench}, force), ({"controller": fp.Springs(stiffness=50.0)}, force),
        ({"friction": False}, force), ({"method": "radau" if legs else "dopri"}, force), ({"method": "implicit"}, force),
        ({"method": "rk4"}, force), ({"rtol": 1e-3}, force), ({"rtol": 1.0, "atol": 1.0}, adaptive), ({"atol": 1e-3}, force),
        ({"reactions": True}, force), ({"events": [fp.Event(time=0.001, fails=c.robot.actuators[0])]}, force),
        ({"watch": ["stroke"]}, {**force, "method": "cvode"}), ({"watch": ["stroke"]}, drive), ({"duration": 0.006}, force),
        ({"step": 5e-4}, force), ({"output_step": 2e-3}, force), ({"drive": "platform"}, {}), ({"drive": "actuators"}, {}),
        ({"force": np.full(c.n, 5.0)}, drive), ({"controller": fp.PD(kp=1.0, kd=1.0)}, drive), ({"save": "run.ckpt"}, drive),
        ({"wrench": c.wrench}, drive), ({"friction": False}, drive), ({"reactions": True}, drive), ({"method": "dopri"}, drive),
        ({"start": c.pose}, drive), ({"progress": False}, force),
    ]  # fmt: skip


BUCKLED = "no static deflection found: with these actuators held the weight and the load are beyond a buckling load"
"""A start that the soft plate of `gough-stewart-flexible` does not have on held actuators."""


def run_outcome(c: Case, options: dict[str, Any]) -> Any:
    """The run, or the refusal, which must be one of the table's or a need that is named."""
    driven = c.robot.elastic_legs or options.get("drive") == "actuators"
    motion = c.driven if driven else c.pose if options.get("drive") != "platform" else c.still
    given = {"duration": 0.004, "step": 1e-3, "progress": False, **options}
    if options.get("drive") == "actuators":
        given["duration"] = 0.002
    try:
        return fp.simulate(c.robot, motion, **given)
    except SampleError as error:
        if not error.reason.startswith(BUCKLED) or c.robot.flexible_platform is None:
            raise
        return error.reason
    except fp.InputError as error:
        refusal = str(error)
    known = texts(c.robot, "simulate", [*inspect.signature(fp.simulate).parameters])
    known |= texts(c.robot, "inverse_dynamics", []) | texts(c.robot, "forward_kinematics", [])
    named = ("drive='force': give the actuator forces", "duration: the motion ends at")
    assert refusal in known or refusal.startswith(named), f"{c.robot.name}: simulate({', '.join(options)}): {refusal}"
    return refusal


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[] if k == QUICK[0] else pytest.mark.full) for k in KINDS])
def test_options_of_simulate(kind: str) -> None:
    c = case(kind)
    for options, others in runs(c):
        name = next(iter(options))
        if name == "friction" and not has_friction(c.robot):
            continue
        base, found = run_outcome(c, others), run_outcome(c, {**others, **options})
        if isinstance(found, str) or isinstance(base, str):
            continue
        shown = [str(v) for v in found.data_vars if not str(v).endswith("energy")]
        same = name in ("progress", "save") or (name == "method" and options["method"] in ("rk4", "implicit"))
        assert same or differs(base[[v for v in shown if v in base]], found[shown]), f"{c.robot.name}: simulate ignores {name}"
