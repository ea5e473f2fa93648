"""Motions from motions: joined, resampled, slowed, reversed, moved. Pure functions on `Motion` and `ActuatorMotion`.

Where a motion knows its formula, so does the result, and resampling is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, positive, rotations, snapped
from flexapod.motions.hermite import interpolate_actuators, interpolate_platform
from flexapod.motions.motion import ActuatorMotion, AnyMotion, Motion, check_samples, check_time, with_formula
from flexapod.motions.rotations import rotation_rotvec

JOINT = 1e-9
"""Largest step of pose or speed where two motions meet: far above rounding, far below what a controller notices."""

_ORDER = {
    "position": 0, "rotation": 0, "velocity": 1, "angular_velocity": 1, "acceleration": 2, "angular_acceleration": 2,
}  # fmt: skip
"""Order of the time derivative of each array of a motion."""


def _arrays(motion: Motion | ActuatorMotion) -> dict[str, Array]:
    return {name: getattr(motion, name) for name in _ORDER if hasattr(motion, name)}


def _motion_like(like: AnyMotion, time: Array, arrays: dict[str, Array]) -> AnyMotion:
    make = cast(Callable[..., AnyMotion], type(like))
    return make(time=time, **arrays)


def _check(verb: str, motion: object) -> None:
    """Refuse what is no motion, and motions without a start."""
    if not isinstance(motion, Motion | ActuatorMotion):
        raise InputError(f"{verb}: expected a Motion or an ActuatorMotion, got {type(motion).__name__}")
    if len(motion) == 0:
        raise InputError(f"{verb}: the motion has no samples; give one or more")


def _apply(
    t: Array,
    *,
    inner: Callable[[Array], AnyMotion],
    clock: Callable[[Array], Array],
    change: Callable[..., AnyMotion],
    ends: Array,
) -> Any:
    """A changed formula: the inner one at other times, which have to increase, then changed; its ends are met exactly."""
    times = snapped(clock(t), ends)
    back = len(times) > 1 and times[0] > times[-1]
    return change(inner(times[::-1] if back else times), t)


@by_name
def resample(
    motion: AnyMotion, *, time: ArrayLike | None = None, samples: int | None = None, rate: float | None = None
) -> AnyMotion:
    """The same motion at other times, by its formula where known, else by quintic Hermite interpolation.

    Args:
        motion: of the platform or the actuators.
        time: (m,) [s] within the motion; or
        samples: how many, uniform; or
        rate: how many per second, from the start.

    Checked by: tests/motions/test_combine_motions.py.
    """
    _check("resample", motion)
    if sum(value is not None for value in (time, samples, rate)) != 1:
        raise InputError("resample: give exactly one of time, samples and rate")
    first, last = float(motion.time[0]), float(motion.time[-1])
    if rate is not None:
        step = 1.0 / positive("rate", rate)
        count = np.floor((last - first) / step * (1 + 1e-12)) + 1
        t = first + step * np.arange(check_samples("rate", count) if count > 1 else 1)
        t = np.minimum(t, last)
    elif samples is not None:
        t = np.linspace(first, last, check_samples("samples", samples))
    else:
        t = check_time(time)
    outside = t[(t < first) | (t > last)]
    if len(outside):
        raise InputError(f"time: {outside[0]:g} s is outside the motion, which lasts from {first:g} s to {last:g} s")
    if motion.formula is not None:
        return with_formula(motion.formula(t), motion.formula)
    if len(motion) < 2:
        raise InputError("resample: a motion of one sample cannot be interpolated")
    if isinstance(motion, Motion):
        return interpolate_platform(motion, t)
    return interpolate_actuators(motion, t)


@by_name
def slowed(motion: AnyMotion, factor: float) -> AnyMotion:
    """The same path in factor times the time: speeds / factor, accelerations / factor^2; starts when it did.

    Args:
        motion: of the platform or of the actuators.
        factor: above 0, on its times.

    Checked by: tests/motions/test_combine_motions.py.
    """
    _check("slowed", motion)
    k = positive("factor", factor)
    start = float(motion.time[0])
    change = partial(_scaled, factor=k)
    result = change(motion, start + k * (motion.time - start))
    return _with(result, motion, partial(_slow_clock, start=start, factor=k), change)


def _slow_clock(t: Array, *, start: float, factor: float) -> Array:
    return np.asarray(start + (t - start) / factor)


def _scaled(motion: AnyMotion, t: Array, *, factor: float) -> AnyMotion:
    return _motion_like(motion, t, {name: values / factor ** _ORDER[name] for name, values in _arrays(motion).items()})


@by_name
def reverse(motion: AnyMotion) -> AnyMotion:
    """The same path backwards, over the same times: speeds change their sign, accelerations do not.

    Args:
        motion: of the platform or of the actuators.

    Checked by: tests/motions/test_combine_motions.py.
    """
    _check("reverse", motion)
    total = float(motion.time[0] + motion.time[-1])
    time = total - motion.time[::-1]
    time[0], time[-1] = motion.time[0], motion.time[-1]
    return _with(_backwards(motion, time), motion, partial(_back_clock, total=total), _backwards)


def _back_clock(t: Array, *, total: float) -> Array:
    return total - t


def _backwards(motion: AnyMotion, t: Array) -> AnyMotion:
    return _motion_like(motion, t, {name: values[::-1] * (-1.0) ** _ORDER[name] for name, values in _arrays(motion).items()})


@by_name
def offset(motion: AnyMotion, *, translation: ArrayLike | None = None, rotation: ArrayLike | None = None) -> AnyMotion:
    """The motion seen from a moved world frame: p becomes rotation p + translation, R becomes rotation R.

    Args:
        motion: of the platform or of the actuators.
        translation: (3,) [m]; for an actuator motion (actuators,), added to the coordinates.
        rotation: (3, 3) new-world-from-old-world; of platform motions only.

    Checked by: tests/motions/test_combine_motions.py.
    """
    _check("offset", motion)
    size = motion.position.shape[1]
    d = finite_array("translation", np.zeros(size) if translation is None else translation, (size,))
    if rotation is not None and isinstance(motion, ActuatorMotion):
        raise InputError("rotation: actuator coordinates have no world frame that could be rotated")
    R = np.eye(3) if rotation is None else rotations("rotation", rotation, (3, 3))
    change = partial(_moved, R=R, d=d)
    return _with(change(motion, motion.time), motion, _same_clock, change)


def _same_clock(t: Array) -> Array:
    return t


def _moved(motion: AnyMotion, t: Array, *, R: Array, d: Array) -> AnyMotion:
    arrays = _arrays(motion)
    if isinstance(motion, Motion):
        arrays = {name: R @ x if name == "rotation" else x @ R.T for name, x in arrays.items()}
    return _motion_like(motion, t, arrays | {"position": arrays["position"] + d})


@by_name
def shifted(motion: AnyMotion, time: float) -> AnyMotion:
    """The same motion, `time` seconds later.

    Args:
        motion: of the platform or of the actuators.
        time: [s], added to its times.

    Checked by: tests/motions/test_combine_motions.py.
    """
    _check("shifted", motion)
    by = float(finite_array("time", time, ()))
    return _with(_retimed(motion, motion.time + by), motion, partial(_shift_clock, by=by), _retimed)


def _shift_clock(t: Array, *, by: float) -> Array:
    return t - by


def _retimed(motion: AnyMotion, t: Array) -> AnyMotion:
    return _motion_like(motion, t, _arrays(motion))


def _with(result: AnyMotion, motion: AnyMotion, clock: Callable[[Array], Array], change: Callable[..., AnyMotion]) -> AnyMotion:
    if motion.formula is None:
        return result
    ends = motion.time[[0, -1]]
    return with_formula(result, partial(_apply, inner=motion.formula, clock=clock, change=change, ends=ends))


@by_name
def concatenate(*motions: AnyMotion) -> AnyMotion:
    """One motion after the other; each starts when the one before ends, where pose and speed have to agree.

    The sample at a joint is the end of the earlier motion. Checked by: tests/motions/test_combine_motions.py.

    Args:
        motions: all of the platform, or all of the actuators.
    """
    if not motions:
        raise InputError("concatenate: expected at least one motion")
    for motion in motions:
        _check("concatenate", motion)
    if len({type(m) for m in motions}) > 1:
        raise InputError("concatenate: expected motions of one kind, of the platform or of the actuators")
    placed: list[Any] = [motions[0]]
    for i, motion in enumerate(motions[1:], 1):
        before = placed[-1]
        after = shifted(motion, float(before.time[-1] - motion.time[0]))
        _check_joint(before, after, i)
        placed.append(after)
    time = np.concatenate([placed[0].time, *(m.time[1:] for m in placed[1:])])
    result = _motion_like(motions[0], time, _joined([_arrays(m) for m in placed]))
    if any(m.formula is None for m in placed):
        return result
    ends = np.array([m.time[-1] for m in placed[:-1]])
    formula = partial(_pieces, ends=ends, formulas=tuple(m.formula for m in placed), like=motions[0])
    return with_formula(result, formula)


def _joined(parts: list[dict[str, Array]]) -> dict[str, Array]:
    """Arrays end to end, without the first sample of all but the first."""
    return {name: np.concatenate([x, *(part[name][1:] for part in parts[1:])]) for name, x in parts[0].items()}


def _pieces(t: Array, *, ends: Array, formulas: tuple[Callable[[Array], AnyMotion], ...], like: AnyMotion) -> AnyMotion:
    index = np.searchsorted(ends, t, side="left")  # a joint belongs to the earlier motion
    parts = [_arrays(formulas[i](t[index == i])) for i in range(len(formulas)) if np.any(index == i)]
    return _motion_like(like, t, {k: np.concatenate([p[k] for p in parts]) for k in parts[0]})


def _check_joint(before: Motion | ActuatorMotion, after: Motion | ActuatorMotion, index: int) -> None:
    a, b = _arrays(before), _arrays(after)
    if a["position"].shape[1] != b["position"].shape[1]:
        raise InputError(f"concatenate: motion {index} has {b['position'].shape[1]} coordinates, not {a['position'].shape[1]}")
    for name in (k for k, order in _ORDER.items() if order < 2 and k in a):
        x, y = a[name][-1], b[name][0]
        step = float(np.linalg.norm(rotation_rotvec(x.T @ y)) if name == "rotation" else np.abs(x - y).max())
        if not step <= JOINT * max(1.0, float(np.abs(x).max())):
            raise InputError(
                f"concatenate: {name.replace('_', ' ')} jumps by {step:.3g} where motion {index} starts "
                f"(t = {before.time[-1]:g} s); motions must join without a jump, for example at rest"
            )
