"""The state of a studio, without a page: robot, its variants with undo, pose, numbers, a kept variant to compare with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.views.studio.moved_coordinates import PoseCoordinates, coordinates_of, pose_values, state_of
from flexapod.views.studio.numbers import FILE, BrokenLimit, Numbers, Origin, numbers_of

if TYPE_CHECKING:
    from flexapod.views.studio.jobs import JobReport

LARGEST = 2_000_000
"""Largest robot file that a page may send [bytes]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Variant:
    """A robot with the changes that led to it, as text: `platform.mass = 60`."""

    robot: fp.Robot
    changes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The changes in one line."""
        return "; ".join(self.changes) or FILE


@dataclass(kw_only=True, eq=False)
class Session:
    """State of one studio. Methods change the state and leave it as it was where they raise.

    Args:
        variants, current: history for undo, and where it is.
        kept: a variant to compare with.
        reactions: numbers include joint reactions.
        force: (3,) [N] that a person put onto the platform's origin, world axes.
        asked: pose that was dragged to where that is beyond limits, and the robot halted before it.
    """

    variants: list[Variant]
    coordinates: PoseCoordinates
    values: tuple[float, ...]
    numbers: Numbers
    current: int = 0
    kept: Variant | None = None
    kept_numbers: Numbers | None = None
    reactions: bool = False
    force: tuple[float, ...] = ()
    asked: fp.State | None = None
    last_good: fp.State = field(init=False)

    def __post_init__(self) -> None:
        self.last_good = self.numbers.state

    @staticmethod
    def start(robot: fp.Robot) -> Session:
        """A studio with a robot at home."""
        coordinates = coordinates_of(robot)
        numbers = numbers_of(robot, fp.State.at_home(robot))
        return Session(variants=[Variant(robot=robot)], coordinates=coordinates, values=coordinates.home, numbers=numbers)

    @property
    def robot(self) -> fp.Robot:
        """The variant that is shown."""
        return self.variants[self.current].robot

    @property
    def variant(self) -> Variant:
        """The variant that is shown, with its changes."""
        return self.variants[self.current]

    def move(self, values: Sequence[float]) -> Numbers:
        """Move to values of the coordinates; numbers of what is out of reach say why.

        Checked by: tests/studio/test_studio_model.py.
        """
        given = tuple(float(v) for v in values)
        if len(given) != len(self.coordinates.items) or not np.all(np.isfinite(given)):
            raise fp.InputError(f"expected {len(self.coordinates.items)} finite numbers for {', '.join(self.coordinates.names)}")
        self.values, self.asked = given, None
        return self.evaluate()

    def move_one(self, name: str, value: float) -> Numbers:
        """Move one coordinate."""
        k = self.coordinates.names.index(name)
        return self.move([*self.values[:k], value, *self.values[k + 1 :]])

    def home(self) -> Numbers:
        """Go back to the home pose."""
        return self.move(self.coordinates.home)

    def place(self, position: ArrayLike, rotation: ArrayLike) -> Numbers:
        """Move the platform to a pose, as near as the robot's coordinates allow: where it is dragged."""
        from flexapod.views.studio.drag import actuators_near

        if self.coordinates.kind == "pose":
            return self.move(pose_values(self.robot, self.coordinates.names, np.asarray(position), np.asarray(rotation)))
        return self.move(actuators_near(self.robot, self.coordinates, self.values, self.last_good, np.asarray(position)))

    def drag(self, position: ArrayLike, rotation: ArrayLike) -> Numbers:
        """Move the platform towards a pose and halt at the first limit on the way; `asked` is then the pose beyond it.

        Checked by: tests/studio/test_studio_drag.py.
        """
        from flexapod.views.studio.drag import halted

        if self.coordinates.kind != "pose" or not self.numbers.good:
            return self.place(position, rotation)
        target = pose_values(self.robot, self.coordinates.names, np.asarray(position), np.asarray(rotation))
        values = halted(self.robot, self.coordinates, self.values, target)
        numbers = self.move(values)
        if values != target:
            self.asked = state_of(self.robot, self.coordinates, target)
        return numbers

    def push(self, force: Sequence[float]) -> Numbers:
        """Apply another force (3,) [N] at the platform's origin."""
        given = tuple(float(x) for x in force)
        if len(given) != 3 or not np.all(np.isfinite(given)):
            raise fp.InputError("force on the platform: expected three finite numbers [N]")
        before, self.force = self.force, given if any(given) else ()
        try:
            return self.evaluate()
        except fp.FlexapodError:
            self.force = before
            raise

    def evaluate(self) -> Numbers:
        """Numbers of the pose for the shown variant and the kept one."""
        self.numbers = self._numbers(self.variant)
        if self.numbers.taken:
            self.last_good = self.numbers.state
        self.kept_numbers = None if self.kept is None else self._numbers(self.kept)
        return self.numbers

    def _numbers(self, variant: Variant) -> Numbers:
        robot = variant.robot
        try:
            state = state_of(robot, self.coordinates, self.values, guess=self.last_good)
        except fp.FlexapodError as error:
            lost = np.full(len(robot.actuators), np.nan)
            return replace(
                self.numbers, origin=Origin.of(robot, self.last_good, variant.label), state=self.last_good, taken=False,
                problems=(BrokenLimit(owner="platform", text=str(error)),), actuator=lost, force=lost, condition=np.nan,
                type_2=np.nan, type_1=np.full(len(robot.legs), np.nan),
            )  # fmt: skip
        return numbers_of(robot, state, reactions=self.reactions, variant=variant.label, force=self.force)

    def change(self, path: str, value: ArrayLike) -> Variant:
        """A new variant with another value of a parameter; what was undone before is forgotten."""
        robot = self.robot.with_parameters({path: value})
        shown = self.robot_value(robot, path)
        earlier = [text for text in self.variant.changes if not text.startswith(f"{path} = ")]
        self.variants = [*self.variants[: self.current + 1], Variant(robot=robot, changes=(*earlier, f"{path} = {shown}"))]
        self.current += 1
        self.evaluate()
        return self.variant

    @staticmethod
    def robot_value(robot: fp.Robot, path: str) -> str:
        """A parameter's value as text."""
        value = robot.parameter(path)
        return f"{value:.6g}" if isinstance(value, float | int) else ", ".join(f"{x:.6g}" for x in np.ravel(np.array(value)))

    @property
    def can_undo(self) -> bool:
        """There is an earlier variant."""
        return self.current > 0

    @property
    def can_redo(self) -> bool:
        """There is a later variant."""
        return self.current + 1 < len(self.variants)

    def undo(self) -> Variant:
        """Go back to the variant before; the robot stays where there is none."""
        self.current = max(0, self.current - 1)
        self.evaluate()
        return self.variant

    def redo(self) -> Variant:
        """Forward to the variant that was undone."""
        self.current = min(len(self.variants) - 1, self.current + 1)
        self.evaluate()
        return self.variant

    def keep(self) -> None:
        """Keep the shown variant to compare others with."""
        self.kept = self.variant
        self.evaluate()

    def drop(self) -> None:
        """Compare no longer."""
        self.kept = self.kept_numbers = None


def robot_from_bytes(name: str, content: bytes) -> fp.Robot:
    """A robot from a file that a page sent; nothing of it stays on the disk.

    Checked by: tests/studio/test_studio_model.py.
    """
    if len(content) > LARGEST:
        raise fp.InputError(f"{name}: a robot file may have at most {LARGEST} bytes")
    with tempfile.TemporaryDirectory(prefix="flexapod-") as folder:
        path = Path(folder) / "robot.yaml"
        path.write_bytes(content)
        try:
            return fp.load(path)
        except fp.FlexapodError as error:
            raise fp.InputError(str(error).replace(str(path), Path(name).name)) from None


def read_sent(name: str, content: bytes, report: JobReport) -> fp.Robot:
    """`robot_from_bytes` as a task of the other process: plates of a file take their time, and reading it can be cancelled."""
    report(0.0)
    return robot_from_bytes(name, content)


def read_file(path: Path, report: JobReport) -> fp.Robot:
    """A robot file as a task of the other process."""
    report(0.0)
    return fp.load(path)


def robot_bytes(robot: fp.Robot) -> bytes:
    """The robot file of a variant."""
    return fp.robot_text(robot.description).encode("utf-8")
