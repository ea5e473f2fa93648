"""Verbs over many designs: `parameters={path: values}` of any verb, decided in one place.

A rigid robot's verb runs once, with the numbers that vary as columns of its kernels (`robot.varied`). Other verbs and robots are
evaluated design by design. Both give what `robot.with_parameters` gives for each design; a design that can be no robot has its
reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.design_request import Request, impossible_inertias, read_request
from flexapod.analysis.requests.design_values import DesignValues, values_near, variant
from flexapod.analysis.requests.properties import depends_on_loads, has_friction
from flexapod.analysis.requests.results import SampleError, check_option, failing
from flexapod.analysis.requests.sample_arrays import moments, repeated, shaped
from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.physical import has_grouped
from flexapod.robot.varied import Varied, with_columns

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

P = ParamSpec("P")
R = TypeVar("R")

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
        result: R = _evaluated(verb, robot, (second, at), parameters, given)
        return result

    return call


def _evaluated(
    verb: Callable[..., Any], robot: Robot, given_at: tuple[str, Any], parameters: Any, options: dict[str, Any]
) -> Any:
    name, at = verb.__name__, given_at[1]
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters: expected a mapping of paths to values, got {type(parameters).__name__}")
    on_error = options.get("on_error", "raise")
    check_option("on_error", on_error, ("raise", "mask"))
    samples = sample_count(given_at[0], at, len(robot.actuators))
    request = read_request(robot, parameters, samples)
    refuse(robot, name, parameters=parameters, variation="sample" if request.per_sample else "design")
    designs = Designs(request)
    if _takes_columns(name, designs, at, options):
        return designs.settled(name, on_error, at, lambda: _at_once(verb, designs, at, options))
    return designs.settled(name, on_error, at, lambda: _one_by_one(verb, designs, at, options))


def sample_count(name: str, at: Any, actuators: int) -> int | None:
    """Number of samples of a verb's second argument, None for one."""
    if name == "actuator_position" and not isinstance(at, ActuatorMotion):
        shape = np.shape(at)
        return None if len(shape) < 2 else shape[0]
    return None if getattr(at, "single", False) else len(at)


class Designs:
    """The designs of a request, their numbers and their reasons."""

    def __init__(self, request: Request) -> None:
        self.request, self.robot = request, request.robot
        self.axes = request.axes()
        self.reasons = request.reasons
        self._columns: dict[str, Array] = {}
        self._built: list[Robot | None] | None = None
        self.values: DesignValues | None = None
        if not any(path.split(".")[0] == "home" for path in request.paths):
            try:
                self.values = values_near(self.robot, self.axes)
            except FlexapodError:
                self.values = None  # no design near the middle can be built: each has its own reason

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

    def robots(self) -> list[Robot | None]:
        """Every design, built; None, with a reason, where it can be none."""
        if self._built is None:
            self._built = [self._build(i) for i in range(len(self.request.x))]
        return self._built

    def _build(self, i: int) -> Robot | None:
        if self.reasons is not None and self.reasons[i] != "":
            return None
        try:
            return variant(self.robot, self.axes, self.request.x[i])
        except FlexapodError as error:
            self.say(i, str(error))
            return None

    def say(self, i: int, reason: str) -> None:
        """Note why a design has no result."""
        if self.reasons is None:
            self.reasons = np.full(len(self.request.x), "", dtype=object)
        self.reasons[i] = reason

    def _column(self, name: str) -> Array:
        """Values (samples,) of a number; those of a design that can be no robot are the robot's own."""
        assert self.values is not None
        if name not in self._columns:
            own = self.robot.values[name]
            if name in self.values.unfitted:
                column = np.array([own if robot is None else robot.values[name] for robot in self.robots()])
            else:
                column = self.values.column(self.request.x, name)
                column = column if self.reasons is None else np.where(self.reasons != "", own, column)
            self._columns[name] = column if len(column) == self.request.count else np.repeat(column, self.request.samples or 1)
        return self._columns[name]

    def settled(self, name: str, on_error: str, at: Any, run: Callable[[], Any]) -> Any:
        """The result of a run; designs without one raise, or are masked."""
        what = name.replace("_", " ")
        if on_error == "raise":
            self.raise_first(what)
        try:
            result = run()
        except SampleError as error:
            raise self._named(what, error) from None
        if on_error == "raise":
            self.raise_first(what)
        return shaped(result, self.request, self._said() if on_error == "mask" else None, at)

    def _said(self) -> NDArray[Any]:
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

    def _place(self, i: int, whole: bool) -> str:
        """Design and sample of a row, or of a sample of all (`whole`)."""
        n = self.request.samples
        if self.request.designs is None:
            return f"sample {i}"
        if n is None or not (whole or self.request.per_sample):
            return f"design {i}"
        return f"design {i // n}, sample {i % n}"


def _takes_columns(name: str, designs: Designs, at: Any, options: Mapping[str, Any]) -> bool:
    """The kernels of a verb can take the designs as columns."""
    robot, values = designs.robot, designs.values
    if name not in BY_KERNELS or values is None or isinstance(at, ActuatorMotion):
        return False
    redundant = len(robot.actuators) - len(robot.plan.platform_independent)
    moments = any(part in name for name in values.names for part in (".mass", ".first_moment.", ".inertia."))
    if robot.elastic_names or robot.moved_by == "actuators" or redundant or (moments and has_grouped(robot)):
        return False
    facts = {(has_friction(r), depends_on_loads(r), r.structure) for r in (robot, *values.robots)}
    if len(facts) > 1:
        return False
    asked = any(option in options and options[option] != plain for option, plain in BY_KERNELS[name].items())
    return not (designs.varied().geometry and (asked or ALL in BY_KERNELS[name]))


def _at_once(verb: Callable[..., Any], designs: Designs, at: Any, options: dict[str, Any]) -> Any:
    """One call for all designs."""
    request = designs.request
    designs.check()
    if options.get("on_error", "raise") == "raise":
        designs.raise_first(verb.__name__.replace("_", " "))
    robot = with_columns(designs.robot, designs.varied())
    own = repeated(options, request)
    if request.designs is None:
        return verb(robot, at, **own)
    return verb(robot, moments(at, request), **own)


def _one_by_one(verb: Callable[..., Any], designs: Designs, at: Any, options: dict[str, Any]) -> list[Any]:
    """A call per design; None for those that can be no robot or have no result."""
    results: list[Any] = []
    mask = options.get("on_error") == "mask"
    for i, robot in enumerate(designs.robots()):
        if robot is None:
            results.append(None)
            continue
        try:
            results.append(verb(robot, at, **options))
        except SampleError as error:
            if not mask:
                n = designs.request.samples or 1
                raise SampleError(str(error), i * n + error.sample, error.reason, i * n + error.bad) from None
            designs.say(i, error.reason)
            results.append(None)
        except FlexapodError as error:
            if not mask:
                raise InputError(f"design {i}: {error}") from error
            designs.say(i, str(error))
            results.append(None)
    return results
