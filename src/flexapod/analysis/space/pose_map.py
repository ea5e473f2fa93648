"""Evaluation of many poses for `workspace` and `check_pose`: actuators, joints, conditioning, and the reason where one is
invalid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closing_signs import reversed_joints
from flexapod.analysis.model.dead_point import NOT_CLOSED
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.poses.pose_jacobians import pose_jacobians
from flexapod.analysis.poses.row_condition import condition_numbers, type_2_distance
from flexapod.analysis.space.limits import SLACK, RobotLimits
from flexapod.analysis.verbs.conditioning import SINGULAR
from flexapod.analysis.verbs.inverse_kinematics import FOLLOW, solve_from_starts
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Batch


UNCLOSED = "the loops cannot be closed at this pose: out of reach, or singular"


class Reasons:
    """Codes of the reasons why a pose is invalid, with their texts; 0 is valid. The same robot has the same codes."""

    def __init__(self, bound: RobotKernel | None, limits: RobotLimits, max_condition: float | None) -> None:
        robot, statuses = limits.robot, list[str]()
        if bound is not None:
            statuses = [bound.signature.status(code).text for code in range(1, len(bound.signature.statuses) + 1)]
        self.texts = ["", *statuses]
        self.not_finite_input = self._add(["an input is not a finite number"])
        self.not_finite = self._add(["the result is not a finite number (singular)"])
        self.unclosed = self._add([UNCLOSED] if bound is None else [])
        self.refused = self._add(["the robot cannot reach this pose: its mobility does not allow it"])
        span = [_span(a, b, unit) for a, b, unit in zip(limits.low, limits.high, robot.actuator_units, strict=True)]
        named = list(zip(robot.actuators, span, strict=True))
        self.below = self._add([f"actuator {name} is below its stroke {stroke}" for name, stroke in named])
        self.above = self._add([f"actuator {name} is above its stroke {stroke}" for name, stroke in named])
        rows = zip(limits.joint_names, limits.joint_low, limits.joint_high, limits.joint_units, strict=True)
        self.joint = self._add([f"joint {name} is beyond its stroke {_span(a, b, unit)}" for name, a, b, unit in rows])
        names = zip(limits.swivel_names, np.degrees(limits.angle), strict=True)
        self.angle_limit = self._add([f"joint {name} is beyond its angle limit of {limit:.6g} deg" for name, limit in names])
        self.type_1 = self._add([f"leg {leg.name} is singular (type 1)" for leg in robot.legs])
        self.type_2 = self._add(["the platform is not held by the actuators (singular, type 2)"])
        self.condition = self._add([f"the condition number is above {max_condition}"])

    def _add(self, texts: list[str]) -> int:
        first = len(self.texts)
        self.texts += texts
        return first


def _span(low: float, high: float, unit: str) -> str:
    return f"[{low:.6g}, {high:.6g}] {unit}"


@dataclass(frozen=True, kw_only=True)
class PoseFacts:
    """Facts per pose; NaN where a pose cannot be reached."""

    code: NDArray[np.int16]
    actuators: Array
    deflection: Array
    joints: Array | None
    type_1: Array
    type_2: Array
    condition: Array
    constraint: Array


class PoseMap:
    """Evaluates poses of one robot in blocks.

    Args:
        keep_limits: strokes and deflections count as reasons.
        max_condition: largest condition number that is good.
    """

    def __init__(self, limits: RobotLimits, *, keep_limits: bool = True, max_condition: float | None = None) -> None:
        self.limits, self.robot = limits, limits.robot
        self.keep_limits, self.max_condition = keep_limits, max_condition
        self._joints = len(limits.joints) > 0
        self.together = self.robot.floats or not self.robot.follows_platform
        if self.together and np.any(np.isfinite(limits.angle)):
            named = ", ".join(n for n, a in zip(limits.swivel_names, limits.angle, strict=True) if np.isfinite(a))
            raise InputError(
                f"limits.angle of {named}: is not available where loops run through several legs or the platform's own link, as "
                f"in {self.robot.name}"
            )
        self._kernel = None if self.together else kernel(self.robot, "workspace", **({"joints": True} if self._joints else {}))
        self.reasons = Reasons(self._kernel, limits, max_condition)
        self.general = self._kernel is not None and "guess" in {i.name for i in self._kernel.signature.inputs}

    @property
    def kernel(self) -> RobotKernel:
        """The kernel `workspace`."""
        if self._kernel is None:
            raise InputError(f"legs of {self.robot.name} are not closed one by one: loops run through several of them")
        return self._kernel

    def evaluate(self, position: Array, rotation: Array, guess: Array | None = None, threads: int = 1) -> PoseFacts:
        """Facts of poses (n, 3), (n, 3, 3)."""
        if self.together:
            return self._of_all_loops(position, rotation)
        inputs: dict[str, Any] = {"position": position, "rotation": np.ascontiguousarray(rotation)}
        if not self.general:
            batch = self.kernel.batch(inputs, threads=threads)
        elif guess is None:
            batch, inputs = solve_from_starts(self.kernel, inputs)
        else:
            inputs["guess"] = guess
            batch = self.kernel.batch(inputs, threads=threads)
        if "constraint" in batch.outputs:
            batch.outputs["constraint"][reversed_joints(self.robot, inputs) != ""] = np.inf
        return self.facts(batch)

    def facts(self, batch: Batch) -> PoseFacts:
        """Facts of a batch of the kernel `workspace`."""
        out, n = batch.outputs, len(batch.status)
        facts = PoseFacts(
            code=np.zeros(n, dtype=np.int16),
            actuators=out["actuator_position"],
            deflection=out.get("deflection", np.zeros((n, 0))),
            joints=out.get("joint_position"),
            type_1=out["type_1"],
            type_2=out["type_2"],
            condition=out["condition_number"],
            constraint=np.abs(out["constraint"]).max(axis=1) if "constraint" in out else np.zeros(n),
        )
        self._judge(facts, batch.status)
        return facts

    def _of_all_loops(self, position: Array, rotation: Array) -> PoseFacts:
        """Facts where loops run through several legs; joint angles are not known there."""
        found, robot, n = pose_jacobians(self.robot, position, rotation), self.robot, len(position)
        lost, length = found.reasons != "", self.robot.characteristic_length
        type_2, condition = np.full(n, np.nan), np.full(n, np.nan)
        type_2[~lost] = type_2_distance(found.rows[~lost], length)
        condition[~lost] = condition_numbers(robot, found.jacobian[~lost], found.constraint[~lost], length)
        assert found.joints is not None
        facts = PoseFacts(
            code=np.zeros(n, dtype=np.int16), actuators=found.joints[:, list(robot.driven)],
            deflection=np.full((n, len(self.limits.swivel_names)), np.nan), joints=found.joints if self._joints else None,
            type_1=found.margin, type_2=type_2, condition=condition, constraint=np.where(lost, np.inf, 0.0),
        )  # fmt: skip
        everywhere = robot.mobility.platform == (3 if robot.planar else 6)
        unclosed = lost & np.array([everywhere or str(text).startswith(NOT_CLOSED) for text in found.reasons], dtype=bool)
        self._judge(facts, np.where(unclosed, self.reasons.unclosed, 0).astype(np.int32))
        return facts

    def _judge(self, facts: PoseFacts, status: NDArray[np.int32]) -> None:
        """The first reason of every pose, in the order of `Reasons`."""
        known, code, robot = self.reasons, facts.code, self.robot
        code[:] = np.where(status > 0, status, 0)
        code[status == -1], code[status == -2] = known.not_finite_input, known.not_finite
        self._mark(code, facts.constraint > FOLLOW * max(1.0, robot.characteristic_length), known.refused)
        if self.keep_limits:
            limits = self.limits
            self._worst(code, limits.low - facts.actuators, known.below)
            self._worst(code, facts.actuators - limits.high, known.above)
            if facts.joints is not None:
                self._worst(code, -limits.joint_margin(facts.joints), known.joint)
            if np.any(np.isfinite(limits.angle)):
                self._worst(code, -limits.angle_margin(facts.deflection), known.angle_limit)
        self._worst(code, SINGULAR - facts.type_1, known.type_1)
        self._mark(code, facts.type_2 < SINGULAR, known.type_2)
        if self.max_condition is not None:
            self._mark(code, facts.condition > self.max_condition, known.condition)

    @staticmethod
    def _mark(code: NDArray[np.int16], bad: NDArray[np.bool_], value: int) -> None:
        code[bad & (code == 0)] = value

    @staticmethod
    def _worst(code: NDArray[np.int16], excess: Array, first: int) -> None:
        """Mark poses where something exceeds its limit by the one that does so most."""
        if excess.shape[1] == 0:
            return
        bad = (excess.max(axis=1) > SLACK) & (code == 0)
        code[bad] = first + excess[bad].argmax(axis=1)
