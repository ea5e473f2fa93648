"""Criteria of many designs at once: kernels with parameters per design, a robot built per design where numbers do not fit.

Designs (n, d) times poses (m) become samples (n m); the parameters of a design are repeated for its poses. Chunks are small, so
that memory does not grow with n, and every number depends on its own design alone: results do not depend on blocks or threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.inverse_dynamics import has_friction
from flexapod.analysis.inverse_kinematics import platform_inputs
from flexapod.analysis.kernels import RobotKernel, kernel
from flexapod.analysis.state import State
from flexapod.design.criteria import RULES, Criterion
from flexapod.design.design_values import DesignValues, design_values, variant
from flexapod.design.variables import Axis
from flexapod.errors import FlexapodError, InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]

CHUNK = 4096
"""Samples evaluated at a time: their parameters stay in the cache of the processor."""

ANGLE_ZEROS = (".n0.", ".y0.")
"""Numbers that fix the zeros of passive angles of closed-form legs: no criterion here reads those angles."""

MINIMAL = ("platform.mass", "platform.inertia", "platform.first_moment")
"""Numbers that may move without changing the choices of the minimal equations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluated:
    """Criteria (n, c) of designs, NaN where invalid; `code` (n,) indexes `Evaluator.reasons`, 0 is valid."""

    criteria: Array
    code: NDArray[np.int32]


class Evaluator:
    """Evaluates designs of one request.

    Args:
        robot, axes, criteria: of the request.
        at: motion or poses; home where None.

    Checked by: tests/design/test_study_rows.py.
    """

    def __init__(self, robot: Robot, axes: Sequence[Axis], criteria: Sequence[Criterion], at: Any = None) -> None:
        self.robot, self.axes, self.criteria = robot, tuple(axes), tuple(criteria)
        self.at = State(position=robot.home.position, rotation=robot.home.rotation) if at is None else at
        if any(c.function is None for c in self.criteria):
            _refuse_unfit(robot)
        self.inputs = platform_inputs(self.at)
        self.poses = len(self.inputs["position"])
        self.inputs["wrench"] = np.zeros((self.poses, 6))
        if any(leg is None for leg in robot.closed_forms):
            home = np.concatenate([leg.home for leg in robot.legs])
            self.inputs["guess"] = np.tile(home, (self.poses, 1))
        self.reasons: list[str] = [""]
        self._lock, self._local = threading.Lock(), threading.local()
        self._prepare()

    def _prepare(self) -> None:
        wanted = sorted({k for c in self.criteria if c.function is None for k in RULES[c.kind].kernels})
        generic = design_values(self.robot, self.axes, ()).robots[1]
        kernels = {name: _kernel(generic, name, minimal=False) for name in wanted if name != "masses"}
        masses = [name for name in self.robot.values if name == "platform.mass" or name.endswith(".body.mass")]
        names = {p.name for k in kernels.values() for p in k.signature.parameters} | set(masses)
        needed = sorted(name for name in names if not any(part in name for part in ANGLE_ZEROS))
        self.values: DesignValues = design_values(self.robot, self.axes, needed)
        if "forces" in kernels and all(name.startswith(MINIMAL) for name in self.values.names):
            kernels["forces"] = _kernel(generic, "forces", minimal=True)
        unfit = self.values.unfitted
        self.unfit = {name for k in kernels.values() for p in k.signature.parameters if (name := p.name) in unfit}
        self.kernels = kernels
        self._masses = masses
        self._base = {name: self._row(k) for name, k in kernels.items()}
        place = {name: i for i, name in enumerate(self.values.names)}
        self._columns = {
            name: [(j, place[p.name]) for j, p in enumerate(k.signature.parameters) if p.name in place]
            for name, k in kernels.items()
        }
        self._shift = {c.name: self._options(c) for c in self.criteria}
        self.by_kernels = not self.unfit and all(c.function is None for c in self.criteria)
        self._place = place

    def _row(self, bound: RobotKernel) -> Array:
        """Parameters of the middle design, which the polynomials start from."""
        middle = self.values.robots[0]
        turn = {n: v for n, v in zip((p.name for p in bound.signature.parameters), bound.parameters, strict=True)}
        return np.array([middle.values.get(name, turn[name]) for name in turn])

    def _options(self, criterion: Criterion) -> dict[str, Any]:
        angular = [unit == "rad" for unit in self.robot.actuator_units]
        return {**criterion.options, "length": self.robot.characteristic_length, "angular": angular}

    def __call__(self, x: Array) -> Evaluated:
        """Criteria of designs (n, d)."""
        n = len(x)
        found = Evaluated(criteria=np.full((n, len(self.criteria)), np.nan), code=np.zeros(n, dtype=np.int32))
        step = max(1, CHUNK // self.poses) if self.by_kernels else 1
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            if self.by_kernels:
                self._chunk(self.values.at(x[part]), None, found.criteria[part], found.code[part])
            else:
                self._built(x[start], found.criteria[part], found.code[part])
        return found

    def _built(self, x: Array, criteria: Array, code: NDArray[np.int32]) -> None:
        """One design as a robot of its own."""
        try:
            robot = variant(self.robot, self.axes, x)
            rows = {name: _values_row(k, robot) for name, k in self.kernels.items()}
            self._chunk(self.values.at(x[None]), rows, criteria, code)
            for k, c in enumerate(self.criteria):
                if c.function is not None and code[0] == 0:
                    criteria[0, k] = float(c.function(robot))
        except FlexapodError as error:
            code[0], criteria[:] = self._reason(str(error)), np.nan

    def _chunk(self, moved: Array, rows: Mapping[str, Array] | None, criteria: Array, code: NDArray[np.int32]) -> None:
        n = len(moved)
        outputs: dict[str, Array] = {"total_mass": self._total_mass(moved)}
        for name, bound in self.kernels.items():
            inputs, parameters = self._buffers(name, n)
            if rows is not None:
                parameters[:] = rows[name]
            else:
                repeated = np.repeat(moved, self.poses, axis=0) if self.poses > 1 else moved
                for j, k in self._columns[name]:
                    parameters[:, j] = repeated[:, k]
            batch = bound.batch(inputs, parameters)
            for i in np.flatnonzero(batch.status):
                if code[i // self.poses] == 0:
                    code[i // self.poses] = self._reason(bound.signature.status(int(batch.status[i])).text)
            for key, value in batch.outputs.items():
                outputs[key] = value.reshape(n, self.poses, *value.shape[1:])
        good = code == 0
        if not np.any(good):
            return
        kept = outputs if np.all(good) else {key: value[good] for key, value in outputs.items()}
        for k, c in enumerate(self.criteria):
            if c.function is None:
                criteria[good, k] = RULES[c.kind].reduce(kept, self._shift[c.name])
        bad = good & ~np.isfinite(criteria[:, [c.function is None for c in self.criteria]]).all(axis=1)
        if np.any(bad):
            code[bad], criteria[bad] = self._reason("a criterion is not finite (singular pose)"), np.nan

    def _total_mass(self, moved: Array) -> Array:
        middle = self.values.robots[0].values
        total = np.full(len(moved), sum(middle[m] for m in self._masses if m not in self._place))
        for name in self._masses:
            if name in self._place:
                total = total + moved[:, self._place[name]]
        return total

    def _buffers(self, name: str, n: int) -> tuple[dict[str, Array], Array]:
        """Inputs and parameters of n designs, kept per thread; only columns that move are written again."""
        kept: dict[tuple[str, int], Any] = self._local.__dict__.setdefault("kept", {})
        if (name, n) not in kept:
            if len(kept) > 4 * len(self.kernels):
                kept.clear()
            signature = self.kernels[name].signature
            inputs = {i.name: np.tile(self.inputs[i.name], (n, *[1] * (self.inputs[i.name].ndim - 1))) for i in signature.inputs}
            kept[name, n] = (inputs, np.tile(self._base[name], (n * self.poses, 1)))
        found: tuple[dict[str, Array], Array] = kept[name, n]
        return found

    def _reason(self, text: str) -> int:
        with self._lock:
            if text not in self.reasons:
                self.reasons.append(text)
            return self.reasons.index(text)


def _values_row(bound: RobotKernel, robot: Robot) -> Array:
    own = dict(zip((p.name for p in bound.signature.parameters), bound.parameters, strict=True))
    return np.array([robot.values.get(name, value) for name, value in own.items()])


def _refuse_unfit(robot: Robot) -> None:
    """Criteria of the vocabulary rest on rigid kernels of the platform's motion."""
    part = (
        "a flexible platform" if robot.flexible_platform is not None else "flexible or sprung legs" if robot.elastic_legs else ""
    )
    if robot.plan.constraints:
        part = part or "limited mobility"
    if part:
        raise InputError(
            f"criteria: {robot.name} has {part}, which the criteria of the vocabulary do not cover; "
            "give criteria as functions of a robot: Criterion(name=..., unit=..., function=lambda robot: ...)"
        )


def _kernel(robot: Robot, name: str, minimal: bool) -> RobotKernel:
    """The kernel behind a part of the vocabulary."""
    from flexapod.equations.minimal.conditions import applies

    if name == "forces" and has_friction(robot):
        return kernel(robot, "newton_euler", friction=True)
    if name == "forces" and minimal and applies(robot) is None:
        return kernel(robot, "minimal_inverse_dynamics")
    makers: dict[str, Callable[[], RobotKernel]] = {
        "forces": lambda: kernel(robot, "virtual_power"),
        "rates": lambda: kernel(robot, "inverse_kinematics"),
        "jacobian": lambda: kernel(robot, "jacobian", joints=False),
        "mass": lambda: kernel(robot, "mass_matrix"),
        "reactions": lambda: kernel(robot, "newton_euler", friction=has_friction(robot)),
    }
    return makers[name]()
