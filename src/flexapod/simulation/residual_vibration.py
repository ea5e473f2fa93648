r"""Residual vibration of a flexible robot after a move from rest to rest, and its reduction by shapers and controllers.

Letters: p(t) position of the platform after the end of the commanded move, T kinetic energy. Peak and level are

.. math:: \max_t |p(t) - \bar p|,\qquad \sqrt{\overline{T}}

and the reduction of a way is one minus its peak, or level, over that of the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.requests.arguments import checked
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion, with_formula
from flexapod.motions.shapers import KINDS, REST, Shaper, shaped, shaper
from flexapod.simulation.controllers import Controller

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot
    from flexapod.simulation.simulate import Method


AS_GIVEN = "as given"
STEPS = 100
"""Steps per period of the highest shaped mode: Gauss of order 6 keeps it to rounding, the switching of a move to 1e-4."""
PERIODS = 3.0
"""Periods of the lowest shaped mode that are looked at after a move."""


@checked
def path_shaper(
    robot: Robot, motion: Motion | ActuatorMotion, kind: str = "zvd", *, modes: int = 2, poses: int = 5, error: float = 0.0,
    tolerance: float = 0.05,
) -> Shaper:  # fmt: skip
    """An input shaper for the first modes of a flexible robot, tuned from its frequencies along a motion.

    Args:
        motion: of the platform or of the actuators.
        kind: ``"zv"``, ``"zvd"`` or ``"ei"``, see `flexapod.motions.shaper`.
        modes: how many are shaped for, actuators locked.
        poses: along the motion; each mode is tuned to the middle of its lowest and highest frequency there.
        error: of the frequencies, 0.1 for 10 % too high: to see what a wrong model costs.
        tolerance: of ``"ei"``: vibration left at the frequency.
    Returns:
        `Shaper`: apply it to an `ActuatorMotion` with `flexapod.motions.shaped`.

    Checked by: tests/simulation/test_residual_vibration.py.
    """
    frequency, damping = path_frequencies(robot, motion, modes, poses)
    tuned = (1.0 + error) * (frequency.min(axis=0) + frequency.max(axis=0)) / 2.0
    parts = [shaper(kind, f, damping=float(d), tolerance=tolerance) for f, d in zip(tuned, damping.mean(axis=0), strict=True)]
    found = parts[0]
    for part in parts[1:]:
        found = found * part
    return found


def path_frequencies(robot: Robot, motion: Motion | ActuatorMotion, modes: int, poses: int) -> tuple[Array, Array]:
    """Frequencies [Hz] and damping (poses, modes) of the first modes along a motion, actuators locked."""
    from flexapod.analysis.verbs.natural_frequencies import natural_frequencies
    from flexapod.simulation.system.signals import motion_at

    _needs_deformation(robot)
    times = np.linspace(0.0, float(motion.time[-1] - motion.time[0]), max(int(poses), 2))
    at = motion_at(actuators_of(robot, motion), times)
    still = np.zeros_like(at.position)
    held: Any = ActuatorMotion(time=times, position=at.position, velocity=still, acceleration=still)
    if robot.moved_by == "platform":
        from flexapod.analysis.requests.state import State
        from flexapod.analysis.verbs.forward_kinematics import forward_kinematics

        pose = forward_kinematics(robot, at.position)
        held = State(position=pose.position.values, rotation=pose.rotation.values)
    found = natural_frequencies(robot, held)
    if not 1 <= modes <= found.sizes["mode"]:
        raise InputError(f"modes: {robot.name} has {found.sizes['mode']} with locked actuators, got {modes}")
    frequency, stable = found.frequency.values[:, :modes], found.stable.values[:, :modes]
    if not stable.all() or not (frequency > 0).all():
        raise InputError(
            f"{robot.name}: the equilibrium with locked actuators is unstable along this motion (lowest frequency "
            f"{frequency.min():.3g} Hz); a shaper needs vibrations about a stable one. See natural_frequencies"
        )
    return frequency, found.damping.values[:, :modes]


def _needs_deformation(robot: Robot) -> None:
    if not robot.elastic_names:
        raise InputError(f"residual vibration: {robot.name} is rigid and does not vibrate; load a flexible robot")


def actuators_of(robot: Robot, motion: Motion | ActuatorMotion) -> ActuatorMotion:
    """The actuators' motion; of a platform motion that of the undeformed robot."""
    if isinstance(motion, ActuatorMotion):
        return motion
    formula = partial(_undeformed, robot=robot, motion=motion)
    return with_formula(formula(motion.time - motion.time[0]), formula)


def _undeformed(t: Array, *, robot: Robot, motion: Motion) -> ActuatorMotion:
    from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
    from flexapod.simulation.system.signals import motion_at

    last = float(motion.time[-1] - motion.time[0])
    times, at = np.unique(np.minimum(t, last), return_inverse=True)  # a motion takes each time once
    found = inverse_kinematics(robot, motion_at(motion, times), joints=False, elastic="zero")
    q = [found[f"actuator_{name}"].values[at] for name in ("position", "velocity", "acceleration")]
    after = (t > last)[:, None]
    return ActuatorMotion(time=t, position=q[0], velocity=np.where(after, 0.0, q[1]), acceleration=np.where(after, 0.0, q[2]))


@checked
def residual_vibration(
    robot: Robot,
    motion: Motion | ActuatorMotion,
    ways: Sequence[str] | Mapping[str, object] = KINDS,
    *,
    modes: int = 2,
    error: float = 0.0,
    after: float | None = None,
    step: float | None = None,
    method: Method | None = None,
    friction: bool | str = False,
    point: str | None = None,
) -> xr.Dataset:
    """Residual vibration after a move from rest to rest, for several ways of making the move.

    Args:
        motion: at rest at both ends; of the actuators, or of the platform (actuators then as of the undeformed robot).
        ways: names of shapers, compared with the motion as given; or a mapping of labels to None (actuators follow the motion
            as given), ``"zv"``, ``"zvd"``, ``"ei"``, a `Shaper` (actuators follow it shaped), or a controller (which drives the
            robot by forces along the motion). The first one is what the others are compared with.
        modes, error: of shapers by name, see `path_shaper`.
        after: time of observation after the end [s]; three periods of the first mode if left out.
        step: of the simulation [s].
        method: of ways with a controller, see `simulate`; left out: implicit for a flexible platform, else as there.
        friction: as for `simulate`; without it nothing but the robot's own damping takes the vibration away.
        point: whose displacement is evaluated, see `point_motion`; the platform's frame if left out.
    Returns:
        Dataset over `way`: `peak` [m] largest displacement of the point from its mean after the end, `level` [sqrt(J)] root
        of the mean kinetic energy, `late_peak` in the last third, their reductions `reduction`,
        `late_reduction` and `level_reduction` (1: nothing left), `delay` [s] by which the
        move ends later, `displacement` (way, since_end, axis) [m]; `frequency` (pose, mode) [Hz] along the motion.

    Checked by: tests/simulation/test_residual_vibration.py.
    """
    import xarray as xr

    frequency, _ = path_frequencies(robot, motion, modes, 5)
    _at_rest(motion)
    plan = _plan(robot, motion, ways, modes, error)
    end = float(motion.time[-1] - motion.time[0])
    wanted = step or 1.0 / (STEPS * float(frequency.max()))
    h = end / np.ceil(end / wanted - 1e-9)
    rows = int(np.ceil((PERIODS / float(frequency.min()) if after is None else after) / h))
    if rows < 4:
        raise InputError(f"after: {after!r} s has fewer than 4 steps of {h:.3g} s; give a longer time or a smaller step")
    shown = [
        _after(robot, moved, controller, (h, rows), method=method, friction=friction, point=point)
        for moved, controller, _ in plan.values()
    ]
    moves = np.array([p - p.mean(axis=0) for p, _ in shown])
    peak = np.linalg.norm(moves, axis=2).max(axis=1)
    late = np.linalg.norm(moves[:, -(rows // 3) :], axis=2).max(axis=1)
    level = np.array([np.sqrt(T.mean()) for _, T in shown])
    data: dict[str, Any] = {
        "peak": ("way", peak, {"units": "m"}),
        "level": ("way", level, {"units": "sqrt(J)"}),
        "late_peak": ("way", late, {"units": "m"}),
        "late_reduction": ("way", 1.0 - late / late[0], {"units": ""}),
        "reduction": ("way", 1.0 - peak / peak[0], {"units": ""}),
        "level_reduction": ("way", 1.0 - level / level[0], {"units": ""}),
        "delay": ("way", np.array([late for _, _, late in plan.values()]), {"units": "s"}),
        "displacement": (("way", "since_end", "axis"), moves, {"units": "m"}),
        "frequency": (("pose", "mode"), frequency, {"units": "Hz"}),
    }
    coords = {"way": list(plan), "since_end": h * np.arange(1, rows + 1), "axis": list("xyz"), "mode": np.arange(1, modes + 1)}
    return xr.Dataset(data, coords=coords, attrs={"robot": robot.name, "step": h, "move": end})


def _at_rest(motion: Motion | ActuatorMotion) -> None:
    rates = [motion.velocity] + ([motion.angular_velocity] if isinstance(motion, Motion) else [])
    for rate in rates:
        if np.abs(rate[[0, -1]]).max() > REST * max(float(np.abs(rate).max()), 1e-300):
            raise InputError(
                "motion: residual vibration needs a move from rest to rest; this one has a speed at its ends"
            )


Plan = dict[str, tuple[Any, Controller | None, float]]


def _plan(
    robot: Robot, motion: Motion | ActuatorMotion, ways: Sequence[str] | Mapping[str, object], modes: int, error: float
) -> Plan:
    """By label: the motion that is followed, the controller or None, and how much later [s] the move ends."""
    if isinstance(ways, str):
        ways = (ways,)
    named = ways if isinstance(ways, Mapping) else {AS_GIVEN: None, **{str(name): name for name in ways}}
    if not named:
        raise InputError("ways: give at least one")
    plan: Plan = {}
    for label, how in named.items():
        if isinstance(how, Controller):
            plan[label] = (motion, how, 0.0)
            continue
        if isinstance(how, str) and how in KINDS:
            how = path_shaper(robot, motion, how, modes=modes, error=error)
        if how is not None and not isinstance(how, Shaper):
            raise InputError(f"ways: {label!r} is {how!r}; expected one of {', '.join(KINDS)}, a Shaper, a controller or None")
        own = actuators_of(robot, motion)
        plan[label] = (own, None, 0.0) if how is None else (shaped(own, how), None, how.duration)
    return plan


def _after(
    robot: Robot,
    motion: Motion | ActuatorMotion,
    controller: Controller | None,
    look: tuple[float, int],
    *,
    method: Method | None,
    friction: bool | str,
    point: str | None,
) -> tuple[Array, Array]:
    """Position of the point (rows, 3) and kinetic energy (rows,) after the end of a motion."""
    from flexapod.simulation.simulate import simulate

    (h, rows), end = look, float(motion.time[-1] - motion.time[0])
    if controller is None:
        method = None
    elif method is None and robot.platform_modes:
        method = "implicit"  # h follows few modes
    first = int(np.ceil(end / h - 1e-9)) + 1
    result = simulate(
        robot, motion, drive="force" if controller is not None else "actuators", controller=controller, friction=friction,
        duration=(first + rows) * h, step=h, output_step=h, method=method,
    )  # fmt: skip
    if result.attrs.get("stopped"):
        when, why = result.attrs["stopped_at"], result.attrs["stopped"]
        raise InputError(f"residual vibration of {robot.name}: the simulation stopped at {when:.4g} s: {why}")
    late = result.isel(time=slice(first, first + rows))
    return _positions(robot, late, point), late.kinetic_energy.values


def _positions(robot: Robot, result: xr.Dataset, point: str | None) -> Array:
    """Positions (n, 3) of a point in a simulation."""
    if point is None:
        return np.asarray(result.position.values)
    from flexapod.analysis.requests.state import State
    from flexapod.analysis.verbs.point_motion import point_motion

    if robot.moved_by == "actuators":
        state = State.from_actuators(robot, result.actuator_position.values, elastic=result.elastic.values)
    else:
        state = State(**{name: result[name].values for name in ("position", "rotation", "elastic")})
    return np.asarray(point_motion(robot, state, point).position.values)
