"""Criteria of many designs at once: kernels with parameters per design, a robot built per design where numbers do not fit.

Designs (n, d) times poses (m) become samples (n m); the parameters of a design are repeated for its poses. Chunks are small, so
that memory does not grow with n, and every number depends on its own design alone: results do not depend on blocks or threads.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.continuous_angles import make_continuous
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.design_values import DesignValues, design_values, variant
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.inverse_kinematics import joint_rates, platform_inputs, unfollowed
from flexapod.arrays import Array
from flexapod.design.criteria import RULES, Criterion
from flexapod.design.design_kernels import MINIMAL, KernelPart, box_part, make_part, parameter_names
from flexapod.design.loop_criteria import by_verbs, takes_verbs
from flexapod.design.reachable import box_poses, leg_pairs
from flexapod.design.variables import Axis
from flexapod.equations.deflections import swivels
from flexapod.errors import FlexapodError, InputError
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Batch
    from flexapod.robot.robot import Robot


CHUNK = 16_384
"""Samples evaluated at a time: their results stay in the cache of the processor."""


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

    def __init__(
        self, robot: Robot, axes: Sequence[Axis], criteria: Sequence[Criterion], at: State | Motion | None = None
    ) -> None:
        self.robot, self.axes, self.criteria = robot, tuple(axes), tuple(criteria)
        self.at = State.at_home(robot) if at is None else at
        if takes_verbs(robot):
            self.criteria = tuple(by_verbs(c, self.at, self._all_options(c)) if c.function is None else c for c in self.criteria)
        self.ruled = [c for c in self.criteria if c.function is None]
        if self.ruled:
            refuse(robot, "study", criteria="vocabulary")
        self.inputs = self._with_guess(platform_inputs(self.at))
        self.inputs["wrench"] = np.zeros((len(self.inputs["position"]), 6))
        self.reasons: list[str] = [""]
        self._lock, self._local = threading.Lock(), threading.local()
        self._prepare()
        self.poses = max([part.poses for part in self.parts], default=len(self.inputs["position"]))

    def _with_guess(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Inputs with joint coordinates of the drawing to start from, where legs are closed by Newton's method."""
        result = dict(inputs)
        if any(form is None for form in self.robot.closed_forms):
            rates = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
            still = {name: np.zeros_like(inputs["position"]) for name in rates}
            result["guess"] = np.ascontiguousarray(joint_rates(self.robot, {**still, **inputs})[2])
        return result

    def _prepare(self) -> None:
        robot = self.robot
        kinds = {k for c in self.ruled for k in RULES[c.kind].kernels}
        if kinds and robot.plan.constraints:
            kinds.add("rates")  # reports whether the robot can follow the poses
        generic = design_values(robot, self.axes, ()).robots[1]
        names = sorted(kinds - {"masses", "volume"})
        self.masses = [name for name in robot.values if name == "platform.mass" or name.endswith(".body.mass")]
        self.options, boxes = {}, []
        for c in self.ruled:
            self.options[c.name] = self._all_options(c)
            if c.kind == "workspace_volume":
                poses, self.options[c.name]["cell"] = box_poses(robot, c.name, c.options["box"])
                boxes.append(box_part(generic, c.name, self._with_guess(poses), c.options.get("max_condition")))
        parts = [*(make_part(name, generic, self.inputs, minimal=False) for name in names), *boxes]
        needed = sorted(parameter_names(parts) | set(self.masses))
        self.values: DesignValues = design_values(robot, self.axes, needed)
        if all(name.startswith(MINIMAL) for name in self.values.names):
            parts = [make_part("forces", generic, self.inputs, True) if p.name == "forces" else p for p in parts]
        self.parts = tuple(parts)
        unfit = bool(parameter_names(parts) & self.values.unfitted)
        limits = bool(boxes) and any(".limits." in path for axis in self.axes for path in axis.paths)
        self.by_kernels = not unfit and not limits and len(self.ruled) == len(self.criteria)
        self.base = [part.base(self.values.robots[0]) for part in parts]

    def _all_options(self, criterion: Criterion) -> dict[str, Any]:
        """Options of a criterion, with what its reduction must know of the robot."""
        robot = self.robot
        found = {
            **criterion.options, "length": robot.characteristic_length, "constraints": robot.plan.constraints,
            "angular": [unit == "rad" for unit in robot.actuator_units],
        }  # fmt: skip
        if criterion.kind == "leg_distance":
            found["pairs"] = leg_pairs(robot, criterion.name)
        if criterion.kind == "joint_angle" and not swivels(robot):
            raise InputError(f"criteria: {criterion.name}: {robot.name} has no passive joint whose deflection is known")
        return found

    def __call__(self, x: Array) -> Evaluated:
        """Criteria of designs (n, d)."""
        n = len(x)
        found = Evaluated(criteria=np.full((n, len(self.criteria)), np.nan), code=np.zeros(n, dtype=np.int32))
        step = max(1, CHUNK // self.poses) if self.by_kernels else 1
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            if self.by_kernels:
                self._chunk(x[part], None, found.criteria[part], found.code[part])
            else:
                self._built(x[start], found.criteria[part], found.code[part])
        return found

    def _built(self, x: Array, criteria: Array, code: NDArray[np.int32]) -> None:
        """One design as a robot of its own."""
        try:
            robot = variant(self.robot, self.axes, x)
            self._chunk(x[None], robot, criteria, code)
            returned = {k: c.function(robot) for k, c in enumerate(self.criteria) if c.function is not None and code[0] == 0}
        except FlexapodError as error:
            code[0], criteria[:] = self._reason(str(error)), np.nan
            return
        for k, value in returned.items():
            criteria[0, k] = returned_number(self.criteria[k].name, value)
            if not np.isfinite(criteria[0, k]):
                code[0] = self._reason(f"{self.criteria[k].name}: its function returned {criteria[0, k]:g}")
        if code[0]:
            criteria[:] = np.nan

    def _chunk(self, x: Array, robot: Robot | None, criteria: Array, code: NDArray[np.int32]) -> None:
        """Criteria of a few designs from their numbers, or of one robot."""
        n = len(x)
        outputs: dict[str, Array] = {"total_mass": self._total_mass(x, robot)}
        for k, part in enumerate(self.parts):
            if part.map is not None and robot is not None:
                part = box_part(robot, part.key, part.inputs, part.map.max_condition)
            inputs = self._inputs(k, n)
            own = self.values.parameters(x, part.names, self.base[k], part.poses) if robot is None else part.base(robot)
            batch = part.bound.batch(inputs, own)
            if part.map is None:
                self._note(part, batch, inputs, code)
            outputs |= self.continuous(part.outputs(batch, n))
        self._reduced(outputs, criteria, code)

    def _reduced(self, outputs: dict[str, Array], criteria: Array, code: NDArray[np.int32]) -> None:
        good = code == 0
        if not np.any(good):
            return
        kept = outputs if np.all(good) else {key: value[good] for key, value in outputs.items()}
        for k, c in enumerate(self.criteria):
            if c.function is None:
                own = {**kept, "reachable": kept["reachable" + c.name]} if c.kind == "workspace_volume" else kept
                criteria[good, k] = RULES[c.kind].value(own, self.options[c.name])
        bad = good & ~np.isfinite(criteria[:, [c.function is None for c in self.criteria]]).all(axis=1)
        if np.any(bad):
            code[bad], criteria[bad] = self._reason("a criterion is not finite (singular pose)"), np.nan

    def _note(self, part: KernelPart, batch: Batch, inputs: Mapping[str, Array], code: NDArray[np.int32]) -> None:
        """The reasons of designs that a kernel cannot evaluate at some pose."""
        for i in np.flatnonzero(batch.status):
            if code[i // part.poses] == 0:
                code[i // part.poses] = self._reason(part.bound.signature.status(int(batch.status[i])).text)
        if part.name == "rates" and "constraint" in batch.outputs:
            for i in np.flatnonzero(unfollowed(self.robot, batch, inputs, isinstance(self.at, Motion))):
                if code[i // part.poses] == 0:
                    code[i // part.poses] = self._reason("the robot cannot follow the motion: its legs do not allow it")

    def continuous(self, outputs: dict[str, Array]) -> dict[str, Array]:
        """Angles of revolute actuators near home and without jumps along a motion."""
        angles = np.array([unit == "rad" for unit in self.robot.actuator_units])
        if "actuator_position" in outputs and np.any(angles):
            near = np.concatenate([leg.home for leg in self.robot.legs])[list(self.robot.driven)]
            for q in outputs["actuator_position"]:
                make_continuous(q, angles, near, along=isinstance(self.at, Motion))
        return outputs

    def _total_mass(self, x: Array, robot: Robot | None) -> Array:
        numbers = (self.values.robots[0] if robot is None else robot).values
        fixed = [m for m in self.masses if robot is not None or m not in self.values.names]
        total = np.full(len(x), sum(numbers[m] for m in fixed))
        for name in sorted(set(self.masses) - set(fixed)):
            total = total + self.values.column(x, name)
        return total

    def _inputs(self, part: int, n: int) -> dict[str, Array]:
        """Inputs of n designs, kept per thread."""
        kept: dict[tuple[int, int], Any] = self._local.__dict__.setdefault("kept", {})
        if (part, n) not in kept:
            if len(kept) > 4 * len(self.parts):
                kept.clear()
            kept[part, n] = self.parts[part].tiled(n)
        found: dict[str, Array] = kept[part, n]
        return found

    def _reason(self, text: str) -> int:
        with self._lock:
            if text not in self.reasons:
                self.reasons.append(text)
            return self.reasons.index(text)


def returned_number(name: str, value: object) -> float:
    """The value returned by a criterion's function, as a number; anything else is an error of the function, not of a design."""
    try:
        array = np.asarray(value)
    except Exception:
        array = np.asarray(None)
    if array.shape != () or array.dtype.kind not in "biuf":
        shown = repr(value) if isinstance(value, str | complex | None) else f"a {type(value).__name__} of shape {array.shape}"
        raise InputError(f"criteria: {name}: its function returned {shown[:80]}; expected one number per robot")
    return float(array)
