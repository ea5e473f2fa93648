"""References and loads over time, as tables that the compiled simulation reads row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array, given_array, kind_given
from flexapod.errors import InputError, amount
from flexapod.motions.motion import ActuatorMotion, AnyMotion, Motion

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.layout import Layout

Signal = Callable[[Array], Array]
Given = ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[[Array], ArrayLike]
"""A force or load over time: a constant (width,), a pair (times, values), or a function of times (n,)."""
REST = 1e-9
"""Largest speed at the end of a sampled motion [m/s, rad/s] at which the robot may stay there."""


def over_time(name: str, value: Given, width: int) -> Signal:
    """A signal from a constant (width,), a pair (times, values) interpolated linearly, or a function of times (n,)."""
    if callable(value):

        def called(t: Array) -> Array:
            found = numbers(name, value(t))
            if found.shape != (len(t), width):
                raise InputError(f"{name}: the function gave shape {found.shape} for {len(t)} times, expected {(len(t), width)}")
            return finite(name, found, t)

        return called
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1 and np.ndim(value[1]) == 2:
        times, values = (numbers(name, x) for x in value)
        finite(name, values, times)
        if not np.all(np.isfinite(times)):
            raise InputError(f"{name}: times must be finite numbers")
        if values.shape != (len(times), width) or np.any(np.diff(times) <= 0):
            raise InputError(
                f"{name}: expected increasing times (n,) and values (n, {width}), got {times.shape} and {values.shape}"
            )
        return lambda t: np.stack([np.interp(t, times, values[:, k]) for k in range(width)], axis=1)
    constant = numbers(name, value)
    finite(name, constant, None)
    if constant.shape != (width,):
        raise InputError(f"{name}: expected ({width},), (times, values) or a function of times, got shape {constant.shape}")
    return lambda t: np.tile(constant, (len(t), 1))


def numbers(name: str, value: object) -> Array:
    """An array of real numbers of any shape."""
    found = given_array(name, value)
    if found.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected real numbers, got {kind_given(found)}")
    return np.asarray(found, dtype=np.float64)


def finite(name: str, values: Array, times: Array | None) -> Array:
    """The values; refused where one is NaN or infinite, with its time."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        when = f" at t = {times[bad[0][0]]:g} s" if times is not None and len(times) > bad[0][0] else ""
        raise InputError(f"{name}: every value must be a finite number; found {values[tuple(bad[0])]}{when}")
    return values


@overload
def motion_at(motion: Motion, t: Array) -> Motion: ...
@overload
def motion_at(motion: ActuatorMotion, t: Array) -> ActuatorMotion: ...
def motion_at(motion: AnyMotion, t: Array) -> AnyMotion:
    """A motion at times: by its formula, else interpolated; after its end it stays where it is, if it rests there."""
    from flexapod.motions.combine import resample

    first, last = float(motion.time[0]), float(motion.time[-1])
    if motion.formula is not None:
        return motion.formula(t + first)
    local = t + first
    if np.all(local <= last):
        return resample(motion, time=local) if len(t) > 1 else _one(motion, local)
    ends = [motion.velocity[-1]] + ([motion.angular_velocity[-1]] if isinstance(motion, Motion) else [])
    if max(float(np.max(np.abs(x))) for x in ends) > REST:
        raise InputError(
            f"duration: the motion ends at {last - first:g} s with a speed; give a shorter duration or a motion that ends at rest"
        )
    inside = np.unique(np.minimum(local, last))
    found = resample(motion, time=inside) if len(inside) > 1 else _one(motion, inside)
    where = np.searchsorted(inside, np.minimum(local, last))
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    arrays = {name: getattr(found, name)[where] for name in names if hasattr(found, name)}
    return type(motion)(time=local, **arrays)


def _one(motion: AnyMotion, t: Array) -> AnyMotion:
    from flexapod.motions.combine import resample

    two = motion if t[0] in motion.time else resample(motion, time=np.unique(np.concatenate([t, motion.time[[0, -1]]])))
    k = int(np.searchsorted(two.time, t[0]))
    names = [f for f in two.__dataclass_fields__ if f not in ("formula",)]
    return type(motion)(**{name: getattr(two, name)[k : k + 1] for name in names})


def platform_reference(motion: Motion) -> Signal:
    """(n, 24): position, rotation row by row, velocity, angular velocity, acceleration, angular acceleration."""

    def at(t: Array) -> Array:
        m = motion_at(motion, t)
        parts = [m.position, m.rotation.reshape(-1, 9), m.velocity, m.angular_velocity, m.acceleration, m.angular_acceleration]
        return np.concatenate(parts, axis=1)

    return at


def platform_acceleration(motion: Motion) -> Signal:
    """(n, 6): acceleration and angular acceleration of the platform frame."""

    def at(t: Array) -> Array:
        m = motion_at(motion, t)
        return np.concatenate([m.acceleration, m.angular_acceleration], axis=1)

    return at


def actuator_reference(robot: Robot, motion: Motion | ActuatorMotion) -> Signal:
    """(n, 2 actuators): coordinates and rates of the reference motion."""
    if isinstance(motion, ActuatorMotion):
        return lambda t: np.concatenate([motion_at(motion, t).position, motion_at(motion, t).velocity], axis=1)
    if robot.elastic_names or robot.moved_by == "actuators":
        return _deflected_reference(robot, motion)
    from flexapod.analysis.model.kernels import kernel
    from flexapod.analysis.requests.results import raise_failed, reasons_of
    from flexapod.analysis.verbs.inverse_kinematics import platform_inputs, solve_from_starts

    bound = kernel(robot, "inverse_kinematics", detail="actuators")

    def at(t: Array) -> Array:
        m = motion_at(motion, t)
        batch, given = solve_from_starts(bound, platform_inputs(m))
        raise_failed("reference motion", robot, reasons_of(bound.signature, batch.status, given), m, "raise")
        return np.concatenate([batch.outputs["actuator_position"], batch.outputs["actuator_velocity"]], axis=1)

    return at


def _deflected_reference(robot: Robot, motion: Motion | ActuatorMotion) -> Signal:
    """(n, 2 actuators) of a flexible robot in quasi-static deflection along the motion."""
    from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics

    def at(t: Array) -> Array:
        found = inverse_kinematics(robot, motion_at(motion, t), joints=False)
        return np.concatenate([found.actuator_position.values, found.actuator_velocity.values], axis=1)

    return at


def driven(robot: Robot, motion: object) -> Signal:
    """(n, 3 actuators): coordinates, rates and accelerations of actuators that follow a motion."""
    if not isinstance(motion, ActuatorMotion):
        raise InputError(f"drive='actuators' of {robot.name} needs an ActuatorMotion, got {type(motion).__name__}")
    if motion.position.shape[1] != len(robot.actuators):
        many = amount(len(robot.actuators), "actuator")
        raise InputError(f"motion: {robot.name} has {many}, the motion has {motion.position.shape[1]}")

    def at(t: Array) -> Array:
        m = motion_at(motion, t)
        return np.concatenate([m.position, m.velocity, m.acceleration], axis=1)

    return at


def demanded_force(robot: Robot, motion: Motion | ActuatorMotion, wrench: Signal | None = None) -> Signal:
    """(n, actuators): forces that the motion demands by inverse dynamics, without friction."""
    from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

    def at(t: Array) -> Array:
        m = motion_at(motion, t)
        load = None if wrench is None else wrench(t)
        return np.asarray(inverse_dynamics(robot, m, friction=False, wrench=load).force.values)

    return at


def actuator_inertia(robot: Robot, motion: Motion | ActuatorMotion) -> Signal:
    """(n, actuators^2): mass matrix that the actuators feel along the motion, deformations held."""
    return lambda t: _masses(robot, motion, t)[0].reshape(len(t), -1)


def deformation_coupling(robot: Robot, motion: Motion | ActuatorMotion) -> Signal:
    """(n, actuators N): acceleration of free actuators per acceleration of the elastic coordinates, M_aa^-1 M_ae."""
    return lambda t: np.asarray(np.linalg.solve(*_masses(robot, motion, t)), dtype=np.float64).reshape(len(t), -1)


def _masses(robot: Robot, motion: Motion | ActuatorMotion, t: Array) -> tuple[Array, Array]:
    """M_aa (n, actuators, actuators) and M_ae (n, actuators, N) along the motion; zero for coordinates that follow others."""
    from flexapod.analysis.verbs.forward_dynamics import mass_matrix

    M = mass_matrix(robot, motion_at(motion, t), coordinates="actuator")
    own, soft = list(robot.actuators), [name for name in robot.elastic_names if name in M.coordinate.values]
    M_ae = np.zeros((len(t), len(own), len(robot.elastic_names)))
    M_ae[:, :, [robot.elastic_names.index(name) for name in soft]] = M.sel(coordinate=own, coordinate_=soft).values
    return np.asarray(M.sel(coordinate=own, coordinate_=own).values), M_ae


@dataclass(frozen=True, kw_only=True)
class Span:
    """Rows of a simulation: start time of row 0 [s], length h of rows [s], index of the first of them, how many."""

    start: float
    h: float
    first: int = 0
    count: int = 1

    def time(self, row: int) -> float:
        """Start time of a row, counted from the first [s]."""
        return self.start + self.h * (self.first + row)

    def times(self, count: int | None = None) -> Array:
        """Start times of the rows, or of the first `count` of them [s]."""
        rows = np.arange(self.count if count is None else count)
        return np.asarray(self.start + self.h * (self.first + rows), dtype=np.float64)


def row_table(layout: Layout, signals: Mapping[str, Signal], span: Span, ticks: Array | None = None) -> Array:
    """Table of rows: length, tick, signals at the nodes (fixed steps) or their polynomials (dopri).

    Args:
        span: rows to make.
        ticks: (count,) 1 where the controller samples; left out: nowhere.
    """
    start, h, first, count = span.start, span.h, span.first, span.count
    table = np.zeros((count, layout.columns))
    table[:, 0], table[:, 1] = h, 0.0 if ticks is None else ticks
    if not layout.width:
        return table
    nodes = layout.nodes
    if layout.method == "rk4":
        times: Array = np.asarray(start + h * (first + 0.5 * np.arange(2 * count + 1)), dtype=np.float64)
        half = _sample(layout, signals, times)
        values = np.stack([half[0:-1:2], half[1::2], half[2::2]], axis=1)
    else:
        times = np.asarray(start + h * (first + np.arange(count)[:, None] + nodes[None, :]), dtype=np.float64)
        values = _sample(layout, signals, times.ravel()).reshape(count, len(nodes), layout.width)
        if layout.method == "dopri":
            powers = np.vander(2.0 * nodes - 1.0, increasing=True)
            values = np.einsum("jk,nkw->njw", np.linalg.inv(powers), values)
    table[:, 2:] = values.reshape(count, -1)
    return table


def _sample(layout: Layout, signals: Mapping[str, Signal], times: Array) -> Array:
    if np.all(np.diff(times) > 0.0):
        return np.concatenate([signals[name](times) for name in layout.signals], axis=1)
    unique, where = np.unique(times, return_inverse=True)
    return np.asarray(_sample(layout, signals, unique)[where.reshape(-1)])
