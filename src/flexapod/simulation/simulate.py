"""`simulate`: the motion of a robot under forces, controllers and loads."""

from __future__ import annotations

import time as clock_time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.properties import COMPILED, holds
from flexapod.analysis.requests.results import check_option
from flexapod.analysis.requests.sample_blocks import progress_bar
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.calls import check_dataset, users_level
from flexapod.equations.friction import SPEED
from flexapod.errors import FileError, InputError
from flexapod.files import remove_left_over
from flexapod.motions.combine import resample
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.simulation.integrators.blocks import Clock, Progress
from flexapod.simulation.integrators.compiled_rows import LOST_CONTROL
from flexapod.simulation.integrators.rows_in_blocks import AHEAD, drive, with_events
from flexapod.simulation.results.energy_guard import until_broken
from flexapod.simulation.results.result import labelled, provenance, result_variables, with_reactions
from flexapod.simulation.system.load_friction import smooth
from flexapod.simulation.system.setup import Setup, by_loads, check_watch, in_independent, make_setup
from flexapod.simulation.system.signals import over_time

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.controllers import Controller
    from flexapod.simulation.events import Event
    from flexapod.simulation.system.signals import Given

Drive = Literal["force", "actuators", "platform"]
Method = Literal["rk4", "dopri", "implicit", "radau", "cvode"]
SHOWN = 1000
"""Rows that a result has at most where no `output_step` is given."""
RTOL, ATOL = 1e-9, 1e-11
"""Tolerances of the adaptive methods where none are given."""
SAVED = 5.0
"""Seconds between checkpoints."""


@checked
def simulate(
    robot: Robot,
    motion: Motion | ActuatorMotion | State,
    *,
    drive: Drive = "force",
    controller: Controller | None = None,
    force: Given | None = None,
    wrench: Given | None = None,
    start: State | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    output_step: float | None = None,
    method: Method | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    friction: bool | str = True,
    events: Sequence[Event] = (),
    watch: Sequence[str] | None = None,
    reactions: bool = False,
    progress: bool | None = None,
    save: str | Path | None = None,
) -> xr.Dataset:
    """Simulate a robot.

    Args:
        motion: what a controller follows, and where the simulation starts; or a `State` to start from.
        drive: ``"force"``: `force` and `controller` move the robot; ``"platform"``: the forces that inverse dynamics finds for
            the motion drive the direct model, with a flexible platform for the motion's acceleration and the elastic state at
            every stage (Long 2014, Fig. 3); ``"actuators"``: the actuators follow the motion exactly (no integration).
        controller: one of `PD`, `PID`, `FeedForwardPD`, `ComputedTorque`, `JointTorque`, `Springs`, compiled into the loop; or a
            function (time, sample) -> forces (actuators,), called at every step and held.
        force, wrench: constant, pair (times, values) or function of times (n,) -> (n, width): actuator forces, and the load on
            the platform at its origin, world axes. Forces add to those of the controller.
        start: where the simulation starts, if not on the motion. A flexible platform starts from its static deflection, or from
            the `elastic` of the state.
        duration: [s]; that of the motion if left out.
        step: of ``rk4``, ``implicit``, ``radau`` and of a function as controller, first step of ``dopri`` [s].
        output_step: [s], a multiple of the step.
        method: fixed-step Runge-Kutta 4, adaptive Dormand-Prince 5(4), ``"implicit"`` for stiff vibrations (Gauss of order 6, no
            numerical damping), ``"radau"`` (order 5, damps what a step cannot resolve), or CVODE (scikit-sundae) as reference;
            left out: ``"dopri"`` where friction depends on joint loads (in independent coordinates: up to 24 of them, whose
            steps are compiled), ``"implicit"`` with flexible legs, springs, or loops inside or between legs, else ``"rk4"``.
        rtol, atol: tolerances of the adaptive methods; 1e-9 and 1e-11 if left out.
        friction: as in the file, friction by joint loads solved with the acceleration at every evaluation (tanh law: at the
            file's speed, else 1e-3 m/s, rad/s), ``"constant"`` (viscous and constant parts only), or False.
        events: see `Event`.
        watch: stop where a leg leaves its stroke, where the actuators lose control (``"stroke"``, ``"singular"``); both if left
            out, where the method can: not with CVODE or ``drive="actuators"``. Strokes only where there are fewer actuators than
            degrees of freedom, which never control the platform.
        reactions: also joint reactions (time, reaction_joint, axis), by inverse dynamics of what came out.
        progress: show a bar; None decides by the length of the simulation.
        save: file of checkpoints: a simulation that was killed goes on from there when called again, to the same bits (rk4).
    Returns:
        Dataset over `time`: `position` [m], `rotation`, `velocity` [m/s], `angular_velocity` [rad/s], `acceleration`,
        `angular_acceleration`, world axes; `actuator_position`, `actuator_velocity`, `actuator_travel` (distance covered),
        `force` [N or N m], `power` [W]; `joint_position`; `kinetic_energy`, `potential_energy`, `elastic_energy`,
        `supplied_work` (by actuator), `external_work`, `dissipated_energy`, `energy_residual` (what the balance lacks) [J]; of a
        flexible platform `elastic`, `elastic_velocity`, `elastic_acceleration`, `displacement` and `rotation_vector` at its
        origin, `joint_displacement` (.., leg, axis) in platform axes; attributes `stopped` and `stopped_at` where the simulation
        ended early, `interrupted` after Ctrl-C, provenance.
    Raises:
        InputError: an option does not fit the robot or the motion; FlexapodError: the simulation cannot start.

    Robots with flexible legs are stiff: the implicit methods need not resolve their fastest vibrations, explicit ones must. With
    ``drive="actuators"`` their actuators, and those of a flexible platform, follow an `ActuatorMotion` while the deformations are
    integrated.

    Checked by: tests/simulation/test_simulate.py.
    """
    independent, chosen = in_independent(robot, drive, method, friction), method
    method = method or default_method(robot, drive, friction)
    _check(drive, method, watch or (), step)
    named = chosen or not (drive == "actuators" or (independent and by_loads(robot, friction)))
    refuse(
        robot, "simulate", drive=drive, controller=controller, force=force, wrench=wrench, start=start, friction=friction,
        method=method if named else None, rtol=rtol, atol=atol, events=list(events), watch=watch,
        reactions=reactions, save=save,
    )  # fmt: skip
    if watch is None:
        possible = method != "cvode" and drive != "actuators"
        watch = () if not possible else ("stroke",) if holds(robot, "under-actuated") else ("stroke", "singular")
    rtol, atol = RTOL if rtol is None else rtol, ATOL if atol is None else atol
    length = _duration(motion, duration)
    options = dict(
        drive=drive, controller=_describe(controller), duration=length, step=step, output_step=output_step, method=method,
        rtol=rtol, atol=atol, friction=friction, friction_speed=SPEED, watch=tuple(watch), events=[e.label for e in events],
    )  # fmt: skip
    if drive == "actuators" and not independent:
        from flexapod.simulation.results.exact_following import follow_exactly

        return follow_exactly(robot, motion, options, wrench, reactions)
    inner = "rk4" if method == "cvode" else method
    setup = make_setup(
        robot, motion, drive=drive, controller=controller, force=force, wrench=wrench, friction=friction, method=inner,
        events=events, watch=watch, start=start, tolerance=(rtol, atol), step=step,
    )  # fmt: skip
    if method == "cvode":
        from flexapod.simulation.integrators.cvode import cvode_simulation

        rows, times = cvode_simulation(setup, length, output_step or length / 300, rtol, atol, events)
        done = Progress(state=rows[-1], rows=[rows], times=[times])
    else:
        clock = make_clock(setup, length, step, output_step)
        done = simulate_blocks(setup, clock, events, progress, save)
    return finished(setup, done, events, options, reactions, wrench)


def default_method(robot: Robot, drive: str, friction: object) -> Method:
    """The method where none is chosen: adaptive where friction depends on joint loads and steps are compiled, implicit where
    vibrations are stiff."""
    loads = by_loads(robot, friction)
    if in_independent(robot, drive, None, friction):
        return "dopri" if loads and len(robot.elastic_plan.columns) <= COMPILED else "implicit"
    return "dopri" if loads and drive != "actuators" else "rk4"


def _check(drive: str, method: str, watch: Sequence[str], step: float) -> None:
    check_option("drive", drive, ("force", "actuators", "platform"))
    check_option("method", method, ("rk4", "dopri", "implicit", "radau", "cvode"))
    check_watch(watch)
    if not (np.isfinite(step) and step > 0):
        raise InputError(f"step: expected a time above 0 s, got {step!r}")


def _duration(motion: StateOrMotion | None, duration: float | None) -> float:
    if isinstance(motion, Motion | ActuatorMotion) and len(motion) == 0:
        raise InputError("motion: has no samples; give one or more")
    if duration is None:
        if not isinstance(motion, Motion | ActuatorMotion):
            raise InputError("duration: give one; a State has none")
        duration = float(motion.time[-1] - motion.time[0])
    if not (np.isfinite(duration) and duration > 0):
        raise InputError(f"duration: expected a time above 0 s, got {duration!r}")
    return float(duration)


def _describe(controller: object) -> str:
    if controller is None:
        return "none"
    shown = getattr(controller, "__dataclass_fields__", None)
    if shown is None:
        return str(getattr(controller, "__name__", type(controller).__name__))
    return f"{type(controller).__name__}(" + ", ".join(f"{k}={getattr(controller, k)!r}" for k in shown if k != "signals") + ")"


MOST_ROWS = 20_000_000
"""Rows of a result at most: a few hundred bytes each."""


def make_clock(setup: Setup, duration: float, step: float, output_step: float | None) -> Clock:
    """Times of a simulation; refuses steps that do not fit each other."""
    rate = setup.layout.controller.rate if setup.layout.controller is not None else None
    period = None if rate is None else 1.0 / rate
    if setup.layout.method == "dopri":
        row = output_step or (duration / 300 if setup.function is None else step)
        if setup.function is not None:
            row = min(row, step)
        elif period is not None and output_step is None:
            row = period / max(1, int(np.ceil(period / row - 1e-9)))
        elif period is not None:
            row = min(row, period)
        every = _multiple("output_step", (output_step or row) / row)
    else:
        row = step
        every = _multiple("output_step", output_step / step) if output_step else max(1, int(np.ceil(duration / step / SHOWN)))
    if period is not None:
        _multiple("rate: the sampling period", period / row)
    if duration / row / every > MOST_ROWS:
        raise InputError(f"output_step: {duration / row / every:.3g} rows do not fit into memory; at most {MOST_ROWS:g} are kept")
    return Clock(duration=duration, step=row, every=every, period=period)


def _multiple(name: str, ratio: float) -> int:
    if abs(ratio - round(ratio)) > 1e-6 or round(ratio) < 1:
        raise InputError(f"{name} must be a whole multiple of the step, it is {ratio:g} of them")
    return round(ratio)


def simulate_blocks(setup: Setup, clock: Clock, events: Sequence[Event], bar: bool | None, save: str | Path | None) -> Progress:
    """Run with a progress bar and checkpoints."""
    from flexapod.simulation.results.checkpoint import fingerprint, read_checkpoint, try_checkpoint

    path = Path(save) if save is not None else None
    if path is not None and not path.parent.is_dir():
        raise FileError(f"save: there is no folder {path.parent}; create it first")
    mark = fingerprint(setup, clock, events) if path is not None else ""
    state = (read_checkpoint(path, mark) if path is not None else None) or Progress(state=np.array(setup.start))
    total = max(1, round(clock.duration / clock.step))
    width = setup.layout.row_width
    last = clock_time.monotonic()

    with progress_bar("simulation", total, bar, round(state.segment / clock.step) + state.index) as show:

        def after_block(now: float, progress: Progress) -> None:
            nonlocal last
            show(round(now / clock.step))
            if path is not None and clock_time.monotonic() - last > SAVED and progress.segment < clock.duration:
                try_checkpoint(path, mark, progress, width)
                last = clock_time.monotonic()

        result = drive(setup, clock, events, state, after_block)
    if path is not None and result.interrupted:
        try_checkpoint(path, mark, result, width)
    elif path is not None:
        path.unlink(missing_ok=True)
        remove_left_over(path)
    return result


def finished(
    setup: Setup, done: Progress, events: Sequence[Event], options: dict[str, Any], reactions: bool, wrench: Given | None
) -> xr.Dataset:
    """The result of a simulation."""
    width = setup.layout.row_width
    rows = np.concatenate(done.rows) if done.rows else np.empty((0, width))
    times = np.concatenate(done.times) if done.times else np.empty(0)
    if len(rows) == 0:
        raise InputError(f"the simulation of {setup.layout.robot.name} cannot start: {done.stopped or 'nothing was computed'}")
    variants = []
    changed = any(events[index].parameters for index, _, _ in done.happened)
    for time in sorted({t for i, t, _ in done.happened if events[i].parameters} | {t for t, _ in done.plans}):
        happened, plans = ([entry for entry in done.happened if entry[1] <= time], [p for p in done.plans if p[0] <= time])
        so_far = Progress(state=setup.start, happened=happened, plans=plans)
        variants.append((time, with_events(setup, events, so_far)))
    attrs = provenance(setup, options)
    if done.stopped:
        attrs |= {"stopped": done.stopped, "stopped_at": done.stopped_at}
    attrs["interrupted"] = int(done.interrupted)
    attrs["events"] = [f"{t:.12g} s: {text}" for _, t, text in done.happened]
    variables = result_variables(setup, rows, variants, times)
    if not changed:  # events that change masses change the energy
        near = done.stopped_at - AHEAD * options["step"] if done.stopped == LOST_CONTROL else np.inf
        variables, times, broken = until_broken(setup.layout.robot.name, variables, times, near, setup.layout.method)
        attrs |= {"stopped": broken, "stopped_at": float(times[-1])} if broken else {}
    result = labelled(setup, variables, times, attrs)
    return _with_reactions(setup, result, wrench) if reactions else result


def _with_reactions(setup: Setup, result: xr.Dataset, wrench: Given | None) -> xr.Dataset:
    """Joint reactions by inverse dynamics of the simulated motion, or under the forces of the simulation."""
    from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics

    load = None if wrench is None else over_time("wrench", wrench, 6)(result.time.values)
    if result.sizes.get("elastic_coordinate") or holds(setup.layout.robot, "other actuators than DOF"):
        return with_reactions(result, _reactions_under_forces(setup, result, load))
    by_loads = setup.layout.friction == "load"
    found = inverse_dynamics(setup.layout.robot, as_motion(result), reactions=True, friction=by_loads, wrench=load)
    return with_reactions(result, found)


def _reactions_under_forces(setup: Setup, result: xr.Dataset, load: Array | None) -> xr.Dataset:
    """Joint reactions under the forces of the simulation, where the motion alone does not give them: at an elastic state,
    with redundant actuators, whose internal forces the joints carry, or with fewer actuators than degrees of freedom."""
    from flexapod.analysis.verbs.forward_dynamics import forward_dynamics

    names = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    states = State(**{name: result[name].values for name in names if name in result})
    friction = bool(setup.layout.friction)
    robot = smooth(setup.layout.robot) if friction else setup.layout.robot
    found = forward_dynamics(robot, states, result.force.values, reactions=True, friction=friction, wrench=load, on_error="mask")
    return found.rename(sample="time").assign_coords(time=result.time)


def as_motion(result: xr.Dataset) -> Motion:
    """The platform's motion in a result, e.g. to compare or to replay it."""
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return Motion(time=result.time.values, **{name: result[name].values for name in names})


@checked(result=check_dataset)
def motion_at(result: xr.Dataset, time: ArrayLike) -> Motion:
    """The platform's motion in a result at other times within it: dense output, by quintic Hermite interpolation of pose, twist
    and acceleration.

    The error falls with the sixth power of the output step, faster than that of both integrators; between samples of a
    sampled controller, whose acceleration jumps, with its third.

    Args:
        result: of `simulate`.
        time: (n,) [s], rising.
    Returns:
        `Motion` of the platform frame at these times.

    Checked by: tests/simulation/test_orders.py.
    """
    return resample(as_motion(result), time=time)


@checked(result=check_dataset)
def run_at(result: xr.Dataset, time: ArrayLike) -> Motion:
    """Former name of `motion_at`, for one version.

    Args:
        result: of `simulate`.
        time: (n,) [s], rising.
    """
    text = "run_at is called motion_at now; the former name is removed in the next version"
    warnings.warn(text, DeprecationWarning, stacklevel=users_level())
    return motion_at(result, time)
