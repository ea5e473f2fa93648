"""Data that look wrong, recognised by name: time gaps, units, swapped or reversed actuators, saturation, too little excitation.

Every suspicion says what is suspected and how it was seen. Forces are compared with those of the robot file, which need not be
right, only of the right size: a factor of ten is no suspicion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.errors import FlexapodError, InputError
from flexapod.identification.measurement import Measurement

if TYPE_CHECKING:
    from flexapod.identification.problem import Options
    from flexapod.robot.robot import Robot

GAP = 1.5
"""Step of time over the median step from which samples are missing."""
FACTORS = {57.29577951308232: "deg", 39.37007874015748: "inch", 100.0: "cm", 1000.0: "mm"}
"""Factor of positions -> unit that would explain it."""
FORCE_FACTORS = {1e-3: "kN", 1e3: "mN", 1 / 9.81: "kgf", 0.2248: "lbf"}
NEAR = 1.3
"""Factor within which a ratio of sizes counts as that of a unit."""
WRONG_SIZE = 20.0
"""Ratio of measured to predicted force that no wrong mass explains."""
SATURATED = 0.002
"""Part of the samples at exactly the largest value, in runs of three and more, from which a force was cut off."""
BETTER = 0.25
"""Residual of another assignment of the actuators over that of the given one, below which they look swapped."""
POORLY = 1e6
"""Condition number (scaled columns) beyond which a motion excites too little."""
LOOKED = 3000
"""Samples that are compared with the robot file."""


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """Suspicion about the data: kind (``gap``, ``units``, ``swapped``, ``reversed``, ``saturated``, ``excitation``,
    ``constant``), text."""

    kind: str
    text: str


class BadDataError(InputError):
    """Data that look wrong. Carries every suspicion.

    Args:
        suspicions: what looks wrong, with where and how to repair it.
    """

    def __init__(self, suspicions: tuple[Suspicion, ...]) -> None:
        lines = "\n".join(f"  {s.kind}: {s.text}" for s in suspicions)
        super().__init__(f"the data look wrong:\n{lines}\nRepair them, or set on_bad='report' to estimate all the same")
        self.suspicions = suspicions


SLOW = 0.05
"""[s]: time between samples from which on its unit is doubted; drives are sampled a hundred times as fast."""
TIME_FACTORS = {1e3: "ms", 1e6: "us"}


def suspicions(robot: Robot, data: Measurement, options: Options) -> list[Suspicion]:
    """Everything that looks wrong with a measurement, most basic first.

    Checked by: tests/identification/test_bad_data.py.
    """
    basic = [*time_gaps(data), *not_numbers(robot, data)]
    if basic:
        return basic
    found = position_units(robot, data) or []
    found += saturated(robot, data)
    if any(s.kind == "units" for s in found):
        return found
    return found + _compared(robot, data, options)


def time_gaps(data: Measurement) -> list[Suspicion]:
    """Steps of time that are much longer than the others."""
    steps = np.diff(data.time)
    usual = float(np.median(steps))
    wide = np.flatnonzero(steps > GAP * usual)
    if len(wide) == 0:
        return []
    k = int(wide[np.argmax(steps[wide])])
    lost = int(np.round(steps[wide] / usual - 1).sum())
    text = (
        f"{len(wide)} gap{'s' if len(wide) > 1 else ''} in time, about {lost} samples missing; the longest is "
        f"{steps[k]:.4g} s after "
        f"t = {data.time[k]:.6g} s, where steps are {usual:.4g} s. Split the data there, or interpolate"
    )
    return [Suspicion(kind="gap", text=text)]


def not_numbers(robot: Robot, data: Measurement) -> list[Suspicion]:
    """Channels that never change, or hold something that is not a number."""
    result = []
    for name, values in (("position", data.position), ("force or current", data.drive)):
        low, high = extremes(values)
        bad = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
        if len(bad):
            row = int(np.flatnonzero(~np.isfinite(values[:, bad[0]]))[0])
            text = f"{name} of actuator {robot.actuators[bad[0]]} is not a number at t = {data.time[row]:g} s"
            result.append(Suspicion(kind="constant", text=text))
        still = np.flatnonzero(low == high)
        if len(still):
            text = f"{name} of actuator {robot.actuators[still[0]]} never changes: a channel that is not connected?"
            result.append(Suspicion(kind="constant", text=text))
    return result


def extremes(values: Array) -> tuple[Array, Array]:
    """Smallest and largest (k,) of (n, k), NaN where there is one; 64 rows beside each other, as k is small."""
    n, k = values.shape
    wide, rest = values[: n - n % 64].reshape(-1, 64 * k), values[n - n % 64 :]
    rows = [np.concatenate([pick(wide, axis=0).reshape(64, k), rest]) if n >= 64 else rest for pick in (np.min, np.max)]
    return rows[0].min(axis=0), rows[1].max(axis=0)


def saturated(robot: Robot, data: Measurement) -> list[Suspicion]:
    """Forces that stay at exactly their largest value."""
    result = []
    for k, name in enumerate(robot.actuators):
        f = data.drive[:, k]
        for side, top in (("largest", f.max()), ("smallest", f.min())):
            at = f == top
            run = at[:-2] & at[1:-1] & at[2:]
            if at.mean() > SATURATED and run.any() and np.ptp(f) > 0:
                first = data.time[int(np.argmax(at))]
                text = (
                    f"force of actuator {name} stays at its {side} value {top:.6g} for {100 * at.mean():.2g} % of the "
                    f"samples, first "
                    f"at t = {first:.4g} s: the drive is saturated. Leave these samples out, or reduce the motion"
                )
                result.append(Suspicion(kind="saturated", text=text))
    return result


def position_units(robot: Robot, data: Measurement) -> list[Suspicion]:
    """Positions that are poses of the robot only when read in another unit."""
    if _reached(robot, data.position):
        return []
    rotary = set(robot.actuator_units) == {"rad"}
    units = {f: unit for f, unit in FACTORS.items() if (unit == "deg") == rotary}
    fitting = [(f, unit) for f, unit in units.items() if _reached(robot, data.position / f)]
    if fitting:
        factors = " or ".join(f"{f:.5g}" for f, _ in fitting)
        text = (
            f"positions up to {np.abs(data.position).max():.6g} are no poses of {robot.name}, but divided by {factors} they are: "
            f"given in {' or '.join(unit for _, unit in fitting)} instead of {'rad' if rotary else 'm'}?"
        )
        return [Suspicion(kind="units", text=text)]
    text = (
        f"positions from {data.position.min():.6g} to {data.position.max():.6g} are no poses of {robot.name} in any "
        f"unit: check the zero "
        "of the actuators, and their order"
    )
    return [Suspicion(kind="units", text=text)]


def _reached(robot: Robot, q: Array) -> bool:
    """A few samples of the positions are poses near home, within the strokes."""
    from flexapod.analysis.verbs.forward_kinematics import forward_kinematics

    rows = q[np.linspace(0, len(q) - 1, 7).astype(int)]
    links = [link for leg in robot.legs for link in leg.links if link.actuated]
    for k, link in enumerate(links):
        stroke = link.limits.stroke if link.limits is not None else None
        if stroke is not None:
            room = 0.25 * (stroke[1] - stroke[0])
            if np.any(rows[:, k] < stroke[0] - room) or np.any(rows[:, k] > stroke[1] + room):
                return False
    try:
        found = forward_kinematics(robot, rows, on_error="mask", assembly="any")
    except FlexapodError:
        return False
    return bool(found.valid.all())


def _compared(robot: Robot, data: Measurement, options: Options) -> list[Suspicion]:
    """Against the forces of the robot file: units of force and time, order and direction of actuators; excitation."""
    if options.find_gain:
        return []
    Y, y, predicted = _rows(robot, first_part(data), options)
    found = force_units(y, predicted)
    if not found:
        residual = float(np.sum((y - predicted) ** 2))
        found = assignment(robot, y, predicted) or time_units(robot, first_part(data), residual, options)
    return found + excitation(Y)


def _rows(robot: Robot, data: Measurement, options: Options) -> tuple[Array, Array, Array]:
    """Regressor, measured forces and those of the robot file."""
    from flexapod.identification.linear_model import linear_model
    from flexapod.identification.problem import EstimationProblem, experiment

    plain = replace(options, offset=False, backlash=False, drop_outliers=False, decimate=1, least_speed=0.0)
    one = experiment(robot, data, plain, None, None)
    model = linear_model(robot)
    problem = EstimationProblem(model=model, experiments=[one], options=plain)
    problem.set_loads(robot)
    blocks = list(problem.blocks(LOOKED))
    Y, y = np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])
    return Y, y, Y @ model.values


def time_units(robot: Robot, data: Measurement, residual: float, options: Options) -> list[Suspicion]:
    """Slow samples whose forces fit the robot file only when their times are those of a shorter unit.

    Times in ms make speeds a thousand times too small, and the inertias that are found a million times too large.

    Args:
        residual: sum of squares of measured minus predicted force [N^2] with the times as they are.
    """
    if data.motion is not None or float(np.median(np.diff(data.time))) < SLOW:
        return []
    for factor, unit in TIME_FACTORS.items():
        faster = Measurement(time=data.time / factor, position=data.position, force=data.force, current=data.current)
        _, y, predicted = _rows(robot, faster, replace(options, cutoff=None))
        if float(np.sum((y - predicted) ** 2)) < BETTER * residual:
            text = (
                f"times up to {data.time[-1]:.6g}: divided by {factor:g}, the residual against the robot file is far smaller: "
                f"given in {unit} instead of s?"
            )
            return [Suspicion(kind="units", text=text)]
    return []


def first_part(data: Measurement) -> Measurement:
    """The first part of long data, enough to compare with and small enough to be held at once; short data whole."""
    n = 20 * LOOKED
    if data.motion is not None or len(data) <= n:
        return data
    force, current = (None if x is None else x[:n] for x in (data.force, data.current))
    return Measurement(time=data.time[:n], position=data.position[:n], force=force, current=current, source=data.source)


def force_units(y: Array, predicted: Array) -> list[Suspicion]:
    """Sizes of measured and predicted forces that differ by the factor of a unit, or beyond any mass."""
    measured, expected = float(np.sqrt(np.mean(y**2))), float(np.sqrt(np.mean(predicted**2)))
    if expected == 0.0 or measured == 0.0:
        return []
    ratio = measured / expected
    for factor, unit in FORCE_FACTORS.items():
        if 1 / NEAR < ratio / factor < NEAR and not 1 / 3 < ratio < 3:
            text = (
                f"forces are {ratio:.3g} times those of the robot file (root mean square {measured:.4g} against {expected:.4g}): "
                f"given in {unit} instead of N?"
            )
            return [Suspicion(kind="units", text=text)]
    if not 1 / WRONG_SIZE < ratio < WRONG_SIZE:
        text = f"forces are {ratio:.3g} times those of the robot file: wrong unit, or currents in place of forces?"
        return [Suspicion(kind="units", text=text)]
    return []


def assignment(robot: Robot, y: Array, predicted: Array) -> list[Suspicion]:
    """Actuators whose force looks like another one's, or like its own with the other sign."""
    from scipy.optimize import linear_sum_assignment

    direct = np.array([[np.sum((y[:, i] - predicted[:, j]) ** 2) for j in range(y.shape[1])] for i in range(y.shape[1])])
    flipped = np.array([[np.sum((y[:, i] + predicted[:, j]) ** 2) for j in range(y.shape[1])] for i in range(y.shape[1])])
    own = np.arange(len(direct))
    result = []
    for k in np.flatnonzero(flipped[own, own] < BETTER * direct[own, own]):
        text = (
            f"force of actuator {robot.actuators[k]} has the opposite sign: reversed, its residual against the robot "
            f"file falls to "
            f"{100 * np.sqrt(flipped[k, k] / direct[k, k]):.0f} %"
        )
        result.append(Suspicion(kind="reversed", text=text))
    if result:
        return result
    _, order = linear_sum_assignment(direct)
    moved = [k for k in own if order[k] != k]
    if moved and direct[moved, order[moved]].sum() < BETTER * direct[moved, moved].sum():
        names = ", ".join(f"{robot.actuators[k]} holds {robot.actuators[order[k]]}" for k in moved)
        left = 100 * np.sqrt(direct[moved, order[moved]].sum() / direct[moved, moved].sum())
        text = f"columns of forces look swapped ({names}): put right, their residual against the robot file falls to {left:.0f} %"
        result.append(Suspicion(kind="swapped", text=text))
    return result


def excitation(Y: Array) -> list[Suspicion]:
    """Too little motion to distinguish the parameters; a rank below that of the robot is seen by the estimate itself."""
    flat = Y.reshape(-1, Y.shape[2])
    moved = np.ptp(Y, axis=0).max(axis=0)
    size = np.abs(flat).max(axis=0)
    live = size > 1e-12 * max(float(size.max()), 1e-300)
    still = np.count_nonzero(live & (moved < 1e-3 * size))
    if still and still > 0.3 * np.count_nonzero(live):
        text = (
            f"{still} of {np.count_nonzero(live)} columns of the regressor hardly change over the motion: the robot "
            f"is almost at rest. "
            "Use exciting_motion"
        )
        return [Suspicion(kind="excitation", text=text)]
    return []


def poorly_excited(base_rows: Array, names: NDArray[np.str_] | tuple[str, ...]) -> list[Suspicion]:
    """Base parameters that a motion does not distinguish: condition number and the weakest combination."""
    flat = base_rows.reshape(-1, base_rows.shape[2])
    size = np.linalg.norm(flat, axis=0)
    _, s, V = np.linalg.svd(np.linalg.qr(flat / np.maximum(size, 1e-300), mode="r"))
    condition = s[0] / max(s[-1], 1e-300)
    if condition < POORLY and size.min() > 0:
        return []
    weak = [str(names[k]) for k in np.argsort(-np.abs(V[-1]))[:3]]
    text = (
        f"the motion does not distinguish the parameters: condition number {condition:.2g} (scaled columns), weakest in "
        f"{', '.join(weak)}. Use exciting_motion, tie legs (legs='alike'), or leave out offset or backlash"
    )
    return [Suspicion(kind="excitation", text=text)]
