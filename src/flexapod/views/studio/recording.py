"""A motion ready to be played: poses, joints, forces, powers and deformation at every sample."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.chosen_motion import chosen_motion, place_text
from flexapod.views.plots.time_figures import actuator_limits
from flexapod.views.reports.key_figures import validity
from flexapod.views.scene.frames import drawn_pose, platform_points
from flexapod.views.studio.limits_along import LimitsAlong, limits_along
from flexapod.views.studio.moved_coordinates import strokes, undeformed
from flexapod.views.studio.numbers import FILE, Numbers, Origin

if TYPE_CHECKING:
    import xarray as xr


SMALL = "small cosine from home"
"""The motion that every robot can follow."""
SAMPLES = 1500
"""Most samples of a recording; longer ones are thinned."""
LARGEST = 50_000_000
"""Largest motion or result file that a page may send [bytes]."""


@dataclass(kw_only=True, eq=False)
class Recording:
    """A motion of one robot with what it takes.

    Args:
        time: (n,) [s].
        joints: (n, coordinates); NaN where a pose cannot be reached, as all that follows from it.
        actuator, speed: (n, actuators) [m or rad], and per second.
        force, power: (n, actuators) [N or N m], [W].
        elastic: (n, N), no columns for a rigid robot.
        deformation: (n,) largest displacement by deformation [m].
        condition, type_2: (n,); type_1: (n, legs): conditioning and distances to singular poses.
        limits: where limits are not kept, and why.
        tracking: (n,) distance [m] of a simulated platform from the motion that it follows; NaN where it follows none.
        kind: `motion` (inverse dynamics) or `simulation`.
        variant: changes of the robot's parameters, as text.
    """

    name: str
    kind: str
    robot: fp.Robot
    time: Array
    position: Array
    rotation: Array
    joints: Array
    actuator: Array
    speed: Array
    force: Array
    power: Array
    elastic: Array
    deformation: Array
    condition: Array
    type_1: Array
    type_2: Array
    limits: LimitsAlong
    variant: str = FILE
    note: str = ""
    tracking: Array = field(default_factory=lambda: np.zeros(0))
    _scaled: tuple[float, fp.State, Array] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if len(self.tracking) != len(self.time):
            self.tracking = np.full(len(self.time), np.nan)

    @property
    def duration(self) -> float:
        """Time from first to last sample [s]."""
        return float(self.time[-1] - self.time[0])

    def index(self, t: float) -> int:
        """The sample at time t after the start."""
        return int(np.clip(np.searchsorted(self.time, self.time[0] + t + 1e-9, side="right") - 1, 0, len(self.time) - 1))

    def state(self, i: int) -> fp.State:
        """The platform at a sample."""
        return fp.State(position=self.position[i], rotation=self.rotation[i])

    def numbers(self, i: int) -> Numbers:
        """The numbers of a sample, in the form of those of a pose at rest."""
        state = self.state(i)
        return Numbers(
            origin=Origin.of(self.robot, state, self.variant), state=state, problems=self.limits.problems(i),
            taken=bool(np.all(np.isfinite(self.force[i]))), actuator=self.actuator[i], force=self.force[i],
            stroke=np.array(strokes(self.robot)), condition=float(self.condition[i]), type_1=self.type_1[i],
            type_2=float(self.type_2[i]), elastic=self.elastic[i], reaction={},
        )  # fmt: skip

    def drawn(self, i: int, deformation: float) -> tuple[fp.State, Array]:
        """Pose and joint coordinates of a sample for a drawing with exaggerated deformation."""
        if deformation == 1.0 or not self.elastic.shape[1]:
            return self.state(i), np.asarray(self.joints[i])
        if self._scaled is None or self._scaled[0] != deformation:
            at, held = fp.State(position=self.position, rotation=self.rotation), self.joints[:, list(self.robot.driven)]
            self._scaled = (deformation, *drawn_pose(self.robot, at, deformation * self.elastic, held))
        _, states, joints = self._scaled
        return fp.State(position=states.position[i], rotation=states.rotation[i]), np.asarray(joints[i])


def record(robot: fp.Robot, motion: fp.Motion, name: str, variant: str = FILE) -> Recording:
    """A motion with its inverse dynamics. Samples that the robot cannot reach are kept, with the reason.

    Raises:
        InputError: no sample can be reached.

    Checked by: tests/studio/test_studio_model.py.
    """
    motion = _thinned(motion)
    check = fp.check_motion(robot, motion)
    drive = fp.inverse_dynamics(robot, motion, on_error="mask")
    elastic = drive.elastic.values if "elastic" in drive else np.zeros((len(motion), 0))
    given = elastic if elastic.shape[1] and robot.moved_by == "platform" else None  # legs that bend choose the same static shape
    if given is not None:
        given = np.nan_to_num(given)
    legs = fp.inverse_kinematics(robot, motion, elastic=given, on_error="mask")
    if not np.any(np.isfinite(drive.force.values)):
        raise fp.InputError(f"{name}: the robot cannot follow this motion at any sample; {check.violations[0].text}")
    return Recording(
        name=name, kind="motion", robot=robot, variant=variant, time=motion.time, position=motion.position,
        rotation=motion.rotation, joints=legs.joint_position.values, actuator=legs.actuator_position.values,
        speed=legs.actuator_velocity.values, force=drive.force.values, power=drive.power.values, elastic=elastic,
        deformation=largest_displacement(robot, elastic), condition=check.margins.condition_number.values,
        type_1=check.margins.type_1.values, type_2=check.margins.type_2.values, limits=limits_along(robot, check.margins),
        note=" ".join(validity(drive)),
    )  # fmt: skip


def recorded(robot: fp.Robot, result: xr.Dataset, name: str, variant: str = FILE, followed: fp.Motion | None = None) -> Recording:
    """A recording from a result of `simulate`.

    Args:
        followed: the motion that its controller followed, for the tracking error.

    Checked by: tests/studio/test_studio_model.py.
    """
    for key in ("time", "position", "rotation", "force"):
        if key not in result:
            raise fp.InputError(f"{name}: no result of a simulation, it has no {key}")
    if result.sizes.get("actuator") != len(robot.actuators):
        other = result.attrs.get("robot", "another robot")
        raise fp.InputError(f"{name}: made with {other}, not with {robot.name}; open that robot")
    keep = np.unique(np.linspace(0, result.sizes["time"] - 1, min(SAMPLES, result.sizes["time"])).astype(int))
    result = result.isel(time=keep)
    elastic = result.elastic.values if "elastic" in result else np.zeros((len(keep), 0))
    states = fp.State(
        position=result.position.values, rotation=result.rotation.values, elastic=elastic if elastic.shape[1] else None
    )
    legs = fp.inverse_kinematics(robot, states, on_error="mask")
    margins = fp.check_pose(robot, undeformed(states)).margins
    power = result.power.values if "power" in result else np.full_like(result.force.values, np.nan)
    stopped = str(result.attrs.get("stopped", ""))
    return Recording(
        name=name, kind="simulation", robot=robot, variant=variant, time=result.time.values, position=result.position.values,
        rotation=result.rotation.values, joints=legs.joint_position.values, actuator=legs.actuator_position.values,
        speed=np.gradient(legs.actuator_position.values, result.time.values, axis=0), force=result.force.values, power=power,
        elastic=elastic, deformation=largest_displacement(robot, elastic), condition=margins.condition_number.values,
        type_1=margins.type_1.values, type_2=margins.type_2.values,
        limits=limits_along(robot, _with_drives(robot, margins, result.force.values, power)),
        note=" ".join([*([f"stopped: {stopped}"] if stopped else []), *validity(result)]), tracking=_tracking(result, followed),
    )  # fmt: skip


def _tracking(result: xr.Dataset, followed: fp.Motion | None) -> Array:
    """Distance (n,) [m] of the platform's origin from the motion that it follows, by cubic Hermite polynomials."""
    if followed is None:
        return np.full(result.sizes["time"], np.nan)
    from scipy.interpolate import CubicHermiteSpline

    wanted = CubicHermiteSpline(followed.time, followed.position, followed.velocity)(result.time.values)
    return np.asarray(np.linalg.norm(result.position.values - wanted, axis=1))


def _with_drives(robot: fp.Robot, margins: xr.Dataset, force: Array, power: Array) -> xr.Dataset:
    """Margins of force and power beside those of the poses."""
    found = {}
    for kind, values in (("force", force), ("power", power)):
        high = np.array(actuator_limits(robot, kind)[1])
        if np.isfinite(high).any():
            found[f"{kind}_margin"] = ((*margins.valid.dims, "actuator"), high - np.abs(values))
    return margins.assign(found)


def largest_displacement(robot: fp.Robot, elastic: Array) -> Array:
    """Largest displacement by deformation at each sample (n,) [m]: of the platform's points, and of beam tips against roots."""
    found = np.zeros(len(elastic))
    if not elastic.shape[1]:
        return found
    _, shapes, _ = platform_points(robot)
    modes = 0 if shapes is None else shapes.shape[2]
    if modes:
        moved = np.einsum("kij,nj->nki", shapes, elastic[:, :modes])
        found = np.linalg.norm(moved, axis=2).max(axis=1)
    tips = [k for k, name in enumerate(robot.elastic_names) if name.rsplit(".", 1)[-1] in ("u", "v", "w")]
    if tips:
        found = np.maximum(found, np.abs(elastic[:, tips]).max(axis=1))
    return found


def motion_of(robot: fp.Robot, name: str, *, start_at_home: bool = False) -> fp.Motion:
    """A named motion at the robot's home; sizes that suit the robot for those that have no size of their own.

    Args:
        start_at_home: motions whose numbers are absolute (those of papers) are shifted so that they start at home.
    """
    if name == SMALL:
        return chosen_motion(robot, None, {})
    size = 0.1 * robot.characteristic_length
    sized = {"cosine-x": "amplitude", "cosine-y": "amplitude", "cosine-z": "amplitude", "circle": "radius"}
    options = {sized[name]: size} if name in sized else {}
    if name == "line":
        options = {"end": tuple(robot.home.position - robot.gravity / (np.linalg.norm(robot.gravity) or 1.0) * size)}  # type: ignore[dict-item]
    motion = chosen_motion(robot, name, options)
    return started_at_home(robot, motion) if start_at_home and not place_text(name) else motion


def started_at_home(robot: fp.Robot, motion: fp.Motion) -> fp.Motion:
    """The motion from the robot's home: p - p_0 + p_home, and all rotations by R R_0^T R_home."""
    names = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(
        time=motion.time, position=motion.position - motion.position[0] + robot.home.position,
        rotation=motion.rotation @ motion.rotation[0].T @ robot.home.rotation,
        **{name: getattr(motion, name) for name in names},
    )  # fmt: skip


def motion_choices() -> tuple[str, ...]:
    """Named motions that need no option."""
    needs = "has to be given"
    return (SMALL, *(name for name in fp.motions.motion_names() if needs not in fp.motions.describe_motion(name)))


def recording_from_bytes(robot: fp.Robot, name: str, content: bytes) -> Recording:
    """A motion or a saved simulation result that a page sent; nothing of it stays on the disk."""
    if len(content) > LARGEST:
        raise fp.InputError(f"{name}: a file may have at most {LARGEST} bytes")
    suffix = Path(name).suffix.lower()
    if suffix not in (".csv", ".parquet", ".pq", ".nc"):
        raise fp.InputError(f"{name}: a motion is a .csv or .parquet file, a result of simulate a .nc, .csv or .parquet file")
    with tempfile.TemporaryDirectory(prefix="flexapod-") as folder:
        path = Path(folder) / f"motion{suffix}"
        path.write_bytes(content)
        try:
            return _from_file(robot, path, Path(name).name)
        except fp.FlexapodError as error:
            raise fp.InputError(str(error).replace(str(path), Path(name).name)) from None


def _from_file(robot: fp.Robot, path: Path, name: str) -> Recording:
    """A result where it is one, else a motion."""
    if path.suffix == ".nc" or (path.suffix == ".csv" and b"rotation.x.x" in path.read_bytes().partition(b"\n")[0]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fp.FileWarning)  # a page sends one file, so a CSV comes without its side file
            return recorded(robot, fp.open(path), name)
    try:
        return record(robot, chosen_motion(robot, str(path), {}), name)
    except fp.FlexapodError:
        if path.suffix != ".parquet":
            raise
        return recorded(robot, fp.open(path), name)


def _thinned(motion: fp.Motion) -> fp.Motion:
    if len(motion) <= SAMPLES:
        return motion
    keep = np.unique(np.linspace(0, len(motion) - 1, SAMPLES).astype(int))
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(time=motion.time[keep], **{name: getattr(motion, name)[keep] for name in names})
