"""A motion ready to be played: poses, joints, forces, powers and deformation at every sample."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.views.chosen_motion import chosen_motion
from flexapod.views.plot_modes import platform_points
from flexapod.views.studio.frames import drawn_pose

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

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
        force, power: (n, actuators) [N or N m], [W].
        elastic: (n, N), no columns for a rigid robot.
        deformation: (n,) largest displacement by deformation [m].
        path: (n, 3) of the platform's origin.
        kind: `motion` (inverse dynamics) or `simulation`.
    """

    name: str
    kind: str
    robot: fp.Robot
    time: Array
    position: Array
    rotation: Array
    joints: Array
    force: Array
    power: Array
    elastic: Array
    deformation: Array
    note: str = ""
    _scaled: tuple[float, fp.State, Array] | None = field(default=None, init=False)

    @property
    def duration(self) -> float:
        """From first to last sample [s]."""
        return float(self.time[-1] - self.time[0])

    def index(self, t: float) -> int:
        """The sample at time t after the start."""
        return int(np.clip(np.searchsorted(self.time, self.time[0] + t + 1e-9, side="right") - 1, 0, len(self.time) - 1))

    def state(self, i: int) -> fp.State:
        """The platform at a sample."""
        return fp.State(position=self.position[i], rotation=self.rotation[i])

    def drawn(self, i: int, deformation: float) -> tuple[fp.State, Array]:
        """Pose and joint coordinates of a sample for a drawing with exaggerated deformation."""
        if deformation == 1.0 or not self.elastic.shape[1]:
            return self.state(i), np.asarray(self.joints[i])
        if self._scaled is None or self._scaled[0] != deformation:
            at, held = fp.State(position=self.position, rotation=self.rotation), self.joints[:, list(self.robot.driven)]
            self._scaled = (deformation, *drawn_pose(self.robot, at, deformation * self.elastic, held))
        _, states, joints = self._scaled
        return fp.State(position=states.position[i], rotation=states.rotation[i]), np.asarray(joints[i])


def record(robot: fp.Robot, motion: fp.Motion, name: str) -> Recording:
    """A motion with its inverse dynamics.

    Checked by: tests/studio/test_studio_model.py.
    """
    motion = _thinned(motion)
    drive = fp.inverse_dynamics(robot, motion)
    elastic = drive.elastic.values if "elastic" in drive else np.zeros((len(motion), 0))
    given = elastic if elastic.shape[1] and not robot.elastic_legs else None  # legs that bend choose the same static shape
    legs = fp.inverse_kinematics(robot, motion, elastic=given)
    return Recording(
        name=name, kind="motion", robot=robot, time=motion.time, position=motion.position, rotation=motion.rotation,
        joints=legs.joint_position.values, force=drive.force.values, power=drive.power.values, elastic=elastic,
        deformation=largest_displacement(robot, elastic),
    )  # fmt: skip


def recorded(robot: fp.Robot, run: xr.Dataset, name: str) -> Recording:
    """A recording from a result of `simulate`.

    Checked by: tests/studio/test_studio_model.py.
    """
    for key in ("time", "position", "rotation", "force"):
        if key not in run:
            raise fp.InputError(f"{name}: no result of a simulation, it has no {key}")
    if run.sizes.get("actuator") != len(robot.actuators):
        other = run.attrs.get("robot", "another robot")
        raise fp.InputError(f"{name}: made with {other}, not with {robot.name}; open that robot")
    keep = np.unique(np.linspace(0, run.sizes["time"] - 1, min(SAMPLES, run.sizes["time"])).astype(int))
    run = run.isel(time=keep)
    elastic = run.elastic.values if "elastic" in run else np.zeros((len(keep), 0))
    states = fp.State(position=run.position.values, rotation=run.rotation.values, elastic=elastic if elastic.shape[1] else None)
    joints = fp.inverse_kinematics(robot, states, on_error="mask").joint_position.values
    power = run.power.values if "power" in run else np.full_like(run.force.values, np.nan)
    stopped = str(run.attrs.get("stopped", ""))
    return Recording(
        name=name, kind="simulation", robot=robot, time=run.time.values, position=run.position.values,
        rotation=run.rotation.values, joints=joints, force=run.force.values, power=power, elastic=elastic,
        deformation=largest_displacement(robot, elastic), note=f"stopped: {stopped}" if stopped else "",
    )  # fmt: skip


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


def motion_of(robot: fp.Robot, name: str) -> fp.Motion:
    """A named motion at the robot's home; sizes that suit the robot for those that have no size of their own."""
    if name == SMALL:
        return chosen_motion(robot, None, {})
    size = 0.1 * robot.characteristic_length
    sized = {"cosine-x": "amplitude", "cosine-y": "amplitude", "cosine-z": "amplitude", "circle": "radius"}
    options = {sized[name]: size} if name in sized else {}
    if name == "line":
        options = {"end": tuple(robot.home.position - robot.gravity / (np.linalg.norm(robot.gravity) or 1.0) * size)}  # type: ignore[dict-item]
    return chosen_motion(robot, name, options)


def motion_choices() -> tuple[str, ...]:
    """Named motions that need no option."""
    needs = "has to be given"
    return (SMALL, *(name for name in fp.motions.motion_names() if needs not in fp.motions.describe_motion(name)))


def recording_from_bytes(robot: fp.Robot, name: str, content: bytes) -> Recording:
    """A motion or a saved simulation result that a page sent; nothing of it stays on the disk."""
    if len(content) > LARGEST:
        raise fp.InputError(f"{name}: a file of more than {LARGEST} bytes is not taken")
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
