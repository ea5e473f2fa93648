"""Numbers that the studio shows of one pose: actuators, forces, conditioning, distance to singular poses, and violated limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.studio.moved_coordinates import strokes, undeformed

FILE = "as in its file"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Origin of a number: robot, variant (its changes in text), position [m] and rotation vector from home [deg], and when it
    was computed [s since 1970]."""

    robot: str
    variant: str = FILE
    pose: tuple[float, ...] = ()
    made: float = field(default_factory=time.time, compare=False)

    @staticmethod
    def of(robot: fp.Robot, state: fp.State, variant: str = FILE) -> Origin:
        """The origin of numbers of a robot at a pose."""
        rotation = np.degrees(fp.motions.rotation_rotvec(state.rotation @ robot.home.rotation.T))
        pose = np.round(np.concatenate([state.position, rotation]), 9) + 0.0
        return Origin(robot=robot.name, variant=variant, pose=tuple(float(x) for x in pose))

    @property
    def text(self) -> str:
        """One line: `delta, platform.mass = 2, at (0, 0, -0.75) m, (0, 0, 0) deg`."""
        place, rotation = (", ".join(f"{x:.4g}" for x in part) for part in (self.pose[:3], self.pose[3:]))
        at = f", at ({place}) m, ({rotation}) deg" if self.pose else ""
        return f"{self.robot}, {self.variant}{at}"


@dataclass(frozen=True, kw_only=True)
class BrokenLimit:
    """A limit that is not kept: the leg, actuator or joint, and the reason as text."""

    owner: str
    text: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbers:
    """Numbers of one pose; NaN where the pose cannot be reached.

    Args:
        taken: the robot can reach the pose (limits of strokes and angles apart).
        problems: limits that are not kept, reach and singularities included.
        actuator, force: (actuators,) [m or rad], [N or N m].
        stroke: (actuators, 2), infinite where the file has none.
        condition, type_2: condition number and distance to a singularity of the platform (0 at one, at most 1).
        type_1: (legs,) distance of each leg to its own.
        elastic: (N,) coordinates of a flexible robot in its static shape, empty for a rigid one.
        reaction: joint name -> (3,) force [N] in world axes, where they were asked for and exist.
        origin: the robot, its parameters and the pose that all this belongs to.
    """

    origin: Origin
    state: fp.State
    taken: bool
    problems: tuple[BrokenLimit, ...]
    actuator: Array
    force: Array
    stroke: Array
    condition: float
    type_1: Array
    type_2: float
    elastic: Array
    reaction: dict[str, Array]
    unknown: str = ""

    @property
    def good(self) -> bool:
        """Every limit is kept, and known to be."""
        return not self.problems and not self.unknown


def numbers_of(
    robot: fp.Robot, state: fp.State, *, reactions: bool = False, variant: str = FILE, force: tuple[float, ...] = ()
) -> Numbers:
    """The numbers of a pose at rest: `check_pose` and `inverse_dynamics`; of a robot that these refuse, the reason.

    Args:
        force: (3,) [N] on the platform's origin, world axes; none if empty.

    Checked by: tests/studio/test_studio_model.py.
    """
    flexible = bool(robot.elastic_names)
    legs = fp.inverse_kinematics(robot, state, joints=False, on_error="mask")
    try:
        check = fp.check_pose(robot, undeformed(state))
        load = np.array([*force, 0.0, 0.0, 0.0]) if any(force) else None
        drive = fp.inverse_dynamics(robot, state, reactions=reactions and not flexible, on_error="mask", wrench=load)
    except fp.FlexapodError as error:  # a floating or under-actuated robot: it is drawn, with the reason why it has no forces
        return Numbers(
            origin=Origin.of(robot, state, variant), state=state, taken=bool(legs.valid), stroke=np.array(strokes(robot)),
            problems=(), unknown=str(error), actuator=legs.actuator_position.values, condition=np.nan,
            force=np.full(len(robot.actuators), np.nan), type_1=np.full(len(robot.legs), np.nan), type_2=np.nan,
            elastic=np.zeros(len(robot.elastic_names)), reaction={},
        )  # fmt: skip
    margins = check.margins
    problems = tuple(BrokenLimit(owner=v.name, text=v.text) for v in check.violations)
    taken = bool(legs.valid) and bool(np.all(np.isfinite(drive.force.values)))
    if not problems and not taken:
        problems = (BrokenLimit(owner="platform", text=str(drive.reason.values) or str(legs.reason.values)),)
    return Numbers(
        origin=Origin.of(robot, state, variant),
        state=state,
        taken=taken,
        problems=problems,
        actuator=legs.actuator_position.values,
        force=drive.force.values,
        stroke=np.array(strokes(robot)),
        condition=float(margins.condition_number),
        type_1=margins.type_1.values,
        type_2=float(margins.type_2),
        elastic=drive.elastic.values if "elastic" in drive else np.zeros(0),
        reaction=_reactions(drive),
    )


def _reactions(drive: object) -> dict[str, Array]:
    """Forces of the joints that rigid bodies determine."""
    if "reaction_force" not in drive:  # type: ignore[operator]
        return {}
    forces = drive.reaction_force  # type: ignore[attr-defined]
    rows = zip(forces.joint.values, forces.values, strict=True)
    return {str(name): value for name, value in rows if np.all(np.isfinite(value))}


def bad_legs(robot: fp.Robot, problems: tuple[BrokenLimit, ...]) -> set[str]:
    """Legs that the problems name: by leg, actuator or joint."""
    names = {leg.name for leg in robot.legs}
    return {problem.owner.split(".")[0] for problem in problems} & names
