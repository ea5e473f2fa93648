"""Verbs over many designs: `parameters={path: values}` of any verb, decided in one place.

A rigid robot's verb runs once, with the numbers that vary as columns of its kernels (`robot.varied`). Other verbs and robots are
evaluated design by design, and where values differ from sample to sample, by samples that share them. All give what
`robot.with_parameters` gives for each design and sample; a design that can be no robot has its reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from types import UnionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.poses.forward_poses import forward_poses
from flexapod.analysis.requests.abilities import kind_of, refuse
from flexapod.analysis.requests.design_request import DesignAnswer, DesignRequest, impossible_inertias, read_request
from flexapod.analysis.requests.design_values import DesignValues, values_near, variant
from flexapod.analysis.requests.properties import depends_on_loads, has_friction, holds
from flexapod.analysis.requests.results import SampleError, check_option, failing
from flexapod.analysis.requests.sample_arrays import moments, options_of, repeated, samples_of, shaped
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.motion import ActuatorMotion, Motion, with_start
from flexapod.robot.positive_mass import has_grouped
from flexapod.robot.varied_numbers import Varied, with_columns

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

    Result = xr.Dataset | xr.DataArray

P = ParamSpec("P")
R = TypeVar("R", bound="xr.Dataset | xr.DataArray")
Call = Callable[["Robot", DesignAnswer, Any, dict[str, Any]], Any]
"""A verb of a robot at a part of the samples: robot, part, motion or states, options."""

FOLLOWED = "forward_kinematics"
"""The verb whose poses others follow from sample to sample (`forward_poses`)."""

ALL = "all of it"
BY_KERNELS: dict[str, dict[str, Any]] = {
    "inverse_kinematics": {},
    "inverse_dynamics": {"reactions": False, "contributions": None, "spin": "exact", "legs": "full"},
    "forward_dynamics": {"reactions": False},
    "mass_matrix": {},
    "gravity_force": {},
    "coriolis_force": {},
    "jacobian": {},
    "energy": {ALL: None},
}
"""Verbs whose kernels take designs as columns; options that need a robot's geometry, with the value that leaves them out."""


def over_designs(verb: Callable[P, R]) -> Callable[P, R]:
    """A verb whose `parameters` are designs, evaluated here.

    Checked by: tests/analysis/test_designs.py.
    """
    signature = inspect.signature(verb)
    first, second, *_ = signature.parameters

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs.get("parameters") is None:
            return verb(*args, **kwargs)
        given = dict(signature.bind(*args, **kwargs).arguments)
        robot, at, parameters = given.pop(first), given.pop(second), given.pop("parameters")
        result: R = _evaluated(verb.__name__, verb, robot, (second, at), parameters, given)
        return result

    return call


def _evaluated(
    name: str,
    verb: Callable[..., Result],
    robot: Robot,
    given_at: tuple[str, StateOrMotion],
    parameters: Mapping[str, ArrayLike],
    options: dict[str, object],
) -> Any:
    at = given_at[1]
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters: expected a mapping of paths to values, got {type(parameters).__name__}")
    on_error = str(options.get("on_error", "raise"))
    check_option("on_error", on_error, ("raise", "mask"))
    samples = sample_count(given_at[0], at, len(robot.actuators))
    request = read_request(robot, parameters, samples)
    chosen = {option: options[option] for option in ("elastic", "sequence") if option in options}
    variation = "sample" if request.per_sample else "design"
    refuse(robot, name, parameters=parameters, variation=variation, motion=kind_of(at, State), **chosen)
    designs = Designs(request)
    if _takes_columns(name, designs, at, options):
        result = designs.checked_result(name, on_error, lambda: _at_once(verb, designs, at, options))
    else:
        in_order = _follows(at, options, ActuatorMotion)
        call = _call_per_part(name, verb, designs, at, parameters, in_order)
        result = designs.checked_result(name, on_error, lambda: _one_by_one(call, designs, at, options, in_order))
    reasons = designs.reason_rows() if on_error == "mask" else None
    return shaped(result, request, reasons, at, _follows(at, options, Motion | ActuatorMotion))


def _follows(at: StateOrMotion, options: Mapping[str, object], kinds: type | UnionType) -> bool:
    """Whether each sample starts from the one before: on request, or because these are samples of a motion."""
    asked = options.get("continuation")
    return isinstance(at, kinds) if asked is None else bool(asked)


def sample_count(name: str, at: StateOrMotion | Array, actuators: int) -> int | None:
    """Number of samples of a verb's second argument, None for one."""
    if name == "actuator_position" and not isinstance(at, ActuatorMotion):
        shape = np.asarray(at).shape
        return None if len(shape) < 2 else shape[0]
    return None if getattr(at, "single", False) else len(at)


class Designs:
    """The designs of a request, their numbers and their reasons."""

    def __init__(self, request: DesignRequest) -> None:
        self.request, self.robot = request, request.robot
        self.axes = request.axes()
        self.reasons = request.reasons
        self._columns: dict[str, Array] = {}
        self._built: dict[int, Robot | None] = {}

    @cached_property
    def values(self) -> DesignValues | None:
        """Numbers of designs as functions of what varies; None where there are none."""
        if any(path.split(".")[0] == "home" for path in self.request.paths):
            return None
        try:
            return values_near(self.robot, self.axes)
        except FlexapodError:
            return None  # no design near the middle can be built: each has its own reason

    def varied(self) -> Varied:
        """The numbers that differ, sample after sample."""
        assert self.values is not None
        moved = frozenset(self.values.names) | self.values.unfitted
        return Varied(count=self.request.count, moved=moved, column=self._column, robots=self.values.robots[1:])

    def check(self) -> None:
        """Reasons of designs whose inertias no body has."""
        assert self.values is not None
        bodies = [n for n in self.values.names if ".inertia." in n or ".first_moment." in n or n.endswith(".mass")]
        if bodies:
            found = impossible_inertias(self.robot, {n: self.values.column(self.request.x, n) for n in bodies})
            if found is not None:
                self.reasons = found if self.reasons is None else np.where(self.reasons == "", found, self.reasons)

    def robot_of(self, part: DesignAnswer) -> Robot | None:
        """The robot of a part, built; None, with a reason, where it can be none."""
        i = int(part.rows[0])
        if i not in self._built:
            self._built[i] = self._build(part)
        return self._built[i]

    def _build(self, part: DesignAnswer) -> Robot | None:
        i = part.rows[0]
        if self.reasons is not None and self.reasons[i] != "":
            return None
        try:
            return variant(self.robot, self.axes, self.request.x[i])
        except FlexapodError as error:
            self.say(part, str(error))
            return None

    def say(self, part: DesignAnswer, reason: str) -> None:
        """Note why a part has no result."""
        if self.reasons is None:
            self.reasons = np.full(len(self.request.x), "", dtype=object)
        self.reasons[part.rows] = reason

    def _column(self, name: str) -> Array:
        """Values (samples,) of a number; those of a design that can be no robot are the robot's own."""
        assert self.values is not None
        if name not in self._columns:
            own = self.robot.values[name]
            if name in self.values.unfitted:
                column = np.full(len(self.request.x), own)
                for part in self.request.parts(in_order=False):
                    robot = self.robot_of(part)
                    column[part.rows] = own if robot is None else robot.values[name]
            else:
                column = self.values.column(self.request.x, name)
                column = column if self.reasons is None else np.where(self.reasons != "", own, column)
            self._columns[name] = column if len(column) == self.request.count else np.repeat(column, self.request.samples or 1)
        return self._columns[name]

    def checked_result(self, name: str, on_error: str, run: Callable[[], Any]) -> Any:
        """The result of a call; designs without one raise, unless they are to be masked."""
        what = name.replace("_", " ")
        if on_error == "raise":
            self.raise_first(what)
        try:
            result = run()
        except SampleError as error:
            raise self._named(what, error) from None
        if on_error == "raise":
            self.raise_first(what)
        return result

    def reason_rows(self) -> NDArray[Any]:
        """Reasons (rows,) of designs, empty where there is none."""
        return np.full(len(self.request.x), "", dtype=object) if self.reasons is None else self.reasons

    def raise_first(self, what: str) -> None:
        """Raise for the first design that can be no robot."""
        if self.reasons is None:
            return
        bad = np.flatnonzero(self.reasons != "")
        i, many = int(bad[0]), len(self.reasons) > 1
        count = failing(len(bad), len(self.reasons)) if many else ""
        reason = str(self.reasons[i])
        raise SampleError(f"{what} of {self.robot.name}, {self._place(i, whole=False)}: {reason}.{count}", i, reason, bad)

    def _named(self, what: str, error: SampleError) -> SampleError:
        """The error of a sample, with its design."""
        count = failing(len(error.bad), self.request.count)
        text = f"{what} of {self.robot.name}, {self._place(error.sample, whole=True)}: {error.reason}.{count}"
        return SampleError(text, error.sample, error.reason, error.bad)

    def placed(self, part: DesignAnswer, error: FlexapodError) -> FlexapodError:
        """The error of a part, with its sample among those of all designs, or with its design."""
        if not isinstance(error, SampleError):
            return InputError(f"{self._place(int(part.rows[0]), whole=False)}: {error}")
        n = self.request.samples or 1
        sample = part.design * n + (np.arange(n) if part.samples is None else part.samples)
        return SampleError(str(error), int(sample[error.sample]), error.reason, sample[error.bad])

    def _place(self, i: int, whole: bool) -> str:
        """Design and sample of a row, or of a sample of all (`whole`)."""
        n = self.request.samples
        if self.request.designs is None:
            return f"sample {i}"
        if n is None or not (whole or self.request.per_sample):
            return f"design {i}"
        return f"design {i // n}, sample {i % n}"


def _takes_columns(name: str, designs: Designs, at: StateOrMotion, options: Mapping[str, object]) -> bool:
    """The kernels of a verb can take the designs as columns."""
    robot = designs.robot
    redundant = len(robot.actuators) > len(robot.plan.platform_independent)
    elsewhere = robot.elastic_names or robot.moved_by == "actuators" or redundant
    if name not in BY_KERNELS or isinstance(at, ActuatorMotion) or elsewhere:
        return False
    values = designs.values
    if values is None:
        return False
    if has_grouped(robot) and any(part in n for n in values.names for part in (".mass", ".first_moment.", ".inertia.")):
        return False
    facts = {(has_friction(r), depends_on_loads(r), r.structure) for r in (robot, *values.robots)}
    if len(facts) > 1:
        return False
    asked = any(option in options and options[option] != plain for option, plain in BY_KERNELS[name].items())
    return not (designs.varied().geometry and (asked or ALL in BY_KERNELS[name]))


def _at_once(verb: Callable[..., Result], designs: Designs, at: StateOrMotion, options: dict[str, object]) -> Result:
    """Evaluate all designs in one call."""
    request = designs.request
    designs.check()
    if options.get("on_error", "raise") == "raise":
        designs.raise_first(verb.__name__.replace("_", " "))
    robot = with_columns(designs.robot, designs.varied())
    own = repeated(options, request)
    if request.designs is None:
        return verb(robot, at, **own)
    return verb(robot, moments(at, request), **own)


def _one_by_one(
    call: Call, designs: Designs, at: StateOrMotion, options: dict[str, object], in_order: bool
) -> list[tuple[DesignAnswer, Any]]:
    """A call per design, or per part of its samples; None for those that can be no robot or have no result."""
    results: list[tuple[DesignAnswer, Any]] = []
    for part in designs.request.parts(in_order):
        robot, own, chosen, result = designs.robot_of(part), at, options, None
        if part.samples is not None:
            own, chosen = samples_of(at, part.samples), options_of(options, part.samples, designs.request.samples or 1)
        try:
            result = None if robot is None else call(robot, part, own, chosen)
        except FlexapodError as error:
            if options.get("on_error") != "mask":
                raise designs.placed(part, error) from error
            designs.say(part, error.reason if isinstance(error, SampleError) else str(error))
        results.append((part, result))
    return results


def _call_per_part(
    name: str,
    verb: Callable[..., Result],
    designs: Designs,
    at: StateOrMotion,
    parameters: Mapping[str, ArrayLike],
    in_order: bool,
) -> Call:
    """The call of a verb for a part. Poses that follow from actuators which move on start from the last one before the part."""
    if not in_order or not designs.request.per_sample:
        return lambda robot, part, own, options: verb(robot, own, **options)
    if name == FOLLOWED:
        return _pose_by_pose(verb)
    if not holds(designs.robot, "rigid"):  # flexible robots are closed from home
        return lambda robot, part, own, options: verb(robot, own, **options)
    poses = _evaluated(FOLLOWED, forward_poses, designs.robot, ("actuator_position", at), parameters, {"on_error": "mask"})

    def call(robot: Robot, part: DesignAnswer, own: StateOrMotion, options: dict[str, object]) -> Any:
        way = poses.isel(design=part.design) if "design" in poses.dims else poses
        assert part.samples is not None
        assert isinstance(own, ActuatorMotion)  # only samples of such a motion go on from the one before
        return verb(robot, with_start(own, _last_pose(way.isel(time=slice(part.samples[0] + 1)))), **options)

    return call


def _pose_by_pose(verb: Callable[..., Result]) -> Call:
    """Forward kinematics, each part of a design from the last pose of the part before."""
    last: dict[int, State | None] = {}

    def call(robot: Robot, part: DesignAnswer, own: StateOrMotion, options: dict[str, object]) -> Any:
        near = last.get(part.design)
        given = options if near is None or not robot.follows_platform else {**options, "guess": near}
        found = verb(robot, own, **given)
        last[part.design] = _last_pose(found) or near
        return found

    return call


def _last_pose(found: Result) -> State | None:
    """The last pose of a result of forward kinematics that was found."""
    good = np.flatnonzero(np.isfinite(found["position"].values).all(axis=1))
    if not len(good):
        return None
    return State(position=found["position"].values[good[-1]], rotation=found["rotation"].values[good[-1]])
