r"""One or more measurements as blocks of the linear equation :math:`y = Y\beta`: the columns of the estimate, in bounded memory.

Columns: base parameters of the robot, then offsets of the actuators' forces, backlash, gains from current to force (moved to the
left,
:math:`0 = Y\beta - \operatorname{diag}(i)\,g + Y_L\theta_L`, which a known payload theta_L makes solvable).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.identification.backlash import backlash_columns
from flexapod.identification.estimators import Block
from flexapod.identification.linear_model import RegressorModel, inertial_kernel
from flexapod.identification.load_feedback import LoadFeedback
from flexapod.identification.measurement import Measurement
from flexapod.identification.pose_track import LONG, PoseTrack
from flexapod.identification.signals import averaged, motion_inputs, outliers, pose_track, shifted, smooth_motion, take, used

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

BLOCK = 4096
"""Samples whose poses are found together."""
ROWS = 2048
"""Samples of a block of the regressor: 9 MB for six actuators and 94 columns; with smaller blocks calls cost more than the cache
saves."""
WINDOWS = 32
"""Places at which long data are looked at before they are used."""
HELD = 10_000_000
"""Numbers of a regressor that are kept between passes: 80 MB."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Treatment of data; see `identify`."""

    cutoff: float | None = None
    decimate: int = 1
    delay: float = 0.0
    offset: bool = False
    backlash: bool = False
    find_gain: bool = False
    gain: Array | None = None
    drop_outliers: bool = False
    least_speed: float = 0.0


@dataclass(kw_only=True, eq=False)
class Experiment:
    """One measurement, prepared.

    Args:
        inputs: of the kernels, one row per sample that is used; None for long data, whose poses are found block by block.
        track: of the actuators; None where the platform's motion was measured.
        drive: (n, actuators) forces, or currents.
        good: (n,) samples that count.
        payload: (10,) inertial parameters of a known payload on the platform; None without.
        instruments: inputs of the kernels for the instruments; None without.
        loads: (n, places) of joints with friction.
    """

    inputs: dict[str, Array] | None
    drive: Array
    good: Any
    payload: Array | None = None
    instruments: dict[str, Array] | None = None
    loads: Array | None = None
    instrument_loads: Array | None = None
    time: Array = field(default_factory=lambda: np.zeros(0))
    track: PoseTrack | None = None

    def at(self, part: slice) -> dict[str, Array]:
        """Inputs of the kernels for some samples."""
        if self.inputs is not None:
            return take(self.inputs, part)
        assert self.track is not None
        return self.track.inputs(part)


def experiment(
    robot: Robot, data: Measurement, options: Options, payload: Array | None, instruments: Measurement | None
) -> Experiment:
    """Filter, differentiate and place a measurement."""
    part = used(data, options.cutoff)
    drive = shifted(data.time, data.drive, options.delay)[part]
    if options.gain is not None:
        drive = drive * options.gain
    good = np.ones(len(drive), dtype=bool)
    if options.drop_outliers:
        good = ~outliers(drive)
    if options.least_speed > 0:
        _, qd, _ = smooth_motion(data, options.cutoff)
        good &= np.all(np.abs(qd[part]) >= options.least_speed, axis=1)
    other = None
    if instruments is not None:
        other = motion_inputs(robot, instruments, options.cutoff, part)
    made: dict[str, Any] = {"drive": np.ascontiguousarray(drive), "good": good, "payload": payload, "time": data.time[part]}
    if len(drive) > LONG and data.motion is None and other is None:
        return Experiment(inputs=None, track=pose_track(robot, data, options.cutoff, part), **made)
    if data.motion is not None:
        return Experiment(inputs=motion_inputs(robot, data, options.cutoff, part), instruments=other, **made)
    track = pose_track(robot, data, options.cutoff, part)
    return Experiment(inputs=track.inputs(), track=track, instruments=other, **made)


@dataclass(kw_only=True, eq=False)
class EstimationProblem:
    """Experiments with the model whose columns are estimated; `prior`: (base,) numbers of the file, for what is found about
    them."""

    model: RegressorModel
    experiments: Sequence[Experiment]
    options: Options
    prior: Any = None
    _held: list[Block] = field(default_factory=list, repr=False)
    _loading: RegressorModel | None = field(default=None, repr=False)
    _feedback: LoadFeedback | None = field(default=None, repr=False)

    @property
    def extras(self) -> list[str]:
        """Quantities estimated beside the base parameters, one number per actuator each, in the order of the columns."""
        known = {"offset": self.options.offset, "backlash": self.options.backlash, "gain": self.options.find_gain}
        return [name for name, wanted in known.items() if wanted]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns: base parameters, then one per actuator of each further quantity."""
        return (*self.model.names, *(f"{extra} of {name}" for extra in self.extras for name in self.model.robot.actuators))

    def set_loads(self, robot: Robot) -> None:
        """Loads of the joints with friction, for the numbers of a robot."""
        self._held = []
        own = RegressorModel(robot=robot, inertial=self.model.inertial, friction=self.model.friction, legs=self.model.legs)
        self._loading = own
        for one in self.experiments:
            if one.inputs is None:
                continue
            reasons = np.full(len(one.drive), "", dtype=object)
            one.loads = own.loads(one.inputs, reasons)
            if one.instruments is not None:
                one.instrument_loads = own.loads(one.instruments, np.full(len(one.drive), "", dtype=object))
            one.good = one.good & (reasons == "")

    def blocks(self, wanted: int | None) -> Iterator[Block]:
        """Blocks of all experiments, or about `wanted` samples of each, spread evenly; small data are kept from pass to pass."""
        samples = sum(len(one.drive) for one in self.experiments)
        if samples * len(self.model.robot.actuators) * len(self.names) > HELD:
            yield from self._evaluated(wanted)
            return
        if not self._held:
            self._held = list(self._evaluated(None))
        yield from self._held

    def derivative_blocks(self, feedback: LoadFeedback, wanted: int) -> list[Block]:
        """Blocks of about `wanted` samples with the derivative of the forces by the estimate in the place of the regressor, which
        takes that of the instruments where there are none."""
        self._feedback = feedback
        try:
            return list(self._evaluated(wanted))
        finally:
            self._feedback = None

    def _evaluated(self, wanted: int | None) -> Iterator[Block]:
        d = self.options.decimate
        size = max(BLOCK // d, 1) * d
        for one in self.experiments:
            n = len(one.drive)
            starts: Sequence[int] = range(0, n, size)
            if wanted is not None and n > wanted:
                step = max(wanted // WINDOWS // d, 1) * d
                starts = window_starts(n - step)
            else:
                step = size
            for start in starts:
                yield from self._blocks(one, slice(start, min(start + step, n)))

    def _blocks(self, one: Experiment, part: slice) -> Iterator[Block]:
        """Blocks of a part whose poses are found together."""
        given, loads = one.at(part), _part(one.loads, part)
        if loads is None and self._loading is not None:
            loads = self._loading.loads(given, np.full(part.stop - part.start, "", dtype=object))
        d = self.options.decimate
        size = max(ROWS // d, 1) * d
        for start in range(0, part.stop - part.start, size):
            inner = slice(start, start + size)
            whole = slice(part.start + start, min(part.start + start + size, part.stop))
            yield from self._block(one, take(given, inner), _part(loads, inner), whole)

    def _block(self, one: Experiment, given: dict[str, Array], loads: Array | None, part: slice) -> Iterator[Block]:
        d, good = self.options.decimate, one.good[part]
        if not good.any():
            return
        Y, y = self._equation(one, given, loads, part)
        Z = None
        if one.instruments is not None:
            Z = self._equation(one, take(one.instruments, part), _part(one.instrument_loads, part), part)[0]
        if self._feedback is not None:
            Z = Y if Z is None else Z
            Y = Y.copy()
            Y[:, :, : len(self._feedback.step)] += self._feedback.columns(given)
        if not good.all():
            Y, y, Z = Y[good], y[good], None if Z is None else Z[good]
        if len(Y) >= d:
            yield averaged(Y, d), averaged(y, d), None if Z is None else averaged(Z, d)

    def _equation(self, one: Experiment, given: dict[str, Array], loads: Array | None, part: slice) -> tuple[Array, Array]:
        drive = one.drive[part]
        reasons = np.full(len(drive), "", dtype=object)
        Y = self.model.rows(given, loads, reasons)
        if np.any(reasons != ""):
            k = int(np.flatnonzero(reasons != "")[0])
            raise FlexapodError(f"data: sample at t = {one.time[part][k]:g} s: {reasons[k]}")
        n, a = drive.shape
        parts, y = [Y], drive - self.model.known(given, reasons)
        if self.options.offset:
            parts.append(np.broadcast_to(np.eye(a), (n, a, a)))
        if self.options.backlash:
            parts.append(self._backlash(one, part))
        if one.payload is not None:
            y = y - payload_rows(self.model.robot, given) @ one.payload
        if self.options.find_gain:
            parts.append(-drive[:, :, None] * np.eye(a))
            y = y - drive
        return (Y if len(parts) == 1 else np.concatenate(parts, axis=2)), y

    def _backlash(self, one: Experiment, part: slice) -> Array:
        if one.track is None:
            raise InputError("backlash: needs the actuators' own positions; leave out the measured motion of the platform")

        def force(given: dict[str, Array]) -> Array:
            reasons = np.full(len(given["position"]), "", dtype=object)
            loads = None if self._loading is None else self._loading.loads(given, reasons)
            return np.asarray(self.model.rows(given, loads, reasons) @ self.prior + self.model.known(given, reasons))

        return backlash_columns(one.track, part, force)


def window_starts(last: int) -> list[int]:
    """First samples of windows in 0..last, one at a random place (always the same) of each of equal parts: evenly spaced windows
    would see the same few states again and again in a motion that is repeated."""
    places = np.arange(WINDOWS) + np.random.default_rng(0).random(WINDOWS)
    return [int(x) for x in places * (last / WINDOWS)]


def _part(values: Array | None, part: slice) -> Array | None:
    return None if values is None else np.ascontiguousarray(values[part])


def payload_rows(robot: Robot, inputs: dict[str, Array]) -> Array:
    """(n, actuators, 10) columns of the platform's own inertial parameters: those of a payload that it carries."""
    bound = inertial_kernel(robot, tuple(range(10)))
    return bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs}).outputs["regressor"]
